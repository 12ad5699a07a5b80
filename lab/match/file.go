package match

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sparring/internal/journal"
	"sparring/record"
)

var (
	// ErrTerms is returned if the result file holds a match with different
	// terms. Choose another file, or repeat the settings of the match.
	ErrTerms = errors.New("the file holds a match with different settings")
	// ErrInUse is returned if another process writes to the result file. Wait
	// until it ends.
	ErrInUse = journal.ErrInUse
)

// File is the result file of a match, as lines of JSON: the [Terms], then each
// [Game] as it ends. It is locked while it is open, see [journal.File].
type File struct {
	*journal.File
	games []*Game
	has   map[[2]int]bool // pair and leg of games
}

// OpenFile opens or creates a result file and sets t.ID to the id of the match it
// holds. It returns an error that wraps ErrTerms and names the differences if the
// settings differ, ErrInUse while another process has the file open, or an error
// that names the line that cannot be read. A truncated last line is removed, and its
// game is played again (see Torn).
func OpenFile(path string, t *Terms) (*File, error) {
	r := &File{}
	l := r.layout(t, func(line []byte) error { return sameTerms(line, t) })
	l.Terms = t
	var err error
	if r.File, err = journal.Open(path, l); err != nil {
		return nil, err
	}
	return r, nil
}

// layout is that of a result file with these terms; same is called with the first line, and
// may set them.
func (r *File) layout(t *Terms, same func(line []byte) error) journal.Layout {
	return journal.Layout{Name: "results", What: "a match's result file", Prefix: record.TermsPrefix, MaxLine: record.MaxLine, Same: same, Differs: ErrTerms,
		Take: func(line []byte) error { return r.take(t, line) }}
}

// InMemory returns a file that holds games and can't be appended to.
func InMemory(games []*Game) *File { return &File{games: games} }

// ReadFile reads a result file that another process may be writing to.
func ReadFile(path string) (*Terms, []*Game, error) {
	r, t := &File{}, &Terms{}
	if err := journal.Read(path, r.layout(t, func(line []byte) error { return json.Unmarshal(line, t) })); err != nil {
		return nil, nil, err
	}
	return t, r.games, nil
}

// Games returns the games that the file held when it was opened.
func (r *File) Games() []*Game { return r.games }

// Forget drops the games that Games returns, which may take much memory.
func (r *File) Forget() { r.games, r.has = nil, nil }

// Append writes a game, see [journal.File.Append]. Of a game that is too long for a line
// with the principal variations of all its moves, their ends are left out.
func (r *File) Append(g *Game) error {
	err := g.Validate()
	if err == nil {
		g, err = fitting(g)
	}
	if err == nil {
		err = r.File.Append(g)
	}
	if err != nil {
		return fmt.Errorf("game %s: %w", g.ID, err)
	}
	return nil
}

// fitting returns a game as it fits into a line: g itself, or a copy with each principal
// variation cut to at most 64 moves, or else 32, and so on.
func fitting(g *Game) (*Game, error) {
	for limit := 64; ; limit /= 2 {
		b, err := json.Marshal(g)
		if err != nil || len(b) < record.MaxLine || limit == 0 {
			return g, err // what is too long without them, too, is refused
		}
		c := *g
		c.Plies = slices.Clone(g.Plies)
		for i := range c.Plies {
			p := &c.Plies[i]
			if p.Think == nil || len(p.Think.PV) <= limit {
				continue
			}
			think := *p.Think
			think.PV = think.PV[:limit]
			p.Think = &think
		}
		g = &c
	}
}

// take reads a game. The error says why the game does not belong to this match, or that the
// file has it already, as when two result files were joined.
func (r *File) take(t *Terms, line []byte) error {
	if bytes.HasPrefix(line, []byte(record.TermsPrefix)) {
		return errors.New("the settings of a match again: each match has a file of its own")
	}
	if _, err := record.Decode(line); err != nil {
		return err
	}
	g := &Game{}
	if err := json.Unmarshal(line, g); err != nil {
		return err
	}
	m := &g.Match
	if m.Pair < 1 || m.Leg < 1 || m.Leg > 2 {
		return fmt.Errorf("pair %d, leg %d: not a game of this match", m.Pair, m.Leg)
	}
	for _, player := range m.Players {
		if player < 0 || player >= len(t.Players) {
			return fmt.Errorf("players %v of %d: not a game of this match", m.Players, len(t.Players))
		}
	}
	place := [2]int{m.Pair, m.Leg}
	if r.has[place] {
		return fmt.Errorf("pair %d, leg %d: this game is there already", m.Pair, m.Leg)
	}
	if r.has == nil {
		r.has = map[[2]int]bool{}
	}
	r.has[place] = true
	r.games = append(r.games, g)
	return nil
}

// sameTerms compares the first line with the terms, field by field.
func sameTerms(line []byte, t *Terms) error {
	var have Terms
	if err := json.Unmarshal(line, &have); err != nil {
		return err
	}
	if have.V != FileVersion {
		return fmt.Errorf("result file version %d; this program reads version %d", have.V, FileVersion)
	}
	t.ID = have.ID
	var differ []string
	for _, spec := range slices.Sorted(maps.Keys(t.Versions)) {
		if v, known := have.Versions[spec]; known && v != t.Versions[spec] {
			differ = append(differ, fmt.Sprintf("the program or the files of %s are not those that have played its games", spec))
		}
	}
	have.Versions = t.Versions
	if differ = append(journal.Differences(have, *t), differ...); len(differ) > 0 {
		return fmt.Errorf("%w: %s", ErrTerms, strings.Join(differ, "; "))
	}
	return nil
}
