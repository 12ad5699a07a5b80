package gomocup

import (
	"math"
	"strconv"
	"strings"
)

// Thought is what an engine says about its search in a MESSAGE. A zero field was
// not given.
type Thought struct {
	Depth, SelDepth int
	Line            int // 1 is the best line
	Score           int // in the engine's unit, positive if the engine is ahead
	// Mate reports that the game is decided: in Plies, and won if Won.
	Mate, Won bool
	Plies     int
	Chance    *float64 // winning chance, draws counted half
	Nodes     uint64
}

// ParseThought reads the Text of a Message. The protocol leaves its form to the
// engine, so the words that engines use are looked for: a key, perhaps ":" or "=",
// and a value, in any order, upper or lower case, separated by spaces, commas and
// bars. The keys are
//
//	depth                           12 or 12-17 (selective depth)
//	eval, ev, score, val, value     -37, or the end of the game in plies: +M7, -M8,
//	                                "win in 7", "loss in 8"
//	chance, winrate                 51.5%
//	node, nodes, n                  518213, 518K, 1.5M
//	multipv                         2
//	pv, bestline                    the rest are moves
//
// These are the forms of Rapfi ("Depth 17-36 | Eval -248 | Time 974ms | H8 ...",
// and "depth 17-36 ev -248 n 518K ... pv ..."), Wine ("depth: 9-14 best:[7,8]
// val=35 time:80ms"), Yixin ("REALTIME VAL 35") and Sparring. Moves are not read,
// because the form of their coordinates is a setting of some engines. ok is false
// for a text without a score: most messages are meant for people.
func ParseThought(text string) (t Thought, ok bool) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" \t|,;=", r) })
	for i := 0; i < len(words); i++ {
		key, value, joined := strings.Cut(words[i], ":")
		rest := words[i+1:]
		if value == "" && len(rest) > 0 {
			value = strings.TrimPrefix(rest[0], ":")
			if value == "" && len(rest) > 1 { // "eval : 7"
				value, rest = rest[1], rest[1:]
			}
		} else if joined {
			rest = append([]string{value}, rest...)
		}
		switch key {
		case "pv", "bestline":
			return t, ok
		case "depth":
			least, most, _ := strings.Cut(value, "-")
			t.Depth, t.SelDepth = small(least), small(most)
		case "multipv":
			t.Line = small(value)
		case "eval", "ev", "score", "val", "value":
			ok = t.score(value, rest) || ok
		case "chance", "winrate":
			percent, isPercent := strings.CutSuffix(value, "%")
			if p, err := strconv.ParseFloat(percent, 64); err == nil && isPercent && p >= 0 && p <= 100 {
				p /= 100
				t.Chance = &p
			}
		case "node", "nodes", "n":
			t.Nodes = nodes(value)
		}
	}
	return t, ok
}

// score reads a score; rest begins with its value.
func (t *Thought) score(value string, rest []string) bool {
	if n, err := strconv.Atoi(value); err == nil {
		t.Score, t.Mate = min(max(n, math.MinInt32), math.MaxInt32), false
		return true
	}
	won, plies := value == "win", ""
	switch {
	case (won || value == "loss") && len(rest) > 2 && rest[1] == "in":
		plies = rest[2]
	case strings.HasPrefix(value, "+m"):
		won, plies = true, value[2:]
	case strings.HasPrefix(value, "-m"):
		plies = value[2:]
	}
	n, ok := number(plies)
	if !ok || n < 0 {
		return false
	}
	t.Mate, t.Won, t.Plies, t.Score = true, won, n, 0
	return true
}

// small reads a number from 0 to 999999, 0 for anything else.
func small(text string) int {
	n, _ := number(text)
	return max(n, 0)
}

// nodes reads a count with an optional K, M or G, 0 for anything else.
func nodes(text string) uint64 {
	unit := 1.0
	for suffix, u := range map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9} {
		if digits, found := strings.CutSuffix(text, suffix); found {
			text, unit = digits, u
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n < 1e9*1e6) {
		return 0
	}
	return uint64(n * unit)
}
