package tablebase

import (
	"fmt"
	"strings"
	"testing"

	rules "sparring/game/xiangqi"
)

// TestTablesFollowTheRules compares tables with the rules' own board, position by
// position: which are legal, and that the value of each follows from those of the
// positions after it. Since the wins are finite, that proves a table correct.
func TestTablesFollowTheRules(t *testing.T) {
	const perSet = 3000 // positions of each set: enough to cover every kind
	names := []string{"Kk", "KAAk", "KPk", "KNkb", "KCBk", "KPPk", "KRkc", "KPkp", "KNNk", "KAkb", "KNkn"}
	if !testing.Short() {
		names = append(names, "KRkaa", "KCAka")
	}
	dir, sets := built(t, names...)
	tables := opened(t, dir)
	for _, s := range sets {
		l, err := newLayout(s)
		if err != nil {
			t.Fatal(err)
		}
		all := 2 * l.size
		step := max(all/perSet, 1)
		for all%step == 0 && step > 1 { // so that the steps cover both sides and all files
			step++
		}
		for i := 0; i < all; i += step {
			checkPosition(t, tables, l, rules.Colour(i/l.size), i%l.size)
			if t.Failed() {
				return
			}
		}
	}
}

// checkPosition checks one number of a layout, with one side to move.
func checkPosition(t *testing.T, tables *Tables, l *layout, side rules.Colour, n int) {
	t.Helper()
	var at squares
	l.squares(n, &at)
	table := (*tables.sets.Load())[l.set]
	stored, err := tables.value(table, int(side)*l.size+n)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := fen(l, &at, side)
	if !ok {
		if stored != illegal {
			t.Errorf("%s %d: two men share a square, worth %d", l.set, n, stored)
		}
		return
	}
	b, err := rules.ParseFEN(text)
	if err != nil {
		if stored != illegal {
			t.Errorf("%s %d: %s (%v) is worth %d", l.set, n, text, err, stored)
		}
		return
	}
	got, ok := tables.Probe(b)
	want := 0
	if moves := tables.Moves(b); len(moves) > 0 {
		if want = moves[0].Distance; !moves[0].Known {
			t.Fatalf("%s: %s leads to an unknown position", text, rules.FormatMove(moves[0].Move))
		}
	}
	if !ok || got != want {
		t.Errorf("%s %d: %s is %d, %v; its moves make it %d", l.set, n, text, got, ok, want)
	}
	// Mirroring and exchanging the colours change nothing.
	mirrored := at.reflected()
	other, _ := fen(l, &mirrored, side)
	if again, ok := tables.Probe(board(t, other)); !ok || again != got {
		t.Errorf("%s is %d, mirrored %s is %d, %v", text, got, other, again, ok)
	}
	other = exchanged(text)
	if again, ok := tables.Probe(board(t, other)); !ok || again != got {
		t.Errorf("%s is %d, colours exchanged %s is %d, %v", text, got, other, again, ok)
	}
}

// fen returns the text of a position; false if two men share a square.
func fen(l *layout, at *squares, side rules.Colour) (string, bool) {
	var on [rules.Squares]rules.Piece
	for i, p := range l.piece {
		if on[at[i]] != rules.NoPiece {
			return "", false
		}
		on[at[i]] = p
	}
	var rows []string
	for rank := rules.Ranks - 1; rank >= 0; rank-- {
		row := ""
		for file := range rules.Files {
			if p := on[rules.MakeSquare(file, rank)]; p != rules.NoPiece {
				row += p.String()
			} else {
				row += "1"
			}
		}
		rows = append(rows, row)
	}
	return fmt.Sprintf("%s %s", strings.Join(rows, "/"), [...]string{"w", "b"}[side]), true
}

// exchanged returns a FEN with Red and Black exchanged.
func exchanged(text string) string {
	men, side, _ := strings.Cut(text, " ")
	rows := strings.Split(men, "/")
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	turned := strings.Map(func(r rune) rune {
		if r >= 'A' {
			r ^= 0x20
		}
		return r
	}, strings.Join(rows, "/"))
	return turned + " " + map[string]string{"w": "b", "b": "w"}[side]
}

// TestNumbers: a number's position has that number, unless men share a square.
func TestNumbers(t *testing.T) {
	for _, name := range []string{"Kk", "KAAkbb", "KPPPk", "KRkaa", "KBkp"} {
		l, err := newLayout(set(t, name))
		if err != nil {
			t.Fatal(err)
		}
		step := max(l.size/20000, 1) | 1
		for n := 0; n < l.size; n += step {
			var at squares
			l.squares(n, &at)
			if _, ok := fen(l, &at, rules.Red); !ok {
				continue
			}
			mirrored := at.reflected()
			want := n
			if l.even(n) {
				want = l.direct(&mirrored)
			}
			if got, turned := l.number(&at), l.number(&mirrored); got != n || turned != want {
				t.Fatalf("%s: %d is %v, which has number %d, mirrored %d, want %d", name, n, at, got, turned, want)
			}
		}
	}
}
