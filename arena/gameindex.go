package arena

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// gameIndex has the last entry of every game of the platform that is not over
// and recorded, whichever arena referees it. It follows all logs.
type gameIndex struct {
	subjects protocol.Subjects
	keep     time.Duration // how long ended games are remembered
	log      zerolog.Logger
	corrupt  func() // counts games that can't be read

	mu    sync.Mutex
	ahead time.Time // when an entry from the future was logged last
	games map[protocol.GameID]*gameEntry
	seats map[protocol.PlayerID]map[protocol.GameID]bool // the games that a player is in

	calls       sync.Mutex // held while followers are called
	followers   map[int]func(protocol.Event, uint64)
	followersID int
}

// gameEntry is the index's entry of one game.
type gameEntry struct {
	last    protocol.Event
	seq     uint64 // of last in the stream
	corrupt bool
	ended   time.Time // when its end was seen; zero while it is running

	// expected is an entry that a referee of this process is about to append, as the
	// bytes that it will be stored as; nil if there is none.
	expected      *protocol.Event
	expectedBytes []byte
}

// isFinal reports whether nothing follows this entry in its log: the record is
// stored, or the challenge never became a game.
func isFinal(last protocol.Event) bool {
	return last.Kind == protocol.EventRecorded || neverBegan(last)
}

// neverBegan reports whether the challenge never became a game.
func neverBegan(last protocol.Event) bool {
	return last.Kind == protocol.EventEnd && last.Index == 1
}

func newGameIndex(subjects protocol.Subjects, keep time.Duration, log zerolog.Logger, corrupt func()) *gameIndex {
	return &gameIndex{subjects: subjects, keep: keep, log: log, corrupt: corrupt, games: make(map[protocol.GameID]*gameEntry),
		seats: make(map[protocol.PlayerID]map[protocol.GameID]bool), followers: make(map[int]func(protocol.Event, uint64))}
}

// follow reads the last entry of every log and then every new one, until ctx
// ends. It returns when it has caught up.
func (x *gameIndex) follow(ctx context.Context, js jetstream.JetStream, stream jetstream.Stream) error {
	w, err := openFollower(ctx, js, stream, jetstream.ConsumerConfig{
		FilterSubject: x.subjects.Logs(), DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return err
	}
	return w.start(ctx, func(msg jetstream.Msg, meta *jetstream.MsgMetadata, old bool) {
		if e, ok := x.note(msg.Subject(), meta.Sequence.Stream, msg.Data(), w.again); ok && !old {
			x.tell(&e, meta.Sequence.Stream)
		}
	})
}

// note stores one entry of a log in the index; ok is false if it can't be read, or is known
// and read again. An entry that is read again after the stream has gone back is the last one
// of its log, whatever was known: the game may even have ended.
func (x *gameIndex) note(subject string, seq uint64, data []byte, again bool) (e protocol.Event, ok bool) {
	g, ok := x.subjects.ParseLog(subject)
	if !ok {
		return e, false
	}
	if p, ok := x.ours(g, seq); ok && !again {
		return p, true
	}
	e, ok = x.asExpected(g, data)
	var err error
	if !ok {
		e, err = decodeEvent(x.subjects, subject, seq, data)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	if p == nil {
		p = &gameEntry{}
		x.games[g] = p
	}
	if again && err == nil && p.seq == seq && p.last.Time.Equal(e.Time) {
		return e, false
	}
	if p.seq > seq && !again && (err != nil || !p.wentBack(e)) {
		return e, err == nil // a referee of this process was faster with later ones
	}
	if err != nil {
		if !p.corrupt {
			x.log.Error().Err(err).Str("subject", subject).Uint64("seq", seq).Msg("game not refereed: the last entry of its log can't be read")
			x.corrupt()
		}
		p.corrupt = true
		return e, false
	}
	x.checkTime(&e)
	x.put(g, p, e, seq)
	return e, true
}

// An entry that another arena wrote so much later than now, by its clock, shows that the
// clocks of the two machines differ. It is logged once in aheadEvery.
const (
	maxAhead   = time.Second
	aheadEvery = time.Minute
)

// checkTime logs that an entry comes from the future; x.mu is held. No clock of a game
// suffers, but much that arenas tell players is wrong then, see docs/operating.md.
func (x *gameIndex) checkTime(e *protocol.Event) {
	now := time.Now()
	if ahead := e.Time.Sub(now); ahead > maxAhead && now.Sub(x.ahead) >= aheadEvery {
		x.ahead = now
		x.log.Warn().Str("game", string(e.Game)).Uint64("term", e.Term).Dur("ms", ahead).Msg("the clocks of the arenas' machines differ: an entry of a log is from the future")
	}
}

// wentBack reports whether an entry, whose sequence is lower than that of the last one, was
// written later: the stream has lost that, as in a power cut, and gone on.
func (p *gameEntry) wentBack(e protocol.Event) bool { return e.Time.After(p.last.Time) }

// ours returns an entry that a referee of this process has noted, which need not be
// decoded.
func (x *gameIndex) ours(g protocol.GameID, seq uint64) (e protocol.Event, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	if p == nil || p.seq != seq || p.corrupt {
		return e, false
	}
	return p.last, true
}

// expect notes an entry that a referee of this process is about to append. It often comes
// back before the store has told the referee that it is stored, and is not decoded then.
func (x *gameIndex) expect(e *protocol.Event, data []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.games[e.Game]; p != nil {
		p.expected, p.expectedBytes = e, data
	}
}

// asExpected returns the expected entry of a game if these are its bytes.
func (x *gameIndex) asExpected(g protocol.GameID, data []byte) (e protocol.Event, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	if p == nil || p.expected == nil || !bytes.Equal(p.expectedBytes, data) {
		return e, false
	}
	return *p.expected, true
}

// noteOwn notes an entry that a referee of this process has just appended.
func (x *gameIndex) noteOwn(e *protocol.Event, seq uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.games[e.Game]; p != nil && (p.seq < seq || p.wentBack(*e)) {
		x.put(e.Game, p, *e, seq)
	}
}

// put stores an entry in the index; x.mu is held.
func (x *gameIndex) put(g protocol.GameID, p *gameEntry, e protocol.Event, seq uint64) {
	if p.last.Kind == "" {
		x.seat(g, e)
	}
	p.last, p.seq, p.corrupt = e, seq, false
	p.expected, p.expectedBytes = nil, nil
	switch {
	case e.Status != protocol.Finished:
		p.ended = time.Time{}
	case p.ended.IsZero():
		p.ended = time.Now()
		if time.Since(e.Time) > x.keep {
			p.ended = e.Time
		}
	}
	if isFinal(p.last) && time.Since(p.ended) > x.keep {
		x.drop(g) // it ended long ago
	}
}

// subscribe calls f for each new entry until stop is called.
func (x *gameIndex) subscribe(f func(protocol.Event, uint64)) (stop func()) {
	x.calls.Lock()
	defer x.calls.Unlock()
	id := x.followersID
	x.followersID++
	x.followers[id] = f
	return func() {
		x.calls.Lock()
		defer x.calls.Unlock()
		delete(x.followers, id)
	}
}

// tell passes an entry to the followers.
func (x *gameIndex) tell(e *protocol.Event, seq uint64) {
	x.calls.Lock()
	defer x.calls.Unlock()
	for _, f := range x.followers {
		f(*e, seq)
	}
}

// seat adds the players of a game; x.mu is held.
func (x *gameIndex) seat(g protocol.GameID, e protocol.Event) {
	for _, h := range e.Holders {
		if x.seats[h.Player] == nil {
			x.seats[h.Player] = make(map[protocol.GameID]bool)
		}
		x.seats[h.Player][g] = true
	}
}

// drop removes a game; x.mu is held.
func (x *gameIndex) drop(g protocol.GameID) {
	for _, h := range x.games[g].last.Holders {
		delete(x.seats[h.Player], g)
		if len(x.seats[h.Player]) == 0 {
			delete(x.seats, h.Player)
		}
	}
	delete(x.games, g)
}

// removed drops a game whose log is gone. Its players hear with their next heartbeats that
// they are not in it.
func (x *gameIndex) removed(g protocol.GameID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.games[g]; p != nil {
		x.log.Error().Str("subject", x.subjects.Log(g)).Uint64("seq", p.seq).Msg("game lost: its log was removed from its stream, and no referee has it")
		x.drop(g)
	}
}

// damaged marks a game whose log can be decoded but not played through.
func (x *gameIndex) damaged(g protocol.GameID, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.games[g]; p != nil && !p.corrupt {
		p.corrupt = true
		x.log.Error().Err(err).Str("subject", x.subjects.Log(g)).Msg("game not refereed: the moves of its log can't be replayed")
		x.corrupt()
	}
}

// isCorrupt reports whether the game has no referee because of its log.
func (x *gameIndex) isCorrupt(g protocol.GameID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	return p != nil && p.corrupt
}

// last returns the last entry of a game that is remembered.
func (x *gameIndex) last(g protocol.GameID) (e protocol.Event, ok bool) {
	e, _, ok = x.entry(g)
	return e, ok
}

// seated reports whether a game is remembered that has, or had, a referee, whether a
// player has a seat in it, and whether its log is final. It is called for every action of
// every player.
func (x *gameIndex) seated(g protocol.GameID, player protocol.PlayerID) (known, seated, final bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	if p == nil || p.last.Kind == "" || neverBegan(p.last) {
		return false, false, false
	}
	return true, p.last.Holders[0].Player == player || p.last.Holders[1].Player == player, isFinal(p.last)
}

// entry is last with the entry's sequence in the stream.
func (x *gameIndex) entry(g protocol.GameID) (e protocol.Event, seq uint64, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	if p == nil || p.last.Kind == "" {
		return e, 0, false
	}
	return p.last, p.seq, true
}

// running returns the last entries of the running games, oldest first.
func (x *gameIndex) running() []protocol.Event {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []protocol.Event
	for _, p := range x.games {
		if p.ended.IsZero() && !p.corrupt {
			all = append(all, p.last)
		}
	}
	slices.SortFunc(all, byStart)
	return all
}

// each calls f for the last entry of each running game. The index is locked
// meanwhile, and the entry must not be changed or kept.
func (x *gameIndex) each(f func(*protocol.Event)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.games {
		if p.ended.IsZero() && !p.corrupt {
			f(&p.last)
		}
	}
}

// runningOf returns the last entries of a player's running games, oldest first.
func (x *gameIndex) runningOf(player protocol.PlayerID) []protocol.Event {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []protocol.Event
	for g := range x.seats[player] {
		if p := x.games[g]; p.ended.IsZero() && !p.corrupt {
			all = append(all, p.last)
		}
	}
	slices.SortFunc(all, byStart)
	return all
}

func byStart(x, y protocol.Event) int {
	return cmp.Or(x.Started.Compare(y.Started), cmp.Compare(x.Game, y.Game))
}

// countRunning returns how many games are running.
func (x *gameIndex) countRunning() (n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.games {
		if p.ended.IsZero() && !p.corrupt {
			n++
		}
	}
	return n
}

// seatsHeld returns how many seats each instance holds in running games.
func (x *gameIndex) seatsHeld() map[protocol.InstanceID]int {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := make(map[protocol.InstanceID]int)
	for _, p := range x.games {
		for _, h := range p.last.Holders {
			if p.ended.IsZero() && h.Instance != "" {
				held[h.Instance]++
			}
		}
	}
	return held
}

// unfinished returns the games that need a referee.
func (x *gameIndex) unfinished() []protocol.GameID {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []protocol.GameID
	for g, p := range x.games {
		if !isFinal(p.last) && !p.corrupt {
			all = append(all, g)
		}
	}
	return all
}

// isUnfinished reports whether a game needs a referee.
func (x *gameIndex) isUnfinished(g protocol.GameID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.games[g]
	return p != nil && !isFinal(p.last)
}

// heldBy returns the running games in which an instance holds the player's seat.
func (x *gameIndex) heldBy(player protocol.PlayerID, id protocol.InstanceID) []protocol.GameID {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []protocol.GameID
	for g := range x.seats[player] {
		p := x.games[g]
		if !p.ended.IsZero() || p.corrupt {
			continue
		}
		for _, h := range p.last.Holders {
			if h.Player == player && h.Instance == id {
				all = append(all, g)
			}
		}
	}
	slices.Sort(all)
	return all
}

// forget drops games that ended long enough ago and are recorded.
func (x *gameIndex) forget(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for g, p := range x.games {
		if isFinal(p.last) && now.Sub(p.ended) > x.keep {
			x.drop(g)
		}
	}
}
