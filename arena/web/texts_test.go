package web

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/screen/static"
)

// protocolReasons reads the reasons of the match around the board from the source
// of package protocol.
func protocolReasons(t *testing.T) (reasons []string) {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "../../protocol/code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			reasons = append(reasons, text)
		}
		return true
	})
	if len(reasons) < 10 {
		t.Fatalf("reasons of protocol: %v", reasons)
	}
	return reasons
}

// usual returns the usual start position of a rule set.
func usual(t *testing.T, g game.Game, rules string) game.Position {
	t.Helper()
	r, err := g.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New("")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// openingKeys walks through every opening procedure and collects the keys of its
// steps and choices.
func openingKeys(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for _, g := range catalog.Games() {
		for _, name := range g.Sets {
			rng := rand.New(rand.NewPCG(7, 7))
			for range 60 {
				p := usual(t, g, name)
				staged, ok := p.(game.Staged)
				if !ok {
					break
				}
				for {
					stage, running := staged.Stage()
					if !running {
						break
					}
					keys["open."+stage.Procedure+".name"] = true
					step := "open." + stage.Procedure + "." + stage.Step
					if stage.Reach != nil && *stage.Reach == 0 && stage.Left == 1 {
						step += ".centre"
					}
					keys[step], keys[step+".wait"] = true, true
					legal := p.Legal(nil)
					for _, m := range legal {
						if !staged.OnBoard(m) {
							choice := p.Format(m)
							if strings.HasPrefix(choice, "fifths-") {
								choice = "fifths"
							}
							keys["open.choice."+choice], keys[step+"."+choice] = true, true
						}
					}
					if err := p.Play(legal[rng.IntN(len(legal))]); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	return keys
}

// TestTexts: whatever the rules and the protocol may say has a text in all
// languages.
func TestTexts(t *testing.T) {
	want := openingKeys(t)
	for _, r := range protocolReasons(t) {
		want["reason."+r] = true
	}
	for _, g := range catalog.Games() {
		for _, r := range g.Reasons {
			want["reason."+string(r)] = true
		}
		for _, name := range g.Sets {
			p := usual(t, g, name)
			for _, side := range p.(game.Pictured).Sides() {
				want["side."+side] = true
			}
			if n, ok := p.(game.Notated); ok {
				for _, notation := range n.Notations() {
					want["notation."+string(notation)] = true
				}
			}
			if g.Handicaps != nil {
				for _, h := range g.Handicaps(p.Rules()) {
					want["handicap."+h.Name] = true
				}
			}
		}
	}
	for _, r := range game.Refusals {
		want["illegal."+string(r)] = true
	}
	for _, k := range []game.ForbiddenKind{game.DoubleThree, game.DoubleFour, game.Overline} {
		want["forbidden."+string(k)] = true
	}
	for _, s := range []clock.Speed{clock.Bullet, clock.Blitz, clock.Rapid, clock.Classical, clock.Correspondence} {
		want["speed."+string(s)] = true
	}
	for level := 1; level <= 10; level++ {
		want["level."+strconv.Itoa(level)] = true
	}
	// The moves that the page warns of.
	for _, r := range []game.Reason{game.PerpetualCheck, game.PerpetualChase, game.Repetition, game.MoveLimit, game.InsufficientMaterial,
		game.Forbidden, game.BoardFull} {
		want["ends."+string(r)] = true
	}
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	for key := range want {
		for _, lang := range static.Languages {
			if strings.TrimSpace(site.texts[lang].Texts[key]) == "" {
				t.Errorf("%s.json has no %q", lang, key)
			}
		}
	}
	for key := range site.texts["en"].Texts {
		kind, _, _ := strings.Cut(key, ".")
		if slices.Contains([]string{"reason", "illegal", "forbidden", "speed", "open", "ends"}, kind) && !want[key] && key != "illegal.not-your-turn" {
			t.Errorf("nothing uses the text %s", key)
		}
	}
}

var variable = regexp.MustCompile(`\{[a-z_]+\}`)

// TestVariables: a text has the same variables in all languages.
func TestVariables(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range site.texts["en"].Texts {
		want := variable.FindAllString(text, -1)
		slices.Sort(want)
		for _, lang := range static.Languages {
			got := variable.FindAllString(site.texts[lang].Texts[key], -1)
			slices.Sort(got)
			if !slices.Equal(slices.Compact(got), slices.Compact(slices.Clone(want))) {
				t.Errorf("%s: %s has %v, en %v", key, lang, got, want)
			}
		}
	}
}

// TestPlurals: a text may choose a word by a number.
func TestPlurals(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		lang string
		n    any
		want string
	}{{"en", 1, "1 move"}, {"en", "1", "1 move"}, {"en", 0, "0 moves"}, {"en", 21, "21 moves"}, {"zh", 1, "1 步"}} {
		if got := site.text(c.lang, "start.ply", "m", "{n}", "n", c.n); got != c.want {
			t.Errorf("%s, %v: %q, want %q", c.lang, c.n, got, c.want)
		}
	}
	if got := site.text("en", "review.progress", "n", "{of}", "of", 2); got != "{of} of 2 positions" {
		t.Errorf("a value was read as a text: %q", got)
	}
	if got, want := site.text("en", "open.taraguchi.put-stone", "stone", 2, "reach", 1), "at most 1 step from the centre"; !strings.Contains(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	day, err := clock.Parse("86400/move")
	if err != nil {
		t.Fatal(err)
	}
	if got := site.words("en").Clock(day); got != "1 day a move" {
		t.Errorf("a day a move is written as %q", got)
	}
}
