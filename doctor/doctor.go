// Package doctor examines engine programs: is one fit to play? [Check] asks it for moves
// in ordinary positions and in positions in which the rules are easily broken, tests its
// clock, its output and its end, and lets it play on until a rare fault would have been
// seen. [Games.Run] plays games with it as a bot does on the ladder.
//
// What is found is a [Finding]: a fault costs games, a warning does not. What a finding
// says is made for the author of the program: what was sent, what came back, and which
// rule that breaks.
package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Good Verdict = "ok"
	Warn Verdict = "warn"  // it can play, but does something odd
	Bad  Verdict = "FAULT" // it would lose games
	Skip Verdict = "skip"  // not checked: its protocol does not support this, or an earlier fault prevents it
)

// Finding is the result of one check of an engine.
type Finding struct {
	Check   string // "start", "moves", "rules", "perft", "time", "clock", "stop", "soak", "output", "memory", "children", "quit"
	Verdict Verdict
	Text    string // what was seen; for a fault, what was sent and what came back
}

// Options are what a check is about.
type Options struct {
	Game  string // its name in the catalog
	Rules string // the rule set, with its game; "": the only one of the protocol, or the game's default
	Moves int    // how many moves the soak asks for; 0: none
}

// DefaultMoves is a soak that finds what happens once in 60 moves in 96 of 100 runs. It
// takes some ten seconds.
const DefaultMoves = 200

// Check tests whether a program can play a game, and reports each finding as it comes. It
// takes half a minute, besides a longer soak. The error is that of external.Open, or the
// context's.
func Check(ctx context.Context, s external.Spec, o Options, report func(Finding)) error {
	x, err := newChecker(s, o, patience)
	if err != nil {
		return err
	}
	defer x.program.Close()
	return x.run(ctx, steps, report)
}

// patience is what a sound program needs on a busy machine at most.
var patience = external.Patience{Start: 30 * time.Second, Grace: 10 * time.Second, Quit: 5 * time.Second}

// steps are the checks, in their order.
var steps = []step{
	{"start", one((*checker).starts)},
	{"moves", one((*checker).moves)},
	{"time", one((*checker).time)},
	{"clock", one((*checker).clock)},
	{"stop", one((*checker).stop)},
	{"rules", (*checker).rules},
	{"perft", one((*checker).perft)},
	{"soak", one((*checker).soak)},
	{"output", one((*checker).output)},
	{"memory", one((*checker).memory)},
	{"children", one((*checker).children)},
	{"quit", one((*checker).quit)},
}

// step is a check, which makes findings of its name.
type step struct {
	name string
	run  func(*checker) []Finding
}

// one returns the function of a step that makes one finding.
func one(run func(*checker) Finding) func(*checker) []Finding {
	return func(x *checker) []Finding { return []Finding{run(x)} }
}

// newChecker begins the examination of a program. Close its program.
func newChecker(s external.Spec, o Options, w external.Patience) (*checker, error) {
	start, err := catalog.Setup(o.Game, rulesFor(s, o), "")
	if err != nil {
		return nil, err
	}
	positions, err := positionsOf(o.Game)
	if err != nil {
		return nil, err
	}
	e, err := external.Examine(s, o.Game, w)
	if err != nil {
		return nil, err
	}
	return &checker{program: e, spec: s, options: o, start: start, positions: positions,
		waited: func(a external.Answer) time.Duration { return a.Waited }}, nil
}

// run takes the steps and reports each finding as it comes. The error is the context's.
func (x *checker) run(ctx context.Context, steps []step, report func(Finding)) error {
	// Closing the engine ends every wait of a check.
	defer context.AfterFunc(ctx, func() { x.program.Close() })()
	for _, step := range steps {
		found := step.run(x)
		if err := ctx.Err(); err != nil {
			return err // the finding was caused by closing the engine
		}
		for _, f := range found {
			report(f)
			if f.Check == "start" && f.Verdict == Bad {
				return nil // nothing else can be checked
			}
		}
	}
	return nil
}

// rulesFor returns the rule set of a check.
func rulesFor(s external.Spec, o Options) string {
	if o.Rules != "" {
		return o.Rules
	}
	return s.Dialect.Rules(o.Game)
}

// checker is a check under way.
type checker struct {
	program   *external.Examination
	spec      external.Spec
	options   Options
	start     game.Position
	positions []position                          // in which a rule of the game is easily broken
	waited    func(external.Answer) time.Duration // how long a search was without a processor

	seen      []engine.FaultKind
	asked     int      // moves that the program was asked for and gave
	incidents []string // of searches for a move
}

// failed returns the finding of a check that ended by a fault. A fault of a kind seen
// before is not counted again.
func (x *checker) failed(check string, err error) Finding {
	fault, ok := errors.AsType[*engine.Fault](err)
	if !ok {
		return Finding{check, Bad, err.Error()}
	}
	if slices.Contains(x.seen, fault.Kind) {
		return Finding{check, Skip, "ended by the same fault as above: " + string(fault.Kind)}
	}
	x.seen = append(x.seen, fault.Kind)
	return Finding{check, Bad, faultText(fault)}
}

func faultText(f *engine.Fault) string { return string(f.Kind) + ": " + f.Text }

// first joins the first texts of a list.
func first(texts []string) string {
	return strings.Join(texts[:min(len(texts), maxExamples)], "; ")
}

// maxExamples is how many texts a finding quotes.
const maxExamples = 3
