package pairqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/lab/match"
	"sparring/lab/match/campaign"
)

// Begin makes the queue ready for its owner, and withdraws pairs of earlier runs that are
// of no match of these ids.
func (q *Queue) Begin(ctx context.Context, wanted map[string]bool) error {
	pairs, _, _, err := q.streams(ctx)
	if err != nil {
		return err
	}
	var posted map[string]uint64
	err = q.ask(ctx, func(ctx context.Context) error {
		info, err := pairs.Info(ctx, jetstream.WithSubjectFilter(q.base+".pair.*"))
		if err == nil {
			posted = info.State.Subjects
		}
		return err
	})
	if err != nil {
		return err
	}
	for subject := range posted {
		if id, ok := q.matchOf(subject); ok && !wanted[id] {
			if err := q.ask(ctx, func(ctx context.Context) error { return pairs.Purge(ctx, jetstream.WithPurgeSubject(subject)) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// Worker returns a worker of the owner: it has pairs played by other machines.
func (q *Queue) Worker() campaign.Worker { return owner{q} }

type owner struct{ *Queue }

// Close implements campaign.Worker.
func (owner) Close() {}

// Play implements campaign.Worker. Games of the pair that an earlier run had posted are
// collected; when ctx ends, machines go on with theirs, and the next run collects
// them.
func (o owner) Play(ctx context.Context, p *campaign.Pair, finished func(*match.Game) error) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	subject := o.pairSubject(p.Terms.ID, p.Bouts[0].Pair)
	var pairs, games jetstream.Stream
	open := map[string]bool{}
	for _, b := range p.Bouts {
		open[b.ID] = true
	}
	var posted time.Time
	for len(open) > 0 {
		if pairs == nil || time.Since(posted) > repost {
			// Again: a server that lost its data has neither pairs nor streams.
			if pairs, games, _, err = o.streams(ctx); err != nil {
				return err
			}
		}
		for _, b := range p.Bouts {
			if !open[b.ID] {
				continue
			}
			r, err := o.found(ctx, games, o.gameSubject(b.ID))
			switch {
			case err != nil:
				return err
			case r == nil:
				continue
			case r.Error != "":
				o.forget(ctx, pairs, games, subject, p)
				return errors.New(r.Error)
			case r.Game.ID != b.ID || r.Game.Match.Pair != b.Pair || r.Game.Match.Leg != b.Leg || r.Game.Match.Players != b.Players:
				return fmt.Errorf("game %s: the result is of another game", b.ID)
			}
			if err := finished(r.Game); err != nil {
				return err
			}
			delete(open, b.ID)
		}
		if len(open) > 0 && time.Since(posted) > repost {
			if err := o.put(ctx, subject, data); err != nil {
				return err
			}
			posted = time.Now()
		}
		if len(open) > 0 {
			if err := sleep(ctx, look); err != nil {
				return err
			}
		}
	}
	o.forget(ctx, pairs, games, subject, p)
	return nil
}

// forget removes a pair and its results, which are saved. What is left after an error
// does no harm: results leave after a while.
func (o owner) forget(ctx context.Context, pairs, games jetstream.Stream, subject string, p *campaign.Pair) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answer)
	defer cancel()
	if pairs.Purge(ctx, jetstream.WithPurgeSubject(subject)) != nil {
		return
	}
	for _, b := range p.Bouts {
		if games.Purge(ctx, jetstream.WithPurgeSubject(o.gameSubject(b.ID))) != nil {
			return
		}
	}
}
