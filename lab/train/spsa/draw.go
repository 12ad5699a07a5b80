package spsa

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"sparring/internal/chart"
)

// Draw draws each parameter's value over the games, with its start, and below the
// share of the points that the players made who had it higher, over a tenth of the
// games at a time: away from 50 % there is something to gain.
func (t *Tuning) Draw(out io.Writer, f chart.Format) error {
	var plots []*plot.Plot
	for i := range t.Params {
		p, err := t.drawValue(i)
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	score, err := t.drawScore()
	if err != nil {
		return err
	}
	return chart.Write(out, f, append(plots, score)...)
}

// gamesPlot returns a plot over the games.
func (t *Tuning) gamesPlot(title, y string) *plot.Plot {
	p := chart.New(title, "games", y)
	p.X.Min, p.X.Max = 0, float64(2*t.Pairs)
	p.X.Tick.Marker = chart.Round{}
	chart.Grid(p, false)
	return p
}

func (t *Tuning) drawValue(i int) (*plot.Plot, error) {
	param := t.Params[i]
	p := t.gamesPlot(fmt.Sprintf("%s: %s at the start, %s after %d games", param.Name, param.Text(param.Start), param.Text(t.Values()[i]), 2*len(t.Results)), param.Name)
	p.Y.Min, p.Y.Max = param.Start, param.Start
	var line plotter.XYs
	for k, values := range t.Path {
		v := values[i]
		p.Y.Min, p.Y.Max = min(p.Y.Min, v), max(p.Y.Max, v)
		if k%thin(len(t.Path)) == 0 || k == len(t.Path)-1 {
			line = append(line, plotter.XY{X: float64(2 * k), Y: v})
		}
	}
	p.Y.Min, p.Y.Max = max(p.Y.Min-param.Step, param.Min), min(p.Y.Max+param.Step, param.Max)
	if err := chart.Dashed(p, plotter.XY{Y: param.Start}, plotter.XY{X: p.X.Max, Y: param.Start}); err != nil {
		return nil, err
	}
	return p, chart.Line(p, line)
}

// windows is how many parts of the games the scores are of.
const windows = 10

// drawScore draws the scores of the higher values.
func (t *Tuning) drawScore() (*plot.Plot, error) {
	width := max(t.Pairs/windows, 1)
	p := t.gamesPlot(fmt.Sprintf("score of the higher value, over %d games", 2*width), "score, %")
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, 100, chart.Percent
	p.Legend.Top = true
	p.Legend.XOffs = vg.Points(-8)
	if err := chart.Dashed(p, plotter.XY{Y: 50}, plotter.XY{X: p.X.Max, Y: 50}); err != nil {
		return nil, err
	}
	for i, param := range t.Params {
		var points plotter.XYs
		for to := width; to <= len(t.Results); to += max(width/windows, 1) {
			if pairs := t.Higher(i, to-width, to); pairs.Count() > 0 {
				points = append(points, plotter.XY{X: float64(2*to - width), Y: 100 * pairs.Score()})
			}
		}
		if len(points) < 2 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = chart.Colors[i%len(chart.Colors)], chart.LineWidth
		if n := i / len(chart.Colors); n > 0 {
			line.Dashes = []vg.Length{vg.Points(float64(2 * n)), vg.Points(2)}
		}
		p.Add(line)
		p.Legend.Add(param.Name, line)
	}
	return p, nil
}

// maxPoints bounds what is drawn of a long run: the drawing is some 700 points wide.
const maxPoints = 1000

// thin returns the distance of the points to draw.
func thin(points int) int { return int(math.Ceil(float64(points) / maxPoints)) }
