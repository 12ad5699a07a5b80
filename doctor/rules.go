package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// Limits of a search in a position of the rules: enough to see a piece that can be taken.
const (
	ruleDepth = 3
	ruleTime  = 100 * time.Millisecond
)

// maxBroken is how many positions of a rule may be answered wrongly before no more of it are
// asked: each starts the program again.
const maxBroken = 2

// maxFailed is how often a program may hang or crash there.
const maxFailed = 2

// rules asks for moves in positions in which a rule is easily broken. What a program does
// under rules that it was not asked about is no fault of it.
func (x *checker) rules() []Finding {
	if _, err := x.program.Ready(); err == nil && !x.program.SetsUp() {
		return []Finding{{"rules", Skip, "it can't be given a position: it plays from the usual start alone"}}
	}
	var found []Finding
	primary := x.start.Rules().Name
	for _, set := range ruleSets(x.positions, primary) {
		some := of(x.positions, set)
		if len(some) == 0 {
			found = append(found, Finding{"rules", Skip, "no positions for " + set})
			continue
		}
		f := x.keepsRules(set, some)
		if f.Verdict == Bad && set != primary {
			f.Verdict, f.Text = Skip, fmt.Sprintf("not for %s, which --rules would make a fault: %s", set, f.Text)
		}
		found = append(found, f)
	}
	return found
}

// ruleCount counts the positions in which a rule was broken.
type ruleCount struct {
	asked, wrong int
	of           map[string]int // wrong answers, by what the position is about
	broken       []string       // rules, in the order of their first example
	examples     map[string]string
	failures     []string
}

// keepsRules asks for a move in each position.
func (x *checker) keepsRules(set string, some []position) Finding {
	c := ruleCount{of: map[string]int{}, examples: map[string]string{}}
	for _, at := range some {
		if c.of[at.rule] >= maxBroken || len(c.failures) >= maxFailed {
			continue
		}
		p, err := at.setUp(set)
		if err != nil {
			return Finding{"rules", Bad, err.Error()}
		}
		a := x.search(p, x.ruleLimits())
		c.asked++
		switch fault, ok := errors.AsType[*engine.Fault](a.Err); {
		case a.Err != nil && !ok: // it has no word for these rules
			return Finding{"rules", Bad, a.Err.Error()}
		case ok && fault.Kind != engine.FaultIllegal:
			if slices.Contains(x.seen, fault.Kind) && len(c.failures) == 0 && c.wrong == 0 {
				return x.failed("rules", a.Err)
			}
			c.failures = append(c.failures, faultText(fault))
			x.seen = append(x.seen, fault.Kind)
		case ok:
			c.of[at.rule]++
			c.add(p, at, a.Text, fault)
		default:
			c.judge(p, at, a.Move)
		}
	}
	return c.finding(set, len(some))
}

// ruleLimits returns the limits of a search, as far as the protocol has them.
func (x *checker) ruleLimits() search.Limits {
	l := search.Limits{Hard: ruleTime}
	if x.spec.Dialect.CheckLimits(0, ruleDepth) == nil {
		l.Depth = ruleDepth
	}
	return l
}

// add counts an illegal answer.
func (c *ruleCount) add(p game.Position, at position, move string, fault *engine.Fault) {
	rule, sentence := broken(p, move)
	if rule == "" {
		rule, sentence = at.rule, faultText(fault)
	} else {
		sentence = fmt.Sprintf("%s: %s (in %s)", move, sentence, p)
	}
	c.count(rule, sentence)
}

func (c *ruleCount) count(rule, sentence string) {
	c.wrong++
	if _, known := c.examples[rule]; !known {
		c.broken, c.examples[rule] = append(c.broken, rule), sentence
	}
}

// judge counts a legal answer that loses at once by a rule.
func (c *ruleCount) judge(p game.Position, at position, m game.Move) {
	if m == game.NoMove { // it resigns
		return
	}
	move := p.Format(m)
	if kind := forbidden(p, move); kind != "" {
		_, sentence := broken(p, move)
		c.of[at.rule]++
		c.count(string(kind), fmt.Sprintf("%s: %s (in %s)", move, sentence, p))
	}
}

// finding says what was counted.
func (c *ruleCount) finding(set string, of int) Finding {
	if c.wrong == 0 && len(c.failures) == 0 {
		return Finding{"rules", Good, fmt.Sprintf("legal moves in %d positions of %s in which rules are easily broken",
			c.asked, set)}
	}
	var parts []string
	for _, rule := range c.broken[:min(len(c.broken), maxExamples)] {
		parts = append(parts, c.examples[rule])
	}
	text := fmt.Sprintf("%d of %d positions of %s answered wrongly", c.wrong+len(c.failures), c.asked, set)
	if c.asked < of {
		text += fmt.Sprintf(" (of %d: the others are about the same)", of)
	}
	return Finding{"rules", Bad, text + ": " + strings.Join(append(parts, c.failures...), "; ")}
}
