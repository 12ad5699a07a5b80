package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type terms struct {
	Things int    `json:"things"`
	Seed   uint64 `json:"seed"`
}

type thing struct {
	N int `json:"n"`
}

var errTerms = errors.New("other terms")

// open opens a file and returns the numbers in it.
func open(path string, now terms) (j *File, have []int, err error) {
	j, err = Open(path, Layout{
		Name: "things", What: "a file of things", Prefix: `{"things":`, MaxLine: 100, Terms: now, Differs: errTerms,
		Same: func(line []byte) error {
			var have terms
			if err := json.Unmarshal(line, &have); err != nil {
				return err
			}
			if d := Differences(have, now); len(d) > 0 {
				return fmt.Errorf("%w: %s", errTerms, strings.Join(d, "; "))
			}
			return nil
		},
		Take: func(line []byte) error {
			var x thing
			err := json.Unmarshal(line, &x)
			have = append(have, x.N)
			return err
		},
	})
	return j, have, err
}

// TestNothingLeft: a run that fails before its first result leaves nothing that the next one,
// with other terms, would have to keep to, and takes nothing away.
func TestNothingLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	j, _, err := open(path, terms{1, 7})
	if err == nil {
		err = j.Close()
	}
	if _, gone := os.Stat(path); err != nil || !errors.Is(gone, fs.ErrNotExist) {
		t.Fatalf("%v, and the file: %v", err, gone)
	}
	for _, had := range []string{"", `{"things":1,"seed":7}` + "\n"} { // as after a crash, and of an older version
		if err := os.WriteFile(path, []byte(had), 0o600); err != nil {
			t.Fatal(err)
		}
		if j, _, err = open(path, terms{1, 8}); err != nil {
			t.Fatalf("%q: %v", had, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if content(t, path) != "" && content(t, path) != had {
			t.Errorf("%q became %q", had, content(t, path))
		}
	}
	if j, _, err = open(path, terms{1, 9}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(thing{4}), j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(path, terms{1, 7}); !errors.Is(err, errTerms) {
		t.Errorf("with a result: %v", err)
	}
}

// TestWithoutTerms: in a file without terms the first line is like the others.
func TestWithoutTerms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	resume := func() (j *File, have []int, err error) {
		j, err = Open(path, Layout{Name: "things", What: "a file of things", Prefix: `{"n":`, Take: func(line []byte) error {
			var x thing
			err := json.Unmarshal(line, &x)
			have = append(have, x.N)
			return err
		}})
		return j, have, err
	}
	j, _, err := resume()
	if err == nil {
		err = errors.Join(j.Append(thing{4}), j.Append(thing{5}), j.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	const whole = `{"n":4}` + "\n" + `{"n":5}` + "\n"
	if text := content(t, path); text != whole {
		t.Fatalf("written: %q", text)
	}
	for cut, want := range map[int][]int{len(whole): {4, 5}, len(whole) - 3: {4}, 3: nil, 0: nil} {
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		j, have, err := resume()
		if err != nil || !slices.Equal(have, want) || j.Torn() != (cut%8 != 0) {
			t.Errorf("cut at %d: %v, torn %t, %v", cut, have, j.Torn(), err)
			continue
		}
		j.Close()
	}
	if err := os.WriteFile(path, []byte(`{"m":4}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := resume(); !unfit(err) {
		t.Errorf("another file: %v", err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLink: who opens a file by a link is kept from writing to it, too.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "things.jsonl"), filepath.Join(dir, "link.jsonl")
	if err := os.Symlink("things.jsonl", link); err != nil {
		t.Skip("no links here:", err)
	}
	j, _, err := open(link, terms{1, 7}) // which makes the file
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(path, terms{1, 7}); !errors.Is(err, ErrInUse) || !InUse(path) || !InUse(link) {
		t.Errorf("opened twice: %v, in use %t and %t", err, InUse(path), InUse(link))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, _, err = open(path, terms{1, 7}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestResume: lines survive, also where a crash has truncated the file at any point.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	now := terms{1, 7}
	j, _, err := open(path, now)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := j.Append(thing{n}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := open(path, now); !errors.Is(err, ErrInUse) || unfit(err) || !strings.Contains(err.Error(), path) {
		t.Errorf("opened twice: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	whole := content(t, path)
	const first = `{"things":1,"seed":7}` + "\n"
	if whole != first+`{"n":0}`+"\n"+`{"n":1}`+"\n"+`{"n":2}`+"\n" {
		t.Fatalf("written: %q", whole)
	}
	for size := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:size]), 0o600); err != nil {
			t.Fatal(err)
		}
		j, have, err := open(path, now)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		lines := strings.Count(whole[:size], "\n")
		if want := []int{0, 1, 2}[:max(lines-1, 0)]; !slices.Equal(have, want) || j.Torn() != (size > 0 && whole[size-1] != '\n') {
			t.Errorf("%d bytes: have %d, want %d, torn %t", size, have, want, j.Torn())
		}
		if err := errors.Join(j.Append(thing{9}), j.Close()); err != nil {
			t.Fatal(err)
		}
		want := first
		if lines > 0 {
			want = whole[:strings.LastIndex(whole[:size], "\n")+1]
		}
		if got := content(t, path); got != want+`{"n":9}`+"\n" {
			t.Errorf("%d bytes became %q", size, got)
		}
	}
}

// TestOthersAreRefused: a file that is not of this kind stays as it is. No call like that
// will ever open it; one with a bad line in it is damaged.
func TestOthersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other")
	const first = `{"things":1,"seed":7}` + "\n"
	for text, want := range map[string]string{
		"hello":              "line 1: not a file of things",
		"hello\n":            "line 1: not a file of things",
		"{}\n":               "line 1: not a file of things",
		`{"things":1` + "\n": "line 1: not a file of things",
		`{"things":1,"seed":8}` + "\n" + `{"n":4}` + "\n": "line 1: other terms: seed is 8 in the file and 7 now",
		first + "x\n":                             "line 2: invalid character",
		first + strings.Repeat(" ", 100):          "",
		first + strings.Repeat(" ", 100) + "{}\n": "line 2: more than 100 bytes",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		j, _, err := open(path, terms{1, 7})
		if want == "" {
			if err != nil || !j.Torn() {
				t.Errorf("%q: %v", text, err)
			} else {
				j.Close()
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), "things: "+path+": "+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if unfit(err) != strings.HasPrefix(want, "line 1: ") {
			t.Errorf("%q: unfit is %t", text, unfit(err))
		}
		if got := content(t, path); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if _, _, err := open(filepath.Join(path, "x"), terms{}); err == nil || !strings.HasPrefix(err.Error(), "things: ") {
		t.Errorf("below a file: %v", err)
	}
	if _, _, err := open(filepath.Join(t.TempDir(), "nowhere", "x"), terms{}); !unfit(err) || !strings.HasPrefix(err.Error(), "things: ") {
		t.Errorf("in a folder that is missing: %v", err)
	}
	if _, _, err := open(t.TempDir(), terms{}); !unfit(err) || !strings.HasPrefix(err.Error(), "things: ") {
		t.Errorf("a folder: %v", err)
	}
}

func unfit(err error) bool {
	_, is := errors.AsType[*UnfitError](err)
	return is
}

// TestFailedWrite: after a partial line that can't be removed, nothing is written until
// it can be. Nobody else gets the file meanwhile.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full")
	j, _, err := open(path, terms{1, 7})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(thing{0}); err != nil {
		t.Fatal(err)
	}
	before := content(t, path)
	away := path + ".away"
	if err := errors.Join(j.f.Close(), os.Rename(path, away), os.Mkdir(path, 0o700)); err != nil { // as if the disk were gone
		t.Fatal(err)
	}
	for range 3 {
		if err := j.Append(thing{1}); !errors.Is(err, ErrWrite) {
			t.Errorf("written to nowhere: %v", err)
		}
		if !InUse(path) {
			t.Fatal("the file is free while its writer waits")
		}
	}
	other := strings.Repeat("x", 200)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte(other), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(thing{1}); !errors.Is(err, ErrWrite) || content(t, path) != other {
		t.Errorf("written to another file: %v", err)
	}
	if err := errors.Join(os.WriteFile(away, []byte(before+`{"n`), 0o600), os.Rename(away, path)); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(thing{2}); err != nil {
		t.Error(err)
	}
	if after := content(t, path); after != before+`{"n":2}`+"\n" {
		t.Errorf("written: %q", after)
	}
}

// TestTooLong: a line that could not be read again is not written, and those after it are.
func TestTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	j, _, err := open(path, terms{1, 7})
	if err != nil {
		t.Fatal(err)
	}
	largest := strings.Repeat("x", 100-len(`{"n":0,"text":""}`)-1)
	type long struct {
		thing
		Text string `json:"text"`
	}
	if err := j.Append(long{thing{1}, largest}); err != nil {
		t.Error(err)
	}
	if err := j.Append(long{thing{2}, largest + "x"}); err == nil || errors.Is(err, ErrWrite) { // no further attempt helps
		t.Errorf("too long: %v", err)
	}
	if err := errors.Join(j.Append(thing{3}), j.Close()); err != nil {
		t.Fatal(err)
	}
	j, have, err := open(path, terms{1, 7})
	if err != nil || !slices.Equal(have, []int{1, 3}) {
		t.Fatalf("%v, %v", have, err)
	}
	j.Close()
}

// TestDifferencesOfMaps: the keys that differ are named, not the whole map.
func TestDifferencesOfMaps(t *testing.T) {
	type terms struct {
		Seed int               `json:"seed"`
		Set  map[string]string `json:"set"`
	}
	a := terms{1, map[string]string{"games": "10", "rate": "0.1", "old": "x"}}
	b := terms{1, map[string]string{"games": "20", "rate": "0.1", "new": "y"}}
	got := strings.Join(Differences(a, b), "; ")
	if want := "games is 10 in the file and 20 now; new is not in the file and y now; old is x in the file and not given now"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := strings.Join(Differences(terms{Seed: 1}, b), "; "); !strings.Contains(got, "rate is not in the file and 0.1 now") {
		t.Error(got)
	}
}

// TestRead: a file can be read while it is open, without its last, partial line.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "things.jsonl")
	j, _, err := open(path, terms{1, 7})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(thing{4}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.f.WriteString(`{"n":`); err != nil {
		t.Fatal(err)
	}
	before := content(t, path)
	var lines []string
	take := func(line []byte) error { lines = append(lines, string(line)); return nil }
	if err := Read(path, Layout{Name: "things", What: "a file of things", Prefix: `{"things"`, Same: take, Take: take}); err != nil {
		t.Fatal(err)
	}
	if !InUse(path) {
		t.Error("the open file is not in use")
	}
	if want := []string{`{"things":1,"seed":7}` + "\n", `{"n":4}` + "\n"}; !slices.Equal(lines, want) || content(t, path) != before {
		t.Errorf("read %q, want %q", lines, want)
	}
	if err := j.Close(); err != nil || InUse(path) {
		t.Errorf("closed, it is in use: %v", err)
	}
}
