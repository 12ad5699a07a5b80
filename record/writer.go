package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Names of files: NAME.jsonl is written to; when it is large it becomes
// NAME-TIME.jsonl and then, compressed, NAME-TIME.jsonl.zst.
const (
	plainExt      = ".jsonl"
	compressedExt = ".jsonl.zst"
	unfinishedExt = ".tmp" // not readable yet
	rotatedStamp  = "20060102T150405.000000000Z"
)

// DefaultRotate is the default size at which files are rotated.
const DefaultRotate = 64 << 20

// NotKeptError says that a record was not written, for example because the disk
// is full. The writer can be used further: it tries again with the next record.
type NotKeptError struct {
	// First is set if the record before was written: report it once, not for
	// every record.
	First bool
	Lost  uint64 // records not kept so far, this one included
	Err   error
}

func (e *NotKeptError) Error() string {
	return fmt.Sprintf("record not kept (%d so far): %v", e.Lost, e.Err)
}

func (e *NotKeptError) Unwrap() error { return e.Err }

// Writer appends records to the files of a directory. It is safe for
// concurrent use. Every record is handed to the operating system before
// Append returns, so that a crash of the process loses none.
type Writer struct {
	dir, name string
	rotate    int64
	prefix    string // of the files that bounds are for
	bounds    Bounds

	mu         sync.Mutex
	file       *os.File // nil before the first record, and after an error
	size       int64
	began      time.Time // the file's first record
	torn       bool      // the file ends within a line
	failing    uint64    // records in a row that were not kept
	resumed    func(lost uint64)
	lost, kept uint64

	compressing sync.WaitGroup
	rotateMu    sync.Mutex
	rotateErr   error
}

// NewWriter opens the directory for records and creates it if necessary. File
// names begin with name; a directory must not have two Writers of the same name.
// Rotate is the size in bytes at which a file is rotated and compressed, 0 means
// DefaultRotate. Files that a crash left uncompressed are compressed now. It returns an
// error if the directory can't be written to.
func NewWriter(dir, name string, rotate int64) (*Writer, error) {
	if name == "" || strings.ContainsAny(name, `/\.`) {
		return nil, fmt.Errorf("records: file name %.40q: want a word without dots and slashes", name)
	}
	if rotate == 0 {
		rotate = DefaultRotate
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	if err := mayWrite(dir); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	w := &Writer{dir: dir, name: name, rotate: rotate}
	if err := w.finishRotation(); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	return w, nil
}

// mayWrite returns an error if the directory can't be written to, as somebody else's or
// that of a read-only disk: said now, and not when the first game has ended. A full disk is
// none: it may have room by then.
func mayWrite(dir string) error {
	probe, err := os.CreateTemp(dir, ".probe-*")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the directory is not writable: %w", err)
	}
	if err != nil {
		return nil
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// Append writes a record. The error is a *NotKeptError, or wraps ErrInvalid for
// a record that can never be written.
func (w *Writer) Append(r *Record) error {
	line, err := Encode(r)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(line); err != nil {
		w.lost++
		w.failing++
		return &NotKeptError{First: w.failing == 1, Lost: w.lost, Err: err}
	}
	if w.failing > 0 && w.resumed != nil {
		w.resumed(w.failing)
	}
	w.failing = 0
	w.kept++
	return nil
}

// Resumed sets a function that is called when a record is written again after some were lost,
// with the number of lost ones, so that whoever was told of the first learns of the end, too.
// Call it before the first Append; f must not use the Writer.
func (w *Writer) Resumed(f func(lost uint64)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resumed = f
}

func (w *Writer) append(line []byte) error {
	unlock, locked := lockDir(w.dir, false, lockWait)
	defer unlock()
	for {
		if err := w.write(line); err != nil || locked || w.file == nil || w.isCurrent() {
			return err
		}
		// Replaced meanwhile, perhaps without this line. A game that is there twice is one.
	}
}

// write writes a line to the current file.
func (w *Writer) write(line []byte) error {
	if w.file != nil && !w.isCurrent() {
		w.file.Close() // everything was written
		w.file = nil
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	if w.isOld() && !w.torn {
		w.putAside()
		if w.file == nil {
			if err := w.open(); err != nil {
				return err
			}
		}
	}
	if w.torn { // leave the cut line to the reader, which reports it
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.file.Write(line)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, w.file.Truncate(w.size))
		}
		// The next record opens the file again and looks at what it contains.
		err = errors.Join(err, w.file.Close())
		w.file = nil
		return err
	}
	if w.size == 0 {
		w.began = time.Now()
	}
	w.torn = false
	w.size += int64(n)
	if w.size >= w.rotate && w.isCurrent() {
		w.putAside()
	}
	return nil
}

// open opens the file for appending and finds its size, and whether it ends
// within a line, as after a crash or on a full disk.
func (w *Writer) open() error {
	const flags = os.O_CREATE | os.O_RDWR | os.O_APPEND
	f, err := os.OpenFile(w.path(), flags, 0o644)
	// The directory may have been removed. What it was in is not made again: that may be a
	// disk that is not there.
	if errors.Is(err, fs.ErrNotExist) && os.Mkdir(w.dir, 0o755) == nil {
		f, err = os.OpenFile(w.path(), flags, 0o644)
	}
	if err != nil {
		return err
	}
	w.torn = false
	st, err := f.Stat()
	if err == nil && st.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, st.Size()-1); err == nil {
			w.torn = last[0] != '\n'
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.file, w.size, w.began = f, st.Size(), time.Time{}
	if w.size == 0 || w.bounds.Age == 0 {
		return nil
	}
	for r, err := range File(w.path()) {
		if err == nil {
			w.began = r.Start
			break
		}
	}
	return nil
}

// isCurrent reports whether the open file is still the one at its path: another process
// may have removed or rewritten it.
func (w *Writer) isCurrent() bool {
	open, err := w.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(w.path())
	return err == nil && os.SameFile(open, there)
}

// putAside closes the file, renames it and has it compressed. If that fails, the
// writer continues the same file and nothing is lost.
func (w *Writer) putAside() {
	err := w.file.Close()
	w.file = nil
	aside := filepath.Join(w.dir, w.name+"-"+time.Now().UTC().Format(rotatedStamp)+plainExt)
	if err == nil {
		err = os.Rename(w.path(), aside)
	}
	if err != nil {
		w.note(err)
		return
	}
	w.compressing.Go(func() { w.note(compress(aside)) })
}

func (w *Writer) path() string { return filepath.Join(w.dir, w.name+plainExt) }

// note keeps the first error of rotation for Close.
func (w *Writer) note(err error) {
	w.rotateMu.Lock()
	defer w.rotateMu.Unlock()
	if w.rotateErr == nil {
		w.rotateErr = err
	}
}

// finishRotation finishes what a crash interrupted: files put aside are compressed.
func (w *Writer) finishRotation() error {
	aside, err := filepath.Glob(filepath.Join(w.dir, w.name+"-*"+plainExt))
	if err != nil {
		return err
	}
	for _, path := range aside {
		stampText := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), w.name+"-"), plainExt)
		if _, err := time.Parse(rotatedStamp, stampText); err != nil {
			continue // the file of another writer, whose name begins with this one's
		}
		w.compressing.Go(func() { w.note(compress(path)) })
	}
	return nil
}

// compress replaces a plain file by a compressed one. At any time one of them is
// complete.
func compress(path string) (err error) {
	final := strings.TrimSuffix(path, plainExt) + compressedExt
	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return err
		}
		return os.Remove(path) // only this was left to do
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	unfinished := final + unfinishedExt
	out, err := os.Create(unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(unfinished))
		}
	}()
	z, err := zstd.NewWriter(out)
	if err == nil {
		_, err = io.Copy(z, in)
		err = errors.Join(err, z.Close(), out.Sync())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Rename(unfinished, final); err != nil {
		return err
	}
	return os.Remove(path)
}

// Counts returns how many records this writer has written and how many it has lost.
func (w *Writer) Counts() (kept, lost uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept, w.lost
}

// Close closes the file and waits for the compression of others. The error is
// that of the first file that could not be rotated; its records are not lost.
// The Writer may be used again after Close.
func (w *Writer) Close() error {
	w.mu.Lock()
	var err error
	if w.file != nil {
		err = w.file.Close()
		w.file = nil
	}
	w.mu.Unlock()
	w.compressing.Wait()
	w.rotateMu.Lock()
	defer w.rotateMu.Unlock()
	err = errors.Join(err, w.rotateErr)
	w.rotateErr = nil
	return err
}
