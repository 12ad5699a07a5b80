package doctor

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/internal/texttable"
)

// The games of a soak.
const (
	soakMove    = 20 * time.Millisecond
	soakGame    = 12              // moves of a game at most, of the program
	soakOpening = 40              // random plies before, at most
	soakClock   = 2 * time.Second // of the moves that are played by a clock
	soakFaults  = 3               // faults after which it ends
	tooLate     = time.Second     // beyond its time, and the time that it had no processor
	oneIn       = 6               // how often something else than a plain move is asked
)

// soak is a run of many moves against random play: from the usual start and from positions
// of the rules, in new games, with takebacks, by depth, time and clock.
type soak struct {
	*checker
	rng    *rand.Rand
	all    []position
	left   int // moves
	games  int
	pos    game.Position
	late   []string
	faults []string
}

// soak asks for many moves.
func (x *checker) soak() Finding {
	switch {
	case x.options.Moves <= 0:
		return Finding{"soak", Skip, "not asked for (--moves)"}
	case x.spec.Dialect.OneMove() && x.options.Moves > maxUntimedSoak:
		return Finding{"soak", Skip, fmt.Sprintf("%s starts a process for each move: --moves %d at most",
			x.spec.Dialect, maxUntimedSoak)}
	}
	s := &soak{checker: x, rng: rand.New(rand.NewPCG(1, uint64(x.options.Moves))), left: x.options.Moves}
	if _, err := x.program.Ready(); err == nil && x.program.SetsUp() {
		s.all = of(x.positions, x.start.Rules().Name)
	}
	before := x.asked
	for s.left > 0 && len(s.faults) < soakFaults {
		if err := s.play(); err != nil {
			return Finding{"soak", Bad, err.Error()}
		}
	}
	return s.finding(x.asked - before)
}

// maxUntimedSoak bounds a soak in which every move is a process.
const maxUntimedSoak = 100

// play plays a game. The error is none of the program's.
func (s *soak) play() error {
	s.games++
	if err := s.program.NewGame(); err != nil {
		return err
	}
	s.pos = s.begin()
	for range soakGame {
		if s.left == 0 || s.pos.Outcome().Over() {
			return nil
		}
		s.left--
		if more := s.ask(); !more {
			return nil
		}
		legal := s.pos.Legal(nil)
		if len(legal) == 0 || s.pos.Play(legal[s.rng.IntN(len(legal))]) != nil {
			return nil
		}
		if s.spec.Dialect.SetsUp() && s.pos.Ply() > 2 && s.rng.IntN(oneIn) == 0 { // a takeback
			s.pos.Undo()
			s.pos.Undo()
		}
	}
	return nil
}

// begin returns the position in which a game begins: one with few moves, or one after
// random ones.
func (s *soak) begin() game.Position {
	if len(s.all) > 0 && s.rng.IntN(2) == 0 {
		if p, err := s.all[s.rng.IntN(len(s.all))].setUp(s.start.Rules().Name); err == nil {
			return p
		}
	}
	p := s.start.Clone()
	if !s.spec.Dialect.SetsUp() {
		return p
	}
	for range s.rng.IntN(soakOpening) {
		legal := p.Legal(nil)
		if p.Play(legal[s.rng.IntN(len(legal))]) != nil {
			break
		}
		if p.Outcome().Over() {
			p.Undo()
			break
		}
	}
	return p
}

// ask asks for a move and plays it. It returns false if the game can't go on.
func (s *soak) ask() bool {
	limits, within := s.limits()
	a := s.program.Search(s.pos, limits)
	s.incidents = append(s.incidents, a.Incidents...)
	if a.Err != nil {
		s.faults = append(s.faults, s.fault(a.Text, a.Err))
		return false
	}
	s.asked++
	if late := a.Time - s.waited(a); within > 0 && late > within+tooLate {
		s.late = append(s.late, fmt.Sprintf("a move of %v took %v", within, a.Time.Round(time.Millisecond)))
	}
	if a.Resign {
		return false
	}
	return s.pos.Play(a.Move) == nil
}

// limits returns those of the next move, and how long it may take; 0: it depends.
func (s *soak) limits() (l search.Limits, within time.Duration) {
	if s.spec.Dialect.Untimed() {
		return search.Limits{Hard: untimedMove}, 0
	}
	switch s.rng.IntN(oneIn) {
	case 0:
		if s.spec.Dialect.CheckLimits(0, ruleDepth) == nil {
			return search.Limits{Depth: ruleDepth, Hard: ruleTime}, 0
		}
	case 1:
		spec := clock.Spec{Kind: clock.Fischer, Initial: time.Minute, Increment: soakMove}
		left := clock.State{Left: soakClock}
		return search.Limits{Clock: &search.Clock{Spec: spec, Mine: left, Theirs: left}}, soakClock
	}
	return search.Limits{Hard: soakMove}, soakMove
}

// fault says what went wrong with a move.
func (s *soak) fault(move string, err error) string {
	text := err.Error()
	if fault, ok := errors.AsType[*engine.Fault](err); ok {
		text = faultText(fault)
		if _, why := broken(s.pos, move); fault.Kind == engine.FaultIllegal && why != "" {
			text = fmt.Sprintf("%s: %s; %s", move, why, text)
		}
	}
	return fmt.Sprintf("game %d, ply %d: %s", s.games, s.pos.Ply()+1, text)
}

// finding says how the soak went, and how much it has seen.
func (s *soak) finding(moves int) Finding {
	played := fmt.Sprintf("%s in %s", texttable.Count(moves, "move", "moves"), texttable.Count(s.games, "game", "games"))
	if n := len(s.faults); n > 0 {
		text := fmt.Sprintf("%s after %s: %s", texttable.Count(n, "fault", "faults"), played, strings.Join(s.faults, "; "))
		return Finding{"soak", Bad, text}
	}
	text := fmt.Sprintf("%s; with the %d before, a fault of 1 in %d would have been seen with 63 %%, of 1 in %d with 95 %%",
		played, s.asked-moves, s.asked, int(float64(s.asked)/-math.Log(0.05)))
	if len(s.late) > 0 {
		return Finding{"soak", Warn, text + "; late: " + first(s.late)}
	}
	return Finding{"soak", Good, text}
}
