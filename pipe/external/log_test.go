package external

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/pipe/external/faultyengine"
)

// TestLog: every line of a game is in its file, the error output too, and a process
// that goes on to another game writes into that game's.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	e := openFaulty(t, faultyengine.Fine, func(s *Spec) { s.Log = dir })
	for _, id := range []string{"one", "two", "two"} {
		g, err := e.NewGame(engine.GameOptions{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if r := find(t, g.(*externalGame), newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1}); r.Err != nil {
			t.Fatal(r.Err)
		}
		g.Close()
	}
	e.Close()
	name := "-" + filepath.Base(os.Args[0])
	for file, greets := range map[string]int{"one" + name: 1, "two" + name: 0, "two" + name + "-2": 0} {
		data, err := os.ReadFile(filepath.Join(dir, file+logExt))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if !strings.HasPrefix(text, "# "+file[:3]+", uci:") || strings.Count(text, " > uci\n") != greets ||
			strings.Count(text, " > go depth 1\n") != 1 || strings.Count(text, " < bestmove ") != 1 || strings.Contains(text, "quit") {
			t.Errorf("%s:\n%s", file, text)
		}
	}

	e = openFaulty(t, faultyengine.CrashGo, func(s *Spec) { s.Log = dir })
	find(t, play(t, e), newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1})
	e.Close()
	data, err := os.ReadFile(filepath.Join(dir, "no-game"+name+logExt))
	if err != nil || !strings.HasSuffix(string(data), " ! assertion failed: depth > 0\n") {
		t.Errorf("%v\n%s", err, data)
	}
}

// TestCheckLog: a folder in which there can be no logs is refused with the settings.
func TestCheckLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "logs")
	if err := CheckLog(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
	closed := "/proc" // where nobody may write, root included
	if _, err := os.Stat(closed); err != nil {
		closed = filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	if err := (Spec{Dialect: UCI, Path: os.Args[0], Log: closed}).Check("xiangqi"); err == nil || !strings.Contains(err.Error(), "log: open "+closed) {
		t.Errorf("%s: %v", closed, err)
	}
}

// TestLogIsBounded: a log ends at its limit, and the oldest logs make room for new
// ones. Other files are left alone.
func TestLogIsBounded(t *testing.T) {
	dir := logDir(t.TempDir())
	l := dir.file("long", Spec{Dialect: UCI, Path: "x"})
	line := Line{time.Now(), Received, strings.Repeat("x", 64<<10)}
	for range 200 {
		l.add(line)
	}
	l.close()
	l.add(line) // ignored
	path := func(name string) string { return filepath.Join(string(dir), name) }
	data, err := os.ReadFile(path("long-x" + logExt))
	if err != nil || len(data) > maxLogFile+100 || len(data) < maxLogFile-100<<10 || strings.Count(string(data), "\n# ") != 1 || !strings.HasSuffix(string(data), "\n# the rest is not kept\n") {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"other.txt", "a" + logExt, "b" + logExt} {
		if err := os.WriteFile(path(name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		old = old.Add(time.Minute)
		if err := os.Chtimes(path(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	dir.prune(int64(len(data)) + 150)
	for name, want := range map[string]bool{"other.txt": true, "a" + logExt: false, "b" + logExt: true, "long-x" + logExt: true} {
		if _, err := os.Stat(path(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
