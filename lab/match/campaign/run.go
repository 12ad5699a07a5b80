package campaign

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/internal/journal"
	"sparring/lab/match"
)

// State says whether a campaign runs, or why it ended.
type State string

// The states. Stopped is that of a run that was killed.
const (
	Running     State = "running"
	Done        State = "done"        // all that could be played was played
	Until       State = "until"       // the time was over
	Interrupted State = "interrupted" // by a signal
	Stopped     State = "stopped"
)

// errUntil ends a run at its time.
var errUntil = errors.New("the time is over")

// Run plays what is missing. It returns nil when all is played but what was set aside,
// when the time is over, and when ctx is cancelled; games in progress are then broken
// off, and played again in the next run. An error means that results could not be
// written, or that no worker could be had.
func (c *Campaign) Run(ctx context.Context) error {
	c.asides, c.began, c.state = nil, time.Now().UTC(), Running
	s := start{c.began, c.build, c.plan.Versions}
	if err := c.journal.Append(line{Start: &s}); err != nil {
		return err
	}
	if c.log.begun.IsZero() {
		c.log.begun = c.began
	}
	until := ctx
	if !c.plan.Until.IsZero() {
		var cancel context.CancelFunc
		until, cancel = c.untilTime(ctx)
		defer cancel()
	}
	life, end := context.WithCancelCause(until)
	defer end(nil)
	var wg sync.WaitGroup
	for range c.plan.Concurrency {
		wg.Go(func() {
			if err := c.work(life); err != nil {
				end(err)
			}
		})
	}
	wg.Wait()
	switch cause := context.Cause(life); {
	case cause == nil:
		c.state = Done
	case errors.Is(cause, errUntil):
		c.state = Until
	case ctx.Err() != nil:
		c.state = Interrupted
	default:
		c.state = Stopped
		return cause
	}
	return c.journal.Append(line{End: c.ended()})
}

// clockLook is how often the time of the day is looked at.
const clockLook = time.Second

// untilTime returns a context that ends with errUntil at the plan's time of the day. A
// timer would end late by the time for which the machine slept.
func (c *Campaign) untilTime(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		tick := time.NewTicker(clockLook)
		defer tick.Stop()
		for c.now().Round(0).Before(c.plan.Until) { // without its monotonic reading
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel(errUntil)
	}()
	return ctx, func() { cancel(nil) }
}

// ended returns the end of a run.
func (c *Campaign) ended() *end {
	e := &end{Time: time.Now().UTC(), Why: c.state, Games: map[string]int{}}
	for _, m := range c.meets {
		m.match.Look(func(s *match.Standing) { e.Games[m.File] = s.Games })
	}
	return e
}

// work plays pairs until there are no more.
func (c *Campaign) work(ctx context.Context) error {
	w, err := c.plan.Worker()
	if err != nil {
		return err
	}
	defer w.Close()
	var m *meeting
	for ctx.Err() == nil {
		if m = c.choose(m); m == nil {
			return nil
		}
		bouts, err := m.match.Next(ctx)
		if err == nil && len(bouts) == 0 {
			c.mu.Lock()
			m.over = true
			c.mu.Unlock()
			continue
		}
		if err == nil {
			p := &Pair{Match: m.Match, Terms: &m.Terms, Versions: m.Versions, Bouts: bouts}
			err = w.Play(ctx, p, func(g *match.Game) error { return c.finished(ctx, m, g) })
		}
		switch {
		case ctx.Err() != nil && !errors.Is(err, journal.ErrWrite):
			return nil
		case errors.Is(err, errSave):
			return err
		case err != nil:
			c.setAside(m, Aside{Text: err.Error()})
		}
	}
	return nil
}

// steps is in how many pieces the pairs of two players are played: players take
// turns, so that all have games when the time is over, but an engine is not started
// again for each pair.
const steps = 20

// choose returns the pairing that is furthest behind, the last one if it is no
// further than others, nil if there is none.
func (c *Campaign) choose(last *meeting) *meeting {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *meeting
	at := func(m *meeting) int { return steps * m.handed / max(m.total, 1) }
	for _, m := range c.meets {
		if !m.over && (best == nil || at(m) < at(best)) {
			best = m
		}
	}
	if last != nil && !last.over && best != nil && at(last) <= at(best) {
		best = last
	}
	if best != nil {
		best.handed++
	}
	return best
}

// errSave wraps the error of a game that can't be saved.
var errSave = errors.New("a finished game is not saved")

// finished saves a game, and sets its pairing aside if a player is broken. On a full
// disk it waits for room.
func (c *Campaign) finished(ctx context.Context, m *meeting, g *match.Game) error {
	err := m.match.Finished(g)
	for errors.Is(err, journal.ErrWrite) {
		c.sayFailed(err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w; it will be played again", errSave, err)
		case <-time.After(journalRetry):
		}
		err = m.match.Finished(g)
	}
	if err != nil && !errors.Is(err, match.ErrStart) {
		return fmt.Errorf("%w: %w", errSave, err)
	}
	c.sayFailed(nil)
	if text := g.StallText(); text != "" {
		c.say("%s: %s - %s: %s", m.Match, g.Seats[0].Player, g.Seats[1].Player, text)
	}
	if a := c.breaks(m, g); a.Broken != "" {
		c.setAside(m, a)
	}
	c.saying.Lock()
	defer c.saying.Unlock()
	if c.plan.Played != nil {
		c.plan.Played(c.counts())
	}
	return nil
}

// sayFailed says once that writing fails, and once that it works again.
func (c *Campaign) sayFailed(err error) {
	c.mu.Lock()
	first := c.failed != (err != nil)
	c.failed = err != nil
	c.mu.Unlock()
	switch {
	case !first:
	case err != nil:
		c.say("results can't be written, the campaign waits for room: %v", err)
	default:
		c.say("results are written again")
	}
}

// maxFaults is after how many consecutive games lost by a fault, other than on time, a
// player counts as broken: it would measure nothing.
const maxFaults = 3

// breaks counts the faults of a game's players, and says which player is broken, if one is.
func (c *Campaign) breaks(m *meeting, g *match.Game) (a Aside) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.blame(g)
	for seat, i := range g.Match.Players {
		key := [2]string{m.Match, m.names()[i]}
		f := g.Match.Fault
		if f == nil || int(f.Seat) != seat || f.Kind == engine.FaultTime {
			delete(c.broken, key)
			continue
		}
		if c.broken[key]++; c.broken[key] >= maxFaults {
			a = Aside{Broken: key[1], Lost: c.broken[key], Fault: f.Kind, Text: strings.Join(strings.Fields(f.Text), " ")}
		}
	}
	return a
}

// setAside ends a pairing for this run, and all of the match in which a player is
// broken.
func (c *Campaign) setAside(m *meeting, a Aside) {
	c.mu.Lock()
	var all []Aside
	for _, o := range c.meets {
		names := o.names()
		if o.over || o != m && (a.Broken == "" || o.Match != m.Match || names[0] != a.Broken && names[1] != a.Broken) {
			continue
		}
		o.over = true
		a.Time, a.Match, a.Players = time.Now().UTC(), o.Match, names
		c.asides = append(c.asides, a)
		all = append(all, a)
	}
	var err error
	for _, a := range all {
		if err == nil {
			err = c.journal.Append(line{Aside: &a}) // under mu: a file is for one writer
		}
	}
	c.mu.Unlock()
	for _, a := range all {
		why := a.Text
		if a.Broken != "" {
			why = fmt.Sprintf("%s lost %d games in a row by a fault, the last one so: %s: %s", a.Broken, a.Lost, a.Fault, a.Text)
		}
		c.say("%s: %s - %s is set aside: %s", a.Match, a.Players[0], a.Players[1], why)
	}
	if err != nil { // the next run begins with all of them anyway
		c.say("the journal can't be written: %v", err)
	}
}

func (c *Campaign) say(format string, args ...any) {
	c.saying.Lock()
	defer c.saying.Unlock()
	if c.plan.Say != nil {
		c.plan.Say(format, args...)
	}
}

// Local plays pairs in this process.
type Local struct {
	// Backend plays matches of these terms.
	Backend func(*match.Terms) match.Backend
	// Versions makes sure that a player is the one that the pair wants; nil: no one does.
	Versions *Versions

	terms  *match.Terms
	worker match.Worker
}

// Play implements Worker. Players stay open for the next pair of the same two.
func (l *Local) Play(ctx context.Context, p *Pair, finished func(*match.Game) error) error {
	if l.Versions != nil {
		for _, v := range p.Versions {
			if err := l.Versions.Check(v); err != nil {
				return err
			}
		}
	}
	if l.terms == nil || l.terms.ID != p.Terms.ID {
		l.Close()
		w, err := l.Backend(p.Terms).Worker(p.Terms)
		if err != nil {
			return err
		}
		l.worker, l.terms = w, p.Terms
	}
	for _, b := range p.Bouts {
		g, err := l.worker.Play(ctx, b)
		if err == nil {
			err = finished(g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close implements Worker.
func (l *Local) Close() {
	if l.worker != nil {
		l.worker.Close()
	}
	l.terms, l.worker = nil, nil
}
