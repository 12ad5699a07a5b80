package searchtest_test

import (
	"fmt"
	"runtime"
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
	}
	return n
}

func (b *broken) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	first := *c == search.Cursor{}
	buf = b.Position.Moves(buf, c)
	if first && b.fault == "moves" && len(buf) > 1 {
		buf = buf[1:]
	}
	if first && b.fault == "twice" && len(buf) > 0 {
		buf = append(buf, buf[0])
	}
	return buf
}

func (b *broken) Find(m game.Move) (search.ScoredMove, bool) {
	if b.fault == "find" {
		m &= 1<<21 - 1 // all that the hash table keeps
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

// The suite must find each kind of fault, and none in a sound adapter.
func TestConformSeesFaults(t *testing.T) {
	start, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	for fault, want := range map[string]string{
		"":      "",
		"key":   "Key",
		"over":  "over",
		"moves": "lacks",
		"twice": "twice",
		"find":  "Find(",
		"undo":  "Eval",
		"clone": "clone",
	} {
		var r recorder
		r.run(searchtest.Subject{
			New: func(p game.Position) (search.Position, error) {
				inner, err := amazons.New(p)
				return &broken{Position: inner, fault: fault}, err
			},
			Params: amazons.Params(), Starts: []game.Position{start}, Walks: 1, Plies: 10,
		})
		got := strings.Join(r.log, "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("fault %q: the suite reports %.300q, want something of %q", fault, got, want)
		}
	}
}
