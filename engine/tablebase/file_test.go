package tablebase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	rules "sparring/game/xiangqi"
)

// spoilt replaces the table of KRk by other bytes, in a new directory, and returns
// the result of a look-up there.
func spoilt(t *testing.T, content []byte) (distance int, ok bool, reported []error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "KRk.xqt"), content, 0o644); err != nil {
		t.Fatal(err)
	}
	tables, err := Open(dir, func(err error) { reported = append(reported, err) })
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	b := board(t, "3k5/9/9/9/9/9/9/9/4R4/4K4 w")
	for range 2 { // a damaged block is reported once
		distance, ok = tables.Probe(b)
	}
	if _, err := tables.Stats(set(t, "KRk")); ok && err != nil && !errors.Is(err, ErrFile) {
		t.Errorf("Stats: %v", err)
	}
	return distance, ok, reported
}

// TestDamage: damage to a file, at any byte, never gives a wrong answer, and the
// error names what was detected.
func TestDamage(t *testing.T) {
	dir, _ := built(t, "KRk")
	good, err := os.ReadFile(filepath.Join(dir, "KRk.xqt"))
	if err != nil {
		t.Fatal(err)
	}
	want, ok, reported := spoilt(t, good)
	if want != 1 || !ok || reported != nil {
		t.Fatalf("whole: %d, %v, %v", want, ok, reported)
	}
	check := func(what string, at int, content []byte) {
		t.Helper()
		got, ok, reported := spoilt(t, content)
		if ok && got != want {
			t.Errorf("%s at %d: a wrong answer, %d", what, at, got)
		}
		if !ok {
			if len(reported) != 1 || !errors.Is(reported[0], ErrFile) || !strings.Contains(reported[0].Error(), "KRk.xqt") {
				t.Errorf("%s at %d: reported %v", what, at, reported)
			}
		}
	}
	step := 1
	if testing.Short() {
		step = 17
	}
	for at := 0; at < len(good); at += step {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		check("a flipped bit", at, bad)
	}
	for at := 0; at < len(good); at += 13 * step {
		check("cut short", at, good[:at])
		if _, ok, _ := spoilt(t, good[:at]); ok {
			t.Errorf("truncated at %d: still used", at)
		}
	}
	if _, ok, _ := spoilt(t, append(bytes.Clone(good), 0)); ok {
		t.Error("an extra byte: still used")
	}
	later := bytes.Clone(good)
	binary.LittleEndian.PutUint32(later[len(magic):], version+1)
	if _, ok, reported := spoilt(t, later); ok || len(reported) != 1 || !strings.Contains(reported[0].Error(), "version 2, this program reads 1") {
		t.Errorf("another version: %v, %v", ok, reported)
	}
}

// TestWrongNames: a file under another set's name is refused, and so is a name
// that is not that of a table.
func TestWrongNames(t *testing.T) {
	dir, _ := built(t, "KRk")
	good, err := os.ReadFile(filepath.Join(dir, "KRk.xqt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"KNk.xqt", "Kkr.xqt", "nonsense.xqt"} {
		if err := os.WriteFile(filepath.Join(dir, name), good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var reported []string
	tables, err := Open(dir, func(err error) { reported = append(reported, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	all := strings.Join(reported, "\n")
	for _, want := range []string{`KNk.xqt: this is the table of "KRk"`, "Kkr.xqt: the name of this set is KRk", "nonsense.xqt: tablebase set"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if tables.Men() != 3 {
		t.Errorf("%d men, want 3: the good table counts", tables.Men())
	}
}

// TestBuildAgain: sound tables stay, damaged ones are built again, and the files
// do not depend on the number of goroutines.
func TestBuildAgain(t *testing.T) {
	dir, sets := built(t, "KNka")
	read := func(dir, name string) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(dir, name+".xqt"))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	whole := read(dir, "KNka")
	var made []string
	var repaired error
	o := Options{Workers: 1, Report: func(p Progress) {
		if p.Steps > p.Of || p.Number > p.Sets {
			t.Errorf("%+v", p)
		}
		if p.Done {
			made = append(made, p.Set.String())
			repaired = p.Repaired
		}
	}}
	if err := Build(t.Context(), dir, sets, o); err != nil || made != nil {
		t.Fatalf("nothing to do: %v, %v", made, err)
	}
	path := filepath.Join(dir, "KNka.xqt")
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Build(t.Context(), dir, sets, o); err != nil || len(made) != 1 || made[0] != "KNka" || !errors.Is(repaired, ErrFile) {
		t.Fatalf("one to repair: %v, %v, %v", made, repaired, err)
	}
	if !bytes.Equal(read(dir, "KNka"), whole) {
		t.Error("another file than before")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".xqt" {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// A build that is stopped returns an error and leaves no incomplete table.
func TestBuildStops(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	err := Build(ctx, dir, []Set{set(t, "KNkn")}, Options{Gentle: true, Report: func(p Progress) {
		if p.Set.Men() == 4 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(fileName(dir, set(t, "KNkn"))); err == nil {
		t.Error("there is a table")
	}
	// The finished tables are good.
	tables := opened(t, dir)
	if tables.Men() != 3 {
		t.Errorf("%d men", tables.Men())
	}
}

// A table that is built during probes is used from then on.
func TestAddWhileProbing(t *testing.T) {
	dir := t.TempDir()
	tables := opened(t, dir)
	s := set(t, "KRka")
	if err := tables.Add(s); !errors.Is(err, ErrMissing) {
		t.Fatalf("%v", err)
	}
	var all sync.WaitGroup
	for range 4 {
		b := board(t, "3k5/4a4/9/9/9/9/9/9/4R4/4K4 w")
		all.Go(func() {
			for {
				if d, ok := tables.Probe(b); ok {
					if d%2 == 0 {
						t.Errorf("distance %d", d)
					}
					return
				}
			}
		})
	}
	if err := tables.Complete(t.Context(), []Set{s}, Options{}); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// A table whose damage is found only when it is read is replaced by the one that is
// built in its place.
func TestCompleteRepairs(t *testing.T) {
	dir, sets := built(t, "KRk")
	path := fileName(dir, sets[0])
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) - 200; i < len(content); i++ {
		content[i] ^= 1
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	reported := 0
	tables, err := Open(dir, func(error) { reported++ })
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	b := board(t, "3k5/9/9/9/9/9/9/9/4R4/4K4 w")
	if _, ok := tables.Probe(b); ok || reported != 1 {
		t.Fatalf("the damage was not noticed: %v, %d reports", ok, reported)
	}
	if err := tables.Complete(t.Context(), sets, Options{}); err != nil {
		t.Fatal(err)
	}
	if d, ok := tables.Probe(b); d != 1 || !ok {
		t.Errorf("after the repair: %d, %v", d, ok)
	}
}

// The error for positions that no table can have differs from that for a missing
// table.
func TestBeyond(t *testing.T) {
	dir, _ := built(t, "KPk")
	tables := opened(t, dir)
	for fen, want := range map[string]string{
		"3k5/9/9/9/9/9/9/1P7/9/4K4 w":    "a man is on a square that it can't reach",
		"3k5/9/9/9/9/9/4R4/9/9/4K4 w":    "KRk in " + dir,
		"3k5/9/9/9/9/4p4/4P4/9/9/4K4 w":  "KPkp in " + dir,
		rules.StartFEN:                   "32 men, at most 8",
		"3k5/9/9/9/9/4p4/4PP3/9/9/4K4 w": "KPPkp in " + dir,
	} {
		b := board(t, fen)
		if d, ok := tables.Probe(b); ok {
			t.Errorf("%s is %d", fen, d)
		}
		if _, err := tables.Find(b); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fen, err, want)
		}
	}
	if d, err := tables.Find(board(t, "3k5/9/9/9/9/9/4P4/9/9/4K4 w")); err != nil || d == Drawn {
		t.Errorf("KPk: %d, %v", d, err)
	}
}

// The line of a win has exactly as many plies as its distance.
func TestLine(t *testing.T) {
	dir, _ := built(t, "KNka")
	tables := opened(t, dir)
	b := board(t, "3k5/4a4/9/9/9/9/9/9/4N4/4K4 w")
	distance, ok := tables.Probe(b)
	if !ok || distance%2 == 0 {
		t.Fatalf("%d, %v", distance, ok)
	}
	line := tables.Line(b, 100)
	if len(line) != distance {
		t.Fatalf("%d plies, want %d", len(line), distance)
	}
	if short := tables.Line(b, 3); len(short) != 3 || short[0] != line[0] {
		t.Errorf("cut at three: %v", short)
	}
	for _, m := range line {
		if !b.IsLegal(m) {
			t.Fatalf("%s is not legal", rules.FormatMove(m))
		}
		b.Do(m)
	}
	if b.AnyLegal() {
		t.Error("the line does not end the game")
	}
}
