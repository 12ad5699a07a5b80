package pairqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/lab/campaign"
	"sparring/lab/match"
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
			if err := rest(ctx, look); err != nil {
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
	if err != nil {
		q.say("a pair is passed over, it can't be read: %v", err)
		return msg.NakWithDelay(unplayed) // one with another build may
	}
	var left []match.Bout
	for _, b := range p.Bouts { // another machine may have played one of them
		r, err := q.found(ctx, games, q.gameSubject(b.ID))
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
	switch {
	case ctx.Err() != nil:
		msg.Nak() // at once for another machine; else its lease ends
		return context.Cause(ctx)
	case errors.Is(err, campaign.ErrVersion):
		q.say("%s: %s is passed over: %v", p.Match, strings.Join(p.Bouts[0].Names[:], " - "), err)
		err = msg.NakWithDelay(unplayed)
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
