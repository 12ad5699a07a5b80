package play

import (
	"slices"
	"time"

	"sparring/game"
)

// mind is a search under way.
type mind struct {
	line    []string // the moves from the start position to the one searched
	base    game.Position
	thought Thought
	started time.Time
	hit     time.Time // when the pondering became a search for a move; zero: not yet
	ponders bool      // it began on the opponent's time
	done    chan thinking
	early   *thinking // the pondering has ended before the opponent moved
	// expected is the opponent's move that was pondered on before, in vain.
	expected string
}

// thinking is how a search ended.
type thinking struct {
	Result
	err error
}

// pondering reports whether the opponent is still to move.
func (m *mind) pondering() bool { return m.ponders && m.hit.IsZero() }

// found is where the result will come; nil, which blocks, for no mind.
func (m *mind) found() <-chan thinking {
	if m == nil {
		return nil
	}
	return m.done
}

// guess is what there is to ponder on once our move is played: the line with
// the reply that the search expects.
type guess struct {
	line []string
	pos  game.Position
}

// foresee notes the expected reply to a move, where we would be to act again.
func (s *Session) foresee(text string, after game.Position, r Result) {
	s.guess = nil
	if r.Ponder == game.NoMove || after.Outcome().Over() || after.Turn() == s.st.You || !s.player.Settings.Ponder {
		return
	}
	next, reply := after.Clone(), after.Format(r.Ponder)
	if next.Play(r.Ponder) != nil || next.Outcome().Over() || next.Turn() != s.st.You {
		return
	}
	s.guess = &guess{append(slices.Clone(s.moves), text, reply), next}
}

// ponder thinks on the opponent's time: on the guess, if it follows the moves
// played. Any other search ends.
func (s *Session) ponder(played []string) {
	on := func(line []string) bool {
		return len(line) == len(played)+1 && slices.Equal(line[:len(played)], played)
	}
	if s.mind != nil && s.mind.pondering() && on(s.mind.line) {
		return
	}
	s.stopThinking()
	if s.guess == nil || !on(s.guess.line) {
		return
	}
	g := s.guess
	s.guess = nil
	if err := s.search(g.line, g.pos, true); err != nil {
		s.log.Debug().Err(err).Msg("no pondering")
	}
}

// hit turns the pondering on this very position into the search for a move;
// a search for a move goes on.
func (s *Session) hit() {
	if !s.mind.pondering() {
		return
	}
	c, _ := s.clock()
	s.mind.hit = time.Now()
	s.mind.thought.PonderHit(c)
	if early := s.mind.early; early != nil {
		s.decided(*early)
	}
}

// search starts a search of the position that the line leads to.
func (s *Session) search(line []string, pos game.Position, ponder bool) error {
	t := Task{
		Player: s.player.ID, Engine: s.player.Settings.Engine, Game: s.id, Position: pos.Clone(), Ponder: ponder,
		Nodes: s.player.Settings.Nodes, Threads: s.player.Settings.Threads, Seed: s.seed(), Watch: s.look,
	}
	if !ponder {
		t.Clock, _ = s.clock()
	}
	thought, err := s.player.Think.Think(t)
	if err != nil {
		return err
	}
	m := &mind{
		line: slices.Clone(line), base: pos.Clone(), thought: thought,
		started: time.Now(), ponders: ponder, done: make(chan thinking, 1),
	}
	s.mind = m
	s.work.Go(func() {
		r, err := thought.Wait()
		m.done <- thinking{r, err}
	})
	return nil
}

// stopThinking ends the search under way; what it has learnt stays in the
// thinker's tables.
func (s *Session) stopThinking() {
	if s.mind != nil {
		s.mind.thought.Stop()
		s.mind = nil
	}
}

// look hands on how the search goes, the latest only. The thinker calls it.
func (s *Session) look(r Result) {
	select {
	case <-s.views:
	default:
	}
	select {
	case s.views <- r:
	default:
	}
}

// show emits how the search goes.
func (s *Session) show(r Result) {
	if m := s.mind; m != nil && s.player.Observe != nil {
		a := s.analyse(m, r)
		s.emit(Event{Kind: Thinking, Seat: s.st.You, Analysis: &a})
	}
}

// analyse is a result as others see it.
func (s *Session) analyse(m *mind, r Result) Analysis {
	a := Analysis{Result: r}
	if r.Depth == 0 {
		a.Score, a.WinProb = 0, 0 // no depth was finished: the move is a guess
	}
	if m == nil {
		return a
	}
	a.Line = lineText(m.base, r.PV)
	a.Pondering, a.PonderHit = m.pondering(), m.ponders && !m.hit.IsZero()
	a.Expected, a.Spent = m.expected, since(m.started)
	if m.ponders {
		a.Expected = m.line[len(m.line)-1]
	}
	if a.PonderHit {
		a.PonderSaved, a.Spent = min(m.hit.Sub(m.started), r.Time), since(m.hit)
	}
	return a
}

// lineText writes a line of moves from a position, as far as they are legal.
func lineText(from game.Position, line []game.Move) []string {
	p := from.Clone()
	var text []string
	for _, m := range line {
		t := p.Format(m)
		if p.Play(m) != nil {
			break
		}
		text = append(text, t)
	}
	return text
}
