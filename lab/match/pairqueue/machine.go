package pairqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/lab/match"
	"sparring/lab/match/campaign"
)

// Serve takes pairs, so many at once, until ctx ends; games in progress are then given
// back. NewWorker makes the worker that plays them; played is called after each game
// that was sent, concurrently. The error is that of ctx or of newWorker.
func (q *Queue) Serve(ctx context.Context, atOnce int, newWorker func() (campaign.Worker, error), played func(*match.Game)) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			w, err := newWorker()
			if err == nil {
				defer w.Close()
				err = q.serve(ctx, w, played)
			}
			end(err)
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (q *Queue) serve(ctx context.Context, w campaign.Worker, played func(*match.Game)) error {
	for {
		_, games, machines, err := q.streams(ctx) // again: the server may have lost them
		if err != nil {
			return err
		}
		fetch, cancel := context.WithTimeout(ctx, fetchTime)
		msg, err := machines.Next(jetstream.FetchContext(fetch))
		waited := fetch.Err() != nil
		cancel()
		if ctx.Err() != nil {
			if err == nil {
				msg.Nak() // for another machine
			}
			return context.Cause(ctx)
		}
		if err != nil && waited {
			continue // no pairs
		}
		if err != nil {
			q.hear(false, err)
			if err := sleep(ctx, look); err != nil {
				return err
			}
			continue
		}
		if err := q.take(ctx, msg, games, w, played); err != nil {
			return err
		}
	}
}

// take plays the pair of a message, and returns an error if ctx ends.
func (q *Queue) take(ctx context.Context, msg jetstream.Msg, games jetstream.Stream, w campaign.Worker, played func(*match.Game)) error {
	p, err := restore(msg.Data())
	if err != nil { // one with another build may read it
		q.leave(msg, fmt.Errorf("a pair can't be read: %w", err))
		return nil
	}
	var left []match.Bout
	for _, b := range p.Bouts { // another machine may have played one of them
		r, err := q.stored(ctx, games, q.gameSubject(b.ID)) // its owner reads it
		if err != nil {
			return err
		}
		if r == nil {
			left = append(left, b)
		}
	}
	held, release := q.hold(ctx, msg)
	defer release()
	if p.Bouts = left; len(left) > 0 {
		err = w.Play(held, p, func(g *match.Game) error { return q.send(held, g, played) })
	}
	failed := func() error { return fmt.Errorf("%s: %s: %w", p.Match, strings.Join(left[0].Names[:], " - "), err) }
	switch {
	case ctx.Err() != nil:
		msg.Nak() // at once for another machine; else its lease ends
		return context.Cause(ctx)
	case errors.Is(err, campaign.ErrVersion):
		release()
		q.leave(msg, failed())
		return nil
	case err != nil && !q.certain(msg.Subject()):
		release()
		return q.retry(ctx, msg, failed())
	case err != nil:
		r := result{Error: err.Error()}
		data, failed := r.encode()
		if failed == nil {
			failed = q.put(ctx, q.gameSubject(left[0].ID), data)
		}
		err = errors.Join(failed, q.ack(ctx, msg))
	default:
		err = q.ack(ctx, msg)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		q.say("%s: a pair is not confirmed, it may be played again: %v", p.Match, err)
	}
	return nil
}

// maxFails is after how many errors of a machine with a pair it can't be played.
const maxFails = 3

// certain counts an error of this machine with a pair, and reports whether the pair can't
// be played. The machine's first errors may be its own trouble: the pair is offered again.
func (q *Queue) certain(subject string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fails[subject]++
	if q.fails[subject] < maxFails {
		return false
	}
	delete(q.fails, subject)
	return true
}

// leave gives back a pair for which this machine has not the files or the build, and says
// so once a match. The more often nobody had them, the later the pair is offered again:
// pairs that a machine can't play must not keep it from those that it can.
func (q *Queue) leave(msg jetstream.Msg, why error) {
	delay := passed
	if m, err := msg.Metadata(); err == nil {
		delay <<= min(m.NumDelivered, 10) - 1
	}
	q.pass(msg, min(delay, q.lease/3), why)
}

// retry gives back a pair that failed, and lets the worker rest: a machine in trouble must
// not take all pairs from others. It returns an error if ctx ends.
func (q *Queue) retry(ctx context.Context, msg jetstream.Msg, why error) error {
	q.pass(msg, q.lease, why)
	return sleep(ctx, q.lease)
}

// pass gives a pair back, and says so once a match.
func (q *Queue) pass(msg jetstream.Msg, delay time.Duration, why error) {
	id, _ := q.matchOf(msg.Subject())
	q.mu.Lock()
	told := q.told[id]
	q.told[id] = true
	q.mu.Unlock()
	if !told {
		q.say("pairs are left to other machines: %v", why)
	}
	msg.NakWithDelay(delay) // after an error its lease ends
}

// ack confirms that a pair was played. A pair that is not confirmed is offered to
// others, which find its results.
func (q *Queue) ack(ctx context.Context, msg jetstream.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	return msg.DoubleAck(ctx)
}

// hold renews the lease of a pair until release.
func (q *Queue) hold(ctx context.Context, msg jetstream.Msg) (held context.Context, release func()) {
	held, end := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(q.lease / 4)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				msg.InProgress() // after an error the next one may come through
			case <-held.Done():
				return
			}
		}
	})
	return held, func() { end(); wg.Wait() }
}

// send stores a finished game.
func (q *Queue) send(ctx context.Context, g *match.Game, played func(*match.Game)) error {
	r := result{Game: g}
	data, err := r.encode()
	if err == nil && int64(len(data)) > q.js.Conn().MaxPayload() {
		err = fmt.Errorf("game %s: %d bytes: the server takes %d", g.ID, len(data), q.js.Conn().MaxPayload())
	}
	if err == nil {
		err = q.put(ctx, q.gameSubject(g.ID), data)
	}
	if err == nil {
		played(g)
	}
	return err
}

// matchOf returns the id of the match of a pair's subject.
func (q *Queue) matchOf(subject string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(subject, q.base+".pair.")
	if !ok {
		return "", false
	}
	id, _, ok = strings.Cut(rest, "-")
	return id, ok
}
