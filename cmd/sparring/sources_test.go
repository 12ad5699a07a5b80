package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOutput: what a file can't be written to is refused before the work; nothing
// that is no file, such as a device, is replaced by one, and neither are games nor a
// source.
func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := write("game.sgf", "(;GM[4])")
	for path, says := range map[string]string{
		"": "", "-": "", filepath.Join(dir, "new"): "",
		write("old.html", "<!DOCTYPE html>"): "", write("weights.json", `{"rules":"freestyle","match":[]}`): "",
		source: "is what is read",
		write("match.jsonl", `{"match":1,"id":"m1"}`+"\n"):                               "has games",
		write("records.jsonl", `{"v":1,"id":"g1","game":"gomoku","seats":[{},{}]}`+"\n"): "has games",
		dir:                           "is a folder, want a file",
		filepath.Join(dir, "no", "x"): "there is no folder " + filepath.Join(dir, "no"),
		socket:                        "is a device or the like, want a file",
	} {
		if err := checkOutput("--out", path, source); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", path, err, says)
		}
	}
}
