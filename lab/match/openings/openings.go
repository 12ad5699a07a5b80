// Package openings provides the positions in which the games of a match begin:
// read from a file ([Read], [Shuffle]), generated ([Maker]), or the usual start
// ([Start]). A [Panel] of engines judges how even they are.
//
// # Files
//
// A file is text. Its first line that is neither empty nor a comment (#) names
// the rule sets that the openings are for; each further line is an opening:
// moves from the usual start, or a position, or both.
//
//	# how the file was made
//	rules xiangqi/wxf xiangqi/cxa
//	moves h2e2 h9g7
//	rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1
//	3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w moves d1d7/b7
package openings

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/textlines"
)

// Opening is the beginning of a game: moves from a start position, "" for the usual
// one.
type Opening struct {
	Start string
	Moves []string
}

// Setup returns the position after the opening. The error says which move can't be
// played, or that the game is over.
func (o Opening) Setup(r *game.Rules) (game.Position, error) {
	p, err := game.Replay(r, o.Start, o.Moves)
	if err != nil {
		return nil, err
	}
	if out := p.Outcome(); out.Over() {
		return nil, fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	return p, nil
}

// String returns the opening as a line of a file, "" for the usual start.
func (o Opening) String() string {
	text := o.Start
	if len(o.Moves) > 0 {
		text = strings.TrimSpace(text + " moves " + strings.Join(o.Moves, " "))
	}
	return text
}

// parse reads a line of a file. The error wraps game.ErrSyntax.
func parse(line string) (Opening, error) {
	l, err := catalog.ParseLine(line)
	return Opening{Start: l.Start, Moves: l.Moves}, err
}

// Source provides the openings of a match.
type Source interface {
	// Opening returns opening number n, from 0. It is the same at every call,
	// whatever other openings are requested.
	Opening(ctx context.Context, n int) (Opening, error)
}

// Start is a Source that always has the usual start, for opening procedures and for
// players that vary their play.
type Start struct{}

// Opening implements Source.
func (Start) Opening(context.Context, int) (Opening, error) { return Opening{}, nil }

// List is a Source with a list of openings, in a random order, repeated.
type List []Opening

// Shuffle makes a List in an order that the seed decides. It needs at least one
// opening.
func Shuffle(all []Opening, seed uint64) List {
	l := slices.Clone(all)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	return l
}

// Opening implements Source.
func (l List) Opening(_ context.Context, n int) (Opening, error) {
	if len(l) == 0 {
		return Opening{}, errors.New("no openings")
	}
	return l[n%len(l)], nil
}

// ErrNoRules is returned by Import for a file that does not name its rules, if the options
// name none.
var ErrNoRules = errors.New("does not name its rules")

// ErrRules is returned by Set.For and Find: the openings are for other rule sets.
var ErrRules = errors.New("openings for other rules")

// Set is the content of a file.
type Set struct {
	Notes    []string // comments, without the "#"
	Rules    []string // full names of rule sets
	Openings []Opening
}

// Read reads a file and checks every opening under every rule set of the file. The
// error gives the name and the line.
func Read(in io.Reader, name string) (*Set, error) {
	s := &Set{}
	var rules []*game.Rules
	seen := map[uint64]int{}
	lines := textlines.New(in)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		note, comment := strings.CutPrefix(line, "#")
		var err error
		switch {
		case line == "":
		case comment:
			s.Notes = append(s.Notes, strings.TrimSpace(note))
		case rules == nil:
			rules, err = readRules(line)
			s.Rules = namesOf(rules)
		case strings.HasPrefix(line, "rules "): // of a file that was joined to this one
			var again []*game.Rules
			if again, err = readRules(line); err == nil && !slices.Equal(namesOf(again), s.Rules) {
				err = fmt.Errorf("%s: the openings before are for %s", line, strings.Join(s.Rules, " "))
			}
		default:
			var key uint64
			var o Opening
			if o, err = parse(line); err == nil {
				key, err = check(o, rules)
			}
			if err == nil && seen[key] > 0 {
				err = fmt.Errorf("same position as line %d", seen[key])
			}
			seen[key] = lines.Line()
			s.Openings = append(s.Openings, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lines.Line(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, lines.Line(), err)
	}
	if len(s.Openings) == 0 {
		return nil, fmt.Errorf("%s: no openings", name)
	}
	return s, nil
}

func readRules(line string) (all []*game.Rules, err error) {
	words := strings.Fields(line)
	if words[0] != "rules" || len(words) < 2 {
		return nil, fmt.Errorf("%.40q: the first line must be \"rules\" and the rule sets that the openings are for", line)
	}
	for _, name := range words[1:] {
		r, err := catalog.Rules(name)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func namesOf(rules []*game.Rules) (names []string) {
	for _, r := range rules {
		names = append(names, r.Name)
	}
	return names
}

// check sets an opening up under all rules and returns the key of its position.
func check(o Opening, rules []*game.Rules) (key uint64, err error) {
	for _, r := range rules {
		p, err := o.Setup(r)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", r.Name, err)
		}
		key = p.Key()
	}
	return key, nil
}

// For returns an error that wraps ErrRules unless the set is for a rule set.
func (s *Set) For(rules string) error {
	if !slices.Contains(s.Rules, rules) {
		return fmt.Errorf("%w: %s, not %s", ErrRules, strings.Join(s.Rules, ", "), rules)
	}
	return nil
}

// Find reads the first file of a folder that is for a rule set, in order of
// their names, and returns the file's name. The error wraps ErrRules if no file is.
func Find(folder fs.FS, rules string) (s *Set, name string, err error) {
	files, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		b, err := fs.ReadFile(folder, f.Name())
		if err == nil {
			s, err = Read(bytes.NewReader(b), f.Name())
		}
		if err != nil {
			return nil, "", err
		}
		if s.For(rules) == nil {
			return s, f.Name(), nil
		}
	}
	return nil, "", fmt.Errorf("%w: none of %d files is for %s", ErrRules, len(files), rules)
}

// Digest returns 8 hex digits that identify the set's rules and openings.
func (s *Set) Digest() string {
	h := sha256.New()
	for _, o := range s.Openings {
		fmt.Fprintln(h, o) // writing to a hash does not fail
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}

// Write writes the set as a file.
func (s *Set) Write(out io.Writer) error {
	w := bufio.NewWriter(out)
	for _, note := range s.Notes {
		fmt.Fprintln(w, "#", note)
	}
	fmt.Fprintln(w, "rules", strings.Join(s.Rules, " "))
	for _, o := range s.Openings {
		fmt.Fprintln(w, o)
	}
	return w.Flush()
}

// Mix returns a seed made of a seed and a number (SplitMix64).
func Mix(seed, n uint64) uint64 {
	z := seed + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
