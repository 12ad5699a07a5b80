package conformance_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/protocol/conformance"
	"sparring/protocol/conformance/scripted"
)

// A scenario that nothing can fail says nothing: each of these programs breaks one rule,
// and must be found out by the scenario of the rule.

// brokenLimit bounds a scenario that waits for what a broken program never does.
const brokenLimit = 12 * time.Second

// foundOut checks that a scenario fails, for a reason that contains a text. A program
// that dies may be found out by the scenario, or after it.
func foundOut(t *testing.T, rep conformance.Report, scenario, want string) {
	t.Helper()
	if len(rep.Results) != 1 || rep.Results[0].Verdict != conformance.Fail || !strings.Contains(rep.Results[0].Seen, want) {
		t.Errorf("%s: %+v, want FAIL with %q", scenario, rep.Results, want)
	}
}

// naive is a bot that moves at every state that it gets, whatever it says, some time
// later. It reads the states itself.
type naive struct {
	*scripted.Player
	think time.Duration
	// skip, unless nil, tells which states the bot ignores.
	skip func(protocol.State) bool
}

// startNaive runs it.
func startNaive(t testing.TB, b *bench, n *naive) {
	t.Helper()
	nc := b.connect(b.proxied())
	p, err := scripted.NewPlayer(nc, scripted.PlayerConfig{Prefix: foreign, Player: "hare", Idle: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	n.Player = p
	subjects, err := protocol.NewSubjects(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Subscribe(subjects.ToGame("hare", "*"), func(msg *nats.Msg) {
		var st protocol.State
		if json.Unmarshal(msg.Data, &st) != nil || st.Turn != st.You || n.skip != nil && n.skip(st) {
			return
		}
		time.AfterFunc(n.think, func() {
			var m protocol.MoveRequest
			var err error
			p.Do(func() { m, err = p.Choose(st) })
			if err != nil {
				return
			}
			m.Instance = p.Instance()
			data, err := json.Marshal(withHeader(m))
			if err == nil {
				nc.PublishRequest(subjects.Act("hare", st.Game, protocol.ActMove), nc.NewRespInbox(), data) // it does not care for answers
			}
		})
	}); err != nil {
		t.Fatal(err)
	}
	go p.Start(t.Context()) // without it no scenario fails for the right reason
}

func withHeader(m protocol.MoveRequest) protocol.MoveRequest {
	m.V = protocol.Version
	return m
}

// hammer sends a refused move again and again.
func hammer(b *bench, p **scripted.Player) scripted.PlayerHooks {
	return scripted.PlayerHooks{Refused: func(s *scripted.Seat, m protocol.MoveRequest, _ *protocol.Error) bool {
		q := *p
		go func() {
			for range 200 {
				ctx, cancel := brief()
				_, err := q.SendMove(ctx, s.Game, m)
				cancel()
				if err == nil {
					return
				}
			}
		}()
		return true
	}}
}

func TestBrokenBots(t *testing.T) {
	hooked := func(hooks func(b *bench, p **scripted.Player) scripted.PlayerHooks) func(testing.TB, *bench) {
		return func(t testing.TB, b *bench) {
			p := newScripted(t, b, b.connect(b.proxied()))
			p.SetHooks(hooks(b, &p))
			go p.Start(t.Context())
		}
	}
	simple := func(n naive) func(testing.TB, *bench) {
		return func(t testing.TB, b *bench) { startNaive(t, b, &n) }
	}
	// raw runs a correct bot that dies of some messages.
	raw := func(dies func(subject string, data []byte) bool) func(testing.TB, *bench) {
		return func(t testing.TB, b *bench) {
			nc := b.connect(b.proxied())
			p := newScripted(t, b, nc)
			var once sync.Once
			if _, err := nc.Subscribe(foreign+".to.hare.>", func(msg *nats.Msg) {
				if dies(msg.Subject, msg.Data) {
					once.Do(nc.Close)
				}
			}); err != nil {
				t.Fatal(err)
			}
			go p.Start(t.Context())
		}
	}
	never := func(p **scripted.Player, g protocol.GameID) { go (*p).Follow(g + "x") } // keeps a slot for an hour
	for scenario, c := range map[string]struct {
		start func(testing.TB, *bench)
		want  string
	}{
		"game": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Move: func(_ *scripted.Seat, _ protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
				m.Key = "00000000deadbeef"
				send(m)
			}}
		}), "dispute"},
		"heartbeats": {hooked(func(_ *bench, p **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{State: func(*scripted.Seat, protocol.State) bool {
				go (*p).SetQuiet(true)
				return true
			}}
		}), "without a heartbeat"},
		"unknown-fields": {raw(func(_ string, data []byte) bool { return strings.Contains(string(data), "weather") }), ""},
		"drop": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Resync: func(*scripted.Seat) bool { return false }}
		}), "stood still"},
		"duplicate":   {simple(naive{}), "at ply"},
		"reorder":     {simple(naive{}), "at ply"},
		"stale-clock": {hooked(sleepy), "time"},
		"time-trouble": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Move: func(_ *scripted.Seat, st protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
				if st.Clocks.Seats[st.You].LeftMS < 10_000 {
					time.Sleep(3 * time.Second)
				}
				send(m)
			}}
		}), "time"},
		"lost-request":   {simple(naive{}), "at ply"},
		"lost-answer":    {hooked(secondThoughts(brevity)), "at ply"},
		"refusals":       {hooked(hammer), "times in"},
		"illegal-ruling": {hooked(hammer), "times in"},
		"halt":           {simple(naive{}), "halted"},
		"wrong-key": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Move: func(_ *scripted.Seat, st protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
				if st.Key == "00000000deadbeef" {
					m.Key = st.Key
				}
				send(m)
			}}
		}), "with the key"},
		"unstored": {simple(naive{skip: seenSeq()}), "stood still"},
		"takeback": {simple(naive{skip: seenPly()}), "stood still"},
		"rewind":   {simple(naive{skip: older()}), "stood still"},
		"forged":   {simple(naive{skip: seenEnd()}), "stood still"},
		"flood":    {raw(func(_ string, data []byte) bool { return !json.Valid(data) }), ""},
		"forgotten": {func(t testing.TB, b *bench) {
			p := newScripted(t, b, b.connect(b.proxied()), func(c *scripted.PlayerConfig) { c.Silent = true })
			go func() { // says hello once
				p.SayHello(t.Context())
				p.Start(t.Context())
				for t.Context().Err() == nil {
					p.Beat(time.Second)
					time.Sleep(100 * time.Millisecond)
				}
			}()
		}, "no hello"},
		"handover":    {simple(naive{}), "another instance holds"},
		"wrong-epoch": {hooked(hammer), "times in"},
		"vacated":     {simple(naive{}), "in a vacant seat"},
		"held": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Held: func([]protocol.GameID) []protocol.GameID { return nil }}
		}), "neither plays"},
		"late-finish": {simple(naive{think: 2 * time.Second}), "after the end"},
		"lost-end":    {hooked(neverForgets), "still list"},
		"slots": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
			}}
		}), "at once with"},
		"offer-twice": {hooked(func(_ *bench, p **scripted.Player) scripted.PlayerHooks {
			n := 0
			return scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
				n++
				never(p, o.Game+protocol.GameID(strings.Repeat("y", n)))
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
			}}
		}), "took"},
		"no-grant": {hooked(func(*bench, **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Expired: func(*scripted.Seat) bool { return false }}
		}), "slots are free"},
		"released": {hooked(func(_ *bench, p **scripted.Player) scripted.PlayerHooks {
			return scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
				never(p, o.Game)
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
			}}
		}), "slots are free"},
		"double-grant": {simple(naive{}), "another instance"},
		"slow-network": {hooked(secondThoughts(50 * time.Millisecond)), "at ply"},
		"cut":          {dies, "stood still"},
		"away":         {dies, "stood still"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c.start(t, b)
			foundOut(t, checkBot(t, b, conformance.Options{Only: []string{scenario}, Limit: brokenLimit}, func(cfg *conformance.BotConfig) { cfg.Ease = 1 }), scenario, c.want)
		})
	}
}

// What heartbeats say counts, too. A bot that reports no free slot is there, and none that
// was not heard.
func TestBrokenHeartbeats(t *testing.T) {
	for name, c := range map[string]struct {
		alive   protocol.Alive
		verdict conformance.Verdict
		want    string
	}{
		"without the games": {protocol.Alive{Free: 1}, conformance.Fail, "a heartbeat that names the game"},
		"without a slot":    {protocol.Alive{}, conformance.NotTried, "0 of 1 slots are free"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			p := newScripted(t, b, b.connect(b.proxied()), func(cfg *scripted.PlayerConfig) { cfg.Silent = true })
			go func() {
				p.SayHello(t.Context())
				p.Start(t.Context())
				for t.Context().Err() == nil {
					p.Alive(t.Context(), c.alive)
					time.Sleep(100 * time.Millisecond)
				}
			}()
			rep := checkBot(t, b, conformance.Options{Only: []string{"heartbeats"}, Limit: brokenLimit}, func(cfg *conformance.BotConfig) { cfg.Ease = 1 })
			if len(rep.Results) != 1 || rep.Results[0].Verdict != c.verdict || !strings.Contains(rep.Results[0].Seen, c.want) {
				t.Errorf("%+v, want %q with %q", rep.Results, c.verdict, c.want)
			}
		})
	}
}

// What a scenario saw does not hide what may have caused it: a message of the bot that was
// malformed.
func TestMalformedMoveIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newScripted(t, b, b.connect(b.proxied()))
	p.SetHooks(scripted.PlayerHooks{Move: func(_ *scripted.Seat, _ protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
		m.Key = "none"
		send(m)
	}})
	go p.Start(t.Context())
	rep := checkBot(t, b, conformance.Options{Only: []string{"unknown-fields"}, Limit: 3 * time.Second}, func(cfg *conformance.BotConfig) { cfg.Ease = 1 })
	foundOut(t, rep, "unknown-fields", "by \"resign\"")
	foundOut(t, rep, "unknown-fields", "key: want 16 hex digits")
}

// What is malformed in a request may depend on its subject.
func TestDrawWithoutStepIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := newScripted(t, b, b.connect(b.proxied()))
	p.SetHooks(scripted.PlayerHooks{Move: func(s *scripted.Seat, _ protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
		ctx, cancel := brief()
		defer cancel()
		p.SendAct(ctx, s.Game, protocol.ActDraw, protocol.ActRequest{Epoch: m.Epoch, Ply: m.Ply}) // the suite says what is wrong
		send(m)
	}})
	go p.Start(t.Context())
	rep := checkBot(t, b, conformance.Options{Only: []string{"game"}, Limit: brokenLimit}, func(cfg *conformance.BotConfig) { cfg.Ease = 1 })
	foundOut(t, rep, "game", "step: want offer, accept or decline")
}

// sleepy thinks for most of the clock, which it takes as new.
func sleepy(*bench, **scripted.Player) scripted.PlayerHooks {
	return scripted.PlayerHooks{Move: func(_ *scripted.Seat, st protocol.State, m protocol.MoveRequest, send func(protocol.MoveRequest)) {
		if left := st.Clocks.Seats[st.You].LeftMS; left < 10_000 {
			time.Sleep(time.Duration(left) * time.Millisecond * 3 / 4)
		}
		send(m)
	}}
}

// secondThoughts sends another move when no answer comes within some time.
func secondThoughts(wait time.Duration) func(*bench, **scripted.Player) scripted.PlayerHooks {
	return func(_ *bench, p **scripted.Player) scripted.PlayerHooks {
		return scripted.PlayerHooks{Move: func(s *scripted.Seat, st protocol.State, m protocol.MoveRequest, _ func(protocol.MoveRequest)) {
			for range 5 {
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				_, err := (*p).SendMove(ctx, s.Game, m)
				cancel()
				if err == nil {
					return
				}
				(*p).Do(func() { m, err = (*p).Choose(st) })
				if err != nil {
					return
				}
			}
		}}
	}
}

// neverForgets plays every game for ever that it has ever held.
func neverForgets(*bench, **scripted.Player) scripted.PlayerHooks {
	ever := map[protocol.GameID]bool{}
	return scripted.PlayerHooks{
		State: func(s *scripted.Seat, _ protocol.State) bool {
			ever[s.Game] = true
			return true
		},
		Held: func([]protocol.GameID) []protocol.GameID { return slices.Collect(maps.Keys(ever)) },
	}
}

// dies is a bot that ends when its connection is lost.
func dies(t testing.TB, b *bench) {
	nc := b.connect(b.proxied())
	p := newScripted(t, b, nc)
	nc.SetDisconnectErrHandler(func(*nats.Conn, error) { go nc.Close() })
	go p.Start(t.Context())
}

// seenSeq skips states whose seq is not higher than that of one before.
func seenSeq() func(protocol.State) bool {
	last := map[protocol.GameID]uint64{}
	return func(st protocol.State) bool {
		seen := st.Seq <= last[st.Game]
		last[st.Game] = max(st.Seq, last[st.Game])
		return seen
	}
}

// seenPly skips states after plies that it has seen.
func seenPly() func(protocol.State) bool {
	seen := map[int]bool{}
	return func(st protocol.State) bool {
		before := seen[len(st.Moves)]
		seen[len(st.Moves)] = true
		return before
	}
}

// older skips the states with a lower number than one before.
func older() func(protocol.State) bool {
	newest := map[protocol.GameID]uint64{}
	return func(st protocol.State) bool {
		newest[st.Game] = max(st.Seq, newest[st.Game])
		return st.Seq < newest[st.Game]
	}
}

// seenEnd skips the states of a game that somebody said was over.
func seenEnd() func(protocol.State) bool {
	over := map[protocol.GameID]bool{}
	return func(st protocol.State) bool {
		over[st.Game] = over[st.Game] || st.Status == protocol.Finished
		return over[st.Game]
	}
}

func TestBrokenPlatforms(t *testing.T) {
	type hooks = func(*scripted.Platform) scripted.Hooks
	act := func(f func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer) hooks {
		return func(*scripted.Platform) scripted.Hooks { return scripted.Hooks{Act: f} }
	}
	tell := func(f func(p *scripted.Platform, g *scripted.Game, st protocol.State, send func(protocol.State))) hooks {
		return func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Tell: func(g *scripted.Game, st protocol.State, send func(protocol.State)) { f(p, g, st, send) }}
		}
	}
	hello := func(f func(*protocol.HelloAnswer)) hooks {
		return func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Hello: func(_ protocol.From, _ protocol.Hello, ans *protocol.HelloAnswer) { f(ans) }}
		}
	}
	mute := func(kind protocol.NoticeKind) hooks {
		return func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Notice: func(_ protocol.PlayerID, n protocol.Notice) bool { return n.Kind != kind }}
		}
	}
	holder := func(g *scripted.Game, q protocol.GameRequest) (protocol.Holder, bool) {
		seat, ok := g.SeatOf(q.Player)
		return g.Holders[seat], ok
	}
	for scenario, c := range map[string]struct {
		hooks  hooks
		change func(*scripted.Config)
		want   string
	}{
		"hello": {hooks: hello(func(a *protocol.HelloAnswer) { a.HeartbeatMS = 0 }), want: "heartbeat_ms"},
		"unknown-peer": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Alive: func(_ protocol.From, _ protocol.Alive, ans *protocol.AliveAnswer) { ans.Error = nil }}
		}, want: "accepted"},
		"game": {hooks: tell(func(_ *scripted.Platform, _ *scripted.Game, st protocol.State, send func(protocol.State)) {
			if st.Status == protocol.Finished && st.You == game.Second {
				st.Outcome.Result = game.Draw
			}
			send(st)
		}), want: "one player was told"},
		"duplicate": {hooks: act(func(g *scripted.Game, _ protocol.GameRequest) *protocol.ActAnswer {
			g.ForgetRequests()
			return nil
		}), want: "2. time"},
		"reorder": {hooks: act(func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if q.Move != nil {
				q.Move.Ply = len(g.Moves)
			}
			return nil
		}), want: "accepted"},
		"out-of-turn": {hooks: act(func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if seat, ok := g.SeatOf(q.Player); ok && seat != g.Turn {
				return &protocol.ActAnswer{}
			}
			return nil
		}), want: "accepted"},
		"illegal": {hooks: act(func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if q.Move == nil {
				return nil
			}
			if _, err := g.Position().Parse(q.Move.Move); err != nil {
				return &protocol.ActAnswer{}
			}
			return nil
		}), want: "accepted"},
		"wrong-epoch": {hooks: act(func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if h, ok := holder(g, q); ok && q.Move != nil {
				q.Move.Epoch, q.Move.Instance = h.Epoch, h.Instance
			}
			return nil
		}), want: "accepted"},
		"bad-input": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Challenge: func(_ protocol.From, m protocol.ChallengeRequest, ans *protocol.ChallengeAnswer) {
				if ans.Error != nil {
					ans.Error = protocol.Refuse(ans.Error.Code, "unknown rules %s", m.Rules)
				}
			}}
		}, want: "repeats it"},
		"mismatched-key": {hooks: act(func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if q.Move != nil {
				q.Move.Key = ""
			}
			return nil
		}), want: "waited in vain"},
		"agreements": {hooks: mute(protocol.NoticeChat), want: "the chat"},
		"takeback": {hooks: tell(func(_ *scripted.Platform, _ *scripted.Game, st protocol.State, send func(protocol.State)) {
			if st.Seq > 4 && len(st.Moves) == 2 { // it turns the clocks back, too
				st.Clocks.Seats[game.Second].LeftMS = 61_000
			}
			send(st)
		}), want: "gave seat "},
		"receipts": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Answer: func(_ *scripted.Game, _ protocol.GameRequest, ans *protocol.ActAnswer) {
				if ans.Receipt != nil {
					r := *ans.Receipt
					r.ChargedMS += 30_000
					ans.Receipt = &r
				}
			}}
		}, want: "charged for"},
		"lag-claim": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Answer: func(_ *scripted.Game, q protocol.GameRequest, ans *protocol.ActAnswer) {
				if ans.Receipt != nil && q.Move.LagMS > 0 {
					r := *ans.Receipt
					r.LagMS = 270
					ans.Receipt = &r
				}
			}}
		}, want: "credited"},
		"flag": {hooks: tell(func(p *scripted.Platform, g *scripted.Game, st protocol.State, send func(protocol.State)) {
			send(st)
			if len(st.Moves) == 4 && st.Status == protocol.Playing {
				time.AfterFunc(500*time.Millisecond, func() {
					p.Do(func() { p.End(g, game.Outcome{Result: game.WonBy(g.Turn.Other()), Reason: protocol.ReasonTime}) })
				})
			}
		}), want: "the flag fell after"},
		"challenge-twice": {hooks: func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Challenge: func(_ protocol.From, m protocol.ChallengeRequest, ans *protocol.ChallengeAnswer) {
				if ans.Code == protocol.Duplicate {
					ans.Game = p.NewGameID()
				}
			}}
		}, want: "with the games"},
		"used-id": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Challenge: func(_ protocol.From, _ protocol.ChallengeRequest, ans *protocol.ChallengeAnswer) {
				ans.Error = nil
			}}
		}, want: "with the old game"},
		"withdraw": {hooks: hello(func(a *protocol.HelloAnswer) { a.Waiting = nil }), want: "does not list"},
		"declined": {hooks: mute(protocol.NoticeDeclined), want: "declined"},
		"expired":  {hooks: mute(protocol.NoticeExpired), want: "expired"},
		"late-accept": {hooks: func(*scripted.Platform) scripted.Hooks {
			var first protocol.InstanceID // of bob
			return scripted.Hooks{
				Hello: func(from protocol.From, m protocol.Hello, _ *protocol.HelloAnswer) {
					if from.Player == "bob" && first == "" {
						first = m.Instance
					}
				},
				Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
					send(st)
					if h := &st.Holders[game.Second]; st.You == game.Second && h.Player == "bob" && h.Instance != first {
						h.Instance = first // it has accepted, too
						send(st)
					}
				},
			}
		}, want: "held by"},
		"forged-accept": {hooks: func(*scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Trust: func(protocol.OfferAnswer) bool { return true }}
		}, want: "granted to"},
		"starvation": {change: func(c *scripted.Config) { c.PoolOnly = true }, want: "found nobody"},
		"resync":     {hooks: hello(func(a *protocol.HelloAnswer) { a.Held = nil }), want: "does not list"},
		"silence":    {change: func(c *scripted.Config) { c.LostAfter = 0 }, want: "not given"},
		"half-open":  {change: func(c *scripted.Config) { c.LostAfter = 0 }, want: "not given"},
		"leave": {hooks: tell(func(_ *scripted.Platform, _ *scripted.Game, st protocol.State, send func(protocol.State)) {
			st.Holders[game.Second].Epoch = 1
			send(st)
		}), want: "in epoch 1"},
		"leave-twice": {hooks: func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Leave: func(from protocol.From, m protocol.Leave, _ *protocol.Answer) {
				for _, g := range p.Games() { // each time, by whichever process
					if seat, ok := g.SeatOf(from.Player); ok && g.Holders[seat].Instance == m.Instance {
						p.Vacate(g, seat)
					}
				}
			}}
		}, want: "given back again"},
		"lost-end": {hooks: func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Hello: func(_ protocol.From, _ protocol.Hello, ans *protocol.HelloAnswer) {
				ans.Held = nil
				for _, g := range p.Games() {
					ans.Held = append(ans.Held, g.Game)
				}
			}}
		}, want: "listed as held"},
		"watching": {hooks: hello(func(a *protocol.HelloAnswer) { a.Watch = true }), want: "no event came"},
		"watch": {hooks: tell(func(p *scripted.Platform, g *scripted.Game, st protocol.State, send func(protocol.State)) {
			send(st)
			p.SendRaw(p.Subjects().Watch(g.Game), protocol.Event{V: 1, Kind: protocol.EventMove, Index: 2 * st.Seq, Term: 1, Time: time.Now(), Snapshot: g.Snapshot})
		}), want: "follows event"},
		"flood": {hooks: func(p *scripted.Platform) scripted.Hooks {
			n := 0
			return scripted.Hooks{Alive: func(protocol.From, protocol.Alive, *protocol.AliveAnswer) {
				if n++; n == 200 { // everybody's heartbeats are lost
					for _, g := range p.Games() {
						p.Vacate(g, game.First)
					}
				}
			}}
		}, want: "seat was lost"},
		"no-start": {want: "first_move_by"},
		"abandoned": {hooks: tell(func(_ *scripted.Platform, _ *scripted.Game, st protocol.State, send func(protocol.State)) {
			st.ForfeitMS = 3000 // it says so, and keeps the game all the same
			send(st)
		}), want: "waited in vain"},
		"full-disk": {hooks: func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Answer: func(g *scripted.Game, _ protocol.GameRequest, _ *protocol.ActAnswer) {
				if len(g.Moves) > 4 {
					p.End(g, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonTime})
				}
			}}
		}, want: "time"},
		"cut": {hooks: act(func(g *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if len(g.Moves) >= 6 {
				return scripted.Silence()
			}
			return nil
		}), want: "waited in vain"},
		"slow-network": {hooks: func(p *scripted.Platform) scripted.Hooks {
			return scripted.Hooks{Answer: func(g *scripted.Game, _ protocol.GameRequest, _ *protocol.ActAnswer) {
				if g.Clocks.Seats[0].LeftMS < 59_900 || len(g.Moves) > 8 { // it calls players with a slow network absent
					p.End(g, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned})
				}
			}}
		}, want: "abandoned"},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			cfg := scriptedConfig()
			cfg.Seed = rand.Uint64()
			if c.change != nil {
				c.change(&cfg)
			}
			startPlatform(t, b, cfg, c.hooks)
			at := b.foreignConfig()
			at.Ease = 1
			at.Disk = noDisk{}
			foundOut(t, checkPlatform(t, at, conformance.Options{Only: []string{scenario}, Limit: brokenLimit, Slow: true}), scenario, c.want)
		})
	}
}

// A platform need not have takebacks.
func TestPlatformWithoutTakebacks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	startPlatform(t, b, scriptedConfig(), func(*scripted.Platform) scripted.Hooks {
		return scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
			if q.Action == protocol.ActTakeback {
				return scripted.Refuse(protocol.UnknownVerb)
			}
			return nil
		}}
	})
	rep := checkPlatform(t, b.foreignConfig(), conformance.Options{Only: []string{"takeback"}})
	if len(rep.Results) != 1 || rep.Results[0].Verdict != conformance.NotTried || !strings.Contains(rep.Results[0].Seen, "no takebacks") {
		t.Errorf("%+v, want it not tried", rep.Results)
	}
}

// Our own platform ends a game whose seat stays vacant: the scenario takes care that it does.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	at := ourArena(t, func(c *arena.Config) { c.Policy.AbandonAfter = 2 * time.Second })
	rep := checkPlatform(t, at, conformance.Options{Only: []string{"abandoned"}, Limit: 40 * time.Second, Slow: true})
	if len(rep.Results) != 1 || rep.Results[0].Verdict != conformance.Pass {
		t.Errorf("%+v, want it passed", rep.Results)
	}
}

// A platform that says how long a seat may be vacant is not blamed for taking so long.
func TestAbandonedLater(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	startPlatform(t, b, scriptedConfig(), func(*scripted.Platform) scripted.Hooks {
		return scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
			st.ForfeitMS = time.Hour.Milliseconds()
			if speed := st.Terms.Clock.Speed(); speed != clock.Bullet && speed != clock.Blitz {
				t.Errorf("played with the clock %v, in which more time is usual", st.Terms.Clock)
			}
			send(st)
		}}
	})
	at := b.foreignConfig()
	at.Ease = 1
	rep := checkPlatform(t, at, conformance.Options{Only: []string{"abandoned"}, Limit: brokenLimit, Slow: true})
	if len(rep.Results) != 1 || rep.Results[0].Verdict != conformance.NotTried || !strings.Contains(rep.Results[0].Seen, "forfeit_ms") {
		t.Errorf("%+v, want it not tried for forfeit_ms", rep.Results)
	}
}

// noDisk is the disk of a platform that keeps nothing.
type noDisk struct{}

func (noDisk) Fill() error  { return nil }
func (noDisk) Empty() error { return nil }
