package gametest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
)

var pointText = regexp.MustCompile(`[a-z][0-9]{1,2}`)

// Refusals checks a position's reasons: every sequence of points that is not a
// legal move or the beginning of one is refused for a reason that package game
// lists, every other is not. It tries all points, all pairs of points, and all
// points after each of a few legal pairs.
func Refusals(t *testing.T, p game.Position) map[game.Refusal]int {
	t.Helper()
	legal, longest := map[string]bool{}, 1
	var pairs []string
	for _, m := range p.Legal(nil) {
		points := pointText.FindAllString(p.Format(m), -1)
		longest = max(longest, len(points))
		for i := range points {
			legal[strings.Join(points[:i+1], " ")] = true
		}
		if len(points) == 3 && (len(pairs) == 0 || pairs[len(pairs)-1] != points[0]+" "+points[1]) {
			pairs = append(pairs, points[0]+" "+points[1])
		}
	}
	reasons := map[game.Refusal]int{}
	before := p.String()
	try := func(points []string) {
		why, err := p.(game.Refuser).Refusal(points)
		wanted := !legal[strings.Join(points, " ")]
		if err != nil || (why != "") != wanted || wanted && !slices.Contains(game.Refusals, why) {
			t.Fatalf("%s: %v is refused by %q, %v; want a reason: %t", p, points, why, err, wanted)
		}
		reasons[why]++
	}
	all := points(p)
	for _, first := range all {
		try([]string{first})
		if longest > 1 {
			for _, second := range all {
				try([]string{first, second})
			}
		}
	}
	for i, pair := range pairs {
		if i%(len(pairs)/8+1) == 0 {
			for _, third := range all {
				try(append(strings.Fields(pair), third))
			}
		}
	}
	for _, bad := range [][]string{nil, {""}, {"z99"}, {"a"}, {"h8", "h9", "h10", "h8"}, {strings.Repeat("a1", 500)}} {
		if why, err := p.(game.Refuser).Refusal(bad); err == nil || why != "" {
			t.Fatalf("points %.20q: %q, %v; want an error", bad, why, err)
		}
	}
	if p.String() != before {
		t.Fatalf("%s became %s", before, p)
	}
	return reasons
}

// points names all points of the board.
func points(p game.Position) (all []string) {
	g := p.(game.Pictured).Grid()
	for row := range g.Rows {
		for column := range g.Columns {
			all = append(all, string(rune('a'+column))+strconv.Itoa(g.FirstRow+row))
		}
	}
	return all
}
