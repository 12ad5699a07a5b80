package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/game"
	"sparring/protocol"
	"sparring/record"
	"sparring/record/format"
)

// elsewhere lists the reasons that do not depend on the moves of a game.
var elsewhere = map[game.Reason]bool{
	protocol.ReasonTime: true, protocol.ReasonNoStart: true, protocol.ReasonAbandoned: true,
	protocol.ReasonDispute: true, protocol.ReasonVoid: true,
	game.Reason(engine.FaultStart): true, game.Reason(engine.FaultHang): true, game.Reason(engine.FaultIllegal): true,
	game.Reason(engine.FaultCrash): true, game.Reason(engine.FaultFlood): true, game.Reason(engine.FaultMemory): true,
	game.Reason(engine.FaultDisconnect): true,
}

// tally counts the games read for a book, by outcome.
type tally struct {
	counted, known, other, unfinished, elsewhere, damaged int
	events                                                map[string]int // of the games counted
}

// String omits zero counts.
func (t *tally) String() string {
	s := count(t.counted, "game", "games") + " counted"
	for _, part := range []struct {
		n    int
		text string
	}{
		{t.known, "in the book already"}, {t.other, "of other rules"}, {t.unfinished, "without a result"},
		{t.elsewhere, "not decided on the board"}, {t.damaged, "damaged"},
	} {
		if part.n > 0 {
			s += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return s
}

// feed calls take with the games of all paths, except what was exported of one of them and
// read again. Damaged games are reported and skipped.
func feed(c *cobra.Command, paths []string, take func(book.Game) error) (*tally, error) {
	t := &tally{events: map[string]int{}}
	var copies format.Copies
	imported := rereading{wanted: func(r *record.Record) bool { return r.Source.By == record.ByImport }}
	files, err := sourceFiles(c, paths)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		games, err := f.games()
		if err != nil {
			return nil, err
		}
		for r, err := range games {
			if err := c.Context().Err(); err != nil {
				return nil, err
			}
			if err == nil && imported.later(f, r) {
				copies.NoteImport(r)
				continue
			}
			if err == nil {
				copies.Note(r)
			}
			t.add(c, r, err, take)
		}
	}
	return t, imported.each(c.Context(), func(r *record.Record) error {
		if copies.Of(r) != "" {
			t.known++
		} else {
			t.add(c, r, nil, take)
		}
		return nil
	})
}

// add calls take with a game, unless it could not be read or says nothing about the opening.
func (t *tally) add(c *cobra.Command, r *record.Record, err error, take func(book.Game) error) {
	if err == nil && elsewhere[r.Reason] {
		t.elsewhere++
		return
	}
	if err == nil {
		err = take(gameOf(r))
	}
	switch {
	case err == nil:
		t.counted++
		if r.Event != "" {
			t.events[r.Event]++
		}
	case errors.Is(err, book.ErrKnown):
		t.known++
	case errors.Is(err, book.ErrFamily):
		t.other++
	case errors.Is(err, book.ErrUnfinished):
		t.unfinished++
	default:
		t.damaged++
		fmt.Fprintln(c.ErrOrStderr(), "sparring: skipped:", err)
	}
}

// gameOf converts a record to a game for a book. The opening moves of a match count, since
// games for a book are begun with openings that it should contain. The moves of a game that
// this one continues do not: its players did not choose them, and that game has its own record.
func gameOf(r *record.Record) book.Game {
	g := book.Game{ID: r.ID, Rules: r.Rules, Position: r.Position, Result: r.Result, Given: r.Given}
	for _, p := range r.Plies {
		g.Moves = append(g.Moves, p.Move)
	}
	return g
}
