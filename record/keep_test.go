package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// TestExcess: the oldest files go first, and only those of the prefix.
func TestExcess(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	for name, hours := range map[string]int{"bot-a-1.jsonl.zst": 50, "bot-b.jsonl": 40, "bot-a.jsonl": 1, "table-x.jsonl": 90, "notes.txt": 90} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		at := now.Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		bounds Bounds
		want   string
	}{
		{Bounds{}, ""},
		{Bounds{Age: 100 * time.Hour, Bytes: 300}, ""},
		{Bounds{Age: 45 * time.Hour}, "bot-a-1.jsonl.zst"},
		{Bounds{Age: time.Minute}, "bot-a-1.jsonl.zst bot-b.jsonl bot-a.jsonl"},
		{Bounds{Bytes: 250}, "bot-a-1.jsonl.zst"},
		{Bounds{Bytes: 1}, "bot-a-1.jsonl.zst bot-b.jsonl"},
		{Bounds{Age: 45 * time.Hour, Bytes: 100}, "bot-a-1.jsonl.zst bot-b.jsonl"},
	} {
		paths, bytes, err := Excess(dir, "bot-", c.bounds, now)
		var names []string
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
		if got := strings.Join(names, " "); err != nil || got != c.want || bytes != int64(100*len(paths)) {
			t.Errorf("%+v: %q, %d bytes, %v, want %q", c.bounds, got, bytes, err, c.want)
		}
	}
}

// TestKeepByAge: a file whose first record is old is put aside, so that it can be
// removed as a whole, and what goes on is in another one.
func TestKeepByAge(t *testing.T) {
	dir := t.TempDir()
	old := minimal("old")
	old.Start = time.Now().Add(-time.Hour)
	w := newWriter(t, dir, 0)
	if err := w.Append(old); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Keep("games", Bounds{Age: 4 * time.Hour})
	appendAll(t, w, "new")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	aside, err := filepath.Glob(filepath.Join(dir, "games-*"+compressedExt))
	if err != nil || len(aside) != 1 {
		t.Fatalf("put aside %v, %v", aside, err)
	}
	wantIDs(t, dir, "old", "new")
	at := time.Now().Add(-5 * time.Hour)
	if err := os.Chtimes(aside[0], at, at); err != nil {
		t.Fatal(err)
	}
	if n, _, err := w.Trim(); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	wantIDs(t, dir, "new")
}

// TestKeepBySize: no file is so large that the bytes that are kept are in it alone, though it
// were not rotated yet without a bound.
func TestKeepBySize(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	const most = 8 << 10
	w.Keep("games", Bounds{Bytes: most})
	for i := range 200 {
		appendAll(t, w, fmt.Sprintf("g%03d", i))
	}
	if err := w.Close(); err != nil { // waits for those that are being compressed
		t.Fatal(err)
	}
	if _, _, err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	var total int64
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > most || len(files) < 2 {
		t.Errorf("%d bytes are kept in %d files, want at most %d in several", total, len(files), most)
	}
	if _, err := Find(t.Context(), dir, "g199"); err != nil {
		t.Errorf("the last record: %v", err)
	}
}

// TestRemovedMeanwhile: a writer whose file was removed or replaced begins another, and one
// whose directory was removed makes it again, but not what that was in.
func TestRemovedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a")
	if err := os.Remove(w.path()); err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, "b")
	wantIDs(t, dir, "b")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	disk := filepath.Join(t.TempDir(), "disk")
	dir = filepath.Join(disk, "records")
	w = newWriter(t, dir, 0)
	appendAll(t, w, "a")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	appendAll(t, w, "b")
	wantIDs(t, dir, "b")
	if err := os.RemoveAll(disk); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(minimal("c")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without what the directory was in: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRewriteWhileAppending: nothing is lost, and nothing is left that was to be changed.
func TestRewriteWhileAppending(t *testing.T) {
	dir := t.TempDir()
	const writers, games = 3, 40
	change := func(r *Record) bool {
		before := r.Seats[0].Player
		r.Seats[0].Player = strings.Replace(before, "ann", "somebody-else", 1)
		return r.Seats[0].Player != before
	}
	if err := os.WriteFile(filepath.Join(dir, "w0-x"+plainExt+unfinishedExt), []byte("left by a kill"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all []*Writer
	var wg sync.WaitGroup
	for i := range writers {
		w, err := NewWriter(dir, fmt.Sprintf("w%d", i), 4<<10)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
		wg.Go(func() {
			for n := range games {
				r := minimal(fmt.Sprintf("g%d-%d", i, n))
				r.Seats[0].Player = "ann"
				if err := w.Append(r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for appending := true; appending; {
		select {
		case <-done:
			appending = false
		default:
			if _, err := Rewrite(dir, Change{Record: change}); err != nil && !strings.Contains(err.Error(), "always more") {
				t.Fatal(err)
			}
		}
	}
	for _, w := range all {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Rewrite(dir, Change{Record: change}); err != nil {
		t.Fatal(err)
	}
	ids, damage := map[string]bool{}, 0
	for r, err := range All(dir) {
		if err != nil {
			damage++
			continue
		}
		ids[r.ID] = true
		if r.Seats[0].Player != "somebody-else" {
			t.Errorf("game %s of %s", r.ID, r.Seats[0].Player)
		}
	}
	if len(ids) != writers*games || damage > 0 {
		t.Errorf("%d games, %d damaged", len(ids), damage)
	}
}

// TestRewriteKeepsTheRest: lines that can't be read, and files without anything to
// change, stay as they are to the byte. A line that was cut is ended.
func TestRewriteKeepsTheRest(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a", "b")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := append(mustRead(t, w.path()), "damaged\n{\"v\":1,"...)
	if err := os.WriteFile(w.path(), damaged, 0o644); err != nil {
		t.Fatal(err)
	}
	never := func(*Record) bool { return false }
	if n, err := Rewrite(dir, Change{Record: never}); n != 0 || err != nil || !slices.Equal(mustRead(t, w.path()), damaged) {
		t.Errorf("%d changed, %v", n, err)
	}
	once := func(r *Record) bool { changed := r.ID == "a" && r.Text == ""; r.Text = "x"; return changed }
	if n, err := Rewrite(dir, Change{Record: once}); n != 1 || err != nil {
		t.Errorf("%d changed, %v", n, err)
	}
	if got := string(mustRead(t, w.path())); !strings.HasSuffix(got, "damaged\n{\"v\":1,\n") || !strings.Contains(got, `"text":"x"`) {
		t.Errorf("%s", got)
	}
}

// TestRewriteOfADamagedFile: a compressed file of which only a part can be read is not replaced
// by that part.
func TestRewriteOfADamagedFile(t *testing.T) {
	dir := t.TempDir()
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var file []byte
	for _, id := range []string{"a", "b"} {
		line, err := Encode(minimal(id))
		if err != nil {
			t.Fatal(err)
		}
		file = packer.EncodeAll(line, file)
	}
	file = file[:len(file)-20]
	path := filepath.Join(dir, "games-20260101T000000.000000000Z"+compressedExt)
	if err := os.WriteFile(path, file, 0o644); err != nil {
		t.Fatal(err)
	}
	if n, err := Rewrite(dir, Change{Record: func(r *Record) bool { return r.ID == "a" }}); err == nil {
		t.Errorf("%d changed, and no error", n)
	}
	if !slices.Equal(mustRead(t, path), file) {
		t.Error("the file has changed")
	}
	if left, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), unfinishedExt) }) {
		t.Errorf("left besides: %v, %v", left, err)
	}
}

// TestRewriteKeepsMatches: of a match's result file the settings stay, but for the names of
// a player, and so does what the match adds to the records of its games.
func TestRewriteKeepsMatches(t *testing.T) {
	dir := t.TempDir()
	const terms = `{"match":1,"id":"m1","players":["self:nodes=5,name=Ann,nodes=6","self"],"labels":["Ann",""],"seed":"1"}` + "\n"
	r := minimal("a")
	r.Seats[0].Player = "Ann"
	line, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	const place = `,"match":{"pair":1,"leg":2,"opening":7}}` + "\n"
	game := strings.TrimSuffix(string(line), "}\n") + place
	path := filepath.Join(dir, "m"+plainExt)
	if err := os.WriteFile(path, []byte(terms+game), 0o644); err != nil {
		t.Fatal(err)
	}
	change := Change{
		Record: func(r *Record) bool { return Pseudonymize(r, "Ann", "x") },
		Player: func(text string) string { return PseudonymizeSpec(text, "Ann", "x") },
	}
	if n, err := Rewrite(dir, change); n != 1 || err != nil {
		t.Errorf("%d changed, %v", n, err)
	}
	want := strings.Replace(terms, `name=Ann,nodes=6","self"],"labels":["Ann"`, `name=x,nodes=6","self"],"labels":["x"`, 1) + strings.Replace(game, "Ann", "x", 1)
	if got := string(mustRead(t, path)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestLockHeld: a process that was stopped while it held the lock stops no writer.
func TestLockHeld(t *testing.T) {
	dir := t.TempDir()
	unlock, _ := lockDir(dir, true, time.Minute)
	defer unlock()
	w := newWriter(t, dir, 0)
	appendAll(t, w, "a")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, dir, "a")
}

// TestRewriteWithoutLocks: where files can't be locked, or a process was stopped for
// longer than writers wait, a file is replaced while they write.
func TestRewriteWithoutLocks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, lockName), 0o700); err != nil { // which can't be locked
		t.Fatal(err)
	}
	written := make(chan int, 1)
	stop := make(chan struct{})
	w := newWriter(t, dir, 0)
	go func() {
		n := 0
		defer func() { written <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := w.Append(minimal(fmt.Sprintf("g%d", n))); err != nil {
				t.Error(err)
				return
			}
			n++
			time.Sleep(50 * time.Microsecond)
		}
	}()
	change := func(r *Record) bool {
		changed := r.Text == ""
		r.Text = "x"
		return changed
	}
	for begin := time.Now(); time.Since(begin) < time.Second; {
		if _, err := rewriteFile(dir, w.path(), Change{Record: change}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	close(stop)
	n := <-written
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for r, err := range All(dir) {
		if err != nil {
			t.Error(err)
			continue
		}
		found[r.ID] = true
	}
	if len(found) != n {
		t.Errorf("%d of %d games are left", len(found), n)
	}
}
