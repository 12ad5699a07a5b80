package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/internal/atomicfile"
	"sparring/lab/match/openings"
)

// importFlags say how openings of other programs are read.
type importFlags struct {
	game  string
	rules []string
	plies int
}

// add adds the flags.
func (f *importFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.game, "game", "", anyGame()+", for files that do not name it")
	fl.StringArrayVar(&f.rules, "rules", nil, "rule set that the openings are for, repeatable (default: those of the file, or the game's)")
	fl.IntVar(&f.plies, "plies", 0, "moves of each game or opening to take; 0: all")
}

// options returns the options for a file.
func (f *importFlags) options() (openings.ImportOptions, error) {
	o := openings.ImportOptions{Plies: f.plies}
	if f.plies < 0 {
		return o, fmt.Errorf("--plies %d: want 0 or more", f.plies)
	}
	if len(f.rules) == 0 && f.game != "" {
		r, err := rulesOf(f.game, "")
		if err != nil {
			return o, err
		}
		o.Usual = []string{r.Name}
	}
	for _, name := range f.rules {
		gameName := f.game
		if gameName == "" {
			gameName, name, _ = strings.Cut(name, "/")
		}
		r, err := rulesOf(gameName, name)
		if err != nil {
			return o, err
		}
		o.Rules = append(o.Rules, r.Name)
	}
	return o, nil
}

// read reads openings from a file, or the standard input for "-". It reports what was
// left out.
func (f *importFlags) read(c *cobra.Command, path string) (*openings.Imported, error) {
	o, err := f.options()
	if err != nil {
		return nil, usage(err)
	}
	in, name, err := openInput(c, path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	set, err := openings.Import(in, name, o)
	if errors.Is(err, openings.ErrNoRules) {
		return nil, usagef("%w with --rules", err)
	}
	if err != nil {
		return nil, err
	}
	tellLeftOut(c.ErrOrStderr(), name, set)
	return set, nil
}

// maxSkipped is how many skipped openings are named.
const maxSkipped = 10

// tellLeftOut reports what was left out of a file of openings.
func tellLeftOut(errs io.Writer, name string, set *openings.Imported) {
	for i, err := range set.Skipped {
		if i == maxSkipped {
			fmt.Fprintf(errs, "sparring: %s: %d more skipped\n", name, len(set.Skipped)-i)
			break
		}
		fmt.Fprintln(errs, "sparring: skipped:", err)
	}
	if set.Repeated > 0 {
		fmt.Fprintf(errs, "sparring: %s: %s to a position that was there already\n", name, count(set.Repeated, "opening leads", "openings lead"))
	}
}

func convertOpeningsCommand() *cobra.Command {
	var f importFlags
	var to, out string
	c := &cobra.Command{
		Use:   "convert FILE",
		Short: "Read and write openings in the forms of other programs",
		Long: `Read openings in any form (` + strings.Join(openings.Forms(), ", ") + `) and write
them in another: ` + openings.Text + ` is Sparring's own, ` + openings.EPD + ` has positions, ` + openings.Gomocup + ` is what Gomocup
publishes, the others have games, whose first moves are taken. Records and the
result files of matches are read, too. The form is detected. Each position is taken
once.`,
		Example: `  sparring openings convert ccgc2024.pgn --plies 12 --out ccgc.txt
  sparring openings convert openings.txt --game gomoku --rules freestyle-15 --to sgf --out openings.sgf`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(openings.Forms(), to) {
				return usagef("--to %.20q: want %s", to, strings.Join(openings.Forms(), ", "))
			}
			if err := checkOutput("--out", out, args...); err != nil {
				return err
			}
			set, err := f.read(c, args[0])
			if err != nil {
				return err
			}
			if set.Form != openings.Text && to == openings.Text {
				set.Notes = append(set.Notes, fmt.Sprintf("From %s (%s).", filepath.Base(args[0]), set.Form))
			}
			var text bytes.Buffer // whole or not at all
			if err := set.WriteAs(&text, to); err != nil {
				return err
			}
			if out == "" {
				_, err := c.OutOrStdout().Write(text.Bytes())
				return err
			}
			if err := atomicfile.WriteBytes(out, text.Bytes()); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", out, count(len(set.Openings), "opening", "openings"))
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&to, "to", openings.Text, "form to write")
	outFlag(c.Flags(), &out, "", "output file (default: standard output)")
	return c
}
