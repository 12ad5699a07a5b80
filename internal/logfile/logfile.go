// Package logfile is the log that a program writes for months: a file that is started over when it
// is full, by several processes at once if need be, and a writer that complains once, and not
// for every entry, while the log can't be written.
package logfile

import (
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/rs/zerolog"
)

// MaxSize is the size at which a log file is started over, in bytes.
const MaxSize = 64 << 20

// File is a log that a program writes for months: when it is full, it is renamed to
// NAME.1, which replaces the one before, and started over. It is safe for concurrent use, and
// several processes may write one: lumberjack, which is made for this, opens a new file
// without O_APPEND, so that they would overwrite each other's entries.
type File struct {
	name string
	max  int64

	mu   sync.Mutex
	file *os.File // nil if it could not be opened again
}

// Open opens a log file of at most max bytes and goes on behind what it has.
func Open(name string, max int64) (*File, error) {
	l := &File{name: name, max: max}
	return l, l.open()
}

// open opens the file. The caller holds mu, or nobody else has l.
func (l *File) open() error {
	file, err := os.OpenFile(l.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		l.file = file
	}
	return err
}

// Name returns the path of the file.
func (l *File) Name() string { return l.name }

// begin makes sure that the file of the name is open, and has room for an entry of so many
// bytes. Another process that writes it may have started it over: a file that has been renamed
// is written no more, and the new one not renamed for what was in the old one, since that
// would remove the old one. The caller holds mu.
func (l *File) begin(bytes int64) error {
	now, err := os.Stat(l.name)
	if l.file != nil {
		if mine, failed := l.file.Stat(); err != nil || failed != nil || !os.SameFile(now, mine) {
			l.close()
		}
	}
	if err == nil && now.Size() > 0 && now.Size()+bytes > l.max {
		l.close()
		if err := os.Rename(l.name, l.name+".1"); err != nil {
			l.max *= 2 // an entry must not be lost for that; try again much later
		}
	}
	if l.file == nil {
		return l.open()
	}
	return nil
}

// close closes the file if it is open. The caller holds mu.
func (l *File) close() (err error) {
	if l.file != nil {
		err, l.file = l.file.Close(), nil
	}
	return err
}

// Write writes one entry.
func (l *File) Write(entry []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.begin(int64(len(entry))); err != nil {
		return 0, err
	}
	return l.file.Write(entry)
}

// Close closes the file. Nothing may be written any more.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return fs.ErrClosed
	}
	return l.close()
}

// NewKeptUp returns a [KeptUp] that writes to log, and to shown what it says itself, as an entry.
func NewKeptUp(log, shown io.Writer) *KeptUp { return &KeptUp{log: log, shown: shown} }

// KeptUp writes entries to a log, and says once when that takes no more of them, as on a full
// disk, and once when it does again. Its writers learn nothing of that: zerolog would say it
// for every entry.
type KeptUp struct {
	log   io.Writer
	shown io.Writer // where what it says goes instead, as an entry

	mu   sync.Mutex
	lost int // entries since the log failed
}

// Write writes one entry, or counts it as lost.
func (k *KeptUp) Write(entry []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err := k.log.Write(entry)
	say := zerolog.New(k.shown)
	switch {
	case err != nil:
		if k.lost++; k.lost == 1 {
			say.Warn().Err(err).Msg("the log can't be written; what it should have is lost until it can")
		}
	case k.lost > 0:
		say.Warn().Msgf("the log is written again; entries lost: %d", k.lost)
		k.lost = 0
	}
	return len(entry), nil
}
