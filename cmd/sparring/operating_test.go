package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	logRow    = regexp.MustCompile("(?m)^\\| (`[^|]*) \\| (?:all|arena|bots) \\|")
	metricRow = regexp.MustCompile("(?m)^\\| `sparring_arena_([a-z_]+)`")
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// TestOperatingPage: the log lines and metrics of docs/operating.md exist.
func TestOperatingPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operating.md"))
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, folder := range []string{"arena", "bot", "protocol", "cmd/sparring"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			source.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	code := source.String()
	rows := logRow.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 10 {
		t.Errorf("only %d log lines are explained", len(rows))
	}
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(row[1], -1) {
			text := strings.TrimSuffix(m[1], "...")
			if text == "permissions violation" { // the NATS client's own
				continue
			}
			if logged := regexp.MustCompile(`(Msg\(|warn\(|complain\([^"\n]*)"` + regexp.QuoteMeta(text)); !logged.MatchString(code) {
				t.Errorf("no code logs %q", text)
			}
		}
	}
	metrics := metricRow.FindAllStringSubmatch(string(page), -1)
	if len(metrics) == 0 {
		t.Error("no metric is explained")
	}
	for _, m := range metrics {
		if !strings.Contains(code, `"`+m[1]+`"`) {
			t.Errorf("unknown metric %s", m[1])
		}
	}
}
