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
	return check(ctx, s, o, func(*checker) {}, report)
}

// Times that a sound program keeps on a busy machine, too.
const (
	startTime = 30 * time.Second
	graceTime = 10 * time.Second
	quitTime  = time.Second
)

// check is Check with a change of the checker before it begins.
func check(ctx context.Context, s external.Spec, o Options, change func(*checker), report func(Finding)) error {
	start, err := catalog.Setup(o.Game, rulesFor(s, o), "")
	if err != nil {
		return err
	}
	e, err := external.Examine(s, o.Game)
	if err != nil {
		return err
	}
	defer e.Close()
	e.SetTimes(startTime, graceTime, quitTime)
	x := &checker{program: e, spec: s, options: o, start: start, waited: func(a external.Answer) time.Duration { return a.Waited }}
	change(x)
	// Closing the engine ends every wait of a check.
	defer context.AfterFunc(ctx, func() { e.Close() })()
	for _, check := range []func() []Finding{one(x.starts), one(x.moves), one(x.time), one(x.clock), one(x.stop), x.rules, one(x.perft),
		one(x.soak), one(x.output), one(x.memory), one(x.children), one(x.quit)} {
		found := check()
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

func one(check func() Finding) func() []Finding {
	return func() []Finding { return []Finding{check()} }
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
	program *external.Examination
	spec    external.Spec
	options Options
	start   game.Position
	waited  func(external.Answer) time.Duration // how long a search was without a processor

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
