package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/game"
	"sparring/game/catalog"
)

// place are the flags that name a position.
type place struct {
	game, rules, position string
	event                 string
	command               *cobra.Command
}

func (p *place) flags(c *cobra.Command) {
	p.command = c
	f := c.Flags()
	f.StringVar(&p.event, "event", "", anEvent+": its game and rules, where no flag says otherwise")
	f.StringVar(&p.game, "game", "", anyGame()+" (required)")
	f.StringVar(&p.rules, "rules", "", "rule set, such as wxf or renju-15 (default: what the position implies)")
	f.StringVar(&p.position, "position", "", "position: a FEN or the game's own text, with \"moves\" and what was played from there, if anything (default: the usual start)")
}

// anyGame lists the names of the games for help texts: "a, b or c".
func anyGame() string {
	names := catalog.Names()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (p *place) setup() (game.Position, error) {
	if p.event != "" {
		e, err := openEvent(p.event)
		if err != nil {
			return nil, err
		}
		if err := follow(p.command, e, ofGame(e)...); err != nil {
			return nil, err
		}
	}
	if p.game == "" {
		return nil, usagef("--game is required: %s", anyGame())
	}
	l, err := catalog.ParseLine(p.position)
	if err != nil {
		return nil, usagef("--position: %w", err)
	}
	pos, err := l.Position(p.game, p.rules, nil)
	if err != nil {
		return nil, usage(err)
	}
	return pos, nil
}

// deepestPerft is a depth that nobody waits for.
const deepestPerft = 100

func perftCommand() *cobra.Command {
	var at place
	var depth int
	c := &cobra.Command{
		Use:   "perft",
		Short: "Count the leaf nodes of the move tree",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if depth < 0 || depth > deepestPerft {
				return usagef("--depth is required, 0 to %d", deepestPerft)
			}
			pos, err := at.setup()
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "rules %s\nposition %s\n", pos.Rules().Name, pos)
			start := time.Now()
			counted := make(chan uint64, 1)
			go func() { counted <- game.Perft(pos, depth) }()
			var n uint64
			select {
			case n = <-counted:
			case <-c.Context().Done():
				return c.Context().Err() // the count ends with the program
			}
			took := time.Since(start)
			fmt.Fprintf(out, "seconds %.3f\n", took.Seconds())
			if ms := took.Milliseconds(); ms > 0 {
				fmt.Fprintf(out, "per second %d\n", n*1000/uint64(ms))
			}
			fmt.Fprintln(out, "nodes", n)
			return nil
		},
	}
	at.flags(c)
	c.Flags().IntVar(&depth, "depth", -1, "depth in plies (required)")
	return c
}

func positionCommand() *cobra.Command {
	var at place
	var moves, notation string
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "position",
		Short: "Show a position: board, legal moves and outcome",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			pos, err := at.setup()
			if err != nil {
				return err
			}
			as, err := notationOf(pos, game.Notation(notation))
			if err != nil {
				return err
			}
			if err := playMoves(pos, game.Notation(notation), moves); err != nil {
				return usagef("--moves, %w", err)
			}
			view := viewOf(pos, as)
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(view)
			}
			view.print(c.OutOrStdout(), pos.Diagram(), all)
			return nil
		},
	}
	at.flags(c)
	c.Flags().StringVar(&moves, "moves", "", "moves to play first, separated by spaces")
	c.Flags().StringVar(&notation, "notation", "", "notation of moves: iccs, uci, wxf, chinese (Xiangqi); slash, hyphens, parens (Amazons)")
	c.Flags().BoolVar(&all, "legal", false, fmt.Sprintf("list the legal moves also where there are more than %d", maxListed))
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// maxListed is how many legal moves the position command lists without being asked:
// a position of Amazons has thousands.
const maxListed = 300

// reader returns the function that reads a move in a notation.
func reader(n game.Notation) catalog.MoveReader {
	return func(p game.Position, text string) (game.Move, error) {
		as, err := notationOf(p, n)
		if err != nil {
			return game.NoMove, err
		}
		return as.parse(text)
	}
}

// playMoves plays moves, written in a notation and separated by spaces. The error
// names the ply, from 1.
func playMoves(pos game.Position, n game.Notation, moves string) error {
	if _, err := notationOf(pos, n); err != nil {
		return err
	}
	return catalog.PlayMoves(pos, strings.Fields(moves), reader(n))
}

// moveNotation reads and writes the moves of a position in one notation.
type moveNotation struct {
	parse  func(string) (game.Move, error)
	format func(game.Move) string
}

// notationOf returns a notation of the position's game; "" is the usual one.
func notationOf(pos game.Position, n game.Notation) (moveNotation, error) {
	if n == "" {
		return moveNotation{pos.Parse, pos.Format}, nil
	}
	var known []game.Notation
	if p, ok := pos.(game.Notated); ok {
		if known = p.Notations(); slices.Contains(known, n) {
			return moveNotation{
				func(text string) (game.Move, error) { return p.ParseIn(n, text) },
				func(m game.Move) string { return p.FormatIn(n, m) },
			}, nil
		}
	}
	if len(known) == 0 {
		return moveNotation{}, usagef("--notation %q: %s has only its own", n, pos.Rules().Game)
	}
	return moveNotation{}, usagef("--notation %q: %s has %q", n, pos.Rules().Game, known)
}

// positionView is a position as the position command shows it.
type positionView struct {
	Game      string                `json:"game"`
	Rules     string                `json:"rules"`
	Position  string                `json:"position"`
	Key       string                `json:"key"` // 16 hex digits
	Turn      game.Seat             `json:"turn"`
	Legal     int                   `json:"legal"`
	Moves     []string              `json:"moves"`
	Outcome   game.Result           `json:"outcome"`
	Reason    game.Reason           `json:"reason"`
	Forbidden []game.ForbiddenPoint `json:"forbidden"`
}

func viewOf(pos game.Position, as moveNotation) positionView {
	legal := pos.Legal(nil)
	v := positionView{
		Game: pos.Rules().Game, Rules: pos.Rules().Name, Position: pos.String(),
		Key: game.KeyText(pos.Key()), Turn: pos.Turn(), Legal: len(legal),
		Moves: make([]string, len(legal)), Outcome: pos.Outcome().Result, Reason: pos.Outcome().Reason,
		Forbidden: []game.ForbiddenPoint{},
	}
	for i, m := range legal {
		v.Moves[i] = as.format(m)
	}
	if f, ok := pos.(game.Forbidder); ok {
		v.Forbidden = append(v.Forbidden, f.Forbidden()...)
	}
	return v
}

func (v positionView) print(out io.Writer, diagram string, all bool) {
	fmt.Fprintf(out, "%s\n\nrules     %s\nposition  %s\nkey       %s\n", strings.TrimRight(diagram, "\n"), v.Rules, v.Position, v.Key)
	if v.Outcome != game.Undecided {
		fmt.Fprintf(out, "outcome   %s (%s)\n", v.Outcome, v.Reason)
		return
	}
	list := ": " + strings.Join(v.Moves, " ")
	if v.Legal > maxListed && !all {
		list = " (--legal lists them)"
	}
	fmt.Fprintf(out, "to act    %s\nlegal     %d%s\n", v.Turn, v.Legal, list)
	for _, f := range v.Forbidden {
		fmt.Fprintf(out, "forbidden %s %s\n", f.Point, f.Kind)
	}
}
