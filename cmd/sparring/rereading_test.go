package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sparring/engine/book"
	"sparring/record"
)

// recordLine is a record of a finished game of two moves, by a writer.
func recordLine(id, by, text string) string {
	return fmt.Sprintf(`{"v":1,"id":%q,"game":"gomoku","rules":"gomoku/freestyle-15","clock":"unlimited","rated":false,`+
		`"seats":[{"player":"a"},{"player":"b"}],"event":%q,"result":"first","text":%q,"source":{"by":%q},`+
		`"plies":[{"seat":"first","move":"h8"},{"seat":"second","move":"h9"}]}`+"\n", id, id, text, by)
}

// silent returns a command for functions that want one.
func silent(t *testing.T) *cobra.Command {
	c := &cobra.Command{}
	c.SetContext(t.Context())
	c.SetErr(io.Discard)
	return c
}

// TestGamesAreNotHeld: what is read for a book or to learn from is not held in memory until all
// is read, neither games of other programs nor those of a platform.
func TestGamesAreNotHeld(t *testing.T) {
	const games, size = 32, 512 << 10
	for _, by := range []string{record.ByImport, record.ByArena} {
		path := filepath.Join(t.TempDir(), "games.jsonl")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range games {
			if _, err := f.WriteString(recordLine(fmt.Sprint("g", i), by, strings.Repeat("x", size))); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		heap := func() uint64 {
			runtime.GC()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		for name, read := range map[string]func(each func()) error{
			"book": func(each func()) error {
				_, err := feed(silent(t), []string{path}, func(book.Game) error { each(); return nil })
				return err
			},
			"learn": func(each func()) error {
				return eachGame(silent(t), []string{path}, func(*record.Record) error { each(); return nil })
			},
		} {
			before, n, held := heap(), 0, uint64(0)
			err := read(func() {
				if n++; n == 1 || n == games {
					held = max(held, heap())
				}
			})
			if err != nil || n != games {
				t.Errorf("%s, by %s: %d games, %v", name, by, n, err)
			}
			if held > before+games*size/4 {
				t.Errorf("%s, by %s: %d MiB are held of %d", name, by, (held-before)>>20, games*size>>20)
			}
		}
	}
}

// TestSecondReading: a pipe is not read again; of a file, only the games that were there at the
// first reading are, and it is an error if they are gone.
func TestSecondReading(t *testing.T) {
	imports := recordLine("g1", record.ByImport, "") + recordLine("g2", record.ByImport, "")
	dir := t.TempDir()
	path, last := filepath.Join(dir, "games.jsonl"), filepath.Join(dir, "match.jsonl")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(last, recordLine("m1", record.ByMatch, ""))
	read := func(path string, meanwhile func()) (ids []string, err error) {
		err = eachGame(silent(t), []string{path, last}, func(r *record.Record) error {
			if ids = append(ids, r.ID); r.ID == "m1" {
				meanwhile()
			}
			return nil
		})
		return ids, err
	}
	want := []string{"m1", "g1", "g2"}
	write(path, imports)
	if ids, err := read(path, func() { write(path, imports+recordLine("g3", record.ByImport, "")) }); err != nil || !slices.Equal(ids, want) {
		t.Errorf("a file that grows: %v, %v", ids, err)
	}
	for name, meanwhile := range map[string]func(){
		"shorter": func() { write(path, recordLine("g1", record.ByImport, "")) },
		"gone":    func() { os.Remove(path) },
	} {
		write(path, imports)
		if ids, err := read(path, meanwhile); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", name, ids, err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pipe := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := os.Stat(pipe); err != nil {
		t.Skip(err)
	}
	if _, err := w.WriteString(imports); err != nil { // it fits into the pipe
		t.Fatal(err)
	}
	w.Close()
	if ids, err := read(pipe, func() {}); err != nil || !slices.Equal(ids, want) {
		t.Errorf("a pipe: %v, %v", ids, err)
	}
}
