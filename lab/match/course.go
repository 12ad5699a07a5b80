package match

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"sparring/internal/chart"
	"sparring/lab/match/elo"
)

// reading is the state of a match of two players after a pair was completed.
type reading struct {
	games int // finished by then
	pairs elo.Pairs
}

// course returns the readings after each pair, from the second one on: one pair has
// no error.
func (s *Standing) course() (all []reading) {
	var now elo.Pairs
	open := map[int]int{} // half points of the first game of a pair
	for i, r := range s.Results {
		first, ok := open[r.Pair]
		if r.Leg == 0 {
			first, ok = r.Halves, true
		}
		if !ok {
			open[r.Pair] = r.Halves
			continue
		}
		if now.Add(first + r.Halves); now.Count() > 1 {
			all = append(all, reading{i + 1, now})
		}
	}
	return all
}

// maxReadings bounds what is drawn of a long match: the drawing is some 700 points
// wide.
const maxReadings = 1000

// thinned leaves out readings so that at most maxReadings and the last one remain.
func thinned(all []reading) []reading {
	step := len(all)/maxReadings + 1
	if step == 1 {
		return all
	}
	var some []reading
	for i, r := range all {
		if i%step == 0 || i == len(all)-1 {
			some = append(some, r)
		}
	}
	return some
}

// Draw draws the standing. Of a match of two players: the score with its 95 %
// interval over the games, and with a test its log-likelihood ratio between the
// bounds. Of several: their Elo, each relative to the opponents it met, on a scale
// with the 95 % intervals. Test may be nil.
func (s *Standing) Draw(out io.Writer, f chart.Format, test *elo.SPRT) error {
	if len(s.Pairings) > 1 {
		return chart.Write(out, f, s.scale())
	}
	all := thinned(s.course())
	m := &s.Pairings[0]
	score, err := s.score(all, ScoreTexts{
		Title: fmt.Sprintf("%s against %s: %s, Elo %s", s.Players[m.A].Name, s.Players[m.B].Name, m.wdl(), eloText(m.Pairs)),
		Games: "games",
		Score: fmt.Sprintf("score of %s, %%", s.Players[m.A].Name),
	})
	if err != nil {
		return err
	}
	plots := []*plot.Plot{score}
	if test != nil {
		llr, err := s.drawLLR(all, test)
		if err != nil {
			return err
		}
		plots = append(plots, llr)
	}
	return chart.Write(out, f, plots...)
}

// ScoreTexts are the texts of a drawing of a score over the games, for pages in other
// languages than English.
type ScoreTexts struct {
	Title string
	Games string // of the horizontal axis
	Score string // of the vertical axis: of the first player, in percent
}

// DrawScore draws the score of a match of two players like [Standing.Draw], with texts
// of one's own.
func (s *Standing) DrawScore(out io.Writer, f chart.Format, texts ScoreTexts) error {
	score, err := s.score(thinned(s.course()), texts)
	if err != nil {
		return err
	}
	return chart.Write(out, f, score)
}

// gamesPlot returns a plot over the games.
func (s *Standing) gamesPlot(title, games, y string) *plot.Plot {
	p := chart.New(title, games, y)
	p.X.Min, p.X.Max = 0, math.Max(float64(s.Games), 1)
	p.X.Tick.Marker = chart.Round{}
	chart.Grid(p, false)
	return p
}

func (s *Standing) score(all []reading, texts ScoreTexts) (*plot.Plot, error) {
	p := s.gamesPlot(texts.Title, texts.Games, texts.Score)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 100, chart.Percent
	if len(all) == 0 {
		return p, nil
	}
	var score, low, high plotter.XYs
	for _, r := range all {
		x := float64(r.games)
		a, b := r.pairs.Interval()
		score = append(score, plotter.XY{X: x, Y: 100 * r.pairs.Score()})
		low, high = append(low, plotter.XY{X: x, Y: 100 * a}), append(high, plotter.XY{X: x, Y: 100 * b})
	}
	if err := chart.Band(p, low, high); err != nil {
		return nil, err
	}
	if err := chart.Dashed(p, plotter.XY{Y: 50}, plotter.XY{X: p.X.Max, Y: 50}); err != nil {
		return nil, err
	}
	return p, chart.Line(p, score)
}

func (s *Standing) drawLLR(all []reading, test *elo.SPRT) (*plot.Plot, error) {
	lower, upper := test.Bounds()
	p := s.gamesPlot(fmt.Sprintf("sequential test of %g against %g Elo: %s", test.Elo0, test.Elo1, test.Verdict(s.Pairings[0].Pairs)), "games", "LLR")
	p.Y.Min, p.Y.Max = lower, upper
	var llr plotter.XYs
	for _, r := range all {
		v := test.LLR(r.pairs)
		llr = append(llr, plotter.XY{X: float64(r.games), Y: v})
		p.Y.Min, p.Y.Max = min(p.Y.Min, v), max(p.Y.Max, v)
	}
	room := (p.Y.Max - p.Y.Min) / 20
	p.Y.Min, p.Y.Max = p.Y.Min-room, p.Y.Max+room
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: lower, Label: fmt.Sprintf("%.2f", lower)}, {Value: 0, Label: "0"}, {Value: upper, Label: fmt.Sprintf("%.2f", upper)}})
	for _, bound := range []float64{lower, upper} {
		if err := chart.Dashed(p, plotter.XY{Y: bound}, plotter.XY{X: p.X.Max, Y: bound}); err != nil {
			return nil, err
		}
	}
	if len(llr) == 0 {
		return p, nil
	}
	return p, chart.Line(p, llr)
}

// scale returns the plot of several players, the best at the top.
func (s *Standing) scale() *plot.Plot {
	var rows []chart.Measured
	for _, i := range slices.Backward(s.Ranking()) {
		p := &s.Players[i]
		low, high := p.Pairs.EloInterval()
		rows = append(rows, chart.Measured{Label: p.Name, Value: p.Pairs.Elo().Elo, Low: low, High: high})
	}
	return chart.Scale(fmt.Sprintf("%s: %d games, 95 %% intervals", s.Terms.Rules, s.Games), "Elo relative to the opponents met", rows)
}
