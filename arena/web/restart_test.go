package web

import (
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestArenaIsKilled kills the arena with its gateway in mid-game: the pages connect
// to the next one and play on.
func TestArenaIsKilled(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	first := game.First
	g := ann.want(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2"), Seat: &first}).Game
	ann.want(message.Request{T: "open", Game: g})
	ann.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	ann.move(g, 0, "h8")
	before := ann.state(g, "the answer", plies(2))
	gw.crash()

	next := startGateway(t, srv, quick(), nil)
	again := openPage(t, next, human("ann"))
	again.want(message.Request{T: "open", Game: g})
	st := again.state(g, "the game", func(st message.State) bool { return st.Clocks.Running != nil })
	if len(st.Moves) != len(before.Moves) || st.Seq < before.Seq {
		t.Errorf("after the restart %d moves, seq %d; before %d, %d", len(st.Moves), st.Seq, len(before.Moves), before.Seq)
	}
	again.want(message.Request{T: "move", Game: g, Ply: 2, Move: "g8"})
	again.state(g, "the answer", plies(4))
}

// TestNATSHangs stops the process of the NATS server in mid-game, as a pause of its
// machine does. A move gets an answer, and is applied once when the server goes on.
func TestNATSHangs(t *testing.T) {
	t.Parallel()
	nats := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	gw := startGateway(t, nats, quick(), nil)
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	watcher := openPage(t, gw, "")
	g := befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "3600"))
	watcher.want(message.Request{T: "open", Game: g})
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1"))
	nats.Pause()
	defer nats.Continue()
	move := message.Request{T: "move", Game: g, Ply: 2, Move: "h9", ID: "m1"}
	if a := ann.ask(move); a.Code != protocol.Unavailable {
		t.Errorf("while the server hangs: %+v", a)
	}
	for i := range requestsAtOnce + 1 {
		ann.put(message.Request{T: "withdraw", Game: g, ID: fmt.Sprint("withdraw-", i)})
	}
	ann.until("too many requests at once", func() bool {
		for _, a := range ann.answers {
			if a.Code == protocol.RateLimited {
				return true
			}
		}
		return false
	})
	late := openPage(t, gw, "") // what is known is shown
	late.want(message.Request{T: "open", Game: g})
	late.state(g, "the game", plies(2))
	late.untilTooManyAtOnce(message.Request{T: "invited", Token: "nothing"})
	ben.put(message.Request{T: "ping", N: 1})
	ben.until("a pong", func() bool { return len(ben.pongs) == 1 })
	nats.Continue()
	gametest.Eventually(t, "the move", func() bool {
		ann.mu.Lock()
		delete(ann.answers, move.ID)
		ann.mu.Unlock()
		a := ann.ask(move)
		return a.Code == protocol.Accepted || a.Code == protocol.Duplicate
	})
	for _, p := range []*socketPage{ann, ben, watcher} {
		if st := p.state(g, "the move", plies(3)); len(st.Moves) != 3 || st.Moves[2] != "h9" {
			t.Errorf("moves %v", st.Moves)
		}
	}
	ben.move(g, 3, "a2")
}

// TestWaitingChallengeFollowsThePerson: a challenge that waits for a busy bot is still
// shown, and its game begins, when the person's page comes back through another arena,
// after a restart, or to the same arena after it was away for a while.
func TestWaitingChallengeFollowsThePerson(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"another arena", "another arena with a tab", "a restart", "away"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartServer(t, "", "hare")
			gw := startGateway(t, srv, quick(), func(h *hub) { h.grace = 100 * time.Millisecond })
			b := busyBot(t, srv)
			next := gw
			if how == "another arena" || how == "another arena with a tab" {
				next = startGateway(t, srv, quick(), nil)
			}
			if how == "another arena with a tab" {
				other := openPage(t, next, human("ann"))
				other.want(message.Request{T: "lobby", On: true})
			}
			ann := openPage(t, gw, human("ann"))
			g := ann.want(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}).Game
			ann.want(message.Request{T: "open", Game: g})
			switch how {
			case "a restart":
				gw.crash()
				next = startGateway(t, srv, quick(), nil)
			default:
				ann.close()
				if how != "another arena with a tab" {
					gametest.Eventually(t, "the person to be announced no more", func() bool { return !gw.arena.Present(human("ann")) })
				}
			}
			again := openPage(t, next, human("ann"))
			again.want(message.Request{T: "lobby", On: true})
			again.want(message.Request{T: "open", Game: g})
			again.until("the challenge in the lobby", func() bool {
				return again.lobby != nil && len(again.lobby.Waiting) == 1 && again.lobby.Waiting[0].Game == g
			})
			b.set(func(b *bot) { b.answer, b.free = protocol.Accept, 1000 })
			again.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing && st.You != nil })
			again.until("the end of the wait", func() bool { return len(again.lobby.Waiting) == 0 && len(again.lobby.Mine) == 1 })
			gametest.Eventually(t, "nothing stored", func() bool { return len(storedWaiting(t, next, human("ann"))) == 0 })
		})
	}
}

// TestAgreementsAfterPowerCut: what people agree on is seen although the server has lost the
// last agreements in a power cut, and the next ones have their numbers.
func TestAgreementsAfterPowerCut(t *testing.T) {
	t.Parallel()
	nats := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	gw := startGateway(t, nats, quick(), func(h *hub) { h.challengePace = 1000 })
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	ann.want(message.Request{T: "lobby", On: true})
	terms := terms(t, "gomoku/freestyle-15", "3600")
	g := befriend(t, ann, ben, terms)
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1"))
	ann.want(message.Request{T: "resign", Game: g})
	ben.state(g, "the end", finished)
	copied := nats.Restart()
	soon := func(p *socketPage, r message.Request) {
		t.Helper()
		gametest.Eventually(t, "the store", func() bool { return p.ask(r).Code == protocol.Accepted })
	}
	for range 3 {
		soon(ann, message.Request{T: "invite", Terms: terms})
	}
	ann.until("the invitations", func() bool { return ann.lobby != nil && len(ann.lobby.Waiting) == 3 })
	nats.CutPower(copied, "KV_sparring_agreements")
	soon(ann, message.Request{T: "invite", Terms: terms})
	soon(ann, message.Request{T: "rematch", Game: g})
	ben.state(g, "the offer of a rematch", func(st message.State) bool { return st.RematchBy != nil })
	ann.until("the invitation", func() bool { return len(ann.lobby.Waiting) == 1 })
}

// TestPeopleAfterPowerCut: who has begun a session just before a power cut of the server keeps
// it, with every gateway, and what another one changes afterwards is seen.
func TestPeopleAfterPowerCut(t *testing.T) {
	t.Parallel()
	nats := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := startHouseOn(t, nats)
	other := h.another(t)
	old := h.browser(t)
	who := old.guest()
	copied := nats.Restart()
	named := func(name string) {
		t.Helper()
		gametest.Eventually(t, "the name "+name, func() bool {
			code, _ := old.post("/api/name", `{"name": "`+name+`"}`)
			return code == http.StatusOK
		})
	}
	named("Ann")
	b := h.browser(t)
	late := b.guest()
	nats.CutPower(copied, "KV_sparring_people")
	there := other.browser(t)
	there.cookies = b.cookies
	gametest.Eventually(t, "the late person on another gateway", func() bool { return there.player() == late.Player })
	there.cookies = old.cookies
	gametest.Eventually(t, "the other person there", func() bool { return there.player() == who.Player })
	if code, _ := there.post("/api/name", `{"name": "Ben"}`); code != http.StatusOK {
		t.Errorf("a name: %d", code)
	}
	gametest.Eventually(t, "the new name", func() bool {
		a, err := h.people.get(t.Context(), who.Player)
		return err == nil && a.Name == "Ben"
	})
}

// TestPeopleStoredAgain: what the server has lost of people is kept while it can't be stored
// again, and does not replace what was stored meanwhile.
func TestPeopleStoredAgain(t *testing.T) {
	t.Parallel()
	nats := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := &house{nats: nats, log: arenatest.Log(t)}
	h.Server = h.open(t, Config{})
	p := h.people
	after, err := p.last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lost := map[protocol.PlayerID]account{"human-lost": {V: 1, Name: "Ann"}, "human-newer": {V: 1, Name: "Ben"}}
	nats.Pause()
	if err := p.storeAgain(t.Context(), lost, after); !errors.Is(err, errStore) || len(lost) != 2 {
		t.Errorf("while the server hangs: %v, %d accounts left", err, len(lost))
	}
	known := 0
	for id, a := range lost {
		if k, err := p.get(t.Context(), id); err == nil && k.Name == a.Name {
			known++
		}
	}
	if known == 0 {
		t.Error("nobody is known while the server hangs")
	}
	nats.Continue()
	p.mu.Lock()
	p.resting = time.Time{}
	p.mu.Unlock()
	gametest.Eventually(t, "the server", func() bool { return p.write(t.Context(), "human-newer", account{V: 1, Name: "Bea"}, 0) == nil })
	gametest.Eventually(t, "both stored again", func() bool { return p.storeAgain(t.Context(), lost, after) == nil })
	for id, want := range map[protocol.PlayerID]string{"human-lost": "Ann", "human-newer": "Bea"} {
		if a, _, err := p.read(t.Context(), id); err != nil || a.Name != want {
			t.Errorf("%s: %q, %v; want %s", id, a.Name, err, want)
		}
	}
}
