package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/lab/study/report"
	"sparring/screen/static"
)

// campaignFlags are the flags of the campaign command.
type campaignFlags struct {
	dir         string
	until       string
	concurrency int
	lang        string
	json, check bool
	over        string
	wait        bool

	file string
}

func campaignCommand() *cobra.Command {
	var f campaignFlags
	c := &cobra.Command{
		Use:   "campaign FILE",
		Short: "Play many matches overnight, and say in the morning what has changed",
		Long: `Play the matches of a file between versions of engines: built-in levels, programs,
older builds. What is missing is played until all games are there, until the time
that the file or --until says, or until Ctrl-C; the same command goes on later, also
after kill -9 or a power cut. Games are kept in a folder with a page in Chinese and
English: what changed since the last run, crosstables with errors, and each match
with the report of its games.

The games of a pairing count as long as nothing that affects them changes: with a new
version of a program its games start over, and the page compares the two. A player
that breaks is set aside with its pairings, and the others go on. See
docs/campaign.md for the keys of the file.

The exit code is 0 when all was played or the time is over, 3 if some pairings were
set aside, 2 for faults of the file, of which nothing is played, and 1 for any other
failure or an interruption.`,
		Example: `  sparring campaign configs/campaigns/levels.yaml
  sparring campaign night.yaml --until 07:30 --concurrency 6
  sparring campaign night.yaml --check            # what of the old games still counts?
  sparring campaign show night.yaml --json        # the state, also while it runs
  sparring campaign night.yaml --over nats        # and on every machine: sparring campaign work night.yaml`,
		Args: oneCampaign,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.flags(c)
	fl := c.Flags()
	fl.StringVar(&f.until, "until", "", "stop at this time: 07:30 or \"2026-11-23 07:30\" (default: that of the file)")
	fl.IntVar(&f.concurrency, "concurrency", 0, "games at once (default: that of the file, or 1)")
	fl.StringVar(&f.over, "over", "", "nats: other machines play the pairs, see campaign work; --concurrency is how many are offered at once")
	fl.BoolVar(&f.wait, "wait", false, "with --over nats: wait for the server if it is not there yet")
	fl.BoolVar(&f.check, "check", false, "check the file and start the engines, say what there is to play, and play nothing")
	c.AddCommand(campaignShow(), campaignWork())
	return c
}

// flags adds the flags that show has, too.
func (f *campaignFlags) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", "", "folder of the games (default: NAME.campaign here)")
	fl.StringVar(&f.lang, "lang", "", strings.Join(static.Languages, " or ")+" (default: that of LC_ALL, LC_MESSAGES or LANG)")
	fl.BoolVar(&f.json, "json", false, "print the state as JSON")
}

func oneCampaign(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%s: want the file of one campaign (see %s --help)", c.CommandPath(), c.CommandPath())
	}
	return nil
}

func campaignShow() *cobra.Command {
	var f campaignFlags
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Print the state of a campaign, and rewrite its page",
		Args:  oneCampaign,
		RunE: func(c *cobra.Command, args []string) error {
			plan, file, err := f.plan(c, args[0])
			if err != nil {
				return err
			}
			plan.Until, _ = f.ends(file) // it may be over
			if _, err := os.Stat(plan.Dir); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("the campaign has not begun: there is no folder %s; sparring campaign %s begins it", plan.Dir, args[0])
			}
			night, err := campaign.ReadLast(*plan)
			if err != nil {
				return err
			}
			defer night.Close()
			return f.tell(c, night, plan.Dir)
		},
	}
	f.flags(c)
	return c
}

func (f *campaignFlags) run(c *cobra.Command, path string) error {
	plan, file, err := f.plan(c, path)
	if err != nil {
		return err
	}
	if plan.Until, err = f.ends(file); err != nil {
		return err
	}
	played, err := playedAll(plan) // before the trials, for the faults of the folder
	if err != nil {
		return err
	}
	if f.over == overNATS {
		return f.playOverNATS(c, plan)
	}
	like := newImitator(c.Context(), c.ErrOrStderr())
	if !played || f.check {
		for i := range plan.Matches {
			sayUntold(c.ErrOrStderr(), &plan.Matches[i].Terms)
		}
		if err := tryAll(c.Context(), path, plan, file, like); err != nil {
			if c.Context().Err() != nil {
				return err
			}
			return usage(err)
		}
	}
	plan.Worker = localWorkers(like)
	return f.play(c.Context(), c, plan, nil)
}

// playedAll reports whether no game of a campaign is missing, so that its players need
// not be there.
func playedAll(plan *campaign.Plan) (bool, error) {
	night, err := campaign.Read(*plan)
	if err != nil {
		return false, folderError(err)
	}
	defer night.Close()
	s, err := night.Summary()
	return err == nil && s.Missing() == 0, err
}

// localWorkers returns what makes workers that play in this process.
func localWorkers(like *imitator) func() (campaign.Worker, error) {
	var versions campaign.Versions
	return func() (campaign.Worker, error) {
		return &campaign.Local{Versions: &versions, Backend: func(t *match.Terms) match.Backend { return localBackend(t, like, "") }}, nil
	}
}

// folderError is the error of a folder that can't be opened.
func folderError(err error) error {
	if errors.Is(err, campaign.ErrOther) {
		return usagef("%w; choose another folder with --dir", err)
	}
	return err
}

// play plays a campaign and tells of it. Begin, if it is not nil, is called before the
// first game.
func (f *campaignFlags) play(ctx context.Context, c *cobra.Command, plan *campaign.Plan, begin func(*campaign.Campaign) error) error {
	screen := newDisplay(c.ErrOrStderr())
	defer screen.Clear()
	plan.Say = sayTo(screen)
	var pages *campaignPages
	plan.Played = func(done, total int) { pages.played(screen, done, total) }
	open := campaign.Open
	if f.check {
		open = campaign.Read
	}
	night, err := open(*plan)
	if err != nil {
		return folderError(err)
	}
	defer night.Close()
	if err := f.sayOld(c.ErrOrStderr(), night, plan); err != nil || f.check {
		return err
	}
	pages = &campaignPages{flags: f, night: night, dir: plan.Dir, begin: time.Now(), written: time.Now(), before: -1}
	if begin != nil {
		if err := begin(night); err != nil {
			return err
		}
	}
	err = night.Run(ctx)
	screen.Clear()
	if failed := f.tell(c, night, plan.Dir); err == nil || failed == nil {
		err = cmp.Or(err, failed)
	}
	if err != nil {
		return err
	}
	s, err := night.Summary()
	switch {
	case err != nil:
		return err
	case s.State == campaign.Interrupted:
		return fmt.Errorf("interrupted after %d of %d games; the same command goes on", s.Games, s.Total)
	case len(s.Asides) > 0:
		return outcome(exitFaulty)
	}
	return nil
}

// sayTo returns what prints lines for people above the progress.
func sayTo(screen *display) func(format string, args ...any) {
	return func(format string, args ...any) { screen.Say("sparring: "+format, args...) }
}

// sayOld says what is there, and what of it does not count any more.
func (f *campaignFlags) sayOld(out io.Writer, night *campaign.Campaign, plan *campaign.Plan) error {
	s, err := night.Summary()
	if err != nil {
		return err
	}
	until := ""
	if s.Until != nil {
		until = ", until " + s.Until.Format("2006-01-02 15:04")
	}
	spared := ""
	if s.Spared > 0 {
		spared = fmt.Sprintf(", %d are not needed", s.Spared)
	}
	fmt.Fprintf(out, "%s: %d of %d games are played%s%s, in %s\n", plan.Title, s.Games, s.Total, spared, until, plan.Dir)
	for _, o := range s.Old {
		text, err := report.OldGames("en", o)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, text)
	}
	return nil
}
