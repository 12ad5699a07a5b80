package format

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// Copies finds games that were read from files of other programs although their records are
// there, as where games of a match are read together with what was exported of them. No such
// file has a game's id, so the copy has one of its own.
//
// A copy is known by what every format keeps: start position, moves, result, players, and when
// the game began, which may be given to the second, the minute or the day. It is only ever left
// out: what somebody else's file says changes no record. Records that others wrote are all games
// of their own, however alike: engines that do not vary repeat their games. Of each game a few
// hundred bytes are kept, whatever its length. The zero value is ready to use.
type Copies struct {
	noted   map[course][]noted
	waiting []waiting
}

// course is the hash of a game's start position, moves and result.
type course [16]byte

// noted is a game that copies are compared with.
type noted struct {
	id      string
	read    bool // from a file of another program
	start   time.Time
	players [2][2]uint64 // hashes of their ids
	at      uint64       // hash of event and place
}

// waiting is a game that is noted if it is no copy.
type waiting struct {
	course course
	noted
}

// Note notes a game.
func (c *Copies) Note(r *record.Record) { c.note(describe(r)) }

func (c *Copies) note(w waiting) {
	if c.noted == nil {
		c.noted = map[course][]noted{}
	}
	c.noted[w.course] = append(c.noted[w.course], w.noted)
}

// NoteImport notes a game that was read from a file of another program, unless it is a copy of a
// game that is noted, perhaps later, before the next call of Of. That call decides it, and takes
// the games whose start is known most exactly first: one known to the day must not stand for two
// of that day.
func (c *Copies) NoteImport(r *record.Record) { c.waiting = append(c.waiting, describe(r)) }

// Of returns the id of the noted game that r is a copy of, "" if it isn't a copy. The same
// file read again has no copies: its games have the same ids.
func (c *Copies) Of(r *record.Record) string {
	if r.Source.By != record.ByImport {
		return ""
	}
	slices.SortStableFunc(c.waiting, func(a, b waiting) int { return cmp.Compare(precision(a.start), precision(b.start)) })
	for _, w := range c.waiting {
		if c.of(w) == "" {
			c.note(w)
		}
	}
	c.waiting = nil
	return c.of(describe(r))
}

func (c *Copies) of(w waiting) string {
	for _, of := range c.noted[w.course] {
		if of.id != w.id && w.copies(of) {
			return of.id
		}
	}
	return ""
}

// copies reports whether n, which was read from a file, is the game of.
func (n noted) copies(of noted) bool {
	for seat := range n.players {
		if !slices.ContainsFunc(n.players[seat][:], func(id uint64) bool { return slices.Contains(of.players[seat][:], id) }) {
			return false
		}
	}
	switch {
	case n.start.IsZero() && of.start.IsZero(): // so that an export can have added neither
		return n.at == of.at
	case n.start.IsZero() || of.start.IsZero():
		return false
	}
	return of.start.Truncate(precision(n.start)).Equal(n.start) || of.read && n.start.Truncate(precision(of.start)).Equal(of.start)
}

// precision is how exactly files may give a time: SGF has the day of a game, the
// championship's texts the minute, others the second.
func precision(t time.Time) time.Duration {
	for _, d := range []time.Duration{24 * time.Hour, time.Minute, time.Second} {
		if t.Equal(t.Truncate(d)) {
			return d
		}
	}
	return 0
}

// describe returns what a game is known by. Of an opening procedure of Gomoku, which some
// formats don't have, only the stones and who held Black at the end count.
func describe(r *record.Record) waiting {
	n := noted{id: r.ID, read: r.Source.By == record.ByImport, start: r.Start.UTC(), at: hashOf(r.Event + "\n" + r.Place)}
	moves := make([]string, len(r.Plies))
	for i, p := range r.Plies {
		moves[i] = p.Move
	}
	first := game.First
	if strings.Contains(r.Rules, "+") {
		if stones, _, black, err := Stones(r); err == nil {
			moves, first = nil, black
			for _, s := range stones {
				moves = append(moves, fmt.Sprintf("%c%d", 'a'+s.Col, s.Row+1))
			}
		}
	}
	for i, seat := range []game.Seat{first, first.Other()} {
		s := r.Seats[seat]
		n.players[i] = [2]uint64{hashOf(playerID(cmp.Or(s.Player, s.Display))), hashOf(playerID(cmp.Or(s.Display, s.Player)))}
	}
	h := sha256.New()
	for _, s := range append([]string{r.Game, startOf(r), Turned(r.Result, first).String()}, moves...) {
		io.WriteString(h, s+"\n")
	}
	return waiting{course(h.Sum(nil)[:len(course{})]), n}
}

var textSeed = maphash.MakeSeed()

// hashOf keeps a text for comparison, and not the file that it is a part of.
func hashOf(text string) uint64 { return maphash.String(textSeed, text) }

// startOf returns the start position of a game, "" for the usual one.
func startOf(r *record.Record) string {
	rules, err := catalog.Rules(r.Rules)
	if err != nil || r.Position == "" {
		return r.Position
	}
	p, err := rules.New(r.Position)
	if err != nil {
		return r.Position
	}
	if usual, err := rules.New(""); err == nil && usual.String() == p.String() {
		return ""
	}
	return p.String()
}
