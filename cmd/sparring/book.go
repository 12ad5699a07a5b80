package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/internal/atomicfile"
)

func bookCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "book",
		Short: "Build, update and inspect opening books",
		Long: `Build, update and inspect opening books. Bots use the shipped books, or those
that SPARRING_BOOK names. See docs/book.md.`,
		RunE: func(c *cobra.Command, args []string) error { return subcommand(c, args) },
	}
	c.AddCommand(bookBuild(), bookLearn(), bookShow(), bookTree(), bookPrefer(), bookAvoid(), bookExport(), bookImport(), bookSelfPlay())
	return c
}

// someFiles requires at least n arguments.
func someFiles(least int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least {
			return usagef("%s: want %s", c.CommandPath(), what)
		}
		return nil
	}
}

func bookBuild() *cobra.Command {
	var gameName, rules, out, manifest string
	var plies, least int
	c := &cobra.Command{
		Use:   "build SOURCE...",
		Short: "Build a book from games",
		Long: `Build a book from games.

` + aSource + `
Games under other rules, without a result, or decided by a clock or a fault are
skipped, and so are duplicates.`,
		Example: `  sparring book build --game xiangqi --out xiangqi.book data/records
  sparring book build --game gomoku --rules renju-15 --out renju.book match.jsonl`,
		Args: someFiles(1, "games to read"),
		RunE: func(c *cobra.Command, args []string) error {
			set, err := rulesOf(gameName, rules)
			if err != nil {
				return usage(err)
			}
			if out == "" || plies < 1 || least < 1 {
				return usagef("--out is required, --plies and --min-games must be positive")
			}
			if err := checkOutput("--out", out, args...); err != nil {
				return err
			}
			builder, err := book.NewBuilder(set.Name, plies)
			if err != nil {
				return usage(err)
			}
			t, err := feed(c, args, builder.Count)
			if err != nil {
				return err
			}
			if t.counted == 0 {
				return fmt.Errorf("no book written: %v", t)
			}
			b := builder.Book(least)
			if err := b.Save(out); err != nil {
				return err
			}
			positions, moves := b.Size()
			fmt.Fprintf(c.OutOrStdout(), "%s: %v; %s in %s\n", out, t, count(moves, "move", "moves"), count(positions, "position", "positions"))
			if manifest == "" {
				return nil
			}
			o := origin{Rules: b.Family(), Games: b.Games(), Positions: positions, Moves: moves, Build: engine.Build(),
				SHA256: fmt.Sprintf("%x", sha256.Sum256(b.Bytes())), Plies: plies, MinGames: least, Sources: t.events}
			return o.note(manifest, filepath.Base(out))
		},
	}
	f := c.Flags()
	f.StringVar(&gameName, "game", "", anyGame()+" (required)")
	f.StringVar(&rules, "rules", "", "rule set, such as renju-15 (default: the game's); all of Xiangqi's share a book")
	fileFlag(f, &out, "out", "book to write (required)")
	f.IntVar(&plies, "plies", 24, "plies of each game to count")
	f.IntVar(&least, "min-games", 3, "omit moves with fewer games")
	fileFlag(f, &manifest, "manifest", "JSON file to update with the origin of the book")
	return c
}

// origin describes how a book was made, so that it can be reproduced.
type origin struct {
	SHA256    string         `json:"sha256"`
	Rules     string         `json:"rules"`
	Games     int            `json:"games"`
	Positions int            `json:"positions"`
	Moves     int            `json:"moves"`
	Plies     int            `json:"plies"`
	MinGames  int            `json:"min_games"`
	Build     string         `json:"build"`
	Sources   map[string]int `json:"sources"` // games by the event in their records, for self-play its command
}

// note stores the origin in a manifest under the book's name.
func (o origin) note(path, name string) error {
	all := map[string]origin{}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &all); err != nil {
			return fmt.Errorf("manifest %s: %w", path, err)
		}
	}
	all[name] = o
	if data, err = json.MarshalIndent(all, "", "  "); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

func bookLearn() *cobra.Command {
	var plies int
	c := &cobra.Command{
		Use:   "learn BOOK SOURCE...",
		Short: "Add finished games to a book and avoid lines that lost",
		Long: `Add finished games to a book and avoid lines that lost. A SOURCE is as for book
build. Games that the book has counted are skipped, so the command can be run
again on a growing folder of records.`,
		Args: someFiles(2, "a book and games to read"),
		RunE: func(c *cobra.Command, args []string) error {
			if plies < 1 {
				return usagef("--plies must be positive")
			}
			var t *tally
			err := changeBook(args[0], func(b *book.Book) (_ *book.Book, err error) {
				builder := b.Edit(plies)
				if t, err = feed(c, args[1:], builder.Learn); err != nil || t.counted == 0 {
					return nil, err
				}
				return builder.Book(0), nil
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %v\n", args[0], t)
			return nil
		},
	}
	c.Flags().IntVar(&plies, "plies", 24, "plies of each game to count")
	return c
}

func bookExport() *cobra.Command {
	var gameName, rules string
	c := &cobra.Command{
		Use:   "export BOOK",
		Short: "Print a book as text, for editing and book import",
		Long: `Print a book as text, for editing and book import. BOOK is a file, or "shipped" for
the book that comes with the program.`,
		Example: `  sparring book export shipped --game xiangqi > xiangqi.txt
  sparring book import xiangqi.txt --out my.book`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] != book.Shipped && gameName+rules != "" {
				return usagef("--game and --rules go with shipped: a file has its own")
			}
			b, err := findBook(args[0], gameName, rules)
			if err != nil {
				return err
			}
			return b.WriteText(c.OutOrStdout())
		},
	}
	c.Flags().StringVar(&gameName, "game", "", "with shipped: "+anyGame())
	c.Flags().StringVar(&rules, "rules", "", "with shipped: rule set (default: the game's)")
	return c
}

func bookImport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "import TEXT",
		Short: "Convert the text of book export to a book",
		Args:  oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is required")
			}
			if err := checkOutput("--out", out, args...); err != nil {
				return err
			}
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			text, err := decoded(f)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			b, err := book.ReadText(text)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return b.Save(out)
		},
	}
	fileFlag(c.Flags(), &out, "out", "book to write (required)")
	return c
}

func oneFile(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s: want one file", c.CommandPath())
	}
	return nil
}
