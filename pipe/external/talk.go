package external

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"sparring/internal/textlines"
)

// Talk starts a program and sends it the lines of in, until in or the program ends,
// or ctx does. It has a second of silence to answer the last ones. With greet it is first
// made ready as for a game, and gets the options of the spec. Show is called with every line
// of the conversation, by several goroutines. The error is that of Open, the program's fault
// if it failed, or why in could not be read to its end.
func Talk(ctx context.Context, s Spec, gameName string, greet bool, in io.Reader, show func(Line)) error {
	e, err := Open(s, gameName)
	if err != nil {
		return err
	}
	defer e.Close()
	defer context.AfterFunc(ctx, func() { e.Close() })()
	said := &activity{}
	p, err := e.talker(ctx, greet, func(l Line) {
		said.note()
		show(l)
	})
	if err != nil {
		return err
	}
	lines, unread := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		defer close(unread)
		scan := textlines.New(in)
		for scan.Scan() {
			select {
			case lines <- scan.Text():
			case <-p.gone:
				return
			}
		}
		unread <- scan.Err()
	}()
	for {
		select {
		case line, more := <-lines:
			if !more {
				if lines = nil; said.waitForSilence(ctx, p.gone) {
					continue
				}
				p.quit(p.quitCommand(), e.times.quit)
				if err := <-unread; err != nil {
					return fmt.Errorf("reading the input: %w", err)
				}
				return ctx.Err()
			}
			if err := p.send(line); err != nil && !p.endedWell() {
				return err
			}
		case <-p.gone:
			if p.endedWell() {
				return nil
			}
			return p.fault()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// activity is when the last line of a conversation was written.
type activity struct {
	mu sync.Mutex
	at time.Time
}

func (a *activity) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = time.Now()
}

// How long a program that gets no more input is waited for.
const (
	silence      = time.Second // without a line
	lastPatience = time.Minute // at most
)

// waitForSilence waits until the program has answered what it was sent: nothing is
// written for a while, or it has ended, or ctx has, which it reports.
func (a *activity) waitForSilence(ctx context.Context, gone <-chan struct{}) (ended bool) {
	a.note()
	for since := time.Now(); time.Since(since) < lastPatience; {
		a.mu.Lock()
		rest := time.Until(a.at.Add(silence))
		a.mu.Unlock()
		if rest <= 0 {
			return false
		}
		select {
		case <-time.After(rest):
		case <-gone:
			return true
		case <-ctx.Done():
			return true
		}
	}
	return false
}

// talker starts a program for a conversation by hand.
func (e *Engine) talker(ctx context.Context, greet bool, show func(Line)) (*program, error) {
	if greet {
		p, err := e.launch(ctx, show)
		if ctx.Err() != nil && err != nil {
			err = context.Cause(ctx) // which has killed it
		}
		return p, err
	}
	proc, err := start(command{path: e.path, args: e.spec.Args, dir: e.spec.Dir, memory: e.spec.Memory, tap: show})
	if err != nil {
		return nil, err
	}
	p := &program{process: proc, dialect: protocols[e.spec.Dialect].newDialect(e.spec, e.game), times: e.times}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = append(e.busy, p)
	return p, nil
}

// endedWell reports whether a program has ended by itself, without an error.
func (p *program) endedWell() bool {
	<-p.gone
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == nil && p.exit == nil
}
