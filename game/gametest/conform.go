package gametest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sparring/game"
)

// Plies of the games that Conform plays: to the end under the default rules, only
// the beginning under the others.
const (
	whole = 1000
	part  = 24
)

// Conform plays random games under each of the rule sets that a game's row
// lists, and checks every position against the contract of package game: texts
// and keys read back, moves and errors, Undo, Clone, and the game's history.
func Conform(t *testing.T, g game.Game) {
	t.Helper()
	for i, name := range slices.Concat([]string{g.Default}, g.Sets, g.Common, g.Lenient) {
		r, err := g.Rules(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Name != name || r.Game != g.Name || !strings.HasPrefix(name, g.Name+"/") {
			t.Errorf("%s is called %s of %s", name, r.Name, r.Game)
		}
		c := conformer{t, g, r, rand.New(rand.NewPCG(uint64(i), 1)), part}
		if i == 0 {
			c.plies = whole
		}
		start := c.set("")
		if start.Turn() != game.First || start.Ply() != 0 {
			t.Errorf("%s: the start %s has turn %s, ply %d", name, start, start.Turn(), start.Ply())
		}
		mid := c.play(start, "")
		if mid != nil {
			c.play(mid, mid.String())
		}
		implied, err := g.RulesFor(c.set("").String())
		if err == nil {
			_, err = g.Rules(implied)
		}
		if err != nil {
			t.Errorf("%s: the rules %q that its start implies: %v", name, implied, err)
		}
	}
	if name, err := g.RulesFor(""); name != g.Default || err != nil {
		t.Errorf("%s: no position implies %q, %v; want the default %s", g.Name, name, err, g.Default)
	}
	for _, name := range []string{"", g.Name, g.Name + "/", g.Name + "/nonesuch", "nonesuch/" + g.Name, g.Default + "+nonesuch"} {
		if r, err := g.Rules(name); !errors.Is(err, game.ErrRules) {
			t.Errorf("rules %q: %v, %v; want ErrRules", name, r, err)
		}
	}
}

// conformer plays and checks games under one rule set.
type conformer struct {
	t     *testing.T
	game  game.Game
	rules *game.Rules
	rng   *rand.Rand
	plies int
}

// set sets a position up.
func (c *conformer) set(text string) game.Position {
	c.t.Helper()
	p, err := c.rules.New(text)
	if err != nil {
		c.t.Fatalf("%s: position %q: %v", c.rules.Name, text, err)
	}
	return p
}

// play plays a random game from p, which the text from sets up, and checks every
// position. It returns a new position with the board after some plies, nil if
// the game has ended before.
func (c *conformer) play(p game.Position, from string) (mid game.Position) {
	c.t.Helper()
	for ply := range c.plies {
		c.position(p)
		if p.Outcome().Over() {
			break
		}
		legal := p.Legal(nil)
		if err := p.Play(legal[c.rng.IntN(len(legal))]); err != nil {
			c.t.Fatalf("%s: %s: %v", c.rules.Name, p, err)
		}
		if again := c.set(p.String()); ply == part/2 && !again.Outcome().Over() {
			mid = again
		}
	}
	if c.plies == whole && !p.Outcome().Over() {
		c.t.Errorf("%s: no end after %d plies", c.rules.Name, p.Ply())
	}
	start, moves := game.History(p)
	if start != from || len(moves) != p.Ply() {
		c.t.Errorf("%s: from %q, %d moves; want %q, %d", c.rules.Name, start, len(moves), from, p.Ply())
	}
	again, err := game.Replay(c.rules, start, moves)
	if err != nil {
		c.t.Fatalf("%s: %q %v: %v", c.rules.Name, start, moves, err)
	}
	c.same(again, look(p), "a replay")
	return mid
}

// view is everything that a position's methods show.
type view struct {
	key     uint64
	text    string
	diagram string
	turn    game.Seat
	outcome game.Outcome
	played  []game.Move
	legal   []game.Move
}

func look(p game.Position) view {
	return view{p.Key(), p.String(), p.Diagram(), p.Turn(), p.Outcome(), p.Played(nil), p.Legal(nil)}
}

func (c *conformer) same(p game.Position, want view, after string) {
	c.t.Helper()
	got := look(p)
	if got.key != want.key || got.text != want.text || got.diagram != want.diagram || got.turn != want.turn || got.outcome != want.outcome ||
		!slices.Equal(got.played, want.played) || !slices.Equal(got.legal, want.legal) || p.Ply() != len(want.played) {
		c.t.Fatalf("%s: after %s %+v, want %+v", c.rules.Name, after, got, want)
	}
}

// position checks one position.
func (c *conformer) position(p game.Position) {
	c.t.Helper()
	now := look(p)
	if again := c.set(now.text); again.Key() != now.key || again.String() != now.text || again.Turn() != now.turn || again.Ply() != 0 {
		c.t.Fatalf("%s: %q is read back as %q, turn %s, ply %d", c.rules.Name, now.text, again, again.Turn(), again.Ply())
	}
	for _, text := range []string{"", "no move", strings.Repeat("x", 5000)} {
		_, err := game.PlayText(p, text)
		if !errors.Is(err, game.ErrSyntax) || len(err.Error()) > 400 {
			c.t.Fatalf("%s: move %.20q: %.400v; want a short ErrSyntax", c.rules.Name, text, err)
		}
	}
	c.same(p, now, "texts of no move")
	if now.outcome.Over() {
		if len(now.legal) > 0 || !slices.Contains(c.game.Reasons, now.outcome.Reason) {
			c.t.Fatalf("%s: %s is over by %q with %d moves", c.rules.Name, p, now.outcome.Reason, len(now.legal))
		}
		if len(now.played) == 0 {
			return
		}
		if err := p.Play(now.played[len(now.played)-1]); !errors.Is(err, game.ErrOver) {
			c.t.Fatalf("%s: a move after the end of %s: %v; want ErrOver", c.rules.Name, p, err)
		}
		return
	}
	distinct := slices.Sorted(slices.Values(now.legal))
	if len(slices.Compact(distinct)) != len(now.legal) || len(now.legal) == 0 || distinct[0] == game.NoMove {
		c.t.Fatalf("%s: the moves of %s: %#x", c.rules.Name, p, now.legal)
	}
	if err := p.Play(game.NoMove); !errors.Is(err, game.ErrIllegal) {
		c.t.Fatalf("%s: NoMove in %s: %v; want ErrIllegal", c.rules.Name, p, err)
	}
	c.same(p, now, "an illegal move")
	for _, i := range c.rng.Perm(len(now.legal))[:min(len(now.legal), 5)] {
		m := now.legal[i]
		clone := p.Clone()
		if played, err := game.PlayText(clone, p.Format(m)); played != m || err != nil {
			c.t.Fatalf("%s: %q in %s is read as %#x, %v; want %#x", c.rules.Name, p.Format(m), p, played, err, m)
		}
		c.same(p, now, "a move of its clone")
		if err := p.Play(m); err != nil {
			c.t.Fatalf("%s: %s in %s: %v", c.rules.Name, p.Format(m), p, err)
		}
		c.same(p, look(clone), "a move that its clone made too")
		lost := p.Outcome().Result == game.WonBy(now.turn.Other())
		p.Undo()
		if s, ok := p.(game.SelfLoser); lost && ok && !s.MayLose(m) {
			c.t.Fatalf("%s: %s in %s loses at once", c.rules.Name, p.Format(m), p)
		}
		c.same(p, now, "Undo")
	}
}
