package logfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A log has a size at most, with the one before it; every entry of the two is whole, and
// another process goes on behind them.
func TestLogFileIsBegunAnew(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "sparring.log")
	const full = 100
	entry := func(n int) []byte { return fmt.Appendf(nil, "entry %02d ..........\n", n) } // 20 bytes
	n := 0
	for range 3 {
		l, err := Open(name, full)
		if err != nil {
			t.Fatal(err)
		}
		for range 7 {
			n++
			if _, err := l.Write(entry(n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var want [2][]byte // the file and the one before
	for i := 1; i <= n; i++ {
		if len(want[0])+len(entry(i)) > full {
			want[1], want[0] = want[0], nil
		}
		want[0] = append(want[0], entry(i)...)
	}
	for i, file := range []string{name, name + ".1"} {
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("%s: %v\n%s, want\n%s", file, err, got, want[i])
		}
	}
	// What can't be renamed is kept and goes on, and is not tried again for every entry.
	if err := os.Remove(name + ".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(name+".1", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := Open(name, full)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	whole := bytes.Clone(want[0])
	for range 5 {
		n++
		if _, err := l.Write(entry(n)); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, entry(n)...)
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, whole) {
		t.Errorf("with something in the way: %v\n%s, want\n%s", err, got, whole)
	}
	if l.max != 2*full {
		t.Errorf("after a rename that failed the next one is tried at %d bytes, want %d", l.max, 2*full)
	}
}

// Of a log that several processes write, the file and the one before have the last entries of
// all, whoever starts it over.
func TestLogFileOfTwoProcesses(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "sparring.log")
	const full = 100
	var logs [2]*File
	for i := range logs {
		l, err := Open(name, full)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		logs[i] = l
	}
	var all [][]byte
	for n := range 60 {
		entry := fmt.Appendf(nil, "entry %02d ..........\n", n)   // 20 bytes
		if _, err := logs[min(n%3, 1)].Write(entry); err != nil { // one writes more
			t.Fatal(err)
		}
		all = append(all, entry)
		var have []byte
		for _, file := range []string{name + ".1", name} {
			data, err := os.ReadFile(file)
			if err != nil && (file == name || n >= full/len(entry)) {
				t.Fatal(err)
			}
			if len(data) > full {
				t.Errorf("after %d entries %s has %d bytes", n+1, file, len(data))
			}
			have = append(have, data...)
		}
		if want := bytes.Join(all, nil); !bytes.HasSuffix(want, have) || len(have) < min(len(want), full) {
			t.Fatalf("after %d entries:\n%s", n+1, have)
		}
	}
}

// TestLogThatCannotBeWritten: a log on a full disk is complained of once, not for every entry.
func TestLogThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var disk smallDisk
	var shown bytes.Buffer
	kept := NewKeptUp(&disk, &shown)
	write := func(entry string) {
		t.Helper()
		if n, err := kept.Write([]byte(entry + "\n")); n != len(entry)+1 || err != nil { // zerolog says each error
			t.Errorf("%s: %d bytes, %v", entry, n, err)
		}
	}
	write("first")
	disk.full = true
	for range 3 {
		write("lost")
	}
	disk.full = false
	write("last")
	if got := disk.String(); got != "first\nlast\n" {
		t.Errorf("the log has %s", got)
	}
	if got, want := shown.String(), `{"level":"warn","error":"no space left on device","message":"the log can't be written; what it should have is lost until it can"}
{"level":"warn","message":"the log is written again; entries lost: 3"}
`; got != want {
		t.Errorf("shown: %s", got)
	}
}

// smallDisk takes what is written to it unless it is full.
type smallDisk struct {
	bytes.Buffer
	full bool
}

func (d *smallDisk) Write(b []byte) (int, error) {
	if d.full {
		return 0, syscall.ENOSPC
	}
	return d.Buffer.Write(b)
}
