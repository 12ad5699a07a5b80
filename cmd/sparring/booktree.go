package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sparring/engine/book"
	"sparring/game"
	"sparring/internal/texttable"
)

// treeFlags are the flags of book tree.
type treeFlags struct {
	game, rules, moves, notation string
	depth, least                 int
}

func bookTree() *cobra.Command {
	var f treeFlags
	c := &cobra.Command{
		Use:   "tree BOOK",
		Short: "Show the lines of a book as a tree, with their scores",
		Long: `Show the lines of a book as a tree: for each move its games, the score of the side
that plays it, and the probability that it is played. Of moves that are equivalent
by symmetry one is shown. A position that was shown before is not opened again.
BOOK is a file, or "shipped" for the book that comes with the program.`,
		Example: `  sparring book tree shipped --game xiangqi --depth 4 --notation chinese
  sparring book tree my.book --moves "炮二平五" --depth 8 --min-games 10`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if f.depth < 1 || f.least < 0 {
				return usagef("--depth %d, --min-games %d: want at least 1 and 0", f.depth, f.least)
			}
			b, err := findBook(args[0], f.game, f.rules)
			if err != nil {
				return err
			}
			p, err := afterMoves(b, f.rules, f.moves)
			if err != nil {
				return err
			}
			t := tree{treeFlags: f, book: b, table: texttable.Table{{"LINE", "GAMES", "SCORE", "SHARE"}}, shown: map[uint64]bool{p.Key(): true}}
			if err := t.grow(p, 0); err != nil {
				return err
			}
			if len(t.table) == 1 {
				_, err := fmt.Fprintln(c.OutOrStdout(), "this position is not in the book")
				return err
			}
			return t.table.Write(c.OutOrStdout())
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", "with shipped: "+anyGame())
	fl.StringVar(&f.rules, "rules", "", "rule set (default: the book's; with shipped: the game's)")
	fl.StringVar(&f.moves, "moves", "", "moves from the start position to begin after, separated by spaces, "+inAnyNotation)
	fl.IntVar(&f.depth, "depth", 8, "plies to show")
	fl.IntVar(&f.least, "min-games", 0, "omit moves with fewer games")
	notationFlag(c, &f.notation)
	return c
}

// tree is the output of book tree.
type tree struct {
	treeFlags
	book  *book.Book
	table texttable.Table
	shown map[uint64]bool // keys of positions
}

// grow adds the moves of a position that is so deep in the tree.
func (t *tree) grow(p game.Position, deep int) error {
	if deep == t.depth {
		return nil
	}
	as, err := notationOf(p, game.Notation(t.notation))
	if err != nil {
		return err
	}
	for _, c := range t.book.Look(p, book.Options{}) {
		if c.Games() < t.least || len(c.Moves) == 0 {
			continue
		}
		q := p.Clone()
		if err := q.Play(c.Moves[0]); err != nil {
			return err
		}
		again := ""
		if t.shown[q.Key()] && deep+1 < t.depth {
			again = " (see above)"
		}
		share := fmt.Sprintf("%.1f%%", 100*c.Share)
		if c.Preference != 0 {
			share += " " + c.Preference.String()
		}
		t.table.Add(strings.Repeat("  ", deep)+as.format(c.Moves[0])+again, c.Games(), fmt.Sprintf("%.1f%%", 100*c.Score()), share)
		if again == "" {
			t.shown[q.Key()] = true
			if err := t.grow(q, deep+1); err != nil {
				return err
			}
		}
	}
	return nil
}
