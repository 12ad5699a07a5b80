package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sparring/pipe/playerspec"
)

var (
	sourcePath = regexp.MustCompile(`^(\.\w+/|\w+/)*\w+\.go$|^(game|engine|lab|record|protocol|arena|bot)(/\w+)*$`)
	goTest     = regexp.MustCompile(`go test \./(\S+) -run (\w+)`)
	setsShell  = regexp.MustCompile(`(?m)^    ([A-Z]\w+)=(\S+)$`)
	matchLine  = regexp.MustCompile(`match --game (\w+)(?:.*\\\n)?.*`)
	ownSpec    = regexp.MustCompile("--[ab] (self[^ `\n]*)")
	named      = regexp.MustCompile("`([\\w/]+\\.go)` \\(((?:`\\w+`[:, ]*)+)\\)")
	testName   = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestPapersPage: the files and tests that docs/papers.md names exist, the names in
// parentheses after a file are in it, and the players of its matches can be opened.
func TestPapersPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs/papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	paths, folder := 0, ""
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		path := m[1]
		if !sourcePath.MatchString(path) {
			continue
		}
		if filepath.Base(path) == path && filepath.Ext(path) == ".go" {
			path = filepath.Join(folder, path) // beside the one before
		}
		if folder = filepath.Dir(path); filepath.Ext(path) == "" {
			folder = path
		}
		paths++
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			t.Errorf("it names %s: %v", path, err)
		}
	}
	inFiles := named.FindAllStringSubmatch(page, -1)
	for _, m := range inFiles {
		source, err := os.ReadFile(filepath.Join(root, m[1]))
		if err != nil {
			t.Error(err)
		}
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			if !regexp.MustCompile(`\b` + name[1] + `\b`).Match(source) {
				t.Errorf("%s does not have %s", m[1], name[1])
			}
		}
	}
	tests := goTest.FindAllStringSubmatch(page, -1)
	for _, m := range tests {
		if !hasTest(t, m[1], regexp.MustCompile(m[2])) {
			t.Errorf("%s: no such test", m[0])
		}
	}
	vars := map[string]string{}
	for _, m := range setsShell.FindAllStringSubmatch(page, -1) {
		vars[m[1]] = os.Expand(m[2], func(name string) string { return vars[name] })
	}
	specs := 0
	for _, m := range matchLine.FindAllStringSubmatch(page, -1) {
		for _, spec := range ownSpec.FindAllStringSubmatch(m[0], -1) {
			specs++
			s, err := playerspec.Parse(os.Expand(spec[1], func(name string) string { return vars[name] }))
			if err == nil {
				err = s.Check(m[1])
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if paths < 40 || len(inFiles) < 5 || len(tests) < 10 || specs < 30 {
		t.Errorf("only %d paths, %d files with names, %d tests and %d players were found", paths, len(inFiles), len(tests), specs)
	}
}

// hasTest reports whether a package has a test that -run would choose.
func hasTest(t *testing.T, folder string, run *regexp.Regexp) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testName.FindAllSubmatch(data, -1) {
			if run.Match(m[1]) {
				return true
			}
		}
	}
	return false
}
