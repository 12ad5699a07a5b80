package screen

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/vt"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/otb"
	"sparring/pipe/playerspec"
	"sparring/record"
)

// open opens a table for a game under rules, with our seat and a weak engine.
func open(t *testing.T, rules string, us game.Seat) *otb.Table {
	t.Helper()
	table, err := otb.Open(otb.Options{
		Journal: filepath.Join(t.TempDir(), "game.jsonl"),
		Terms: otb.Terms{V: otb.FileVersion, ID: "table-1", Rules: rules, Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: 30 * time.Minute}, Us: us,
			Names: [2]string{"北理工", "beta"}, Engine: "self:depth=1", HashMB: 1, Threads: 1, HandMS: 3000, Event: "2026 CCGC", Place: "沈阳"},
		Open: func(spec, gameName string) (engine.Searcher, error) {
			return playerspec.Open(spec, gameName, playerspec.Options{HashBytes: 1 << 20})
		},
		Keep: func(*record.Record) ([]string, error) { return []string{"the record"}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		table.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// window is a terminal that exists in memory, with a screen on it.
type window struct {
	t      *testing.T
	mock   vt.MockTerm
	screen tcell.Screen
	m      model
	size   vt.Coord
}

func newWindow(t *testing.T, table *otb.Table, columns, rows int) *window {
	t.Helper()
	w := &window{t: t, m: model{table: table}, size: vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}}
	w.mock = vt.NewMockTerm(vt.MockOptSize(w.size))
	var err error
	if w.screen, err = tcell.NewTerminfoScreenFromTty(w.mock, tcell.OptColors(0)); err != nil {
		t.Fatal(err)
	}
	if err := w.screen.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.screen.Fini)
	return w
}

// String draws the table and returns what the terminal shows.
func (w *window) String() string {
	w.m.view = w.m.table.View()
	p := painter{Screen: w.screen}
	p.draw(&w.m)
	w.screen.Show()
	w.mock.Drain()
	var b strings.Builder
	for y := range w.size.Y {
		for x := vt.Col(0); x < w.size.X; x++ {
			cell := w.mock.GetCell(vt.Coord{X: x, Y: y})
			if cell.C == "" {
				cell.C = " "
			}
			b.WriteString(cell.C)
			if cell.W == 2 {
				x++
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sees waits until the terminal shows the texts.
func (w *window) sees(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		for deadline := time.Now().Add(time.Minute); !strings.Contains(w.String(), text); {
			if time.Now().After(deadline) {
				w.t.Fatalf("the screen never shows %q:\n%s", text, w)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// types sends keys to the model; \n is Enter.
func (w *window) types(text string) (left bool) {
	for _, r := range text {
		key, str := tcell.KeyRune, string(r)
		if r == '\n' {
			key, str = tcell.KeyEnter, ""
		}
		left = w.m.handle(tcell.NewEventKey(key, str, tcell.ModNone)) || left
	}
	return left
}

// clicks clicks on points.
func (w *window) clicks(points ...string) {
	w.t.Helper()
	for _, name := range points {
		_ = w.String() // lays the board
		if !w.m.hasBoard {
			w.t.Fatal("no board")
		}
		x, y := -1, -1
		for cx := range int(w.size.X) {
			for cy := range int(w.size.Y) {
				if got, ok := w.m.board.point(cx, cy); ok && got == name && (x < 0 || cx == x+1 && cy == y) {
					x, y = cx, cy
				}
			}
		}
		if x < 0 {
			w.t.Fatalf("no place for %s", name)
		}
		w.m.handle(tcell.NewEventMouse(x, y, tcell.Button1, tcell.ModNone))
		w.m.handle(tcell.NewEventMouse(x, y, tcell.ButtonNone, tcell.ModNone))
	}
}

// TestGameOnScreen plays moves by keys and by the mouse, with typing errors.
func TestGameOnScreen(t *testing.T) {
	w := newWindow(t, open(t, "xiangqi/wxf", game.Second), 80, 24)
	w.sees("xiangqi/wxf  2026 CCGC 沈阳", "We play Black. The opponent begins.", "北理工 (Red)", "beta (Black, we)", "俥", "將")
	w.clicks("h2")
	w.sees("No move can be made now.")
	w.types("\n")
	w.sees("Enter the opponent's move.", "> 30:00   this move")
	w.types("炮二平")
	w.sees("炮二平六 h2d2, 炮二平五 h2e2")
	w.types("\n")
	w.sees(`! "炮二平" may be `, "> 炮二平")
	w.types("五")
	w.sees("= 炮二平五   h2e2   C2=5")
	w.types("\n")
	w.sees("[炮]", "Make this move on the board", "WE ", "Opponent: 炮二平五")
	w.types("\n") // with a shaking hand, at once
	if v := w.m.table.View(); v.Phase != otb.Announced {
		if v.Now.Sub(v.Game.Plies[1].At) > hasty {
			t.Log("this machine was too slow for a hasty Enter")
		} else {
			t.Error("a hasty Enter counts")
		}
	} else {
		w.sees("This has just appeared.")
		time.Sleep(hasty)
		w.types("\n")
	}
	w.sees("Enter the opponent's move.", "Made: ")
	w.clicks("b0")
	w.sees("{傌}")
	w.clicks("c2")
	w.sees("> b0c2", "= 马八进七", "a click on the same point")
	w.clicks("c2")
	w.sees("Opponent: 马八进七   b0c2")
	w.m.key(tcell.NewEventKey(tcell.KeyF3, "", tcell.ModNone))
	w.sees("Taken back: b0c2")
	w.types("b0a2\n")
	w.sees("Opponent: 马八进九   b0a2")
	w.m.key(tcell.NewEventKey(tcell.KeyF2, "", tcell.ModNone))
	w.sees("depth 1, we win ")
	w.m.key(tcell.NewEventKey(tcell.KeyF1, "", tcell.ModNone))
	w.sees("page 1 of ", "hand MOVE", "Mouse: ")
	for n := 0; n < 10 && !strings.Contains(w.String(), "quit "); n++ {
		w.types(" ")
	}
	w.sees("leave; the game can be resumed", "anything else")
	w.types("x")
	w.types("resign us\n")
	w.sees("The game has ended: Red won: Black", "Written: the record")
	if !w.types("quit\n") {
		t.Error("quit does not leave")
	}
}

// TestOpeningOnScreen: the procedure is in the prompt, stones and choices are entered.
func TestOpeningOnScreen(t *testing.T) {
	w := newWindow(t, open(t, "gomoku/renju-15+ccgc-2", game.Second), 80, 24)
	w.types("\n")
	w.sees("Your opponent puts the first three")
	w.clicks("a1")
	w.sees("In this opening the stone must be closer to the centre.")
	w.clicks("h8", "h8", "h9", "h9")
	w.types("h10\n")
	w.sees("Opponent: h10", "[X]")
	w.sees("WE ") // or the large letters of "keeps the colour"
}

// TestBigMove: a move in coordinates is drawn large.
func TestBigMove(t *testing.T) {
	rows, ok := big("d1", 20)
	want := [3]string{"█▀▄ ▄█ ", "█ █  █ ", "▀▀  ▀▀▀"}
	if !ok || rows != want {
		t.Errorf("%v %q", ok, rows)
	}
	if _, ok := big("d1d7/b7", 20); ok {
		t.Error("too wide, and drawn")
	}
	if _, ok := big("炮", 20); ok {
		t.Error("a character that the font lacks")
	}
	for r, dots := range font {
		for _, row := range dots {
			if len(row) != 3 {
				t.Errorf("%c: row %q", r, row)
			}
		}
	}
}

// TestSizes: every game has a board from 80x24 on, on which each point can be clicked;
// smaller windows still show the clocks and what to do.
func TestSizes(t *testing.T) {
	for _, rules := range []string{"xiangqi/wxf", "gomoku/renju-15", "gomoku/freestyle-20", "amazons/10x10"} {
		r, err := catalog.Rules(rules)
		if err != nil {
			t.Fatal(err)
		}
		pos, err := r.New("")
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range [][2]int{{80, 24}, {100, 30}, {200, 60}} {
			for _, turned := range []bool{false, true} {
				b, ok := lay(pos, size[0]-panelColumns, size[1]-3, 1, turned)
				if rules == "gomoku/freestyle-20" && size[1] == 24 {
					if ok {
						t.Error("20 rows fit into 21 with their labels")
					}
					continue
				}
				if !ok || b.end > size[1]-2 || b.width > size[0]-panelColumns {
					t.Errorf("%s in %v: %v, %+v", rules, size, ok, b)
					continue
				}
				seen := map[string]bool{}
				for x := range size[0] {
					for y := range size[1] {
						if point, ok := b.point(x, y); ok {
							seen[point] = true
						}
					}
				}
				if len(seen) != b.grid.Columns*b.grid.Rows {
					t.Errorf("%s in %v: %d points can be clicked", rules, size, len(seen))
				}
			}
		}
	}
	for _, size := range [][2]int{{60, 20}, {40, 10}, {20, 5}, {3, 2}, {1, 1}} {
		w := newWindow(t, open(t, "amazons/10x10", game.First), size[0], size[1])
		text := w.String()
		if size[1] >= 10 && !strings.Contains(text, "30:00") {
			t.Errorf("%v: no clock:\n%s", size, text)
		}
	}
}

// TestWrap: lines fit, also where characters are wide or words long.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"a bc def", 4, "a bc|def"},
		{"天津理工大学", 5, "天津|理工|大学"},
		{"abcdefgh i", 3, "abc|def|gh|i"},
		{"", 5, ""},
	} {
		if got := strings.Join(wrap(c.text, c.columns), "|"); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}
