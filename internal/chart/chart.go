// Package chart draws what the tools measure, as SVG or PNG: the common style,
// formats and axes. The packages that measure make the plots.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Format is a format of drawings, by the extension of their files.
type Format string

// The formats of drawings.
const (
	SVG Format = ".svg"
	PNG Format = ".png"
)

// FormatOf returns the format that a file's name ends in.
func FormatOf(path string) (Format, error) {
	switch f := Format(strings.ToLower(filepath.Ext(path))); f {
	case SVG, PNG:
		return f, nil
	}
	return "", fmt.Errorf("%s: want a name that ends in %s or %s", path, SVG, PNG)
}

// Colours of lines.
var (
	Blue   = color.RGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0xff}
	Yellow = color.RGBA{R: 0xd9, G: 0xa4, A: 0xff}
	Orange = color.RGBA{R: 0xe0, G: 0x6c, A: 0xff}
	Red    = color.RGBA{R: 0xc0, G: 0x1c, B: 0x1c, A: 0xff}
	pale   = color.RGBA{R: 0xcf, G: 0xdd, B: 0xeb, A: 0xff} // Blue's, for areas
	grey   = color.Gray{Y: 0x77}
	light  = color.Gray{Y: 0xdd}
)

// Colors are those of several lines in one drawing.
var Colors = []color.Color{Blue, Red, Yellow, Orange}

// LineWidth is the width of a line that shows a measurement.
const LineWidth = vg.Length(1.5)

// Size of a panel, and its resolution as pixels.
const (
	panelWidth  = 24 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
	dpi         = 144
)

// New returns a plot in the common style.
func New(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	p.X.Padding, p.Y.Padding = 0, 0
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	return p
}

// Grid draws a grid's horizontal lines, or with vertical its vertical ones.
func Grid(p *plot.Plot, vertical bool) {
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, light
	if vertical {
		grid.Vertical.Color, grid.Horizontal.Color = light, nil
	}
	p.Add(grid)
}

// Line adds a curve in the colour of measurements.
func Line(p *plot.Plot, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = Blue, LineWidth
	p.Add(line)
	return nil
}

// Dashed adds a dashed line from one point to another, such as a bound.
func Dashed(p *plot.Plot, from, to plotter.XY) error {
	line, err := plotter.NewLine(plotter.XYs{from, to})
	if err != nil {
		return err
	}
	line.Color, line.Dashes = grey, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(line)
	return nil
}

// Band adds the area between two curves over the same places.
func Band(p *plot.Plot, low, high plotter.XYs) error {
	edge := append(plotter.XYs{}, low...)
	for i := len(high) - 1; i >= 0; i-- {
		edge = append(edge, high[i])
	}
	area, err := plotter.NewPolygon(edge)
	if err != nil {
		return err
	}
	area.Color, area.LineStyle.Width = pale, 0
	p.Add(area)
	return nil
}

// Write draws plots below each other. Those with the same range of X have it at the
// same place.
func Write(out io.Writer, f Format, plots ...*plot.Plot) error {
	height := panelHeight * vg.Length(len(plots))
	if f == SVG {
		c := vgsvg.New(panelWidth, height)
		drawAll(c, plots)
		_, err := c.WriteTo(out)
		return err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(panelWidth, height), vgimg.UseDPI(dpi))}
	drawAll(c, plots)
	_, err := c.WriteTo(out)
	return err
}

func drawAll(c vg.CanvasSizer, plots []*plot.Plot) {
	const margin = 10
	inner := draw.Crop(draw.New(c), vg.Points(margin), -vg.Points(2*margin), vg.Points(margin), -vg.Points(margin))
	rows := make([][]*plot.Plot, len(plots))
	for i, p := range plots {
		rows[i] = []*plot.Plot{p}
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: vg.Points(margin)}
	for i, row := range plot.Align(rows, tiles, inner) {
		plots[i].Draw(row[0])
	}
}

// Round are at most 21 labelled ticks at round whole numbers, for axes that count
// plies or games, or have Elo.
type Round struct{}

// Ticks implements plot.Ticker.
func (Round) Ticks(least, most float64) (ticks []plot.Tick) {
	if span := most - least; math.IsInf(span, 0) || math.IsNaN(span) {
		return nil
	}
	for scale := 1.0; ; scale *= 10 {
		for _, round := range []float64{1, 2, 5} {
			step := round * scale
			if most-least > 20*step {
				continue
			}
			for at := math.Ceil(least / step); at*step <= most; at++ {
				ticks = append(ticks, plot.Tick{Value: at * step, Label: fmt.Sprint(int(at * step))})
			}
			return ticks
		}
	}
}

// Percent are the ticks of an axis from 0 to 100 %.
var Percent = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}})
