package main

import (
	"errors"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"sparring/configs"
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
	if err := errors.Join(configs.FromEnv(configs.Prefix, &s), s.validate()); err != nil {
		return nil, usagef("settings:\n%w", err)
	}
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		return nil, &usageError{err}
	}
	nc, err := s.connect("sparring match", newLog(c.ErrOrStderr(), "warn"))
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
