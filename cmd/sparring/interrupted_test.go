package main

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/pipe/external/faultyengine"
)

// TestInterruptedWhileAProgramStarts: a command ends at Ctrl-C while it waits for a program
// that does not get ready, and takes that for no fault of the program.
func TestInterruptedWhileAProgramStarts(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"match --game xiangqi --a ENGINE --b self:nodes=10 --games 2 --clock 60+1 --openings none",
		"analyse --game xiangqi --engine ENGINE --depth 1",
		"ladder join --game xiangqi --engine ENGINE --http= --data DATA",
		"engine talk ENGINE",
		"conformance --bot",
	} {
		t.Run(strings.Fields(line)[0], func(t *testing.T) {
			t.Parallel()
			line := strings.NewReplacer("ENGINE", "uci:broken-engine,arg="+faultyengine.HangStart, "DATA", filepath.Join(t.TempDir(), "data")).Replace(line)
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, interrupt)
			defer interrupt()
			var out strings.Builder
			root := commands()
			root.SetArgs(strings.Fields(line))
			root.SetIn(strings.NewReader(""))
			root.SetOut(&out)
			root.SetErr(io.Discard)
			err := root.ExecuteContext(ctx)
			if err != context.Canceled && (err == nil || err.Error() != "interrupted after 0 games") || strings.Contains(out.String(), "fault") {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}
