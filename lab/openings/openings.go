// Package openings has the positions that the games of a match begin with:
// read from a file ([Read], [Shuffle]), made by the tool itself ([Maker]), or
// always the usual start ([Start]).
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
)

// Opening is how a game begins: the moves are played from the start position,
// "" being the usual one.
type Opening struct {
	Start string
	Moves []string
}

// Setup is the position that the opening leads to. The error says which of the
// moves can't be played, or that the game is over.
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

// String is the opening's line in a file; "" for the usual start.
func (o Opening) String() string {
	text := o.Start
	if len(o.Moves) > 0 {
		text = strings.TrimSpace(text + " moves " + strings.Join(o.Moves, " "))
	}
	return text
}

// parse reads what String writes.
func parse(line string) Opening {
	start, moves, _ := strings.Cut(" "+line+" ", " moves ")
	return Opening{strings.TrimSpace(start), strings.Fields(moves)}
}

// Source gives a match its openings.
type Source interface {
	// Opening is the one with the number n, from 0. It is the same at every
	// call, and does not depend on how many are asked for.
	Opening(ctx context.Context, n int) (Opening, error)
}

// Start is a Source whose games all begin at the usual start: for opening
// procedures, and for players that vary by themselves.
type Start struct{}

// Opening implements Source.
func (Start) Opening(context.Context, int) (Opening, error) { return Opening{}, nil }

// List is a Source that runs through openings, in an order drawn from a seed,
// and begins again when none is left.
type List []Opening

// Shuffle makes the list; it needs one opening at least.
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

// ErrRules: the openings are for other rule sets.
var ErrRules = errors.New("openings for other rules")

// Set is what a file holds.
type Set struct {
	Notes    []string // comments, without the "#"
	Rules    []string // full names of rule sets
	Openings []Opening
}

// Read reads a file, and plays every opening under every rule set that it is
// for. The error names the file, as it is called, and the line.
func Read(in io.Reader, name string) (*Set, error) {
	s := &Set{}
	var rules []*game.Rules
	seen := map[uint64]int{}
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		note, comment := strings.CutPrefix(line, "#")
		var err error
		switch {
		case line == "":
		case comment:
			s.Notes = append(s.Notes, strings.TrimSpace(note))
		case rules == nil:
			rules, err = readRules(line)
			for _, r := range rules {
				s.Rules = append(s.Rules, r.Name)
			}
		default:
			var key uint64
			o := parse(line)
			if key, err = check(o, rules); err == nil && seen[key] > 0 {
				err = fmt.Errorf("the position of line %d again", seen[key])
			}
			seen[key] = n
			s.Openings = append(s.Openings, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
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

// check sets an opening up under all rules, and gives the position's key.
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

// For reports whether the set is for a rule set; the error wraps ErrRules.
func (s *Set) For(rules string) error {
	if !slices.Contains(s.Rules, rules) {
		return fmt.Errorf("%w: %s, not %s", ErrRules, strings.Join(s.Rules, ", "), rules)
	}
	return nil
}

// Find reads the first file of a folder that is for a rule set, in order of
// their names; name is the file's. The error wraps ErrRules where there is none.
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

// Digest tells sets apart: 8 hex digits of what matters of it.
func (s *Set) Digest() string {
	h := sha256.New()
	for _, o := range s.Openings {
		fmt.Fprintln(h, o) // a hash takes everything
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

// Mix makes a seed of a seed and a number (SplitMix64).
func Mix(seed, n uint64) uint64 {
	z := seed + (n+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
