package livegame

import (
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// Game is the state of one game. It is not safe for concurrent use.
type Game struct {
	policy Policy
	limits limits
	term   uint64
	snap   protocol.Snapshot // without what Snapshot fills in
	pos    game.Position
	movers []game.Seat // of the moves
	clock  *gameClock
	lag    [2]lag

	seq         uint64 // of the last committed event in the log
	unkept      uint64 // events since then that could not be stored
	index       uint64 // and its number in the game
	turnSince   time.Time
	endWithheld bool                // the game has ended, but the end is not stored: nobody is told
	resumeBy    time.Time           // latest time at which a stopped clock resumes; zero if it is not stopped
	vacant      [2]time.Time        // since when a seat has no instance; zero if it has one
	left        [2]time.Time        // when it lost its instance, whatever kept its player from taking it back since
	refills     [2]*rate.Limiter    // how often a seat may be taken, see Fillable
	drawPly     oncePerMove         // of draw offers
	takebackPly oncePerMove         // of takeback requests
	receipt     *protocol.Receipt   // of the last move
	recent      [2]requests         // by seat
	chats       [2]*rate.Limiter    // by seat: how often it may say something; nil before the first time
	pending     func(now time.Time) // what Commit does
	entry       *protocol.Event     // the uncommitted event
	caused      protocol.ActAnswer  // the answer that goes with the uncommitted event
}

// Opening has the data of a new game.
type Opening struct {
	Game    protocol.GameID
	Terms   protocol.Terms
	Pool    protocol.Pool
	Holders [2]protocol.Holder // with their instances; epochs are set to 1
}

// Setup checks terms against the catalog of games and returns the position in which
// the game begins. The refusal says what is wrong.
func Setup(t protocol.Terms) (game.Position, *protocol.Error) {
	if _, err := catalog.Game(t.Game); err != nil {
		return nil, protocol.Refuse(protocol.UnknownGame, "no such game")
	}
	rules, err := catalog.Rules(t.Rules)
	if err != nil || rules.Name != t.Rules || rules.Game != t.Game {
		return nil, protocol.Refuse(protocol.UnknownGame, "no such rule set of this game: want the full name")
	}
	if _, err = rules.New(t.Position); err != nil {
		return nil, protocol.Refuse(protocol.UnknownGame, "the rules do not allow this start position")
	}
	pos, err := game.Replay(rules, t.Position, t.Moves)
	if err != nil {
		return nil, protocol.Refuse(protocol.UnknownGame, "the rules do not allow these moves from the start position")
	}
	if pos.Outcome().Over() {
		return nil, protocol.Refuse(protocol.UnknownGame, "the game is over at the start position")
	}
	return pos, nil
}

// SetupRequested is Setup for terms that a player asks for. It also refuses a clock without
// time for the first move, and rated games without a clock, from unusual start positions, or
// under rules with a handicap or early draws.
func SetupRequested(t protocol.Terms) (game.Position, *protocol.Error) {
	pos, refused := Setup(t)
	switch err := t.Clock.Check(); {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, protocol.Refuse(protocol.Malformed, "clock: %v", err)
	case !t.Rated:
		return pos, nil
	case !t.Usual() || !t.Clock.Traits().Limited:
		return nil, protocol.Refuse(protocol.Malformed, "rated: want the usual start position and a clock")
	}
	if g, err := catalog.Game(t.Game); err == nil {
		if why := g.Unrated(pos.Rules()); why != "" {
			return nil, protocol.Refuse(protocol.Malformed, "rated: want other rules: %s", why)
		}
	}
	return pos, nil
}

// moversOf returns who made each of the moves that led to a position.
func moversOf(pos game.Position, moves []string) []game.Seat {
	p, movers := pos.Clone(), make([]game.Seat, len(moves))
	for i := range slices.Backward(movers) {
		p.Undo()
		movers[i] = p.Turn()
	}
	return movers
}

// New starts a game. The event has to become the first entry of its log.
func New(o Opening, policy Policy, now time.Time) (*Game, *protocol.Event, *protocol.Error) {
	pos, refused := Setup(o.Terms)
	if refused != nil {
		return nil, nil, refused
	}
	g := &Game{
		policy: policy, term: 1, pos: pos, clock: newGameClock(o.Terms.Clock),
		snap: protocol.Snapshot{
			Game: o.Game, Terms: o.Terms, Pool: o.Pool, Started: now.UTC(), Holders: o.Holders,
			Moves: append([]string{}, o.Terms.Moves...), Status: protocol.Playing,
		},
		limits: policy.limitsOf(o.Terms, o.Holders), movers: moversOf(pos, o.Terms.Moves),
	}
	for i := range g.snap.Holders {
		g.snap.Holders[i].Epoch = 1
	}
	g.begin()
	return g, g.event(protocol.EventStart, nil, "", now, func(now time.Time) { g.start(now) }), nil
}

// Restore resumes a game from the last entry of its log, with the next term. The
// event has to become the log's next entry. No clock runs until a message of the
// seat to act arrives; see Heard.
func Restore(last protocol.Event, seq uint64, policy Policy, now time.Time) (*Game, *protocol.Event, error) {
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
	g := &Game{
		policy: policy, term: last.Term + 1, snap: last.Snapshot, pos: pos, seq: seq, index: last.Index,
		clock:   restoreGameClock(last.Terms.Clock, last.Clocks, pos.Turn(), time.Duration(last.TurnMS)*time.Millisecond),
		receipt: last.Receipt,
		limits:  policy.limitsOf(last.Terms, last.Holders), movers: moversOf(pos, last.Moves),
	}
	if last.Snapshot.Status == protocol.Finished {
		return g, nil, nil
	}
	g.begin()
	g.snap.Status = protocol.Playing
	for seat, h := range g.snap.Holders {
		if h.Instance == "" {
			g.vacant[seat], g.left[seat] = now, h.VacantSince
			if now.Before(h.VacantSince) { // by the clock of another machine: who leaves from now on leaves later
				g.left[seat] = now
			}
		}
	}
	g.turnSince, g.resumeBy = now, now.Add(policy.ResumeWithin)
	g.drawPly.restore(last.DrawOffered, len(last.Moves))
	g.takebackPly.restore(last.TakebackAsked, len(last.Moves))
	for _, r := range last.Earlier {
		g.recent[r.Seat].keep(request{id: r.ID, ply: r.Ply})
	}
	if last.Request != "" && last.Seat != nil {
		g.recent[*last.Seat].keep(request{id: last.Request, ply: len(last.Moves), receipt: last.Receipt})
	}
	return g, g.event(protocol.EventTakeover, nil, "", now, nil), nil
}

func (g *Game) begin() {
	for i, h := range g.snap.Holders {
		g.refills[i] = rate.NewLimiter(rate.Every(min(seatPause, g.limits.forfeit/4)), seatBurst)
		if h.Kind == protocol.Human && h.Player.Person() { // others can claim to be human, and any lag
			g.lag[i] = g.policy.Lag.quota(g.snap.Terms.Clock)
		}
	}
}

// start begins the turn of the seat that is to act.
func (g *Game) start(now time.Time) {
	g.turnSince, g.resumeBy = now, time.Time{}
	g.clock.Start(g.pos.Turn(), now)
}

// event returns the entry for the change that was just made. Commit runs when it
// is stored.
func (g *Game) event(kind protocol.EventKind, by *game.Seat, request string, now time.Time, commit func(time.Time)) *protocol.Event {
	if commit == nil {
		commit = func(time.Time) {}
	}
	e := &protocol.Event{
		V: protocol.Version, Kind: kind, Index: g.index + 1, Term: g.term, Time: now.UTC(),
		Seat: by, Request: request, Earlier: g.earlier(request),
		DrawOffered: g.drawPly.seats(len(g.snap.Moves)), TakebackAsked: g.takebackPly.seats(len(g.snap.Moves)),
		Snapshot: g.Snapshot(now), TurnMS: g.clock.Spent(now).Milliseconds(),
	}
	g.pending, g.entry = commit, e
	// The clock of this turn starts only once the entry is stored.
	if (kind == protocol.EventStart || kind == protocol.EventMove || kind == protocol.EventTakeback) && !g.Over() {
		turn := g.pos.Turn()
		e.Clocks.Running, e.Clocks.UsedMS, e.TurnMS = &turn, 0, 0
		e.FirstMoveBy = g.firstMoveBy(e.Time)
	}
	if e.Clocks.Running != nil {
		e.RunningSince = e.Time
	}
	return e
}

// Commit reports that the last event is stored in the log as entry seq, with the index
// that it has now, and starts the next clock now. It returns the answer to the request
// that caused the event.
func (g *Game) Commit(seq uint64, now time.Time) protocol.ActAnswer {
	g.seq, g.unkept, g.endWithheld = seq, 0, false
	g.index = g.entry.Index
	return g.commit(now)
}

// CommitUnlogged is Commit for an event that could not be stored. The next event
// gets the same index. The end of the game is held back until it is stored, since
// an end that players were told must stand: the request that caused it gets no
// answer, and the players see the game halted before it.
func (g *Game) CommitUnlogged(now time.Time) protocol.ActAnswer {
	g.unkept++
	g.endWithheld = g.Over()
	ans := g.commit(now)
	if g.endWithheld {
		ans.Code = protocol.Unanswered
	}
	return ans
}

// commit performs the change of the last event.
func (g *Game) commit(now time.Time) protocol.ActAnswer {
	g.pending(now)
	g.pending = func(time.Time) {}
	ans := g.caused
	g.caused = protocol.ActAnswer{}
	g.fill(&ans, now)
	return ans
}

// fill completes an answer with the state of the game.
func (g *Game) fill(ans *protocol.ActAnswer, now time.Time) {
	clocks := g.clock.Clocks(now)
	ans.Game, ans.Seq, ans.Unkept, ans.Ply, ans.Clocks = g.snap.Game, g.seq, g.unkept, len(g.snap.Moves), &clocks
}

// CatchUp returns the entry that continues the log after entries that could not
// be stored; text describes them.
func (g *Game) CatchUp(text string, now time.Time) *protocol.Event {
	kind := protocol.EventSnapshot
	if g.Over() {
		kind = protocol.EventEnd
	}
	e := g.event(kind, nil, "", now, nil)
	e.Text, e.Receipt = text, g.receipt
	return e
}

// Snapshot returns the state of the game at a moment.
func (g *Game) Snapshot(now time.Time) protocol.Snapshot {
	s := g.snap
	s.Moves = slices.Clone(g.snap.Moves)
	s.Turn, s.Key, s.Clocks = g.pos.Turn(), game.KeyText(g.pos.Key()), g.clock.Clocks(now)
	s.ForfeitMS, s.FirstMoveBy = g.limits.forfeit.Milliseconds(), g.firstMoveBy(g.turnSince)
	for seat := range s.Holders {
		s.Holders[seat].VacantSince = time.Time{}
		if !g.Over() {
			s.Holders[seat].VacantSince = g.vacant[seat].UTC()
		}
	}
	return s
}

// firstMoveBy returns the limit for the first move of the seat to act, whose turn
// began at a moment; zero if there is none.
func (g *Game) firstMoveBy(since time.Time) time.Time {
	if turn := g.pos.Turn(); g.Over() || g.moved(turn) || g.limits.unhurried[turn] || !g.resumeBy.IsZero() {
		return time.Time{}
	}
	return since.Add(g.limits.firstMove).UTC()
}

// moved reports whether a seat has made a move in this game.
func (g *Game) moved(seat game.Seat) bool {
	return slices.Contains(g.movers[len(g.snap.Terms.Moves):], seat)
}

// Keeps reports whether the player of a seat keeps it while none of its instances
// is present: a person in a correspondence game.
func (g *Game) Keeps(seat game.Seat) bool { return g.limits.keeps[seat] }

// State returns the state message for the holder of a seat.
func (g *Game) State(seat game.Seat, now time.Time) protocol.State {
	st := protocol.State{Seq: g.seq, Unkept: g.unkept, You: seat, Snapshot: g.Snapshot(now), Receipt: g.receipt}
	if g.endWithheld {
		g.hideEnd(&st)
	}
	return st
}

// hideEnd makes the state that of the halted game before its end.
func (g *Game) hideEnd(st *protocol.State) {
	st.Status, st.Outcome = protocol.Halted, game.Outcome{}
	if last := len(st.Moves) - 1; g.pos.Outcome().Over() { // by the last move
		before := g.pos.Clone()
		before.Undo()
		st.Moves, st.Turn, st.Key, st.Receipt = st.Moves[:last], before.Turn(), game.KeyText(before.Key()), nil
	}
}

// EndWithheld reports whether the game has ended, but nobody is told until that is stored.
func (g *Game) EndWithheld() bool { return g.endWithheld }

// Suspended reports whether the clock is stopped until the seat to act is heard.
func (g *Game) Suspended() bool { return !g.resumeBy.IsZero() }

// ID returns the game's id.
func (g *Game) ID() protocol.GameID { return g.snap.Game }

// Term returns the number of this referee among those of the game.
func (g *Game) Term() uint64 { return g.term }

// Seq returns the sequence of the last committed entry in the log.
func (g *Game) Seq() uint64 { return g.seq }

// Holder returns the holder of a seat.
func (g *Game) Holder(seat game.Seat) protocol.Holder { return g.snap.Holders[seat] }

// Over reports whether the game has ended.
func (g *Game) Over() bool { return g.snap.Status == protocol.Finished }

// Ply counts the moves on the board.
func (g *Game) Ply() int { return len(g.snap.Moves) }

// requests are the last requests of a seat that took effect, the oldest first, so that a
// repetition gets the same answer.
type requests []request

// request is what is remembered of a request.
type request struct {
	id      string
	ply     int               // that it names, or noPly
	what    uint64            // hash of what it asks for; 0 if only an earlier referee knew
	receipt *protocol.Receipt // of a move that took effect
}

// remembered is how many requests of a seat are kept.
const remembered = 32

// noPly is the ply of a request that names none, as a chat message.
const noPly = -1

// requested describes a request; text is its move, its step, or what is said.
func requested(id string, action protocol.Action, ply int, text string) request {
	what := maphash.Comparable(requestSeed, struct {
		action protocol.Action
		ply    int
		text   string
	}{action, ply, text})
	return request{id: id, ply: ply, what: what}
}

// requestSeed is that of hashes that never leave the process.
var requestSeed = maphash.MakeSeed()

// repeats reports whether it is an earlier one with the same id, sent again. If it asks for
// something else, its sender must not take it for accepted.
func (r request) repeats(earlier request) bool { return r.what == earlier.what || earlier.what == 0 }

func (r *requests) keep(one request) {
	if len(*r) == remembered {
		*r = slices.Delete(*r, 0, 1)
	}
	*r = append(*r, one)
}

func (r requests) find(id string) (one request, ok bool) {
	i := slices.IndexFunc(r, func(one request) bool { return one.id == id })
	if i < 0 {
		return request{}, false
	}
	return r[i], true
}

// earlier returns the earlier requests that the next entry, which a request causes, must
// list. Most name a ply that is over, and can't take effect again.
func (g *Game) earlier(request string) (all []protocol.EarlierRequest) {
	for seat := range g.recent {
		for _, r := range g.recent[seat] {
			if r.ply >= len(g.snap.Moves) && r.id != request {
				all = append(all, protocol.EarlierRequest{Seat: game.Seat(seat), ID: r.id, Ply: r.ply})
			}
		}
	}
	return all
}

// oncePerMove has by seat 1 + the ply at which it last did what it may do once per move;
// 0 if it has not.
type oncePerMove [2]int

func (o *oncePerMove) note(seat game.Seat, ply int) { o[seat] = ply + 1 }

func (o *oncePerMove) done(seat game.Seat, ply int) bool { return o[seat] == ply+1 }

// seats returns who has done it at a ply.
func (o *oncePerMove) seats(ply int) (all []game.Seat) {
	for _, seat := range []game.Seat{game.First, game.Second} {
		if o.done(seat, ply) {
			all = append(all, seat)
		}
	}
	return all
}

// restore notes what seats returned.
func (o *oncePerMove) restore(seats []game.Seat, ply int) {
	for _, seat := range seats {
		o.note(seat, ply)
	}
}
