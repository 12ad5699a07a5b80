package frontend

import (
	"fmt"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

// platformGame is a game on a platform that sends one move at a time and no clocks.
// It keeps the moves, and its own clock.
type platformGame struct {
	s     *session
	rules *game.Rules // nil before a game
	moves []string    // of both sides, in our notation
	clock clock.Spec
	left  clock.State
	began time.Time      // when the current move was requested
	seen  map[uint64]int // how often each position has occurred
}

// begin starts a new game. The options override the platform's usual rules and
// clock.
func (m *platformGame) begin(rules string, usual clock.Spec) error {
	o := &m.s.o
	if o.Rules != "" {
		rules = o.Rules
	}
	r, err := catalog.Rules(rules)
	if err != nil {
		return err
	}
	if o.Game != "" && r.Game != o.Game {
		return fmt.Errorf("%w: %s is not played with rules %s", game.ErrRules, o.Game, r.Name)
	}
	m.rules, m.moves, m.clock = r, nil, usual
	if o.Clock != (clock.Spec{}) {
		m.clock = o.Clock
	}
	m.left = m.clock.Start()
	return nil
}

// setUp sets the session's position after the moves. The game continues even if it is
// over by our rules: the platform decides.
func (m *platformGame) setUp() error {
	m.s.pos, m.seen = nil, map[uint64]int{}
	p, err := m.rules.New("")
	if err != nil {
		return err
	}
	for _, text := range m.moves {
		game.PlayOn(p)
		m.seen[p.Key()]++
		if _, err := game.PlayText(p, text); err != nil {
			return err
		}
	}
	game.PlayOn(p)
	m.seen[p.Key()]++
	m.s.pos = p
	return nil
}

// think starts the search for a move, among moves if there are any.
func (m *platformGame) think(moves []game.Move) {
	m.began = m.s.readAt
	c := &engine.Clock{Spec: m.clock, Mine: m.left, Theirs: m.left, Overhead: m.s.o.Overhead}
	if t := m.clock.Traits(); t.Limited && !t.Saves {
		c = fixedClock(t.Period, m.s.o.Overhead)
	}
	m.s.think(search.Limits{Nodes: m.s.o.Nodes, Moves: moves}, c)
}

// played plays our move and charges our clock.
func (m *platformGame) played(move game.Move) string {
	text := m.s.pos.Format(move)
	m.moves = append(m.moves, text)
	m.left, _ = m.clock.Charge(m.left, time.Since(m.began))
	return text
}
