package experiment_test

import (
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/lab/match"
	"sparring/lab/study/experiment"
	"sparring/record"
)

// standing returns a match of four games of staged against an opponent. Won has
// the games that staged wins, by pair, first moving first, then second.
func standing(t *testing.T, opponent string, won [2][2]bool) *match.Standing {
	t.Helper()
	s := match.NewStanding(&match.Terms{Players: []string{experiment.Guo2012Staged, opponent}, Kind: match.RoundRobin})
	for pair := range won {
		for leg := range won[pair] {
			g := &match.Game{Match: match.GameInfo{Pair: pair + 1, Leg: leg + 1, Players: [2]int{leg, 1 - leg}}}
			staged := game.Seat(leg)
			g.Record = record.Record{Reason: game.NoMoves, Result: game.WonBy(staged.Other())}
			if won[pair][leg] {
				g.Result = game.WonBy(staged)
			}
			g.Match.Sides[staged] = match.Side{Moves: 40, Nodes: 80_000, Depths: 180, Searched: 40}
			g.Match.Sides[staged.Other()] = match.Side{Moves: 40, Nodes: 40_000, Depths: 160, Searched: 40, Overshoots: 1}
			if err := s.Add(g); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func TestWriteGuo2012(t *testing.T) {
	rounds := []experiment.Guo2012Round{
		{Time: 100 * time.Millisecond, Standings: []*match.Standing{
			standing(t, "fixed", [2][2]bool{{true, true}, {true, false}}),
			standing(t, "lieberum", [2][2]bool{{false, true}, {false, true}}),
		}},
		{Time: 30 * time.Second, Standings: []*match.Standing{standing(t, "fixed", [2][2]bool{{true, true}, {true, true}})}},
	}
	var out strings.Builder
	if err := experiment.WriteGuo2012(&out, rounds); err != nil {
		t.Fatal(err)
	}
	const want = `100ms a move, beside table 4 of the paper (10s a move)
first     second    games  score  first %  paper  first %
fixed     staged    2      1:1    50.0     2:18   10.0
staged    fixed     2      2:0    100.0    17:3   85.0
lieberum  staged    2      0:2    0.0      3:17   15.0
staged    lieberum  2      0:2    0.0      18:2   90.0

evaluation  moves  late  nodes a move  depth a move
staged      320    0     2000          4.50
fixed       160    4     1000          4.00
lieberum    160    4     1000          4.00
staged against fixed: 3 of 4, 75.0 % (95 %: `
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for _, part := range []string{
		"staged against lieberum: 2 of 4, 50.0 %",
		"\n30s a move, beside table 2 of the paper (30s a move)\n", // the same time, although it is the second
		"\nstaged  fixed   2      2:0    100.0    14:6   70.0\n",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
}
