package web

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game/gametest"
	"sparring/protocol"
)

// storedWaiting returns the challenges of a person as they are stored.
func storedWaiting(t testing.TB, g *gateway, id protocol.PlayerID) []message.Waiting {
	t.Helper()
	c, _, err := readEntry[challenges](t.Context(), g.agreements, "waiting."+string(id))
	if err != nil {
		t.Fatal(err)
	}
	return c.open(time.Now())
}

// busyBot joins a bot that has no time until it is told otherwise.
func busyBot(t testing.TB, srv players) *bot {
	t.Helper()
	b := joinBot(t, srv, "hare", protocol.Hello{})
	b.set(func(b *bot) { b.answer, b.free = protocol.Busy, 0 })
	return b
}

// A challenge that is withdrawn, expires or belongs to a person who is erased is not
// stored any longer, and no arena shows it.
func TestWaitingChallengeEnds(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	other := startGateway(t, srv, quick(), nil)
	busyBot(t, srv)
	ann, there := openPage(t, gw, human("ann")), openPage(t, other, human("ann"))
	lobby := func(what string, n int) {
		t.Helper()
		for _, p := range []*socketPage{ann, there} {
			p.want(message.Request{T: "lobby", On: true})
			p.until(what, func() bool { return p.lobby != nil && len(p.lobby.Waiting) == n })
		}
		gametest.Eventually(t, "the store: "+what, func() bool { return len(storedWaiting(t, gw, human("ann"))) == n })
	}
	play := message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}
	one, two := ann.want(play).Game, ann.want(play).Game
	lobby("two challenges", 2)
	there.want(message.Request{T: "withdraw", Game: one})
	lobby("one challenge after a withdrawal", 1)
	ann.want(message.Request{T: "withdraw", Game: two})
	lobby("no challenge", 0)

	p := gw.participant(human("ann"), "")
	short := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: *play.Terms, Opponent: "hare", ExpireMS: 1}
	if a := p.challenge(t.Context(), short); a.Code != "" && a.Code != protocol.Accepted {
		t.Fatalf("%+v", a)
	}
	ann.notice(protocol.NoticeExpired)
	lobby("no challenge after it expired", 0)

	ann.want(play)
	lobby("a last one", 1)
	gw.changed(human("ann"), nil) // as if the person were erased
	gametest.Eventually(t, "the entry to be gone", func() bool {
		_, err := gw.agreements.kv.Get(t.Context(), "waiting."+string(human("ann")))
		return errors.Is(err, jetstream.ErrKeyNotFound)
	})
	gametest.Eventually(t, "the other arena to hear of that", func() bool { return len(other.agreements.waitingOf(human("ann"))) == 0 })
}

// A store that takes nothing more loses only what another arena would know: the
// challenge waits, and its game begins.
func TestWaitingChallengeInAFullStore(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	b := busyBot(t, srv)
	js, err := jetstream.New(gw.nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV_"+gw.agreements.kv.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	full := s.CachedInfo().Config
	full.MaxBytes = 1
	if _, err := js.UpdateStream(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	ann := openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "lobby", On: true})
	g := ann.want(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}).Game
	ann.want(message.Request{T: "open", Game: g})
	ann.until("the challenge in the lobby", func() bool { return len(ann.lobby.Waiting) == 1 })
	if n := len(storedWaiting(t, gw, human("ann"))); n != 0 {
		t.Fatalf("%d challenges are stored: the store is not full", n)
	}
	b.set(func(b *bot) { b.answer, b.free = protocol.Accept, 1000 })
	ann.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	ann.until("the end of the wait", func() bool { return len(ann.lobby.Waiting) == 0 })
}

// A store that hangs delays what it is asked, and loses nothing: a page that comes
// meanwhile is told to ask again, and finds its challenge then.
func TestWaitingChallengeInAHungStore(t *testing.T) {
	t.Parallel()
	nats := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	gw := startGateway(t, nats, quick(), nil)
	other := startGateway(t, nats, quick(), nil)
	b := busyBot(t, nats)
	ann := openPage(t, gw, human("ann"))
	g := ann.want(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}).Game
	gametest.Eventually(t, "the other arena to hear of the challenge", func() bool { return len(other.agreements.waitingOf(human("ann"))) == 1 })
	nats.Pause()
	defer nats.Continue()
	ann.close()
	again := openPage(t, other, human("ann"))
	again.want(message.Request{T: "lobby", On: true})
	again.until("the challenge in the lobby", func() bool { return again.lobby != nil && len(again.lobby.Waiting) == 1 })
	again.refuse(message.Request{T: "open", Game: g}, protocol.Unavailable)
	nats.Continue()
	gametest.Eventually(t, "the game to be opened", func() bool { return again.ask(message.Request{T: "open", Game: g}).Code == protocol.Accepted })
	b.set(func(b *bot) { b.answer, b.free = protocol.Accept, 1000 })
	again.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
}
