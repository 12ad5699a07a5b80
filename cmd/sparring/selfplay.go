package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/journal"
	"sparring/lab/match"
	"sparring/record"
)

// selfPlayFlags holds the flags of book selfplay.
type selfPlayFlags struct {
	game, rules, out string
	games, hash      int
	openings         string // file, empty: none
	opened           string // what the openings are, for terms
	book.SelfPlay
}

func bookSelfPlay() *cobra.Command {
	var f selfPlayFlags
	c := &cobra.Command{
		Use:   "selfplay",
		Short: "Generate self-play games for a book",
		Long: `Generate self-play games from the start position or from openings in turn, with random
choices among the best moves in the first plies. The output is a file of records, one
JSON line per game; missing games are added to an existing file. A game depends only
on its number, the seed and the other flags.`,
		Example: `  sparring book selfplay --game gomoku --rules renju-15 --games 500 --out games.jsonl
  sparring book build --game gomoku --rules renju-15 --out renju.book games.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			rules, err := rulesOf(f.game, f.rules)
			if err != nil {
				return usage(err)
			}
			if f.out == "" || f.games < 1 {
				return usagef("--out is required, --games must be positive")
			}
			if err := checkHash(f.hash); err != nil {
				return err
			}
			f.Rules, f.Hash = rules.Name, f.hash<<20
			if err := f.readOpenings(rules); err != nil {
				return usage(err)
			}
			if err := f.Start(); err != nil {
				return usage(err)
			}
			return f.run(c)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", anyGame()+" (required)")
	fl.StringVar(&f.rules, "rules", "", "rule set, such as wxf or renju-15 (default: the game's)")
	fileFlag(fl, &f.out, "out", "file of records to write or to resume (required)")
	fl.IntVar(&f.games, "games", 100, "total games in the file")
	fl.IntVar(&f.hash, "hash", 16, "hash table, MiB")
	fl.Uint64Var(&f.Seed, "seed", 1, "seed of all random choices")
	fl.Uint64Var(&f.Nodes, "nodes", 2000, "nodes per move")
	fl.StringVar(&f.openings, "openings", "", "file of openings, whose moves begin the games in turn, or shipped (default: none)")
	fl.IntVar(&f.Plies, "plies", 12, "plies with randomly chosen moves, after the opening")
	fl.IntVar(&f.Lines, "lines", 4, "number of moves to choose from")
	fl.Float64Var(&f.Spread, "spread", 0.02, "loss of winning chance at which a move is chosen 1/e as often as the best")
	fl.Uint64Var(&f.Explore, "explore", 10, "multiple of the nodes in positions with a random choice")
	return c
}

// readOpenings reads the openings that games begin with.
func (f *selfPlayFlags) readOpenings(rules *game.Rules) error {
	if f.openings == "" {
		return nil
	}
	set, name, err := openingFile(rules, f.openings)
	if err != nil {
		return fmt.Errorf("--openings: %w", err)
	}
	for _, o := range set.Openings {
		if o.Start != "" {
			return fmt.Errorf("--openings %s: %s: a book needs moves from the usual start", name, o)
		}
		f.Openings = append(f.Openings, o.Moves)
	}
	f.opened = fmt.Sprintf(" --openings %s (%s)", name, set.Digest())
	return nil
}

// terms returns the flags that determine the games.
func (f *selfPlayFlags) terms() string {
	return fmt.Sprintf("book selfplay --rules %s --seed %d --nodes %d --plies %d --lines %d --spread %g --explore %d --hash %d%s",
		f.Rules, f.Seed, f.Nodes, f.Plies, f.Lines, f.Spread, f.Explore, f.hash, f.opened)
}

func (f *selfPlayFlags) run(c *cobra.Command) error {
	done := map[string]bool{}
	file, err := f.open(done)
	if err != nil {
		return err
	}
	defer file.Close() // every game is written when it is appended
	if file.Torn() {
		sayTorn(c.ErrOrStderr(), f.out)
	}
	screen := newDisplay(c.ErrOrStderr())
	begin, made := time.Now(), 0
	for n := 1; n <= f.games; n++ {
		r := &record.Record{ID: fmt.Sprintf("%x-%d", f.Seed, n)}
		if done[r.ID] {
			continue
		}
		g, out, err := f.Play(c.Context(), n)
		if errors.Is(err, context.Canceled) {
			return fmt.Errorf("interrupted at game %d; run the same command to resume", n)
		}
		if err == nil {
			r, err = f.record(g, out)
		}
		if err == nil {
			err = r.Validate()
		}
		if err == nil {
			err = file.Append(r)
		}
		if err != nil {
			return fmt.Errorf("game %d: %w", n, err)
		}
		made++
		if screen.Live() || n == f.games || n%max(f.games/maxLines, 1) == 0 {
			left := time.Duration(float64(time.Since(begin)) / float64(made) * float64(f.games-n))
			screen.Line("selfplay", fmt.Sprintf("%d/%d games, %v left", n, f.games, left.Round(time.Second)))
		}
	}
	screen.Clear()
	return nil
}

// open opens or creates the file of games, and notes those that it has by their ids. The
// error says so if they were played with other settings, or another process plays them.
func (f *selfPlayFlags) open(done map[string]bool) (*journal.File, error) {
	return journal.Open(f.out, journal.Layout{Name: "self-play", What: "a file of records", Prefix: `{"v":`, MaxLine: record.MaxLine, Take: func(line []byte) error {
		r, err := record.Decode(line)
		if err != nil {
			return err
		}
		if r.Event != f.terms() {
			return usagef("game %s was played with different settings: %q, now %q", r.ID, r.Event, f.terms())
		}
		done[r.ID] = true
		return nil
	}})
}

// record converts a game to a record.
func (f *selfPlayFlags) record(g book.Game, out game.Outcome) (*record.Record, error) {
	rules, err := catalog.Rules(g.Rules)
	if err != nil {
		return nil, err
	}
	p, err := rules.New("")
	if err != nil {
		return nil, err
	}
	r := &record.Record{
		V: record.Version, ID: g.ID, Game: rules.Game, Rules: rules.Name, Event: f.terms(), Result: out.Result, Reason: out.Reason,
		Source: record.Source{By: record.ByMatch, Build: engine.Build(), Seed: f.Seed,
			Settings: &record.Settings{Nodes: f.Nodes, HashMB: f.hash, Threads: 1}},
	}
	if out.Reason == "" {
		r.Reason, r.Text = match.ReasonResignRule, "the engine considered the game decided"
		if out.Result == game.Draw {
			r.Reason, r.Text = match.ReasonMaxPlies, ""
		}
	}
	for i := range r.Seats {
		r.Seats[i] = record.Seat{Player: "self", Kind: record.Bot, Build: engine.Build()}
	}
	for _, text := range g.Moves {
		r.Plies = append(r.Plies, record.Ply{Seat: p.Turn(), Move: text})
		if _, err := game.PlayText(p, text); err != nil {
			return nil, err
		}
	}
	return r, nil
}
