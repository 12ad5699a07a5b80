package arena

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// The first measures how long it takes until all of them play:
//
//	go test ./arena -run TestLadderOfMany -v -ladder.bots 5000
var ladderBots = flag.Int("ladder.bots", 300, "bots of TestLadderOfMany")

// crowd is many simulated bots with one slot each, over one connection. They accept
// what they are offered at once, make one move each, and then the weaker one resigns.
type crowd struct {
	t        testing.TB
	nc       *nats.Conn
	subjects protocol.Subjects
	people   protocol.PeopleKey // proves that some of them are people
	hold     time.Duration      // how long a game lasts

	mu            sync.Mutex
	bots          map[protocol.PlayerID]*crowdBot
	answer        func(*crowdBot, protocol.Offer) protocol.OfferDecision // nil: accept
	idle          protocol.PlayerID                                      // makes no move
	playing, most int                                                    // bots that play, and most at once
	twice         int                                                    // states of a second game
	games         map[protocol.GameID][2]protocol.PlayerID               // that have begun
	order         []protocol.GameID
	seen          map[string]protocol.StateOrder // by subject
	offers        map[protocol.PlayerID]int
	gone          chan struct{}
}

type crowdBot struct {
	id       protocol.PlayerID
	strength float64
	game     protocol.GameID // "" if it is free
	hello    protocol.Hello
	turn     *protocol.State // in which it is to act; nil if it is not
	since    time.Time       // of turn
}

// gather makes n bots and lets them say hello. Their instances are their own, or one
// of a process with slots for some of them.
func gather(t testing.TB, nc *nats.Conn, n int, change ...func(*crowd)) *crowd {
	t.Helper()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{t: t, nc: nc, subjects: subjects, bots: make(map[protocol.PlayerID]*crowdBot),
		games: make(map[protocol.GameID][2]protocol.PlayerID), offers: make(map[protocol.PlayerID]int), seen: make(map[string]protocol.StateOrder), gone: make(chan struct{})}
	for i := range n {
		id := protocol.PlayerID(fmt.Sprintf("bot-%d", i))
		b := &crowdBot{id: id, strength: 1500 + 300*rand.New(rand.NewPCG(uint64(i), 1)).NormFloat64()}
		b.hello = protocol.Hello{Instance: protocol.InstanceID("i-" + id), Kind: protocol.Bot, Slots: 1, Secret: "secret-" + string(id),
			Games: []protocol.Capability{{Game: "gomoku"}}, Pools: []protocol.Pool{protocol.OwnPool(id)}}
		c.bots[id] = b
	}
	for _, f := range change {
		f(c)
	}
	c.subscribe(subjects.Offer(protocol.OwnPool("*")), protocol.BotsQueue, c.offered)
	c.subscribe(subjects.ToGame("*", "*"), "", c.state)
	var done sync.WaitGroup
	done.Go(c.beat)
	t.Cleanup(func() { close(c.gone); done.Wait() })
	return c
}

func (c *crowd) subscribe(subject, queue string, f nats.MsgHandler) {
	c.t.Helper()
	sub, err := c.nc.QueueSubscribe(subject, queue, f)
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// send sends a request and does not wait for its answer.
func (c *crowd) send(p protocol.PlayerID, subject string, request any) {
	data, err := json.Marshal(request)
	if err != nil {
		c.t.Error(err)
	}
	m := &nats.Msg{Subject: subject, Reply: "_INBOX.crowd", Data: data}
	if p.Person() {
		m.Header = c.people.Header(p)
	}
	c.nc.PublishMsg(m) // fails only when the test is over
}

func header() protocol.Header { return protocol.Header{V: protocol.Version, ID: protocol.NewID()} }

// beat sends hellos and then a heartbeat of each bot, all over again: the tests'
// arenas hear of every bot when they start, and of every slot.
func (c *crowd) beat() {
	for round := 0; ; round++ {
		c.mu.Lock()
		bots := make([]*crowdBot, 0, len(c.bots))
		for _, b := range c.bots {
			bots = append(bots, b)
		}
		c.mu.Unlock()
		for i, b := range bots {
			if b.hello.Header = header(); round%4 == 0 {
				c.send(b.id, c.subjects.Play(b.id, protocol.VerbHello), b.hello)
			}
			c.alive(b)
			c.again(b)
			if i%100 == 99 { // not all at once
				sleep(c.t.Context(), 10*time.Millisecond)
			}
		}
		select {
		case <-c.gone:
			return
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// alive sends a heartbeat.
func (c *crowd) alive(b *crowdBot) {
	c.mu.Lock()
	m := protocol.Alive{Header: header(), Instance: b.hello.Instance, Free: b.hello.Slots}
	if b.game != "" {
		m.Games = []protocol.GameID{b.game}
		m.Free--
	}
	if b.hello.Slots > 1 { // of all bots
		m.Free = max(0, b.hello.Slots-c.playing)
	}
	c.mu.Unlock()
	c.send(b.id, c.subjects.Play(b.id, protocol.VerbAlive), m)
}

func (c *crowd) offered(msg *nats.Msg) {
	var o protocol.Offer
	if err := json.Unmarshal(msg.Data, &o); err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bots[o.Player]
	if b == nil {
		return
	}
	c.offers[o.Player]++
	ans := protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: o.Player, Instance: b.hello.Instance, Secret: b.hello.Secret}
	if c.answer != nil {
		ans.Answer = c.answer(b, o)
	}
	if o.Kind == protocol.OfferMatch && b.game != "" && b.game != o.Game {
		ans.Answer = protocol.Busy
	}
	if ans.Answer == protocol.Decline {
		ans.Reason = protocol.DeclineOpponent
	}
	data, err := json.Marshal(ans)
	if err != nil {
		c.t.Error(err)
	}
	if ans.Answer != "" { // who ignores offers does not answer
		msg.Respond(data)
	}
}

// state plays a game: a move each, and the weaker player resigns after a while.
func (c *crowd) state(msg *nats.Msg) {
	var st protocol.State
	if err := json.Unmarshal(msg.Data, &st); err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	b := c.bots[st.Holders[st.You].Player]
	if b == nil || st.To != msg.Subject || st.Order().Before(c.seen[st.To]) {
		c.mu.Unlock()
		return
	}
	c.seen[st.To] = st.Order()
	if _, known := c.games[st.Game]; !known {
		c.games[st.Game] = [2]protocol.PlayerID{st.Holders[0].Player, st.Holders[1].Player}
		c.order = append(c.order, st.Game)
	}
	was := b.game
	switch {
	case st.Status == protocol.Finished && b.game == st.Game:
		b.game = ""
	case st.Status != protocol.Finished && b.game == "":
		b.game = st.Game
	case st.Status != protocol.Finished && b.game != st.Game:
		c.twice++
	}
	changed := was != b.game
	if changed && b.game == "" {
		c.playing--
	} else if changed {
		c.playing++
		c.most = max(c.most, c.playing)
	}
	if b.turn = nil; st.Status == protocol.Playing && st.Turn == st.You {
		b.turn, b.since = &st, time.Now()
	}
	turn, hold := b.turn, c.hold
	c.mu.Unlock()
	if changed {
		c.alive(b)
	}
	if turn != nil && len(st.Moves) < 2 {
		c.act(b, st)
	} else if turn != nil && hold > 0 {
		time.AfterFunc(hold, func() { c.act(b, st) })
	}
}

// again repeats what may not have arrived.
func (c *crowd) again(b *crowdBot) {
	c.mu.Lock()
	turn := b.turn
	due := turn != nil && time.Since(b.since) > c.hold+time.Second && (c.hold > 0 || len(turn.Moves) < 2)
	if due {
		b.since = time.Now()
	}
	c.mu.Unlock()
	if due {
		c.act(b, *turn)
	}
}

// act makes the bot's first move, or ends the game.
func (c *crowd) act(b *crowdBot, st protocol.State) {
	h := st.Holders[st.You]
	if h.Player == c.idle {
		return
	}
	if len(st.Moves) < 2 {
		c.send(h.Player, c.subjects.Act(h.Player, st.Game, protocol.ActMove), protocol.MoveRequest{Header: header(), Instance: h.Instance,
			Epoch: h.Epoch, Ply: len(st.Moves), Move: []string{"h8", "h9"}[len(st.Moves)]})
		return
	}
	c.mu.Lock()
	other := c.bots[st.Holders[st.You.Other()].Player]
	c.mu.Unlock()
	if other != nil && rand.Float64() < 1/(1+math.Pow(10, (other.strength-b.strength)/400)) {
		h = st.Holders[st.You.Other()]
	}
	c.send(h.Player, c.subjects.Act(h.Player, st.Game, protocol.ActResign), protocol.ActRequest{Header: header(), Instance: h.Instance,
		Epoch: h.Epoch, Ply: len(st.Moves)})
}

// count returns how many bots are in a game.
func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.playing
}

// played returns the opponents of each bot, in the order of its games.
func (c *crowd) played() map[protocol.PlayerID][]protocol.PlayerID {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[protocol.PlayerID][]protocol.PlayerID)
	for _, g := range c.order {
		players := c.games[g]
		for seat, p := range players {
			all[p] = append(all[p], players[1-seat])
		}
	}
	return all
}

// crowdPatience is longer than patience: a crowd plays hundreds of games.
const crowdPatience = 6 * patience

// await waits until a condition holds.
func (c *crowd) await(what string, ok func() bool) {
	c.t.Helper()
	for end := time.Now().Add(crowdPatience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

// everyone waits until each bot has begun so many games.
func (c *crowd) everyone(n int) {
	c.t.Helper()
	c.await(fmt.Sprintf("%d games of each", n), func() bool {
		played := c.played()
		c.mu.Lock()
		defer c.mu.Unlock()
		for id := range c.bots {
			if len(played[id]) < n {
				return false
			}
		}
		return true
	})
}

// pairingConfig pairs all bots for Gomoku.
func pairingConfig() Config {
	cfg := steady()
	cfg.Games = 10000
	cfg.Policy.FirstMove = time.Hour
	cfg.Ladder = Ladder{On: true, Clocks: []clock.Spec{{Kind: clock.Fischer, Initial: time.Hour, Increment: time.Second}}, Games: 1}
	return cfg
}

// Many bots, more than could meet all others in a round, play at once; then they go
// on playing, each against others and on either seat, and every game counts once.
func TestLadderOfMany(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	a := prepareArenaLog(t, srv, pairingConfig(), zerolog.Nop())
	a.start()
	n := *ladderBots
	used, began := arenatest.CPUTime(t), time.Now()
	c := gather(t, arenatest.Connect(t, srv.Platform()), n)
	c.await("a game of each", func() bool { return c.count() == n })
	t.Logf("%d bots play after %v and %v of processor time", n, time.Since(began).Round(time.Millisecond), (arenatest.CPUTime(t) - used).Round(time.Millisecond))
	if n > 1000 {
		return // measured
	}
	c.mu.Lock()
	c.hold = time.Millisecond // the games that run end with the bots' next heartbeats
	games := len(c.games)
	c.mu.Unlock()
	if games != n/2 {
		t.Errorf("%d games, want %d", games, n/2)
	}
	c.everyone(2)
	c.end()
	again, total := 0, 0
	for id, opponents := range c.played() {
		total += len(opponents)
		for i := 1; i < len(opponents); i++ {
			if opponents[i] == opponents[i-1] {
				again++
			}
		}
		if slices.Contains(opponents, id) {
			t.Errorf("%s met itself", id)
		}
	}
	if again > 0 {
		t.Errorf("%d of %d opponents were those of the game before", again/2, total/2)
	}
	c.allCounted(a)
	for id := range c.bots {
		if e := a.ladder.contender(a.ladderTerms()[1], id); e.Balance > 4 || e.Balance < -4 {
			t.Errorf("%s: %d more games on one seat than on the other", id, e.Balance)
		}
	}
	info, err := a.store.ladder.Status(t.Context())
	if err != nil || int(info.Values()) > n {
		t.Errorf("%d values stored for %d bots (%v)", info.Values(), n, err)
	}
}

// end lets no game begin, and those that run end.
func (c *crowd) end() {
	c.t.Helper()
	c.mu.Lock()
	c.answer = func(*crowdBot, protocol.Offer) protocol.OfferDecision { return protocol.Busy }
	c.mu.Unlock()
	c.await("the end of all games", func() bool { return c.count() == 0 })
}

// allCounted checks that every game that began has one record, and counts once in the
// ratings of both players.
func (c *crowd) allCounted(a *running) {
	c.t.Helper()
	var games, counted int
	var records uint64
	defer func() {
		if c.t.Failed() {
			c.t.Logf("%d games, %d records", games, records)
		}
	}()
	c.await("all records rated", func() bool {
		info, err := a.store.records.Info(c.t.Context())
		c.mu.Lock()
		games = len(c.games) // one that was agreed on before end may begin after it
		c.mu.Unlock()
		if err == nil {
			records = info.State.Msgs
		}
		if err != nil || records != uint64(games) || !a.ladder.upTo(info.State.LastSeq) {
			return false
		}
		counted = 0
		for _, s := range a.Standings("gomoku") {
			counted += s.Games
		}
		return true
	})
	if counted != 2*games {
		c.t.Errorf("%d games in the standings, want twice %d", counted, games)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.twice > 0 {
		c.t.Errorf("%d states of a second game at once", c.twice)
	}
}

// Bots that refuse or ignore every offer don't keep the others from playing, and are
// asked less and less often.
func TestLadderRefusers(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	cfg := pairingConfig()
	cfg.OfferFor = 200 * time.Millisecond
	a := prepareArenaLog(t, srv, cfg, zerolog.Nop())
	a.start()
	answers := map[protocol.PlayerID]protocol.OfferDecision{"bot-0": "", "bot-1": protocol.Decline, "bot-2": protocol.Busy}
	c := gather(t, arenatest.Connect(t, srv.Platform()), 13, func(c *crowd) {
		c.hold = 100 * time.Millisecond
		c.answer = func(b *crowdBot, o protocol.Offer) protocol.OfferDecision {
			if ans, bad := answers[b.id]; bad {
				return ans
			}
			return protocol.Accept
		}
	})
	c.await("five games of all others", func() bool {
		played := c.played()
		for id := range c.bots {
			if _, bad := answers[id]; !bad && len(played[id]) < 5 {
				return false
			}
		}
		return true
	})
	c.mu.Lock()
	games := len(c.games)
	asked := map[protocol.PlayerID]int{}
	for id := range answers {
		asked[id] = c.offers[id]
	}
	c.mu.Unlock()
	for id, n := range asked {
		if n == 0 || n > 10 {
			t.Errorf("%s was asked %d times while the others played %d games", id, n, games)
		}
	}
	if off := counterValue(t, a.Arena, "sparring_arena_pairings_total", "off"); off == 0 {
		t.Error("no pairing came to nothing")
	}
}

// A bot that takes its seats and does not begin its games has missed these pairings: it is
// paired later and later, and can't choose its opponents so.
func TestLadderIdler(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	cfg := pairingConfig()
	cfg.Policy.FirstMove = 300 * time.Millisecond
	cfg.Ladder.Pause = time.Second // in which the pairer learns of the end
	a := prepareArenaLog(t, srv, cfg, zerolog.Nop())
	var mu sync.Mutex
	missed, rested := map[protocol.PlayerID]int{}, map[protocol.PlayerID]time.Time{}
	defer a.index.subscribe(func(e protocol.Event, _ uint64) {
		mu.Lock()
		defer mu.Unlock()
		for seat, h := range e.Holders {
			switch {
			case e.Kind == protocol.EventStart && e.Started.Before(rested[h.Player]):
				t.Errorf("%s was paired %v too early, after it had missed %d pairings", h.Player, rested[h.Player].Sub(e.Started), missed[h.Player])
			case e.Kind == protocol.EventEnd && e.Outcome.Reason != protocol.ReasonNoStart:
				missed[h.Player] = 0
			case e.Kind == protocol.EventEnd && int(*e.Seat) == seat:
				missed[h.Player]++
				rested[h.Player] = e.Time.Add(time.Second << (missed[h.Player] - 1))
			}
		}
	})()
	a.start()
	gather(t, arenatest.Connect(t, srv.Platform()), 2, func(c *crowd) {
		c.hold, c.idle = time.Millisecond, "bot-0"
	}).await("three pairings that the bot has missed", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return missed["bot-0"] >= 3
	})
}

// A game that has ended without both seats having moved is a missed pairing of the seat
// at fault alone, and counts for nobody's seats.
func TestMissedGames(t *testing.T) {
	t.Parallel()
	ladder := small(t, "60")
	second := game.Second
	started := time.Now().Add(-time.Minute)
	for _, test := range []struct {
		name    string
		outcome game.Outcome
		by      *game.Seat
		missed  [2]int // by seat, after two missed pairings of each
		balance int    // of the first seat, which led by three with this game
	}{
		{"no first move", game.Outcome{Reason: protocol.ReasonNoStart}, &second, [2]int{2, 3}, 2},
		{"left before both had moved", game.Outcome{Reason: protocol.ReasonAbandoned}, &second, [2]int{2, 3}, 2},
		{"wrong key of the first move", game.Outcome{Reason: protocol.ReasonDispute}, &second, [2]int{2, 3}, 2},
		{"wrong key later", game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonIllegal}, &second, [2]int{}, 3},
		{"left later", game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}, &second, [2]int{}, 3},
		{"resigned", game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}, &second, [2]int{}, 3},
		{"ended by the operator", game.Outcome{Reason: protocol.ReasonVoid}, nil, [2]int{}, 3},
	} {
		p := &pairer{known: make(map[protocol.PlayerID]*contender)}
		end := protocol.Event{Kind: protocol.EventEnd, Index: 3, Seat: test.by}
		end.Terms, end.Pool, end.Started, end.Outcome = ladder, ladderPoolOf(ladder), started, test.outcome
		for seat, id := range []protocol.PlayerID{"ann", "bob"} {
			end.Holders[seat].Player = id
			p.contender(id).missed = 2
			p.contender(id).balance[ladderOf(ladder)] = 3 - 6*seat
		}
		p.noteEnd(end, 1)
		end.Pool = "gomoku.blitz" // other games are not the ladder's
		p.noteEnd(end, 2)
		now := time.Now()
		p.settleEnded(now)
		p.settleEnded(now) // once
		ann, bob := p.contender("ann"), p.contender("bob")
		if missed := [2]int{ann.missed, bob.missed}; missed != test.missed {
			t.Errorf("%s: missed %v, want %v", test.name, missed, test.missed)
		}
		if got := [2]int{ann.balance[ladderOf(ladder)], bob.balance[ladderOf(ladder)]}; got != [2]int{test.balance, -test.balance} {
			t.Errorf("%s: balance %v, want %d and the opposite", test.name, got, test.balance)
		}
		if fault := test.missed[1] > 0; fault != bob.until.After(now) || fault != ann.since.Equal(started) || !ann.until.IsZero() {
			t.Errorf("%s: the one rests until %v, the other until %v and is free since %v", test.name, bob.until, ann.until, ann.since)
		}
	}
}

// Bots of one process share its slots: no more are asked than have one.
func TestLadderSharedSlots(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	a := prepareArenaLog(t, srv, pairingConfig(), zerolog.Nop())
	a.start()
	const slots = 4
	c := gather(t, arenatest.Connect(t, srv.Platform()), 12, func(c *crowd) {
		c.hold = 50 * time.Millisecond
		for _, b := range c.bots {
			b.hello.Instance, b.hello.Secret = "shared", "shared"
			b.hello.Slots = slots
		}
	})
	c.everyone(3)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most > slots || c.most < 2 {
		t.Errorf("%d bots played at once, of a process with %d slots", c.most, slots)
	}
}

// takenUpConfig is pairingConfig for arenas that die.
func takenUpConfig() Config {
	cfg := pairingConfig()
	cfg.LeaseFor = 2 * time.Second
	return cfg
}

// A second arena takes the pairing up where the first is killed or stopped, in
// mid-pairing: no game is lost, none counts twice, and no bot plays two at once.
func TestLadderTakenUp(t *testing.T) {
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Port: embedded.RandomPort, Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(srv.Close)
			first := startArenaProcess(t, srv.URL(), srv.Password("platform"), arenaLadder+"=1")
			nc := arenatest.Connect(t, srv.Platform())
			c := gather(t, nc, 60, func(c *crowd) { c.hold = 300 * time.Millisecond })
			c.await("the first games", func() bool { return c.count() >= 20 })
			a := prepareArenaLog(t, srv, takenUpConfig(), zerolog.Nop())
			a.start()
			c.everyone(2)
			if how == "killed" {
				first.Kill()
			} else {
				arenatest.Pause(t, first)
			}
			c.mu.Lock()
			before := len(c.order)
			c.mu.Unlock()
			c.await("games without the first arena", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.order) > before+60
			})
			if how == "stopped" {
				arenatest.Continue(t, first)
				c.everyone(4)
			}
			c.end()
			c.allCounted(a)
		})
	}
}

// The ladder goes on after a restart of NATS.
func TestLadderAfterServerRestart(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a := prepareArenaLog(t, p, pairingConfig(), zerolog.Nop())
	a.start()
	c := gather(t, arenatest.Connect(t, p.Platform()), 40, func(c *crowd) { c.hold = 200 * time.Millisecond })
	c.everyone(2)
	p.Close()
	p.Start()
	c.everyone(4)
	c.end()
	c.allCounted(a)
}

// People are paired only if they ask for it, and with bots as set.
func TestLadderOfPeople(t *testing.T) {
	t.Parallel()
	for _, apart := range []bool{false, true} {
		t.Run(map[bool]string{false: "together", true: "apart"}[apart], func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartServer(t, "")
			cfg := pairingConfig()
			cfg.Ladder.Apart = apart
			a := prepareArenaLog(t, srv, cfg, zerolog.Nop())
			a.start()
			c := gather(t, arenatest.Connect(t, srv.Platform()), 7, func(c *crowd) {
				c.hold = 50 * time.Millisecond
				c.people = a.store.peopleKey
				for old, id := range map[protocol.PlayerID]protocol.PlayerID{"bot-0": "human-0", "bot-1": "human-1", "bot-2": "human-2"} {
					b := c.bots[old]
					delete(c.bots, old)
					c.bots[id], b.id = b, id
					b.hello.Kind, b.hello.Pools = protocol.Human, []protocol.Pool{protocol.OwnPool(id)}
				}
				for _, id := range []protocol.PlayerID{"human-0", "human-1", "bot-3"} {
					h := &c.bots[id].hello
					h.Kind, h.Pools = protocol.Human, append(h.Pools, protocol.LadderPool) // bot-3 claims it
				}
			})
			mixed := func() (yes, no int) {
				for p, opponents := range c.played() {
					for _, q := range opponents {
						if p.Person() != q.Person() {
							yes++
						} else {
							no++
						}
					}
				}
				return yes, no
			}
			c.await("games of both", func() bool {
				played := c.played()
				return len(played["human-0"]) >= 4 && len(played["human-1"]) >= 4 && len(played["bot-3"]) >= 4 && len(played["bot-4"]) >= 4
			})
			if yes, no := mixed(); apart == (yes > 0) || no == 0 {
				t.Errorf("%d seats in games of people with bots, %d in others", yes, no)
			}
			if n := len(c.played()["human-2"]); n > 0 {
				t.Errorf("a person who did not ask for it was paired %d times", n)
			}
		})
	}
}

// An unfinished round of the ladder is over when it is paired without rounds.
func TestRoundIsDropped(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := ladderConfig(1)
	a := prepareArena(t, srv, cfg)
	a.start()
	busy := func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer { return protocol.OfferAnswer{Answer: protocol.Busy} }
	}
	amazonsOnly(t, join(t, srv, "ann", "a1", busy))
	amazonsOnly(t, join(t, srv, "bob", "b1", busy))
	var round Round
	gametest.Eventually(t, "the round", func() bool {
		round, _, _ = a.loadRound(t.Context())
		return round.Number == 1
	})
	a.stop()
	cfg.Ladder.Rounds = 0
	b := prepareArena(t, srv, cfg)
	b.start()
	gametest.Eventually(t, "the end of the round", func() bool {
		r, _, err := b.loadRound(t.Context())
		return err == nil && !r.Ended.IsZero()
	})
	e := fate(t, b, round.Pairings[0].ID)
	if e.Outcome != (game.Outcome{Reason: protocol.ReasonExpired}) {
		t.Errorf("the pairing of the round became %+v", e.Outcome)
	}
}

// Somebody whose opponent did not take its seat can be paired again at once, and need not
// wait for as long as a slot is held for a game.
func TestLadderAfterANoShow(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	cfg := steady()
	cfg.HoldFor = time.Hour
	a := runArena(t, srv, cfg)
	players := make(map[protocol.PlayerID]*player)
	for _, id := range []protocol.PlayerID{"ann", "bob", "eve"} {
		players[id] = join(t, srv, id, "i1", func(p *player) {
			if id == "eve" {
				p.answer = decline(protocol.DeclineOpponent)
			}
		})
	}
	pair := func(second protocol.PlayerID) protocol.Event {
		t.Helper()
		ch := protocol.Challenge{V: 1, Game: protocol.GameID(protocol.NewID()), Terms: small(t, "60"), Pairing: true, Created: time.Now(), Expires: time.Now().Add(patience)}
		ch.Seats[game.First].Player, ch.Seats[game.Second].Player = "ann", second
		if _, err := a.post(t.Context(), ladderPoolOf(ch.Terms), ch); err != nil {
			t.Fatal(err)
		}
		return fate(t, a, ch.Game)
	}
	e := pair("eve")
	if e.Kind != protocol.EventEnd || e.Seat == nil || *e.Seat != game.Second {
		t.Errorf("with somebody who declines: %s %+v by seat %v", e.Kind, e.Outcome, e.Seat)
	}
	if n := players["ann"].notice(protocol.NoticeReleased); n.Game != e.Game {
		t.Errorf("the one who took its seat: %+v", n)
	}
	if e := pair("bob"); e.Kind != protocol.EventStart {
		t.Errorf("the next pairing: %s %+v", e.Kind, e.Outcome)
	}
}
