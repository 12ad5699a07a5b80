package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
)

// TestGamesConform: every game keeps the promises of package game, and a bare
// name means its default rules.
func TestGamesConform(t *testing.T) {
	for _, g := range catalog.Games() {
		t.Run(g.Name, func(t *testing.T) { gametest.Conform(t, g) })
		p, err := catalog.Setup(g.Name, "", "")
		if err != nil || p.Rules().Name != g.Default {
			t.Errorf("%s without rules: %v, %v", g.Name, p, err)
		}
		if r, err := catalog.Rules(g.Name); err != nil || r.Name != g.Default {
			t.Errorf("%s: %v, %v", g.Name, r, err)
		}
	}
}

// TestHandicaps: each is a position of its rules in which the game goes on, and
// differs from the usual start.
func TestHandicaps(t *testing.T) {
	for _, g := range catalog.Games() {
		if g.Handicaps == nil {
			continue
		}
		for _, set := range g.Sets {
			r, err := g.Rules(set)
			if err != nil {
				t.Fatal(err)
			}
			list := g.Handicaps(r)
			if len(list) == 0 && !strings.Contains(set, "+") {
				t.Errorf("%s has no handicap", set)
			}
			seen := map[string]bool{"": true}
			for _, h := range list {
				p, err := r.New(h.Position)
				if err != nil || p.Outcome().Over() || p.Turn() != game.First || len(p.Legal(nil)) == 0 {
					t.Errorf("%s: %s: %v, %v", set, h.Name, p, err)
				}
				start, _ := game.History(p)
				if seen[start] || seen[h.Name] {
					t.Errorf("%s: %s is there twice, or is the usual start", set, h.Name)
				}
				seen[start], seen[h.Name] = true, true
			}
		}
	}
}

// TestRegisterRefuses: a row that lacks something, or a name twice.
func TestRegisterRefuses(t *testing.T) {
	for name, change := range map[string]func(g *game.Game){
		"the name is taken":  func(g *game.Game) { g.Name = "amazons" },
		"want a name":        func(g *game.Game) { g.Name = "A game" },
		"RulesFor":           func(g *game.Game) { g.RulesFor = nil },
		"Reasons":            func(g *game.Game) { g.Reasons = nil },
		"the default rules:": func(g *game.Game) { g.Default = "mine/nonesuch" },
	} {
		g, err := catalog.Game("amazons")
		if err != nil {
			t.Fatal(err)
		}
		g.Name = "mine"
		change(&g)
		if err := catalog.Register(g); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want something of %q", err, name)
		}
	}
	if n := len(catalog.Games()); n != 3 {
		t.Errorf("%d games now", n)
	}
}

// TestRulesOf: a rule set is named with or without its game in front, and never under that of
// another game.
func TestRulesOf(t *testing.T) {
	for rules, want := range map[string]string{"": "gomoku/freestyle-15", "renju-15": "gomoku/renju-15", "gomoku/renju-15": "gomoku/renju-15",
		"xiangqi/wxf": `unknown rules "xiangqi/wxf": want a rule set of gomoku`} {
		r, err := catalog.RulesOf("gomoku", rules)
		if err == nil && r.Name != want || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, game.ErrRules)) {
			t.Errorf("RulesOf(gomoku, %q) = %v, %v; want %s", rules, r, err, want)
		}
	}
	if _, err := catalog.Setup("gomoku", "xiangqi/wxf", ""); err == nil || !strings.Contains(err.Error(), "want a rule set of gomoku") {
		t.Errorf("a position under the rules of another game: %v", err)
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

// TestFormatLine: a line ends before the first move that can't be played, and the
// position stays as it was.
func TestFormatLine(t *testing.T) {
	p, err := catalog.Setup("xiangqi", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var line []game.Move
	q := p.Clone()
	for _, text := range []string{"h2e2", "h9g7", "h0g2"} {
		m, err := game.PlayText(q, text)
		if err != nil {
			t.Fatal(err)
		}
		line = append(line, m)
	}
	before := p.String()
	for _, c := range []struct {
		line []game.Move
		want string
	}{{nil, ""}, {line, "h2e2 h9g7 h0g2"}, {append(line[:2:2], line[0], line[2]), "h2e2 h9g7"}, {[]game.Move{game.NoMove}, ""}} {
		if got := strings.Join(game.FormatLine(p, "", c.line), " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.line, got, c.want)
		}
	}
	if got := strings.Join(game.FormatLine(p, "chinese", line), " "); got != "炮二平五 马8进7 马二进三" {
		t.Errorf("in Chinese: %q", got)
	}
	if p.String() != before {
		t.Errorf("the position is now %s", p)
	}
}
