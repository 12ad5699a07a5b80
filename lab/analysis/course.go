package analysis

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

	"sparring/game"
	"sparring/record/review"
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

// Size of a drawing, and its resolution as pixels.
const (
	courseWidth  = 24 * vg.Centimeter
	courseHeight = 9 * vg.Centimeter
	courseDPI    = 144
)

// marks are how mistakes are marked.
var marks = []struct {
	class review.Class
	name  string
	color color.Color
	shape draw.GlyphDrawer
}{
	{review.Inaccuracy, "inaccuracy", color.RGBA{R: 0xd9, G: 0xa4, A: 0xff}, draw.CircleGlyph{}},
	{review.Mistake, "mistake", color.RGBA{R: 0xe0, G: 0x6c, A: 0xff}, draw.PyramidGlyph{}},
	{review.Blunder, "blunder", color.RGBA{R: 0xc0, G: 0x1c, B: 0x1c, A: 0xff}, draw.BoxGlyph{}},
}

// Course draws the course of a reviewed game: the winning chance of seat first after
// each ply, with the mistakes marked where they led to.
func Course(rep *Report, out io.Writer, f Format) error {
	names := rep.Names
	if f == PNG {
		names = rep.Players // the font has no Chinese characters; readers of SVG have their own
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s, %s: %s - %s", rep.Game, rep.Rules, names[game.First], names[game.Second])
	if rep.Result != game.Undecided {
		p.Title.Text += fmt.Sprintf(", result %s", rep.Result)
	}
	p.Title.Padding = vg.Points(6)
	p.X.Label.Text = "ply"
	p.Y.Label.Text = "winning chance of the first seat, %"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, math.Max(1, float64(len(rep.Plies))), 0, 100
	p.Y.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 25, Label: "25"}, {Value: 50, Label: "50"}, {Value: 75, Label: "75"}, {Value: 100, Label: "100"}})
	p.X.Tick.Marker = plyTicks{}
	p.X.Padding, p.Y.Padding = 0, 0
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	p.Add(grid)
	for _, points := range course(rep) {
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = color.RGBA{R: 0x1f, G: 0x4e, B: 0x79, A: 0xff}, vg.Points(1.5)
		p.Add(line)
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
	return render(p, out, f)
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

// render writes a plot.
func render(p *plot.Plot, out io.Writer, f Format) error {
	if f == SVG {
		c := vgsvg.New(courseWidth, courseHeight)
		p.Draw(withMargin(c))
		_, err := c.WriteTo(out)
		return err
	}
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(courseWidth, courseHeight), vgimg.UseDPI(courseDPI))}
	p.Draw(withMargin(c))
	_, err := c.WriteTo(out)
	return err
}

// withMargin returns what to draw on, inside of a margin.
func withMargin(c vg.CanvasSizer) draw.Canvas {
	const margin = 10
	return draw.Crop(draw.New(c), vg.Points(margin), -vg.Points(2*margin), vg.Points(margin), -vg.Points(margin))
}

// plyTicks are at most 21 labelled ticks at round numbers of plies.
type plyTicks struct{}

// Ticks implements plot.Ticker.
func (plyTicks) Ticks(_, most float64) (ticks []plot.Tick) {
	step := 1
	for _, step = range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		if most <= float64(20*step) {
			break
		}
	}
	for ply := 0; float64(ply) <= most; ply += step {
		ticks = append(ticks, plot.Tick{Value: float64(ply), Label: fmt.Sprint(ply)})
	}
	return ticks
}
