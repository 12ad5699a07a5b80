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
//	xiangqi/wxf      the World Xiangqi Federation's rules, the default:
//	                 perpetual check loses unless both sides do it, else
//	                 perpetual chase of one piece loses unless both do that
//	xiangqi/simple   perpetual check loses unless both sides do it; any other
//	                 repetition is a draw
//
// A repetition is judged when a position (pieces and side to move) has
// occurred three times, by all moves from its first to its third occurrence.
// The file docs/rules-xiangqi.md says what a chase is. Parameters follow the set, each after a "+", in the
// order of this list; one that says what holds anyway is left out of the full
// name:
//
//	limit=N          the game is drawn after N moves (2N plies) without a
//	                 capture, 10 to 999; 60 where nothing is said
//	limit=none       no such limit
//
// So "xiangqi/simple+limit=100". Stalemate loses in every set.
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
	"strconv"
	"strings"

	"sparring/game"
)

const gameName = "xiangqi"

// Game describes the game and its rule sets.
func Game() game.Game {
	return game.Game{
		Name:    gameName,
		Default: defaultRules,
		Sets:    []string{defaultRules, gameName + "/" + string(simple)},
		Rules:   FindRules,
		RulesFor: func(position string) (string, error) {
			if position != "" {
				if _, err := ParseFEN(position); err != nil {
					return "", err
				}
			}
			return defaultRules, nil
		},
	}
}

// defaultLimit is the move limit in plies where a name says nothing.
const defaultLimit = 120

// set is the part of a rule set's name that says how repetitions are judged.
type set string

const (
	wxf    set = "wxf"
	cxa    set = "cxa"
	simple set = "simple"
)

// defaultRules is the rule set meant where none is named.
const defaultRules = gameName + "/" + string(wxf)

// Rules is a rule set of Xiangqi.
type Rules struct {
	set   set
	limit int // plies without a capture that draw the game; 0 is none
	game  game.Rules
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
	r := &Rules{set: set(parts[0]), limit: defaultLimit}
	if r.set != simple && r.set != wxf {
		return bad("no set %.20q (have %s, %s)", r.set, wxf, simple)
	}
	for i, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		switch {
		case key != "limit":
			return bad("no parameter %.20q (have limit)", key)
		case i > 0:
			return bad("%s twice", key)
		case value == "none":
			r.limit = 0
		default:
			n, err := strconv.Atoi(value)
			if err != nil || n < 10 || n > 999 || value != strconv.Itoa(n) {
				return bad("limit %.20q, want 10 to 999 or none", value)
			}
			r.limit = 2 * n
		}
	}
	r.game = game.Rules{Name: gameName + "/" + string(r.set), Game: gameName, New: r.start}
	switch r.limit {
	case defaultLimit:
	case 0:
		r.game.Name += "+limit=none"
	default:
		r.game.Name += "+limit=" + strconv.Itoa(r.limit/2)
	}
	return r, nil
}

func (r *Rules) start(position string) (game.Position, error) {
	if position == "" {
		position = StartFEN
	}
	b, number, err := parseFEN(position)
	if err != nil {
		return nil, err
	}
	p := &Position{rules: r, board: b, firstMove: number, firstSide: b.side}
	p.outcome = r.Outcome(b)
	return p, nil
}
