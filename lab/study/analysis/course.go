package analysis

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"sparring/game"
	"sparring/internal/chart"
	"sparring/record/review"
)

// marks are how mistakes are marked.
var marks = []struct {
	class review.Class
	name  string
	color color.Color
	shape draw.GlyphDrawer
}{
	{review.Inaccuracy, "inaccuracy", chart.Yellow, draw.CircleGlyph{}},
	{review.Mistake, "mistake", chart.Orange, draw.PyramidGlyph{}},
	{review.Blunder, "blunder", chart.Red, draw.BoxGlyph{}},
}

// Course draws the course of a reviewed game: the winning chance of seat first after
// each ply, with the mistakes marked where they led to.
func Course(rep *Report, out io.Writer, f chart.Format) error {
	names := rep.Names
	if f == chart.PNG {
		names = rep.Players // the font has no Chinese characters; readers of SVG have their own
	}
	title := fmt.Sprintf("%s, %s: %s - %s", rep.Game, rep.Rules, names[game.First], names[game.Second])
	if rep.Result != game.Undecided {
		title += fmt.Sprintf(", result %s", rep.Result)
	}
	p := chart.New(title, "ply", "winning chance of the first seat, %")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, math.Max(1, float64(len(rep.Plies))), 0, 100
	p.X.Tick.Marker, p.Y.Tick.Marker = chart.Round{}, chart.Percent
	chart.Grid(p, false)
	for _, points := range course(rep) {
		if err := chart.Line(p, points); err != nil {
			return err
		}
	}
	p.Legend.Top, p.Legend.Left = true, true // a game begins in the middle
	p.Legend.XOffs = vg.Points(8)
	for _, mark := range marks {
		var points plotter.XYs
		for _, m := range rep.Plies {
			if m.Class == mark.class && m.Chance != nil {
				points = append(points, plotter.XY{X: float64(m.Ply), Y: 100 * *m.Chance})
			}
		}
		if len(points) == 0 {
			continue
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: mark.color, Radius: vg.Points(4), Shape: mark.shape}
		p.Add(s)
		p.Legend.Add(mark.name, s)
	}
	return chart.Write(out, f, p)
}

// course returns the stretches of the game whose chances are known. A stretch of one
// position has it twice: a line needs two points.
func course(rep *Report) (stretches []plotter.XYs) {
	var now plotter.XYs
	end := func() {
		if len(now) == 1 {
			now = append(now, now[0])
		}
		if len(now) > 0 {
			stretches = append(stretches, now)
		}
		now = nil
	}
	add := func(ply int, chance *float64) {
		if chance == nil {
			end()
			return
		}
		now = append(now, plotter.XY{X: float64(ply), Y: 100 * *chance})
	}
	add(0, rep.Start)
	for _, m := range rep.Plies {
		add(m.Ply, m.Chance)
	}
	end()
	return stretches
}
