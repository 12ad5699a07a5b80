package analysis

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"sparring/engine/opening"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/review"
)

// Report is the review of a recorded game. Moves are in the game's own notation.
type Report struct {
	Game     string      `json:"game"` // id of the record
	Rules    string      `json:"rules"`
	Position string      `json:"position,omitempty"` // start position, "" is the usual one
	Players  [2]string   `json:"players"`            // ids, by seat
	Names    [2]string   `json:"names"`              // display names, by seat
	Result   game.Result `json:"result"`
	Reason   game.Reason `json:"reason,omitempty"`
	Engine   string      `json:"engine"` // that analysed, as it names itself
	Start    *float64    `json:"start"`  // as Move.Chance, before the first move
	Plies    []Move      `json:"plies"`
	Totals   [2]Total    `json:"totals"` // by seat
	Own      bool        `json:"-"`      // the chances are those that the players saw, see Scored
}

// Move is a move of the game and what it was worth.
type Move struct {
	Ply  int       `json:"ply"` // from 1
	Seat game.Seat `json:"seat"`
	Move string    `json:"move"`
	// Chance is the winning chance of seat first after the move, 0 to 1, draws
	// counted half; nil in an opening procedure.
	Chance *float64 `json:"chance"`
	Depth  int      `json:"depth"` // of the search after the move; 0 where the rules have ended the game
	// Lost is the winning chance that the move lost, compared with the best one; 0 of a
	// move with which the game was set up, since it is nobody's.
	Lost float64 `json:"lost"`
	// Judged: Lost is known.
	Judged bool         `json:"-"`
	Class  review.Class `json:"class,omitempty"` // absent: a good move
	Best   string       `json:"best,omitempty"`  // that the engine prefers
	Line   []string     `json:"line,omitempty"`  // Best and what follows
}

// Total sums up a seat's moves.
type Total struct {
	Moves        int     `json:"moves"` // that were judged
	Inaccuracies int     `json:"inaccuracies"`
	Mistakes     int     `json:"mistakes"`
	Blunders     int     `json:"blunders"`
	Lost         float64 `json:"lost"` // winning chance, mean of a move
}

// ErrNoScore is returned by Session.Review if the engine gives no scores, because it
// never does or because the limits end its searches before the first iteration.
var ErrNoScore = errors.New("the engine gives no scores within these limits, by which moves could be judged")

// Review reviews a recorded game. Cache, if not nil, has what was searched before.
// Progress, if not nil, is called after each position. The error names the game; it
// is that of a record that can't be played through, of a search, or of ctx.
func (s *Session) Review(ctx context.Context, r *record.Record, cache *Cache, progress func(done, total int)) (*Report, error) {
	rep, err := s.review(ctx, r, cache, progress)
	if err != nil {
		return nil, fmt.Errorf("game %s: %w", r.ID, err)
	}
	return rep, nil
}

func (s *Session) review(ctx context.Context, r *record.Record, cache *Cache, progress func(done, total int)) (*Report, error) {
	start, moves, err := Moves(r)
	if err != nil {
		return nil, err
	}
	g, err := review.New(start, moves)
	if err != nil {
		return nil, err
	}
	ask := cache.through(r, moves, s.asker(start, moves))
	g.Each(func(ply int) bool {
		if err = ctx.Err(); err == nil {
			err = g.Analyse(ctx, ply, ask)
		}
		if err == nil && progress != nil {
			progress(g.Progress())
		}
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	rep := report(r, moves, g.Positions())
	rep.Engine = protocol.Engine(s.Describe()).String()
	return rep, nil
}

// Check returns what is wrong with a record that can't be reviewed.
func Check(r *record.Record) error {
	start, moves, err := Moves(r)
	if err == nil && len(moves) == 0 {
		err = errors.New("no moves were played")
	}
	if err == nil {
		_, err = review.New(start, moves)
	}
	if err != nil {
		return fmt.Errorf("game %s: %w", r.ID, err)
	}
	return nil
}

// Moves returns the start position of a record and its moves.
func Moves(r *record.Record) (start game.Position, moves []string, err error) {
	rules, err := catalog.Rules(r.Rules)
	if err != nil {
		return nil, nil, err
	}
	if start, err = rules.New(r.Position); err != nil {
		return nil, nil, err
	}
	for _, p := range r.Plies {
		moves = append(moves, p.Move)
	}
	return start, moves, nil
}

// asker returns the function that answers a review's questions about a game. The
// moves can be played.
func (s *Session) asker(start game.Position, moves []string) review.Ask {
	var positions []game.Position
	p := start.Clone()
	for _, m := range moves {
		game.PlayOn(p)
		positions = append(positions, p.Clone())
		if _, err := game.PlayText(p, m); err != nil {
			break // the review has reported it
		}
	}
	positions = append(positions, p)
	return func(ctx context.Context, ply int, consider []string) (protocol.Analysis, error) {
		at := positions[ply]
		var found protocol.Analysis
		var err error
		switch {
		case len(consider) == 0:
			if found, err = s.analyse(ctx, at, nil); err == nil && len(found.Lines) == 0 && ply < len(moves) {
				// It resigns, and names no better move than the one played.
				lost := 0.0
				found.Chance, found.Lines = &lost, []protocol.AnalysisLine{{Chance: &lost, Moves: moves[ply : ply+1]}}
			}
		case s.analyst.compares():
			var only []game.Move
			if only, err = parseAll(at, consider); err == nil {
				found, err = s.analyse(ctx, at, only)
			}
		default:
			found, err = s.compare(ctx, at, consider)
		}
		if err == nil && len(found.Lines) == 0 {
			err = ErrNoLine
		}
		if err != nil {
			err = fmt.Errorf("after ply %d: %w", ply, err)
		}
		return found, err
	}
}

func parseAll(p game.Position, texts []string) (moves []game.Move, err error) {
	for _, text := range texts {
		m, err := p.Parse(text)
		if err != nil {
			return nil, err
		}
		moves = append(moves, m)
	}
	return moves, nil
}

// maxUnscored is how many searches without a score show that an engine gives none.
const maxUnscored = 5

// analyse searches a position, or some of its moves.
func (s *Session) analyse(ctx context.Context, p game.Position, only []game.Move) (protocol.Analysis, error) {
	found, err := s.Search(ctx, p, only, nil)
	switch {
	case err != nil:
		return protocol.Analysis{}, err
	case found.Stopped:
		return protocol.Analysis{}, context.Cause(ctx)
	case found.Scored:
		s.scored++
	case len(found.Lines) > 0 && !opening.Running(p):
		// A program may give none where the move is clear.
		if s.unscored++; s.scored == 0 && s.unscored >= maxUnscored {
			return protocol.Analysis{}, ErrNoScore
		}
	}
	a := protocol.Analysis{Nodes: int64(found.Result.Nodes)}
	for i, l := range found.Lines {
		line := protocol.AnalysisLine{Moves: game.FormatLine(p, "", l.PV)}
		if found.Scored {
			line.Score, line.Chance = int(l.Score), &l.WinProb
		}
		if i == 0 {
			a.Depth, a.Chance = l.Depth, line.Chance
		}
		a.Lines = append(a.Lines, line)
	}
	return a, nil
}

// compare is analyse for an engine that can't search some moves alone: the position
// after each is searched.
func (s *Session) compare(ctx context.Context, p game.Position, moves []string) (a protocol.Analysis, err error) {
	for _, text := range moves {
		after := p.Clone()
		if _, err := game.PlayText(after, text); err != nil {
			return a, err
		}
		line := protocol.AnalysisLine{Moves: []string{text}}
		var chance float64
		if out := after.Outcome(); out.Over() {
			chance = review.ChanceOf(out, p.Turn())
		} else {
			found, err := s.analyse(ctx, after, nil)
			if err != nil {
				return a, err
			}
			if found.Chance != nil { // else it resigns
				chance = *found.Chance
			}
			if after.Turn() != p.Turn() {
				chance = 1 - chance
			}
			if len(found.Lines) > 0 {
				line.Moves = append(line.Moves, found.Lines[0].Moves...)
			}
		}
		line.Chance = &chance
		a.Lines = append(a.Lines, line)
	}
	return a, nil
}

// report puts a review together.
func report(r *record.Record, moves []string, positions []*review.Position) *Report {
	rep := &Report{Game: r.ID, Rules: r.Rules, Position: r.Position, Result: r.Result, Reason: r.Reason, Start: positions[0].Chance, Plies: []Move{}}
	for seat, s := range r.Seats {
		rep.Players[seat], rep.Names[seat] = s.Player, format.Name(s)
	}
	openingPlies := r.OpeningPlies()
	for i, text := range moves {
		before, after := positions[i], positions[i+1]
		rep.Plies = append(rep.Plies, Move{Ply: i + 1, Seat: before.Turn, Move: text, Chance: after.Chance, Depth: after.Depth,
			Lost: before.Lost, Class: before.Class, Best: before.Best, Line: before.Line})
		if m := &rep.Plies[i]; i < openingPlies {
			m.Lost, m.Class = 0, ""
		} else {
			m.Judged = before.Chance != nil && after.Chance != nil
		}
	}
	rep.total()
	return rep
}

// total sums up the moves of each seat.
func (rep *Report) total() {
	for _, m := range rep.Plies {
		if !m.Judged {
			continue
		}
		t := &rep.Totals[m.Seat]
		t.Moves++
		t.Lost += m.Lost
		switch m.Class {
		case review.Inaccuracy:
			t.Inaccuracies++
		case review.Mistake:
			t.Mistakes++
		case review.Blunder:
			t.Blunders++
		}
	}
	for seat := range rep.Totals {
		t := &rep.Totals[seat]
		t.Lost /= float64(max(t.Moves, 1))
	}
}

// Annotate returns the record with what the review says in the comments of its
// moves, after those that they have.
func (rep *Report) Annotate(r *record.Record) *record.Record {
	c := *r
	c.Plies = append([]record.Ply(nil), r.Plies...)
	for i := range c.Plies {
		text := rep.Plies[i].comment()
		if had := c.Plies[i].Comment; had != "" && text != "" {
			text = had + " " + text
		}
		if text != "" {
			c.Plies[i].Comment = text
		}
	}
	return &c
}

// chanceComment matches what comment begins with.
var chanceComment = regexp.MustCompile(`(^| )First \d{1,3} %\.`)

// Annotated reports whether a record has comments by [Report.Annotate].
func Annotated(r *record.Record) bool {
	return slices.ContainsFunc(r.Plies, func(p record.Ply) bool { return chanceComment.MatchString(p.Comment) })
}

// comment says what a move was worth: "First 35 %. Mistake, loses 23 %: better c3 c4."
func (m *Move) comment() string {
	if m.Chance == nil {
		return ""
	}
	text := fmt.Sprintf("First %.0f %%.", 100**m.Chance)
	if m.Class == "" {
		return text
	}
	class := map[review.Class]string{review.Inaccuracy: "Inaccuracy", review.Mistake: "Mistake", review.Blunder: "Blunder"}[m.Class]
	text += fmt.Sprintf(" %s, loses %.0f %%: better", class, 100*m.Lost)
	for _, move := range m.Line {
		text += " " + move
	}
	return text + "."
}
