package play

import (
	"fmt"
	"time"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
)

// activeSearch is a running search: for a move, or on the opponent's time.
type activeSearch struct {
	after    int           // plies before the position searched, including the expected one
	pos      game.Position // the position searched
	thought  *engine.Search
	started  time.Time
	ponders  bool       // it began on the opponent's time
	hit      time.Time  // when the pondering became a search for a move; zero: not yet
	expected string     // the opponent's move that is, or was, pondered on; "": none
	early    *searchEnd // the pondering ended before the opponent moved
}

// searchEnd is the end of a search.
type searchEnd struct {
	search.Result
	err error
}

// pondering reports whether the opponent is still to move.
func (a *activeSearch) pondering() bool { return a.ponders && a.hit.IsZero() }

// over returns the channel that is closed when the search has ended; nil, which blocks,
// without a search, or when its result is known.
func (a *activeSearch) over() <-chan struct{} {
	if a == nil || a.early != nil {
		return nil
	}
	return a.thought.Done()
}

// ponderTarget is the position to ponder on after our move: that after the reply
// which the search expects.
type ponderTarget struct {
	own   *decision
	reply string
	pos   game.Position
}

// setPonderTarget notes the expected reply to our move, if it is our turn after it.
// In an opening procedure nothing is expected.
func (s *Session) setPonderTarget(own *decision, after game.Position, expected game.Move) {
	s.target = nil
	if !s.player.Settings.Ponder || s.isCorrespondence() {
		return
	}
	if expected == game.NoMove || after.Outcome().Over() || after.Turn() == s.st.You {
		return
	}
	next, reply := after.Clone(), after.Format(expected)
	if next.Play(expected) != nil || next.Outcome().Over() || next.Turn() != s.st.You || opening.Running(next) {
		return
	}
	s.target = &ponderTarget{own, reply, next}
}

// ponder searches on the opponent's time, if our last move is the one that the
// target follows. Any other search ends.
func (s *Session) ponder() {
	played := s.game.plies
	if a := s.search; a != nil && a.pondering() && a.after == len(played)+1 {
		return
	}
	s.stopSearch()
	if s.isCorrespondence() {
		s.releaseEngine()
	}
	t := s.target
	if t == nil || len(played) != t.own.ply+1 || played[t.own.ply].move != t.own.move {
		return
	}
	s.target = nil
	if err := s.startSearch(t.pos, t.reply); err != nil {
		s.log.Debug().Err(err).Msg("no pondering")
	}
}

// ponderHit turns the pondering into the search for a move.
func (s *Session) ponderHit() {
	c := s.searchClock()
	s.search.hit = time.Now()
	s.search.thought.PonderHit(&c)
	if early := s.search.early; early != nil {
		s.handleResult(*early)
	}
}

// openGame opens the game with the player's engine, unless it is open.
func (s *Session) openGame() (err error) {
	if s.engine == nil {
		s.engine, err = s.player.NewGame(engine.GameOptions{
			ID: string(s.id), Rules: s.game.rules, Seed: s.seed(), Reproducible: s.player.Settings.Reproducible,
		})
	}
	return err
}

// releaseEngine closes the game with the engine until the next search. What it has learnt in
// the game is lost, which is little after days; the hash table is that of all games.
func (s *Session) releaseEngine() {
	g := s.engine
	if g == nil {
		return
	}
	s.engine, s.played = nil, g.Describe()
	stopped := s.stopped
	s.stopped = nil
	s.work.Go(func() {
		if stopped != nil {
			<-stopped.Done() // a search may use it until then
		}
		g.Close() // the error does not matter
	})
}

// startSearch searches the current position for a move or, with an expected move
// of the opponent, ponders on the position after it.
func (s *Session) startSearch(pos game.Position, expected string) error {
	if err := s.openGame(); err != nil {
		return err
	}
	a := &activeSearch{
		after: len(s.game.plies), pos: pos.Clone(), expected: expected, ponders: expected != "",
		started: time.Now(),
	}
	r := engine.Request{
		Game: s.engine, Position: pos, Ponder: a.ponders, Watch: s.keepInfo,
		Limits: search.Limits{Nodes: s.player.Settings.Nodes, Threads: s.player.Settings.Threads},
	}
	if a.ponders {
		a.after++
	} else {
		c := s.searchClock()
		r.Clock = &c
	}
	thought, err := s.player.Pool.Start(r)
	if err != nil {
		return err
	}
	a.thought, s.search = thought, a
	return nil
}

// noteIncidents logs the engine's incidents and keeps them for the record of the next
// move.
func (s *Session) noteIncidents(incidents []string) {
	for _, text := range incidents {
		s.log.Warn().Str("incident", text).Int("ply", len(s.game.plies)).Str("engine", s.player.Settings.Engine).Msg("the engine misbehaved")
		s.player.Tally.Fault(fmt.Sprintf("game %s: the engine misbehaved: %s", s.id, text))
	}
	s.incidents = append(s.incidents, incidents...)
}

// stopSearch ends the running search. The game keeps its hash table and histories.
func (s *Session) stopSearch() {
	a := s.search
	if s.search = nil; a == nil || a.early != nil {
		return
	}
	a.thought.Stop()
	s.stopped = a.thought
	s.work.Go(func() { // the session does not end before it
		if r, _ := a.thought.Wait(); len(r.Incidents) > 0 {
			s.post(func() { s.noteIncidents(r.Incidents) })
		}
	})
}

// keepInfo keeps the latest progress of the search. The engine calls it.
func (s *Session) keepInfo(i search.Info) {
	select {
	case <-s.infos:
	default:
	}
	select {
	case s.infos <- i:
	default:
	}
}

// emitInfo emits the progress of the search.
func (s *Session) emitInfo(i search.Info) {
	a := s.search
	if a == nil || s.player.Observe == nil {
		return
	}
	think := s.thought(a, search.Result{
		Score: i.Score, WinProb: i.WinProb, Depth: i.Depth, SelDepth: i.SelDepth,
		Nodes: i.Nodes, Time: i.Time, PV: i.PV, Source: search.FromSearch,
	})
	s.emit(Event{Kind: Thinking, Seat: s.st.You, Think: &think})
}

// thought returns a result as others see it; a is nil without a search.
func (s *Session) thought(a *activeSearch, r search.Result) Think {
	r.Lines = nil // not used, and it is kept as long as the game
	think := Think{Result: r}
	if !r.Judges() {
		think.Score, think.WinProb = 0, 0 // the move is a guess
	}
	if a == nil {
		return think
	}
	think.Line = game.FormatLine(a.pos, "", r.PV)
	think.Pondering, think.PonderHit = a.pondering(), a.ponders && !a.hit.IsZero()
	think.Expected, think.Spent = a.expected, since(a.started)
	if think.PonderHit {
		think.PonderSaved, think.Spent = min(a.hit.Sub(a.started), r.Time), since(a.hit)
	}
	return think
}
