package calibrate

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"

	"sparring/internal/chart"
)

// Draw draws calibrations on scales of Elo over the beginner, with 95 % errors, one
// below the other.
func Draw(out io.Writer, format chart.Format, files []*File) error {
	var plots []*plot.Plot
	for _, f := range files {
		rows := []chart.Measured{{Label: Beginner}}
		for _, s := range f.Levels {
			at, plusMinus := float64(s.Elo.Elo), float64(s.Elo.Error)
			rows = append(rows, chart.Measured{Label: fmt.Sprintf("level %d", s.Level), Value: at, Low: at - plusMinus, High: at + plusMinus})
		}
		plots = append(plots, chart.Scale(f.Rules+", measured by "+f.Build, "Elo over the "+Beginner, rows))
	}
	chart.Share(plots...)
	return chart.Write(out, format, plots...)
}
