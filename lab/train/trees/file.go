package trees

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"sparring/engine/search"
	"sparring/internal/journal"
)

// ErrTerms is returned by Open if the file was begun with other settings, games or another
// build. Choose another file, or repeat the command that made it.
var ErrTerms = errors.New("the file was begun with other settings")

// FileVersion is the version of the file that this package writes.
const FileVersion = 1

// filePrefix begins the first line of a file.
const filePrefix = `{"trees":`

// Terms are the first line of a file: everything that its trees depend on.
type Terms struct {
	V    int    `json:"trees"` // FileVersion
	Game string `json:"game"`
	Plan
	Rules       string `json:"rules,omitempty"` // of the games, in full; "": any
	Games       int    `json:"games"`
	GamesDigest string `json:"games_digest"`
	Build       string `json:"build"`
}

// Tree is a further line: positions of one tree.
type Tree struct {
	Number    int        `json:"tree"`  // from 1
	Rules     string     `json:"rules"` // in full
	Positions []Position `json:"positions"`
}

// Position is a position with its label.
type Position struct {
	Text string `json:"position"`
	// Score is that of a search, for the side to move. Proven wins and losses are
	// above search.WinBound and below its negative.
	Score search.Score `json:"score"`
	// Source is what decided: search.FromSearch or the kind of a proof.
	Source string `json:"source"`
	// Move is the search's, where the positions are those whose moves are run through.
	Move string `json:"move,omitempty"`
}

// File is a file of labelled positions. It is locked while it is open.
type File struct {
	*journal.File
	trees, positions int
}

// Open opens or creates a file for the terms. An incomplete last line is removed. The
// error wraps ErrTerms and names the differences if the file has other terms, or
// journal.ErrInUse while another process has it open.
func Open(path string, t *Terms) (*File, error) {
	f := &File{}
	t.V = FileVersion
	l := layout(func(have Terms) error {
		// The embedded plan is compared field by field.
		differ := journal.Differences(have.Plan, t.Plan)
		have.Plan = t.Plan
		if differ = append(differ, journal.Differences(have, *t)...); len(differ) > 0 {
			return fmt.Errorf("%w: %s", ErrTerms, strings.Join(differ, "; "))
		}
		return nil
	}, f.take)
	l.Terms = t
	var err error
	if f.File, err = journal.Open(path, l); err != nil {
		return nil, err
	}
	return f, nil
}

// Trees returns the number of trees in the file, Positions that of their positions.
func (f *File) Trees() int { return f.trees }

// Positions returns the number of positions in the file.
func (f *File) Positions() int { return f.positions }

func (f *File) append(t *Tree) error {
	if err := f.Append(t); err != nil {
		return err
	}
	return f.take(*t)
}

func (f *File) take(t Tree) error {
	if t.Number != f.trees+1 {
		return fmt.Errorf("tree %d, want %d", t.Number, f.trees+1)
	}
	f.trees++
	f.positions += len(t.Positions)
	return nil
}

// Read calls take for each tree of a file, in order, which another process may be
// writing to, and returns its terms. The error names the line that can't be read.
func Read(path string, take func(Tree) error) (t Terms, err error) {
	f := &File{}
	err = journal.Read(path, layout(func(have Terms) error { t = have; return nil }, func(tree Tree) error {
		if err := f.take(tree); err != nil {
			return err
		}
		return take(tree)
	}))
	if err == nil && t.V == 0 {
		err = fmt.Errorf("trees: %s: the file is empty", path)
	}
	return t, err
}

// layout is that of a file; same is called with its first line, take with the others.
func layout(same func(Terms) error, take func(Tree) error) journal.Layout {
	return journal.Layout{Name: "trees", What: "a file of labelled trees", Prefix: filePrefix,
		Same: func(line []byte) error {
			var t Terms
			if err := json.Unmarshal(line, &t); err != nil {
				return err
			}
			if t.V != FileVersion {
				return fmt.Errorf("version %d of the file; this program reads version %d", t.V, FileVersion)
			}
			return same(t)
		},
		Take: func(line []byte) error {
			var t Tree
			if err := json.Unmarshal(line, &t); err != nil {
				return err
			}
			for _, p := range t.Positions {
				if p.Text == "" || p.Source == "" || math.Abs(float64(p.Score)) > float64(search.Win) {
					return fmt.Errorf("not a labelled position: %q, score %d by %q", p.Text, p.Score, p.Source)
				}
			}
			return take(t)
		}}
}
