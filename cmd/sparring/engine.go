package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/level"
	"sparring/game"
	"sparring/game/clock"
	"sparring/pipe/frontend"
	"sparring/pipe/playerspec"
)

// checkHash checks --hash, in MiB.
func checkHash(hash int) error {
	if hash < 1 || hash > frontend.MaxHash() {
		return usagef("--hash %d: want 1 to %d MiB", hash, frontend.MaxHash())
	}
	return nil
}

// checkSizes checks --hash, in MiB, and --threads.
func checkSizes(hash, threads int) error {
	if err := checkHash(hash); err != nil {
		return err
	}
	if threads < 1 || threads > frontend.MaxThreads() {
		return usagef("--threads %d: want 1 to %d, the number of cores of this machine", threads, frontend.MaxThreads())
	}
	return nil
}

func engineCommand() *cobra.Command {
	o := frontend.Options{Levels: level.Strongest}
	var hash int
	var clockText string
	c := &cobra.Command{
		Use:   "engine",
		Short: "Run as an engine for a GUI or a match runner",
		Long: `Run as an engine for a GUI or a match runner, over standard input and output.
The protocol is detected by the first line or set by --protocol: ` + strings.Join(frontend.Protocols(), ", ") + `.
docs/engine.md describes how to use it.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkSizes(hash, o.Setup.Threads); err != nil {
				return err
			}
			if o.Setup.Level != 0 && (o.Setup.Level < level.Weakest || o.Setup.Level > level.Strongest) {
				return usagef("--level %d: want %d to %d", o.Setup.Level, level.Weakest, level.Strongest)
			}
			if o.Setup.Variety < 0 || o.Setup.Variety > engine.MaxVariety {
				return usagef("--variety %d: want 0 to %d", o.Setup.Variety, engine.MaxVariety)
			}
			if o.Setup.Level > 0 && o.Setup.Variety > 0 {
				return usagef("--variety is for full strength, not for --level")
			}
			o.Setup.HashBytes, o.Open, o.Book, o.LimitMemory = hash<<20, openEngine, soundBook, limitMemory
			if o.Setup.Book == book.None {
				o.Setup.Book = ""
			} else if err := soundBook(o.Setup.Book); err != nil {
				fmt.Fprintf(c.ErrOrStderr(), "sparring: playing without a book: %v\n", err)
				o.Setup.Book = ""
			}
			if clockText != "" {
				spec, err := clock.Parse(clockText)
				if err != nil {
					return usagef("--clock: %v", err)
				}
				o.Clock = spec
			}
			err := frontend.Serve(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
			if errors.Is(err, frontend.ErrProtocol) || errors.Is(err, game.ErrRules) {
				return usage(err)
			}
			return err
		},
	}
	c.AddCommand(checkCommand(), talkCommand())
	f := c.Flags()
	f.StringVar(&o.Protocol, "protocol", "", "protocol: "+strings.Join(frontend.Protocols(), ", ")+" (default: detected by the first line)")
	f.StringVar(&o.Game, "game", "", "the game, if the protocol does not tell")
	f.StringVar(&o.Rules, "rules", "", "the rules, if the protocol does not tell, such as gomoku/renju-15")
	f.StringVar(&clockText, "clock", "", "the clock, if the protocol sends none: 900 for 15 minutes, 2/move for two seconds a move")
	f.Uint64Var(&o.Nodes, "nodes", 0, "nodes for each move, if the protocol sends no limit (default: by the clock)")
	f.IntVar(&hash, "hash", engine.DefaultHash>>20, "size of the hash table in MiB")
	f.IntVar(&o.Setup.Threads, "threads", 1, "number of search threads")
	f.IntVar(&o.Setup.Level, "level", 0, fmt.Sprintf("level of strength, %d to %d (default: full strength)", level.Weakest, level.Strongest))
	f.IntVar(&o.Setup.Variety, "variety", 0, "err by up to so many percentage points of winning chance in evaluations, so that games differ")
	f.StringVar(&o.Setup.Book, "book", book.None, "opening book: a file or folder, shipped or none")
	return c
}

// openEngine opens our engine with the setup of a GUI. Errors of its book have
// already been reported.
func openEngine(gameName string, s frontend.Setup) (engine.Searcher, error) {
	player := playerspec.Spec{Level: s.Level, Book: s.Book, Eval: s.Eval}
	if s.Level == 0 {
		player.Variety = s.Variety
	}
	return player.Open(gameName, playerspec.Options{HashBytes: s.HashBytes, Threads: s.Threads, Shipped: configs.Books(), Warn: func(error) {}})
}

// Memory of the process besides the heap that Go counts: the pages of the program's file, as
// measured on Linux. A heap of less than the other has nothing left to collect.
const (
	programMemory = 30 << 20
	leastHeap     = 28 << 20
)

// limitMemory gives what was freed back to the system, and has the garbage collector keep to a
// limit for the whole process, in bytes. Without it the heap grows to twice what is used.
func limitMemory(bytes int64) {
	debug.SetMemoryLimit(max(bytes-programMemory, leastHeap))
	debug.FreeOSMemory()
}

// soundBook checks an opening book.
func soundBook(name string) error {
	_, err := book.Open(name, "", configs.Books())
	return err
}
