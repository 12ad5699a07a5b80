// Command sparring is the whole product in one binary: the reference platform,
// the bots that play on it, and the tools around them. Every command only wires
// packages together.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sparring/configs"
	"sparring/internal/journal"
)

func main() {
	os.Exit(run(arguments(os.Args[0], os.Args[1:]), os.Stdin, os.Stdout, os.Stderr))
}

// arguments returns the effective arguments. GUIs start engines without
// arguments, so a copy of the program whose name begins with pbrain- (the
// Gomocup convention) or ends in -engine runs the engine command.
func arguments(program string, args []string) []string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(program)), ".exe")
	if strings.HasPrefix(name, "pbrain-") || strings.HasSuffix(name, "-engine") {
		return append([]string{"engine"}, args...)
	}
	return args
}

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed
	exitUsage  = 2 // invalid command line or settings; nothing was done

	// Of a match that was played to its end.
	exitFaulty = 3  // a player lost every game by its own fault; a scenario of the conformance suite failed
	exitH0     = 10 // --sprt accepted H0
	exitH1     = 11 // --sprt accepted H1
)

// outcome is an end of a command that its exit code alone tells.
type outcome int

func (o outcome) Error() string { return fmt.Sprintf("exit code %d", int(o)) }

// run is main with explicit arguments and streams. It returns the exit code.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	root := commands()
	root.SetArgs(args)
	command, _, err := root.Find(args)
	ctx, stop := signal.NotifyContext(context.Background(), ends(err == nil && command.Name() == "bot")...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends a command that does not end by the first, as while it opens a FIFO
	root.SetIn(in)
	o := &output{w: out}
	root.SetOut(o)
	root.SetErr(errs)
	err = root.ExecuteContext(ctx)
	code, told := errors.AsType[outcome](err)
	if err == nil || told {
		if err = o.failed(); err == nil {
			return int(code)
		}
	}
	text := textOf(ctx, err)
	if !strings.HasPrefix(text, "sparring ") { // else it begins with the command
		text = "sparring: " + text
	}
	fmt.Fprintln(errs, text)
	_, usage := errors.AsType[*usageError](err)
	_, unfit := errors.AsType[*journal.UnfitError](err) // the same command would never go on
	if usage || unfit {
		return exitUsage
	}
	return exitFailed
}

// ends returns the signals that end a command. The end of its terminal is one, unless it was
// started with nohup, or reads its settings again then.
func ends(rereads bool) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !rereads && !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// output is the standard output of a command. It remembers the first error of writing: not
// every command looks at each, and none may call what it has lost a success.
type output struct {
	w   io.Writer
	mu  sync.Mutex
	err error // guarded by mu
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

// failed returns the error because of which some of the output is lost.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf returns the file to which the output of a command goes, or from which its input
// comes.
func fileOf(stream any) (*os.File, bool) {
	if o, ok := stream.(*output); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// textOf returns the text of a command's error for people: the end of its context is an
// interruption, whatever was done then.
func textOf(ctx context.Context, err error) string {
	text := err.Error()
	if ctx.Err() == nil {
		return text
	}
	for _, end := range []error{context.Canceled, context.Cause(ctx)} {
		if what, ok := strings.CutSuffix(text, end.Error()); ok {
			return what + "interrupted"
		}
	}
	return text
}

// usageError marks an invalid command line: exit code 2.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// commands builds the tree of commands. A bare "sparring" is "sparring up".
func commands() *cobra.Command {
	up := upCommand()
	root := &cobra.Command{
		Use:   "sparring",
		Short: "An online multiplayer bot for Xiangqi, Gomoku and Amazons",
		Long: `Sparring plays Xiangqi, Gomoku and Amazons online: bots take matches from a
queue on NATS and play them with an alpha-beta engine. The default command is
"sparring up": a NATS server, a platform and bots for every game in one process.`,
		Args:          noArgs,
		RunE:          up.RunE,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.Flags().AddFlagSet(up.Flags())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w (see %s --help)", plainFlagError(err), c.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		up,
		arenaCommand(),
		botCommand(),
		fleetCommand(),
		credentialsCommand(),
		ladderCommand(),
		recordsCommand(),
		positionCommand(),
		analyseCommand(),
		perftCommand(),
		benchCommand(),
		conformanceCommand(),
		engineCommand(),
		levelsCommand(),
		matchCommand(),
		tableCommand(),
		campaignCommand(),
		experimentCommand(),
		openingsCommand(),
		eventsCommand(),
		weaknessesCommand(),
		bookCommand(),
		learnCommand(),
		tablebaseCommand(),
		versionCommand(),
	)
	return root
}

// helpCommand is cobra's, but refuses what is no command instead of describing another one.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Describe a command",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("unknown command %q (see sparring --help)", strings.Join(args, " "))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}

// plainFlagError says what a flag wants instead of what Go's parser found.
func plainFlagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag := bad.GetFlag()
	if _, ok := flag.Value.(fileValue); ok {
		return fmt.Errorf("--%s %.40q: %w", flag.Name, bad.GetValue(), bad.Unwrap())
	}
	want := configs.Wanted(flag.Value.Type())
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %.40q: want %s", flag.Name, bad.GetValue(), want)
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if !c.HasParent() { // main begins errors with the program's name
			return usagef("unknown command %q (see %s --help)", args[0], c.CommandPath())
		}
		return usagef("%s: unexpected %q (see %s --help)", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}
