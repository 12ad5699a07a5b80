package external

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
)

// playOn plays moves, and a legal one for each NoMove.
func playOn(t *testing.T, p game.Position, moves ...game.Move) {
	t.Helper()
	for _, m := range moves {
		if m == game.NoMove {
			m = p.Legal(nil)[0]
		}
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
	}
}

// count is the number of incidents.
func (i *incidents) count() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.list)
}

// TestOddPondering: an odd answer while no move is due is not a fault. The same
// process continues, and the incident is reported once.
func TestOddPondering(t *testing.T) {
	for _, test := range []struct {
		mode    string
		dialect Dialect
		early   bool // the incident comes while it ponders
		want    string
		rests   bool // it is not asked to ponder again
	}{
		{faultyengine.EarlyMove, UCI, true, `" to "go infinite" before it was told to stop`, false},
		{faultyengine.EarlyNull, UCI, true, `answered "bestmove (none)" to "go infinite" before it was told to stop: no move; no more pondering`, true},
		{faultyengine.NullAtStop, UCI, false, `told to stop pondering, the engine answered "bestmove (none)"`, false},
		{faultyengine.DepthInfinite, UCCI, true, `answered "nobestmove" to "go depth infinite" before it was told to stop; pondering by another command from now on`, false},
	} {
		t.Run(test.mode, func(t *testing.T) {
			g := play(t, openFaulty(t, test.mode, func(s *Spec) { s.Dialect = test.dialect }))
			p := newGame(t, "xiangqi/wxf")
			r := find(t, g, p, search.Limits{Depth: 1})
			if r.Err != nil || len(r.Incidents) > 0 {
				t.Fatalf("%v, %q", r.Err, r.Incidents)
			}
			playOn(t, p, r.Move, game.NoMove)
			process := g.current().program
			var all []string
			for round := range 4 {
				run, err := g.Search(p, search.Limits{Wait: true}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if test.early && round == 0 {
					gametest.Eventually(t, "an incident", func() bool { return g.incidents.count() > 0 })
				} else if !test.early {
					gametest.Eventually(t, "it ponders", func() bool { return process.lastSent() == "go infinite" })
				}
				if round%2 == 0 { // the opponent plays another move
					run.Stop()
					if r := run.Wait(); r.Err != nil {
						t.Fatal(r.Err)
					}
					playOn(t, p, p.Legal(nil)[1], game.NoMove)
					continue
				}
				run.PonderHit(search.Limits{Depth: 1})
				r := run.Wait()
				if r.Err != nil || r.Move == game.NoMove {
					t.Fatalf("round %d: %v, move %#x", round, r.Err, uint32(r.Move))
				}
				all = append(all, r.Incidents...)
				playOn(t, p, r.Move, game.NoMove)
			}
			if len(all) == 0 || !strings.Contains(all[0], test.want) {
				t.Errorf("told %q, want %q", all, test.want)
			}
			if test.early && len(all) != 1 {
				t.Errorf("told %d times: %q", len(all), all)
			}
			if g.current().program != process {
				t.Error("another process plays")
			}
			if process.noPondering != test.rests {
				t.Errorf("it does not ponder: %v", process.noPondering)
			}
		})
	}
}

// TestCrashWhilePondering: a program that fails while no move is due is started
// again, and the reason is reported.
func TestCrashWhilePondering(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.CrashPonder))
	p := newGame(t, "xiangqi/wxf")
	for _, hit := range []bool{true, false} {
		run, err := g.Search(p, search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "an incident", func() bool { return g.incidents.count() > 0 })
		if !hit { // the next search tells it
			run.Stop()
			run.Wait()
			if run, err = g.Search(p, search.Limits{Depth: 1}, nil); err != nil {
				t.Fatal(err)
			}
		}
		run.PonderHit(search.Limits{Depth: 1})
		r := run.Wait()
		if r.Err != nil || r.Move == game.NoMove {
			t.Errorf("hit %v: %v, move %#x", hit, r.Err, uint32(r.Move))
		}
		if len(r.Incidents) != 1 || !strings.Contains(r.Incidents[0], "started again (crash): the program ended: exit status 1") {
			t.Errorf("hit %v: told %q", hit, r.Incidents)
		}
	}
}

func openFaultyGomocup(t *testing.T, mode string) *Engine {
	t.Helper()
	s := faultySpec(t, mode)
	s.Dialect = Gomocup
	e := open(t, s, "gomoku")
	e.times = patient
	return e
}

// TestBoardAfterTakeback: a program gets another position on an empty board, as the
// protocol wants it, and is not started again for that.
func TestBoardAfterTakeback(t *testing.T) {
	g := play(t, openFaultyGomocup(t, faultyengine.OpenBoard))
	p := newGame(t, "gomoku/freestyle-15")
	move := func() {
		t.Helper()
		r := find(t, g, p, search.Limits{Hard: time.Second})
		if r.Err != nil || len(r.Incidents) > 0 {
			t.Fatalf("%v, %q", r.Err, r.Incidents)
		}
		playOn(t, p, r.Move)
	}
	move()
	process := g.current()
	for _, back := range []int{0, 2, 4, 3, 5} { // five: to the start of the game
		playOn(t, p, game.NoMove)
		move()
		for range back {
			p.Undo()
		}
		if back > 0 {
			move()
		}
	}
	if g.current() != process {
		t.Error("it was started again")
	}
}

// TestErrorLines: a line that begins with ERROR is not an answer to the request for
// a move. It is reported once, and the move awaited. Unchanged INFO is not sent
// again in the same game.
func TestErrorLines(t *testing.T) {
	e := openFaultyGomocup(t, faultyengine.ErrorLines)
	g := play(t, e)
	if err := g.Ready(); err != nil {
		t.Fatal(err)
	}
	var lines []string
	g.current().program.setTap(func(l Line) {
		if l.Direction == Received {
			lines = append(lines, l.Text)
		}
	})
	p := newGame(t, "gomoku/freestyle-15")
	var told []string
	for round := range 4 {
		left := clock.State{Left: time.Duration(60-round) * time.Second}
		c := &search.Clock{Spec: clock.Spec{Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second}, Mine: left, Theirs: left}
		r := find(t, g, p, search.Limits{Clock: c})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		told = append(told, r.Incidents...)
		playOn(t, p, r.Move, p.Legal(nil)[30+round])
	}
	// The moves are taken back: BEGIN needs an empty board again.
	if r := find(t, g, newGame(t, "gomoku/freestyle-15"), search.Limits{Hard: time.Minute}); r.Err != nil {
		t.Error(r.Err)
	}
	e.Close() // ends the tap
	for _, key := range []string{"TIMEOUT_MATCH", "TIME_INCREMENT", "TIME_LEFT", "RULE"} {
		line := "ERROR Unknown command: " + key
		same := func(s string) bool { return strings.Contains(s, line) }
		if n := len(told) - len(slices.DeleteFunc(slices.Clone(told), same)); n != 1 {
			t.Errorf("%s: told %d times: %q", key, n, told)
		}
		want := 1
		switch key {
		case "TIME_LEFT":
			want = 4 + 1
		case "TIMEOUT_MATCH", "RULE":
			want = 1 + 1 // and in the new game
		}
		if n := len(lines) - len(slices.DeleteFunc(slices.Clone(lines), same)); n != want {
			t.Errorf("%s: sent %d times, want %d", key, n, want)
		}
	}
}

// TestPauseAfterMove: nothing is sent to a program while it loses input after its
// move.
func TestPauseAfterMove(t *testing.T) {
	e := openFaultyGomocup(t, faultyengine.LosesWord)
	for range 2 { // the second game begins right after a move, too
		g, p := play(t, e), newGame(t, "gomoku/freestyle-15")
		for round := range 4 {
			r := find(t, g, p, search.Limits{Hard: time.Minute})
			if r.Err != nil || len(r.Incidents) > 0 {
				t.Fatal(r.Err, fmt.Sprintf("%q", r.Incidents))
			}
			playOn(t, p, r.Move, p.Legal(nil)[30+round])
		}
		g.Close()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.idle) != 1 || len(e.busy) > 0 {
		t.Errorf("%d processes wait, %d play", len(e.idle), len(e.busy))
	}
}

// TestNextGame: a process is ready for a game before the first search of it, and the clock of
// that search, and once if the game before ends without one. RESTART is not sent again to a
// program that has not answered it.
func TestNextGame(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		mode    string
		rules   string
		want    []string // what is sent before the first search of a game; of a first game the end
	}{
		{UCI, faultyengine.Fine, "xiangqi/wxf", []string{"isready, ucinewgame, isready", "ucinewgame, isready", "ucinewgame, isready", "ucinewgame, isready", ""}},
		{UCCI, faultyengine.DepthInfinite, "xiangqi/wxf", []string{"isready, setoption newgame, isready", "setoption newgame, isready", "setoption newgame, isready", "setoption newgame, isready", ""}},
		{XBoard, "ping=1", "xiangqi/wxf", []string{"ping 1, new, variant xiangqi, easy, force, ping 2", "new, variant xiangqi, easy, force, ping 3", "new, variant xiangqi, easy, force, ping 4", "new, variant xiangqi, easy, force, ping 5", ""}},
		{XBoard, "ping=0", "xiangqi/wxf", []string{"new, variant xiangqi, easy, force", "new, variant xiangqi, easy, force", "new, variant xiangqi, easy, force", "new, variant xiangqi, easy, force", ""}},
		{Gomocup, faultyengine.OpenBoard, "gomoku/freestyle-15", []string{"INFO game_type 1", "RESTART", "RESTART", "RESTART", ""}},
		{Gomocup, faultyengine.NoRestart, "gomoku/freestyle-15", []string{"INFO game_type 1", "RESTART, START 15", "START 15", "START 15", ""}},
	} {
		dir := t.TempDir()
		s := faultySpec(t, test.mode)
		s.Dialect, s.Log = test.dialect, dir
		if test.dialect == XBoard {
			s.Args = []string{"xboard", "reuse=1", test.mode}
		}
		name, _, _ := strings.Cut(test.rules, "/")
		e := open(t, s, name)
		e.times = patient
		for n, want := range test.want {
			g, err := e.NewGame(engine.GameOptions{ID: fmt.Sprint(n)})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Ready(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d-%s%s", n, filepath.Base(s.Path), logExt)))
			if err != nil && want != "" {
				t.Fatal(err)
			}
			var sent []string
			for line := range strings.Lines(string(data)) {
				if _, text, ok := strings.Cut(strings.TrimSpace(line), " > "); ok {
					sent = append(sent, text)
				}
			}
			if got := strings.Join(sent, ", "); got != want && (n > 0 || !strings.HasSuffix(got, ", "+want)) {
				t.Errorf("%s, game %d: %q before the first search, want %q", test.mode, n, got, want)
			}
			if n == 3 { // a game without a search
				g.Close()
				continue
			}
			limits := search.Limits{Hard: time.Minute}
			if test.dialect != Gomocup {
				limits.Depth = 1
			}
			if r := find(t, g.(*externalGame), newGame(t, test.rules), limits); r.Err != nil {
				t.Fatal(r.Err)
			}
			g.Close()
		}
	}
}
