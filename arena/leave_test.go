package arena

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// Only the process that acts as an instance gives back its seats, and each request does so
// once: the instance may have taken a seat again before it comes a second time.
func TestLeaveCounts(t *testing.T) {
	const lostAfter = 1500 * time.Millisecond
	type step struct {
		at    int    // in units of 100 ms
		who   string // its secret
		leave string // the id of a leave, or a hello
		want  bool   // the leave counts
	}
	for name, steps := range map[string][]step{
		"its own":                    {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "l2", true}},
		"without a secret":           {{0, "A", "", true}, {5, "", "l1", true}, {6, "", "l1", false}},
		"after a hello without one":  {{0, "", "", true}, {5, "A", "l1", true}},
		"before a hello":             {{0, "A", "l1", true}, {1, "A", "l1", false}},
		"twice":                      {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "l2", true}, {7, "A", "l1", false}, {8, "A", "l2", false}},
		"twice, with a hello":        {{0, "A", "", true}, {5, "A", "l1", true}, {6, "A", "", true}, {7, "A", "l1", false}, {8, "A", "l2", true}},
		"another process's":          {{0, "A", "", true}, {5, "B", "l1", false}, {6, "A", "l1", true}},
		"of one that is silent":      {{0, "A", "", true}, {30, "B", "l1", false}, {31, "B", "", true}, {32, "B", "l2", true}},
		"of one that was replaced":   {{0, "A", "", true}, {7, "B", "", true}, {8, "A", "l1", false}, {9, "B", "l2", true}},
		"one that has to make way's": {{0, "A", "", true}, {7, "B", "", true}, {10, "A", "", true}, {15, "A", "", true}, {18, "B", "l1", false}, {19, "A", "l2", true}},
	} {
		p, start := newPresence(lostAfter), time.Now()
		for _, s := range steps {
			from := protocol.From{Player: "bob", Arrived: start.Add(time.Duration(s.at) * 100 * time.Millisecond)}
			if s.leave == "" {
				p.hello(from, protocol.Hello{Header: protocol.Header{ID: protocol.NewID()}, Instance: "box1", Secret: s.who, Kind: protocol.Bot})
				continue
			}
			m := protocol.Leave{Header: protocol.Header{ID: s.leave}, Instance: "box1", Secret: s.who}
			if got := p.leave(from, m); got != s.want {
				t.Errorf("%s: %+v: got %t", name, s, got)
			}
			if left := p.leaving("bob", "box1"); s.want && left != s.leave {
				t.Errorf("%s: %+v: the instance has not left", name, s)
			}
		}
	}
}

// A hello undoes the leave that was sent before it, whichever of the two an arena handles first:
// it answers a hello as it observes what else the instance sends, but in another goroutine.
func TestHelloAfterLeave(t *testing.T) {
	p := newPresence(time.Hour)
	from := protocol.From{Player: "bob", Arrived: time.Now()}
	hello := func(id string) protocol.Hello {
		return protocol.Hello{Header: protocol.Header{ID: id}, Instance: "b1", Kind: protocol.Bot}
	}
	leave := func(id string) {
		p.leave(from, protocol.Leave{Header: protocol.Header{ID: id}, Instance: "b1"})
	}
	want := func(request string) {
		t.Helper()
		if left := p.leaving("bob", "b1"); left != request {
			t.Errorf("left by %q, want %q", left, request)
		}
	}
	p.hello(from, hello("h1"))
	p.observeHello(from, hello("h1"))
	p.hello(from, hello("h2"))
	leave("l1")
	want("l1")
	p.observeHello(from, hello("h2"))
	want("")
	leave("l2")
	p.observeHello(from, hello("h2")) // which was sent again
	want("l2")
}

// A hello counts where it stands among what the instance says, however late an arena comes to
// answer it: one that was stopped for a while has several to answer.
func TestLateHello(t *testing.T) {
	p := newPresence(time.Hour)
	from := protocol.From{Player: "bob", Arrived: time.Now()}
	hello := func(id string, slots int) protocol.Hello {
		return protocol.Hello{Header: protocol.Header{ID: id}, Instance: "b1", Kind: protocol.Bot, Slots: slots}
	}
	want := func(what string, slots int, left string) {
		t.Helper()
		if got := p.helloOf("bob", "b1").Slots; got != slots || p.leaving("bob", "b1") != left {
			t.Errorf("%s: %d slots, left by %q; want %d, %q", what, got, p.leaving("bob", "b1"), slots, left)
		}
	}
	p.observeHello(from, hello("h1", 1))
	p.observeHello(from, hello("h2", 2))
	p.leave(from, protocol.Leave{Header: protocol.Header{ID: "l1"}, Instance: "b1"})
	p.hello(from, hello("h1", 1))
	want("the first one is answered", 2, "l1")
	p.hello(from, hello("h2", 2))
	want("the second one is answered", 2, "l1")
	p.hello(from, hello("h4", 4))
	p.observeHello(from, hello("h3", 3)) // which another arena answers
	p.observeHello(from, hello("h4", 4))
	want("the last one is observed", 4, "")
}

// A leave that comes again after the arena was restarted does not give back a seat that the
// instance has taken since the first time.
func TestLeaveAgainAfterRestart(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	for _, all := range []bool{false, true} {
		a := runArena(t, srv, steady())
		ann, bob, g := still(t, srv, small(t, "600"))
		leave := func(id string, games ...protocol.GameID) {
			t.Helper()
			data, err := json.Marshal(protocol.Leave{Header: protocol.Header{V: protocol.Version, ID: id}, Instance: "b1", Games: games})
			if err != nil {
				t.Fatal(err)
			}
			within := gametest.Context(t)
			if _, err := bob.nc.RequestWithContext(within, a.Subjects().Play("bob", protocol.VerbLeave), data); err != nil {
				t.Fatal(err)
			}
		}
		giveBack := func() {
			t.Helper()
			if all {
				leave("l1")
				bob.hello(t.Context()) // or it would get no seat again
			} else {
				leave("l1", g)
			}
		}
		giveBack()
		ann.until(g, "the seat to be taken again", func(st protocol.State) bool {
			h := st.Holders[game.Second]
			return h.Epoch == 2 && h.Instance == "b1"
		})
		a.stop()
		a = runArena(t, srv, steady())
		gametest.Eventually(t, "bob to be known again", func() bool { return a.presence.known("bob", "b1") })
		ann.until(g, "the game to go on", func(st protocol.State) bool { return st.Status == protocol.Playing })
		giveBack()
		leave("l2", "another")
		gametest.Eventually(t, "the leaves to be observed", func() bool {
			a.presence.mu.Lock()
			defer a.presence.mu.Unlock()
			return slices.Contains(a.presence.players["bob"]["b1"].leaves, "l2")
		})
		a.visit(g, func(r *referee) {
			if h := r.game.Holder(game.Second); h.Epoch != 2 || h.Instance != "b1" {
				t.Errorf("all seats %t: instance %q in epoch %d: the leave has counted twice", all, h.Instance, h.Epoch)
			}
		})
		ann.leaveTable()
		bob.leaveTable()
		a.stop()
	}
}

// A seat that is given back while nobody referees the game is vacated by the next referee, also
// if the instance has said hello to it since.
func TestLeaveBetweenReferees(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := quick()
	cfg.LostAfter = patience
	first := runArena(t, srv, cfg)
	ann, bob, g := still(t, srv, small(t, "600"))
	bob.set(func(p *player) { p.answer, p.quiet = decline(protocol.DeclineDraining), true })
	second := runArena(t, srv, cfg)
	first.crash()
	if _, err := bob.Leave(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	bob.hello(t.Context())
	ann.until(g, "the seat to be vacant", func(st protocol.State) bool { return st.Holders[game.Second].Instance == "" })
	second.visit(g, func(r *referee) {
		if by := r.game.Holder(game.Second).GivenBack; by.Instance != "b1" {
			t.Errorf("given back by %+v", by)
		}
	})
}
