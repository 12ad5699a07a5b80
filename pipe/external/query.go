package external

import (
	"math"
	"slices"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gomoku"
	"sparring/pipe/uci"
)

// query is a position to search, in the parts that protocols need.
type query struct {
	pos   game.Position
	start string   // the position before the moves; "" is the usual start of the game
	moves []string // in our notation
	first bool     // the mover is the side that moved first in the game
	lines int      // MultiPV
}

// newQuery makes a query of a position. A game with an opening procedure begins
// after it, because no protocol can express its choices.
func newQuery(p game.Position) *query {
	q := &query{pos: p.Clone(), first: p.Turn() == game.First}
	g, ok := p.(*gomoku.Position)
	if !ok {
		q.start, q.moves = game.History(p)
		if q.start == "" {
			q.start = unusualStart(p.Rules())
		}
		return q
	}
	q.first = g.ToMove() == gomoku.Black
	if g.Set().Opening.Name == "" {
		q.start, q.moves = game.History(p)
		return q
	}
	line := g.Played(nil)
	begin := g
	for begin.Ply() > 0 {
		back, _ := begin.Clone().(*gomoku.Position)
		back.Undo()
		if _, running := back.Step(); running {
			break
		}
		begin = back
	}
	plain := begin.Plain()
	q.start = plain.String()
	for _, m := range line[begin.Ply():] {
		q.moves = append(q.moves, plain.Format(m))
	}
	return q
}

// unusualStart returns the start position of rules with another start than is usual
// in their game; "" for all other rules.
func unusualStart(r *game.Rules) string {
	usual, err := catalog.Rules(r.Game)
	if err != nil {
		return ""
	}
	a, errA := usual.New("")
	b, errB := r.New("")
	if errA != nil || errB != nil || a.String() == b.String() {
		return ""
	}
	return b.String()
}

// playedLine is a game as a program has it on its board.
type playedLine struct {
	rules, start string
	moves        []string
}

// leadsTo reports whether one more move leads from l to the position of q.
func (l *playedLine) leadsTo(q *query) bool {
	n := len(q.moves) - 1
	return l != nil && l.rules == q.pos.Rules().Name && l.start == q.start && n == len(l.moves) && slices.Equal(l.moves, q.moves[:n])
}

// after returns the game of q after one more move.
func (q *query) after(move string) *playedLine {
	return &playedLine{q.pos.Rules().Name, q.start, append(slices.Clone(q.moves), move)}
}

// eloScale converts centipawns into winning chances by the Elo formula,
// 1/(1+10^(-cp/400)), so that 100 centipawns are 64 %.
const eloScale = 400 / math.Ln10

// value converts a program's score into the game's unit and a winning chance.
func (e *Engine) value(i *uci.Info) (search.Score, float64) {
	s := search.Draw
	switch n := i.Score.Value; i.Score.Unit {
	case uci.Centipawns:
		s = search.Score(min(max(math.Round(float64(n)*float64(e.params.WinScale)/eloScale), -float64(search.MaxEval)), float64(search.MaxEval)))
	case uci.Mate:
		plies := min(max(2*n-1, -2*n), search.MaxPly)
		if s = search.Win - search.Score(plies); n <= 0 {
			s = -s
		}
	}
	if w := i.WDL; w != nil && w.Win+w.Draw+w.Loss > 0 {
		return s, (float64(w.Win) + float64(w.Draw)/2) / float64(w.Win+w.Draw+w.Loss)
	}
	return s, e.params.WinProb(s)
}

// Points converts a score back into what the program has said: centipawns, or the
// program's own unit in protocols that have none. They are exact to one point up to
// the largest evaluation that the game has. Scores of decided games have no points.
func Points(gameName string, s search.Score) (int, error) {
	params, err := engine.Params(gameName, "")
	if err != nil {
		return 0, err
	}
	return int(math.Round(float64(s) * eloScale / float64(params.WinScale))), nil
}
