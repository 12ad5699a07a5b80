package main

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// maxLog is the size at which a log file is begun anew, in bytes.
const maxLog = 64 << 20

// logFile is a log that a program writes for months: when it is full, it is renamed to
// NAME.1, which replaces the one before, and begun anew. It is safe for concurrent use, and
// several processes may write one: lumberjack, which is made for this, opens a new file
// without O_APPEND, so that they would overwrite each other's entries.
type logFile struct {
	name string
	max  int64

	mu   sync.Mutex
	file *os.File // nil if it could not be opened again
	size int64
}

// openLogFile opens a log file and goes on behind what it has.
func openLogFile(name string, max int64) (*logFile, error) {
	l := &logFile{name: name, max: max}
	return l, l.open()
}

// open opens the file. The caller holds mu, or nobody else has l.
func (l *logFile) open() error {
	file, err := os.OpenFile(l.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	st, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.size = file, st.Size()
	return nil
}

// Write writes one entry.
func (l *logFile) Write(entry []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size > 0 && l.size+int64(len(entry)) > l.max {
		l.file.Close() // what it has is written
		l.file = nil
		if err := os.Rename(l.name, l.name+".1"); err != nil {
			l.max *= 2 // an entry must not be lost for that; try again much later
		}
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(entry)
	l.size += int64(n)
	return n, err
}

// Close closes the file. Nothing may be written any more.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fs.ErrClosed
	}
	err := l.file.Close()
	l.file = nil
	return err
}
