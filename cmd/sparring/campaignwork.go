package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/lab/match/pairqueue"
	"sparring/protocol"
)

func campaignWork() *cobra.Command {
	f := campaignFlags{over: overNATS}
	c := &cobra.Command{
		Use:   "work FILE",
		Short: "Take pairs of a campaign over NATS and play them on this machine",
		Long: `Take pairs of games of a campaign that runs with --over nats, and play them on this
machine, until Ctrl-C. The file is the same as there, and so are the players' programs,
by their paths and contents: a machine with another version takes none of its pairs. A
machine may come, go, hang or be killed at any time: its pairs go to others. It
connects as the arena does, see docs/operating.md.`,
		Example: `  sparring campaign work night.yaml --concurrency 6`,
		Args:    oneCampaign,
		RunE:    func(c *cobra.Command, args []string) error { return f.work(c, args[0]) },
	}
	c.Flags().IntVar(&f.concurrency, "concurrency", 0, "games at once (default: that of the file, or 1)")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait for the server if it is not there yet")
	return c
}

// offered is how many pairs are offered at once over NATS unless a setting says it.
const offered = 32

// queue connects to the queue of a campaign. Call done at the end.
func (f *campaignFlags) queue(c *cobra.Command, name string, say func(string, ...any)) (q *pairqueue.Queue, ctx context.Context, done func(), err error) {
	var s arenaSettings
	unknown, err := load(&s)
	if err != nil {
		return nil, nil, nil, err
	}
	newLog(c.ErrOrStderr(), "warn", unknown...) // which warns of them
	if _, err := protocol.NewSubjects(s.NATS.Prefix); err != nil {
		return nil, nil, nil, usage(err)
	}
	nc, ctx, done, err := s.dialServer(c, "sparring campaign", f.wait, stores)
	if errors.Is(err, protocol.ErrNoServer) {
		err = fmt.Errorf("%w; --wait waits for one", err)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		done()
		return nil, nil, nil, err
	}
	return pairqueue.New(js, s.NATS.Prefix, name, pairqueue.Lease, say), ctx, done, nil
}

// stores makes sure that the user may use the server's store.
func stores(ctx context.Context, nc *nats.Conn) error {
	js, err := jetstream.New(nc)
	if err == nil {
		err = protocol.Repeat(ctx, reachTime/4, time.Second, func(ctx context.Context) (bool, error) {
			_, err := js.AccountInfo(ctx)
			return !errors.Is(err, context.DeadlineExceeded), err
		})
	}
	if errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return errors.New("this user has no store (JetStream): want that of the platform")
	}
	return err
}

// playOverNATS has the pairs played by other machines.
func (f *campaignFlags) playOverNATS(c *cobra.Command, plan *campaign.Plan) error {
	if f.concurrency == 0 {
		plan.Concurrency = max(plan.Concurrency, offered)
	}
	if f.check {
		return f.play(c.Context(), c, plan, nil)
	}
	screen := newDisplay(c.ErrOrStderr())
	q, ctx, done, err := f.queue(c, plan.Name, sayTo(screen))
	if err != nil {
		return err
	}
	defer done()
	plan.Worker = func() (campaign.Worker, error) { return q.Worker(), nil }
	return f.play(ctx, c, plan, func(night *campaign.Campaign) error { return q.Begin(ctx, night.IDs()) })
}

// work plays pairs of a campaign on this machine.
func (f *campaignFlags) work(c *cobra.Command, path string) error {
	plan, file, err := f.plan(c, path)
	if err != nil {
		return err
	}
	like := newImitator(c.Context(), c.ErrOrStderr())
	if err := tryAll(c.Context(), path, plan, file, like); err != nil {
		if c.Context().Err() != nil {
			return err
		}
		return usage(err)
	}
	screen := newDisplay(c.ErrOrStderr())
	defer screen.Clear()
	q, ctx, done, err := f.queue(c, plan.Name, sayTo(screen))
	if err != nil {
		return err
	}
	defer done()
	screen.Say("%s: this machine plays %s at once; Ctrl-C ends it", plan.Title, count(plan.Concurrency, "game", "games"))
	var games atomic.Int64
	begin := time.Now()
	err = q.Serve(ctx, plan.Concurrency, localWorkers(like), func(g *match.Game) {
		n := games.Add(1)
		screen.Line("work", fmt.Sprintf("%s in %v, the last one %s - %s", count(int(n), "game", "games"), time.Since(begin).Round(time.Second), g.Seats[0].Player, g.Seats[1].Player))
	})
	screen.Clear()
	screen.Say("%s played here", count(int(games.Load()), "game", "games"))
	if c.Context().Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	return err
}
