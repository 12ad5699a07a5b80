package match

import (
	"fmt"
	"io"
	"math"
	"strings"

	"sparring/engine"
	"sparring/internal/texttable"
	"sparring/lab/match/elo"
)

// Line returns the standing as one line, for a progress display. Test may be nil.
func (s *Standing) Line(test *elo.SPRT) string {
	if len(s.Pairings) == 1 {
		m := &s.Pairings[0]
		diff := eloText(m.Pairs)
		if m.unpaired() > 0 && diff != tooFew { // else it would seem to contradict the percentage
			diff = "of complete pairs " + diff
		}
		text := fmt.Sprintf("%s %.1f %%, Elo %s", m.wdl(), m.Percent(), diff)
		if m.Pairs.Count() > 1 {
			text += fmt.Sprintf(", LOS %.1f %%", 100*m.Pairs.LOS())
		}
		if test != nil {
			text += ", " + llrText(test, m.Pairs)
		}
		return text
	}
	best := &s.Players[s.Ranking()[0]]
	return fmt.Sprintf("ahead: %s with %g of %d", best.Name, best.Points(), best.Games())
}

// llrText writes the state of a test: "LLR 1.02 (-2.94 to 2.94)".
func llrText(test *elo.SPRT, p elo.Pairs) string {
	lower, upper := test.Bounds()
	return fmt.Sprintf("LLR %.2f (%.2f to %.2f)", test.LLR(p), lower, upper)
}

// Write prints the full standing. Test may be nil.
func (s *Standing) Write(out io.Writer, test *elo.SPRT) error {
	var b strings.Builder
	if len(s.Pairings) == 1 {
		s.writeDuel(&b, test)
	} else {
		s.writeTable(&b)
	}
	s.writeEnds(&b)
	s.writePlayers(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func (s *Standing) writeDuel(b *strings.Builder, test *elo.SPRT) {
	m := &s.Pairings[0]
	fmt.Fprintf(b, "%s against %s\n", s.Players[m.A].Name, s.Players[m.B].Name)
	fmt.Fprintf(b, "games      %d: %s, %s, %.2f %%\n", m.Games(), m.wdl(), pointsText(m.Points()), m.Percent())
	fmt.Fprintf(b, "pairs      %d: %s (0, ½, 1, 1½, 2 points)", m.Pairs.Count(), pairsText(m.Pairs))
	switch n := m.unpaired(); {
	case n == 1:
		b.WriteString("; score and Elo do not count the game whose pair is not complete")
	case n > 1:
		fmt.Fprintf(b, "; score and Elo do not count %d games whose pairs are not complete", n)
	}
	fmt.Fprintln(b)
	low, high := m.Pairs.Interval()
	fmt.Fprintf(b, "score      95 %% interval %.2f to %.2f %%\n", 100*low, 100*high)
	text := eloText(m.Pairs)
	if text != tooFew {
		text += fmt.Sprintf(" at 95 %%, LOS %.2f %%", 100*m.Pairs.LOS())
		if n := m.Pairs.Normalized(); !math.IsInf(n.Error, 0) {
			text += fmt.Sprintf(", normalized %+.1f ± %.1f", n.Elo, n.Error)
		}
	}
	fmt.Fprintf(b, "Elo        %s\n", text)
	if test != nil {
		fmt.Fprintf(b, "SPRT       %s for elo0 %g, elo1 %g: %s\n", llrText(test, m.Pairs), test.Elo0, test.Elo1, test.Verdict(m.Pairs))
	}
}

func (s *Standing) writeTable(b *strings.Builder) {
	players := texttable.Table{{"rank", "player", "games", "W-D-L", "points", "%", "Elo (95 %)", "faults"}}
	for rank, i := range s.Ranking() {
		p := &s.Players[i]
		players.Add(rank+1, p.Name, p.Games(), p.wdl(), p.Points(), fmt.Sprintf("%.1f", p.Percent()), eloText(p.Pairs), p.FaultCount())
	}
	pairings := texttable.Table{{"pairing", "games", "W-D-L", "points", "%", "Elo (95 %)", "LOS %"}}
	for i := range s.Pairings {
		m := &s.Pairings[i]
		pairings.Add(s.Players[m.A].Name+" - "+s.Players[m.B].Name, m.Games(), m.wdl(), m.Points(), fmt.Sprintf("%.1f", m.Percent()), eloText(m.Pairs), fmt.Sprintf("%.1f", 100*m.Pairs.LOS()))
	}
	players.Write(b) // a Builder never fails
	b.WriteByte('\n')
	pairings.Write(b)
}

func (s *Standing) writeEnds(b *strings.Builder) {
	var parts []string
	for _, reason := range sorted(s.Reasons) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, s.Reasons[reason]))
	}
	fmt.Fprintf(b, "ended by   %s\n", strings.Join(parts, ", "))
	fmt.Fprintf(b, "repetition %d of %d games ended by repetition\n", s.Repetitions, s.Games)
	if s.Repeated > 0 {
		fmt.Fprintf(b, "repeated   %d of %d games are move for move like others: the errors are too small\n", s.Repeated, s.Games)
	}
	fmt.Fprintf(b, "first seat %s, %.1f %%", s.First.wdl(), s.First.Percent())
	if s.Paired > 0 {
		fmt.Fprintf(b, "; the same seat won both games of %d of %d pairs", s.SameSeat, s.Paired)
	}
	b.WriteByte('\n')
	if s.Stalls.Games > 0 {
		fmt.Fprintf(b, "stalls     %s\n", s.Stalls.text(s.Players))
	}
}

func (s *Standing) writePlayers(b *strings.Builder) {
	for i := range s.Players {
		p := &s.Players[i]
		b.WriteString(p.Name)
		if l, ok := s.Terms.Limits[i]; ok {
			fmt.Fprintf(b, " with %s", l)
		}
		fmt.Fprintf(b, ": %s", faultsText(p))
		if s.Terms.Over == "" { // otherwise the platform keeps the clocks
			fmt.Fprintf(b, ", %s over %d ms", texttable.Count(p.Overshoots, "overshoot", "overshoots"), OvershootMS)
		}
		fmt.Fprintf(b, "; %s\n", speedText(p.Side))
		if p.FirstFault != nil {
			fmt.Fprintf(b, "  first fault (%s): %s\n", p.FirstFault.Kind, strings.Join(strings.Fields(p.FirstFault.Text), " "))
		}
	}
}

// unpaired returns the number of games whose pair is not complete: they count as games,
// but not for the interval and the Elo.
func (s *Score) unpaired() int { return s.Games() - 2*s.Pairs.Count() }

func (s *Score) wdl() string { return fmt.Sprintf("%d-%d-%d", s.Wins, s.Draws, s.Losses) }

func pointsText(n float64) string {
	if n == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%g points", n)
}

func pairsText(p elo.Pairs) string {
	return strings.Trim(fmt.Sprint([5]int(p)), "[]")
}

// tooFew stands for an Elo of which the games say nothing yet.
const tooFew = "too few games"

// eloText writes a difference in Elo with the ends of its 95 % interval, as
// "+12.3 (+7.8 to +16.9)". An end beyond all numbers is left out: "+338.0 (above
// +190.8)". Where both are, the games say nothing yet.
func eloText(p elo.Pairs) string {
	low, high := p.EloInterval()
	switch diff := p.Elo().Elo; {
	case math.IsInf(low, 0) && math.IsInf(high, 0):
		return tooFew
	case math.IsInf(diff, 1):
		return fmt.Sprintf("above %+.1f", low)
	case math.IsInf(diff, -1):
		return fmt.Sprintf("below %+.1f", high)
	case math.IsInf(high, 0):
		return fmt.Sprintf("%+.1f (above %+.1f)", diff, low)
	case math.IsInf(low, 0):
		return fmt.Sprintf("%+.1f (below %+.1f)", diff, high)
	default:
		return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", diff, low, high)
	}
}

func faultsText(p *Tally) string {
	if p.FaultCount() == 0 {
		return "no faults"
	}
	return fmt.Sprintf("%s (%s)", texttable.Count(p.FaultCount(), "fault", "faults"), kindsText(p.Faults))
}

func kindsText(kinds map[engine.FaultKind]int) string {
	var parts []string
	for _, kind := range sorted(kinds) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

func speedText(s Side) string {
	if s.Moves == 0 {
		return "no moves"
	}
	moves, seconds := float64(s.Moves), float64(s.TimeUS)/1e6
	text := fmt.Sprintf("%.1f ms", 1000*seconds/moves)
	if s.Nodes > 0 { // not all players report them
		text += fmt.Sprintf(" and %.0f nodes", float64(s.Nodes)/moves)
	}
	text += " a move"
	if s.Nodes > 0 && seconds > 0 {
		text += fmt.Sprintf(", %.0f nodes/s", float64(s.Nodes)/seconds)
	}
	if s.Searched > 0 {
		text += fmt.Sprintf(", depth %.1f", float64(s.Depths)/float64(s.Searched))
	}
	return text
}
