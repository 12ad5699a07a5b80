package match

import (
	"fmt"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// Match is one game. It is not safe for concurrent use.
type Match struct {
	policy Policy
	term   uint64
	snap   protocol.Snapshot // Clocks and Key are filled in when it is given away
	pos    game.Position
	keeper *Keeper
	lag    [2]lag

	seq       uint64 // of the last committed event in the log
	index     uint64 // and its number in the game
	turnSince time.Time
	resumeBy  time.Time           // the clock stands until the seat to act is heard, at most until then; zero: it does not stand
	vacant    [2]time.Time        // since when a seat has no instance; zero: it has
	drawPly   [2]int              // 1 + the ply at which the seat offered a draw last
	receipt   *protocol.Receipt   // of the last move
	recent    requests            // answers to requests that took effect
	pending   func(now time.Time) // what Commit does
	caused    protocol.ActAnswer  // the answer that goes with the uncommitted event
}

// Opening is all that a new game is made of.
type Opening struct {
	Game    protocol.GameID
	Terms   protocol.Terms
	Pool    protocol.Pool
	Holders [2]protocol.Holder // with their instances; epochs are set to 1
}

// Setup checks terms against the catalog of games and sets up the start
// position. The refusal says which of them is wrong.
func Setup(t protocol.Terms) (game.Position, *protocol.Error) {
	if _, err := catalog.Game(t.Game); err != nil {
		return nil, protocol.Refuse(protocol.UnknownGame, "no such game")
	}
	rules, err := catalog.Rules(t.Rules)
	if err != nil || rules.Name != t.Rules || rules.Game != t.Game {
		return nil, protocol.Refuse(protocol.UnknownGame, "no such rule set of this game: want its full name")
	}
	pos, err := rules.New(t.Position)
	if err != nil {
		return nil, protocol.Refuse(protocol.UnknownGame, "the rules refuse the start position")
	}
	if pos.Outcome().Over() {
		return nil, protocol.Refuse(protocol.UnknownGame, "the game is over at the start position")
	}
	return pos, nil
}

// New opens a game. The event is to be the first entry of its log.
func New(o Opening, policy Policy, now time.Time) (*Match, *protocol.Event, *protocol.Error) {
	pos, refused := Setup(o.Terms)
	if refused != nil {
		return nil, nil, refused
	}
	m := &Match{
		policy: policy, term: 1, pos: pos, keeper: NewKeeper(o.Terms.Clock),
		snap: protocol.Snapshot{
			Game: o.Game, Terms: o.Terms, Pool: o.Pool, Started: now.UTC(), Holders: o.Holders,
			Moves: []string{}, Status: protocol.Playing,
		},
	}
	for i := range m.snap.Holders {
		m.snap.Holders[i].Epoch = 1
	}
	m.begin()
	return m, m.event(protocol.EventStart, nil, "", now, func(now time.Time) { m.start(now) }), nil
}

// Restore takes a game up from the last entry of its log, with a term above
// it. The event is to be the log's next entry. No clock runs until the seat to
// act is heard.
func Restore(last protocol.Event, seq uint64, policy Policy, now time.Time) (*Match, *protocol.Event, error) {
	rules, err := catalog.Rules(last.Terms.Rules)
	if err != nil {
		return nil, nil, err
	}
	pos, err := game.Replay(rules, last.Terms.Position, last.Moves)
	if err != nil {
		return nil, nil, err
	}
	if key := game.KeyText(pos.Key()); key != last.Key {
		return nil, nil, fmt.Errorf("the moves lead to position key %s, the entry says %s", key, last.Key)
	}
	m := &Match{
		policy: policy, term: last.Term + 1, snap: last.Snapshot, pos: pos, seq: seq, index: last.Index,
		keeper:  RestoreKeeper(last.Terms.Clock, last.Clocks, pos.Turn(), time.Duration(last.TurnMS)*time.Millisecond),
		receipt: last.Receipt,
	}
	if last.Snapshot.Status == protocol.Finished {
		return m, nil, nil
	}
	m.begin()
	m.snap.Status = protocol.Playing
	for seat, h := range m.snap.Holders {
		if h.Instance == "" {
			m.vacant[seat] = now
		}
	}
	m.turnSince, m.resumeBy = now, now.Add(policy.ResumeWithin)
	if last.Request != "" && last.Seat != nil {
		m.recent.keep(last.Holders[*last.Seat].Player, last.Request, protocol.ActAnswer{Receipt: last.Receipt})
	}
	return m, m.event(protocol.EventTakeover, nil, "", now, nil), nil
}

func (m *Match) begin() {
	for i, h := range m.snap.Holders {
		if h.Kind == protocol.Human {
			m.lag[i] = m.policy.Lag.quota(m.snap.Terms.Clock)
		}
	}
}

// start begins the turn of the seat that is to act.
func (m *Match) start(now time.Time) {
	m.turnSince, m.resumeBy = now, time.Time{}
	m.keeper.Start(m.pos.Turn(), now)
}

// event makes the entry that says what has just been changed, and remembers
// what is to be done once it is stored.
func (m *Match) event(kind protocol.EventKind, by *game.Seat, request string, now time.Time, commit func(time.Time)) *protocol.Event {
	if commit == nil {
		commit = func(time.Time) {}
	}
	m.pending = commit
	e := &protocol.Event{
		V: protocol.Version, Kind: kind, Index: m.index + 1, Term: m.term, Time: now.UTC(),
		Seat: by, Request: request, Snapshot: m.Snapshot(now), TurnMS: m.keeper.Spent(now).Milliseconds(),
	}
	// A turn whose clock starts only once this entry is stored.
	if (kind == protocol.EventStart || kind == protocol.EventMove || kind == protocol.EventTakeback) && !m.Over() {
		turn := m.pos.Turn()
		e.Clocks.Running, e.Clocks.UsedMS, e.TurnMS = &turn, 0, 0
	}
	if e.Clocks.Running != nil {
		e.RunningSince = e.Time
	}
	return e
}

// Commit says that the last event is in the log as entry seq, and lets time
// run on from now. It returns the answer to whoever caused the event.
func (m *Match) Commit(seq uint64, now time.Time) protocol.ActAnswer {
	m.seq = seq
	m.index++
	return m.CommitUnlogged(now)
}

// CommitUnlogged goes on although the last event could not be stored. The
// next event's number is the same again.
func (m *Match) CommitUnlogged(now time.Time) protocol.ActAnswer {
	m.pending(now)
	m.pending = func(time.Time) {}
	ans := m.caused
	m.caused = protocol.ActAnswer{}
	m.fill(&ans, now)
	return ans
}

// fill completes an answer with how the game stands.
func (m *Match) fill(ans *protocol.ActAnswer, now time.Time) {
	clocks := m.keeper.Clocks(now)
	ans.Game, ans.Seq, ans.Ply, ans.Clocks = m.snap.Game, m.seq, len(m.snap.Moves), &clocks
}

// Caught is the entry that takes the log up again after some that could not
// be stored; text says which.
func (m *Match) Caught(text string, now time.Time) *protocol.Event {
	kind := protocol.EventSnapshot
	if m.Over() {
		kind = protocol.EventEnd
	}
	e := m.event(kind, nil, "", now, nil)
	e.Text, e.Receipt = text, m.receipt
	return e
}

// Snapshot is all there is to know of the game at a moment.
func (m *Match) Snapshot(now time.Time) protocol.Snapshot {
	s := m.snap
	s.Moves = slices.Clone(m.snap.Moves)
	s.Turn, s.Key, s.Clocks = m.pos.Turn(), game.KeyText(m.pos.Key()), m.keeper.Clocks(now)
	return s
}

// State is what the holder of a seat is told.
func (m *Match) State(seat game.Seat, now time.Time) protocol.State {
	return protocol.State{Seq: m.seq, You: seat, Snapshot: m.Snapshot(now), Receipt: m.receipt}
}

// ID is the game's.
func (m *Match) ID() protocol.GameID { return m.snap.Game }

// Term is the number of this referee among those of the game.
func (m *Match) Term() uint64 { return m.term }

// Seq is the last committed entry in the log.
func (m *Match) Seq() uint64 { return m.seq }

// Holder is who holds a seat.
func (m *Match) Holder(seat game.Seat) protocol.Holder { return m.snap.Holders[seat] }

// Over reports whether the game has ended.
func (m *Match) Over() bool { return m.snap.Status == protocol.Finished }

// Ply counts the moves on the board.
func (m *Match) Ply() int { return len(m.snap.Moves) }

// requests remembers the answers to the last requests that took effect, so
// that a repetition gets the same one.
type requests struct {
	known map[requestKey]protocol.ActAnswer
	order []requestKey
}

type requestKey struct {
	player protocol.PlayerID
	id     string
}

const remembered = 32

func (r *requests) keep(p protocol.PlayerID, id string, ans protocol.ActAnswer) {
	if r.known == nil {
		r.known = make(map[requestKey]protocol.ActAnswer)
	}
	if len(r.order) == remembered {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	key := requestKey{p, id}
	r.known[key] = ans
	r.order = append(r.order, key)
}

func (r *requests) find(p protocol.PlayerID, id string) (protocol.ActAnswer, bool) {
	ans, ok := r.known[requestKey{p, id}]
	return ans, ok
}
