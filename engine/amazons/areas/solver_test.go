package areas

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/game"
	rules "sparring/game/amazons"
)

// boardOf returns the board of a position.
func boardOf(t testing.TB, text string) *rules.Board {
	t.Helper()
	g := rules.Game()
	name, err := g.RulesFor(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(text)
	if err != nil {
		t.Fatal(err)
	}
	b := p.(*rules.Position).Board()
	return &b
}

// solverOf returns a solver for a board.
func solverOf(b *rules.Board) *Solver {
	cols, rows := b.Size()
	return NewSolver(cols, rows, nil)
}

func never() bool { return false }

// enough is a budget that no test exhausts.
const enough = 1 << 30

// randomBoard returns a position with the given number of amazons of each side and
// of free squares; the rest are arrows.
func randomBoard(t testing.TB, rng *rand.Rand, cols, rows int, amazons [2]int, free int) (b *rules.Board, text string) {
	squares := make([]byte, cols*rows)
	for i := range squares {
		switch {
		case i < amazons[0]:
			squares[i] = 'Q'
		case i < amazons[0]+amazons[1]:
			squares[i] = 'q'
		case i < amazons[0]+amazons[1]+free:
			squares[i] = '1'
		default:
			squares[i] = '*'
		}
	}
	rng.Shuffle(len(squares), func(i, j int) { squares[i], squares[j] = squares[j], squares[i] })
	var lines []string
	for row := range rows {
		var line strings.Builder
		empty := 0
		for _, c := range squares[row*cols : (row+1)*cols] {
			if c == '1' {
				empty++
				continue
			}
			if empty > 0 {
				fmt.Fprint(&line, empty)
				empty = 0
			}
			line.WriteByte(c)
		}
		if empty > 0 {
			fmt.Fprint(&line, empty)
		}
		lines = append(lines, line.String())
	}
	turn := [2]string{" w", " b"}[rng.IntN(2)]
	text = strings.Join(lines, "/") + turn
	return boardOf(t, text), text
}

// state is a position with moves to spare: of Left, or of Right if negative.
type state struct {
	key   uint64
	spare int
}

// wins reports whether the side to move wins, by plain search.
func wins(b *rules.Board, spare int, seen map[state]bool) bool {
	at := state{b.Key(), spare}
	if won, ok := seen[at]; ok {
		return won
	}
	won := false
	for _, m := range b.Moves(nil) {
		b.Do(m)
		won = !wins(b, spare, seen)
		b.Undo(m)
		if won {
			break
		}
	}
	if left := b.Turn() == game.First; !won && (spare > 0 && left || spare < 0 && !left) {
		less := spare - 1
		if spare < 0 {
			less = spare + 1
		}
		b.Pass()
		won = !wins(b, less, seen)
		b.Pass()
	}
	seen[at] = won
	return won
}

// TestValues compares values with plain search: who wins an area together with moves
// to spare, whoever moves first.
func TestValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := map[string]int{}
	for range 600 {
		b, text := randomBoard(t, rng, 3+rng.IntN(3), 3, [2]int{1 + rng.IntN(2), 1 + rng.IntN(2)}, 2+rng.IntN(4))
		s := solverOf(b)
		s.prepare(enough, never)
		sum, mixed := Value{}, 0
		for _, a := range s.Divide(b) {
			v := s.value(&a)
			sum = sum.Add(v)
			if _, ok := a.Owner(); ok {
				if !v.IsNumber() || v.Low%Move != 0 {
					t.Fatalf("area %+v of one side: %+v", a, v)
				}
				continue
			}
			mixed++
			switch {
			case v.Hot():
				kinds["hot"]++
			case !v.IsNumber():
				kinds["loose"]++
			case v.Low%Move != 0:
				kinds["fraction"]++
			default:
				kinds["integer"]++
			}
		}
		if sum.Low > sum.High || sum.LeftFirst < sum.Low || sum.RightFirst > sum.High {
			t.Fatalf("impossible value %+v", sum)
		}
		tight := sum.LeftFirst == sum.High && sum.RightFirst == sum.Low
		seen := map[state]bool{}
		for spare := -5; spare <= 5; spare++ {
			for range 2 {
				got, ok := sum.Add(number(Number(spare) * Move)).Winner(b.Turn())
				want := b.Turn()
				if !wins(b, spare, seen) {
					want = want.Other()
				}
				if ok && got != want {
					t.Fatalf("%s with %d moves to spare and %v to move: %v wins by %+v, want %v", text, spare, b.Turn(), got, sum, want)
				}
				if !ok && tight {
					t.Fatalf("%s with %d moves to spare: tight value %+v decides nothing", text, spare, sum)
				}
				b.Pass()
			}
		}
	}
	t.Logf("areas of both sides: %v", kinds)
	for _, kind := range []string{"hot", "fraction", "integer"} {
		if kinds[kind] < 20 {
			t.Errorf("%d %s areas: too few to show anything", kinds[kind], kind)
		}
	}
}

// TestSolve: sums of areas are decided as plain search does, and the move wins.
func TestSolve(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	won, lost, divided := 0, 0, 0
	for range 800 {
		b, text := randomBoard(t, rng, 6, 4, [2]int{1 + rng.IntN(3), 1 + rng.IntN(3)}, 4+rng.IntN(4))
		if !b.CanMove() {
			continue
		}
		s := solverOf(b)
		list := s.Divide(b)
		o, _, ok := s.Solve(list, b.Turn(), enough, never)
		if !ok {
			t.Fatalf("%s is not solved", text)
		}
		if len(list) > 1 {
			divided++
		}
		if (o.Winner == b.Turn()) != wins(b, 0, map[state]bool{}) {
			t.Fatalf("%s: %+v is wrong", text, o)
		}
		if o.Winner != b.Turn() {
			lost++
			continue
		}
		won++
		if !b.Legal(o.Move) {
			t.Fatalf("%s: %+v: no move", text, o)
		}
		b.Do(o.Move)
		if wins(b, 0, map[state]bool{}) {
			t.Fatalf("%s: the move of %+v does not win", text, o)
		}
	}
	t.Logf("%d won, %d lost, %d of several areas", won, lost, divided)
	if won < 200 || lost < 200 || divided < 200 {
		t.Errorf("%d won, %d lost, %d of several areas: too few to show anything", won, lost, divided)
	}
}

// TestSolveBudget: with few nodes less is decided, and nothing wrong.
func TestSolveBudget(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	decided := 0
	for range 1000 {
		b, text := randomBoard(t, rng, 6, 4, [2]int{2, 2}, 7)
		s := solverOf(b)
		budget := rng.IntN(100)
		before := *b
		o, nodes, ok := s.Solve(s.Divide(b), b.Turn(), budget, never)
		if nodes > budget {
			t.Fatalf("%s: %d nodes of %d", text, nodes, budget)
		}
		if *b != before {
			t.Fatalf("%s: changed", text)
		}
		if !ok {
			continue
		}
		decided++
		if (o.Winner == b.Turn()) != wins(b, 0, map[state]bool{}) {
			t.Fatalf("%s: %+v is wrong", text, o)
		}
	}
	if decided < 100 || decided > 900 {
		t.Errorf("%d of 1000 decided", decided)
	}
}

// TestStop: a search that is told to stop does.
func TestStop(t *testing.T) {
	b := boardOf(t, "6/6/1q2q1/6/1Q2Q1/6 w")
	s := solverOf(b)
	_, nodes, ok := s.Solve(s.Divide(b), b.Turn(), enough, func() bool { return true })
	if ok || nodes > 512 {
		t.Errorf("%d nodes, %v", nodes, ok)
	}
}

// TestKnownAreas are areas whose values are worked out by hand.
func TestKnownAreas(t *testing.T) {
	whole := func(n Number) Value { return number(n * Move) }
	for _, c := range []struct {
		name, position string
		want           Value
	}{
		{"no free square", "Q**/**q w", whole(0)},
		{"a row is filled from its end", "3Q/****/q*** w", whole(3)},
		{"also from the middle", "1Q2/****/q*** w", whole(3)},
		{"of the second side", "3q/****/Q*** w", whole(-3)},
		// From the middle the amazon goes out and can only shoot back.
		{"defective: three dead ends", "1*1**/*Q***/*1**q w", whole(1)},
		// The first amazon can only shoot back, and so shuts the second one in.
		{"defective: two amazons", "1****/*QQ**/1***q w", whole(1)},
		{"nobody can move", "Q*q/*** w", whole(0)},
		// The side that moves first takes the square between them: star, which is
		// neither positive nor negative.
		{"one square between", "Q1q w", tight(-1, 1)},
		// Left's move leaves nothing, Right's leaves a move for Left.
		{"half a move", "**1*/**Q*/q1** w", number(Move / 2)},
		// Both amazons have a square behind them, and lose it to the other side's
		// reply when they move there.
		{"zugzwang", "1Q**/**q*/***1 w", whole(0)},
	} {
		b := boardOf(t, c.position)
		s := solverOf(b)
		s.prepare(enough, never)
		var got Value
		for _, a := range s.Divide(b) {
			got = got.Add(s.value(&a))
		}
		if got != c.want {
			t.Errorf("%s: %s is %+v, want %+v", c.name, c.position, got, c.want)
		}
	}
}

// TestZugzwang: where each side has a square of its own, whoever must move first loses
// it; a square elsewhere is then a move to spare, and wins.
func TestZugzwang(t *testing.T) {
	for _, c := range []struct {
		position string
		winner   game.Seat
	}{
		{"1Q**/**q*/***1 w", game.Second},
		{"1Q**/**q*/***1 b", game.First},
		{"1Q***Q1/**q****/***1*** w", game.First},
		{"1Q***Q1/**q****/***1*** b", game.First},
	} {
		b := boardOf(t, c.position)
		s := solverOf(b)
		o, _, ok := s.Solve(s.Divide(b), b.Turn(), enough, never)
		if !ok || o.Winner != c.winner || (o.Winner == b.Turn()) != wins(b, 0, map[state]bool{}) {
			t.Errorf("%s: %+v, %v, want a win of %v", c.position, o, ok, c.winner)
		}
	}
}
