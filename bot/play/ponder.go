package play

import (
	"time"

	"sparring/engine"
	"sparring/game"
)

// mind is a search under way.
type activeSearch struct {
	after   int           // plies before the position searched; the expected one included
	pos     game.Position // the one searched
	thought Thought
	started time.Time
	hit     time.Time // when the pondering became a search for a move; zero: not yet
	ponders bool      // it began on the opponent's time
	done    chan searchEnd
	early   *searchEnd // the pondering has ended before the opponent moved
	// expected is the opponent's move that is pondered on, or was in vain.
	expected string
}

// thinking is how a search ended.
type searchEnd struct {
	Result
	err error
}

// pondering reports whether the opponent is still to move.
func (m *activeSearch) pondering() bool { return m.ponders && m.hit.IsZero() }

// found is where the result will come; nil, which blocks, for no mind.
func (m *activeSearch) result() <-chan searchEnd {
	if m == nil {
		return nil
	}
	return m.done
}

// ponderTarget is what there is to ponder on once our move has been played: the
// position after the reply that the search expects.
type ponderTarget struct {
	own   *decision
	reply string
	pos   game.Position
}

// setPonderTarget notes the expected reply to our move, if it is our turn after it.
func (s *Session) setPonderTarget(own *decision, after game.Position, expected game.Move) {
	s.target = nil
	if expected == game.NoMove || after.Outcome().Over() || after.Turn() == s.st.You || !s.player.Settings.Ponder {
		return
	}
	next, reply := after.Clone(), after.Format(expected)
	if next.Play(expected) != nil || next.Outcome().Over() || next.Turn() != s.st.You {
		return
	}
	s.target = &ponderTarget{own, reply, next}
}

// ponder searches on the opponent's time, if our last move is the one that the
// target follows. Any other search ends.
func (s *Session) ponder() {
	played := s.game.plies
	if m := s.search; m != nil && m.pondering() && m.after == len(played)+1 {
		return
	}
	s.stopThinking()
	t := s.target
	if t == nil || len(played) != t.own.ply+1 || played[t.own.ply].move != t.own.move {
		return
	}
	s.target = nil
	if err := s.startSearch(t.pos, t.reply); err != nil {
		s.log.Debug().Err(err).Msg("no pondering")
	}
}

// hit turns the pondering on this very position into the search for a move;
// a search for a move goes on.
func (s *Session) ponderHit() {
	if !s.search.pondering() {
		return
	}
	c, _ := s.clock()
	s.search.hit = time.Now()
	s.search.thought.PonderHit(c)
	if early := s.search.early; early != nil {
		s.handleResult(*early)
	}
}

// startSearch searches the current position for a move or, with an expected move
// of the opponent, ponders on the position after it.
func (s *Session) startSearch(pos game.Position, expected string) error {
	ponder := expected != ""
	t := Task{
		Position: pos.Clone(), Ponder: ponder, Nodes: s.player.Settings.Nodes, Threads: s.player.Settings.Threads, Watch: s.keepInfo,
	}
	if !ponder {
		t.Clock, _ = s.clock()
	}
	if err := s.openGame(); err != nil {
		return err
	}
	thought, err := s.thinker.Think(t)
	if err != nil {
		return err
	}
	m := &activeSearch{
		after: len(s.game.plies), pos: pos.Clone(), thought: thought, expected: expected,
		started: time.Now(), ponders: ponder, done: make(chan searchEnd, 1),
	}
	if ponder {
		m.after++
	}
	s.search = m
	s.work.Go(func() {
		r, err := thought.Wait()
		m.done <- searchEnd{r, err}
	})
	return nil
}

// openGame opens the game with who thinks, unless it is open.
func (s *Session) openGame() (err error) {
	if s.thinker == nil {
		s.thinker, err = s.player.Think.NewGame(s.player.Settings.Engine,
			engine.GameOptions{ID: string(s.id), Rules: s.game.rules, Seed: s.seed()})
	}
	return err
}

// stopThinking ends the search under way; what it has learnt stays in the
// thinker's tables.
func (s *Session) stopThinking() {
	if s.search != nil {
		s.search.thought.Stop()
		s.search = nil
	}
}

// look hands on how the search goes, the latest only. The thinker calls it.
func (s *Session) keepInfo(r Result) {
	select {
	case <-s.infos:
	default:
	}
	select {
	case s.infos <- r:
	default:
	}
}

// show emits how the search goes.
func (s *Session) emitInfo(r Result) {
	if m := s.search; m != nil && s.player.Observe != nil {
		a := s.analyse(m, r)
		s.emit(Event{Kind: Thinking, Seat: s.st.You, Analysis: &a})
	}
}

// analyse is a result as others see it.
func (s *Session) analyse(m *activeSearch, r Result) Analysis {
	a := Analysis{Result: r}
	if r.Depth == 0 {
		a.Score, a.WinProb = 0, 0 // no depth was finished: the move is a guess
	}
	if m == nil {
		return a
	}
	a.Line = lineText(m.pos, r.PV)
	a.Pondering, a.PonderHit = m.pondering(), m.ponders && !m.hit.IsZero()
	a.Expected, a.Spent = m.expected, since(m.started)
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
