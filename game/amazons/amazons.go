// Package amazons implements the rules of the Game of the Amazons on boards of
// any size up to 128 squares.
//
// In each turn a player moves an amazon like a chess queen, and the amazon then
// shoots an arrow, again like a queen, from its new square. The arrow stays for
// the rest of the game. Nothing passes over amazons or arrows. A player who
// cannot move loses, so there are no draws.
//
// Callers that only play use [Game]. Engines use the [Board] of a [Position],
// which is a plain value with cheap Do and Undo.
//
// # Text
//
// A position is written like a FEN: the rows from the top, "/" between them,
// Q for an amazon of White (seat first), q for one of Black (seat second), *
// for an arrow, decimal numbers for runs of empty squares, then " w" or " b"
// for the side to move. A move is written d1d7/b7: from, to, arrow; columns
// are letters from the left, rows count from 1 at the bottom. Other
// notations are read too, see [Notation].
//
// # Keys
//
// Squares are numbered from 0 at a1, along the rows. The key of a position is
// the exclusive or of game.Zobrist(Seed, i) over
//
//	i = square         for each white amazon
//	i = 128 + square   for each black amazon
//	i = 256 + square   for each arrow
//	i = 384            if Black is to move
package amazons

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// Seed starts the Zobrist numbers of the game: "amazons" in ASCII.
const Seed = 0x616d617a6f6e73

// Name is the game's name.
const Name = "amazons"

// starts are the usual start positions. Those of 8x8 and 6x6 are used by the
// platforms that play on these boards.
var starts = map[string]string{
	"10x10": "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w",
	"8x8":   "2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 w",
	"6x6":   "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w",
}

// Game describes the game and its rule sets. Besides those listed, every
// "amazons/CxR" (columns x rows) is a rule set, without a usual start position.
func Game() game.Game {
	return game.Game{
		Name:     Name,
		Default:  Name + "/10x10",
		Sets:     []string{Name + "/10x10", Name + "/8x8", Name + "/6x6"},
		Common:   []string{Name + "/10x10", Name + "/8x8"},
		Reasons:  []game.Reason{game.NoMoves},
		Rules:    findRules,
		RulesFor: rulesFor,
	}
}

func findRules(name string) (*game.Rules, error) {
	size, ok := strings.CutPrefix(name, Name+"/")
	if !ok {
		return nil, fmt.Errorf("%w %.40q: want amazons/CxR", game.ErrRules, name)
	}
	c, r, ok := strings.Cut(size, "x")
	cols, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	if !ok || err1 != nil || err2 != nil || sizeName(cols, rows) != size {
		return nil, fmt.Errorf("%w %.40q: want amazons/CxR, such as amazons/10x10", game.ErrRules, name)
	}
	geo, err := newGeometry(cols, rows)
	if err != nil {
		return nil, fmt.Errorf("%w %.40q: %w", game.ErrRules, name, err)
	}
	return newRules(geo), nil
}

func rulesFor(position string) (string, error) {
	if position == "" {
		return Name + "/10x10", nil
	}
	b, err := parseBoard(position)
	if err != nil {
		return "", err
	}
	return Name + "/" + sizeName(b.geo.cols, b.geo.rows), nil
}

func sizeName(cols, rows int) string { return fmt.Sprintf("%dx%d", cols, rows) }

// newRules returns the rule set of the board.
func newRules(geo *geometry) *game.Rules {
	size := sizeName(geo.cols, geo.rows)
	r := &game.Rules{Name: Name + "/" + size, Game: Name}
	r.New = func(text string) (game.Position, error) {
		if text == "" {
			text = starts[size]
		}
		if text == "" {
			return nil, fmt.Errorf("%w: %s has no usual start, give a position", game.ErrPosition, r.Name)
		}
		b, err := parseBoard(text)
		if err != nil {
			return nil, err
		}
		if b.geo.cols != geo.cols || b.geo.rows != geo.rows {
			return nil, fmt.Errorf("%w: a %s board under %s",
				game.ErrPosition, sizeName(b.geo.cols, b.geo.rows), r.Name)
		}
		b.geo = geo
		return &Position{rules: r, board: b}, nil
	}
	return r
}
