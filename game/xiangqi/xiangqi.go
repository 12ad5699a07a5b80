// Package xiangqi implements the rules of Xiangqi (Chinese chess).
//
// [Game] describes the game and finds its rule sets; [Position] is a game in
// progress under one of them. An engine uses the fast [Board] of a Position:
// bitboards with precomputed attack tables, make and unmake, legal moves in
// stages, and the [Rules], which say how a line of play ends.
//
// # Rule sets
//
// A rule set is named "xiangqi/" and the set:
//
//	xiangqi/wxf      the World Xiangqi Federation's rules, the default:
//	                 perpetual check loses unless both sides do it, else
//	                 perpetual chase of one piece loses unless both do that
//	xiangqi/cxa      the Chinese Xiangqi Association's: perpetual check loses
//	                 unless both sides do it, else a side that attacks with
//	                 every move (check, threat to mate, chase) loses unless
//	                 both do
//	xiangqi/simple   perpetual check loses unless both sides do it; any other
//	                 repetition is a draw
//
// A repetition ends the game when a position (pieces and side to move) has
// occurred three times; the result depends on all moves from its first to its
// third occurrence. docs/rules-xiangqi.md defines a chase. Parameters follow the
// set, each after a "+", in the order of this list. A parameter with its default
// value is left out of the full name:
//
//	limit=N          the game is drawn after N moves (2N plies) without a
//	                 capture, 10 to 999; the default is 60
//	limit=none       no such limit
//	repetition=none  a repetition does not end the game
//	handicap=NAME    the game starts without some of Red's pieces: horse,
//	                 two-horses, cannon, two-cannons, rook, rook-horse,
//	                 two-rooks; the left one where Red gives one of two
//
// For example "xiangqi/simple+limit=100+handicap=horse". In every set stalemate
// loses, a position that neither side can ever win is a draw, and of the checks
// since the last capture only ten of each side, with their answers, count for
// the limit.
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
// i = 90*piece + 9*rank + file, where piece is 0 to 6 for Red's king, advisor,
// elephant, horse, rook, cannon, pawn and 7 to 13 for Black's; with Black to
// move also of entry i = 1260.
package xiangqi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
)

// Name is the game's name.
const Name = "xiangqi"

// Game describes the game and its rule sets.
func Game() game.Game {
	var names []string
	for _, s := range sets {
		names = append(names, Name+"/"+string(s))
	}
	return game.Game{
		Name:    Name,
		Default: defaultRules,
		Sets:    names,
		Common:  names,
		Lenient: []string{defaultRules + "+limit=none", defaultRules + "+repetition=none", defaultRules + "+limit=none+repetition=none"},
		OneBook: true,
		Handicaps: func(*game.Rules) (list []game.Handicap) {
			for _, h := range handicaps {
				list = append(list, game.Handicap{Name: h.name, Position: handicapTop + h.red, Weaker: game.Second})
			}
			return list
		},
		Reasons: []game.Reason{game.Checkmate, game.Stalemate, game.InsufficientMaterial, game.PerpetualCheck, game.PerpetualChase,
			game.Repetition, game.MoveLimit},
		Rules: FindRules,
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

// defaultLimit is the move limit in plies of names without the parameter.
const defaultLimit = 120

// set is the part of a rule set's name that says how repetitions are ruled on.
type set string

const (
	wxf    set = "wxf"
	cxa    set = "cxa"
	simple set = "simple"
)

var sets = []set{wxf, cxa, simple}

// defaultRules is the rule set of a game that names none.
const defaultRules = Name + "/" + string(wxf)

// Rules is a rule set of Xiangqi.
type Rules struct {
	set      set
	limit    int    // plies without a capture that draw the game; 0 is none
	repeats  bool   // a repetition does not end the game
	handicap string // "" is none
	game     game.Rules
}

// Name returns the full name of the rule set.
func (r *Rules) Name() string { return r.game.Name }

// Limit returns the number of plies without a capture after which the game is
// drawn; 0 is none.
func (r *Rules) Limit() int { return r.limit }

// named gives r its name, the parameters in their order, and its game.Rules.
func (r *Rules) named() *Rules {
	name := Name + "/" + string(r.set)
	switch r.limit {
	case defaultLimit:
	case 0:
		name += "+limit=none"
	default:
		name += "+limit=" + strconv.Itoa(r.limit/2)
	}
	if r.repeats {
		name += "+repetition=none"
	}
	if r.handicap != "" {
		name += "+handicap=" + r.handicap
	}
	r.game = game.Rules{Name: name, Game: Name, New: r.start, EarlyDraws: r.limit > 0 && r.limit < defaultLimit}
	return r
}

// FindRules finds a rule set by its full name; the error wraps game.ErrRules.
func FindRules(name string) (*game.Rules, error) {
	r, err := parseRules(name)
	if err != nil {
		return nil, err
	}
	return &r.game, nil
}

func parseRules(name string) (*Rules, error) {
	body, ok := strings.CutPrefix(name, Name+"/")
	if !ok {
		return nil, badRules(name, "want %s/SET", Name)
	}
	parts := strings.Split(body, "+")
	r := &Rules{set: set(parts[0]), limit: defaultLimit}
	if !slices.Contains(sets, r.set) {
		return nil, badRules(name, "no set %.20q (have wxf, cxa, simple)", r.set)
	}
	done := -1 // the last parameter read
	for _, part := range parts[1:] {
		key, value, _ := strings.Cut(part, "=")
		i := slices.IndexFunc(parameters, func(p parameter) bool { return p.key == key })
		switch {
		case i < 0:
			return nil, badRules(name, "no parameter %.20q (have limit, repetition, handicap)", key)
		case i <= done:
			return nil, badRules(name, "%s twice or out of order", key)
		}
		done = i
		if err := parameters[i].read(r, value); err != nil {
			return nil, badRules(name, "%s %.20q, want %v", key, value, err)
		}
	}
	return r.named(), nil
}

func badRules(name, format string, args ...any) error {
	return fmt.Errorf("%w %.60q: %s", game.ErrRules, name, fmt.Sprintf(format, args...))
}

// parameter is a parameter of rule-set names. Read takes its value; the error
// is what it wants.
type parameter struct {
	key  string
	read func(r *Rules, value string) error
}

// parameters are in the order of their appearance in a name.
var parameters = []parameter{{"limit", readLimit}, {"repetition", readRepetition}, {"handicap", readHandicap}}

func readLimit(r *Rules, value string) error {
	if value == "none" {
		r.limit = 0
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 10 || n > 999 || value != strconv.Itoa(n) {
		return errors.New("10 to 999 or none")
	}
	r.limit = 2 * n
	return nil
}

func readRepetition(r *Rules, value string) error {
	if value != "none" {
		return errors.New("none")
	}
	r.repeats = true
	return nil
}

func readHandicap(r *Rules, value string) error {
	if !slices.Contains(Handicaps(), value) {
		return fmt.Errorf("one of %s", strings.Join(Handicaps(), ", "))
	}
	r.handicap = value
	return nil
}

// handicapTop is the part that all handicap positions share: Black's side and
// Red's pawns.
const handicapTop = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/"

// handicaps are the start positions in which Red, the stronger player, gives up
// pieces and moves first; red is the rest of the FEN.
var handicaps = []struct{ name, red string }{
	{"horse", "1C5C1/9/R1BAKABNR w - - 0 1"},
	{"two-horses", "1C5C1/9/R1BAKAB1R w - - 0 1"},
	{"cannon", "7C1/9/RNBAKABNR w - - 0 1"},
	{"two-cannons", "9/9/RNBAKABNR w - - 0 1"},
	{"rook", "1C5C1/9/1NBAKABNR w - - 0 1"},
	{"rook-horse", "1C5C1/9/2BAKABNR w - - 0 1"},
	{"two-rooks", "1C5C1/9/1NBAKABN1 w - - 0 1"},
}

// Handicaps lists the values of the parameter handicap.
func Handicaps() (names []string) {
	for _, h := range handicaps {
		names = append(names, h.name)
	}
	return names
}

func (r *Rules) start(position string) (game.Position, error) {
	if position == "" {
		position = StartFEN
		for _, h := range handicaps {
			if h.name == r.handicap {
				position = handicapTop + h.red
			}
		}
	}
	b, number, err := parseFEN(position)
	if err != nil {
		return nil, err
	}
	p := &Position{rules: r, board: b, firstMove: number, firstSide: b.side}
	p.outcome = r.Outcome(b)
	return p, nil
}
