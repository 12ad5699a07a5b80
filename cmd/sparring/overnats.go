package main

import (
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/overnats"
	"sparring/protocol"
)

// overNATS is the value of --over that selects a platform.
const overNATS = "nats"

// platformBackend lets the plan's games be played on the platform that the
// environment names, as for the arena command. Call done after the match.
func platformBackend(c *cobra.Command, plan *match.Plan) (done func(), err error) {
	var s arenaSettings
	unknown, err := load(&s)
	if err != nil {
		return nil, err
	}
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		return nil, &usageError{err}
	}
	nc, err := s.connect("sparring match", newLog(c.ErrOrStderr(), "warn", unknown...))
	if err != nil {
		return nil, err
	}
	if err := protocol.Await(c.Context(), nc); err != nil {
		nc.Close()
		return nil, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, err
	}
	plan.Backend = overnats.New(js, subjects, 0)
	return nc.Close, nil
}
