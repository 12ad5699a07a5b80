package record

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/zstd"
)

// lockName is the file of a directory that is locked while records are appended or
// files rewritten.
const lockName = ".lock"

// lockWait is how long a writer waits for the lock. Whoever rewrites looks for what was
// appended without it.
const lockWait = 2 * time.Second

// lockDir locks a directory of records until unlock is called: writers share the lock,
// and who rewrites has it alone. It does without if that is not possible in time, as with
// a process that was stopped or on a file system without locks.
func lockDir(dir string, alone bool, wait time.Duration) (unlock func()) {
	l := flock.New(filepath.Join(dir, lockName))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	try := l.TryRLockContext
	if alone {
		try = l.TryLockContext
	}
	try(ctx, 5*time.Millisecond) // else without
	return func() { l.Close() }  // the lock ends with it
}

// Rewrite changes the records of a directory in place: change returns whether it has
// changed one. It may run while Writers append, and again after it was killed: each file
// is replaced as a whole. Lines that can't be read stay as they are. It returns how many
// records were changed.
func Rewrite(dir string, change func(*Record) bool) (changed int, err error) {
	for range rewritePasses {
		paths, err := files(dir)
		if err != nil {
			return changed, err
		}
		n := 0
		for _, path := range paths {
			of, err := rewriteFile(dir, path, change)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // rotated meanwhile
				return changed, fmt.Errorf("records: %s: %w", path, err)
			}
			n += of
		}
		changed += n
		if n == 0 {
			return changed, nil
		}
	}
	return changed, fmt.Errorf("records: %s: always more to change", dir)
}

// rewritePasses bounds how often a directory is looked at: a file that was compressed
// while it was rewritten is found by the next pass, which usually finds nothing.
const rewritePasses = 10

// rewriteRest is the time before each file in which writers get the lock.
const rewriteRest = 50 * time.Millisecond

// rewriteFile rewrites a file if change changes some of its records.
func rewriteFile(dir, path string, change func(*Record) bool) (changed int, err error) {
	for r, err := range File(path) {
		if err == nil && change(r) {
			changed++
			break
		}
	}
	if changed == 0 {
		return 0, nil
	}
	time.Sleep(rewriteRest)
	defer lockDir(dir, true, 10*lockWait)()
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	unfinished := path + unfinishedExt
	out, err := os.OpenFile(unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer os.Remove(unfinished) // does nothing after the rename
	defer out.Close()
	compressed := strings.HasSuffix(path, compressedExt)
	if changed, err = copyChanged(out, in, compressed, change); err != nil {
		return 0, err
	}
	if info, err := in.Stat(); err == nil { // files that are not kept any more go by this
		err = errors.Join(os.Chtimes(unfinished, info.ModTime(), info.ModTime()), os.Chmod(unfinished, info.Mode()))
		if err != nil {
			return 0, err
		}
	}
	if err := errors.Join(out.Sync(), os.Rename(unfinished, path)); err != nil {
		return 0, err
	}
	if compressed {
		return changed, nil
	}
	more, err := copyChanged(out, in, false, change) // appended without the lock
	return changed + more, err
}

// copyChanged copies what is left of a file of records, changed, and returns how many
// records were.
func copyChanged(to io.Writer, from io.Reader, compressed bool, change func(*Record) bool) (changed int, err error) {
	if compressed {
		z, failed := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
		if failed != nil {
			return 0, failed
		}
		defer z.Close()
		zw, failed := zstd.NewWriter(to)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, zw.Close()) }()
		from, to = z, zw
	}
	in, out := bufio.NewReaderSize(from, 64<<10), bufio.NewWriter(to)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return changed, err
		}
		if r, bad := Decode(bytes.TrimSuffix(line, []byte("\n"))); bad == nil && change(r) {
			next, err := Encode(r)
			if err != nil {
				return changed, err
			}
			if line = next; !bytes.HasSuffix(next, []byte("\n")) {
				line = append(next, '\n')
			}
			changed++
		}
		if _, err := out.Write(line); err != nil {
			return changed, err
		}
		if err == io.EOF {
			return changed, out.Flush()
		}
	}
}
