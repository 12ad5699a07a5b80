package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/engine/book"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/journal"
	"sparring/internal/texttable"
)

func bookShow() *cobra.Command {
	var gameName, rules, moves, notation string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show BOOK",
		Short: "Show the book moves of a position",
		Long: `Show the book moves of a position: for each move its games, its score and the
probability that it is played. BOOK is a file, or "shipped" for the book that
comes with the program.`,
		Example: `  sparring book show shipped --game xiangqi --moves "h2e2 h9g7"`,
		Args:    oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			b, err := findBook(args[0], gameName, rules)
			if err != nil {
				return err
			}
			p, err := afterMoves(b, rules, moves)
			if err != nil {
				return err
			}
			v, err := lookAt(b, p, game.Notation(notation))
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(v)
			}
			return v.print(c.OutOrStdout())
		},
	}
	f := c.Flags()
	f.StringVar(&gameName, "game", "", "with shipped: "+anyGame())
	f.StringVar(&rules, "rules", "", "rule set (default: the book's; with shipped: the game's)")
	f.StringVar(&moves, "moves", "", "moves from the start position, separated by spaces, "+inAnyNotation)
	notationFlag(c, &notation)
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// changeBook replaces the book in a file by the one that change returns, if it returns one. No
// other command changes the file meanwhile: what it added would be lost.
func changeBook(name string, change func(*book.Book) (*book.Book, error)) error {
	if name == book.Shipped {
		return usagef("the book that comes with the program can't be changed: make a file of it by \"sparring book export shipped\" and \"sparring book import\"")
	}
	if _, err := os.Stat(name); err != nil {
		return fmt.Errorf("book: %w", err)
	}
	unlock, err := journal.Lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	b, err := book.Load(name)
	if err != nil {
		return err
	}
	changed, err := change(b)
	if err != nil || changed == nil {
		return err
	}
	return changed.Save(name)
}

// findBook opens the book in a file, of the game if one is named, or the shipped book for a
// game or rule set.
func findBook(name, gameName, rules string) (*book.Book, error) {
	if name != book.Shipped {
		b, err := book.Load(name)
		if err != nil {
			return nil, err
		}
		if of, _, _ := strings.Cut(b.Family(), "/"); gameName != "" && gameName != of {
			return nil, usagef("--game %s: %s is a book of %s", gameName, name, of)
		}
		return b, nil
	}
	set, err := rulesOf(gameName, rules)
	if err != nil {
		return nil, usage(err)
	}
	shelf, err := book.Open(book.Shipped, set.Game, configs.Books())
	if err != nil {
		return nil, err
	}
	b := shelf.For(set.Name)
	if b == nil {
		return nil, fmt.Errorf("there is no shipped book for %s", set.Name)
	}
	return b, nil
}

// afterMoves returns the position after the moves, under the book's rules or a
// rule set that shares them.
func afterMoves(b *book.Book, rules, moves string) (game.Position, error) {
	r, err := catalog.Rules(b.Family())
	if rules != "" {
		of, _, _ := strings.Cut(b.Family(), "/")
		r, err = catalog.RulesOf(of, rules)
	}
	if err != nil {
		return nil, usage(err)
	}
	if book.Family(r.Name) != b.Family() {
		return nil, usagef("--rules %s: the book is for %s", r.Name, b.Family())
	}
	p, err := r.New("")
	if err != nil {
		return nil, err
	}
	for i, text := range strings.Fields(moves) {
		m, err := readMove(p, text)
		if err == nil {
			err = p.Play(m)
		}
		if err != nil {
			return nil, usagef("--moves, ply %d: %w", i+1, err)
		}
	}
	return p, nil
}

// inAnyNotation says what readMove reads.
const inAnyNotation = "in coordinates, WXF or Chinese"

// readMove reads a move in the usual notation of its game, or else in the first other
// one that it is in. The error is that of the usual one, unless the text is a move of
// another that is not legal.
func readMove(p game.Position, text string) (game.Move, error) {
	m, usual := p.Parse(text)
	in, ok := p.(game.Notated)
	if usual == nil || !ok {
		return m, usual
	}
	for _, n := range in.Notations()[1:] {
		m, err := in.ParseIn(n, text)
		if err == nil {
			return m, nil
		}
		if errors.Is(err, game.ErrIllegal) && errors.Is(usual, game.ErrSyntax) {
			usual = err
		}
	}
	return game.NoMove, usual
}

// notationFlag adds the flag for the notation of printed moves.
func notationFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "notation", "", "notation of printed moves: iccs, uci, wxf, chinese (Xiangqi); slash, hyphens, parens (Amazons)")
}

// bookView describes the book moves of a position.
type bookView struct {
	Rules     string     `json:"rules"`
	Games     int        `json:"games"`
	Positions int        `json:"positions"`
	Entries   int        `json:"entries"`
	Position  string     `json:"position"`
	Moves     []moveView `json:"moves"`
}

// moveView is a book move.
type moveView struct {
	Moves      []string `json:"moves"` // several where the board is symmetric
	Wins       uint32   `json:"wins"`
	Draws      uint32   `json:"draws"`
	Losses     uint32   `json:"losses"`
	Score      float64  `json:"score"`
	Learnt     float64  `json:"learnt"` // part of the score
	Preference string   `json:"preference"`
	Weight     float64  `json:"weight"`
	Share      float64  `json:"share"` // 0: not played
}

func lookAt(b *book.Book, p game.Position, n game.Notation) (bookView, error) {
	v := bookView{Rules: b.Family(), Games: b.Games(), Position: p.String(), Moves: []moveView{}}
	v.Positions, v.Entries = b.Size()
	as, err := notationOf(p, n)
	if err != nil {
		return v, err
	}
	for _, c := range b.Look(p, book.Options{}) {
		m := moveView{Wins: c.Wins, Draws: c.Draws, Losses: c.Losses, Score: c.Score(), Learnt: float64(c.Learnt) / 1000,
			Preference: c.Preference.String(), Weight: c.Weight(), Share: c.Share, Moves: []string{}}
		for _, legal := range c.Moves {
			m.Moves = append(m.Moves, as.format(legal))
		}
		v.Moves = append(v.Moves, m)
	}
	return v, nil
}

func (v bookView) print(out io.Writer) error {
	fmt.Fprintf(out, "rules     %s\ngames     %d\nmoves     %d in %s\nposition  %s\n\n", v.Rules, v.Games, v.Entries, count(v.Positions, "position", "positions"), v.Position)
	if len(v.Moves) == 0 {
		fmt.Fprintln(out, "this position is not in the book")
		return nil
	}
	t := texttable.Table{{"MOVE", "WINS", "DRAWS", "LOSSES", "SCORE", "LEARNT", "WEIGHT", "SHARE", "PREFERENCE"}}
	for _, m := range v.Moves {
		t.Add(strings.Join(m.Moves, " "), m.Wins, m.Draws, m.Losses, fmt.Sprintf("%.1f%%", 100*m.Score), fmt.Sprintf("%+.1f%%", 100*m.Learnt),
			fmt.Sprintf("%.1f", m.Weight), fmt.Sprintf("%.1f%%", 100*m.Share), m.Preference)
	}
	return t.Write(out) // Chinese characters are two columns wide
}

func bookPrefer() *cobra.Command {
	var by int
	c := &cobra.Command{
		Use:     "prefer BOOK --moves LINE",
		Short:   "Make the last move of a line more or less likely",
		Example: `  sparring book prefer my.book --moves "h2e2 h9g7 h0g2" --by 2`,
	}
	f := c.Flags()
	f.IntVar(&by, "by", 1, "how many times to double its weight (negative: halve); 0: reset")
	return preferring(c, func() (book.Preference, error) {
		if by < -int(book.MaxPreference) || by > int(book.MaxPreference) {
			return 0, usagef("--by %d: want %d to %d", by, -book.MaxPreference, book.MaxPreference)
		}
		return book.Preference(by), nil
	})
}

func bookAvoid() *cobra.Command {
	c := &cobra.Command{
		Use:     "avoid BOOK --moves LINE",
		Short:   "Never play the last move of a line",
		Example: `  sparring book avoid my.book --moves "h2e2 h9g7 b0a2"`,
	}
	return preferring(c, func() (book.Preference, error) { return book.Avoid, nil })
}

// preferring adds the flags and arguments that set the preference of a move.
func preferring(c *cobra.Command, what func() (book.Preference, error)) *cobra.Command {
	var line, rules, notation string
	notationFlag(c, &notation)
	c.Flags().StringVar(&line, "moves", "", "moves from the start position, separated by spaces, "+inAnyNotation+"; applies to the last one (required)")
	c.Flags().StringVar(&rules, "rules", "", "rule set (default: the book's)")
	c.Args = oneFile
	c.RunE = func(c *cobra.Command, args []string) error {
		pref, err := what()
		if err != nil {
			return err
		}
		moves := strings.Fields(line)
		if len(moves) == 0 {
			return usagef("--moves is required: a line, whose last move is meant")
		}
		var b *book.Book
		var p game.Position
		err = changeBook(args[0], func(old *book.Book) (*book.Book, error) {
			last := len(moves) - 1
			if p, err = afterMoves(old, rules, strings.Join(moves[:last], " ")); err != nil {
				return nil, err
			}
			m, err := readMove(p, moves[last])
			if err != nil {
				return nil, usagef("--moves, ply %d: %w", last+1, err)
			}
			if _, err := notationOf(p, game.Notation(notation)); err != nil {
				return nil, err
			}
			builder := old.Edit(0)
			if err := builder.Prefer(p, m, pref); err != nil {
				return nil, usage(err)
			}
			b = builder.Book(0)
			return b, nil
		})
		if err != nil {
			return err
		}
		v, err := lookAt(b, p, game.Notation(notation))
		if err != nil {
			return err
		}
		return v.print(c.OutOrStdout())
	}
	return c
}
