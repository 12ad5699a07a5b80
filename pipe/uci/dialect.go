package uci

import (
	"strconv"
	"strings"

	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
)

// Dialect converts a game's moves and positions between the notation of its
// rules and that of UCI. A text that has not the form of a move is returned
// unchanged, so that the rules can say what is wrong with it.
//
// Most games are written as in their rules. Two are written as Fairy-Stockfish
// does, for GUIs that know UCI_Variant: Xiangqi with ranks from 1 (h3e3, a10a9),
// Amazons with the arrow as a second move (d1d7,d7b7). Pikafish, UCCI and the
// "Cyclone" dialect have Xiangqi's ranks from 0, as the rules do. Gomoku's
// stones are also read as Fairy-Stockfish's drops (P@h8).
type Dialect struct {
	Game  string // its name in package catalog, and in UCI_Variant
	Ranks int    // the number of Xiangqi's first rank: 0 or 1
}

// Theirs converts one of our moves into the dialect.
func (d Dialect) Theirs(move string) string {
	switch d.Game {
	case xiangqi.Name:
		return shiftRanks(move, d.Ranks)
	case amazons.Name:
		if path, arrow, ok := strings.Cut(move, "/"); ok {
			if to := lastSquare(path); to != "" {
				return path + "," + to + arrow
			}
		}
	}
	return move
}

// Ours converts a move of the dialect into our notation. Capitals, and a hyphen
// between the squares, are read too.
func (d Dialect) Ours(move string) string {
	move = strings.ToLower(move)
	switch d.Game {
	case xiangqi.Name:
		return shiftRanks(strings.ReplaceAll(move, "-", ""), -d.Ranks)
	case amazons.Name:
		if path, shot, ok := strings.Cut(move, ","); ok {
			if to := lastSquare(path); to != "" && strings.HasPrefix(shot, to) {
				return path + "/" + shot[len(to):]
			}
		}
	case gomoku.Name:
		return strings.TrimPrefix(move, "p@")
	}
	return move
}

// BelowRanks reports whether a text is a move of Xiangqi with the rank 0 where ranks
// count from 1. Ours leaves it as it is, and so it would pass for a move of the rules.
func (d Dialect) BelowRanks(move string) bool {
	move = strings.ToLower(strings.ReplaceAll(move, "-", ""))
	from, rest, ok1 := cutSquare(move)
	to, rest, ok2 := cutSquare(rest)
	return d.Game == xiangqi.Name && ok1 && ok2 && rest == "" && min(from.rank, to.rank) < d.Ranks
}

// OurPosition converts a FEN of the dialect: GUIs pad the FENs of every game with
// the fields that chess has.
func (d Dialect) OurPosition(fen string) string {
	if d.Game != amazons.Name {
		return fen
	}
	if f := strings.Fields(fen); len(f) > 2 {
		return f[0] + " " + f[1]
	}
	return fen
}

// TheirPosition converts one of our positions into the dialect.
func (d Dialect) TheirPosition(position string) string {
	if d.Game == amazons.Name && position != "" {
		return position + " - - 0 1"
	}
	return position
}

// shiftRanks adds a number to both ranks of a Xiangqi move.
func shiftRanks(move string, add int) string {
	if add == 0 {
		return move
	}
	from, rest, ok1 := cutSquare(move)
	to, rest, ok2 := cutSquare(rest)
	if !ok1 || !ok2 || rest != "" {
		return move
	}
	from.rank, to.rank = from.rank+add, to.rank+add
	if from.rank < 0 || to.rank < 0 {
		return move
	}
	return from.String() + to.String()
}

// square is a file's letter and a rank's number, whatever rank is the first.
type square struct {
	file byte
	rank int
}

func (s square) String() string { return string(rune(s.file)) + strconv.Itoa(s.rank) }

// cutSquare reads the square at the start of a text.
func cutSquare(text string) (s square, rest string, ok bool) {
	n := 1
	for n < len(text) && n < 3 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n < 2 || text[0] < 'a' || text[0] > 'z' || n == 3 && text[1] == '0' {
		return square{}, text, false
	}
	rank, err := strconv.Atoi(text[1:n])
	return square{text[0], rank}, text[n:], err == nil
}

// lastSquare returns the second of two squares that make up the text, or "".
func lastSquare(text string) string {
	_, rest, ok := cutSquare(text)
	if _, end, ok2 := cutSquare(rest); ok && ok2 && end == "" {
		return rest
	}
	return ""
}
