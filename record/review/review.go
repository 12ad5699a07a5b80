// Package review finds the mistakes of a finished game: [Game] walks through its
// positions, asks an analyst for the best move of each, and classes the moves that
// were played by the winning chance that they lost. It knows no engine: an [Ask]
// is a search wherever it runs, on a platform's analysts or on this machine.
package review

import (
	"context"
	"sync"

	"sparring/game"
	"sparring/protocol"
)

// Class is the class of a mistake, by the winning chance that it lost.
type Class string

// The classes. Their bounds are 10, 20 and 30 percent of winning chance.
const (
	Inaccuracy Class = "inaccuracy"
	Mistake    Class = "mistake"
	Blunder    Class = "blunder"
)

// Bounds of the classes of mistakes, in winning chance lost. Pages that know one
// game well draw finer lines, Lichess at 5, 10 and 15 percent. These stand at
// twice that: reviews search for about a second a position, in three games whose
// evaluations differ, and a move wrongly called a mistake teaches the wrong lesson.
const (
	inaccuracyFrom = 0.10
	mistakeFrom    = 0.20
	blunderFrom    = 0.30
)

// suspect is the loss from which a move is compared with the best one in a search
// of its own: the chances before and after a move come from searches of different
// depths.
const suspect = inaccuracyFrom / 2

// ClassOf returns the class of a loss; "" for a good move.
func ClassOf(lost float64) Class {
	switch {
	case lost >= blunderFrom:
		return Blunder
	case lost >= mistakeFrom:
		return Mistake
	case lost >= inaccuracyFrom:
		return Inaccuracy
	}
	return ""
}

// ChanceOf returns the winning chance of a seat in a game that the rules have
// ended.
func ChanceOf(out game.Outcome, seat game.Seat) float64 {
	switch out.Result {
	case game.WonBy(seat):
		return 1
	case game.WonBy(seat.Other()):
		return 0
	}
	return 0.5
}

// LostBy returns what a move loses compared with the best one, of an analysis of
// just these two, and what follows the move. An engine that leaves out a move
// refuses to lose at once.
func LostBy(found protocol.Analysis, best, move string) (lost float64, reply []string) {
	c := comparisonOf(found, best, move)
	return c.lost(), c.reply
}

// comparison is an analysis of two moves of a position, each searched as deep as the
// other: their chances for the seat to act, 0 for a move that the engine left out.
type comparison struct {
	best, played float64
	both         bool // the engine left out none
	reply        []string
}

func comparisonOf(found protocol.Analysis, best, played string) (c comparison) {
	lines := 0
	for _, l := range found.Lines {
		if l.Chance == nil {
			continue
		}
		switch l.Moves[0] {
		case best:
			c.best = *l.Chance
			lines++
		case played:
			c.played, c.reply = *l.Chance, l.Moves[1:]
			lines++
		}
	}
	c.both = lines == 2
	return c
}

func (c comparison) lost() float64 { return max(0, c.best-c.played) }

// Position is the analysis of a position of the game, and of the move that was
// played there.
type Position struct {
	Turn game.Seat `json:"turn"` // the seat to act
	// Chance is the winning chance of seat first, 0 to 1. It is absent in an
	// opening procedure, where the engine only names its choice.
	Chance *float64 `json:"chance,omitempty"`
	Depth  int      `json:"depth"`          // 0 where the rules have ended the game
	Best   string   `json:"best,omitempty"` // move that the engine prefers
	Line   []string `json:"line,omitempty"` // from this position, Best first
	// Lost is the winning chance that the move played here lost, 0 to 1; Class is
	// absent if that is less than the smallest class.
	Lost  float64 `json:"lost,omitempty"`
	Class Class   `json:"class,omitempty"`

	judged bool // Lost is known, or being searched
}

// Mover returns the winning chance of the seat to act, if the analysis has one.
func (p *Position) Mover() (chance float64, ok bool) {
	if p.Chance == nil {
		return 0, false
	}
	return SideOf(*p.Chance, p.Turn), true
}

// SideOf converts a chance between seat first and another seat.
func SideOf(chance float64, seat game.Seat) float64 {
	if seat == game.Second {
		return 1 - chance
	}
	return chance
}

// Ask analyses the position after so many plies of the game. If consider is not
// empty, only these moves are searched, each as deep as the other, and the answer
// has a line for each that does not lose at once. The answer has at least one line,
// with at least one move.
type Ask func(ctx context.Context, ply int, consider []string) (protocol.Analysis, error)

// Game is the review of a game. It is safe for concurrent use: several positions
// can be analysed at once.
type Game struct {
	moves  []string
	stages []stage // of each position, the start position first
	total  int

	mu        sync.Mutex
	positions []*Position
	done      int
	changes   int
}

// stage is what the rules say of a position of the game.
type stage struct {
	turn  game.Seat
	ended bool // by the rules, and no move followed
	key   string
}

// New makes the review of the game in which these moves were played from the start
// position, with nothing analysed yet. A game that was played on after an end by
// the rules is reviewed to its last move. The error is that of the first move that
// can't be played.
func New(start game.Position, moves []string) (*Game, error) {
	p := start.Clone()
	g := &Game{moves: moves, positions: make([]*Position, len(moves)+1)}
	for i := 0; ; i++ {
		if i < len(moves) {
			game.PlayOn(p)
		}
		out := p.Outcome()
		g.stages = append(g.stages, stage{p.Turn(), out.Over(), game.KeyText(p.Key())})
		if !out.Over() {
			g.total++
		} else {
			c := ChanceOf(out, game.First)
			g.positions[i] = &Position{Turn: p.Turn(), Chance: &c}
		}
		if i == len(moves) {
			return g, nil
		}
		if _, err := game.PlayText(p, moves[i]); err != nil {
			return nil, err
		}
	}
}

// Moves returns the moves of the game.
func (g *Game) Moves() []string { return g.moves }

// Keys returns the keys of the positions that are analysed.
func (g *Game) Keys() (keys []string) {
	for _, st := range g.stages {
		if !st.ended {
			keys = append(keys, st.key)
		}
	}
	return keys
}

// Progress returns how many positions are analysed, of how many.
func (g *Game) Progress() (done, total int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.done, g.total
}

// Changes returns how often the results have changed.
func (g *Game) Changes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changes
}

// Positions returns the results so far, one for each position, the start position
// first; nil for one that is not analysed yet. They are copies.
func (g *Game) Positions() []*Position {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]*Position, len(g.positions))
	for i, p := range g.positions {
		if p != nil {
			c := *p
			all[i] = &c
		}
	}
	return all
}

// Each calls f for the number of every position, from the end of the game to its
// start, until f returns false: what an analyst learns from a position helps with
// the one before.
func (g *Game) Each(f func(ply int) bool) {
	for ply := len(g.stages) - 1; ply >= 0 && f(ply); ply-- {
	}
}

// Analyse analyses the position after so many plies, unless it is known, and
// judges the moves before and after it for which that was missing. The error is
// that of ask; what was missing can then be analysed again.
func (g *Game) Analyse(ctx context.Context, ply int, ask Ask) error {
	g.mu.Lock()
	known := g.positions[ply] != nil
	g.mu.Unlock()
	if !known {
		found, err := ask(ctx, ply, nil)
		if err != nil {
			return err
		}
		g.mu.Lock()
		g.positions[ply] = g.reviewed(ply, found)
		g.done++
		g.changes++
		g.mu.Unlock()
	}
	for _, at := range []int{ply, ply - 1} {
		if err := g.judge(ctx, at, ask); err != nil {
			return err
		}
	}
	return nil
}

// longestLine is how many moves of the better line are kept.
const longestLine = 10

// reviewed returns what an analysis says of a position.
func (g *Game) reviewed(ply int, found protocol.Analysis) *Position {
	line := found.Lines[0].Moves
	p := &Position{Turn: g.stages[ply].turn, Depth: found.Depth, Best: line[0], Line: line[:min(len(line), longestLine)]}
	if found.Chance != nil {
		c := SideOf(*found.Chance, p.Turn)
		p.Chance = &c
	}
	return p
}

// judge finds what the move played in a position lost, once the positions before
// and after it are analysed. It does so once.
func (g *Game) judge(ctx context.Context, ply int, ask Ask) error {
	if ply < 0 || ply >= len(g.moves) {
		return nil
	}
	g.mu.Lock()
	before, after := g.positions[ply], g.positions[ply+1]
	if before == nil || after == nil || before.judged || before.Chance == nil || after.Chance == nil {
		g.mu.Unlock()
		return nil
	}
	before.judged = true
	played := g.moves[ply]
	lost := SideOf(*before.Chance, before.Turn) - SideOf(*after.Chance, before.Turn)
	g.mu.Unlock()
	if before.Best == played {
		lost = 0
	}
	var refuted *comparison
	if lost >= suspect && !g.stages[ply+1].ended {
		found, err := ask(ctx, ply, []string{before.Best, played})
		if err != nil {
			g.mu.Lock()
			before.judged = false
			g.mu.Unlock()
			return err
		}
		c := comparisonOf(found, before.Best, played)
		if lost = c.lost(); c.both && ClassOf(lost) == "" {
			refuted = &c
		}
	}
	lost = min(max(lost, 0), 1)
	g.mu.Lock()
	defer g.mu.Unlock()
	before.Lost, before.Class = lost, ClassOf(lost)
	if refuted != nil {
		level(before, after, *refuted)
	}
	g.changes++
	return nil
}

// level takes the chances of two positions from the comparison that has refuted the loss
// between them, so that no spike is left where no mistake was made. Both were searched to the
// same depth there; the searches of their own that disagreed were not.
func level(before, after *Position, c comparison) {
	best, played := SideOf(c.best, before.Turn), SideOf(c.played, before.Turn)
	before.Chance, after.Chance = &best, &played
}
