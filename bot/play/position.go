package play

import (
	"fmt"
	"slices"

	"sparring/game"
	"sparring/protocol"
)

// gameState is the game so far: the platform's moves, played by our rules. The rest
// of a session refers to it by the number of plies.
type gameState struct {
	rules     *game.Rules
	start     string // text of the start position; "" is the usual one
	plies     []ply
	pos       game.Position  // after plies; nil if our rules refuse the platform's next move
	continued []game.Outcome // ends by our rules after which the platform played on
	decided   *decision      // the latest own one; what it thought goes to the ply once it is played
}

// ply is a move that was played.
type ply struct {
	move    string
	seat    game.Seat
	key     string            // of the position after it
	think   *Think            // of an own move
	receipt *protocol.Receipt // of an own move
}

// decision is a move to play after a number of plies.
type decision struct {
	ply   int
	move  string
	key   string // of the position after it
	think *Think
}

// update plays the platform's moves and calls dispute, with a number of plies, if our
// rules differ there. It returns the number of unchanged plies.
func (g *gameState) update(moves []string, playing bool, dispute func(ply int, why string)) (kept int) {
	for kept < min(len(g.plies), len(moves)) && g.plies[kept].move == moves[kept] {
		kept++
	}
	at := kept
	if g.pos == nil || kept < len(g.plies) {
		// After a takeback, too: the rules that playOn has left out apply again.
		at = 0
		g.pos, _ = g.rules.New(g.start) // checked by begin
	}
	g.plies = g.plies[:kept]
	for ; at < len(moves); at++ {
		g.playOn(at, dispute)
		if err := g.play(at, moves[at]); err != nil {
			dispute(at, err.Error())
			g.pos = nil
			return kept
		}
	}
	if playing {
		g.playOn(at, dispute)
	}
	return kept
}

// play makes the move after n plies.
func (g *gameState) play(n int, text string) error {
	seat := g.pos.Turn()
	if _, err := game.PlayText(g.pos, text); err != nil {
		return err
	}
	if n < len(g.plies) {
		return nil // the position is set up again
	}
	p := ply{move: text, seat: seat, key: game.KeyText(g.pos.Key())}
	if d := g.decided; d != nil && d.ply == n && d.move == text {
		p.think = d.think
	}
	g.plies = append(g.plies, p)
	return nil
}

// playOn continues a game that is over by our rules, but not by the platform's, after
// n plies. Each kind of end is disputed once: insufficient material, for one, would
// end the game again after every move.
func (g *gameState) playOn(n int, dispute func(ply int, why string)) {
	out := g.pos.Outcome()
	if !out.Over() {
		return
	}
	if !slices.Contains(g.continued, out) {
		g.continued = append(g.continued, out)
		dispute(n, fmt.Sprintf("%s by %s, the platform plays on", out.Result, out.Reason))
	}
	game.PlayOn(g.pos)
}

// charged notes how the clock was charged for the move after n plies.
func (g *gameState) charged(n int, move string, r *protocol.Receipt) {
	if r != nil && n < len(g.plies) && g.plies[n].move == move {
		g.plies[n].receipt = r
	}
}
