package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
)

// TestEveryRuleSetSetsUp finds each well-known set by its name, and its start
// position again by its text.
func TestEveryRuleSetSetsUp(t *testing.T) {
	for _, g := range catalog.Games() {
		if g.Default == "" || len(g.Sets) == 0 {
			t.Errorf("%s has no rule sets", g.Name)
		}
		for _, name := range append(g.Sets, g.Default) {
			r, err := catalog.Rules(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if r.Name != name || r.Game != g.Name || !strings.HasPrefix(name, g.Name+"/") {
				t.Errorf("%s is called %s of %s", name, r.Name, r.Game)
			}
			p, err := r.New("")
			if err != nil {
				t.Errorf("%s: start: %v", name, err)
				continue
			}
			again, err := r.New(p.String())
			if err != nil || again.Key() != p.Key() || again.String() != p.String() || again.Turn() != p.Turn() {
				t.Errorf("%s: the start %q is read back as %v, %v", name, p, again, err)
			}
			if p.Rules().Name != name || p.Turn() != game.First || p.Outcome().Over() || len(p.Legal(nil)) == 0 {
				t.Errorf("%s: odd start %s", name, p)
			}
		}
		// A bare name means the default, and what a position implies is a set that can read it.
		p, err := catalog.Setup(g.Name, "", "")
		if err != nil || p.Rules().Name != g.Default {
			t.Errorf("%s without rules: %v, %v", g.Name, p, err)
		}
		if r, err := catalog.Rules(g.Name); err != nil || r.Name != g.Default {
			t.Errorf("%s: %v, %v", g.Name, r, err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "chess", "chess/standard", "xiangqi/", "xiangqi/nonesuch", "gomoku/freestyle-14", "gomoku/freestyle-21",
		"gomoku/freestyle", "gomoku/freestyle-15+nonesuch", "amazons/200x200", "amazons/x", "/", strings.Repeat("x", 5000)} {
		r, err := catalog.Rules(name)
		if !errors.Is(err, game.ErrRules) {
			t.Errorf("Rules(%.30q) = %v, %v; want ErrRules", name, r, err)
			continue
		}
		if len(err.Error()) > 400 {
			t.Errorf("Rules(%.30q): the error repeats too much", name)
		}
	}
	if _, err := catalog.Setup("amazons", "gomoku/freestyle-15", ""); !errors.Is(err, game.ErrRules) {
		t.Errorf("rules of another game: %v", err)
	}
}
