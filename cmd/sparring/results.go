package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
)

// openResults opens or creates a result file, and says if it was truncated. It holds games
// of one version of each player.
func openResults(errs io.Writer, path string, terms *match.Terms) (*match.File, error) {
	terms.Versions = versionsOf(terms)
	file, err := match.OpenFile(path, terms)
	if err == nil && file.Torn() {
		sayTorn(errs, path)
	}
	return file, err
}

// versionsOf returns the versions of the players that have programs or files besides this
// program, by spec, and without this program's own build. Players of a platform have none here,
// and a program that can't be read has an unknown one.
func versionsOf(terms *match.Terms) map[string]string {
	if terms.Over != "" {
		return nil
	}
	found, own := &campaign.Versions{}, engine.Build()
	versions := map[string]string{}
	for _, spec := range terms.Players {
		v, err := found.Of(spec)
		if files := strings.TrimSpace(strings.TrimPrefix(v.Build, own)); err == nil && files != "" {
			versions[spec] = files
		}
	}
	return versions
}

// sayReplaced says which players are not the versions any more that the match began with. A
// program that goes on is what it was, but one that was restarted since is not.
func sayReplaced(errs io.Writer, began map[string]string, terms *match.Terms) {
	now := versionsOf(terms)
	for _, spec := range slices.Sorted(maps.Keys(began)) {
		if now[spec] != began[spec] {
			fmt.Fprintf(errs, "sparring: the program or the files of %s were replaced while the match ran: if it was restarted since, later games are of the new version\n", spec)
		}
	}
}

// sayTorn says that the last line of a file of games was truncated.
func sayTorn(errs io.Writer, path string) {
	fmt.Fprintf(errs, "sparring: %s: the last line was truncated; its game is played again\n", path)
}

// sayResumed says how many games of a result file count.
func sayResumed(errs io.Writer, path string, games int) {
	if games > 0 {
		fmt.Fprintf(errs, "%s: resuming after %s\n", path, count(games, "game", "games"))
	}
}

// neverStarted reports whether every game was lost because an engine did not start: nothing
// was played, and the next match, with an engine that does, may have other settings.
func neverStarted(s *match.Standing) bool {
	lost := 0
	for i := range s.Players {
		lost += s.Players[i].Faults[engine.FaultStart]
	}
	return s.Games > 0 && lost == s.Games
}

// playMatch plays the match with its result file, if path is not "", and shows its
// progress. The standing is nil if the file can't be used.
func playMatch(ctx context.Context, c *cobra.Command, plan *match.Plan, path string) (standing *match.Standing, err error) {
	errs := c.ErrOrStderr()
	if path != "" {
		file, err := openResults(errs, path, &plan.Terms)
		if err != nil {
			return nil, err
		}
		fresh := len(file.Games()) == 0
		defer func() {
			file.Close()
			if fresh && standing != nil && neverStarted(standing) && os.Remove(path) == nil {
				fmt.Fprintf(errs, "sparring: %s: not kept, because no game has begun\n", path)
			}
		}()
		sayResumed(errs, path, len(file.Games()))
		plan.File = file
	}
	began := versionsOf(&plan.Terms)
	defer func() { sayReplaced(errs, began, &plan.Terms) }()
	progress := newProgress(errs, plan)
	plan.Watch = progress.game
	defer progress.end()
	return match.Run(ctx, *plan)
}
