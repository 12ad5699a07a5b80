package searchtest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sparring/engine/amazons"
	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/catalog"
)

// recorder records the reports of the suite.
type recorder struct{ log []string }

func (*recorder) Helper()                        {}
func (r *recorder) Failed() bool                 { return len(r.log) > 0 }
func (r *recorder) Errorf(f string, args ...any) { r.log = append(r.log, fmt.Sprintf(f, args...)) }
func (r *recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...); runtime.Goexit() }
func (r *recorder) run(s searchtest.Subject) {
	done := make(chan struct{})
	go r.suite(s, done)
	<-done
}
func (r *recorder) suite(s searchtest.Subject, done chan struct{}) {
	defer close(done)
	searchtest.Conform(r, s)
}

// broken is an adapter with one fault.
type broken struct {
	search.Position
	fault string
	drift search.Score
}

func (b *broken) Enter() search.Node {
	n := b.Position.Enter()
	switch b.fault {
	case "key":
		n.Key++
	case "over":
		n.Over = true
	case "restricted", "restricted to nothing":
		n.Restricted = true
	}
	return n
}

// missing chooses the moves that a restricted adapter leaves out, about a quarter.
func missing(m game.Move) bool { return game.Zobrist(1, uint64(m))%4 == 0 }

// missing reports whether the adapter leaves a move out of its list.
func (b *broken) missing(m game.Move) bool {
	switch b.fault {
	case "restricted":
		return missing(m)
	case "restricted to nothing":
		return true
	}
	return false
}

func (b *broken) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	if b.fault == "restricted" && c.Mode == search.AndLosing {
		return b.andLosing(buf[:0], c)
	}
	first := *c == search.Cursor{}
	for ended := false; !ended; {
		buf = b.Position.Moves(buf, c)
		ended = len(buf) == 0
		buf = slices.DeleteFunc(buf, func(e search.ScoredMove) bool { return b.missing(e.Move) })
		if len(buf) > 0 {
			break // an empty batch would be the end
		}
	}
	if first && b.fault == "moves" && len(buf) > 1 {
		buf = buf[1:]
	}
	if first && b.fault == "twice" && len(buf) > 0 {
		buf = append(buf, buf[0])
	}
	return buf
}

// andLosing gives all moves in one batch, the missing ones last.
func (b *broken) andLosing(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	const given = 255
	if c.Stage == given {
		return buf
	}
	c.Stage = given
	var losing []search.ScoredMove
	inner := search.Cursor{Mode: search.All}
	for batch := b.Position.Moves(nil, &inner); len(batch) > 0; batch = b.Position.Moves(batch, &inner) {
		for _, e := range batch {
			if missing(e.Move) {
				losing = append(losing, e)
			} else {
				buf = append(buf, e)
			}
		}
	}
	return append(buf, losing...)
}

func (b *broken) Find(m game.Move) (search.ScoredMove, bool) {
	if b.fault == "find" {
		m &= 1<<21 - 1 // all that the hash table keeps
	}
	if b.missing(m) {
		return search.ScoredMove{}, false
	}
	return b.Position.Find(m)
}

func (b *broken) Undo(m game.Move) {
	b.Position.Undo(m)
	if b.fault == "undo" {
		b.drift++
	}
}

func (b *broken) Eval() search.Score { return b.Position.Eval() + b.drift }

func (b *broken) Clone() search.Position {
	if b.fault == "clone" {
		return b
	}
	c := *b
	c.Position = b.Position.Clone()
	return &c
}

// suiteOf runs the suite on an adapter with one fault.
func suiteOf(t *testing.T, fault string, loses func(game.Position, game.Move) bool) string {
	t.Helper()
	start, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	var r recorder
	r.run(searchtest.Subject{
		New: func(p game.Position) (search.Position, error) {
			inner, err := amazons.New(p)
			return &broken{Position: inner, fault: fault}, err
		},
		Params: amazons.Params(), Starts: []game.Position{start}, Loses: loses, Walks: 1, Plies: 10,
	})
	return strings.Join(r.log, "\n")
}

// The suite must find each kind of fault, and none in a sound adapter.
func TestConformSeesFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"":      "",
		"key":   "Key",
		"over":  "over",
		"moves": "lacks",
		"twice": "twice",
		"find":  "Find(",
		"undo":  "Eval",
		"clone": "clone",

		"restricted to nothing": "empty",
	} {
		if got := suiteOf(t, fault, nil); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("fault %q: the suite reports %.300q, want something of %q", fault, got, want)
		}
	}
}

// Moves may be missing at Restricted nodes, but only those that Subject.Loses says
// to lose.
func TestConformJudgesMissingMoves(t *testing.T) {
	if got := suiteOf(t, "restricted", nil); got != "" {
		t.Errorf("nobody judges the missing moves, but the suite reports %.300q", got)
	}
	judged := 0
	loses := func(p game.Position, m game.Move) bool {
		if !missing(m) || p.Play(m) != nil {
			t.Errorf("asked about move %#x, which is not missing or not legal", m)
		}
		judged++
		return true
	}
	if got := suiteOf(t, "restricted", loses); got != "" || judged == 0 {
		t.Errorf("%d missing moves were judged to lose, the suite reports %.300q", judged, got)
	}
	if got := suiteOf(t, "restricted", func(game.Position, game.Move) bool { return false }); !strings.Contains(got, "does not lose") {
		t.Errorf("the missing moves do not lose, but the suite reports %.300q", got)
	}
}
