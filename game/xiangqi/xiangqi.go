// Package xiangqi is the rules of Xiangqi (Chinese chess).
//
// [Game] describes the game and finds its rule sets; [Position] is a game in
// progress under one of them. An engine takes the fast [Board] from a
// Position: bitboards over preset attack tables, make and unmake, legal
// moves in parts, and the [Rules] that judge what a line of play has led to.
//
// # Rule sets
//
// A rule set is named "xiangqi/" and the set:
//
//	xiangqi/simple   perpetual check loses unless both sides do it; any other
//	                 repetition is a draw
//
// A repetition is judged when a position (pieces and side to move) has
// occurred three times. Parameters follow the set, each after a "+", in the
// order of this list; one that says what holds anyway is left out of the full
// name:
//
//	limit=N          the game is drawn after N moves (2N plies) without a
//	                 capture, 10 to 999; 60 where nothing is said
//	limit=none       no such limit
//	handicap=NAME    Red starts without a piece of the left wing, or more:
//	                 horse, cannon, rook, two-horses, rook-horse, two-rooks
//
// So "xiangqi/simple+limit=100+handicap=horse". In every set stalemate loses,
// a side's checks beyond the tenth since the last capture and the answers to
// them don't count towards the limit, and the game is drawn where neither
// side can win any more.
//
// # Texts
//
// Positions are FENs, with horses as N or H, elephants as B or E, Red as w or
// r. Moves are "h2e2": files a to i from Red's left, ranks 0 to 9 from Red's
// side.
//
// # Keys
//
// The key of a position is the exclusive or of game.Zobrist(seed, i) over its
// pieces, with seed = 0x7869616e677169 ("xiangqi" in ASCII) and
// i = 90*piece + 9*rank + file, where piece is 0 to 6 for Red's king, adviser,
// elephant, horse, rook, cannon, pawn and 7 to 13 for Black's; with Black to
// move also of entry i = 1260.
package xiangqi

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
)

const gameName = "xiangqi"

// Game describes the game and its rule sets.
func Game() game.Game {
	return game.Game{
		Name:    gameName,
		Default: gameName + "/simple",
		Sets:    []string{gameName + "/simple"},
		Rules:   FindRules,
		RulesFor: func(position string) (string, error) {
			if position != "" {
				if _, err := ParseFEN(position); err != nil {
					return "", err
				}
			}
			return gameName + "/simple", nil
		},
	}
}

// defaultLimit is the move limit in plies where a name says nothing.
const defaultLimit = 120

// Rules is a rule set of Xiangqi.
type Rules struct {
	set      string
	limit    int    // plies without a capture that draw the game; 0 is none
	handicap string // a name in handicaps; "" is none
	game     game.Rules
}

// Name is the full name of the rule set.
func (r *Rules) Name() string { return r.game.Name }

// Limit is the number of plies without a capture after which the game is
// drawn; 0 is none.
func (r *Rules) Limit() int { return r.limit }

// FindRules finds a rule set by its full name; the error wraps game.ErrRules.
func FindRules(name string) (*game.Rules, error) {
	r, err := parseRules(name)
	if err != nil {
		return nil, err
	}
	return &r.game, nil
}

func parseRules(name string) (*Rules, error) {
	bad := func(format string, args ...any) (*Rules, error) {
		return nil, fmt.Errorf("%w %.60q: %s", game.ErrRules, name, fmt.Sprintf(format, args...))
	}
	body, ok := strings.CutPrefix(name, gameName+"/")
	if !ok {
		return bad("want %s/SET", gameName)
	}
	parts := strings.Split(body, "+")
	r := &Rules{set: parts[0], limit: defaultLimit}
	if r.set != "simple" {
		return bad("no set %.20q (have simple)", r.set)
	}
	given := map[string]bool{}
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		if given[key] {
			return bad("%.20s twice", key)
		}
		given[key] = true
		if err := r.parameter(key, value); err != nil {
			return bad("%v", err)
		}
	}
	r.game = game.Rules{Name: r.fullName(), Game: gameName, New: r.start}
	return r, nil
}

// parameter sets one parameter of the rule set.
func (r *Rules) parameter(key, value string) error {
	switch key {
	case "limit":
		if value == "none" {
			r.limit = 0
			return nil
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 10 || n > 999 || value != strconv.Itoa(n) {
			return fmt.Errorf("limit %.20q, want 10 to 999 or none", value)
		}
		r.limit = 2 * n
	case "handicap":
		if _, ok := handicaps[value]; !ok {
			return fmt.Errorf("no handicap %.20q (have %s)", value, strings.Join(slices.Sorted(maps.Keys(handicaps)), ", "))
		}
		r.handicap = value
	default:
		return fmt.Errorf("no parameter %.20q (have limit, handicap)", key)
	}
	return nil
}

// fullName has the parameters that say what does not hold anyway, in the
// order of the package documentation.
func (r *Rules) fullName() string {
	name := gameName + "/" + r.set
	switch r.limit {
	case defaultLimit:
	case 0:
		name += "+limit=none"
	default:
		name += "+limit=" + strconv.Itoa(r.limit/2)
	}
	if r.handicap != "" {
		name += "+handicap=" + r.handicap
	}
	return name
}

// handicaps are the pieces that Red starts without, by the handicap's name.
var handicaps = map[string][]Square{
	"horse":      {MakeSquare(1, 0)},
	"cannon":     {MakeSquare(1, 2)},
	"rook":       {MakeSquare(0, 0)},
	"two-horses": {MakeSquare(1, 0), MakeSquare(7, 0)},
	"rook-horse": {MakeSquare(0, 0), MakeSquare(1, 0)},
	"two-rooks":  {MakeSquare(0, 0), MakeSquare(8, 0)},
}

// startFEN is the usual start position less the handicap.
func (r *Rules) startFEN() (string, error) {
	b, number, err := parseFEN(StartFEN)
	if err != nil {
		return "", err
	}
	for _, s := range handicaps[r.handicap] {
		b.piece[s] = NoPiece
	}
	return b.fen(number), nil
}

func (r *Rules) start(position string) (game.Position, error) {
	if position == "" {
		start, err := r.startFEN()
		if err != nil {
			return nil, err
		}
		position = start
	}
	b, number, err := parseFEN(position)
	if err != nil {
		return nil, err
	}
	p := &Position{rules: r, board: b, firstMove: number, firstSide: b.side}
	p.outcome = r.Outcome(b)
	return p, nil
}
