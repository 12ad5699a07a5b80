package arena

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// Two people who have no users in NATS play a game through a gateway.
func TestPeoplePlay(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	a := runArena(t, srv, steady())
	ann, bob := joinPerson(t, srv, a, "human-ann", "g1"), joinPerson(t, srv, a, "human-bob", "g2")
	g := ann.challenge("human-bob", small(t, "60+1"), game.First)
	st := bob.until(g, "the end", finished)
	for seat, h := range st.Holders {
		if h.Kind != protocol.Human || h.Player != []protocol.PlayerID{"human-ann", "human-bob"}[seat] {
			t.Errorf("seat %d: %+v", seat, h)
		}
	}
}

// Nobody but a gateway acts for a person, even with a user and permissions for
// it, the person's instance and a valid epoch.
func TestImpostor(t *testing.T) {
	t.Parallel()
	const person = "human-ann"
	srv := arenatest.StartServer(t, t.TempDir(), person, "bob")
	a := runArena(t, srv, steady())
	ann, bob := joinPerson(t, srv, a, person, "g1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) { p.play = nil })
	g := ann.challenge("bob", small(t, "600"), game.First)
	st := bob.until(g, "the start", plies(0))
	move := firstMove(t, st.Snapshot)
	epoch := st.Holders[0].Epoch

	nc := arenatest.Connect(t, srv.Player(person))
	without, err := protocol.NewClient(nc, a.Subjects(), person, "g1", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	guessing, err := protocol.NewPersonClient(nc, a.Subjects(), protocol.NewPeopleKey(), person, "g1", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for name, eve := range map[string]*protocol.Client{"without proof": without, "with a guess": guessing} {
		ctx := gametest.Context(t)
		for what, do := range map[string]func() error{
			"hello": func() error {
				_, err := eve.Hello(ctx, protocol.Hello{Kind: protocol.Human, Slots: 1, Games: []protocol.Capability{{Game: "amazons"}}})
				return err
			},
			"alive": func() error { _, err := eve.Alive(ctx, protocol.Alive{Free: 1}); return err },
			"leave": func() error { _, err := eve.Leave(ctx); return err },
			"challenge": func() error {
				_, err := eve.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "bob"})
				return err
			},
			"withdraw": func() error { _, err := eve.Withdraw(ctx, g); return err },
			"move":     func() error { _, err := eve.Move(ctx, g, epoch, 0, move, ""); return err },
			"resign":   func() error { _, err := eve.Resign(ctx, g, epoch, 0); return err },
			"draw":     func() error { _, err := eve.Draw(ctx, g, epoch, 0, protocol.StepOffer); return err },
			"takeback": func() error { _, err := eve.Takeback(ctx, g, epoch, 0, protocol.StepOffer); return err },
			"chat":     func() error { _, err := eve.Chat(ctx, g, epoch, "hello"); return err },
			"a move in no game": func() error {
				_, err := eve.Move(ctx, "nothing", epoch, 0, move, "")
				return err
			},
		} {
			if err := do(); !errors.Is(err, &protocol.Error{Code: protocol.Denied}) {
				t.Errorf("%s %s: %v, want denied", what, name, err)
			}
		}
	}
	gametest.Eventually(t, "the index to know the game", func() bool { _, ok := a.index.last(g); return ok })
	now, ok := a.index.last(g)
	if !ok || now.Status != protocol.Playing || now.Holders[0].Instance != "g1" || len(now.Moves) != 0 || now.DrawBy != nil {
		t.Errorf("the game has changed: %+v", now)
	}
	if in := a.Instances(); len(in) != 2 || in[1].Player != person || in[1].Hello.Display != "Player human-ann" {
		t.Errorf("instances: %+v", in)
	}
	if _, err := ann.Move(t.Context(), g, epoch, 0, move, ""); err != nil {
		t.Errorf("the person's own move: %v", err)
	}
}

// Every arena, also after a restart, has the same key; a damaged one is an error.
func TestPeopleKey(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	a, b := prepareArena(t, srv, quick()), prepareArena(t, srv, quick())
	if string(a.store.peopleKey) != string(b.store.peopleKey) {
		t.Error("two arenas have different keys")
	}
	// An arena that starts beside another one may ask a server that has not stored the key yet.
	key, err := openPeopleKey(t.Context(), &lagging{KeyValue: a.People(), behind: 2})
	if err != nil || string(key) != string(a.store.peopleKey) {
		t.Errorf("from a server that lags: another key, or %v", err)
	}
	if _, err := a.People().Put(t.Context(), keyOfPeople, []byte("short")); err != nil {
		t.Fatal(err)
	}
	ctx := gametest.Context(t)
	if _, err := New(ctx, a.nc, quick(), arenatest.Log(t)); err == nil || !contains(err, "sparring_people") {
		t.Errorf("a damaged key: %v", err)
	}
}

// firstMove returns a legal move of the position.
func firstMove(t *testing.T, s protocol.Snapshot) string {
	t.Helper()
	pos := position(t, s)
	return pos.Format(pos.Legal(nil)[0])
}

// A request that a page sends again, with the same id, takes effect once.
func TestChosenRequestID(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	a := runArena(t, srv, steady())
	ann, bob := joinPerson(t, srv, a, "human-ann", "g1"), joinPerson(t, srv, a, "human-bob", "g2")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	ctx := gametest.Context(t)
	first := game.First
	challenge := protocol.ChallengeRequest{Header: protocol.Header{ID: "c1"}, Terms: small(t, "600"), Seat: &first, Opponent: "human-bob"}
	ans, err := ann.Challenge(ctx, challenge)
	if err != nil {
		t.Fatal(err)
	}
	g := ans.Game
	ann.follow(g)
	if again, err := ann.Challenge(ctx, challenge); err != nil || again.Game != g || again.Code != protocol.Duplicate {
		t.Errorf("challenge again: %+v, %v", again, err)
	}
	st := ann.until(g, "the start", plies(0))
	send := func(what string, do func() (protocol.ActAnswer, error)) {
		t.Helper()
		for _, want := range []protocol.Code{protocol.Accepted, protocol.Duplicate} {
			if ans, err := do(); err != nil || ans.Code != want || ans.ID != what {
				t.Errorf("%s: %+v, %v; want %s", what, ans.Answer, err, want)
			}
		}
	}
	epoch := st.Holders[0].Epoch
	send("m1", func() (protocol.ActAnswer, error) {
		return ann.SendMove(ctx, g, protocol.MoveRequest{Header: protocol.Header{ID: "m1"}, Epoch: epoch, Move: firstMove(t, st.Snapshot), LagMS: 20})
	})
	send("t1", func() (protocol.ActAnswer, error) {
		return ann.SendChat(ctx, g, protocol.ChatRequest{Header: protocol.Header{ID: "t1"}, Epoch: epoch, Text: "hello"})
	})
	send("d1", func() (protocol.ActAnswer, error) {
		return ann.SendAct(ctx, g, protocol.ActDraw, protocol.ActRequest{Header: protocol.Header{ID: "d1"}, Epoch: epoch, Ply: 1, Step: protocol.StepOffer})
	})
	send("r1", func() (protocol.ActAnswer, error) {
		return ann.SendAct(ctx, g, protocol.ActResign, protocol.ActRequest{Header: protocol.Header{ID: "r1"}, Epoch: epoch, Ply: 1})
	})
	bob.until(g, "the end", finished)
	gametest.Eventually(t, "one chat message", func() bool {
		bob.mu.Lock()
		defer bob.mu.Unlock()
		chats := 0
		for _, n := range bob.notes {
			if n.Kind == protocol.NoticeChat {
				chats++
			}
		}
		return chats == 1
	})
}

// In a correspondence game nobody loses a seat by being away: neither when a
// gateway falls silent, nor when it says goodbye. The person comes back through
// another gateway.
func TestCorrespondence(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "bob")
	cfg := quick()
	cfg.LostAfter = 300 * time.Millisecond
	cfg.Policy.AbandonAfter, cfg.Policy.FirstMove = 300*time.Millisecond, 300*time.Millisecond
	a := runArena(t, srv, cfg)
	ann, bob := joinPerson(t, srv, a, "human-ann", "g1"), join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	ctx := gametest.Context(t)
	g := ann.challenge("bob", small(t, "86400/move"), game.First)
	st := ann.until(g, "the start", plies(0))
	if _, err := ann.Leave(ctx, g); err != nil {
		t.Fatal(err)
	}
	ann.leaveTable()
	gametest.Eventually(t, "the person is away", func() bool { return len(a.Instances()) == 1 })
	time.Sleep(2 * cfg.Policy.AbandonAfter) // nothing may happen meanwhile
	st = bob.until(g, "the game", plies(0))
	if h := st.Holders[0]; h.Instance != "g1" || st.Status != protocol.Playing || !h.VacantSince.IsZero() {
		t.Fatalf("%s, holder %+v", st.Status, h)
	}
	again := joinPerson(t, srv, a, "human-ann", "g2")
	again.set(func(p *player) { p.play = nil })
	again.follow(g)
	st = again.until(g, "the seat", func(st protocol.State) bool { return st.Holders[0].Instance == "g2" })
	if _, err := again.Move(ctx, g, st.Holders[0].Epoch, 0, firstMove(t, st.Snapshot), ""); err != nil {
		t.Fatal(err)
	}
	// The bot's seat is offered to its other instances as in any game.
	bob.leaveTable()
	bob2 := join(t, srv, "bob", "b2")
	bob2.follow(g)
	bob2.until(g, "a second move", plies(2))
}

// A game that continues another one by its moves, as after a takeback of the move
// that ended it. Its record has all its terms.
func TestChallengeWithMoves(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "bob")
	a := runArena(t, srv, steady())
	ann := joinPerson(t, srv, a, "human-ann", "g1")
	join(t, srv, "bob", "b1")
	ctx := gametest.Context(t)
	terms := small(t, "60+1")
	terms.Strict, terms.Private = true, true
	pos := position0(t, terms)
	for range 4 {
		m := pos.Legal(nil)[0]
		terms.Moves = append(terms.Moves, pos.Format(m))
		if err := pos.Play(m); err != nil {
			t.Fatal(err)
		}
	}
	g := ann.challenge("bob", terms, game.First)
	last := ann.until(g, "the end", finished)
	if len(last.Moves) <= 4 || !slices.Equal(last.Moves[:4], terms.Moves) {
		t.Errorf("moves %v, want %v first", last.Moves, terms.Moves)
	}
	var rec *record.Record
	gametest.Eventually(t, "the record", func() (ok bool) { var err error; rec, err = a.Record(ctx, g); return err == nil })
	if !rec.Strict || !rec.Private || rec.Given != 4 || len(rec.Plies) != len(last.Moves) || rec.Plies[3].Receipt != nil || rec.Plies[4].Receipt == nil {
		t.Errorf("record: %d given of %d, strict %v, private %v", rec.Given, len(rec.Plies), rec.Strict, rec.Private)
	}
	for what, change := range map[string]func(*protocol.Terms){
		"a rated game":   func(t *protocol.Terms) { t.Rated = true },
		"illegal moves":  func(t *protocol.Terms) { t.Moves = []string{"a1a1/a1"} },
		"a decided game": func(t *protocol.Terms) { t.Moves = last.Moves },
		"too many moves": func(t *protocol.Terms) { t.Moves = slices.Repeat([]string{"a1"}, 5000) },
	} {
		wrong := terms
		change(&wrong)
		if _, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: wrong, Opponent: "bob"}); err == nil || ctx.Err() != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A person can't fill the platform with games that take weeks.
func TestGamesOfAPerson(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "bob", "cat")
	cfg := steady()
	cfg.PersonGames = 2
	a := runArena(t, srv, cfg)
	ann, bob := joinPerson(t, srv, a, "human-ann", "g1"), join(t, srv, "bob", "b1")
	join(t, srv, "cat", "c1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	for range cfg.PersonGames {
		ann.until(ann.challenge("bob", small(t, "unlimited"), game.First), "the start", plies(0))
	}
	gametest.Eventually(t, "the games in the index", func() bool { return len(a.RunningOf("human-ann")) == cfg.PersonGames })
	ctx := gametest.Context(t)
	for p, opponent := range map[*player]protocol.PlayerID{ann: "bob", bob: "human-ann"} {
		_, err := p.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: opponent})
		if !errors.Is(err, &protocol.Error{Code: protocol.RateLimited}) {
			t.Errorf("%s challenges %s: %v", p.id, opponent, err)
		}
	}
	bob.until(bob.challenge("cat", small(t, "60"), game.First), "another game of the bot", plies(0))
}
