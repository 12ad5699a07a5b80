package trees

import (
	"math/rand/v2"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// sample is a random sample of the positions that a search evaluates: each of them has
// the same chance (a reservoir).
type sample struct {
	moves bool // of those whose moves the search runs through, instead
	most  int
	rng   *rand.Rand
	seen  int
	// lines lead to the positions from the root of the search.
	lines [][]game.Move
}

func (s *sample) add(line []game.Move) {
	s.seen++
	if len(s.lines) < s.most {
		s.lines = append(s.lines, slices.Clone(line))
	} else if i := s.rng.IntN(s.seen); i < s.most {
		s.lines[i] = slices.Clone(line)
	}
}

// sampled is a position that adds itself to a sample where it is evaluated: not after
// a null move, nor where the end is settled or the side to move is not free to choose,
// because there a static evaluation means little. A search of it by one thread is that
// of the position alone.
type sampled struct {
	search.Position
	to     *sample
	line   []game.Move // from the root; NoMove is a null move
	passes int         // null moves in it
	// unsettled tells for the root and after each move of the line whether the
	// position may be sampled, by its node.
	unsettled []bool
}

// sampling returns a position that samples to s what is evaluated below it. It has the
// optional methods that p has, except that of search.KeyPrefetcher, which saves nothing in a
// small tree.
func sampling(p search.Position, s *sample) search.Position {
	return withOptional(&sampled{Position: p, to: s, unsettled: make([]bool, 1)})
}

func withOptional(s *sampled) search.Position {
	see, exchanges := s.Position.(search.StaticExchanger)
	prover, proves := s.Position.(search.Prover)
	switch {
	case exchanges && proves:
		return struct {
			*sampled
			search.StaticExchanger
			search.Prover
		}{s, see, prover}
	case exchanges:
		return struct {
			*sampled
			search.StaticExchanger
		}{s, see}
	case proves:
		return struct {
			*sampled
			search.Prover
		}{s, prover}
	}
	return s
}

// Enter implements search.Position.
func (s *sampled) Enter() search.Node {
	node := s.Position.Enter()
	s.unsettled[len(s.line)] = !node.Over && !node.Forced
	return node
}

// Eval implements search.Position.
func (s *sampled) Eval() search.Score {
	s.meet(false)
	return s.Position.Eval()
}

// Moves implements search.Position. What only looks for noisy moves asks no policy.
func (s *sampled) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	if c.Mode != search.Noisy && c.Stage == 0 {
		s.meet(true)
	}
	return s.Position.Moves(buf, c)
}

// meet adds the position if it is of the kind that is drawn from, and may be sampled.
func (s *sampled) meet(moves bool) {
	if moves == s.to.moves && s.passes == 0 && s.unsettled[len(s.line)] {
		s.to.add(s.line)
	}
}

// Do implements search.Position.
func (s *sampled) Do(m game.Move) {
	s.Position.Do(m)
	s.push(m)
}

// Undo implements search.Position.
func (s *sampled) Undo(m game.Move) {
	s.Position.Undo(m)
	s.pop()
}

// Pass implements search.Position.
func (s *sampled) Pass() {
	s.Position.Pass()
	s.push(game.NoMove)
	s.passes++
}

// Unpass implements search.Position.
func (s *sampled) Unpass() {
	s.Position.Unpass()
	s.pop()
	s.passes--
}

func (s *sampled) push(m game.Move) {
	s.line = append(s.line, m)
	s.unsettled = append(s.unsettled, false)
}

func (s *sampled) pop() {
	s.line = s.line[:len(s.line)-1]
	s.unsettled = s.unsettled[:len(s.unsettled)-1]
}

// Clone implements search.Position. The copy adds to the same sample.
func (s *sampled) Clone() search.Position {
	c := *s
	c.Position = s.Position.Clone()
	c.line, c.unsettled = slices.Clone(s.line), slices.Clone(s.unsettled)
	return withOptional(&c)
}
