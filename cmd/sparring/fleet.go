package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"sparring/protocol"
)

// fleetFlags are the flags of all verbs of the operator.
type fleetFlags struct {
	nats    serverFlags
	json    bool
	timeout time.Duration
	why     string
	// controlTime is how long a process may take to answer a verb: the timeout if it is set, and otherwise
	// longer than for reports, since a busy process does late what it was told.
	controlTime time.Duration
}

// controlWithin is controlTime without --timeout.
const controlWithin = 10 * time.Second

func fleetCommand() *cobra.Command {
	var f fleetFlags
	c := &cobra.Command{
		Use:   "fleet",
		Short: "Show and control the processes of a platform: ls, top, pause, drain, resume, abort, plan",
		Long: `Show and control the bot processes and arenas of a platform, over NATS. It connects
to --nats or SPARRING_NATS_URL as the user that SPARRING_NATS_USER, _PASSWORD, _CREDS
and _CA name (default: platform). Only the platform's account may do this.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usagef("sparring fleet: want ls, top, pause, drain, resume, abort or plan (see %s --help)", c.CommandPath())
		},
	}
	f.nats.add(c)
	c.PersistentFlags().BoolVar(&f.json, "json", false, "print JSON")
	c.PersistentFlags().DurationVar(&f.timeout, "timeout", 2*time.Second, "how long to wait for answers")
	c.AddCommand(fleetList(&f), fleetTop(&f), fleetAbort(&f), fleetPlan(&f),
		fleetControl(&f, protocol.FleetPause, "Let bot processes take no new games; running ones go on", "paused"),
		fleetControl(&f, protocol.FleetDrain, "Let bot processes take no new games, and end when their games have", "draining"),
		fleetControl(&f, protocol.FleetResume, "Let bot processes take games again", "running"))
	return c
}

// operator connects as the operator. Call done at the end.
func (f *fleetFlags) operator(c *cobra.Command) (ctx context.Context, op *protocol.Operator, done func(), err error) {
	s, err := platformSettings(&f.nats)
	if err != nil {
		return nil, nil, nil, err
	}
	if f.timeout <= 0 {
		return nil, nil, nil, usagef("--timeout %v: want more than 0", f.timeout)
	}
	subjects, err := protocol.NewSubjects(s.NATS.Prefix)
	if err != nil {
		return nil, nil, nil, usage(err)
	}
	nc, ctx, done, err := s.dialServer(c, "sparring fleet", false)
	if err != nil {
		return nil, nil, nil, err
	}
	return ctx, protocol.NewOperator(nc, subjects), done, nil
}

func fleetList(f *fleetFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the processes of the fleet",
		Long: `List the processes of the fleet: what they do, and what went wrong. A process that
an arena knows and that gives no answer is listed as such; instances of bots that are
not the operator's are "other".`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, op, done, err := f.operator(c)
			if err != nil {
				return err
			}
			defer done()
			v, err := f.look(ctx, op)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(c.OutOrStdout(), v)
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), strings.Join(v.lines(nil), "\n"))
			return err
		},
	}
}

func fleetTop(f *fleetFlags) *cobra.Command {
	var every time.Duration
	var rounds int
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the fleet as it changes, until Ctrl-C",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if every <= 0 || rounds < 0 {
				return usagef("want --every above 0 and --rounds of 0 or more")
			}
			ctx, op, done, err := f.operator(c)
			if err != nil {
				return err
			}
			defer done()
			return f.top(ctx, op, c.OutOrStdout(), every, rounds)
		},
	}
	c.Flags().DurationVar(&every, "every", 2*time.Second, "time between two updates")
	c.Flags().IntVar(&rounds, "rounds", 0, "number of updates; 0: until Ctrl-C")
	return c
}

// top shows the fleet again and again: in place on a terminal, otherwise one below the
// other; as JSON one line a look.
func (f *fleetFlags) top(ctx context.Context, op *protocol.Operator, out io.Writer, every time.Duration, rounds int) error {
	screen := newDisplay(out)
	var before *fleetView
	for n := 1; ; n++ {
		next := time.After(every)
		v, err := f.look(ctx, op)
		switch {
		case ctx.Err() != nil:
			return stopped(ctx)
		case err != nil && rounds > 0:
			return err
		case err != nil:
			screen.Set(err.Error()) // the server may be starting again
		case f.json:
			data, err := json.Marshal(v)
			if err == nil {
				_, err = fmt.Fprintf(out, "%s\n", data)
			}
			if err != nil {
				return err
			}
		case screen.Live():
			screen.Set(v.lines(before)...)
		default:
			if _, err := fmt.Fprintln(out, strings.Join(v.lines(before), "\n")); err != nil {
				return err
			}
		}
		if err == nil {
			before = &v
		}
		if n == rounds {
			return nil
		}
		select {
		case <-ctx.Done():
			return stopped(ctx)
		case <-next:
		}
	}
}

// stopped returns why a command ends early: nil if by Ctrl-C.
func stopped(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// controlled is what became of a verb for one process.
type controlled struct {
	Instance protocol.InstanceID `json:"instance"`
	Report   *protocol.Report    `json:"report,omitempty"` // its last one
	Ended    bool                `json:"ended,omitempty"`  // waited for
	Error    string              `json:"error,omitempty"`
}

// fleetControl is the command of a verb for bot processes. Done is what they are then.
func fleetControl(f *fleetFlags, v protocol.FleetVerb, short, done string) *cobra.Command {
	var all, wait bool
	c := &cobra.Command{
		Use:   string(v) + " INSTANCE...",
		Short: short,
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) > 0) {
				return usagef("sparring fleet %s: want either instances, as \"sparring fleet ls\" lists them, or --all", v)
			}
			ids, err := instanceIDs(args)
			if err != nil {
				return err
			}
			ctx, op, end, err := f.operator(c)
			if err != nil {
				return err
			}
			defer end()
			if f.controlTime = controlWithin; c.Flags().Changed("timeout") {
				f.controlTime = f.timeout
			}
			if all {
				if ids, err = f.instances(ctx, op); err != nil {
					return err
				}
			}
			var ends *lookout
			if wait {
				ends = new(lookout)
			}
			results := make([]controlled, len(ids))
			var wg sync.WaitGroup
			for i, id := range ids {
				wg.Go(func() { results[i] = f.control(ctx, op, id, v, ends) })
			}
			wg.Wait()
			return f.printControlled(c.OutOrStdout(), results, done)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all bot processes that answer, or that an arena knows")
	c.Flags().StringVar(&f.why, "why", "", "reason, for \"sparring fleet ls\" and the log")
	if v == protocol.FleetDrain {
		c.Flags().BoolVar(&wait, "wait", false, "wait until the processes have ended")
	}
	return c
}

// instanceIDs returns the instances that the arguments name.
func instanceIDs(args []string) (ids []protocol.InstanceID, err error) {
	for _, arg := range args {
		id := protocol.InstanceID(arg)
		if err := protocol.CheckID("instance", id); err != nil {
			return nil, usage(err)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// instances returns all bot processes, also those that do not answer.
func (f *fleetFlags) instances(ctx context.Context, op *protocol.Operator) (ids []protocol.InstanceID, err error) {
	view, err := f.look(ctx, op)
	if err != nil {
		return nil, err
	}
	for _, r := range view.bots() {
		ids = append(ids, r.Instance)
	}
	for _, k := range view.Silent {
		ids = append(ids, k.Instance)
	}
	if len(ids) == 0 {
		return nil, errors.New("no bot process answers")
	}
	return ids, nil
}

// lookout has the reports for those who wait for the ends of several processes: every process
// answers a request for reports.
type lookout struct {
	mu      sync.Mutex
	taken   time.Time
	reports []protocol.Report
}

// latest returns what the process of a report says now; false if it says nothing, or another
// process has its instance id.
func (l *lookout) latest(ctx context.Context, op *protocol.Operator, r protocol.Report) (protocol.Report, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.taken) >= endedEvery {
		within, cancel := context.WithTimeout(ctx, endedEvery)
		defer cancel()
		l.reports, _ = op.Reports(within, nil) // without them the processes are asked one by one
		l.taken = time.Now()
	}
	i := slices.IndexFunc(l.reports, func(now protocol.Report) bool {
		return now.Bot != nil && now.Instance == r.Instance && now.Started.Equal(r.Started)
	})
	if i < 0 {
		return r, false
	}
	return l.reports[i], true
}

// control tells a process what to do, and with a lookout waits for its end.
func (f *fleetFlags) control(ctx context.Context, op *protocol.Operator, id protocol.InstanceID, v protocol.FleetVerb, ends *lookout) controlled {
	tell := func(request func(context.Context) (protocol.Report, error)) (protocol.Report, error) {
		within, cancel := context.WithTimeoutCause(ctx, f.controlTime, fmt.Errorf("no answer within %v", f.controlTime))
		defer cancel()
		return request(within)
	}
	r, err := tell(func(ctx context.Context) (protocol.Report, error) { return op.Control(ctx, id, v, f.why) })
	result := controlled{Instance: id, Report: &r}
	if err != nil {
		return controlled{Instance: id, Error: controlError(err)}
	}
	for gone := 0; ends != nil && gone < endedAfter; {
		select {
		case <-ctx.Done():
			return controlled{Instance: id, Error: "not waited for its end: " + context.Cause(ctx).Error()}
		case <-time.After(endedEvery):
		}
		if now, ok := ends.latest(ctx, op, r); ok {
			if now.Mode != protocol.ModeDraining {
				return controlled{Instance: id, Error: "not waited for its end: it was told otherwise, and is " + string(now.Mode)}
			}
			gone, result.Report = 0, &now
			continue // to tell it again would undo what it was told meanwhile
		}
		// What starts processes again may have started the next one with this id meanwhile.
		switch last, err := tell(func(ctx context.Context) (protocol.Report, error) { return op.ControlAgain(ctx, r, v, f.why) }); {
		case err == nil:
			gone, result.Report = 0, &last
		case errors.Is(err, &protocol.Error{Code: protocol.Stale}):
			gone = endedAfter
		case errors.Is(err, nats.ErrNoResponders):
			gone++
		case errors.Is(err, &protocol.Error{Code: protocol.Over}): // it is ending
		}
	}
	result.Ended = ends != nil
	return result
}

// A process has ended when nobody answered this many times, this long apart: it may
// have lost its connection only.
const (
	endedAfter = 2
	endedEvery = 500 * time.Millisecond
)

// controlError says why a process did not do what it was told.
func controlError(err error) string {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.Text
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return "no such bot process is connected (an arena can't be paused or drained: SIGTERM ends it)"
	}
	return "no answer: it hangs, is too busy, or has lost its network; it may do it later, which \"sparring fleet ls\" shows"
}

// printControlled prints the results. It returns an error if some processes did not
// confirm that they did what they were told: one that gave no answer may still do it.
func (f *fleetFlags) printControlled(out io.Writer, results []controlled, done string) error {
	failed := 0
	for _, r := range results {
		if r.Error != "" {
			failed++
		}
	}
	if f.json {
		if err := printJSON(out, results); err != nil {
			return err
		}
	} else {
		for _, r := range results {
			text := r.Error
			switch {
			case r.Ended:
				text = "ended"
			case r.Report != nil:
				text = fmt.Sprintf("%s, %s", done, count(r.Report.Bot.Games+r.Report.Bot.LevelGames, "game", "games"))
			}
			if _, err := fmt.Fprintf(out, "%s: %s\n", r.Instance, text); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s did not confirm it", count(failed, "process", "processes"))
	}
	return nil
}

func fleetAbort(f *fleetFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "abort GAME",
		Short: "End a running game without a result",
		Long: `End a running game without a result: nobody wins or loses it, or any rating. The end
is stored, told to the players and recorded like every other ("void", with the reason).`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("sparring fleet abort: want one game")
			}
			g := protocol.GameID(args[0])
			if err := protocol.CheckID("game", g); err != nil {
				return usage(err)
			}
			ctx, op, done, err := f.operator(c)
			if err != nil {
				return err
			}
			defer done()
			within, cancel := context.WithTimeoutCause(ctx, max(f.timeout, abortTime), errors.New("no arena with this game answers"))
			defer cancel()
			if err := op.Abort(within, g, f.why); err != nil {
				if refusal, ok := errors.AsType[*protocol.Error](err); ok {
					err = errors.New(refusal.Text)
				}
				return fmt.Errorf("game %s: %w", g, err)
			}
			if f.json {
				return printJSON(c.OutOrStdout(), map[string]any{"game": g, "code": protocol.Accepted})
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s: aborted\n", g)
			return err
		},
	}
	c.Flags().StringVar(&f.why, "why", "", "reason, for the record and the log")
	return c
}

// abortTime is how long an abort is tried at least: another arena may have to take over
// the game first.
const abortTime = 10 * time.Second
