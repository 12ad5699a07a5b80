package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sparring/arena/arenatest"
	"sparring/configs"
	"sparring/game/catalog"
	"sparring/lab/match/openings"
)

// TestShippedOpenings: every rule set without an opening procedure has at least a
// hundred openings, with the command that made them. Those of the usual rules of Gomoku were
// judged by an engine of others, too.
func TestShippedOpenings(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, name := range g.Sets {
			recipe, err := openings.Usual(mustRules(t, name))
			if err != nil {
				t.Error(err)
			}
			if recipe.Plies == 0 {
				continue
			}
			set, file, err := openings.Find(configs.Openings(), name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(set.Openings) < 100 || len(set.Notes) == 0 || !strings.HasPrefix(set.Notes[0], "Made by: sparring openings make --game "+g.Name) {
				t.Errorf("%s: %s has %d openings, and begins %q", name, file, len(set.Openings), set.Notes)
			}
			rule, _, _ := strings.Cut(strings.TrimPrefix(name, "gomoku/"), "-")
			usual := g.Name == "gomoku" && slices.Contains([]string{"freestyle", "standard", "renju"}, rule)
			if usual && !strings.Contains(strings.Join(set.Notes, "\n"), "Judged by Rapfi") {
				t.Errorf("%s: %s was judged by this engine alone", name, file)
			}
		}
	}
}

// TestConvertToAFullDisk: openings that could not be written are not counted as if they were.
func TestConvertToAFullDisk(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "2m")
	disk.Fill()
	out := filepath.Join(disk.Dir, "o.txt")
	var errs strings.Builder
	code := run([]string{"openings", "convert", "-", "--out", out}, strings.NewReader("rules gomoku/freestyle-15\nmoves h8\n"), io.Discard, &errs)
	if want := fmt.Sprintf("sparring: write %s: %v\n", out, syscall.ENOSPC); code != exitFailed || errs.String() != want {
		t.Errorf("code %d, %q, want %q", code, errs.String(), want)
	}
}
