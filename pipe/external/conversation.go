package external

import (
	"time"

	"sparring/engine"
)

// phase is how far a search has come in the conversation with the program.
type phase uint8

const (
	pondering  phase = iota // it searches without an end, or rests until a ponder hit
	restarting              // told to stop after a ponder hit; it is then asked again, under limits
	thinking                // it searches under limits
	stopping                // told to stop: the answer counts
)

// conversation is what is said to a program, and by it, during one search.
type conversation struct {
	r         *running
	p         *program
	phase     phase
	resting   bool    // while pondering: the program does not search
	early     *answer // of a search without an end that ended by itself; nil is none to use
	suspended bool
	deadline  time.Time // of the phase; zero is none
	timer     *time.Timer
}

// converse has a process search, and returns its answer; nil without an error
// is that the search was stopped and there is none.
func (r *running) converse(p *program) (*answer, error) {
	if !r.pauseAfterMove(p) {
		return nil, nil
	}
	p.inbox.listen(true)
	p.began = true
	if err := p.setUp(p, r.query); err != nil {
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

// pauseAfterMove waits until the program listens again after its last move;
// false is that the search was stopped meanwhile.
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

// awake waits until the search may use a core, before the process is asked;
// false is that it was stopped.
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

// stopSignal is the search's stop, as long as that is news.
func (c *conversation) stopSignal() <-chan struct{} {
	if c.phase == stopping {
		return nil
	}
	return c.r.stop
}

// think asks for a move under the limits.
func (c *conversation) think() error {
	a := c.r.searchLimits(time.Now())
	c.phase, c.resting, c.deadline = thinking, false, c.r.due
	if c.p.stopCommand() == "" {
		c.deadline = c.deadline.Add(c.p.times.grace) // nothing can be done about it before
	}
	if c.r.asked.IsZero() {
		c.r.asked = time.Now()
	}
	return c.p.startSearch(c.p, c.r.query, a)
}

// ponder asks for a search without an end, unless the program is known not to
// manage one.
func (c *conversation) ponder() error {
	if c.resting = c.p.noPondering; c.resting {
		return nil
	}
	c.r.asked = time.Now()
	return c.p.startSearch(c.p, c.r.query, searchLimits{infinite: true, limits: c.r.state().limits})
}

// handleState does what has been ordered since. Over says that this ends the
// search, with an answer or without.
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

// stop has the process answer at once.
func (c *conversation) stop(then phase) error {
	c.suspend(false)
	c.p.needsSync = true
	c.phase, c.deadline = then, time.Now().Add(c.p.times.grace)
	return c.p.send(c.p.stopCommand())
}

func (c *conversation) suspend(on bool) {
	if c.suspended != on {
		c.p.suspend(on)
		c.suspended = on
	}
}

// setTimer sets the timer to the phase's deadline. A suspended program has none.
func (c *conversation) setTimer() {
	if c.deadline.IsZero() || c.suspended {
		c.timer.Stop()
		return
	}
	c.timer.Reset(time.Until(c.deadline))
}

// overdue is called when the deadline is over.
func (c *conversation) overdue() error {
	if c.phase == thinking && c.p.stopCommand() != "" {
		c.r.forcedStop = true
		return c.stop(stopping) // an answer still counts; whether it was late is for others to judge
	}
	if c.p.stopCommand() == "" {
		c.p.fail(engine.FaultHang, "no answer within %v of when it was due", c.p.times.grace)
	} else {
		c.p.fail(engine.FaultHang, "no answer within %v of %q", c.p.times.grace, c.p.stopCommand())
	}
	<-c.p.gone
	return c.p.fault()
}

// readLines reads what has come.
func (c *conversation) readLines() (*answer, error) {
	ended := isClosed(c.p.gone)
	for _, line := range c.p.inbox.take() {
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
		if a == nil {
			continue
		}
		c.p.movedAt = time.Now()
		switch {
		case c.phase == pondering && c.resting:
		case c.phase == pondering:
			if err := c.endedEarly(a); err != nil {
				return nil, err
			}
		case c.phase == restarting:
			return nil, c.think()
		default:
			return a, nil
		}
	}
	if ended {
		return nil, c.p.fault()
	}
	return nil, nil
}

// endedEarly takes in the answer to a search without an end that came before it
// was asked for. The program is not at fault: no move is due. Another command may
// make it go on; if there is none, a program with an odd answer does not ponder
// any more.
func (c *conversation) endedEarly(a *answer) error {
	const what = "while pondering the engine answered %q to %q before it was told to stop"
	sent := clip(c.p.lastSent())
	_, _, why := c.r.check(a)
	switch {
	case c.p.alternateInfinite():
		c.r.game.incidents.add(what+"; it ponders by another command now", clip(a.line), sent)
	case why == "":
		c.early, c.resting = a, true
		c.p.firstTime(what, func() { c.r.game.incidents.add(what, clip(a.line), sent) })
		return nil
	default:
		c.p.noPondering = true
		c.r.game.incidents.add(what+": %s; it does not ponder any more", clip(a.line), sent, why)
	}
	return c.ponder()
}
