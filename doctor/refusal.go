package doctor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sparring/game"
)

// points finds the points of a move's text.
var points = regexp.MustCompile(`[a-z][0-9]+`)

// broken says which rule a move breaks: its name, and a sentence about the move. Both are
// "" if the rules do not say it, as of a text that is no move.
func broken(p game.Position, move string) (rule, sentence string) {
	if kind := forbidden(p, move); kind != "" {
		return string(kind), "the point is forbidden for Black: " + strings.ReplaceAll(string(kind), "-", " ")
	}
	r, ok := p.(game.Refuser)
	at := points.FindAllString(move, -1)
	if !ok || len(at) == 0 || len(strings.Trim(points.ReplaceAllString(move, ""), "/-()")) > 0 {
		return "", ""
	}
	refusal, err := r.Refusal(at)
	if err != nil || refusal == "" {
		return "", ""
	}
	return string(refusal), sentenceOf(refusal, at)
}

// forbidden returns why a legal move loses at once, "" if it does not.
func forbidden(p game.Position, move string) game.ForbiddenKind {
	f, ok := p.(game.Forbidder)
	if !ok {
		return ""
	}
	for _, at := range f.Forbidden() {
		if at.Point == move {
			return at.Kind
		}
	}
	return ""
}

// sentences are what the refusals mean. Those of the horse and the elephant name a square.
var sentences = map[game.Refusal]string{
	game.RefusedOver:     "the game is over",
	game.RefusedEmpty:    "nothing stands on its first square",
	game.RefusedNotYours: "the piece is the opponent's",
	game.RefusedSame:     "it ends where it begins",
	game.RefusedOccupied: "its square is taken",
	game.RefusedBlocked:  "something stands in the way",

	game.RefusedOwnPiece: "a piece of its own stands there",
	game.RefusedKing:     "the king goes one point along a line",
	game.RefusedAdvisor:  "the advisor goes one point along a diagonal",
	game.RefusedElephant: "the elephant goes two points along a diagonal",
	game.RefusedHorse:    "the horse goes one point along a line and one along a diagonal",
	game.RefusedRook:     "the rook goes along a line",
	game.RefusedCannon:   "the cannon goes along a line",
	game.RefusedPawn:     "the pawn goes one point",
	game.RefusedBackward: "the pawn never goes back",
	game.RefusedSideways: "the pawn goes sideways only beyond the river",
	game.RefusedPalace:   "king and advisors stay in the palace",
	game.RefusedRiver:    "elephants stay on their side of the river",
	game.RefusedScreen:   "the cannon captures over exactly one piece",
	game.RefusedInCheck:  "its king is in check and stays so",
	game.RefusedExposes:  "its king would be in check",
	game.RefusedFacing:   "the kings would face each other",

	game.RefusedArrowThere:   "an arrow stands on its first square",
	game.RefusedQueen:        "the amazon goes along a line or diagonal",
	game.RefusedShot:         "the arrow flies along a line or diagonal",
	game.RefusedShotBlocked:  "something stands in the arrow's way",
	game.RefusedShotOccupied: "the arrow's square is taken",
}

// sentenceOf says what is wrong with a move between points.
func sentenceOf(r game.Refusal, at []string) string {
	switch {
	case r == game.RefusedLeg && len(at) > 1:
		return fmt.Sprintf("the horse's leg at %s is blocked", between(at[0], at[1]))
	case r == game.RefusedEye && len(at) > 1:
		return fmt.Sprintf("the elephant's eye at %s is blocked", between(at[0], at[1]))
	}
	return sentences[r]
}

// between returns the point half of the way, rounded towards the first: a horse's leg, an
// elephant's eye.
func between(from, to string) string {
	column := int(from[0]) + (int(to[0])-int(from[0]))/2
	a, errA := strconv.Atoi(from[1:])
	b, errB := strconv.Atoi(to[1:])
	if errA != nil || errB != nil {
		return ""
	}
	return string(rune(column)) + strconv.Itoa(a+(b-a)/2)
}
