package openings

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

func rules(t *testing.T, name string) *game.Rules {
	t.Helper()
	r, err := catalog.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadAndWrite(t *testing.T) {
	const text = `# made by hand
# of two lines

rules xiangqi/wxf xiangqi/simple

moves h2e2 h9g7
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
# a comment in between
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1 moves b2e2
`
	s, err := Read(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Openings) != 3 || len(s.Notes) != 3 || !slices.Equal(s.Openings[0].Moves, []string{"h2e2", "h9g7"}) || s.Openings[0].Start != "" ||
		len(s.Openings[1].Moves) != 0 || len(s.Openings[2].Moves) != 1 || s.Openings[2].Start == "" {
		t.Errorf("%+v", s)
	}
	var out strings.Builder
	if err := s.Write(&out); err != nil {
		t.Fatal(err)
	}
	again, err := Read(strings.NewReader(out.String()), "g")
	if err != nil || !slices.Equal(again.Notes, s.Notes) || !slices.EqualFunc(again.Openings, s.Openings, func(a, b Opening) bool { return a.String() == b.String() }) {
		t.Errorf("%v: %+v came back as %+v", err, s, again)
	}
	if err := s.For("xiangqi/simple"); err != nil {
		t.Error(err)
	}
	if err := s.For("xiangqi/cxa"); !errors.Is(err, ErrRules) || !strings.Contains(err.Error(), "xiangqi/wxf, xiangqi/simple") {
		t.Errorf("%v", err)
	}
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "f: no openings",
		"rules gomoku\n":                      "f: no openings",
		"moves h8\n":                          `f:1: "moves h8": the first line`,
		"rules\nmoves h8\n":                   "f:1: ",
		"rules chess\nmoves e2e4":             "f:1: unknown rules",
		"rules gomoku\nmoves h8\nmoves h8 h8": "f:3: gomoku/freestyle-15: ply 2",
		"rules gomoku\nmoves h8\n\nmoves h8":  "f:4: same position as line 2",
		"rules gomoku\nmoves z99":             "f:2: gomoku/freestyle-15: ply 1",
		"rules amazons\n3q2q3/10 w":           "f:2: ",
		"rules gomoku\n# x\nmoves h8 a1 h9 a2 h10 a3 h11 a4 h12":  "f:3: gomoku/freestyle-15: game is over",
		"rules gomoku\nmoves h8\nrules gomoku/renju-15\nmoves h9": "f:3: rules gomoku/renju-15: the openings before are for gomoku/freestyle-15",
		"rules gomoku\n" + strings.Repeat("x", 1<<21):             "f:2: a line of more than 1048576 bytes",
	} {
		if _, err := Read(strings.NewReader(text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// Files with the same rules may be joined.
func TestJoinedFiles(t *testing.T) {
	s, err := Read(strings.NewReader("rules gomoku\nmoves h8\nrules gomoku/freestyle-15\nmoves h9\n"), "f")
	if err != nil || len(s.Rules) != 1 || len(s.Openings) != 2 {
		t.Errorf("%v, %+v", err, s)
	}
}

func TestListRunsThroughAll(t *testing.T) {
	var all []Opening
	for _, m := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		all = append(all, Opening{Start: m})
	}
	order := func(seed uint64) (text string) {
		l := Shuffle(all, seed)
		for n := range 14 {
			o, err := l.Opening(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			text += o.Start
		}
		return text
	}
	one, two := order(1), order(2)
	if one == two || one != order(1) || one[:7] != one[7:] {
		t.Errorf("orders %s and %s", one, two)
	}
	sorted := []byte(one[:7])
	slices.Sort(sorted)
	if string(sorted) != "abcdefg" || all[0].Start != "a" {
		t.Errorf("%s is not a permutation", one)
	}
	if _, err := (List{}).Opening(t.Context(), 0); err == nil {
		t.Error("an empty list has an opening")
	}
	if o, err := (Start{}).Opening(t.Context(), 5); err != nil || o.String() != "" {
		t.Errorf("%q, %v", o, err)
	}
}

// searching returns a judge that searches the given number of nodes.
func searching(t *testing.T, gameName string, nodes uint64) Judge {
	t.Helper()
	e, err := engine.New(gameName, engine.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	g, err := e.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		t.Fatal(err)
	}
	return Searching(g, search.Limits{Nodes: nodes})
}

// TestMaker: openings are distinct and balanced, and do not depend on the order or
// number of calls.
func TestMaker(t *testing.T) {
	const nodes, wanted = 300, 6
	for _, name := range []string{"xiangqi/wxf", "gomoku/freestyle-15", "gomoku/renju-15", "amazons/10x10"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, name)
			recipe, err := Usual(r)
			if err != nil {
				t.Fatal(err)
			}
			maker := func(seed uint64) *Maker {
				recipe.Seed = seed
				m, err := NewMaker([]*game.Rules{r}, []Judge{searching(t, r.Game, nodes)}, recipe)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			m := maker(1)
			last, err := m.Opening(t.Context(), wanted-1)
			if err != nil {
				t.Fatal(err)
			}
			judge, again := searching(t, r.Game, nodes), maker(1)
			keys := map[uint64]bool{}
			for n := range wanted {
				o, err := again.Opening(t.Context(), n)
				if err != nil {
					t.Fatal(err)
				}
				if same, err := m.Opening(t.Context(), n); err != nil || same.String() != o.String() {
					t.Errorf("opening %d is %q, then %q, %v", n, o, same, err)
				}
				p, err := o.Setup(r)
				if err != nil {
					t.Fatal(err)
				}
				chance, err := judge(t.Context(), p)
				if err != nil || math.Abs(chance-0.5) > recipe.Bound || p.Ply() != recipe.Plies {
					t.Errorf("%s: chance %.3f after %d plies, %v", o, chance, p.Ply(), err)
				}
				keys[p.Key()] = true
				if n == wanted-1 && o.String() != last.String() {
					t.Errorf("%q and %q", o, last)
				}
			}
			if len(keys) != wanted || m.Tries() < wanted {
				t.Errorf("%d positions, %d tries", len(keys), m.Tries())
			}
			if other, err := maker(2).Opening(t.Context(), 0); err != nil {
				t.Error(err)
			} else if first, _ := m.Opening(t.Context(), 0); first.String() == other.String() {
				t.Errorf("seeds 1 and 2 both begin with %q", first)
			}
		})
	}
}

// TestMakerAsksEverybody: every judge has to agree, under every rule set.
func TestMakerAsksEverybody(t *testing.T) {
	r := []*game.Rules{rules(t, "gomoku/freestyle-15"), rules(t, "gomoku/renju-15")}
	asked := map[string]int{}
	judge := func(chance float64) Judge {
		return func(_ context.Context, p game.Position) (float64, error) {
			asked[p.Rules().Name]++
			return chance, nil
		}
	}
	recipe := Recipe{Plies: 2, Bound: 0.05}
	m, err := NewMaker(r, []Judge{judge(0.46), judge(0.54)}, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Opening(t.Context(), 1); err != nil || asked[r[0].Name] != 4 || asked[r[1].Name] != 4 {
		t.Errorf("asked %v, %v", asked, err)
	}
	if m, err = NewMaker(r, []Judge{judge(0.46), judge(0.56)}, recipe); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Opening(t.Context(), 0); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err = NewMaker(r, []Judge{searching(t, "gomoku", 1e6)}, recipe); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Opening(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestMakerRunsOut: where there are fewer openings than wanted, the error says how many.
func TestMakerRunsOut(t *testing.T) {
	even := func(context.Context, game.Position) (float64, error) { return 0.5, nil }
	m, err := NewMaker([]*game.Rules{rules(t, "xiangqi")}, []Judge{even}, Recipe{Plies: 1, Bound: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Opening(t.Context(), 43); err != nil { // Red has 44 first moves
		t.Error(err)
	}
	if _, err := m.Opening(t.Context(), 44); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "other than the 44 found") {
		t.Error(err)
	}
}

func TestMakersAreChecked(t *testing.T) {
	g, x := rules(t, "gomoku"), rules(t, "xiangqi")
	fine := []Judge{func(context.Context, game.Position) (float64, error) { return 0.5, nil }}
	for name, make := range map[string]func() (*Maker, error){
		"two games": func() (*Maker, error) { return NewMaker([]*game.Rules{g, x}, fine, Recipe{2, 0.1, 0}) },
		"no rules":  func() (*Maker, error) { return NewMaker(nil, fine, Recipe{2, 0.1, 0}) },
		"no judge":  func() (*Maker, error) { return NewMaker([]*game.Rules{g}, nil, Recipe{2, 0.1, 0}) },
		"no plies":  func() (*Maker, error) { return NewMaker([]*game.Rules{g}, fine, Recipe{0, 0.1, 0}) },
		"bound":     func() (*Maker, error) { return NewMaker([]*game.Rules{g}, fine, Recipe{2, math.NaN(), 0}) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if recipe, err := Usual(rules(t, "gomoku/renju-15+swap2")); err != nil || recipe.Plies != 0 || recipe.Bound == 0 {
		t.Errorf("a procedure gets %+v, %v", recipe, err)
	}
}
