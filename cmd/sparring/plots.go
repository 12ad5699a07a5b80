package main

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"sparring/internal/atomicfile"
	"sparring/internal/chart"
)

// plotFlag adds the flag --plot for a drawing of what a command measures.
func plotFlag(c *cobra.Command, path *string, shows string) {
	fileFlag(c.Flags(), path, "plot", "drawing of "+shows+": a .svg or .png file")
}

// checkPlot checks at the start of a run that the file of --plot can be drawn at its
// end; "" is none. Other are flags of files that the run writes, see checkApart.
func checkPlot(path string, other ...[2]string) error {
	if path == "" {
		return nil
	}
	if err := checkApart(append(other, [2]string{"--plot", path})...); err != nil {
		return err
	}
	if _, err := chart.FormatOf(path); err != nil {
		return usagef("--plot: %w", err)
	}
	return checkOutput("--plot", path)
}

// drawFile draws to a file, in the format that its name ends in. A drawing that is there
// stays as it is until the new one is complete.
func drawFile(path string, draw func(io.Writer, chart.Format) error) error {
	format, err := chart.FormatOf(path)
	if err != nil {
		return err
	}
	var drawing bytes.Buffer
	if err := draw(&drawing, format); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, drawing.Bytes())
}
