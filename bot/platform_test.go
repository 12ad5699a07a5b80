package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// platform is a small platform on a real server. It grants accepted offers, referees,
// and plays the seats that no bot holds. Its hooks simulate faults.
type platform struct {
	t      *testing.T
	nc     *nats.Conn
	server *protocol.Server

	mu        sync.Mutex
	games     map[protocol.GameID]*scriptedGame
	peers     map[protocol.InstanceID]bool // that have said hello
	secret    map[protocol.PlayerID]string // of each player's last hello
	present   map[protocol.PlayerID]bool   // players that have said hello, and have not left since
	hellos    int
	lastHello protocol.Hello
	alive     protocol.Alive // the last heartbeat
	leaves    []protocol.Leave
	limited   int  // leaves that are still to be refused, by the player's limits
	deaf      int  // heartbeats that are still to be refused as malformed
	denies    int  // and as another process's
	storeless bool // they are refused because nothing can be stored; hellos are answered
	asked     []protocol.ChallengeRequest
	askers    []protocol.PlayerID // who sent them
	hasty     bool                // the first challenge ends before it is answered

	// Hooks, set before the game starts; all run under mu.
	tell func(p *platform, m *scriptedGame, st protocol.State, send func(protocol.State)) // instead of sending
	move func(m *scriptedGame, r protocol.MoveRequest) *protocol.ActAnswer                // instead of the referee, unless nil
	mute bool                                                                             // answer nothing

	played  []string // moves of a game before it is granted
	kept    uint64   // the last change of a game that is stored; 0: all are
	counted bool     // the changes since then are
	watched bool     // its games can be watched
	playsOn int      // plies until which only a mate ends a game; a draw is agreed then; 0: the rules end it
}

// scriptedGame is one game. A seat that no bot holds plays the first legal move.
type scriptedGame struct {
	protocol.Snapshot
	pos      game.Position
	seq      uint64
	requests []protocol.MoveRequest // in order of arrival, with repetitions
	refused  []protocol.Code        // codes of the refusals
	acts     []string               // action and step
	chats    []string
	think    time.Duration // of the scripted seat
	stop     func()
	over     chan struct{}
}

const waitFor = gametest.Patience // for events that take milliseconds on an idle machine

// service starts a NATS server with the production accounts.
func service(t *testing.T) *embedded.Server {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func connect(t *testing.T, c protocol.Connection) *nats.Conn {
	t.Helper()
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func newPlatform(t *testing.T, nc *nats.Conn) *platform {
	t.Helper()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	p := &platform{
		t: t, nc: nc, server: protocol.NewServer(nc, subjects, protocol.DefaultLimits, nil, zerolog.Nop()),
		games: make(map[protocol.GameID]*scriptedGame), peers: make(map[protocol.InstanceID]bool), secret: make(map[protocol.PlayerID]string),
		present: make(map[protocol.PlayerID]bool),
	}
	p.serve()
	return p
}

func (p *platform) serve() {
	stop, err := p.server.ServeVerbs(protocol.Verbs{
		Hello: func(from protocol.From, m protocol.Hello) protocol.HelloAnswer {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.mute {
				return protocol.HelloAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
			}
			p.hellos, p.lastHello = p.hellos+1, m
			p.peers[m.Instance] = true
			p.secret[from.Player], p.present[from.Player] = m.Secret, true
			held := p.held(from.Player, m.Instance)
			for _, g := range held {
				p.tellAll(p.games[g])
			}
			return protocol.HelloAnswer{HeartbeatMS: 100, Limits: protocol.DefaultLimits, Held: held, Watch: p.watched}
		},
		Alive: func(from protocol.From, m protocol.Alive) protocol.AliveAnswer {
			p.mu.Lock()
			defer p.mu.Unlock()
			var ans protocol.AliveAnswer
			p.alive = m
			if p.deaf > 0 {
				p.deaf--
				ans.Error = protocol.Refuse(protocol.Malformed, "games: want 0 to 256")
				return ans
			}
			if p.denies > 0 {
				p.denies--
				ans.Error = protocol.Refuse(protocol.Denied, "another process")
				return ans
			}
			if p.mute {
				ans.Code = protocol.Unanswered
				return ans
			}
			if p.storeless {
				ans.Error = protocol.Refuse(protocol.Unavailable, "nothing can be stored now")
				return ans
			}
			if !p.peers[m.Instance] {
				ans.Error = protocol.Refuse(protocol.UnknownPeer, "say hello first")
				return ans
			}
			ans.Held = p.held(from.Player, m.Instance)
			return ans
		},
		Leave: func(from protocol.From, m protocol.Leave) protocol.Answer {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.leaves = append(p.leaves, m)
			if p.limited > 0 {
				p.limited--
				return protocol.Answer{Error: protocol.Refuse(protocol.RateLimited, "a test")}
			}
			if len(m.Games) == 0 {
				p.present[from.Player] = false
			}
			for id, g := range p.games {
				if len(m.Games) == 0 || slices.Contains(m.Games, id) {
					g.vacate(from.Player, m.Instance)
				}
			}
			return protocol.Answer{}
		},
		Challenge: func(from protocol.From, m protocol.ChallengeRequest) protocol.ChallengeAnswer {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked, p.askers = append(p.asked, m), append(p.askers, from.Player)
			if p.hasty && len(p.asked) == 1 {
				p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeExpired, Game: "challenge1"})
			}
			return protocol.ChallengeAnswer{Game: protocol.GameID("challenge" + fmt.Sprint(len(p.asked))), Expires: time.Now().Add(10 * time.Second)}
		},
		Withdraw: func(protocol.From, protocol.Withdraw) protocol.Answer { return protocol.Answer{} },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(stop)
}

func (p *platform) held(player protocol.PlayerID, instance protocol.InstanceID) []protocol.GameID {
	var ids []protocol.GameID
	for id, m := range p.games {
		for _, h := range m.Holders {
			if m.Status != protocol.Finished && h.Player == player && h.Instance == instance {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (m *scriptedGame) vacate(player protocol.PlayerID, instance protocol.InstanceID) {
	for i := range m.Holders {
		if h := &m.Holders[i]; h.Player == player && h.Instance == instance {
			h.Instance = ""
			h.Epoch++
			m.seq++
		}
	}
}

func small(t *testing.T) protocol.Terms {
	return protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: spec(t, "60+1"), Rated: true}
}

func offerOf(terms protocol.Terms, id protocol.GameID, seat game.Seat) protocol.Offer {
	return protocol.Offer{
		Kind: protocol.OfferMatch, Game: id, Terms: terms, Seat: seat, HoldMS: waitFor.Milliseconds(), Deadline: time.Now().Add(waitFor),
		Opponent: &protocol.Opponent{Player: "script", Kind: protocol.Human, Rating: 1500},
	}
}

// offer asks a pool until an instance answers, for its place in the queue may be new.
func (p *platform) offer(pool protocol.Pool, o protocol.Offer) protocol.OfferAnswer {
	p.t.Helper()
	for end := time.Now().Add(waitFor); ; time.Sleep(10 * time.Millisecond) {
		o.Deadline = time.Now().Add(waitFor)
		ans, err := p.server.Offer(context.Background(), pool, o)
		if err == nil {
			return ans
		}
		if !errors.Is(err, nats.ErrNoResponders) || time.Now().After(end) {
			p.t.Fatalf("offer: %v", err)
		}
	}
}

// grant starts the game for those that accepted; other seats are scripted.
func (p *platform) grant(o protocol.Offer, takers ...protocol.OfferAnswer) *scriptedGame {
	p.t.Helper()
	rules, err := catalog.Rules(o.Terms.Rules)
	if err != nil {
		p.t.Fatal(err)
	}
	pos, err := rules.New(o.Terms.Position)
	if err != nil {
		p.t.Fatal(err)
	}
	m := &scriptedGame{pos: pos, over: make(chan struct{}), Snapshot: protocol.Snapshot{
		Game: o.Game, Terms: o.Terms, Started: time.Now().UTC(), Status: protocol.Playing, Turn: pos.Turn(), Key: game.KeyText(pos.Key()),
	}}
	for _, text := range p.played {
		game.PlayOn(pos)
		if _, err := game.PlayText(pos, text); err != nil {
			p.t.Fatal(err)
		}
		m.Moves = append(m.Moves, text)
	}
	for i := range m.Holders {
		m.Holders[i] = protocol.Holder{Player: "script", Kind: protocol.Human, Instance: "script", Epoch: 1}
		m.Clocks.Seats[i] = protocol.ClockOf(o.Terms.Clock.Start())
	}
	for i, taker := range takers {
		seat := o.Seat
		if i == 1 {
			seat = seat.Other()
		}
		m.Holders[seat] = protocol.Holder{Player: taker.Player, Kind: protocol.Bot, Instance: taker.Instance, Epoch: 1}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.games[o.Game] = m
	for _, taker := range takers {
		// An accept carries the secret of its hello.
		if s := p.secret[taker.Player]; s == "" || taker.Secret != s {
			p.t.Errorf("the accept for %s lacks the secret of its hello", taker.Player)
		}
	}
	if m.stop, err = p.server.ServeGame(o.Game, []protocol.PlayerID{m.Holders[0].Player, m.Holders[1].Player}, func(q protocol.GameRequest) { q.Answer(p.rule(m, q)) }); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(m.stop)
	p.advance(m)
	return m
}

// advance numbers and sends the new state, and lets the scripted seat move.
func (p *platform) advance(m *scriptedGame) {
	m.seq++
	if len(m.Moves) < p.playsOn {
		game.PlayOn(m.pos)
	}
	m.Turn, m.Key = m.pos.Turn(), game.KeyText(m.pos.Key())
	running := m.Turn
	m.Clocks.Running = &running
	out := m.pos.Outcome()
	if p.playsOn > 0 && len(m.Moves) == p.playsOn {
		out = game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}
	}
	if out.Over() && m.Status != protocol.Finished {
		m.Status, m.Outcome, m.Clocks.Running = protocol.Finished, out, nil
	}
	p.tellAll(m)
	if m.Status == protocol.Finished {
		close(m.over)
		return
	}
	if m.Status == protocol.Playing && m.Holders[m.Turn].Player == "script" {
		seq := m.seq
		time.AfterFunc(m.think, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if m.seq == seq {
				p.play(m, m.pos.Legal(nil)[0])
			}
		})
	}
}

func (p *platform) play(m *scriptedGame, mv game.Move) {
	text := m.pos.Format(mv)
	if err := m.pos.Play(mv); err != nil {
		p.t.Error(err)
		return
	}
	m.Moves = append(slices.Clone(m.Moves), text)
	p.advance(m)
}

// takeBack undoes moves up to and including the seat's last.
func (p *platform) takeBack(m *scriptedGame, seat game.Seat) {
	m.TakebackBy = nil
	for done := false; !done; {
		m.pos.Undo()
		m.Moves = m.Moves[:len(m.Moves)-1]
		done = m.pos.Turn() == seat
	}
	p.advance(m)
}

func (p *platform) end(m *scriptedGame, out game.Outcome) {
	m.Status, m.Outcome = protocol.Finished, out
	p.advance(m)
}

func (p *platform) tellAll(m *scriptedGame) {
	for i, h := range m.Holders {
		if h.Player == "script" {
			continue
		}
		send := func(st protocol.State) { p.server.Tell(h.Player, st) }
		st := protocol.State{You: game.Seat(i), Snapshot: m.Snapshot}
		st.Seq, st.Unkept = p.order(m)
		if p.tell != nil {
			p.tell(p, m, st, send)
		} else {
			send(st)
		}
	}
}

// order returns the place of the game's state among all of them.
func (p *platform) order(m *scriptedGame) (seq, unkept uint64) {
	if p.kept > 0 && m.seq > p.kept {
		if p.counted {
			unkept = m.seq - p.kept
		}
		return p.kept, unkept
	}
	return m.seq, 0
}

// rule returns the platform's answer to a request in a game.
func (p *platform) rule(m *scriptedGame, q protocol.GameRequest) protocol.ActAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	refuse := func(c protocol.Code) (a protocol.ActAnswer) {
		a.Error = protocol.Refuse(c, "no")
		return a
	}
	holds := func(epoch uint64, instance protocol.InstanceID) (game.Seat, protocol.Code) {
		for i, h := range m.Holders {
			if h.Player == q.Player {
				if m.Status == protocol.Finished {
					return 0, protocol.Over
				}
				if h.Epoch != epoch || h.Instance != instance {
					return 0, protocol.Stale
				}
				return game.Seat(i), ""
			}
		}
		return 0, protocol.Denied
	}
	switch {
	case q.Move != nil:
		r := *q.Move
		m.requests = append(m.requests, r)
		if p.move != nil {
			if a := p.move(m, r); a != nil {
				return *a
			}
		}
		seat, code := holds(r.Epoch, r.Instance)
		switch {
		case code != "":
			return refuse(code)
		case r.Ply == len(m.Moves)-1 && m.Moves[r.Ply] == r.Move:
			return protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Duplicate}, Seq: m.seq}
		case r.Ply != len(m.Moves):
			return refuse(protocol.Stale)
		case m.Status != protocol.Playing:
			return refuse(protocol.Paused)
		case m.Turn != seat:
			return refuse(protocol.NotYourTurn)
		}
		mv, err := m.pos.Parse(r.Move)
		if err != nil {
			return refuse(protocol.Illegal)
		}
		p.play(m, mv)
		ans := protocol.ActAnswer{Game: m.Game, Ply: len(m.Moves)}
		ans.Seq, ans.Unkept = p.order(m)
		return ans
	case q.Act != nil:
		seat, code := holds(q.Act.Epoch, q.Act.Instance)
		if code != "" {
			return refuse(code)
		}
		m.acts = append(m.acts, string(q.Action)+" "+string(q.Act.Step))
		switch {
		case q.Action == protocol.ActResign:
			p.end(m, game.Outcome{Result: game.WonBy(seat.Other()), Reason: cmp.Or(q.Act.Fault, protocol.ReasonResign)})
		case q.Action == protocol.ActDraw && q.Act.Step == protocol.StepAccept:
			p.end(m, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
		case q.Action == protocol.ActTakeback && q.Act.Step == protocol.StepAccept:
			p.takeBack(m, seat.Other())
		}
		return protocol.ActAnswer{Seq: m.seq}
	default:
		m.chats = append(m.chats, q.Chat.Text)
		return protocol.ActAnswer{}
	}
}

func (p *platform) setMute(mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute = mute
}

func (p *platform) setStoreless(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.storeless = on
}

// seen waits until f, called under the platform's lock, returns true.
func (p *platform) seen(what string, f func() bool) {
	p.t.Helper()
	for end := time.Now().Add(waitFor); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		ok := f()
		p.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

func (p *platform) finished(m *scriptedGame) {
	p.t.Helper()
	select {
	case <-m.over:
	case <-time.After(waitFor):
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Fatalf("the game does not end: %d moves, %s to act, status %s", len(m.Moves), m.Turn, m.Status)
	}
}
