// Package experiment repeats experiments that papers report, as matches, and
// prints the results beside those of the paper.
package experiment

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"sparring/internal/texttable"
	"sparring/lab/match"
)

// The experiment of Guo, Li, Bao, "Research on evaluation function computer game of
// Amazon", Computer Engineering and Applications 48(34), 2012, section 4: the
// evaluation with weights by stage plays those that it replaces, with either
// player to move first, at three times a move.

// Guo2012Staged is the name of the paper's evaluation, as of eval= in a spec.
const Guo2012Staged = "staged"

// Guo2012Opponents returns the evaluations that it plays against.
func Guo2012Opponents() []string { return []string{"fixed", "lieberum"} }

// Guo2012Games is the number of games in each row of the paper's tables: those with
// the same player to move first.
const Guo2012Games = 20

// Guo2012Round is what was played at one time a move.
type Guo2012Round struct {
	Time time.Duration
	// Standings has a match for each opponent, in their order: player 0 is
	// staged, player 1 the opponent.
	Standings []*match.Standing
}

// guo2012Table is one of the paper's tables 2 to 4. Won is how many of its 20
// games staged won against each opponent, moving second and moving first.
type guo2012Table struct {
	number int
	time   time.Duration
	won    [2]struct{ second, first int }
}

var guo2012Tables = []guo2012Table{
	{4, 10 * time.Second, [2]struct{ second, first int }{{18, 17}, {17, 18}}},
	{3, 20 * time.Second, [2]struct{ second, first int }{{16, 15}, {12, 14}}},
	{2, 30 * time.Second, [2]struct{ second, first int }{{14, 14}, {10, 14}}},
}

// Guo2012Times returns the paper's times a move, the shortest first.
func Guo2012Times() (all []time.Duration) {
	for _, t := range guo2012Tables {
		all = append(all, t.time)
	}
	return all
}

// tableFor returns the table of the paper to compare round i with: that of the same
// time or, if there is none, that of the same place in the order of times.
func tableFor(i int, time time.Duration) *guo2012Table {
	for k := range guo2012Tables {
		if guo2012Tables[k].time == time {
			return &guo2012Tables[k]
		}
	}
	return &guo2012Tables[min(i, len(guo2012Tables)-1)]
}

// WriteGuo2012 prints the rounds as the paper's tables. A score is that of the player
// who moves first, colon, that of the other. Late moves exceeded their time by more
// than match.OvershootMS: many of them mean that the machine was too busy.
func WriteGuo2012(out io.Writer, rounds []Guo2012Round) error {
	var b strings.Builder
	for i, r := range rounds {
		if i > 0 {
			b.WriteByte('\n')
		}
		r.write(&b, tableFor(i, r.Time))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *Guo2012Round) write(b *strings.Builder, paper *guo2012Table) {
	fmt.Fprintf(b, "%v a move, beside table %d of the paper (%v a move)\n", r.Time, paper.number, paper.time)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "first\tsecond\tgames\tscore\tfirst %\tpaper\tfirst %")
	for k, s := range r.Standings {
		staged, other := s.Players[0].Name, s.Players[1].Name
		m := &s.Pairings[0]
		asFirst, asSecond := m.First, m.Second()
		row := func(first, second string, games int, points float64, printed int) {
			if games == 0 {
				return
			}
			fmt.Fprintf(w, "%s\t%s\t%d\t%g:%g\t%.1f\t%d:%d\t%.1f\n", first, second, games, points, float64(games)-points,
				100*points/float64(games), printed, Guo2012Games-printed, 100*float64(printed)/Guo2012Games)
		}
		row(other, staged, asSecond.Games(), float64(asSecond.Games())-asSecond.Points(), Guo2012Games-paper.won[k].second)
		row(staged, other, asFirst.Games(), asFirst.Points(), paper.won[k].first)
	}
	fmt.Fprintln(w, "\nevaluation\tmoves\tlate\tnodes a move\tdepth a move")
	for _, p := range r.players() {
		moves := float64(max(p.Moves, 1))
		fmt.Fprintf(w, "%s\t%d\t%d\t%.0f\t%.2f\n", p.Name, p.Moves, p.Overshoots, float64(p.Nodes)/moves, float64(p.Depths)/float64(max(p.Searched, 1)))
	}
	w.Flush() // a Builder never fails
	for _, s := range r.Standings {
		m := &s.Pairings[0]
		if m.Games() == 0 {
			continue
		}
		low, high := m.Pairs.Interval()
		fmt.Fprintf(b, "%s against %s: %g of %d, %.1f %% (95 %%: %.1f to %.1f)\n", s.Players[0].Name, s.Players[1].Name,
			m.Points(), m.Games(), m.Percent(), 100*low, 100*high)
		for i := range s.Players {
			if p := &s.Players[i]; p.FaultCount() > 0 {
				fmt.Fprintf(b, "%s lost %s by a fault, the first: %s\n", p.Name, texttable.Count(p.FaultCount(), "game", "games"), p.FirstFault.Text)
			}
		}
	}
}

// players sums up the moves of each evaluation over the round's matches.
func (r *Guo2012Round) players() (all []match.Tally) {
	for _, s := range r.Standings {
		for _, p := range s.Players {
			at := -1
			for i := range all {
				if all[i].Name == p.Name {
					at = i
				}
			}
			if at < 0 {
				all = append(all, match.Tally{Name: p.Name})
				at = len(all) - 1
			}
			all[at].Side.Add(p.Side)
		}
	}
	return all
}
