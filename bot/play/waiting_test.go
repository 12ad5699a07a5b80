package play

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine"
	"sparring/engine/timing"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// TestSearchClockOfDays: a move in a correspondence game takes a minute at most, or what was
// set, from when the search begins: also after our clock has run for days without us. At
// other clocks nothing changes.
func TestSearchClockOfDays(t *testing.T) {
	for _, c := range []struct {
		clock string
		set   time.Duration
		gone  time.Duration
		want  time.Duration // the longest that the search may take from now on; 0: by the clock
	}{
		{"259200/move", 0, 0, time.Minute},
		{"259200/move", 0, 70 * time.Hour, time.Minute},
		{"259200/move", 0, 72*time.Hour - 10*time.Second, 10 * time.Second}, // what is left
		{"1209600", 0, 0, time.Minute},
		{"1209600+0", 0, 100 * time.Hour, time.Minute},
		{"86400+3600", 0, time.Hour, time.Minute},
		{"100/move", 0, 0, time.Minute},
		{"259200/move", 5 * time.Minute, time.Hour, 5 * time.Minute},
		{"5400+30", 2 * time.Second, 0, 2 * time.Second},
		{"60/move", 0, 0, 0}, {"5400+30", 0, 0, 0}, {"1800/5x60", 0, 0, 0}, {"10+0.1", 0, 0, 0}, {"36000", 0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, c.clock)
			s.player.Settings.MoveTime = c.set
			time.Sleep(c.gone)
			k := s.searchClock()
			if plain, _ := s.clock(); c.want == 0 && k != plain {
				t.Errorf("%s: %+v, want %+v", c.clock, k, plain)
			}
			if c.want == 0 {
				return
			}
			b := timing.Allot(timing.Situation{Clock: k.Spec, Mine: k.Mine, Theirs: k.Theirs, Length: 80,
				Overhead: k.Overhead, MoveLimit: k.MoveLimit})
			rest := b.Hard - time.Since(k.At)
			if rest > c.want || rest < c.want-2*k.Overhead {
				t.Errorf("%s after %v: the search takes up to %v, want %v", c.clock, c.gone, rest, c.want)
			}
			if soft := b.Soft - time.Since(k.At); b.Soft > 0 && soft < min(c.want, time.Second)/2 {
				t.Errorf("%s after %v: the search ends softly after %v", c.clock, c.gone, soft)
			}
		})
	}
}

// TestNoPonderingForDays: nothing is pondered on in a game that waits for days.
func TestNoPonderingForDays(t *testing.T) {
	rules, err := catalog.Rules("amazons/6x6")
	if err != nil {
		t.Fatal(err)
	}
	for clock, want := range map[string]bool{
		"60": true, "5400+30": true, "100/move": true, "259200/move": false, "1209600": false, "unlimited": false,
	} {
		s := bare(t, clock)
		s.player.Settings.Ponder = true
		pos, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		if err := pos.Play(pos.Legal(nil)[0]); err != nil {
			t.Fatal(err)
		}
		s.setPonderTarget(&decision{}, pos, pos.Legal(nil)[0])
		if got := s.target != nil; got != want {
			t.Errorf("%s: ponders %v", clock, got)
		}
	}
}

// openGames counts the open games of an engine.
type openGames struct {
	mu   sync.Mutex
	open int
}

func (o *openGames) newGame(options engine.GameOptions) (engine.Game, error) {
	own, err := engine.New(options.Rules.Game, engine.Options{HashBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	g, err := own.NewGame(options)
	o.count(1)
	return &openGame{g, o}, err
}

func (o *openGames) count(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open += n
	return o.open
}

type openGame struct {
	engine.Game
	of *openGames
}

func (g *openGame) Close() error {
	g.of.count(-1)
	return g.Game.Close()
}

// hellos counts the requests of all sessions to say hello.
type hellos struct {
	asked
	mu sync.Mutex
	n  int
}

func (h *hellos) RequestHello() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
}

// TestWaitingGames: correspondence games in which the opponent is to move hold no game of the
// engine, little memory, and ask for their states once an hour.
func TestWaitingGames(t *testing.T) {
	const games, days = 200, 2
	pos, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		pool, open, process := engine.NewPool(1), new(openGames), new(hellos)
		defer pool.Close()
		p := &Player{ID: "hare", Clock: new(ServerClock), Process: process, NewGame: open.newGame, Pool: pool,
			Settings: Settings{Instance: "here", Ponder: true}}
		st := protocol.State{Seq: 1, You: game.Second, Snapshot: protocol.Snapshot{
			Terms:  protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: spec(t, "259200/move")},
			Status: protocol.Playing, Key: game.KeyText(pos.Key()), Turn: game.First,
			Holders: [2]protocol.Holder{{Player: "script", Epoch: 1}, {Player: "hare", Instance: "here", Epoch: 1}},
		}}
		for i := range st.Clocks.Seats {
			st.Clocks.Seats[i] = protocol.ClockOf(st.Terms.Clock.Start())
		}
		before := heap()
		ctx, cancel := context.WithCancel(t.Context())
		var ran sync.WaitGroup
		for range games {
			s := New(ctx, p, nil)
			s.confirm = func() bool { return true }
			ran.Go(s.Run)
			s.receive(st)
		}
		synctest.Wait()
		if n := open.count(0); n != 0 {
			t.Errorf("%d of %d waiting games hold a game of the engine", n, games)
		}
		each := (heap() - before) / games
		t.Logf("%d KiB for each waiting game, %d goroutines", each>>10, runtime.NumGoroutine()/games)
		if each > 64<<10 {
			t.Errorf("each waiting game takes %d KiB", each>>10)
		}
		time.Sleep(days * 24 * time.Hour)
		synctest.Wait()
		if most := games * days * 24; process.n > most || process.n < games*days*20 {
			t.Errorf("%d requests for the states in %d days of %d games", process.n, days, games)
		}
		cancel()
		ran.Wait()
	})
}

// heap returns the memory in use, in bytes, of the heap and of stacks.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
