package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/textlines"
	"sparring/lab/study/analysis"
	"sparring/record"
)

// analysed is a position to analyse.
type analysed struct {
	id  string // name in the output, or ""
	pos game.Position
}

// positions returns what is to be analysed, at least one position.
func (f *analyseFlags) positions(c *cobra.Command, args []string) ([]analysed, error) {
	switch {
	case f.record != "" && (f.position != "" || f.moves != "" || f.rules != ""):
		return nil, usagef("--record has its own position: leave out --rules, --position and --moves")
	case f.record != "":
		p, err := f.recorded(c, args)
		return []analysed{p}, err
	case c.Flags().Changed("ply"):
		return nil, usagef("--ply goes with --record")
	case len(args) > 0 && (f.position != "" || f.moves != ""):
		return nil, usagef("want either --position and --moves, or files")
	case len(args) == 0:
		pos, err := f.setup()
		if err != nil {
			return nil, err
		}
		if err := playMoves(pos, game.Notation(f.notation), f.moves); err != nil {
			return nil, usagef("--moves, %w", err)
		}
		return []analysed{{pos: pos}}, nil
	}
	if f.game == "" {
		return nil, usagef("--game is required: %s", anyGame())
	}
	if _, err := catalog.Game(f.game); err != nil {
		return nil, usage(err)
	}
	var all []analysed
	for _, name := range args {
		some, err := f.readFile(c, name)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no positions in %s", strings.Join(args, ", "))
	}
	return all, nil
}

func (f *analyseFlags) readFile(c *cobra.Command, name string) ([]analysed, error) {
	in, name, err := openInput(c, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := decoded(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []analysed
	rules := f.rules
	lines := textlines.New(text)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if sets := strings.Fields(line); sets[0] == "rules" && len(sets) > 1 {
			if f.rules == "" {
				rules = sets[1]
			}
			continue
		}
		p, err := readPosition(f.game, rules, game.Notation(f.notation), line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lines.Line(), err)
		}
		if p.id == "" {
			p.id = fmt.Sprintf("%s:%d", name, lines.Line())
		}
		all = append(all, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, lines.Line(), err)
	}
	return all, nil
}

// readPosition reads a line of a file of positions.
func readPosition(gameName, rules string, n game.Notation, line string) (p analysed, err error) {
	l, err := catalog.ParseLine(line)
	if err != nil {
		return p, err
	}
	p.id = l.ID
	p.pos, err = l.Position(gameName, rules, reader(n))
	return p, err
}

// recorded returns the position of --record and --ply. The game is in the sources, if
// there are any.
func (f *analyseFlags) recorded(c *cobra.Command, sources []string) (p analysed, err error) {
	var r *record.Record
	if len(sources) > 0 {
		r, err = f.archive.find(c, f.record, sources)
	} else {
		var games []*record.Record
		if games, err = f.archive.named(c, []string{f.record}); len(games) > 1 {
			return p, usagef("--record: %s has %d games; want --record ID %s", f.record, len(games), f.record)
		}
		if err == nil {
			r = games[0]
		}
	}
	if err != nil {
		return p, err
	}
	if f.game != "" && f.game != r.Game {
		return p, usagef("--game %s: the record is of %s", f.game, r.Rules)
	}
	start, moves, err := analysis.Moves(r)
	if err != nil {
		return p, fmt.Errorf("game %s: %w", r.ID, err)
	}
	ply := max(len(moves)-1, 0)
	if c.Flags().Changed("ply") {
		ply = f.ply
	}
	if ply < 0 || ply > len(moves) {
		return p, usagef("--ply %d: the game has %s", ply, plies(len(moves)))
	}
	for _, m := range moves[:ply] {
		game.PlayOn(start)
		if _, err := game.PlayText(start, m); err != nil {
			return p, fmt.Errorf("game %s: %w", r.ID, err)
		}
	}
	return analysed{fmt.Sprintf("game %s after ply %d", r.ID, ply), start}, nil
}
