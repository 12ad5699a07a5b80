package play

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record"
)

// Session is one seat of one game, from the promise to take it until the game
// ends or the seat is lost. It is driven by the platform's states alone: each
// says all there is to know, so that none is missed.
type Session struct {
	player  *Player
	id      protocol.GameID
	offer   *protocol.Offer // nil where the game was held or challenged for
	confirm func() bool     // see Start
	sub     *nats.Subscription
	ctx     context.Context // of the session
	cancel  context.CancelFunc
	work    sync.WaitGroup // its requests and searches

	states chan arrival
	words  chan word
	posts  chan func()
	views  chan Result               // the latest of the running search
	began  chan struct{}             // closed when the game has begun
	held   atomic.Pointer[time.Time] // since when the platform's states say the seat is ours

	// From here on all belongs to the goroutine of Run.
	log      zerolog.Logger
	st       protocol.State // the latest
	came     time.Time      // when it came
	epoch    uint64
	floor    uint64 // states with a lower number are out of date
	rules    *game.Rules
	pos      game.Position // after moves; nil where our rules refuse what the platform ruled
	moves    []string
	shown    int // moves that were logged and shown
	meter    *meter
	mind     *mind     // the search under way
	guess    *guess    // the line to ponder on
	out      *outgoing // the move decided for the current position
	manners  manners
	record   *recorder
	disputed int // ply of the last disagreement logged, plus one
	// unthinking: the thinker has failed in this game, and that was logged.
	unthinking bool
	watch      watch
	ended      bool
}

// arrival is a state and when it came.
type arrival struct {
	state protocol.State
	at    time.Time
}

// word is what the player tells its session.
type word uint8

const (
	lapsed    word = iota // the hold has run out
	refused               // the challenge was declined or has expired
	forgotten             // the platform does not know that we hold the seat
)

// New makes a session for a seat that was promised, before anybody is told. The
// offer is nil where the game is held already or was challenged for. End it by
// Cancel where Start is not called or fails.
func New(ctx context.Context, p *Player, offer *protocol.Offer) *Session {
	ctx, cancel := context.WithCancel(ctx)
	return &Session{
		player: p, offer: offer, ctx: ctx, cancel: cancel, began: make(chan struct{}),
		states: make(chan arrival, backlog), words: make(chan word, 4), posts: make(chan func()), views: make(chan Result, 1),
		meter: newMeter(p.Clock.Trip()),
	}
}

// Start listens for the game's states. Confirm is called when the game is granted;
// false says that the slot reserved for it is gone. Call Run next.
func (s *Session) Start(g protocol.GameID, confirm func() bool) error {
	s.id, s.confirm = g, confirm
	s.log = s.player.Log.With().Str("game", string(g)).Logger()
	sub, err := s.player.Client.Game(g, s.arrive)
	s.sub = sub
	return err
}

// ID is the game's.
func (s *Session) ID() protocol.GameID { return s.id }

// Offer is what was accepted; nil where the game was held or challenged for.
func (s *Session) Offer() *protocol.Offer { return s.offer }

// Began is closed when the game has begun.
func (s *Session) Began() <-chan struct{} { return s.began }

// Done is closed when the session is ending.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Cancel ends the session.
func (s *Session) Cancel() {
	s.cancel()
	if s.sub != nil {
		s.sub.Unsubscribe() // fails only when the connection is closed, and the subscription with it
	}
}

// backlog is how many states may wait for their session. Each makes those
// before it superfluous, but not if it is none that the session believes.
const backlog = 8

// arrive hands a state over; where too many wait, the oldest goes.
func (s *Session) arrive(st protocol.State) {
	for in := (arrival{st, time.Now()}); ; {
		select {
		case s.states <- in:
			return
		default:
		}
		select {
		case <-s.states:
		default:
		}
	}
}

func (s *Session) tell(w word) {
	select {
	case s.words <- w:
	default: // it has enough to think about, and each of them ends it
	}
}

// Expire tells that the slot's reservation has run out.
func (s *Session) Expire() { s.tell(lapsed) }

// Decline tells that the challenge was declined or has expired.
func (s *Session) Decline() { s.tell(refused) }

// Forget tells that the platform does not know that we hold the seat.
func (s *Session) Forget() { s.tell(forgotten) }

// Held reports whether the platform has said that the seat is ours.
func (s *Session) Held() bool { return s.held.Load() != nil }

// HeldBefore reports whether it had said so before a time.
func (s *Session) HeldBefore(t time.Time) bool {
	since := s.held.Load()
	return since != nil && since.Before(t)
}

// Run plays until the game ends or the seat is lost.
func (s *Session) Run() {
	defer s.finish()
	s.watch.timer = time.NewTimer(time.Hour)
	defer s.watch.timer.Stop()
	s.watch.reset(s)
	for !s.ended {
		select {
		case <-s.ctx.Done():
			s.ended = true
		case in := <-s.states:
			s.see(in)
		case w := <-s.words:
			s.hear(w)
		case r := <-s.mind.found():
			s.decided(r)
		case f := <-s.posts:
			f()
		case v := <-s.views:
			s.show(v)
		case <-s.watch.timer.C:
			s.watch.expired(s)
		}
	}
}

// finish cleans up, whatever ended the session.
func (s *Session) finish() {
	s.stopThinking()
	s.Cancel()
	s.work.Wait()
	if s.record != nil {
		s.conclude()
	}
}

// hear obeys the player.
func (s *Session) hear(w word) {
	switch {
	case w == lapsed && !s.Held():
		s.log.Debug().Msg("no grant in time")
		s.ended = true
	case w == refused && !s.Held():
		s.ended = true
	case w == forgotten:
		// The end, or the loss of the seat, was said in a state that we
		// have missed or that is still on its way.
		s.watch.last(s, lastWord)
	}
}

// see takes in a state.
func (s *Session) see(in arrival) {
	st := in.state
	if st.Seq < s.floor {
		return
	}
	mine := st.Holders[st.You]
	ours := mine.Player == s.player.ID && mine.Instance == s.player.Client.Instance()
	switch {
	case !s.Held():
		if !ours || !s.granted(in) {
			return
		}
	case st.You != s.st.You || st.Terms != s.st.Terms:
		s.log.Warn().Msg("a state with another seat or other terms, ignored")
		return
	case st.Status == protocol.Finished:
	case mine.Player == s.player.ID && mine.Instance == "":
		s.unseated(st)
		return
	case !ours:
		s.log.Info().Uint64("epoch", mine.Epoch).Msg("the seat is another's now")
		s.ended = true
		return
	case mine.Epoch < s.epoch:
		return // newer and yet of an older epoch: no platform says that
	}
	s.st, s.came, s.epoch, s.floor = st, in.at, mine.Epoch, st.Seq
	s.watch.reset(s)
	s.follow()
	if n := len(s.moves); st.Receipt != nil && st.Receipt.Ply == n && n > 0 {
		s.record.receipt(n-1, st.Receipt)
	}
	s.showMoves()
	s.act()
}

// unseated waits for what becomes of the seat, which the platform took from us
// because it did not hear us. Our heartbeats still name the game, so that it
// can give the seat back; nothing is played meanwhile.
func (s *Session) unseated(st protocol.State) {
	if !s.watch.leaving {
		s.log.Warn().Uint64("epoch", st.Holders[st.You].Epoch).Msg("the seat is vacant")
	}
	s.floor, s.out = st.Seq, nil
	s.stopThinking()
	s.watch.last(s, seatWait)
}

// granted begins the game: the platform says that the seat is ours. False is
// that we do not want it any more.
func (s *Session) granted(in arrival) bool {
	st := in.state
	if s.offer != nil && (st.Terms != s.offer.Terms || st.You != s.offer.Seat) {
		s.log.Error().Msg("granted another match than was offered; giving the seat back")
		s.surrender()
		return false
	}
	if !s.confirm() {
		return false // lapsed: its word is on the way
	}
	rules, err := catalog.Rules(st.Terms.Rules)
	if err == nil {
		_, err = rules.New(st.Terms.Position)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("a game that can't be played here; giving the seat back")
		s.surrender()
		return false
	}
	s.rules = rules
	s.held.Store(&in.at)
	close(s.began)
	other := st.Holders[st.You.Other()]
	s.log = s.log.With().Str("seat", st.You.String()).Logger()
	s.record = newRecorder()
	s.st = st
	if len(st.Moves) > 2 {
		s.shown = len(st.Moves) // a running game: what was played before is not news
	}
	s.player.Process.GameBegan(other.Player)
	s.log.Info().Str("rules", st.Terms.Rules).Stringer("clock", st.Terms.Clock).Bool("rated", st.Terms.Rated).
		Str("opponent", string(other.Player)).Str("kind", string(other.Kind)).Int("ply", len(st.Moves)).Msg("game start")
	s.emit(Event{Kind: GameStarted})
	s.greet()
	return true
}

// surrender gives the seat back to the platform, and ends the session.
func (s *Session) surrender() {
	s.ended = true
	s.player.Process.GiveBack(s.id)
}

// follow brings the position to where the state is.
func (s *Session) follow() {
	same := 0
	for same < min(len(s.moves), len(s.st.Moves)) && s.moves[same] == s.st.Moves[same] {
		same++
	}
	if s.pos == nil {
		same, s.moves = 0, nil
		s.pos, _ = s.rules.New(s.st.Terms.Position) // granted has seen it work
	}
	for len(s.moves) > same {
		s.pos.Undo()
		s.moves = s.moves[:len(s.moves)-1]
	}
	s.record.back(same)
	for _, text := range s.st.Moves[same:] {
		s.playOn()
		seat := s.pos.Turn()
		if _, err := game.PlayText(s.pos, text); err != nil {
			s.dispute(err.Error())
			s.pos = nil
			return
		}
		s.moves = append(s.moves, text)
		s.record.add(ply{text, seat, game.KeyText(s.pos.Key())})
	}
	playing := s.st.Status == protocol.Playing
	if playing {
		s.playOn()
	}
	switch {
	case s.st.Key != "" && s.st.Key != game.KeyText(s.pos.Key()):
		s.dispute("another position")
	case playing && s.pos.Turn() != s.st.Turn:
		s.dispute(fmt.Sprintf("%s to act, the platform says %s", s.pos.Turn(), s.st.Turn))
	}
}

// playOn lets a game go on that is over by our rules and not by the platform's.
func (s *Session) playOn() {
	if out := s.pos.Outcome(); out.Over() {
		s.dispute(fmt.Sprintf("%s by %s, the platform plays on", out.Result, out.Reason))
		game.PlayOn(s.pos)
	}
}

// dispute notes that our rules and the platform's differ. Its ruling stands.
func (s *Session) dispute(text string) {
	n := len(s.st.Moves)
	if s.disputed == n+1 {
		return
	}
	s.disputed = n + 1
	d := record.Dispute{Ply: n, Seat: &s.st.You, Ruled: fmt.Sprintf("%.32s", s.st.Key), Text: text}
	ev := s.log.Error().Int("ply", n).Str("rules", s.st.Terms.Rules).Str("ruled", d.Ruled)
	if s.pos != nil {
		d.Claimed = game.KeyText(s.pos.Key())
		ev = ev.Str("claimed", d.Claimed).Stringer("position", s.pos)
	}
	s.record.dispute(d)
	ev.Str("why", text).Msg("disagreement with the platform")
}

// conclude says how the game ended for us, and writes the record.
func (s *Session) conclude() {
	out := s.st.Outcome
	ev := s.log.Info()
	if s.st.Status == protocol.Finished {
		ev = ev.Stringer("result", out.Result).Str("reason", string(out.Reason))
	} else {
		out = game.Outcome{}
		ev = ev.Bool("given_up", true)
	}
	ev.Int("ply", len(s.st.Moves)).Dur("overhead_ms", s.meter.Overhead()).Msg("game end")
	s.emit(Event{Kind: GameEnded, Outcome: out})
	s.write()
}

// emit tells whoever watches.
func (s *Session) emit(e Event) {
	observe := s.player.Observe
	if observe == nil {
		return
	}
	e.Player, e.Game, e.You, e.Terms = s.player.ID, s.id, s.st.You, s.st.Terms
	e.Opponent = s.st.Holders[s.st.You.Other()]
	if e.Kind != MovePlayed {
		e.Ply = len(s.st.Moves)
	}
	for seat, c := range s.st.Clocks.Seats {
		e.Clocks[seat], _ = s.st.Terms.Clock.Budget(c.State())
	}
	observe(e)
}

// showMoves logs and emits the moves since the last state.
func (s *Session) showMoves() {
	s.shown = min(s.shown, len(s.moves)) // some may have been taken back
	for ; s.shown < len(s.moves); s.shown++ {
		p, analysis := s.record.plies[s.shown], s.record.analysis(s.shown)
		ev := s.log.Debug().Int("ply", s.shown+1).Stringer("by", p.seat).Str("move", p.move).
			Int64("clock_ms", s.st.Clocks.Seats[p.seat].LeftMS)
		if analysis != nil {
			ev = ev.Int("depth", analysis.Depth).Uint64("nodes", analysis.Nodes).Int("score", analysis.Score).
				Float64("chance", analysis.WinProb).Bool("ponder_hit", analysis.PonderHit)
		}
		ev.Msg("move")
		s.emit(Event{Kind: MovePlayed, Ply: s.shown + 1, Move: p.move, Seat: p.seat, Analysis: analysis})
	}
}
