package scripted

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Game is one game. All of it is protected by the platform's lock.
type Game struct {
	protocol.Snapshot
	Requests  []Request // for moves, in order of arrival, with repetitions
	Acts      []string  // action and step of the other requests, in order of arrival
	Chats     []string
	Think     time.Duration // of the script before a move
	PlayOn    int           // plies until which only a mate ends the game; a draw is agreed then; 0: the rules end it
	Stored    uint64        // the last change that is stored; 0: all are
	Uncounted bool          // the changes since then are not counted in Unkept

	pos      game.Position
	seq      uint64
	left     [2]clock.State // at the start of the turn
	since    time.Time      // when the clock of the turn began
	flag     *time.Timer
	receipt  *protocol.Receipt
	answered map[string]protocol.ActAnswer // by player and request id
	over     chan struct{}
	stop     func()
	played   [2]bool // a seat has moved
}

// Request is a request for a move and its answer.
type Request struct {
	protocol.MoveRequest
	Player  protocol.PlayerID
	Arrived time.Time
	Code    protocol.Code // of the answer; "" if none was sent
}

// SeatOf returns the seat of a player.
func (g *Game) SeatOf(p protocol.PlayerID) (game.Seat, bool) {
	for i, h := range g.Holders {
		if h.Player == p {
			return game.Seat(i), true
		}
	}
	return 0, false
}

// Over is closed when the game has ended.
func (g *Game) Over() <-chan struct{} { return g.over }

// Position returns the position.
func (g *Game) Position() game.Position { return g.pos }

// Seq returns the number of the last change.
func (g *Game) Seq() uint64 { return g.seq }

// Taker is who takes a seat of a new game.
type Taker struct {
	Player   protocol.PlayerID
	Instance protocol.InstanceID
	Kind     protocol.Kind // "": a bot
}

// Grant starts a game. A seat without a taker is the script's. Moves are played before
// anybody is told.
func (p *Platform) Grant(id protocol.GameID, terms protocol.Terms, takers [2]Taker, prepare ...func(*Game)) (*Game, error) {
	rules, err := catalog.Rules(terms.Rules)
	if err != nil {
		return nil, err
	}
	pos, err := game.Replay(rules, terms.Position, terms.Moves)
	if err != nil {
		return nil, err
	}
	g := &Game{pos: pos, over: make(chan struct{}), answered: make(map[string]protocol.ActAnswer), since: time.Now()}
	g.Snapshot = protocol.Snapshot{
		Game: id, Terms: terms, Started: time.Now().UTC(), Status: protocol.Playing, Moves: slices.Clone(terms.Moves), ForfeitMS: 60_000,
	}
	for i, t := range takers {
		if t.Player == "" {
			t = Taker{Script, "script", protocol.Bot}
		}
		if t.Kind == "" {
			t.Kind = protocol.Bot
		}
		g.Holders[i] = protocol.Holder{Player: t.Player, Kind: t.Kind, Instance: t.Instance, Epoch: 1}
		g.left[i] = terms.Clock.Start()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range takers {
		if q := p.peers[peerID{t.Player, t.Instance}]; q != nil {
			g.Holders[i].Display = q.Hello.Display
		}
	}
	for _, f := range prepare {
		f(g)
	}
	p.games[id] = g
	g.stop, err = p.server.ServeGame(id, []protocol.PlayerID{g.Holders[0].Player, g.Holders[1].Player}, func(q protocol.GameRequest) { q.Answer(p.rule(g, q)) })
	if err != nil {
		return nil, err
	}
	if err := p.nc.Flush(); err != nil {
		return nil, err
	}
	if h := p.hooks.Grant; h != nil {
		h(g)
	}
	p.Advance(g)
	return g, nil
}

// PlayText plays a move without asking anybody. Call it before the game is granted to
// anybody, or under the lock.
func (g *Game) PlayText(text string) error {
	game.PlayOn(g.pos)
	if _, err := game.PlayText(g.pos, text); err != nil {
		return err
	}
	g.Moves = append(slices.Clone(g.Moves), text)
	return nil
}

func (g *Game) quit() {
	if g.flag != nil {
		g.flag.Stop()
	}
	if g.stop != nil {
		g.stop()
		g.stop = nil
	}
}

// Advance makes the game's change known: it numbers and sends the new state, and lets
// the script move. Call it under the lock.
func (p *Platform) Advance(g *Game) {
	g.seq++
	if len(g.Moves) < g.PlayOn {
		game.PlayOn(g.pos)
	}
	g.Turn, g.Key = g.pos.Turn(), game.KeyText(g.pos.Key())
	out := g.pos.Outcome()
	if g.PlayOn > 0 && len(g.Moves) == g.PlayOn {
		out = game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}
	}
	if out.Over() && g.Status != protocol.Finished {
		g.Status, g.Outcome = protocol.Finished, out
	}
	if g.flag != nil {
		g.flag.Stop()
	}
	p.tellAll(g)
	p.broadcast()
	if g.Status == protocol.Finished {
		select {
		case <-g.over:
		default:
			close(g.over)
		}
		return
	}
	if g.Status != protocol.Playing {
		return
	}
	p.setFlag(g)
	if g.Holders[g.Turn].Player == Script {
		seq := g.seq
		time.AfterFunc(g.Think, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if g.seq == seq && g.Status == protocol.Playing && p.life.Err() == nil {
				legal := g.pos.Legal(nil)
				p.play(g, legal[p.rng.IntN(len(legal))], time.Now(), 0)
			}
		})
	}
}

// running reports whether the clock of the seat to act counts. Nobody loses before
// both have moved.
func (g *Game) running() bool {
	return g.Status == protocol.Playing && g.played[0] && g.played[1] && g.Terms.Clock.Traits().Limited
}

func (p *Platform) setFlag(g *Game) {
	if !g.running() {
		return
	}
	left, _ := g.Terms.Clock.Remaining(clock.Turn{State: g.left[g.Turn]})
	seq := g.seq
	g.flag = time.AfterFunc(left-time.Since(g.since)+20*time.Millisecond, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if g.seq == seq && g.Status == protocol.Playing {
			p.End(g, game.Outcome{Result: game.WonBy(g.Turn.Other()), Reason: protocol.ReasonTime})
		}
	})
}

// clocksAt returns the clocks at a time.
func (g *Game) clocksAt(now time.Time) (c protocol.Clocks) {
	for i, st := range g.left {
		c.Seats[i] = protocol.ClockOf(st)
	}
	if g.Status != protocol.Playing {
		return c
	}
	turn := g.Turn
	c.Running = &turn
	t := g.Terms.Clock.Advance(clock.Turn{State: g.left[turn]}, now.Sub(g.since))
	c.Seats[turn], c.UsedMS = protocol.ClockOf(t.State), t.Used.Milliseconds()
	return c
}

// SetClock sets what a seat has left from now on. Call it under the lock.
func (g *Game) SetClock(s game.Seat, d time.Duration) {
	g.left[s].Left, g.since = d, time.Now()
}

// play plays a move of the seat to act that arrived at a time, less what is credited.
func (p *Platform) play(g *Game, m game.Move, arrived time.Time, lag time.Duration) (late bool) {
	text, seat := g.pos.Format(m), g.pos.Turn()
	used := max(arrived.Sub(g.since)-lag, 0)
	after, ok := g.Terms.Clock.Charge(g.left[seat], used)
	if !ok && g.running() {
		p.End(g, game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonTime})
		return true
	}
	if !ok {
		after = g.left[seat]
	}
	if err := g.pos.Play(m); err != nil {
		panic(err) // it comes from Legal or Parse
	}
	g.left[seat], g.played[seat] = after, true
	g.Moves = append(slices.Clone(g.Moves), text)
	now := time.Now()
	g.receipt = &protocol.Receipt{
		Ply: len(g.Moves), Received: arrived.UTC(), ChargedMS: used.Milliseconds(), LeftMS: after.Left.Milliseconds(), Periods: after.Periods,
		LagMS: lag.Milliseconds(), WaitedMS: now.Sub(arrived).Milliseconds(),
	}
	g.since, g.DrawBy, g.TakebackBy = now, nil, nil
	p.Advance(g)
	return false
}

// TakeBack undoes moves up to and including the seat's last. Call it under the lock.
func (p *Platform) TakeBack(g *Game, seat game.Seat) {
	g.TakebackBy = nil
	for done := false; !done && len(g.Moves) > len(g.Terms.Moves); {
		g.pos.Undo()
		g.Moves = slices.Clone(g.Moves[:len(g.Moves)-1])
		done = g.pos.Turn() == seat
	}
	g.receipt, g.since = nil, time.Now()
	p.Advance(g)
}

// Rewind goes back to the position after some plies, and to lower numbers of states, as a platform
// does that was restored from a backup. Call it under the lock.
func (p *Platform) Rewind(g *Game, plies int) {
	for len(g.Moves) > plies {
		g.pos.Undo()
		g.Moves = slices.Clone(g.Moves[:len(g.Moves)-1])
	}
	g.seq, g.receipt, g.since = 0, nil, time.Now()
	g.DrawBy, g.TakebackBy = nil, nil
	g.ForgetRequests()
	p.Advance(g)
}

// End ends a game. Call it under the lock.
func (p *Platform) End(g *Game, out game.Outcome) {
	if g.Status == protocol.Finished {
		return
	}
	g.Status, g.Outcome = protocol.Finished, out
	p.Advance(g)
}

// SetStatus halts or continues a game. Call it under the lock.
func (p *Platform) SetStatus(g *Game, s protocol.Status) {
	g.Status, g.since = s, time.Now()
	p.Advance(g)
}

// State returns what a seat is told now. Call it under the lock.
func (p *Platform) State(g *Game, seat game.Seat) protocol.State {
	now := time.Now()
	st := protocol.State{
		V: protocol.Version, To: p.subjects.ToGame(g.Holders[seat].Player, g.Game), ServerTime: now.UTC(), You: seat, Snapshot: g.Snapshot, Receipt: g.receipt,
	}
	st.Clocks = g.clocksAt(now)
	st.Seq, st.Unkept = g.order()
	return st
}

// order returns the place of the game's state among all of them.
func (g *Game) order() (seq, unkept uint64) {
	if g.Stored > 0 && g.seq > g.Stored {
		if !g.Uncounted {
			unkept = g.seq - g.Stored
		}
		return g.Stored, unkept
	}
	return g.seq, 0
}

// Send sends a state as it is.
func (p *Platform) Send(st protocol.State) { p.SendRaw(st.To, st) }

// SendRaw sends any message.
func (p *Platform) SendRaw(subject string, m any) {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // our own types
	}
	if err := p.nc.Publish(subject, data); err != nil && p.life.Err() == nil {
		p.cfg.Log.Warn().Err(err).Str("subject", subject).Msg("not sent")
	}
}

// tellAll sends the state to both seats.
func (p *Platform) tellAll(g *Game) {
	for i, h := range g.Holders {
		if h.Player == Script {
			continue
		}
		st := p.State(g, game.Seat(i))
		if tell := p.hooks.Tell; tell != nil {
			tell(g, st, p.Send)
		} else {
			p.Send(st)
		}
	}
}

// ForgetRequests forgets which requests have been answered, like a restart that loses
// them. Call it under the lock.
func (g *Game) ForgetRequests() { clear(g.answered) }

// Games returns all games. Call it under the lock.
func (p *Platform) Games() []*Game { return slices.Collect(maps.Values(p.games)) }

// NewGameID returns an id for a game.
func (p *Platform) NewGameID() protocol.GameID { return protocol.GameID("g" + protocol.NewID()) }

func (g *Game) String() string {
	return fmt.Sprintf("game %s: %s after %d plies, %s to act", g.Game, g.Status, len(g.Moves), g.Turn)
}
