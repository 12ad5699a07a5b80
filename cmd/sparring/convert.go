package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

func recordsExport(from *archive) *cobra.Command {
	var name, charset, moves, file string
	var names []string
	for _, f := range interchange.Formats() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a game in the format of another program",
		Args:  oneID,
		RunE: func(c *cobra.Command, args []string) error {
			if name == "" {
				return usagef("--format is required: %s", strings.Join(names, ", "))
			}
			to, err := interchange.Find(name)
			if err != nil {
				return &usageError{err}
			}
			r, err := from.find(c.Context(), args[0], c.ErrOrStderr())
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if file == "" {
				return interchange.Export(out, name, []*record.Record{r}, format.WriteOptions{Charset: format.Charset(charset), Moves: format.Moves(moves)})
			}
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				file = filepath.Join(file, interchange.FileName(to, r))
			}
			f, err := os.Create(file)
			if err != nil {
				return err
			}
			err = interchange.Export(f, name, []*record.Record{r}, format.WriteOptions{Charset: format.Charset(charset), Moves: format.Moves(moves)})
			if e := f.Close(); err == nil {
				err = e
			}
			if err != nil {
				os.Remove(file) // do not leave half a game
			}
			return err
		},
	}
	c.Flags().StringVar(&name, "format", "", strings.Join(names, ", ")+" (required)")
	c.Flags().StringVar(&charset, "charset", string(format.UTF8), "utf-8 or gbk")
	c.Flags().StringVar(&moves, "moves", string(format.ICCS), "Xiangqi moves in PGN: iccs, wxf or chinese")
	c.Flags().StringVarP(&file, "output", "o", "", "output file, or a folder for a file named as the format prescribes (default: standard output)")
	return c
}

func recordsImport(to *archive) *cobra.Command {
	var rules string
	c := &cobra.Command{
		Use:   "import FILE...",
		Short: "Import games from files of other programs (sgf, pgn, psq, ccgc)",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s: want files to read", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if to.nats != "" {
				return usagef("--nats: games are imported into --data only; the platform keeps the games it refereed")
			}
			have, err := to.all(c.Context(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			known := make(map[string]bool, len(have))
			for _, r := range have {
				known[r.ID] = true
			}
			writer, err := record.NewWriter(recordsDir(to.data), "import", 0)
			if err != nil {
				return err
			}
			defer writer.Close()
			damaged := 0
			for _, path := range args {
				n, err := importFile(c, path, rules, writer, known)
				if err != nil {
					return err
				}
				damaged += n
			}
			if damaged > 0 {
				return fmt.Errorf("%d games were not imported; the others were", damaged)
			}
			return nil
		},
	}
	c.Flags().StringVar(&rules, "rules", "", "rule set to check the moves by (default: that of the file)")
	return c
}

// importFile imports the games of a file and lists them. It reports damaged games
// and returns their number.
func importFile(c *cobra.Command, path, rules string, writer *record.Writer, known map[string]bool) (damaged int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for r, err := range interchange.Import(f, format.ReadOptions{Rules: rules}) {
		if err != nil {
			fmt.Fprintf(c.ErrOrStderr(), "sparring: %s: %v\n", path, err)
			damaged++
			continue
		}
		if known[r.ID] {
			fmt.Fprintf(c.OutOrStdout(), "%s  already imported\n", r.ID)
			continue
		}
		if err := writer.Append(r); err != nil {
			return damaged, err
		}
		known[r.ID] = true
		fmt.Fprintf(c.OutOrStdout(), "%s  %s, %s - %s, %d plies, %s\n", r.ID, r.Rules, r.Seats[0].Player, r.Seats[1].Player, len(r.Plies), r.Result)
	}
	return damaged, nil
}
