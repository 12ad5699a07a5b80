package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"sparring/internal/chart"
)

// TestReplacedInOnePiece: a reader that has a drawing or a manifest open while it is written
// again has the old one, complete.
func TestReplacedInOnePiece(t *testing.T) {
	for name, write := range map[string]func(path string) error{
		"plot.svg": func(path string) error {
			return drawFile(path, func(out io.Writer, _ chart.Format) error { _, err := io.WriteString(out, "new"); return err })
		},
		"manifest.json": func(path string) error { return origin{Rules: "new"}.note(path, "new.book") },
	} {
		const old = `{"old.book":{"rules":"old"}}`
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		reader, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if err := write(path); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(reader); err != nil || string(text) != old {
			t.Errorf("%s: the reader has %q, %v", name, text, err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) == old {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}
