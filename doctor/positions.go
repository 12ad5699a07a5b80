package doctor

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
)

// The positions are drawn at random by drawpositions, which keeps those in which the
// engine has few moves, and a rule is easily broken.
//
//go:generate go run ./drawpositions
//go:embed positions/*.tsv
var positionFiles embed.FS

// position is a position in which a rule is easily broken.
type position struct {
	rule  string // as the rules name it: a game.Refusal, a game.ForbiddenKind, or a word for what is unusual there
	rules string // the rule set; "": every one of the game
	text  string
	wrong []string // moves that break the rule
}

// positionsOf reads the positions of a game; none for a game that has no file.
func positionsOf(gameName string) ([]position, error) {
	data, err := positionFiles.ReadFile("positions/" + gameName + ".tsv")
	if err != nil {
		return nil, nil // a game that was added by a program of its own
	}
	var all []position
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("%s: %d fields in %q", gameName, len(f), line)
		}
		all = append(all, position{rule: f[0], rules: f[1], text: f[2], wrong: strings.Fields(f[3])})
	}
	return all, nil
}

// ruleSets lists the rule sets of positions, the primary one first.
func ruleSets(all []position, primary string) []string {
	sets := []string{primary}
	for _, p := range all {
		if p.rules != "" && !slices.Contains(sets, p.rules) {
			sets = append(sets, p.rules)
		}
	}
	return sets
}

// of returns the positions that can be set up under a rule set.
func of(all []position, rules string) (some []position) {
	for _, p := range all {
		if p.rules == "" || p.rules == rules {
			some = append(some, p)
		}
	}
	return some
}

// setUp returns the position under a rule set.
func (p position) setUp(rules string) (game.Position, error) {
	r, err := catalog.Rules(rules)
	if err != nil {
		return nil, err
	}
	return r.New(p.text)
}
