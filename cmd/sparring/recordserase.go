package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/internal/journal"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/record"
)

func recordsErase(from *archive) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "erase PLAYER",
		Short: "Erase a player: from the records of a data directory, or from a platform with --nats",
		Long: `Erase a player. In the records of the data directory, compressed ones too, a random
pseudonym takes the place of the id and of the display names; games, moves and results
stay. Bots may write records meanwhile. What "sparring up" keeps in the directory is
erased as well, for which up has to be stopped.

With --nats the platform's store is meant, instead of a directory: the records and logs of
the player's games are removed, its standings, and its id from the standings of others.
Arenas may run. To keep the games under a pseudonym, write them to a file before, with
"sparring records list --json --nats ...".

Without --yes it only says what it would change. If it was interrupted, the same command
goes on. See docs/operating.md, "Erasing a person", also for what it can't reach.`,
		Example: `  sparring records erase human-ABCDEFGHIJKLMNOP --data data
  sparring records erase human-ABCDEFGHIJKLMNOP --data data --yes
  sparring records erase human-ABCDEFGHIJKLMNOP --nats nats://127.0.0.1:4222 --yes`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return usagef("%s: want one player's id", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			e := eraser{player: args[0], yes: yes, out: c.OutOrStdout()}
			if !from.nats.given() {
				dir := recordsDir(from.data)
				if !isDir(dir) {
					return usagef("--data %s: there is no folder %s", from.data, dir)
				}
				return errors.Join(e.inFiles(dir), e.inDirectory(c.Context(), filepath.Join(from.data, "nats")))
			}
			s, err := platformSettings(&from.nats)
			if err != nil {
				return err
			}
			nc, ctx, done, err := s.dial(c, "sparring records", from.wait)
			if err != nil {
				return err
			}
			defer done()
			return e.atPlatform(ctx, nc, s.NATS.Prefix)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do it; without, only say what would be done")
	return c
}

// eraser erases a player, or says what it would erase.
type eraser struct {
	player string
	yes    bool
	out    io.Writer
}

// inFiles erases the player from the files of records in a directory.
func (e eraser) inFiles(dir string) error {
	if !e.yes {
		n := 0
		for r, err := range record.All(dir) {
			if err != nil && !damaged(err) {
				return err
			}
			if err == nil && record.Pseudonymize(r, e.player, "x") {
				n++
			}
		}
		_, err := fmt.Fprintf(e.out, "%s of %s in %s; --yes replaces the player by a pseudonym\n", count(n, "record", "records"), e.player, dir)
		return err
	}
	unlock, err := lockMatches(dir)
	if err != nil {
		return err
	}
	defer unlock()
	pseudonym, done, err := erasing(dir, e.player)
	if err != nil {
		return err
	}
	n, err := record.Rewrite(dir, record.Change{
		Record: func(r *record.Record) bool { return record.Pseudonymize(r, e.player, pseudonym) },
		Player: func(spec string) string { return record.PseudonymizeSpec(spec, e.player, pseudonym) },
	})
	if err != nil {
		return fmt.Errorf("%w (the same command goes on)", err)
	}
	if err := done(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.out, "%s changed in %s\n", count(n, "record", "records"), dir)
	return err
}

// lockMatches locks the result files of matches in a directory until unlock is called: a
// match that runs would write its further games to a file that has been replaced.
func lockMatches(dir string) (unlock func(), err error) {
	paths, err := record.Files(dir)
	if err != nil {
		return nil, err
	}
	var all []func()
	unlock = func() {
		for _, u := range all {
			u()
		}
	}
	for _, path := range paths {
		if !isMatch(path) {
			continue
		}
		u, err := journal.Lock(path)
		if err != nil {
			unlock()
			return nil, err
		}
		all = append(all, u)
	}
	return unlock, nil
}

// inDirectory erases the player from the platform of "sparring up" whose store is in a
// directory, if there is one.
func (e eraser) inDirectory(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "jetstream")); errors.Is(err, fs.ErrNotExist) || protocol.CheckID("player", protocol.PlayerID(e.player)) != nil {
		return nil // records may have names that no player of a platform has
	}
	srv, err := embedded.Start(embedded.Config{Dir: dir, Log: zerolog.Nop()})
	if used := (*embedded.InUseError)(nil); errors.As(err, &used) {
		return fmt.Errorf("%s: in use by process %s: stop it, and call this again for the platform's own data", dir, used.Process)
	}
	if err != nil {
		return err
	}
	defer srv.Close()
	nc, err := protocol.Connect(srv.Platform())
	if err != nil {
		return err
	}
	defer nc.Close()
	return e.atPlatform(ctx, nc, protocol.DefaultPrefix)
}

// atPlatform erases the player from a platform's store.
func (e eraser) atPlatform(ctx context.Context, nc *nats.Conn, prefix string) error {
	subjects, err := protocol.NewSubjects(prefix)
	if err != nil {
		return usage(err)
	}
	found, err := arena.Erase(ctx, nc, subjects, protocol.PlayerID(e.player), e.yes)
	if err != nil {
		return fmt.Errorf("%w (the same command goes on)", err)
	}
	if found == (arena.Erased{}) {
		_, err := fmt.Fprintf(e.out, "the platform has nothing of %s\n", e.player)
		return err
	}
	what := "; --yes removes them"
	if e.yes {
		what = " removed"
	}
	fmt.Fprintf(e.out, "%s, %s and %s of %s on the platform, and the id in %s of others%s\n", count(found.Records, "record", "records"), count(found.Logs, "log", "logs"),
		count(found.Standings, "standing", "standings"), e.player, count(found.Mentions, "standing", "standings"), what)
	if found.Running+found.Unrated > 0 {
		return fmt.Errorf("left: %s, %s not rated yet; call this again when arenas have done so", count(found.Running, "running game", "running games"), count(found.Unrated, "record", "records"))
	}
	return nil
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
