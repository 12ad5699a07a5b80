package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/protocol"
)

// reachTime is how long a command at a terminal waits for a platform, unless it was
// told to wait.
const reachTime = 8 * time.Second

// serverFlags say which server a command connects to, and as whom. They stand before the
// environment.
type serverFlags struct{ url, creds, ca string }

// add adds the flags to a command and those below it.
func (f *serverFlags) add(c *cobra.Command) {
	p := c.PersistentFlags()
	p.StringVar(&f.url, "nats", "", "NATS server, such as nats://127.0.0.1:4222 or nats://USER@HOST with the password in SPARRING_NATS_PASSWORD; empty: SPARRING_NATS_URL")
	p.StringVar(&f.creds, "creds", "", "the .creds file of the user, instead of a password; empty: SPARRING_NATS_CREDS")
	p.StringVar(&f.ca, "ca", "", "the certificate that the server is recognized by; empty: SPARRING_NATS_CA, or the system's")
}

// given reports whether the flags name a server or a user.
func (f *serverFlags) given() bool { return f.url != "" || f.creds != "" }

// override puts the flags in the place of settings.
func (f *serverFlags) override(url, password, creds, ca *string) {
	*url, *ca = cmp.Or(f.url, *url), cmp.Or(f.ca, *ca)
	if f.creds != "" {
		*creds, *password = f.creds, ""
	} else if _, _, ok := protocol.URLUser(f.url); ok {
		*creds = ""
	}
}

// platformSettings returns the settings of a command at a terminal that connects as the
// platform's user: those of the environment, and the flags.
func platformSettings(f *serverFlags) (*arenaSettings, error) {
	var s arenaSettings
	if err := configs.FromEnv(configs.Prefix, &s); err != nil {
		return nil, usagef("settings:\n%w", err)
	}
	s.connectTo(f)
	return &s, nil
}

// dial connects a command at a terminal to a platform as the platform's user, and
// makes sure that its records can be read. Unless wait is set, it fails within
// reachTime. The context ends, with the reason as its cause, when the server denies
// the user something. Call done at the end.
func (s *arenaSettings) dial(c *cobra.Command, name string, wait bool) (nc *nats.Conn, ctx context.Context, done func(), err error) {
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		return nil, nil, nil, usage(err)
	}
	nc, ctx, done, err = s.dialServer(c, name, wait, func(ctx context.Context, nc *nats.Conn) error { return platformAt(ctx, nc, subjects, wait) })
	if errors.Is(err, protocol.ErrNoServer) {
		err = fmt.Errorf("%w; --wait waits for one", err)
	}
	return nc, ctx, done, err
}

// dialServer is dial without a platform: it makes sure only that the checks succeed.
func (s *arenaSettings) dialServer(c *cobra.Command, name string, wait bool, checks ...func(context.Context, *nats.Conn) error) (nc *nats.Conn, ctx context.Context, done func(), err error) {
	ctx, cancel := context.WithCancelCause(c.Context())
	to := s.connection(name, newLog(c.ErrOrStderr(), "warn")).WithUser()
	to.Denied = func(err error) {
		cancel(fmt.Errorf("the server denies user %q what the command needs: %w", to.User, err))
	}
	reach, stop := ctx, context.CancelFunc(func() {})
	connect := protocol.Connect
	if !wait {
		reach, stop = context.WithTimeoutCause(ctx, reachTime, fmt.Errorf("no answer within %v", reachTime))
		connect = func(c protocol.Connection) (*nats.Conn, error) { return protocol.Dial(reach, c) }
	}
	defer stop()
	if nc, err = connect(to); err == nil {
		err = protocol.Await(reach, nc)
		for _, check := range checks {
			if err == nil {
				err = check(reach, nc)
			}
		}
		if err != nil {
			at := nc.ConnectedUrlRedacted() // not known any more when it is closed
			nc.Close()
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			err = fmt.Errorf("%s: %w", at, err)
		}
	}
	if err != nil {
		cancel(nil)
		return nil, nil, nil, err
	}
	return nc, ctx, func() { nc.Close(); cancel(nil) }, nil
}

// platformAt looks for the records of a platform, which a user of its account can
// read; with wait until they are there.
func platformAt(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects, wait bool) error {
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	return protocol.Repeat(ctx, reachTime/4, time.Second, func(ctx context.Context) (bool, error) {
		_, err := js.StreamNameBySubject(ctx, subjects.Records())
		if !wait && errors.Is(err, jetstream.ErrStreamNotFound) {
			err = errors.New("no platform there: its NATS server has no records; --wait waits for one")
		}
		return err == nil || !wait && !errors.Is(err, context.DeadlineExceeded), err
	})
}
