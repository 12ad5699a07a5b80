package tablebase

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"sparring/engine"
	"sparring/engine/level"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// thinker returns our engine with tables.
func thinker(t *testing.T, tables xiangqi.Tables) engine.Game {
	t.Helper()
	e, err := engine.New("xiangqi", engine.Options{HashBytes: 1 << 20, Tables: tables})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func think(t *testing.T, e engine.Game, p game.Position, l search.Limits) search.Result {
	t.Helper()
	running, err := e.Search(p, l, nil)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	return running.Wait()
}

func position(t *testing.T, ruleSet, fen string) *rules.Position {
	t.Helper()
	r, err := rules.FindRules(ruleSet)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(fen)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*rules.Position)
}

// random returns a random legal position of a set in which the game is not over.
func random(t *testing.T, rng *rand.Rand, s Set) *rules.Position {
	t.Helper()
	l, err := newLayout(s)
	if err != nil {
		t.Fatal(err)
	}
	for {
		var at squares
		l.squares(rng.IntN(l.size), &at)
		text, ok := fen(l, &at, rules.Colour(rng.IntN(2)))
		if !ok {
			continue
		}
		if _, err := rules.ParseFEN(text); err != nil {
			continue
		}
		if p := position(t, "xiangqi/wxf", text); !p.Outcome().Over() {
			return p
		}
	}
}

// With tables the engine wins every won endgame in exactly as many plies as the
// tables say, against the best defence. Its scores have that distance from the
// first move on, also for the losing side.
func TestEngineConverts(t *testing.T) {
	sets := []Set{set(t, "KNka"), set(t, "KCAka"), set(t, "KPkb"), set(t, "KRkc")}
	tables := made(t, sets...)
	e := thinker(t, tables)
	rng := rand.New(rand.NewPCG(1, 1))
	games, longest := 0, 0
	for games < 60 {
		p := random(t, rng, sets[games%len(sets)])
		distance, ok := tables.Probe(p.Board())
		if !ok {
			t.Fatalf("%s is in no table", p)
		}
		if distance == Drawn {
			continue
		}
		games++
		longest = max(longest, distance)
		winner := p.Turn()
		if distance%2 == 0 {
			winner = winner.Other()
		}
		start := p.String()
		for left := distance; left > 0; left-- {
			r := think(t, e, p, search.Limits{Nodes: 500})
			want := search.Win - search.Score(left)
			if left%2 == 0 {
				want = -search.Win + search.Score(left)
			}
			if r.Score != want || r.Source != "tablebase" || len(r.PV) != left {
				t.Fatalf("%s, from %s: score %d by %s, %d plies; want %d by the table", p, start, r.Score, r.Source, len(r.PV), want)
			}
			if err := p.Play(r.Move); err != nil {
				t.Fatal(err)
			}
		}
		if p.Outcome().Result != game.WonBy(winner) {
			t.Fatalf("from %s, after %d plies: %+v", start, distance, p.Outcome())
		}
	}
	if longest < 20 {
		t.Errorf("the longest win had %d plies: too easy", longest)
	}
}

// A search with the tables of the sets after captures, but not of its own set,
// claims no mate that its own table contradicts, and no shorter one.
func TestEngineClaimsTrueMates(t *testing.T) {
	sets := []Set{set(t, "KNkaa"), set(t, "KPPkb"), set(t, "KRkab")}
	var below []Set
	for _, s := range sets {
		below = append(below, s.Needs()...)
	}
	truth, e := made(t, sets...), thinker(t, made(t, below...))
	rng := rand.New(rand.NewPCG(1, 2))
	claims := 0
	for i := range 120 {
		p := random(t, rng, sets[i%len(sets)])
		distance, ok := truth.Probe(p.Board())
		if !ok {
			t.Fatalf("%s is in no table", p)
		}
		r := think(t, e, p, search.Limits{Depth: 7})
		switch {
		case r.Score >= search.WinBound:
			claims++
			if plies := int(search.Win - r.Score); distance%2 == 0 || distance < 0 || plies < distance {
				t.Errorf("%s: a win in %d plies, but the table has %d", p, plies, distance)
			}
		case r.Score <= -search.WinBound:
			claims++
			if plies := int(search.Win + r.Score); distance < 0 || distance%2 != 0 || plies < distance {
				t.Errorf("%s: a loss in %d plies, but the table has %d", p, plies, distance)
			}
		}
	}
	if claims < 20 {
		t.Errorf("only %d claims of a mate", claims)
	}
}

// A table's win counts only if the move limit leaves enough plies.
func TestMoveLimit(t *testing.T) {
	tables := made(t, set(t, "KNk"))
	e := thinker(t, tables)
	const men = "3k5/9/9/9/9/9/9/9/N8/4K4 w - - "
	p := position(t, "xiangqi/wxf+limit=10", men+"0 1")
	distance, ok := tables.Probe(p.Board())
	if !ok || distance < 5 || distance > 20 || distance%2 == 0 {
		t.Fatalf("distance %d, %v", distance, ok)
	}
	for _, c := range []struct {
		quiet int
		won   bool
	}{{0, true}, {20 - distance, true}, {20 - distance + 1, false}, {19, false}} {
		p := position(t, "xiangqi/wxf+limit=10", fmt.Sprintf("%s%d 1", men, c.quiet))
		r := think(t, e, p, search.Limits{Depth: 4})
		if won := r.Score >= search.WinBound; won != c.won {
			t.Errorf("%d plies left, %d needed: score %d, won should be %v", 20-c.quiet, distance, r.Score, c.won)
		}
		if !c.won {
			continue
		}
		for range distance { // the rules must agree
			if err := p.Play(think(t, e, p, search.Limits{Depth: 4}).Move); err != nil {
				t.Fatal(err)
			}
		}
		if p.Outcome().Result != game.FirstWins {
			t.Errorf("%d plies left, %d needed: %+v", 20-c.quiet, distance, p.Outcome())
		}
	}
}

// If the way to the end leads through a position that has occurred twice, the
// rules end the game there, and the table's win does not count.
func TestRepetitionBeforeTheTable(t *testing.T) {
	s := set(t, "KNka")
	tables := made(t, s)
	e := thinker(t, tables)
	rng := rand.New(rand.NewPCG(1, 3))
	back := func(m game.Move) game.Move { return rules.MakeMove(rules.To(m), rules.From(m)) }
	for found := 0; found < 5; {
		p := random(t, rng, s)
		d, ok := tables.Probe(p.Board())
		if !ok || d < 9 || d%2 == 0 {
			continue
		}
		// Play the first two plies of the win and back, twice: then the position
		// after them has occurred twice.
		line := tables.Line(p.Board(), 2)
		after := position(t, "xiangqi/wxf", p.String())
		play := func(moves ...game.Move) bool {
			for _, m := range moves {
				if after.Play(m) != nil || after.Board().State().Captured != rules.NoPiece {
					return false
				}
			}
			return true
		}
		if !play(line...) {
			continue
		}
		after = position(t, "xiangqi/wxf", after.String())
		if !play(back(line[0]), back(line[1]), line[0], line[1], back(line[0]), back(line[1])) {
			continue
		}
		found++
		if r := think(t, e, after, search.Limits{Nodes: 300}); r.Source == "tablebase" {
			t.Errorf("%s, as %s: a win of %d plies, through a position that has occurred twice", after, p, search.Win-r.Score)
		}
		// Without the past it is a win.
		if r := think(t, e, position(t, "xiangqi/wxf", p.String()), search.Limits{Nodes: 300}); r.Source != "tablebase" {
			t.Errorf("%s: not by the table", p)
		}
	}
}

// A drawn position does not end a node, because the repetition rules may decide,
// but its evaluation is close to a draw.
func TestDrawnIsNoVerdict(t *testing.T) {
	s := set(t, "KNkb")
	tables := made(t, s)
	with, without := thinker(t, tables), thinker(t, nil)
	rng := rand.New(rand.NewPCG(1, 4))
	closer, n := 0, 0
	for n < 20 {
		p := random(t, rng, s)
		if d, ok := tables.Probe(p.Board()); !ok || d != Drawn {
			continue
		}
		n++
		a, b := think(t, with, p, search.Limits{Depth: 2}), think(t, without, p, search.Limits{Depth: 2})
		if a.Source == "tablebase" || a.Score >= search.WinBound || a.Score <= -search.WinBound {
			t.Errorf("%s: %d by %s", p, a.Score, a.Source)
		}
		if max(a.Score, -a.Score) < max(b.Score, -b.Score) {
			closer++
		}
	}
	if closer < n*3/4 {
		t.Errorf("only %d of %d scores came closer to a draw", closer, n)
	}
}

// The levels that do not err on purpose use the tables, the others do not.
func TestLevelsThatConvert(t *testing.T) {
	tables := made(t, set(t, "KRk"))
	won := position(t, "xiangqi/wxf", "4k4/9/9/9/9/9/9/9/9/R2K5 w")
	for n := level.Weakest; n <= level.Strongest; n++ {
		s, err := level.New("xiangqi", n, tables)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.NewGame(engine.GameOptions{})
		if err != nil {
			t.Fatal(err)
		}
		source := think(t, g, won, search.Limits{}).Source
		if by := source == "tablebase"; by != (n >= 9) || by != (g.Describe().TableMen > 0) {
			t.Errorf("level %d plays by %s, tables of %d men", n, source, g.Describe().TableMen)
		}
	}
}
