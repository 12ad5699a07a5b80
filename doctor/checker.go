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
	"sparring/pipe/external"
)

func (x *checker) starts() Finding {
	began := time.Now()
	pid, err := x.program.Ready()
	if err == nil {
		// Lines before this are not observed; odd ones are expected again when it
		// searches.
		return Finding{"start", Good, fmt.Sprintf("ready after %v, process %d",
			time.Since(began).Round(time.Millisecond), pid)}
	}
	text := err.Error()
	if fault, ok := errors.AsType[*engine.Fault](err); ok {
		text = fault.Text
		if strings.HasPrefix(text, "no ") && strings.Contains(text, "nothing received") && x.program.Unflushed() {
			text = "nothing comes before it ends: flush the output after every line (" + text + ")"
		}
	}
	return Finding{"start", Bad, text}
}

// untimedMove is the limit of a move for a protocol that sends no times.
const untimedMove = time.Minute

// short returns the limits of a short search.
func (x *checker) short() search.Limits {
	if x.spec.Dialect.Untimed() {
		return search.Limits{Hard: untimedMove}
	}
	return search.Limits{Hard: moveTime}
}

// search searches a position with the program when it is ready. The start position
// is that of a new game.
func (x *checker) search(p game.Position, l search.Limits) external.Answer {
	if p.Ply() == 0 {
		if err := x.program.NewGame(); err != nil {
			return external.Answer{Result: search.Result{Err: err}}
		}
	}
	a := x.program.Search(p, l)
	if x.incidents = append(x.incidents, a.Incidents...); a.Err == nil {
		x.asked++
	}
	return a
}

// moveTime is the time given for a move.
const moveTime = 200 * time.Millisecond

// opening is the number of moves that a program is asked for.
const opening = 6

func (x *checker) moves() Finding {
	p := x.start.Clone()
	var line []string
	plies := opening
	if x.spec.Dialect.Untimed() {
		plies = 1 // it may take as long as its own clock allows
	}
	for range plies {
		r := x.search(p, x.short())
		if r.Err != nil {
			f := x.failed("moves", r.Err)
			f.Text += hint(p, r.Text, r.Err)
			return f
		}
		if r.Resign {
			break
		}
		line = append(line, p.Format(r.Move))
		if p.Play(r.Move) != nil || p.Outcome().Over() || p.Play(p.Legal(nil)[0]) != nil || p.Outcome().Over() {
			break
		}
	}
	all := fmt.Sprintf("%d legal moves", len(line))
	if len(line) == 1 {
		all = "a legal move"
	}
	return Finding{"moves", Good, all + ": " + strings.Join(line, " ")}
}

func (x *checker) time() Finding {
	return x.timely("time", search.Limits{Hard: moveTime}, moveTime+moveTime/4, 2*moveTime, fmt.Sprintf("a move of %v", moveTime))
}

// lowClock is the time left on a short clock. With the rest of the game to come, a
// move must not take nearly all of it.
const lowClock = time.Second

func (x *checker) clock() Finding {
	spec := clock.Spec{Kind: clock.SuddenDeath, Initial: time.Minute}
	state := clock.State{Left: lowClock}
	l := search.Limits{Clock: &search.Clock{Spec: spec, Mine: state, Theirs: state}}
	return x.timely("clock", l, lowClock/2, lowClock*9/10, fmt.Sprintf("a move with %v left of %v", lowClock, spec.Initial))
}

// longWait is how long a program has to wait for a processor before that may be why it did
// not answer until it was told to stop.
const longWait = 50 * time.Millisecond

// tries is how often a late answer is tried again, for the machine may have been
// busy.
const tries = 3

// timely checks the time of an answer: up to good is fine, more than bad is a fault,
// unless that is the time for which it had no processor.
// An answer that comes only after the stop command is a fault, too, with the same
// exception: then the time was kept by us.
func (x *checker) timely(check string, l search.Limits, good, bad time.Duration, what string) Finding {
	if d := x.spec.Dialect; d.Untimed() {
		return Finding{check, Skip, string(d) + " sends no times"}
	}
	best, waited, forcedStop := time.Duration(math.MaxInt64), time.Duration(0), true
	pos := x.unusual(0)
	for range tries {
		if err := x.program.NewGame(); err != nil {
			return x.failed(check, err)
		}
		r := x.search(pos, l)
		if r.Err != nil {
			return x.failed(check, r.Err)
		}
		forcedStop = forcedStop && r.ForcedStop
		if r.Time < best {
			best, waited = r.Time, x.waited(r)
		}
		if best <= good && !forcedStop || best-waited > 2*bad {
			break
		}
	}
	text := fmt.Sprintf("%s took %v", what, best.Round(time.Millisecond))
	switch {
	case best > bad && best-waited <= bad, best > good && best-waited <= good,
		forcedStop && waited > longWait && best-waited <= good:
		return Finding{check, Skip, fmt.Sprintf("%s, of which it waited %v for a processor: this machine is too busy to tell",
			text, waited.Round(time.Millisecond))}
	case best > 3*bad/2:
		return Finding{check, Bad, text + ": it ignores its clock"}
	case forcedStop:
		return Finding{check, Bad, text + ": it searches until it is told to stop"}
	case best > bad:
		return Finding{check, Bad, text + ": too long"}
	case best > good:
		return Finding{check, Warn, text}
	}
	return Finding{check, Good, text}
}

func (x *checker) stop() Finding {
	if !x.spec.Dialect.Ponders() {
		return Finding{"stop", Skip, string(x.spec.Dialect) + " has no search without limits"}
	}
	f, tested := x.stopIn(x.unusual(0))
	if !tested && x.program.Ponders() {
		f, _ = x.stopIn(x.unusual(1)) // it may have seen an early end there
	}
	return f
}

// slowStop is how long after the stop command an answer may come. At a ponder hit it
// comes out of the time for the move.
const slowStop = 500 * time.Millisecond

// stopIn stops a search without limits in a position. Tested is false if the program
// ended the search before.
func (x *checker) stopIn(pos game.Position) (f Finding, tested bool) {
	if err := x.program.NewGame(); err != nil {
		return Finding{"stop", Bad, err.Error()}, true
	}
	s := x.program.StopAfter(pos, moveTime)
	odd := strings.Join(s.Odd, "; ")
	switch {
	case s.Err != nil:
		return x.failed("stop", s.Err), true
	case !s.Sent:
		return Finding{"stop", Warn, "not tested: " + odd}, false
	}
	text := fmt.Sprintf("answered %v after stop", s.Took.Round(time.Millisecond))
	switch {
	case odd != "":
		return Finding{"stop", Warn, text + "; " + odd}, true
	case s.Took > slowStop:
		return Finding{"stop", Warn, text + ": that time is missing at every ponder hit"}, true
	}
	return Finding{"stop", Good, text}, true
}

// unusualPlies is the length of a random opening that no book has.
const unusualPlies = 8

// unusual returns a position for which a program has to search: one after some random
// moves, or the start position if its protocol plays whole games alone.
func (x *checker) unusual(seed uint64) game.Position {
	if !x.spec.Dialect.SetsUp() {
		return x.start
	}
	for rng := rand.New(rand.NewPCG(seed, 0)); ; {
		p := x.start.Clone()
		for p.Ply() < unusualPlies {
			moves := p.Legal(nil)
			if p.Play(moves[rng.IntN(len(moves))]) != nil || p.Outcome().Over() {
				break
			}
		}
		if p.Ply() == unusualPlies && len(p.Legal(nil)) > 1 {
			return p
		}
	}
}

func (x *checker) output() Finding {
	if n, examples := x.program.Unknown(); n > 0 {
		return Finding{"output", Warn, fmt.Sprintf("%d lines that are not part of the protocol, such as %s: debug output belongs on stderr",
			n, strings.Join(examples, ", "))}
	}
	if odd := append(x.program.Odd(), x.incidents...); len(odd) > 0 {
		return Finding{"output", Warn, first(odd)}
	}
	return Finding{"output", Good, "only lines of the protocol"}
}

func (x *checker) memory() Finding {
	used, err := x.program.Memory()
	switch {
	case errors.Is(err, external.ErrNotMeasured):
		return Finding{"memory", Skip, err.Error()}
	case err != nil:
		return x.failed("memory", err)
	}
	text := fmt.Sprintf("%d MiB resident", used>>20)
	limit := x.spec.Memory
	if limit > 0 {
		text += fmt.Sprintf(", limit %d", limit>>20)
	}
	if limit > 0 && used > limit {
		return Finding{"memory", Bad, text}
	}
	return Finding{"memory", Good, text}
}

func (x *checker) children() Finding {
	// A search may start processes.
	if r := x.search(x.start, x.short()); r.Err != nil {
		return x.failed("children", r.Err)
	}
	running, zombies, err := x.program.Children()
	switch {
	case err != nil:
		return x.failed("children", err)
	case zombies > 0:
		return Finding{"children", Bad, fmt.Sprintf("%d zombies: it does not wait for its children", zombies)}
	case running > 0:
		return Finding{"children", Warn, fmt.Sprintf("processes that it has started: %d", running)}
	}
	return Finding{"children", Good, "none"}
}

func (x *checker) quit() Finding {
	if d := x.spec.Dialect; d.OneMove() {
		return Finding{"quit", Skip, "the processes of " + string(d) + " bots are ended after each move"}
	}
	q, err := x.program.Quit()
	switch {
	case err != nil:
		return x.failed("quit", err)
	case q.Left > 0:
		return Finding{"quit", Bad, fmt.Sprintf("processes left after its end: %d", q.Left)}
	case !q.Ended:
		return Finding{"quit", Warn, fmt.Sprintf("still running %v after %q, and killed", q.Within, q.Command)}
	}
	return Finding{"quit", Good, fmt.Sprintf("ended after %q", q.Command)}
}
