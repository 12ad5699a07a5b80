package pgn

import (
	"fmt"
	"regexp"
	"strings"

	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/record/format"
)

// moveText writes a move in the notation.
func moveText(p game.Position, m game.Move, moves format.Moves) (string, error) {
	if moves == format.ICCS {
		return strings.ToUpper(xiangqi.From(m).String() + "-" + xiangqi.To(m).String()), nil
	}
	return "", fmt.Errorf("%w: notation %s", format.ErrCannot, moves)
}

// iccs is a move by its squares, with ranks from 0: H2-E2 or h2e2, with a plus
// for check behind it.
var iccs = regexp.MustCompile(`^(?i)([a-i][0-9])-?([a-i][0-9])[+＋]*$`)

// parseMove reads a move in any notation.
func parseMove(p game.Position, text string) (game.Move, error) {
	if m := iccs.FindStringSubmatch(text); m != nil {
		return p.Parse(strings.ToLower(m[1] + m[2]))
	}
	return game.NoMove, fmt.Errorf("%w: %.40q is no move such as H2-E2, C2=5 or 炮二平五", game.ErrSyntax, text)
}
