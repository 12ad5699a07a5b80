package catalog_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
)

// TestRefusals: along random games under all rule sets, and in the positions below,
// every illegal move has a reason, and all reasons occur.
func TestRefusals(t *testing.T) {
	seen := map[game.Refusal]bool{}
	note := func(reasons map[game.Refusal]int) {
		for r := range reasons {
			seen[r] = true
		}
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for _, g := range catalog.Games() {
		for _, set := range g.Sets {
			r, err := catalog.Rules(set)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.New("")
			if err != nil {
				t.Fatal(err)
			}
			for range 12 {
				note(gametest.Refusals(t, p))
				gametest.Stroll(t, rng, p, 1+rng.IntN(8))
			}
			gametest.Stroll(t, rng, p, 1000)
			note(gametest.Refusals(t, p))
		}
	}
	for _, w := range refused {
		r, err := catalog.Rules(w.rules)
		if err != nil {
			t.Fatal(err)
		}
		p, err := game.Replay(r, w.position, strings.Fields(w.moves))
		if err != nil {
			t.Fatal(err)
		}
		for points, want := range w.why {
			why, err := p.(game.Refuser).Refusal(strings.Fields(points))
			if why != want || err != nil {
				t.Errorf("%s: %s is refused by %q, %v; want %q", p, points, why, err, want)
			}
		}
		note(gametest.Refusals(t, p))
	}
	for _, r := range game.Refusals {
		if !seen[r] {
			t.Errorf("nothing is refused by %s", r)
		}
	}
}

var refused = []struct {
	rules, position, moves string
	why                    map[string]game.Refusal
}{
	{"xiangqi/wxf", "", "", map[string]game.Refusal{
		"h2 e2": "", "h2": "", "e4": game.RefusedEmpty, "b9": game.RefusedNotYours, "b9 c7": game.RefusedNotYours, "a0 a0": game.RefusedSame,
		"a0 b0": game.RefusedOwnPiece, "a0 a5": game.RefusedBlocked, "a0 b1": game.RefusedRook, "e0 e2": game.RefusedKing, "d0 d1": game.RefusedAdvisor,
		"c0 d1": game.RefusedElephant, "b0 d1": game.RefusedLeg, "b0 b3": game.RefusedHorse, "b2 c4": game.RefusedCannon, "b2 b8": game.RefusedBlocked,
		"b2 b7": game.RefusedScreen, "b2 b9": "", "a3 b3": game.RefusedSideways, "a3 a2": game.RefusedBackward, "a3 a5": game.RefusedPawn}},
	{"xiangqi/wxf", "3k5/9/9/9/2b6/9/4P4/4B4/4A4/3AK4 w", "", map[string]game.Refusal{
		"e0 f0": "", "e1 f2": "", "d0 c1": game.RefusedPalace, "e2 g4": "", "e3 e4": "", "e0": ""}},
	{"xiangqi/wxf", "3k5/9/9/9/9/2B6/1N7/1P7/9/5K3 w", "", map[string]game.Refusal{
		"c4 e6": game.RefusedRiver, "c4 a2": game.RefusedEye, "f0 g0": game.RefusedPalace, "f0 d0": game.RefusedKing, "b3 c1": game.RefusedLeg}},
	{"xiangqi/wxf", "4k4/9/9/9/4P4/9/9/9/9/4K4 w", "", map[string]game.Refusal{"e5 d5": game.RefusedFacing, "e5": "", "e0 d0": ""}},
	{"xiangqi/wxf", "4r4/3k5/9/9/9/9/9/9/4R4/4K4 w", "", map[string]game.Refusal{"e1 d1": game.RefusedExposes, "e0 d0": game.RefusedFacing}},
	{"xiangqi/wxf", "4r4/3k5/9/9/9/9/9/9/9/R3K4 w", "", map[string]game.Refusal{
		"a0 a1": game.RefusedInCheck, "e0 e1": game.RefusedExposes, "e0 f0": "", "a0": game.RefusedInCheck}},
	{"xiangqi/wxf", "4r4/3k5/9/9/9/9/9/9/4N4/4K4 w", "", map[string]game.Refusal{"e1": game.RefusedExposes}},
	{"gomoku/freestyle-15", "", "h8 h9", map[string]game.Refusal{"h8": game.RefusedOccupied, "i8": ""}},
	{"gomoku/freestyle-15", "", "a1 b1 a2 b2 a3 b3 a4 b4 a5", map[string]game.Refusal{"h8": game.RefusedOver, "a1": game.RefusedOver}},
	{"gomoku/freestyle-15+swap2", "", "h8 h9 h10", map[string]game.Refusal{"i8": game.RefusedChoice, "h8": game.RefusedChoice}},
	{"gomoku/renju-15+rif", "", "", map[string]game.Refusal{"h8": "", "h9": game.RefusedTooFar}},
	{"gomoku/renju-15+rif", "", "h8 h9 h10 stay a1 offer:h7", map[string]game.Refusal{
		"h7": game.RefusedOffered, "h8": game.RefusedOccupied, "h6": ""}},
	{"gomoku/renju-15+rif", "", "h8 h9 h10 stay h7 offer:g8", map[string]game.Refusal{"i8": game.RefusedSymmetric, "g8": game.RefusedOffered, "i9": ""}},
	{"gomoku/renju-15+rif", "", "h8 h9 h10 stay h7 offer:g8 offer:g9", map[string]game.Refusal{"i8": game.RefusedNotOffer, "g8": "", "h8": game.RefusedOccupied}},
	{"amazons/10x10", "", "", map[string]game.Refusal{
		"d1": "", "a1": game.RefusedEmpty, "d10": game.RefusedNotYours, "d1 d1": game.RefusedSame, "d1 e3": game.RefusedQueen, "d1 d10": game.RefusedOccupied,
		"d1 h1": game.RefusedBlocked, "d1 d7": "", "d1 d7 d1": "", "d1 d7 d7": game.RefusedSame, "d1 d7 e9": game.RefusedShot,
		"d1 d7 d10": game.RefusedShotOccupied, "d1 d7 a10": "", "d1 c1 h1": game.RefusedShotBlocked, "d1 d9 d10": game.RefusedShotOccupied}},
	{"amazons/6x6", "q5/6/6/6/**4/Q*3Q w", "", map[string]game.Refusal{"a1": game.RefusedStuck, "b1": game.RefusedArrowThere, "f1": ""}},
}
