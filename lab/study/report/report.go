// Package report writes a page about many games, such as a match or a coach's
// folder: who is stronger and by how much, the course of each game on a board that
// replays, times and depths, and the worst moves of each player. [Write] makes one
// file that needs no network and no other file. Boards and words are those of the
// page for people, see package static.
package report

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"sparring/game"
	"sparring/lab/study/analysis"
	"sparring/record"
)

// Options say what a report has.
type Options struct {
	Lang  string    // "en" or "zh"
	From  string    // what was read, for people
	Build string    // of the program
	Now   time.Time // of the report
	// Boards is how many games have a board at most. Those with the worst moves
	// come first, then the latest. All numbers are those of all games.
	Boards int
	// Reviews are the analyses of games by their ids. A game without one is judged
	// by the scores in its record.
	Reviews map[string]*analysis.Report
	// Better, if not nil, finds the better line for one of the worst moves of a game
	// without a review, that after so many plies.
	Better func(ctx context.Context, r *record.Record, ply int) (line []string, err error)
}

// DefaultBoards is a number of boards with which a report stays usable on a phone.
const DefaultBoards = 500

// Write writes the report of games, in the order given, and returns how many of them have a
// board: at most Options.Boards, and none that can't be played through. The error is that of
// out, of Options.Better, or names an unknown language.
func Write(ctx context.Context, out io.Writer, games []*record.Record, o Options) (boards int, err error) {
	w, err := Words(o.Lang)
	if err != nil {
		return 0, err
	}
	r := &reporter{Options: o, words: w}
	var names []string
	byGame := map[string][]*played{}
	for _, rec := range games {
		if byGame[rec.Game] == nil {
			names = append(names, rec.Game)
		}
		g := newPlayed(rec, o.Reviews[rec.ID])
		byGame[rec.Game] = append(byGame[rec.Game], g)
		r.games = append(r.games, g)
	}
	slices.Sort(names)
	for _, name := range names {
		s, err := newSection(name, byGame[name])
		if err != nil {
			return 0, err
		}
		r.sections = append(r.sections, s)
	}
	if err := r.improve(ctx); err != nil {
		return 0, err
	}
	r.choose()
	return r.boards, r.write(out)
}

// reporter makes a report.
type reporter struct {
	Options
	words    words
	games    []*played
	sections []*section
	boards   int
}

// improve asks for the better lines of the worst moves.
func (r *reporter) improve(ctx context.Context) error {
	if r.Better == nil {
		return nil
	}
	for _, s := range r.sections {
		for _, p := range s.players {
			for i := range p.worst {
				m := &p.worst[i]
				if m.game.review != nil {
					continue
				}
				line, err := r.Better(ctx, m.game.rec, m.ply)
				if err != nil {
					return fmt.Errorf("game %s, after ply %d: %w", m.game.rec.ID, m.ply, err)
				}
				m.game.turns[m.ply].line = line
			}
		}
	}
	return nil
}

// choose numbers the games that have a board.
func (r *reporter) choose() {
	take := func(g *played) {
		if g.board == 0 && r.boards < r.Boards && g.fault == nil && len(g.rec.Plies) > 0 {
			r.boards++
			g.board = r.boards
		}
	}
	for _, s := range r.sections {
		for _, p := range s.players {
			for _, m := range p.worst {
				take(m.game)
			}
		}
	}
	for _, g := range slices.Backward(r.games) {
		take(g)
	}
	// In the order of the list.
	n := 0
	for _, s := range r.sections {
		for _, g := range s.games {
			if g.board > 0 {
				n++
				g.board = n
			}
		}
	}
}

// decided reports whether a game counts.
func decided(r *record.Record) bool { return r.Result != game.Undecided }
