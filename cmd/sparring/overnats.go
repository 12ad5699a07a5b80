package main

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/match/overnats"
	"sparring/protocol"
)

// overNATS is the value of --over that selects a platform.
const overNATS = "nats"

// platformBackend lets the plan's games be played on the platform that --nats or the
// environment names, as for the arena command. The match is to be run with ctx. Call
// done after it.
func platformBackend(c *cobra.Command, plan *match.Plan, server *serverFlags, wait bool) (ctx context.Context, done func(), err error) {
	var s arenaSettings
	unknown, err := load(&s)
	if err != nil {
		return nil, nil, err
	}
	newLog(c.ErrOrStderr(), "warn", unknown...) // which warns of them
	s.connectTo(server)
	nc, ctx, done, err := s.dial(c, "sparring match", wait)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		done()
		return nil, nil, err
	}
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		done()
		return nil, nil, usage(err)
	}
	plan.Backend = overnats.New(js, subjects, 0)
	return ctx, done, nil
}
