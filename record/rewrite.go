package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/klauspost/compress/zstd"
)

// lockName is the file of a directory that is locked while records are appended or
// files rewritten.
const lockName = ".lock"

// lockWait is how long a writer waits for the lock. Whoever rewrites looks for what was
// appended without it, and a writer without it looks whether the file was replaced.
const lockWait = 2 * time.Second

// lockDir locks a directory of records until unlock is called: writers share the lock, a
// rewrite has it alone. If it can't get the lock in time, because another process was stopped
// or the file system has no locks, it returns without it.
func lockDir(dir string, alone bool, wait time.Duration) (unlock func(), locked bool) {
	l := flock.New(filepath.Join(dir, lockName))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	try := l.TryRLockContext
	if alone {
		try = l.TryLockContext
	}
	locked, err := try(ctx, 5*time.Millisecond)
	return func() { l.Close() }, locked && err == nil // the lock ends with it
}

// Change is what Rewrite does to the records of a directory.
type Change struct {
	// Record changes a record, and returns whether it has.
	Record func(*Record) bool
	// Player returns what stands in the place of a player's spec or name in the settings
	// at the beginning of a match's result file that has changed records. Nil: itself.
	Player func(string) string
}

// Rewrite changes the records of a directory in place. It may run while Writers append,
// and again after it was killed: each file is replaced as a whole. Lines that can't be
// read stay as they are, and so do what a match adds to the records of its games and
// other fields that this program does not know. It returns how many records were changed.
func Rewrite(dir string, change Change) (changed int, err error) {
	for range rewritePasses {
		paths, err := Files(dir)
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
func rewriteFile(dir, path string, change Change) (changed int, err error) {
	for r, err := range File(path) {
		if err == nil && change.Record(r) {
			changed++
			break
		}
	}
	if changed == 0 {
		return 0, nil
	}
	time.Sleep(rewriteRest)
	unlock, _ := lockDir(dir, true, 10*lockWait)
	defer unlock()
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	unfinished := path + unfinishedExt
	// Writers without the lock append as soon as it has the file's name: don't write over that.
	out, err := os.OpenFile(unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return 0, err
	}
	defer os.Remove(unfinished) // does nothing after the rename
	defer out.Close()
	copied := bufio.NewWriter(out)
	var cut []byte
	if strings.HasSuffix(path, compressedExt) {
		changed, err = copyCompressed(copied, in, change)
	} else {
		changed, cut, err = copyLines(copied, in, change)
	}
	if err = errors.Join(err, copied.Flush()); err != nil {
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
	// What was appended without the lock, each line in one write: others append, too.
	more, err := copyAll(out, io.MultiReader(bytes.NewReader(cut), in), change)
	return changed + more, err
}

// copyCompressed copies a compressed file of records, changed, and returns how many were.
func copyCompressed(to io.Writer, from io.Reader, change Change) (changed int, err error) {
	in, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := zstd.NewWriter(to)
	if err != nil {
		return 0, err
	}
	changed, err = copyAll(out, in, change)
	return changed, errors.Join(err, out.Close())
}

// copyAll is copyLines with the last line, which is ended if it was cut, as by a crash:
// otherwise the next one would continue it.
func copyAll(to io.Writer, from io.Reader, change Change) (changed int, err error) {
	changed, cut, err := copyLines(to, from, change)
	if err != nil || len(cut) == 0 {
		return changed, err
	}
	last, _, err := copyLines(to, bytes.NewReader(append(cut, '\n')), change)
	return changed + last, err
}

// copyLines copies the lines of records, changed, each in one write. It returns how many
// records were changed, and what follows the last line end, which is not copied.
func copyLines(to io.Writer, from io.Reader, change Change) (changed int, cut []byte, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return changed, line, nil
		}
		if err != nil {
			return changed, nil, err
		}
		if bytes.HasPrefix(line, []byte(TermsPrefix)) {
			line = change.terms(line)
		} else if r, bad := Decode(bytes.TrimSuffix(line, []byte("\n"))); bad == nil && change.Record(r) {
			if line, err = encodeLike(r, line); err != nil {
				return changed, nil, err
			}
			changed++
		}
		if _, err := to.Write(line); err != nil {
			return changed, nil, err
		}
	}
}

// encodeLike encodes a record that was decoded from a line and changed. What the line has
// besides, such as the place of a game in a match, follows as it is.
func encodeLike(r *Record, line []byte) ([]byte, error) {
	encoded, err := Encode(r)
	if err != nil {
		return nil, err
	}
	all, err := membersOf(encoded)
	if err != nil {
		return nil, err
	}
	had, err := membersOf(line)
	if err != nil {
		return nil, err
	}
	for _, m := range had {
		if !fields[m.name] {
			all = append(all, m)
		}
	}
	return joinMembers(all)
}

// fields are the names of the fields of a record.
var fields = func() map[string]bool {
	names := map[string]bool{}
	for f := range reflect.TypeFor[Record]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}()

// terms changes the settings of a match, unless they can't be read.
func (c Change) terms(line []byte) []byte {
	all, err := membersOf(line)
	if err != nil || c.Player == nil {
		return line
	}
	for i, m := range all {
		var texts []string
		if m.name != "players" && m.name != "labels" || json.Unmarshal(m.value, &texts) != nil {
			continue
		}
		for j := range texts {
			texts[j] = c.Player(texts[j])
		}
		if all[i].value, err = json.Marshal(texts); err != nil {
			return line
		}
	}
	if changed, err := joinMembers(all); err == nil {
		return changed
	}
	return line
}

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf returns the members of an object, in order.
func membersOf(object []byte) (all []member, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err = d.Token(); err != nil { // the brace
		return nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// joinMembers is the reverse of membersOf, with a line end.
func joinMembers(all []member) ([]byte, error) {
	var b bytes.Buffer
	for i, m := range all {
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}
