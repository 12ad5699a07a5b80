package external

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
)

// fischer returns the limits of a move with that much left.
func fischer(t *testing.T, text string, left time.Duration) search.Limits {
	t.Helper()
	spec, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return search.Limits{Clock: &search.Clock{Spec: spec, Mine: clock.State{Left: left}, Theirs: clock.State{Left: left}, Overhead: time.Millisecond}}
}

// TestSlowStop: the time that a program takes to stop its pondering is kept off the clock
// that it is told. Where the clock can't pay for it any more, the program ponders no more
// in that game, which is said once.
func TestSlowStop(t *testing.T) {
	e := openFaulty(t, faultyengine.SlowStop)
	const long, short = time.Hour, 2 * time.Second
	var mu sync.Mutex
	var told []string // the searches that were asked for
	begin := func() (*externalGame, game.Position) {
		g, p := play(t, e), newGame(t, "xiangqi/wxf")
		if err := g.Ready(); err != nil {
			t.Fatal(err)
		}
		g.current().program.setTap(func(l Line) {
			if l.Direction == Sent && strings.HasPrefix(l.Text, "go ") {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, l.Text)
			}
		})
		playOn(t, p, find(t, g, p, fischer(t, "3600+0.1", long)).Move, game.NoMove)
		return g, p
	}
	// ponder ponders, and then searches with that much left. It returns what the program
	// was told then, and the incidents.
	ponder := func(g *externalGame, p game.Position, hit bool, left time.Duration) (lines, incidents []string) {
		t.Helper()
		mu.Lock()
		told = nil
		mu.Unlock()
		run, err := g.Search(p, search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "it ponders or rests", func() bool { return isClosed(run.(*running).begun) })
		limits := fischer(t, "3600+0.1", left)
		if hit {
			run.PonderHit(limits)
		} else {
			run.Stop()
			if r := run.Wait(); r.Err != nil {
				t.Fatal(r.Err)
			}
			if run, err = g.Search(p, limits, nil); err != nil {
				t.Fatal(err)
			}
		}
		r := run.Wait()
		if r.Err != nil || r.Move == game.NoMove {
			t.Fatalf("%v, move %#x", r.Err, uint32(r.Move))
		}
		playOn(t, p, r.Move)
		playOn(t, p, p.Legal(nil)[2*p.Ply()]) // no repetition
		mu.Lock()
		defer mu.Unlock()
		return told, r.Incidents
	}
	g, p := begin()
	for i, hit := range []bool{true, false, true, false, true} {
		left, rests := long, i >= 3
		if i >= 2 { // it is known after the move that there is little left
			left = short
		}
		lines, incidents := ponder(g, p, hit, left)
		if pondered := lines[0] == "go infinite"; pondered == rests {
			t.Fatalf("move %d: sent %q", i, lines)
		}
		var ms int
		if _, err := fmt.Sscanf(lines[len(lines)-1], "go wtime %d", &ms); err != nil {
			t.Fatalf("move %d: sent %q", i, lines)
		}
		kept := faultyengine.StopDelay
		if !rests { // which took that long from the same clock
			kept *= 2
		}
		if hit && time.Duration(ms)*time.Millisecond > max(left-kept, time.Millisecond) {
			t.Errorf("move %d: told %q with %v left", i, lines, left)
		}
		if said := strings.Join(incidents, "; "); strings.Contains(said, "with ") && !WorkedAround(said) || strings.Contains(said, noMorePondering) != (i == 3) {
			t.Errorf("move %d: said %q", i, said)
		}
	}
	g.Close()
	g, p = begin()
	if lines, _ := ponder(g, p, true, long); lines[0] != "go infinite" {
		t.Errorf("in the next game: sent %q", lines)
	}
}

// TestAffordable: a stop is paid for by what each move brings, or by what is left.
func TestAffordable(t *testing.T) {
	for _, test := range []struct {
		clock      string
		stop, left time.Duration
		want       bool
	}{
		{"60+1", 200 * time.Millisecond, 10 * time.Millisecond, true},
		{"20+0.1", 200 * time.Millisecond, 10 * time.Second, true},
		{"20+0.1", 200 * time.Millisecond, 3 * time.Second, false},
		{"20+0.1", 50 * time.Millisecond, 100 * time.Millisecond, true},
		{"300", 4 * time.Millisecond, time.Second, true},
		{"300", 100 * time.Millisecond, time.Second, false},
		{"300", 0, time.Millisecond, true},
		{"60/5x10", 2 * time.Second, 0, true},
		{"60/5x1", 2 * time.Second, 0, false},
		{"5/move", 2 * time.Second, 0, true},
		{"1/move", 2 * time.Second, time.Hour, false},
		{"unlimited", time.Hour, 0, true},
	} {
		if got := affordable(test.stop, fischer(t, test.clock, 0).Clock, test.left); got != test.want {
			t.Errorf("%s, %v left, stops in %v: %v", test.clock, test.left, test.stop, got)
		}
	}
}

// TestStopInTime: a program that does not keep its clock is told to stop before the flag
// falls, as long before as a move and a stop take. It always has some time for a move.
func TestStopInTime(t *testing.T) {
	const overhead, stop = 30 * time.Millisecond, 200 * time.Millisecond
	for _, test := range []struct {
		clock           string
		left, due, told time.Duration
	}{
		{"60+1", time.Minute, time.Minute - overhead - stop, time.Minute - overhead - 2*time.Second - 4*overhead},
		{"1+1", time.Second, time.Second - overhead - stop, time.Second - overhead - time.Second/8 - 4*overhead},
		{"0+1", time.Second, time.Second - overhead - stop, time.Second - overhead - stop},
		{"60+1", 350 * time.Millisecond, 120 * time.Millisecond, 40 * time.Millisecond},
		{"60+1", 110 * time.Millisecond, slack, 10 * time.Millisecond},
		{"60+1", 70 * time.Millisecond, 70 * time.Millisecond, 5 * time.Millisecond},
		{"60+1", 10 * time.Millisecond, 10 * time.Millisecond, time.Millisecond},
		{"10/move", 0, 10*time.Second - overhead, 10*time.Second - overhead},
		{"0/1x10", 0, 10*time.Second - overhead, 10 * time.Second}, // the manager's limit
		{"60/1x10", time.Minute, 10*time.Second + slack, 10 * time.Second},
	} {
		now := time.Now()
		l := fischer(t, test.clock, test.left)
		l.Clock.At, l.Clock.Overhead, l.Clock.Mine.Periods = now, overhead, l.Clock.Spec.Periods
		l.From, l.Hard = now, 10*time.Second
		e := &Engine{times: defaultTimes}
		e.stops.add(stop)
		for range keptStops - 1 {
			e.stops.add(time.Millisecond)
		}
		r := &running{engine: e, limits: l}
		a := r.searchLimits(now)
		if told := max(a.mine, a.move); r.due.Sub(now) != test.due || told != test.told {
			t.Errorf("%s, %v left: due after %v, told %v; want %v, %v", test.clock, test.left, r.due.Sub(now), told, test.due, test.told)
		}
		e.stops.add(time.Millisecond)
		if got := e.stops.longest(); got != time.Millisecond {
			t.Errorf("%d stops later a stop of %v still counts", keptStops, got)
		}
	}
}
