package external

import (
	"strings"
	"time"

	"sparring/engine"
)

// phase is a phase of the conversation with a program during a search.
type phase uint8

const (
	pondering  phase = iota // searching without limits, or idle until a ponder hit
	restarting              // told to stop after a ponder hit, to search again with limits
	thinking                // searching with limits
	stopping                // told to stop; the answer counts
)

// conversation is the exchange with a program during one search.
type conversation struct {
	r         *running
	p         *program
	phase     phase
	resting   bool    // pondering, but the program does not search
	early     *answer // a valid answer that ended the pondering early; nil before
	missed    bool    // stopping a pondering, because the opponent has played another move
	suspended bool
	deadline  time.Time // of the phase; zero if none
	timer     *time.Timer
}

// converse runs the search in a process and returns its answer. The answer is nil
// without an error if the search was stopped before there was one.
func (r *running) converse(p *program) (*answer, error) {
	if !r.pauseAfterMove(p) {
		return nil, nil
	}
	r.noteUnasked(p, p.inbox.listen(true))
	p.began = true
	if err := r.setUp(p); err != nil {
		return nil, err
	}
	c := &conversation{r: r, p: p, timer: time.NewTimer(time.Hour)}
	defer c.timer.Stop()
	defer c.suspend(false)
	begin := c.ponder
	if r.moveDue() {
		if !r.waitForCore() {
			return nil, nil
		}
		begin = c.think
	}
	if err := begin(); err != nil {
		return nil, err
	}
	for {
		if a, over, err := c.handleState(); over || err != nil {
			return a, err
		}
		c.setTimer()
		select {
		case <-r.changed:
		case <-c.stopSignal():
		case <-p.inbox.changed:
			if a, err := c.readLines(); a != nil || err != nil {
				return a, err
			}
		case <-c.timer.C:
			if err := c.overdue(); err != nil {
				return nil, err
			}
		}
	}
}

// noteUnasked reports an answer that the program gave after that to the search before. It is
// not used, but had it come only now it would be taken for the answer to this search.
func (r *running) noteUnasked(p *program, lines []string) {
	switch {
	case p.answered == "", p.needsSync: // it was not asked yet, or a stop may have crossed its answer
		return
	case r.engine.spec.Dialect == XBoard: // a claim, which may follow a move, would ask for the move again
		return
	}
	for _, line := range lines {
		if a, _ := p.parseLine(r.query, line); a != nil {
			p.firstTime("unasked", func() {
				r.game.incidents.add("the engine answered %q, and then, without being asked, %q; ignored", clip(p.answered), clip(line))
			})
		}
	}
}

// pauseAfterMove waits until the program reads again after its last move. It
// returns false if the search is stopped meanwhile.
func (r *running) pauseAfterMove(p *program) bool {
	wait := time.Until(p.movedAt.Add(r.engine.pause()))
	if wait <= 0 {
		return true
	}
	select {
	case <-time.After(wait):
		return true
	case <-r.stop:
		return false
	}
}

// waitForCore waits until the search may use a core. It returns false if the search
// is stopped meanwhile.
func (r *running) waitForCore() bool {
	for r.state().paused {
		select {
		case <-r.changed:
		case <-r.stop:
			return false
		}
	}
	return true
}

// stopSignal returns the search's stop channel until the stop has been handled.
func (c *conversation) stopSignal() <-chan struct{} {
	if c.phase == stopping {
		return nil
	}
	return c.r.stop
}

// think starts a search with limits.
func (c *conversation) think() error {
	a := c.r.searchLimits(time.Now())
	c.phase, c.resting, c.deadline = thinking, false, c.r.due
	if c.p.stopCommand() == "" {
		c.deadline = c.deadline.Add(c.p.times.grace) // until then nothing can be done
	}
	if c.r.asked.IsZero() {
		c.r.asked = time.Now()
	}
	defer c.r.begin()
	return c.p.startSearch(c.p, c.r.query, a)
}

// restart thinks after the pondering was stopped. If the stop crossed the end of the
// search by itself, it may get an answer of its own, which must not be taken for that to
// the new search: setUp waits until all has been answered.
func (c *conversation) restart() error {
	if err := c.r.setUp(c.p); err != nil {
		return err
	}
	return c.think()
}

// setUp sets the position up. After a pondering that was stopped it counts how long the
// program has kept the next search waiting.
func (r *running) setUp(p *program) error {
	began := time.Now()
	if err := p.setUp(p, r.query); err != nil {
		return err
	}
	if p.stopTook > 0 {
		r.engine.stops.add(p.stopTook + time.Since(began))
		p.stopTook = 0
	}
	return nil
}

// ponder starts a search without limits, unless the program is known not to
// support it, or too slow to stop for its clock.
func (c *conversation) ponder() error {
	if c.resting = c.p.noPondering || c.r.game.rests(); c.resting {
		c.r.begin()
		return nil
	}
	c.r.asked = time.Now()
	defer c.r.begin()
	return c.p.startSearch(c.p, c.r.query, searchLimits{infinite: true, limits: c.r.state().limits})
}

// handleState reacts to calls of the methods of engine.Running. Over is true if the
// search has ended, with or without an answer.
func (c *conversation) handleState() (a *answer, over bool, err error) {
	o := c.r.state()
	switch {
	case o.stopped && c.resting:
		return c.early, true, nil
	case o.stopped && c.phase == restarting:
		c.phase = stopping
	case o.stopped && c.phase != stopping:
		if c.p.stopCommand() == "" {
			return nil, true, errAbandoned
		}
		c.missed = c.phase == pondering
		return nil, false, c.stop(stopping)
	case o.hit && c.resting:
		c.early = nil
		return nil, false, c.think()
	case o.hit && c.phase == pondering:
		return nil, false, c.stop(restarting)
	}
	if c.phase == pondering || c.phase == thinking {
		c.suspend(o.paused)
	}
	return nil, false, nil
}

// stop tells the program to answer at once.
func (c *conversation) stop(then phase) error {
	c.suspend(false)
	c.p.needsSync = true
	c.r.stopSent = time.Now()
	c.phase, c.deadline = then, c.r.stopSent.Add(c.p.times.grace)
	return c.p.send(c.p.stopCommand())
}

func (c *conversation) suspend(on bool) {
	if c.suspended != on {
		c.p.suspend(on)
		c.suspended = on
	}
}

// setTimer sets the timer to the deadline. A suspended program has none.
func (c *conversation) setTimer() {
	if c.deadline.IsZero() || c.suspended {
		c.timer.Stop()
		return
	}
	c.timer.Reset(time.Until(c.deadline))
}

// overdue is called after the deadline.
func (c *conversation) overdue() error {
	if c.phase == thinking && c.p.stopCommand() != "" {
		c.r.forcedStop = true
		return c.stop(stopping) // its answer still counts; the caller decides whether it was too late
	}
	if c.p.stopCommand() == "" {
		c.p.fail(engine.FaultHang, "no answer within %v of when it was due", c.p.times.grace)
	} else {
		c.p.fail(engine.FaultHang, "no answer within %v of %q", c.p.times.grace, c.p.stopCommand())
	}
	<-c.p.gone
	return c.p.fault()
}

// readLines handles the lines received since.
func (c *conversation) readLines() (*answer, error) {
	ended := isClosed(c.p.gone)
	lines := c.p.inbox.take()
	for i, line := range lines {
		if c.p.isError(line) {
			c.p.firstTime(line, func() {
				c.r.game.incidents.add("the engine said %q after %q; ignored", clip(line), clip(c.p.lastSent()))
			})
			continue
		}
		a, info := c.p.parseLine(c.r.query, line)
		if info != nil && c.phase != restarting {
			c.r.onInfo(info)
		}
		if a != nil && a.claim {
			c.p.claimed(line)
			c.r.game.incidents.add("the engine claimed %q; by the rules the game goes on, so it is asked for its move", clip(line))
			continue
		}
		if a != nil && a.reply != "" {
			if err := c.p.send(a.reply); err != nil {
				return nil, err
			}
			continue
		}
		if a == nil {
			continue
		}
		c.p.movedAt = time.Now()
		if c.phase == restarting || c.missed {
			c.p.stopTook = c.p.movedAt.Sub(c.r.stopSent)
		}
		switch {
		case c.phase == pondering && c.resting:
		case c.phase == pondering:
			if err := c.endedEarly(a); err != nil {
				return nil, err
			}
		case c.phase == restarting:
			return nil, c.restart()
		default:
			c.p.inbox.skip(lines[i+1:])
			return a, nil
		}
	}
	if ended {
		return nil, c.p.fault()
	}
	return nil, nil
}

// workedAround and noMorePondering end the texts of incidents that cannot occur again.
const (
	workedAround    = "; pondering by another command from now on"
	noMorePondering = "; no more pondering in this game"
)

// WorkedAround reports whether an incident of Result.Incidents cost nothing: from then
// on the program is asked in another way, or does not ponder because it is slow to stop.
func WorkedAround(incident string) bool {
	return strings.HasSuffix(incident, workedAround) || strings.HasSuffix(incident, noMorePondering)
}

// endedEarly handles an answer to a search without limits that came before stop.
// That is not a fault, because no move is due. The search is repeated with another
// command if the protocol has one; otherwise, after an invalid answer, the program
// does not ponder any more.
func (c *conversation) endedEarly(a *answer) error {
	const what = "while pondering the engine answered %q to %q before it was told to stop"
	sent := clip(c.p.lastSent())
	_, _, why := c.r.check(a)
	switch {
	case c.p.alternateInfinite():
		c.r.game.incidents.add(what+workedAround, clip(a.line), sent)
	case why == "":
		c.early, c.resting = a, true
		c.p.firstTime(what, func() { c.r.game.incidents.add(what, clip(a.line), sent) })
		return nil
	default:
		c.p.noPondering = true
		c.r.game.incidents.add(what+": %s; no more pondering", clip(a.line), sent, why)
	}
	return c.ponder()
}
