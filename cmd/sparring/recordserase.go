package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sparring/record"
)

func recordsErase(from *archive) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "erase PLAYER",
		Short: "Replace a player's id and names by a pseudonym in the records of the data directory",
		Long: `Replace the id and the display names of a player by a random pseudonym in all records
of the data directory, compressed ones too. Games, moves and results stay as they are.
Without --yes it only says how many records it would change. Bots may write records
meanwhile. If it was interrupted, the same command goes on, with the same pseudonym.

It does not reach the platform's streams and ladder, the directories of other
processes, or backups. See docs/operating.md, "Erasing a person".`,
		Example: `  sparring records erase human-ABCDEFGHIJKLMNOP --data data
  sparring records erase human-ABCDEFGHIJKLMNOP --data data --yes`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("%s: want one player's id", c.CommandPath())
			}
			if from.nats.given() {
				return usagef("--nats: only records in --data can be erased so")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			player, dir := args[0], recordsDir(from.data)
			if !isDir(dir) {
				return usagef("--data %s: there is no folder %s", from.data, dir)
			}
			out := c.OutOrStdout()
			if !yes {
				n := 0
				for r, err := range record.All(dir) {
					if err != nil && !damaged(err) {
						return err
					}
					if err == nil && record.Pseudonymize(r, player, "x") {
						n++
					}
				}
				_, err := fmt.Fprintf(out, "%s of %s in %s; --yes replaces the player by a pseudonym\n", count(n, "record", "records"), player, dir)
				return err
			}
			pseudonym, done, err := erasing(dir, player)
			if err != nil {
				return err
			}
			n, err := record.Rewrite(dir, func(r *record.Record) bool { return record.Pseudonymize(r, player, pseudonym) })
			if err != nil {
				return fmt.Errorf("%w (the same command goes on)", err)
			}
			if err := done(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "%s changed in %s\n", count(n, "record", "records"), dir)
			return err
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do it; without, only say what would be done")
	return c
}

// erasing returns the pseudonym of a player that is erased from a directory. Until done
// is called, it is kept in a file there, for a command that goes on; then nothing tells
// any more whose it was.
func erasing(dir, player string) (pseudonym string, done func() error, err error) {
	hash := sha256.Sum256([]byte(player))
	path := filepath.Join(dir, ".erase-"+hex.EncodeToString(hash[:8]))
	done = func() error { return os.Remove(path) }
	text, err := os.ReadFile(path)
	if pseudonym = strings.TrimSpace(string(text)); err == nil && pseudonym != "" {
		return pseudonym, done, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	pseudonym = "erased-" + strings.ToLower(rand.Text()[:12])
	if err := os.WriteFile(path, []byte(pseudonym+"\n"), 0o600); err != nil {
		return "", nil, err
	}
	return pseudonym, done, nil
}
