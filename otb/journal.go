package otb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sparring/internal/journal"
	"sparring/record"
)

// reserved is the space that a journal keeps for itself, in a file beside it, so that
// a full disk does not stop it: more than a long game needs.
const reserved = 1 << 20

// reserveExt ends the name of that file.
const reserveExt = ".reserve"

// store keeps a game's entries on the disk.
type store struct {
	path    string
	file    lines
	pending []Entry // not on the disk yet
	failed  error   // why
}

// lines is the open journal, a *journal.File but in tests.
type lines interface {
	Append(v any) error
	Close() error
}

// prefix begins a journal.
const prefix = `{"table":`

// layoutOf is that of a game's journal. Reading one sets up *g with its terms, which
// same checks, and applies its entries.
func layoutOf(g **Game, same func(had Terms) error) journal.Layout {
	return journal.Layout{
		Name: "journal", What: "the journal of a game at a table", Prefix: prefix, MaxLine: record.MaxLine, Sync: true,
		Same: func(line []byte) error {
			var had Terms
			err := json.Unmarshal(line, &had)
			if err == nil {
				err = same(had)
			}
			if err == nil {
				*g, err = New(had)
			}
			return err
		},
		Take: func(line []byte) error {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			return (*g).Apply(e)
		},
	}
}

// openStore opens or creates the journal of a game and returns the game with all its
// entries. The terms of an existing one are taken from it; same checks them.
func openStore(path string, t Terms, same func(had Terms) error) (*store, *Game, error) {
	s := &store{path: path}
	var g *Game
	layout := layoutOf(&g, same)
	layout.Terms = &t
	var err error
	if s.file, err = journal.Open(path, layout); err != nil {
		return nil, nil, err
	}
	if g == nil {
		if g, err = New(t); err != nil {
			s.close(false)
			return nil, nil, err
		}
	}
	s.reserve()
	return s, g, nil
}

// reserve takes up the reserved space. The journal works without it.
func (s *store) reserve() {
	if info, err := os.Stat(s.path + reserveExt); err == nil && info.Size() == reserved {
		return
	}
	f, err := os.Create(s.path + reserveExt)
	if err == nil {
		_, err = f.Write(make([]byte, reserved))
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		os.Remove(s.path + reserveExt)
	}
}

// append writes an entry, after those that could not be written before. If the error
// is not nil, the entry is kept and written by the next call.
func (s *store) append(e Entry) error {
	s.pending = append(s.pending, e)
	return s.flush()
}

// flush writes the entries that are not on the disk yet.
func (s *store) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	if s.failed = s.write(); s.failed != nil && os.Remove(s.path+reserveExt) == nil {
		s.failed = s.write()
	}
	return s.failed
}

// write writes the pending entries. The journal stays open, so that no other program
// takes the game over while this one waits for room.
func (s *store) write() error {
	for len(s.pending) > 0 {
		if err := s.file.Append(s.pending[0]); err != nil {
			return err
		}
		s.pending = s.pending[1:]
	}
	return nil
}

// alive notes on the disk that the program runs, by the time of the journal.
func (s *store) alive(at time.Time) { os.Chtimes(s.path, at, at) } // an estimate is enough

// close closes the journal; over: the game has ended.
func (s *store) close(over bool) error {
	err := errors.Join(s.flush(), s.file.Close())
	_, gone := os.Stat(s.path) // as that of a game in which nothing has happened
	if over && err == nil || errors.Is(gone, fs.ErrNotExist) {
		os.Remove(s.path + reserveExt)
	}
	return err
}

// Load reads a journal without changing it, for an export. A table may have it open.
func Load(path string) (*Game, error) {
	var g *Game
	if err := journal.Read(path, layoutOf(&g, func(Terms) error { return nil })); err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("journal: %s: no game in it", path)
	}
	return g, nil
}
