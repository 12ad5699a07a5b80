package fleetbench

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"sparring/internal/chart"
)

// Heading are the columns of the table.
var Heading = []string{
	"GAMES", "MOVES/s", "STARTS/s", "CPU ms/MOVE", "nats", "arena", "bot", "CORES",
	"BOT KB/GAME", "ARENA KB/GAME", "RELAY p50", "p99", "BARE p50", "p99", "BOT p50", "p99", "ENDED", "TIME LOSSES",
}

// Rows returns the table of the steps, after a row for the relay without games.
func (r *Result) Rows() [][]string {
	var rows [][]string
	if r.Alone.Samples > 0 {
		row := make([]string, len(Heading))
		for i := range row {
			row[i] = "-"
		}
		row[0] = "none"
		row[10], row[11] = r.Alone.texts()
		row[12], row[13] = r.AloneBare.texts()
		rows = append(rows, row)
	}
	for _, s := range r.Steps {
		rows = append(rows, s.row())
	}
	return rows
}

func (l Latency) texts() (p50, p99 string) {
	return fmt.Sprintf("%.2f", l.P50), fmt.Sprintf("%.2f", l.P99)
}

func (t *Step) row() []string {
	relay50, relay99 := t.Relay.texts()
	bare50, bare99 := t.Bare.texts()
	f := func(format string, v any) string { return fmt.Sprintf(format, v) }
	return []string{
		f("%d", t.Running), f("%.0f", t.MovesPerSecond), f("%.0f", t.StartsPerSecond),
		f("%.2f", t.CPU.Sum()), f("%.2f", t.CPU.NATS), f("%.2f", t.CPU.Arena), f("%.2f", t.CPU.Bot), f("%.2f", t.Cores),
		f("%.0f", t.LiveKB.Bot), f("%.0f", t.LiveKB.Arena), relay50, relay99, bare50, bare99,
		f("%d", t.Overhead.P50), f("%d", t.Overhead.P99), f("%d", t.Ended), f("%d", t.LostOnTime),
	}
}

// Shares says how many seats each bot process has taken of those that it has.
func (t *Step) Shares() string {
	var all []string
	for i, s := range t.Seats {
		all = append(all, fmt.Sprintf("bot process %d: %d of %d", i+1, s.Taken, s.Most))
	}
	return strings.Join(all, ", ")
}

// curve is a line of a drawing.
type curve struct {
	name string
	y    func(*Step) float64
}

// Draw draws processor time a move, memory a game and latency against the number of
// games.
func (r *Result) Draw(out io.Writer, f chart.Format) error {
	if len(r.Steps) == 0 {
		return errors.New("nothing was measured that could be drawn")
	}
	panels := []struct {
		title, y string
		curves   []curve
	}{
		{"Processor time", "ms a move", []curve{
			{"all", func(s *Step) float64 { return s.CPU.Sum() }}, {"bot", func(s *Step) float64 { return s.CPU.Bot }},
			{"arena", func(s *Step) float64 { return s.CPU.Arena }}, {"NATS server", func(s *Step) float64 { return s.CPU.NATS }},
		}},
		{"Memory", "KB a game", []curve{
			{"bot", func(s *Step) float64 { return s.LiveKB.Bot }}, {"arena", func(s *Step) float64 { return s.LiveKB.Arena }},
		}},
		{"From sending a move until the opponent is informed", "ms", []curve{
			{"p50", func(s *Step) float64 { return s.Relay.P50 }}, {"p99", func(s *Step) float64 { return s.Relay.P99 }},
			{"bare request, p50", func(s *Step) float64 { return s.Bare.P50 }}, {"bare request, p99", func(s *Step) float64 { return s.Bare.P99 }},
		}},
	}
	var plots []*plot.Plot
	for _, panel := range panels {
		p := chart.New(panel.title, "games at once", panel.y)
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, gameTicks{}
		chart.Grid(p, false)
		p.X.Min, p.X.Max = 0.8*float64(r.Steps[0].Running+1), 1.25*float64(r.Steps[len(r.Steps)-1].Running+1)
		p.Y.Min = 0
		p.Legend.Top, p.Legend.Left = true, true
		for i, c := range panel.curves {
			points := make(plotter.XYs, len(r.Steps))
			for j := range r.Steps {
				points[j] = plotter.XY{X: float64(max(r.Steps[j].Running, 1)), Y: c.y(&r.Steps[j])}
			}
			line, dots, err := plotter.NewLinePoints(points)
			if err != nil {
				return err
			}
			line.Color, line.Width, dots.Color = chart.Colors[i], chart.LineWidth, chart.Colors[i]
			p.Add(line, dots)
			p.Legend.Add(c.name, line)
		}
		plots = append(plots, p)
	}
	return chart.Write(out, f, plots...)
}

// gameTicks are the ticks of a logarithmic axis: 1, 3, 10, 30 and so on.
type gameTicks struct{}

// Ticks implements plot.Ticker.
func (gameTicks) Ticks(least, most float64) (ticks []plot.Tick) {
	for n := 1; float64(n) <= most; n *= 10 {
		for _, v := range []int{n, 3 * n} {
			if float64(v) >= least && float64(v) <= most {
				ticks = append(ticks, plot.Tick{Value: float64(v), Label: fmt.Sprint(v)})
			}
		}
	}
	return ticks
}
