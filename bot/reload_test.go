package bot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sparring/bot/play"
	"sparring/engine"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// Profiles that are read again hold for new games. Running ones go on, players that are
// new join, and those that are gone leave when their games have ended.
func TestReload(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	path := filepath.Join(t.TempDir(), "players.json")
	write := func(players ...string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(`{"players": [`+strings.Join(players, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plays := func(player protocol.PlayerID, more string) string {
		return fmt.Sprintf(`{"player": %q, "games": ["amazons"]%s}`, player, more)
	}
	write(plays(hare, ""))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Profiles = path })
	f.engine.setPause(30 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.seen("some moves", func() bool { return len(m.Moves) >= 2 })

	// A broken file is one error, and changes nothing.
	for _, bad := range []string{`{"player": "x", "games": ["chess"]}`, `{"player": "*", "games": ["amazons"]}`, `{"plays": 1}`, `]`} {
		write(bad)
		if err := f.Reload(); err == nil || !strings.Contains(err.Error(), path) || strings.Count(err.Error(), "\n") > 0 {
			t.Errorf("%s: %v", bad, err)
		}
	}
	other := offerOf(small(t), "game2", game.Second)
	if ans := p.offer("amazons.bullet", other); ans.Answer != protocol.Accept || ans.Player != hare {
		t.Errorf("after broken files: %+v", ans)
	}
	p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeReleased, Game: "game2"})
	gametest.Eventually(t, "the slot back", func() bool { return f.ledger.Used() == 1 })

	// A new player joins, and hare takes no blitz from now on.
	write(plays(hare, `, "pools": ["player.amazons-hare"], "display": "Hare 2"`), plays(tortoise, ""))
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the new player", func() bool { return len(f.roster()) == 2 })
	p.seen("a hello of the new player", func() bool { return p.secret[tortoise] != "" })
	o3 := offerOf(small(t), "game3", game.Second)
	ans := p.offer("amazons.bullet", o3)
	if ans.Answer != protocol.Accept || ans.Player != tortoise {
		t.Errorf("the new player's pool: %+v", ans)
	}
	m3 := p.grant(o3, ans)
	p.finished(m) // as it began
	p.finished(m3)

	// Hare goes, but not before its game has ended.
	o4 := offerOf(small(t), "game4", game.First)
	m4 := p.grant(o4, p.offer(protocol.OwnPool(hare), o4))
	p.seen("some moves", func() bool { return len(m4.Moves) >= 2 })
	write(plays(tortoise, ""))
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	fl := &fleet{platform: p, t: t}
	fl.nobodyIn(protocol.OwnPool(hare))
	p.finished(m4)
	gametest.Eventually(t, "hare to leave", func() bool { return len(f.roster()) == 1 })
	p.seen("the farewell", func() bool { return len(p.leaves) == 1 && len(p.leaves[0].Games) == 0 })

	// And comes back.
	write(plays(tortoise, ""), plays(hare, ""))
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	o5 := offerOf(small(t), "game5", game.Second)
	p.finished(p.grant(o5, p.offer(protocol.OwnPool(hare), o5)))
	gametest.Eventually(t, "the ends of all games", func() bool { return f.count(play.GameEnded) == 4 })
	if !f.log.Has("players not read again") {
		t.Errorf("log:\n%s", f.log)
	}
}

// A player that comes back while its farewell is under way says hello behind that: the other way
// round the platform would take it for gone.
func TestReloadTwice(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	p.limited = 1 // of the farewell, which is sent again a moment later
	path := filepath.Join(t.TempDir(), "players.json")
	var f *fixture
	reload := func(players ...protocol.PlayerID) {
		t.Helper()
		var entries []string
		for _, id := range players {
			entries = append(entries, fmt.Sprintf(`{"player": %q, "games": ["amazons"]}`, id))
		}
		if err := os.WriteFile(path, []byte(`{"players": [`+strings.Join(entries, ",")+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if f == nil {
			return
		}
		if err := f.Reload(); err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "the players", func() bool { return len(f.roster()) == len(players) })
	}
	reload(hare, tortoise)
	f = startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Profiles = path })
	p.seen("the hellos", func() bool { return p.secret[hare] != "" && p.secret[tortoise] != "" })
	reload(tortoise)
	p.seen("a farewell", func() bool { return len(p.leaves) > 0 })
	reload(tortoise, hare)
	p.seen("both farewells, and hare", func() bool { return len(p.leaves) == 2 && p.present[hare] })
	o := offerOf(small(t), "game1", game.Second)
	p.finished(p.grant(o, p.offer(protocol.OwnPool(hare), o)))
}

// A player whose new engine does not start takes no games until it does.
func TestReloadWithAnEngineThatFails(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	path := filepath.Join(t.TempDir(), "players.json")
	const profile = `{"players": [{"player": "amazons-hare", "games": ["amazons"], "nodes": %d}]}`
	if err := os.WriteFile(path, fmt.Appendf(nil, profile, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Profiles = path })
	p.seen("a hello", func() bool { return len(p.lastHello.Games) == 1 })
	f.engine.setBroken(true)
	if err := os.WriteFile(path, fmt.Appendf(nil, profile, 200), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the fault", func() bool { return f.log.Has("the engine does not start") })
	p.seen("a hello without games", func() bool { return len(p.lastHello.Games) == 0 })
}

// An engine that starts says nothing of the one that a player has been given meanwhile.
func TestReloadWhileAnEngineIsTried(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	path := filepath.Join(t.TempDir(), "players.json")
	write := func(engine string) {
		t.Helper()
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"players": [{"player": "amazons-hare", "games": ["xiangqi"], "engine": %q}]}`, engine), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable() // any: it is never started
	if err != nil {
		t.Fatal(err)
	}
	before, after := "uci:"+program, "uci:"+program+",arg=2"
	write(before)
	e := &greedy{winProb: 0.5}
	starts, mayStart := make(chan bool), make(chan bool)
	var tries atomic.Int32 // of the first engine
	f := runBot(t, connect(t, srv.Player("bots")), Deps{Build: "test 1", RetryEngines: 10 * time.Millisecond,
		NewGame: func(spec string, o engine.GameOptions) (engine.Game, error) {
			switch n := tries.Add(1); {
			case spec == after, n == 1:
				return nil, errors.New("no such engine")
			case n == 2:
				starts <- true
				<-mayStart
			}
			return e.newGame(spec, o)
		}}, func(c *Config) { c.Profiles = path })
	<-starts
	write(after)
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the new profile", func() bool { return f.log.Has("players read again") })
	mayStart <- true
	gametest.Eventually(t, "the new engine to be tried", func() bool { return strings.Count(f.log.String(), "the engine does not start") == 2 })
	if list := f.roster()[0].playable(); len(list) > 0 {
		t.Errorf("it plays %q with an engine that does not start", list)
	}
	if f.log.Has("the engine starts again") {
		t.Errorf("log:\n%s", f.log)
	}
	p.seen("a hello without games", func() bool { return len(p.lastHello.Games) == 0 })
}

// Engines that no profile names any more are not kept: their hash tables and idle programs
// would stay until the process ends. Analyses keep ours.
func TestReloadFreesEngines(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	path := filepath.Join(t.TempDir(), "players.json")
	write := func(engine string) {
		t.Helper()
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"players": [{"player": "amazons-hare", "games": ["amazons"], "engine": %q}]}`, engine), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("self:hash=1")
	e := &greedy{winProb: 0.5}
	var needed func(spec, gameName string, reproducible bool) bool
	var opened sync.Map
	f := runBot(t, connect(t, srv.Player("bots")), Deps{Build: "test 1",
		NewGame: func(spec string, o engine.GameOptions) (engine.Game, error) {
			opened.Store(spec, needed == nil)
			return e.newGame(spec, o)
		},
		KeepEngines: func(n func(spec, gameName string, reproducible bool) bool) { needed = n },
	}, func(c *Config) { c.Profiles, c.Analyses = path, 1 })
	p.seen("a hello", func() bool { return len(p.lastHello.Games) == 1 })
	write("self:hash=2")
	if err := f.Reload(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the new engine", func() bool { _, ok := opened.Load("self:hash=2"); return ok })
	if before, _ := opened.Load("self:hash=2"); before != false {
		t.Error("the new engine was opened before it was said to be needed")
	}
	for _, c := range []struct {
		spec, game   string
		reproducible bool
		want         bool
	}{
		{"self:hash=2", "amazons", false, true},
		{"self:hash=2", "amazons", true, false},
		{"self:hash=2", "gomoku", false, false},
		{"self:hash=1", "amazons", false, false},
		{"", "amazons", false, true},
		{"", "amazons", true, false},
	} {
		if needed(c.spec, c.game, c.reproducible) != c.want {
			t.Errorf("%+v", c)
		}
	}
}
