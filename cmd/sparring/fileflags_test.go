package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestDash: no command makes a file named "-". It is the standard output where results go there
// by default, and an error elsewhere.
func TestDash(t *testing.T) {
	games := gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 1)
	dir := t.TempDir()
	t.Chdir(dir)
	if text := succeeds(t, "records", "export", "g0", games, "--format", "sgf", "-o", "-"); !strings.Contains(text, "GM[4]") {
		t.Errorf("export to the standard output: %s", text)
	}
	for _, line := range []string{
		"match --game gomoku --a self:nodes=1 --b self:nodes=2 --games 2 --json -",
		"match --game gomoku --a self:nodes=1 --b self:nodes=2 --games 2 --log -",
		"book selfplay --game gomoku --games 1 --nodes 1 --out -",
		"records report --analyse none --html - " + games,
		"openings judge --json - -",
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(line), strings.NewReader(""), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), ` "-": want the name of a file`) {
			t.Errorf("%s: code %d, %s", line, code, &errs)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v", files, err)
	}

	names := []string{"out", "json", "keep", "log", "plot", "html", "manifest", "annotated"}
	dashes := []string{"sparring openings judge --out", "sparring openings results --out"} // the empty name is none
	n := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "string" || !slices.Contains(names, f.Name) || slices.Contains(dashes, c.CommandPath()+" --"+f.Name) {
				return
			}
			n++
			if _, ok := f.Value.(fileValue); !ok {
				t.Errorf("%s --%s is no fileValue", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	if visit(commands()); n < 20 {
		t.Errorf("%d flags for files", n)
	}
}
