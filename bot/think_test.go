package bot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record"
)

// The real engine plays a game: every own move is searched, and what it says
// is in the record.
func TestPlaysWithTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := record.NewWriter(dir, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pool := engine.NewPool(engine.PoolOptions{Cores: 2, HashBytes: 1 << 20})
	defer pool.Close()
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	profiles := filepath.Join(t.TempDir(), "bots.json")
	if err := os.WriteFile(profiles, []byte(`{"players": [{"player": "amazons-hare", "games": ["amazons"], "nodes": 1000}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	f := runBot(t, connect(t, srv.Player("bots")), Deps{Think: PoolThinker{pool}, Build: "test 1", Records: w},
		func(c *Config) { c.Profiles = profiles })
	o := offerOf(small(t), "game1", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	eventually(t, "the record", func() bool { kept, _ := w.Counts(); return kept == 1 })
	doc, err := record.Find(dir, "game1")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(doc.Plies, m.Moves, func(p record.Ply, move string) bool { return p.Move == move }) {
		t.Errorf("the record has other moves")
	}
	for i, ply := range doc.Plies {
		if ply.Seat == game.First && (ply.Think == nil || ply.Think.Source == "" || ply.Think.Nodes > 1000 || len(ply.Think.PV) == 0) {
			t.Errorf("ply %d: thinking %+v", i+1, ply.Think)
		}
	}
	if f.log.has(`"level":"error"`) {
		t.Errorf("log:\n%s", f.log)
	}
}

func TestPoolThinkerPonders(t *testing.T) {
	pool := engine.NewPool(engine.PoolOptions{Cores: 1, HashBytes: 1 << 20})
	defer pool.Close()
	pos, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	watched := make(chan Result, 1000)
	th, err := PoolThinker{pool}.Think(Task{Position: pos, Ponder: true, Watch: func(r Result) {
		select {
		case watched <- r:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := <-watched; r.Depth == 0 || r.Move == game.NoMove {
		t.Errorf("watched %+v", r)
	}
	c := Clock{Spec: spec(t, "0.1/move"), At: time.Now()}
	c.Mine, c.Theirs = c.Spec.Start(), c.Spec.Start()
	th.PonderHit(c)
	r, err := th.Wait()
	if err != nil || r.Move == game.NoMove || r.Nodes == 0 || r.WinProb <= 0 || r.WinProb >= 1 {
		t.Errorf("%+v, %v", r, err)
	}

	// Stopped before anything else: no error, whatever it has.
	th, err = PoolThinker{pool}.Think(Task{Position: pos, Ponder: true})
	if err != nil {
		t.Fatal(err)
	}
	th.Stop()
	if _, err := th.Wait(); err != nil {
		t.Error(err)
	}
}

// Both seats of a swap2 game are the engine's: the choices are its too.
func TestChoosesInAnOpeningProcedure(t *testing.T) {
	t.Parallel()
	pool := engine.NewPool(engine.PoolOptions{Cores: 2, HashBytes: 1 << 20})
	defer pool.Close()
	pos, err := catalog.Setup("gomoku", "gomoku/freestyle-15+swap2", "")
	if err != nil {
		t.Fatal(err)
	}
	for ply := range 8 {
		c := Clock{Spec: spec(t, "0.05/move"), At: time.Now()}
		c.Mine, c.Theirs = c.Spec.Start(), c.Spec.Start()
		th, err := PoolThinker{pool}.Think(Task{Position: pos.Clone(), Clock: c, Seed: 1})
		if err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
		r, err := th.Wait()
		if err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
		if err := pos.Play(r.Move); err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
	}
	fresh, err := pos.Rules().New("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (PoolThinker{pool}).Think(Task{Position: fresh, Ponder: true}); !errors.Is(err, errNotPondered) {
		t.Errorf("pondering on a procedure: %v", err)
	}
	th, err := PoolThinker{pool}.Think(Task{Position: fresh, Clock: Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	th.Stop()
	th.Wait() // returns, with or without a move
}
