package protocol

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
)

// Following are the subscriptions of a player to one of its games: to the states that the
// platform sends it, and, if the platform offers that (see HelloAnswer.Watch), to the log of
// the game, which the server republishes to spectators when it stores an entry. A move of the
// opponent comes that way before the platform knows that it is stored, so that the platform
// need not send it; see MoveRequest.Watching.
type Following struct {
	states, entries *nats.Subscription // entries may be nil

	mu     sync.Mutex // held while a state is handed on
	newest StateMark
	known  bool // a state has told which seat is ours
	you    game.Seat
	heard  uint64 // sequence of the last entry of the log that came

	watching atomic.Bool // apart from mu: who asks may hold a lock that handing on waits for
}

// Follow is Game for who plays. It makes the states of the opponent's moves from the log, if
// the platform said in its last answer to a hello that it can be watched. Calls of f come one
// at a time.
func (c *Client) Follow(g GameID, f func(State)) (*Following, error) {
	w := &Following{}
	states, err := c.Game(g, func(st State) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.newest.Outdates(&st) {
			return
		}
		w.newest, w.known, w.you = st.Mark(), true, st.You
		w.noteWatching()
		f(st)
	})
	if err != nil {
		return nil, err
	}
	w.states = states
	if !c.watch.Load() {
		return w, nil
	}
	log, to := c.subjects.Log(g), c.subjects.ToGame(c.player, g)
	w.entries, err = c.subscribeStates(c.subjects.Watch(g), func(msg *nats.Msg) {
		// Anybody can have an answer of the platform delivered on this subject, but none has
		// the headers of an entry of a log.
		seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
		if err != nil || msg.Header.Get(jetstream.SubjectHeader) != log {
			c.warn("invalid entry of a log ignored", msg.Subject, errors.Join(errNoEntry, err))
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		st, ok := w.opponentMoved(c, msg, seq, to)
		if ok = ok && st.Game == g; ok {
			w.newest = st.Mark()
		}
		w.heard = seq
		w.noteWatching()
		if ok {
			c.overtake(g)
			f(st)
		}
	})
	if err != nil {
		states.Unsubscribe() // the connection is closed, and the subscription with it
		return nil, err
	}
	return w, nil
}

var errNoEntry = errors.New("not republished by the server")

// opponentMoved returns the state after an entry of the log if that is a move of the opponent
// and the state is news. All others come from the platform: it alone can say what runs on
// after an interruption, and what an end means. While there are changes that could not be
// stored, an entry is one of these that the store has written late, before others.
func (w *Following) opponentMoved(c *Client, msg *nats.Msg, seq uint64, to string) (State, bool) {
	if !w.known || seq <= w.newest.Order.Seq || w.newest.Order.Unkept > 0 {
		return State{}, false
	}
	var head eventHead
	if head.read(&fields{b: msg.Data}); head.seat != nil && (*head.seat == w.you || head.kind != EventMove) {
		return State{}, false // not worth being decoded
	}
	e, refusal := Decode[Event](msg.Data, fromPlatform)
	if refusal != nil {
		c.warn("invalid entry of a log ignored", msg.Subject, refusal)
		return State{}, false
	}
	if e.Kind != EventMove || e.Seat == nil || *e.Seat == w.you {
		return State{}, false
	}
	return e.State(to, seq, w.you), true
}

// noteWatching notes the answer of Watching. The mutex is held.
func (w *Following) noteWatching() {
	w.watching.Store(w.known && w.newest.Order == StateOrder{Seq: w.heard})
}

// Watching reports whether the log has told all that is known of the game: that is how the
// next move will come, too.
func (w *Following) Watching() bool { return w.watching.Load() }

// Unsubscribe ends the subscriptions. It returns an error if the connection is closed.
func (w *Following) Unsubscribe() error {
	if w.entries == nil {
		return w.states.Unsubscribe()
	}
	return errors.Join(w.states.Unsubscribe(), w.entries.Unsubscribe())
}
