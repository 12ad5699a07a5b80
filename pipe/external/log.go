package external

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/internal/atomicfile"
)

// Direction says who wrote a line of a conversation.
type Direction byte

// The directions.
const (
	Sent     Direction = '>' // to the program
	Received Direction = '<' // from it
	Errors   Direction = '!' // from it, on its standard error
)

// Line is a line of a conversation with a program.
type Line struct {
	At time.Time
	Direction
	Text string
}

// String returns the line as logs have it: time of day (UTC), direction and text.
func (l Line) String() string {
	return fmt.Sprintf("%s %c %s", l.At.UTC().Format("15:04:05.000"), l.Direction, strings.ToValidUTF8(l.Text, "?"))
}

// Bounds of the logs. A program that writes without end fills neither the disk nor,
// by many games, the folder.
const (
	maxLogFile = 8 << 20 // bytes of a game
	maxLogDir  = 1 << 30 // bytes of a folder: the oldest logs are removed
	logExt     = ".engine.log"
)

// CheckLog creates a folder for logs where there is none. The error says why there can be
// no logs in it; while games are played nobody is told that.
func CheckLog(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Check(filepath.Join(dir, "game"+logExt))
}

// logDir is a folder of conversations, one file per game.
type logDir string

// file returns the file for a game with a program. It is created with its first line.
func (d logDir) file(game string, s Spec) *logFile {
	if game == "" {
		game = "no-game"
	}
	return &logFile{dir: d, name: game + "-" + filepath.Base(s.Path),
		head: fmt.Sprintf("# %s, %s:%s", game, s.Dialect, strings.Join(append([]string{s.Path}, s.Args...), " "))}
}

// logFile is the conversation of a game. An error ends it, and harms no game.
type logFile struct {
	dir        logDir
	name, head string

	mu   sync.Mutex
	f    *os.File
	size int
	over bool // closed, full, or not writable
}

// add writes a line.
func (l *logFile) add(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	if l.f == nil {
		l.create(line.At)
	}
	text := line.String() + "\n"
	if l.size+len(text) > maxLogFile {
		text = "# the rest is not kept\n"
		l.over = true
	}
	if l.f != nil {
		n, err := l.f.WriteString(text)
		l.size += n
		l.over = l.over || err != nil
	}
}

// create creates the file, after making room for it. The caller holds mu.
func (l *logFile) create(at time.Time) {
	l.dir.prune(maxLogDir)
	for n := 1; n < 10_000; n++ {
		name := l.name
		if n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		f, err := os.OpenFile(filepath.Join(string(l.dir), name+logExt), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue // of the other seat, or of an earlier run
		}
		if err != nil {
			break
		}
		l.f = f
		l.size, err = f.WriteString(l.head + ", " + at.UTC().Format(time.DateOnly) + "\n")
		l.over = err != nil
		return
	}
	l.over = true
}

// close ends the log.
func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.f != nil {
		l.f.Close() // every line was written at once
		l.f = nil
	}
}

// prune removes the oldest logs until the others have at most so many bytes.
func (d logDir) prune(most int64) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return
	}
	var logs []fs.FileInfo
	var sum int64
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), logExt) {
			logs = append(logs, info)
			sum += info.Size()
		}
	}
	slices.SortFunc(logs, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range logs {
		if sum <= most {
			return
		}
		if os.Remove(filepath.Join(string(d), info.Name())) == nil {
			sum -= info.Size()
		}
	}
}
