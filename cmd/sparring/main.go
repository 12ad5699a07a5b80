// Command sparring is the whole product in one binary: the reference platform,
// the bots that play on it, and the tools around them. Every command only wires
// packages together.
package main

import (
	"io"
	"os"
	"path/filepath"
	"sparring/cmd/sparring/cli"
	"strings"

	"github.com/spf13/cobra"
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

// run is main with explicit arguments and streams. It returns the exit code.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	return cli.Execute(commands(), args, in, out, errs)
}

// commands builds the tree of commands. A bare "sparring" is "sparring up".
func commands() *cobra.Command {
	up := upCommand()
	root := &cobra.Command{
		Use:   "sparring",
		Short: "An online multiplayer bot for Xiangqi, Gomoku and Amazons",
		Long: `Sparring plays Xiangqi, Gomoku and Amazons online: bots take matches from a
queue on NATS and play them with an alpha-beta engine. The default command is
"sparring up": a NATS server, a platform and bots for every game in one process.`,
		Args: noArgs,
		RunE: up.RunE,
	}
	root.Flags().AddFlagSet(up.Flags())
	cli.Prepare(root)
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
