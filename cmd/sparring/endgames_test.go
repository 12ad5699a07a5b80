package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"sparring/bot"
	"sparring/game/gametest"
)

// TestEndgames: a bot builds its endgame tables in the background, stops at once
// when it ends, and warns of a damaged table without failing.
func TestEndgames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tablebase")
	var log gametest.Output
	if tables, done := endgames(bot.Config{}, zerolog.New(&log)); tables != nil {
		t.Error("tables without a directory")
		done()
	}
	cfg := bot.Config{Tablebase: dir, TablebaseBuild: true}
	tables, done := endgames(cfg, zerolog.New(&log))
	gametest.Eventually(t, "a table is built", func() bool { return tables.Men() >= 3 })
	done() // long before all are there
	if text := log.String(); text != "" {
		t.Errorf("nothing is wrong, but the log says\n%s", text)
	}

	name := filepath.Join(dir, "KRk.xqt")
	if err := os.WriteFile(name, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.TablebaseBuild = false
	tables, done = endgames(cfg, zerolog.New(&log))
	defer done()
	if tables.Men() < 2 {
		t.Error("the good tables are not used")
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "KRk.xqt") || !strings.Contains(text, `"level":"warn"`) {
		t.Errorf("of a damaged table the log says\n%s", text)
	}

	// What can't be a directory is a warning too.
	if tables, done := endgames(bot.Config{Tablebase: name}, zerolog.New(&log)); tables != nil {
		t.Error("a file was accepted as a directory")
		done()
	}
	if !strings.Contains(log.String(), "not a directory") {
		t.Errorf("of a file in place of the directory the log says\n%s", log.String())
	}
	if entries, err := filepath.Glob(filepath.Join(dir, "*.part")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestAreaTable: a bot builds its table of areas in the background, stops at once when
// it ends, continues at the next start, and warns of a damaged file.
func TestAreaTable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tablebase")
	var log gametest.Output
	if table, done := areaTable(bot.Config{}, zerolog.New(&log)); table != nil {
		t.Error("a table without a directory")
		done()
	}
	cfg := bot.Config{Tablebase: dir, TablebaseBuild: true}
	table, done := areaTable(cfg, zerolog.New(&log))
	gametest.Eventually(t, "four sizes are built", func() bool { return table.Largest() >= 4 })
	done() // long before all are there
	if text := log.String(); text != "" {
		t.Errorf("nothing is wrong, but the log says\n%s", text)
	}

	built, name := table.Largest(), filepath.Join(dir, "amazons-3.areas")
	if err := os.WriteFile(name, []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg.TablebaseBuild = false
	table, done = areaTable(cfg, zerolog.New(&log))
	defer done()
	if n := table.Largest(); n != 2 || built < 4 {
		t.Errorf("with a damaged file the table is complete up to %d, before up to %d", n, built)
	}
	if text := log.String(); !strings.Contains(text, name) || !strings.Contains(text, "warn") {
		t.Errorf("no warning of %s:\n%s", name, text)
	}
}
