package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Measured is a value with its error, on a scale. Value, Low and High may be
// infinite: what is not known ends at the edge.
type Measured struct {
	Label            string
	Value, Low, High float64
}

// Scale returns a plot with a row for each measurement, the first one at the bottom,
// with the interval from Low to High.
func Scale(title, x string, rows []Measured) *plot.Plot {
	p := New(title, x, "")
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	var labels []plot.Tick
	for i, r := range rows {
		labels = append(labels, plot.Tick{Value: float64(i), Label: r.Label})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(labels)
	p.Y.Tick.Length = 0
	p.Y.Tick.Label.YAlign = text.YCenter
	p.X.Min, p.X.Max = ends(rows)
	p.X.Tick.Marker = Round{}
	Grid(p, true)
	p.Add(bars(rows))
	return p
}

// Share gives plots the same range of X.
func Share(plots ...*plot.Plot) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range plots {
		low, high = min(low, p.X.Min), max(high, p.X.Max)
	}
	for _, p := range plots {
		p.X.Min, p.X.Max = low, high
	}
}

// ends returns a range that has all finite numbers, and 0.
func ends(rows []Measured) (low, high float64) {
	for _, r := range rows {
		for _, v := range []float64{r.Value, r.Low, r.High} {
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	room := max((high-low)/20, 10)
	if low < 0 {
		low -= room
	}
	return low, high + room
}

// bars draws the values and intervals of a scale.
type bars []Measured

// Plot implements plot.Plotter.
func (rows bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	line := draw.LineStyle{Color: Blue, Width: LineWidth}
	for i, r := range rows {
		y := toY(float64(i))
		known := func(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
		from, to := c.Min.X, c.Max.X
		if known(r.Low) {
			from = toX(r.Low)
			c.StrokeLine2(line, from, y-vg.Points(4), from, y+vg.Points(4))
		}
		if known(r.High) {
			to = toX(r.High)
			c.StrokeLine2(line, to, y-vg.Points(4), to, y+vg.Points(4))
		}
		if known(r.Low) || known(r.High) {
			c.StrokeLine2(line, from, y, to, y)
		}
		if known(r.Value) {
			c.DrawGlyph(draw.GlyphStyle{Color: Blue, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}, vg.Point{X: toX(r.Value), Y: y})
		}
	}
}
