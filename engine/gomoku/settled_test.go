package gomoku

import (
	"math/rand/v2"
	"testing"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// byRules searches every move by the rules of package game/gomoku alone, to confirm
// what the adapter says of a position.
type byRules struct {
	board gomoku.Board
	set   gomoku.Set
	best  gomoku.Point // the move that won last: it often wins again
}

func newByRules(g game.Position) *byRules {
	p := g.(*gomoku.Position)
	return &byRules{p.Board(), p.Set(), gomoku.NoPoint}
}

func (b *byRules) makesFive(p gomoku.Point, c gomoku.Colour) bool {
	t := gomoku.TableOf(b.set.Line(c))
	for d := range gomoku.Direction(gomoku.Directions) {
		if t.Kind(b.board.Window(p, d), c) == gomoku.FiveRow {
			return true
		}
	}
	return false
}

// fives lists the points where a stone of colour c makes five.
func (b *byRules) fives(c gomoku.Colour) (all []gomoku.Point) {
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && b.makesFive(p, c) {
			all = append(all, p)
		}
	}
	return all
}

// forbidden reports whether a stone of colour c at p loses at once.
func (b *byRules) forbidden(p gomoku.Point, c gomoku.Colour) bool {
	return b.set.Forbids(c) && b.board.Forbidden(p)
}

// wins reports whether colour c, to move, wins within an odd number of plies.
func (b *byRules) wins(c gomoku.Colour, plies int) bool {
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && b.makesFive(p, c) {
			return true
		}
	}
	if plies == 1 {
		return false
	}
	if best := b.best; best != gomoku.NoPoint && b.board.Empty(best) && b.winsBy(best, c, plies) {
		return true
	}
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && b.winsBy(p, c, plies) {
			b.best = p
			return true
		}
	}
	return false
}

// winsBy reports whether the move p, which makes no five, wins within plies.
func (b *byRules) winsBy(p gomoku.Point, c gomoku.Colour, plies int) bool {
	if b.forbidden(p, c) {
		return false
	}
	b.board.Put(p, c)
	defer b.board.Remove(p, c)
	return b.loses(c.Other(), plies-1)
}

// loses reports whether colour c, to move, loses within an even number of plies
// whatever it plays.
func (b *byRules) loses(c gomoku.Colour, plies int) bool {
	if b.board.Full() || b.wins(c, 1) {
		return false
	}
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && !b.losesBy(p, c, plies) {
			return false
		}
	}
	return true
}

// losesBy reports whether the move p, which makes no five, loses within plies.
func (b *byRules) losesBy(p gomoku.Point, c gomoku.Colour, plies int) bool {
	if b.forbidden(p, c) {
		return true
	}
	b.board.Put(p, c)
	defer b.board.Remove(p, c)
	return b.wins(c.Other(), plies-1)
}

// winsByFours reports whether colour c, to move, wins by at most so many fours in a
// row, the other side stopping each five where it can.
func (b *byRules) winsByFours(c gomoku.Colour, fours int) bool {
	if len(b.fives(c)) > 0 {
		return true
	}
	stops := b.fives(c.Other())
	if len(stops) > 1 || fours == 0 {
		return false
	}
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && !b.forbidden(p, c) && (len(stops) == 0 || stops[0] == p) && b.winsByFour(p, c, fours) {
			return true
		}
	}
	return false
}

// winsByFour reports whether a stone of colour c at p makes the first of such fours.
func (b *byRules) winsByFour(p gomoku.Point, c gomoku.Colour, fours int) bool {
	b.board.Put(p, c)
	defer b.board.Remove(p, c)
	fives, defender := b.fives(c), c.Other()
	switch {
	case len(fives) == 0 || len(b.fives(defender)) > 0:
		return false
	case len(fives) > 1 || b.forbidden(fives[0], defender):
		return true
	}
	b.board.Put(fives[0], defender)
	defer b.board.Remove(fives[0], defender)
	return b.winsByFours(c, fours-1)
}

// losesToFours reports whether the move p of colour c, which makes no five, loses to
// at most so many fours in a row.
func (b *byRules) losesToFours(p gomoku.Point, c gomoku.Colour, fours int) bool {
	if b.forbidden(p, c) {
		return true
	}
	b.board.Put(p, c)
	defer b.board.Remove(p, c)
	return b.winsByFours(c.Other(), fours)
}

// tenseWalks plays random games in which stones keep close together and nobody makes
// a five that it could, so that threats abound, and shows every position of a game
// that goes on.
func tenseWalks(t *testing.T, rules string, walks int, see func(rng *rand.Rand, g game.Position, a *position)) {
	t.Helper()
	for walk := range walks {
		rng := rand.New(rand.NewPCG(uint64(walk), 31))
		g := setUp(t, rules, "", "")
		for range 70 {
			a := adapt(t, g)
			see(rng, g, a)
			m, ok := tenseMove(rng, g)
			if !ok {
				break
			}
			if err := g.Play(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// tenseMove is a random move next to a stone that does not end the game, often the
// answer to a four.
func tenseMove(rng *rand.Rand, g game.Position) (game.Move, bool) {
	b, c := newByRules(g), g.(*gomoku.Position).ToMove()
	if b.board.Stones() == 0 {
		return gomoku.StoneMove(gomoku.Point(b.board.Points / 2)), true
	}
	candidate := func(p gomoku.Point) bool { return !b.makesFive(p, c) && !b.forbidden(p, c) }
	if stops := b.fives(c.Other()); len(stops) > 0 && candidate(stops[0]) && rng.IntN(8) > 0 {
		return gomoku.StoneMove(stops[0]), true
	}
	var near []gomoku.Point
	for p := range gomoku.Point(b.board.Points) {
		if b.board.Empty(p) && besideStone(&b.board, p) && candidate(p) {
			near = append(near, p)
		}
	}
	if len(near) == 0 {
		return game.NoMove, false
	}
	return gomoku.StoneMove(near[rng.IntN(len(near))]), true
}

func besideStone(b *gomoku.Board, p gomoku.Point) bool {
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			if q := b.Point(b.Column(p)+dx, b.RowOf(p)+dy); q != gomoku.NoPoint && !b.Empty(q) {
				return true
			}
		}
	}
	return false
}

// TestSettledPositions confirms by trying every move what Enter says of positions
// where the game goes on: the result, and that it does not come sooner.
func TestSettledPositions(t *testing.T) {
	const most3, most4 = 30, 2 // of each rule set: they take long to confirm
	for _, tt := range []struct {
		rules   string
		walks   int
		settles []int // plies to the end that must occur; those of losses are negative
	}{
		{"gomoku/freestyle-15", 40, []int{1, -2, 3, -4}},
		{"gomoku/freestyle-20", 10, []int{1, -2, 3, -4}},
		{"gomoku/standard-15", 40, []int{1, -2, 3, -4}},
		{"gomoku/standard-20", 10, []int{1, -2, 3, -4}},
		{"gomoku/renju-15", 60, []int{1, -2, 3, -4}},
		{"gomoku/renju-20", 10, []int{1, -2, 3, -4}},
		{"gomoku/caro-15", 10, []int{1}},
		{"gomoku/continuous-15", 10, nil},
	} {
		t.Run(tt.rules, func(t *testing.T) {
			t.Parallel()
			seen := map[int]int{}
			forbiddenAnswers := 0
			tenseWalks(t, tt.rules, tt.walks, func(_ *rand.Rand, g game.Position, a *position) {
				node, b, c := a.Enter(), newByRules(g), a.toMove
				plies := 0
				switch {
				case node.Over && node.Verdict > 0:
					plies = int(search.Win - node.Verdict)
				case node.Over:
					plies = -int(search.Win + node.Verdict)
				}
				seen[plies]++
				wins, loses := b.wins(c, 1), b.set.Forcing() && b.loses(c, 2)
				confirmed := true
				switch plies {
				case 0:
					confirmed = b.set.Continuous() || !wins && !loses
				case 1:
					confirmed = wins
				case -2:
					confirmed = loses
					if stops := b.fives(c.Other()); len(stops) == 1 && b.forbidden(stops[0], c) {
						forbiddenAnswers++
					}
				case 3:
					confirmed = !wins && (seen[3] > most3 || b.wins(c, 3))
				case -4:
					confirmed = !loses && (seen[-4] > most4 || b.loses(c, 4))
				default:
					confirmed = false
				}
				if !confirmed {
					t.Fatalf("%s: settled in %d plies: the rules say otherwise", g, plies)
				}
			})
			for _, plies := range tt.settles {
				if seen[plies] == 0 {
					t.Errorf("no position is settled in %d plies", plies)
				}
			}
			if tt.rules == "gomoku/renju-15" && forbiddenAnswers == 0 {
				t.Error("no position is lost because the only answer is forbidden")
			}
			t.Logf("positions by plies to the end: %v, with a forbidden answer: %d", seen, forbiddenAnswers)
		})
	}
}

// TestForbiddenStraightFour: a straight four that makes two threes as well wins, but
// not for Black in Renju.
func TestForbiddenStraightFour(t *testing.T) {
	const position = "o13o/15/15/15/o14/7x1x5/7xx6/1x2xxx8/15/15/13o1/15/3o11/15/o6o6o b" // h8
	if node := adapt(t, setUp(t, "gomoku/freestyle-15", position, "")).Enter(); !node.Over || node.Verdict != search.Win-3 {
		t.Errorf("freestyle: %+v, want a win in 3", node)
	}
	a := adapt(t, setUp(t, "gomoku/renju-15", position, ""))
	if node := a.Enter(); node.Over {
		t.Errorf("Renju: %+v", node)
	}
	a.Pass() // White has nothing to answer
	if node := a.Enter(); node.Over || a.resolve().facing != nothing {
		t.Errorf("Renju, White to move: %+v", node)
	}
}

// TestRestrictedMovesLose checks a random sample of the moves left out where two
// fives threaten, or a four and a three, most of them beside stones: they lose within four
// plies whatever follows, or to two fours.
func TestRestrictedMovesLose(t *testing.T) {
	const perNode = 5
	for _, tt := range []struct {
		rules string
		walks int
	}{
		{"gomoku/freestyle-15", 20}, {"gomoku/freestyle-20", 5},
		{"gomoku/standard-15", 20}, {"gomoku/standard-20", 5},
		{"gomoku/renju-15", 30}, {"gomoku/renju-20", 5},
	} {
		t.Run(tt.rules, func(t *testing.T) {
			t.Parallel()
			var nodes [perhapsFourThree]int
			kept := 0
			tenseWalks(t, tt.rules, tt.walks, func(rng *rand.Rand, g game.Position, a *position) {
				node := a.Enter()
				facing := a.resolve().facing
				if node.Over || node.Forced || facing == nothing {
					return
				}
				nodes[facing]++
				given := map[game.Move]bool{}
				for _, e := range a.Moves(nil, &search.Cursor{}) {
					given[e.Move] = true
				}
				kept += len(given)
				b, judged := newByRules(g), 0
				left := g.Legal(nil)
				rng.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
				for n, m := range left {
					p, ok := b.board.MovePoint(m)
					if !ok || given[m] || judged == perNode || n%8 != 0 && !besideStone(&b.board, p) {
						continue
					}
					judged++
					loses := func() bool {
						if facing == twoFours {
							return b.losesBy(p, a.toMove, 4)
						}
						return b.losesToFours(p, a.toMove, 2)
					}
					if b.makesFive(p, a.toMove) || !loses() {
						t.Fatalf("%s: %s is left out, but does not lose", g, g.Format(m))
					}
				}
			})
			if nodes[twoFours] < 20 || nodes[fourAndThree] < 5 {
				t.Errorf("only %v restricted nodes", nodes)
			}
			t.Logf("nodes by threat %v, %d moves kept", nodes, kept)
		})
	}
}
