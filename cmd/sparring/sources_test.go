package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOutput: what a file can't be written to is refused before the work; nothing
// that is no file, such as a device, is replaced by one.
func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	for path, says := range map[string]string{
		"": "", "-": "", filepath.Join(dir, "new"): "",
		dir:                           "is a folder, want a file",
		filepath.Join(dir, "no", "x"): "there is no folder " + filepath.Join(dir, "no"),
		socket:                        "is a device or the like, want a file",
	} {
		if err := checkOutput("--out", path); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", path, err, says)
		}
	}
}
