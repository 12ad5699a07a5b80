package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sparring/game"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func newWriter(t *testing.T, dir string, rotate int64) *Writer {
	t.Helper()
	w, err := NewWriter(dir, "games", rotate)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func appendAll(t *testing.T, w *Writer, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := w.Append(minimal(id)); err != nil {
			t.Fatal(err)
		}
	}
}

// read lists the ids in a directory and the damage.
func read(t *testing.T, dir string) (ids []string, damage []*DamagedError) {
	t.Helper()
	for r, err := range All(dir) {
		var d *DamagedError
		switch {
		case errors.As(err, &d):
			damage = append(damage, d)
		case err != nil:
			t.Fatal(err)
		default:
			ids = append(ids, r.ID)
		}
	}
	return ids, damage
}

func wantIDs(t *testing.T, dir string, want ...string) {
	t.Helper()
	if ids, damage := read(t, dir); !slices.Equal(ids, want) || len(damage) > 0 {
		t.Errorf("%s holds %v, damage %v, want %v", dir, ids, damage, want)
	}
}

func TestWriteAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "records")
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a", "b")
	wantIDs(t, dir, "a", "b") // each is there at once, before Close
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = newWriter(t, dir, 0) // the next process continues the same file
	appendAll(t, w, "c")
	if err := w.Append(&Record{ID: "d"}); !errors.Is(err, ErrInvalid) {
		t.Errorf("an invalid record: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, dir, "a", "b", "c")
}

func TestBadNames(t *testing.T) {
	for _, name := range []string{"", "a/b", "../x", "a.b"} {
		if _, err := NewWriter(t.TempDir(), name, 0); err == nil {
			t.Errorf("no error for %q", name)
		}
	}
}

// Every rotation leaves compressed files that read back in order.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 400) // about three records
	var want []string
	for i := range 40 {
		id := fmt.Sprintf("g%02d", i)
		want = append(want, id)
		appendAll(t, w, id)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, dir, want...)
	compressed, err := filepath.Glob(filepath.Join(dir, "games-*.jsonl.zst"))
	if err != nil || len(compressed) < 5 {
		t.Errorf("rotated %v, %v", compressed, err)
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) > len(compressed)+2 { // the lock, and the file that is written to
		t.Errorf("left besides: %v, %v", all, err)
	}
}

// The next writer finishes a rotation that a crash interrupted. No record is read
// twice in between.
func TestInterruptedRotation(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "games-20260101T000000.000000000Z.jsonl")
	if err := os.Rename(filepath.Join(dir, "games.jsonl"), plain); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "games-2.jsonl") // of another writer, still at work
	line, err := Encode(minimal("b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, line, 0o644); err != nil {
		t.Fatal(err)
	}
	text := mustRead(t, plain)
	if err := newWriter(t, dir, 0).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(plain); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", plain, err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for r, err := range File(plain) { // by a reader that had listed it before
		if err != nil || r.ID != "a" {
			t.Errorf("read after it was compressed: %+v, %v", r, err)
		}
	}
	// What can't be compressed stays as it is, and is reported once.
	if err := os.WriteFile(plain, text, 0o644); err != nil {
		t.Fatal(err)
	}
	packed := strings.TrimSuffix(plain, plainExt) + compressedExt
	if err := errors.Join(os.Rename(packed, packed+".kept"), os.Mkdir(packed+unfinishedExt, 0o755)); err != nil {
		t.Fatal(err)
	}
	w = newWriter(t, dir, 0)
	if err := w.Close(); err == nil {
		t.Error("no error, although the file can't be compressed")
	}
	if err := w.Close(); err != nil {
		t.Errorf("reported again: %v", err)
	}
	wantIDs(t, dir, "b", "a")
	if err := errors.Join(os.Remove(packed+unfinishedExt), os.Rename(packed+".kept", packed)); err != nil {
		t.Fatal(err)
	}
	// The crash came between finishing the compressed and removing the plain.
	if err := os.WriteFile(plain, text, 0o644); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, dir, "b", "a")
	if err := newWriter(t, dir, 0).Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(plain); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", plain, err)
	}
}

func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 2000)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 25 {
				if err := w.Append(minimal(fmt.Sprintf("g%d-%02d", i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ids, damage := read(t, dir)
	slices.Sort(ids)
	if len(ids) != 200 || len(slices.Compact(ids)) != 200 || len(damage) > 0 {
		t.Errorf("%d records, damage %v", len(ids), damage)
	}
	if kept, lost := w.Counts(); kept != 200 || lost != 0 {
		t.Errorf("kept %d, lost %d", kept, lost)
	}
}

// TestPutTogether: files that people or their scripts have put together may have the settings of
// matches in the middle, and no line end after the last game.
func TestPutTogether(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a", "b")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "games.jsonl")
	a, b, _ := strings.Cut(string(mustRead(t, path)), "\n")
	const terms = `{"match":1,"id":"mabcdefgh"}`
	for text, want := range map[string][]string{
		terms + "\n" + a + "\n" + terms + "\n" + b: {"a", "b"},
		a + "\n" + strings.TrimSuffix(b, "\n"):     {"a", "b"},
		terms + "\n" + a + "\n" + terms:            {"a"},
		strings.ReplaceAll(a+"\n"+b, "\n", "\r\n"): {"a", "b"},
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		wantIDs(t, dir, want...)
	}
}

// Damaged lines are reported, and the others are read.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a")
	path := filepath.Join(dir, "games.jsonl")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	good := string(mustRead(t, path))
	long := `{"v":1,"id":"` + strings.Repeat("x", MaxLine) + `"}`
	text := good + "not json\n" + good + "\n" + `{"v":9}` + "\n" + long + "\n" + good[:len(good)/2] // cut off by a crash
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ids, damage := read(t, dir)
	if !slices.Equal(ids, []string{"a", "a"}) {
		t.Errorf("read %v", ids)
	}
	wants := []struct {
		line int
		kind error
	}{{2, ErrInvalid}, {5, ErrVersion}, {6, ErrInvalid}, {7, io.ErrUnexpectedEOF}}
	if len(damage) != len(wants) {
		t.Fatalf("damage %v", damage)
	}
	for i, want := range wants {
		if d := damage[i]; d.File != path || d.Line != want.line || !errors.Is(d, want.kind) {
			t.Errorf("damage %.200v, want line %d and %v", d, want.line, want.kind)
		}
		if strings.Contains(damage[i].Error(), "EOF") {
			t.Errorf("%v tells users nothing", damage[i])
		}
	}

	// The next record starts a new line.
	w = newWriter(t, dir, 0)
	appendAll(t, w, "z")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if ids, damage := read(t, dir); !slices.Equal(ids, []string{"a", "a", "z"}) || len(damage) != 4 {
		t.Errorf("read %v, damage %d", ids, len(damage))
	}
}

func TestDamagedCompressedFile(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 1) // each record a file
	appendAll(t, w, "a", "b")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err := Files(dir)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	text := mustRead(t, paths[0])
	if err := os.WriteFile(paths[0], text[:len(text)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	ids, damage := read(t, dir)
	if !slices.Equal(ids, []string{"b"}) || len(damage) != 1 || damage[0].File != paths[0] {
		t.Errorf("read %v, damage %v", ids, damage)
	}
}

func TestNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	n := 0
	for r, err := range All(dir) {
		n++
		if r != nil || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v, %v", r, err)
		}
	}
	if n != 1 {
		t.Errorf("%d results", n)
	}
}

// A directory that can't be written to is said at the start. In one that can, nothing is
// left of the attempt.
func TestUnwritableDirectory(t *testing.T) {
	const system = "/sys" // nobody creates a file there, root neither
	if err := os.WriteFile(filepath.Join(system, "sparring"), nil, 0o600); !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EROFS) {
		t.Skip("needs the directory of Linux in which no file can be created: ", err)
	}
	if w, err := NewWriter(system, "games", 0); err == nil || !strings.Contains(err.Error(), "the directory is not writable") {
		t.Errorf("%v, %v", w, err)
	}
	dir := t.TempDir()
	newWriter(t, dir, 0)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// A full disk is logged once and counted each time; writing resumes afterwards.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full, the device that is always full: ", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "games.jsonl")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, 0)
	var told []uint64
	w.Resumed(func(lost uint64) { told = append(told, lost) })
	for i := range 3 {
		err := w.Append(minimal("a"))
		var lost *NotKeptError
		if !errors.As(err, &lost) || lost.First != (i == 0) || lost.Lost != uint64(i+1) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("record %d: %v", i, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if len(told) > 0 {
		t.Errorf("told that %d are lost while the disk is full", told)
	}
	appendAll(t, w, "b", "c")
	if kept, lost := w.Counts(); kept != 2 || lost != 3 || !slices.Equal(told, []uint64{3}) {
		t.Errorf("kept %d, lost %d, told of %d", kept, lost, told)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	var lost *NotKeptError
	if err := w.Append(minimal("d")); !errors.As(err, &lost) || !lost.First {
		t.Errorf("the second time the disk is full: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, "e")
	if !slices.Equal(told, []uint64{3, 1}) {
		t.Errorf("told of %d, want 3 and then 1", told)
	}
}

func TestMerge(t *testing.T) {
	second := game.Second
	arena := minimal("g")
	arena.Result = game.FirstWins
	arena.Plies = []Ply{
		{Seat: game.First, Move: "h8", Receipt: &Receipt{Received: time.Unix(1, 0), LeftMS: 5}, Key: Key(1)},
		{Seat: game.Second, Move: "h9"},
		{Seat: game.First, Move: "i8"},
	}
	one := minimal("g")
	one.Source = Source{By: ByPlayer, Player: "ann", Build: "v1"}
	one.Plies = []Ply{{Seat: game.First, Move: "h8", Think: &Think{Depth: 3}}, {Seat: game.Second, Move: "h9"}, {Seat: game.First, Move: "i8", Think: &Think{Depth: 4}}}
	two := minimal("g")
	two.Source = Source{By: ByPlayer, Player: "bob", Seat: &second, Build: "v2"}
	two.Plies = []Ply{{Seat: game.First, Move: "h8"}, {Seat: game.Second, Move: "h9", Think: &Think{Depth: 5}, Key: Key(2)}, {Seat: game.First, Move: "j8", Key: Key(3), Think: &Think{Depth: 9}}}

	first := game.First // of which the arena knows more than the player says
	one.Source.Seat, one.Source.Settings = &first, &Settings{Spec: "one"}
	arena.Seats[0].Build, arena.Seats[0].Settings = "v0", &Settings{Spec: "zero"}
	two.Source.Settings = &Settings{Spec: "two"}

	m, err := Merge(one, two, arena)
	if err != nil {
		t.Fatal(err)
	}
	if m.Result != game.FirstWins || m.Source.By != ByArena {
		t.Errorf("merged %+v", m)
	}
	for seat, want := range []struct{ build, spec string }{{"v0", "zero"}, {"v2", "two"}} {
		if s := m.Seats[seat]; s.Build != want.build || s.Settings == nil || s.Settings.Spec != want.spec {
			t.Errorf("seat %d: build %q, settings %+v, want %+v", seat, s.Build, s.Settings, want)
		}
	}
	for i, depth := range []int{3, 5, 4} {
		if th := m.Plies[i].Think; th == nil || th.Depth != depth {
			t.Errorf("ply %d: thought %+v, want depth %d", i+1, th, depth)
		}
	}
	if m.Plies[0].Receipt == nil || m.Plies[1].Key != Key(2) {
		t.Errorf("plies %+v", m.Plies)
	}
	if len(m.Disputes) != 1 || m.Disputes[0].Ply != 2 || m.Disputes[0].Claimed != Key(3) || *m.Disputes[0].Seat != game.Second {
		t.Errorf("disputes %+v", m.Disputes)
	}
	if arena.Plies[0].Think != nil || len(arena.Disputes) != 0 {
		t.Error("Merge changed what it was given")
	}

	if m, err := Merge(two); err != nil || m.Source.Player != "bob" {
		t.Errorf("a record alone: %+v, %v", m, err)
	}
	if _, err := Merge(one, minimal("other")); !errors.Is(err, ErrInvalid) {
		t.Errorf("two games: %v", err)
	}
	if _, err := Merge(); !errors.Is(err, ErrInvalid) {
		t.Errorf("nothing: %v", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a", "b")
	think := minimal("a")
	think.Source = Source{By: ByPlayer, Player: "ann"}
	think.Plies = []Ply{{Seat: game.First, Move: "h8", Think: &Think{Depth: 7}}}
	if err := w.Append(think); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Find(t.Context(), dir, "a")
	if err != nil || r.Source.By != ByArena {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Find(t.Context(), dir, "zzz"); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "zzz") {
		t.Errorf("no such game: %v", err)
	}
}

// A game that changed hands has the result and the times that its holders know.
func TestMergeHandedOver(t *testing.T) {
	first := game.First
	plies := func(used ...int64) (all []Ply) {
		for i, ms := range used {
			all = append(all, Ply{Seat: game.Seat(i % 2), Move: fmt.Sprint("m", i), UsedMS: ms, LeftMS: 10 * ms})
		}
		return all
	}
	before, after := minimal("g"), minimal("g")
	before.Source, before.Plies, before.Text = Source{By: ByPlayer, Player: "ann", Seat: &first}, plies(5, 6, 7, 8), "the seat was given up"
	after.Source, after.Plies, after.Result = Source{By: ByPlayer, Player: "ann", Seat: &first}, plies(0, 0, 7), game.FirstWins
	m, err := Merge(before, after)
	if err != nil || m.Result != game.FirstWins || m.Text != "" || len(m.Plies) != 3 || m.Plies[0].UsedMS != 5 || m.Plies[1].LeftMS != 60 {
		t.Errorf("%v: %+v", err, m)
	}
}
