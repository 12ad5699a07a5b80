// Package adapter defines what a game tells the engine. Each game's own engine
// package fills in one [Adapter]; package engine lists them.
package adapter

import (
	"errors"
	"fmt"

	"sparring/engine/search"
	"sparring/game"
)

// Adapter is a game's row: what it adds to the kernel, and what measuring and
// levels need to know of it. New, Params and Length are required. A feature whose
// field is missing returns an error that says so.
type Adapter struct {
	Game string // as game.Rules.Game
	// New adapts a position. The error is for a position that the kernel can't
	// search: of another game, or in an opening procedure, whose choices
	// package opening makes.
	New    func(game.Position) (search.Position, error)
	Params func() search.Params
	Length int // plies that a game usually lasts, for the time manager
	// SelfLoss: a player's own move may lose the game at once (by repetition, by
	// a forbidden move), so every move is checked by the rules before a search.
	SelfLoss bool
	// First returns a move that is as good as any, where that is known without a search,
	// or NoMove; nil if the game has none. A search of one line considers it alone.
	First func(p game.Position) game.Move
	// Evaluations are those besides the game's own.
	Evaluations []Evaluation

	Bench    Bench
	Openings Openings
	Levels   [Levels]LevelParameters // the weakest first
	// Beginner returns how much a beginner likes a move of p. The scripted player
	// that levels are measured against plays one of the moves with the highest
	// value, unless it can win at once.
	Beginner func(p game.Position) func(m game.Move) int
	// Kind returns what sort of move a legal move of p is, in a word or two for
	// people: "capture". A move is of one kind, the most forcing. It is for
	// statistics; nil if the game has none.
	Kind func(p game.Position, m game.Move) string
	// NoProgress returns how many plies in a row have made no progress, such as a
	// capture, as the rules' move limit counts them. It is for statistics; nil if
	// every move is progress.
	NoProgress func(p game.Position) int
}

// Bench is the positions that measure the search, under one rule set.
type Bench struct {
	Rules     string // in full
	Depth     int    // of the searches whose nodes are the signature
	Deep      int    // of those that show what only large trees show
	Positions []string
}

// Openings says how random openings are made. Few plies leave the opening to be
// played; enough plies allow thousands of openings.
type Openings struct {
	Plies int
	Bound float64 // how far from one half the winning chance may be
	// Moves lists the moves to choose from; nil means all legal moves.
	Moves func(game.Position) []game.Move
}

// Levels is how many levels every game has.
const Levels = 10

// LevelParameters say how a level differs from the engine at full strength.
type LevelParameters struct {
	// Nodes is the limit of a search, pondering included.
	Nodes uint64 `json:"nodes"`
	// Notice is how many moves the level considers; 0 is all.
	Notice int `json:"notice,omitempty"`
	// Compare is how many of them the level compares with random errors; 0 or 1
	// means that it plays the best.
	Compare int `json:"compare,omitempty"`
	// Slip is the size of the errors, in log-odds of winning: the temperature of a
	// softmax over the compared moves.
	Slip float64 `json:"slip,omitempty"`
	// Worst bounds the damage of an error, in log-odds of winning: a move that is
	// worse than the best by this much is never played. 0 is no bound.
	Worst float64 `json:"worst,omitempty"`
	// Careful: the level never misses a win in one, and prevents the opponent's
	// if it can.
	Careful bool `json:"careful,omitempty"`
	// Keep: the level avoids losing a piece to a plain capture, even in exchange
	// for something else. It has no effect in games without exchanges.
	Keep bool `json:"keep,omitempty"`
}

// Random reports whether the level makes random choices. Other levels answer the same moves
// in the same way.
func (p LevelParameters) Random() bool { return p.Notice > 0 || p.Slip > 0 }

// Check reports what the engine lacks to play the game.
func (a Adapter) Check() error {
	switch {
	case a.Game == "":
		return errors.New("adapter without a game")
	case a.New == nil || a.Params == nil:
		return fmt.Errorf("adapter of %s: New and Params are required", a.Game)
	case a.Params().Game != a.Game:
		return fmt.Errorf("adapter of %s: Params are those of %q", a.Game, a.Params().Game)
	case a.Length < 1:
		return fmt.Errorf("adapter of %s: Length %d, want at least 1", a.Game, a.Length)
	}
	return nil
}

// Errs reports whether the level may play another move than the best it finds.
func (p *LevelParameters) Errs() bool { return p.Compare > 1 }
