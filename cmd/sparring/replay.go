package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine"
	"sparring/engine/book"
	"sparring/lab/study/replay"
	"sparring/pipe/playerspec"
	"sparring/record"
	"sparring/record/format"
)

func recordsReplay(from *archive) *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID|FILE",
		Short: "Search the moves of recorded games again and show the first difference",
		Long: `Search the positions of a recorded game again, with the settings and the seed of
the record, and compare the moves. FILE is a file of records or the result file
of a match, all games of which are replayed. The games of a reproducible profile
are reproduced by the same build, and so are those of a match with fixed
nodes and one thread. For other games the command says what it cannot know. The
exit code is 1 if a game that must be reproduced differs.`,
		Example: `  sparring records replay g5x2
  sparring records replay games.jsonl`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s: want one game's ID or a file", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			records, err := from.recorded(c, args[0])
			if err != nil {
				return err
			}
			return replayAll(c.Context(), c.OutOrStdout(), records)
		},
	}
}

// recorded returns the games of a file, or the records of one game by all its
// writers.
func (a *archive) recorded(c *cobra.Command, name string) (records []*record.Record, err error) {
	if a.nats.given() {
		return nil, usagef("records replay: the platform's records lack the players' searches; give a file or the data directory of a player")
	}
	games, id := record.All(recordsDir(a.data)), name
	if isFile(name) {
		games, id = inSources(c, []string{name}), ""
	}
	for r, err := range games {
		if damaged(err) {
			fmt.Fprintln(c.ErrOrStderr(), "sparring: skipped:", err)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && id != "" {
			return nil, a.empty(id)
		}
		if err != nil {
			return nil, err
		}
		if id == "" || r.ID == id {
			records = append(records, r)
		}
		if err := c.Context().Err(); err != nil {
			return nil, err
		}
	}
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: %.60q", record.ErrNotFound, name)
	}
	return records, nil
}

// errReplay is returned if a game that must be reproduced differs.
var errReplay = errors.New("a reproducible game was not reproduced")

// replayAll replays all players of the records, and prints each and the total.
func replayAll(ctx context.Context, out io.Writer, records []*record.Record) error {
	pool := engine.NewPool(1)
	defer pool.Close()
	var total replay.Report
	var unknown error
	games, failed := 0, false
	for _, r := range records {
		players, err := replay.Players(r)
		if err != nil {
			unknown = err
			continue
		}
		for _, p := range players {
			rep, err := replayPlayer(ctx, pool, p)
			if err != nil {
				return err
			}
			reasons := p.Unknown(engine.Build())
			printReplay(out, p, rep, reasons)
			failed = failed || rep.First != nil && len(reasons) == 0
			total.Moves += rep.Moves
			total.Same += rep.Same
			games++
		}
	}
	if games == 0 {
		return unknown
	}
	if games > 1 {
		fmt.Fprintf(out, "\n%d replays, %d of %s the same\n", games, total.Same, count(total.Moves, "move is", "moves are"))
	}
	if failed {
		return errReplay
	}
	return nil
}

// replayPlayer replays one side of a game with the engine, the hash table and the
// book that it had.
func replayPlayer(ctx context.Context, pool *engine.Pool, p replay.Player) (rep replay.Report, err error) {
	options := playerspec.Options{HashBytes: p.Settings.HashMB << 20, Threads: max(p.Settings.Threads, 1), Shipped: configs.Books(), Likeness: newImitator(ctx, io.Discard).find}
	spec, err := playerspec.Parse(p.Settings.Spec)
	if err != nil {
		return rep, err
	}
	if spec.Outside != nil {
		return rep, nil // a record must not start programs
	}
	if name := p.Settings.Book; name != "" && spec.Book == "" {
		if options.Books, err = book.Open(name, "", configs.Books()); err != nil {
			return rep, fmt.Errorf("game %s: the opening book that it was played with: %w", p.Record.ID, err)
		}
		options.Book = name
	}
	engines := playerspec.NewEngines(options)
	defer engines.Close() // the error does not matter
	return p.Run(ctx, pool, engines.NewGame)
}

func printReplay(out io.Writer, p replay.Player, rep replay.Report, reasons []string) {
	fmt.Fprintf(out, "game %s, %s seat: %s (%s)\n", p.Record.ID, p.Seat, format.Name(p.Record.Seats[p.Seat]), p.Settings.Spec)
	if rep.Moves > 0 {
		fmt.Fprintf(out, "  %d of %s the same, %d of them with the same score, depth and nodes\n", rep.Same, count(rep.Moves, "move is", "moves are"), rep.Exact)
	} else {
		fmt.Fprintln(out, "  no moves replayed")
	}
	if d := rep.First; d != nil {
		t := d.Recorded.Think
		fmt.Fprintf(out, "  first difference at ply %d, in %s\n", d.Ply, d.Position)
		fmt.Fprintf(out, "    recorded %-10s score %d, depth %d, %d nodes (%s)\n", d.Recorded.Move, t.Score, t.Depth, t.Nodes, t.Source)
		fmt.Fprintf(out, "    replayed %-10s score %d, depth %d, %d nodes (%s)\n", d.Replayed, d.Result.Score, d.Result.Depth, d.Result.Nodes, d.Result.Source)
	}
	for i, reason := range reasons {
		if i == 0 {
			fmt.Fprintln(out, "  differences are possible without a fault, because")
		}
		fmt.Fprintf(out, "    - %s\n", reason)
	}
}
