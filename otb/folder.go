package otb

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sparring/internal/journal"
)

// ext ends the names of journals.
const ext = ".jsonl"

// NewID returns the id of a game that begins now, unique to it.
func NewID(at time.Time) string {
	return "table-" + at.Format("20060102-1504") + "-" + strings.ToLower(rand.Text()[:4])
}

// JournalOf returns the path of a game's journal in a folder.
func JournalOf(dir, id string) string { return filepath.Join(dir, id+ext) }

// Unfinished returns the journal in a folder that was written last, if its game has not
// ended; the path is "" if there is none. The error names a journal that cannot be
// read.
func Unfinished(dir string) (path string, g *Game, err error) {
	all, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil {
		return "", nil, err
	}
	var latest time.Time
	for _, name := range all {
		info, err := os.Stat(name)
		if err == nil && info.Size() > 0 && info.ModTime().After(latest) {
			path, latest = name, info.ModTime()
		}
	}
	if path == "" {
		return "", nil, nil
	}
	if g, err = Load(path); err != nil {
		return path, nil, err
	}
	if g.Phase() == Ended {
		return "", nil, nil
	}
	return path, g, nil
}

// Differ lists the settings in which a game and the terms of another differ, of those
// that cannot change during a game.
func Differ(had, now Terms) []string { return journal.Differences(had.fixed(), now.fixed()) }

// Different returns an error for terms that are not those of a game.
func Different(had, now Terms) error {
	if d := Differ(had, now); len(d) > 0 {
		return fmt.Errorf("the game has other settings: %s", strings.Join(d, "; "))
	}
	return nil
}
