package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sparring/arena/web/static"
	"sparring/engine"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/lab/campaign"
	"sparring/lab/elo"
	"sparring/lab/match"
	"sparring/lab/report"
	"sparring/record"
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
version of a program its games begin anew, and the page compares the two. A player
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
		Short: "Print the state of a campaign, and write its page anew",
		Args:  oneCampaign,
		RunE: func(c *cobra.Command, args []string) error {
			plan, _, err := f.plan(c, args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(plan.Dir); err != nil {
				return fmt.Errorf("the campaign has not begun: %w", err)
			}
			night, err := campaign.Read(*plan)
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

// conditionKeys are the keys of a match besides those of package campaign: the flags of
// sparring match that affect games.
func conditionKeys() (keys []string) {
	var f matchFlags
	c := &cobra.Command{}
	f.conditions(c)
	c.Flags().VisitAll(func(fl *pflag.Flag) {
		if fl.Name != "concurrency" {
			keys = append(keys, fl.Name)
		}
	})
	return append(keys, "event", "sprt")
}

// plan reads a file.
func (f *campaignFlags) plan(c *cobra.Command, path string) (*campaign.Plan, *campaign.File, error) {
	f.file, f.lang = path, cmp.Or(f.lang, environmentLanguage())
	if !slices.Contains(static.Languages, f.lang) {
		return nil, nil, usagef("--lang %.10q: want %s", f.lang, strings.Join(static.Languages, " or "))
	}
	switch {
	case f.concurrency < 0:
		return nil, nil, usagef("--concurrency %d: want 1 or more", f.concurrency)
	case f.over != "" && f.over != overNATS:
		return nil, nil, usagef("--over %.20q: want nats, or no value for this machine", f.over)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, &usageError{err}
	}
	file, err := campaign.Parse(data, path, conditionKeys())
	if err != nil {
		return nil, nil, &usageError{err}
	}
	p := &campaign.Plan{Name: file.Name, Title: file.Title, Dir: cmp.Or(f.dir, file.Name+".campaign"), Versions: map[string]campaign.Version{},
		Concurrency: cmp.Or(f.concurrency, file.Concurrency, 1)}
	if text := cmp.Or(f.until, file.Until); text != "" {
		if p.Until, err = campaign.ParseUntil(text, time.Now()); err != nil {
			if f.until != "" {
				return nil, nil, usagef("--until: %w", err)
			}
			return nil, nil, usagef("%s: until: %w", path, err)
		}
	}
	var versions campaign.Versions
	for _, player := range file.Players {
		if p.Versions[player.Name], err = versions.Of(player.Spec); err != nil {
			return nil, nil, &usageError{campaign.At(path, player.Line, fmt.Errorf("player %s: %w", player.Name, err))}
		}
	}
	for i := range file.Matches {
		m, err := f.match(c, &file.Matches[i])
		if err != nil {
			return nil, nil, &usageError{err}
		}
		p.Matches = append(p.Matches, *m)
	}
	return p, file, nil
}

// match reads the conditions of a match as the flags of sparring match.
func (f *campaignFlags) match(c *cobra.Command, e *campaign.Entry) (*campaign.Match, error) {
	flags := &matchFlags{tournament: string(e.Kind), errs: c.ErrOrStderr()}
	of := &cobra.Command{Use: "match"}
	of.SetErr(c.ErrOrStderr())
	flags.conditions(of)
	var sprt string
	of.Flags().StringVar(&flags.event, "event", "", "")
	of.Flags().StringVar(&sprt, "sprt", "", "")
	lines := map[string]int{}
	at := func(err error) error { // one fault, at its line
		text, _, _ := strings.Cut(err.Error(), "\n")
		line := e.Line
		if rest, ok := strings.CutPrefix(text, "--"); ok {
			text = rest
			key, _, _ := strings.Cut(rest, ":")
			line = cmp.Or(lines[strings.Fields(key + " x")[0]], line)
		}
		return campaign.At(f.file, line, fmt.Errorf("match %s: %s", e.Name, text))
	}
	for _, s := range e.Settings {
		lines[s.Key] = s.Line
		if err := of.Flags().Set(s.Key, s.Value); err != nil {
			return nil, at(fmt.Errorf("--%s: %w", s.Key, errors.New(strings.TrimPrefix(plainFlagError(err).Error(), "--"+s.Key+" "))))
		}
	}
	var names []string
	for _, p := range e.Players {
		flags.engines, names = append(flags.engines, p.Spec), append(names, p.Name)
	}
	if err := flags.follow(of); err != nil {
		return nil, at(err)
	}
	plan, err := flags.plan()
	if err != nil {
		return nil, at(err)
	}
	m := &campaign.Match{Name: e.Name, Terms: plan.Terms, Games: plan.Games, Openings: plan.Openings}
	m.Terms.Labels = names
	if sprt != "" {
		test, err := elo.ParseSPRT(sprt)
		if err != nil {
			return nil, at(fmt.Errorf("--sprt: %w", err))
		}
		m.SPRT = &test
	}
	return m, nil
}

// tryAll lets every player make a move under the rules of each of its matches, so that
// one that can't is known before the night.
func tryAll(ctx context.Context, path string, p *campaign.Plan, file *campaign.File, like *imitator) error {
	tried := map[[2]string]bool{}
	for i := range p.Matches {
		t := &p.Matches[i].Terms
		for k, spec := range t.Players {
			if tried[[2]string{spec, t.Rules}] {
				continue
			}
			tried[[2]string{spec, t.Rules}] = true
			if err := tryOne(ctx, t, spec, like); err != nil {
				player := file.Matches[i].Players[k]
				return campaign.At(path, player.Line, fmt.Errorf("player %s can't play %s: %w", player.Name, t.Rules, err))
			}
		}
	}
	return nil
}

// Limits of a trial: moves are short, and what a slow player makes of that is no fault.
const (
	tryMove   = 200 * time.Millisecond
	tryMargin = 30 * time.Second
)

// tryOne plays two plies of a player against itself.
func tryOne(ctx context.Context, t *match.Terms, spec string, like *imitator) error {
	rules, err := catalog.Rules(t.Rules)
	if err != nil {
		return err
	}
	pos, err := rules.New("")
	if err != nil {
		return err
	}
	short := *t
	short.Players, short.Labels, short.Kind = []string{spec, spec}, nil, match.RoundRobin
	short.MaxPlies, short.Resign, short.Draw, short.MoveMS = 2, nil, nil, 0
	if short.Limit.Clock.Traits().Limited {
		short.Limit.Clock, short.MarginMS = clock.Spec{Kind: clock.PerMove, Period: tryMove}, tryMargin.Milliseconds()
	}
	w, err := localBackend(&short, like, "").Worker(&short)
	if err != nil {
		return err
	}
	defer w.Close()
	g, err := w.Play(ctx, match.Bout{Pair: 1, Leg: 1, Opening: 1, Players: [2]int{0, 1}, Names: [2]string{spec, spec}, Position: pos, ID: t.ID + "-1-1"})
	if err == nil && g.Match.Fault != nil {
		err = fmt.Errorf("%s: %s", g.Match.Fault.Kind, strings.Join(strings.Fields(g.Match.Fault.Text), " "))
	}
	return err
}

func (f *campaignFlags) run(c *cobra.Command, path string) error {
	plan, file, err := f.plan(c, path)
	if err != nil {
		return err
	}
	if night, err := campaign.Read(*plan); err != nil { // before the trials
		return folderError(err)
	} else {
		night.Close()
	}
	if f.over == overNATS {
		return f.playOverNATS(c, plan)
	}
	like := newImitator(c.ErrOrStderr())
	if err := tryAll(c.Context(), path, plan, file, like); err != nil {
		if c.Context().Err() != nil {
			return err
		}
		return &usageError{err}
	}
	plan.Worker = localWorkers(like)
	return f.play(c.Context(), c, plan, nil)
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
	defer screen.clear()
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
	screen.clear()
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
	return func(format string, args ...any) { screen.say("sparring: "+format, args...) }
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
	fmt.Fprintf(out, "%s: %d of %d games are played%s, in %s\n", plan.Title, s.Games, s.Total, until, plan.Dir)
	for _, o := range s.Old {
		text, err := report.OldGames("en", o)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, text)
	}
	return nil
}

// campaignPages writes the pages of a campaign while it runs.
type campaignPages struct {
	flags   *campaignFlags
	night   *campaign.Campaign
	dir     string
	begin   time.Time
	before  int // games of earlier runs; -1: not known yet
	written time.Time
	line    int // the last progress line, in parts of maxLines
}

// pageEvery is how often the page is written anew while a campaign runs.
const pageEvery = time.Minute

// played shows the progress, and now and then writes the page.
func (p *campaignPages) played(screen *display, done, total int) {
	if p.before < 0 {
		p.before = done - 1
	}
	text := fmt.Sprintf("%d of %d games, %s", done, total, timeLeft(p.begin, done-p.before, total-p.before))
	if part := maxLines * done / max(total, 1); screen.live() || part != p.line {
		p.line = part
		screen.game("campaign", text)
	}
	if time.Since(p.written) < pageEvery {
		return
	}
	p.written = time.Now()
	s, err := p.night.Summary()
	if err == nil {
		err = p.flags.writePages(s, p.dir)
	}
	if err != nil { // such as a full disk: the games count
		screen.say("sparring: the page is not written: %v", err)
	}
}

// pageName is that of the page in a language.
func pageName(lang string) string { return "campaign." + lang + ".html" }

// reportName is that of the report of a match in a language.
func reportName(matchName, lang string) string { return "report." + matchName + "." + lang + ".html" }

// writePages writes the page in every language, with links to the reports that there
// are.
func (f *campaignFlags) writePages(s *campaign.Summary, dir string) error {
	for _, lang := range static.Languages {
		o := report.CampaignOptions{Lang: lang, Other: map[string]string{}, Reports: map[string]string{}}
		for _, other := range static.Languages {
			o.Other[other] = pageName(other)
		}
		for _, m := range s.Matches {
			name := reportName(m.Name, lang)
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				o.Reports[m.Name] = name
			}
		}
		var page bytes.Buffer
		if err := report.Campaign(&page, s, o); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(dir, pageName(lang)), page.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// writeReports writes the reports of the matches.
func (f *campaignFlags) writeReports(ctx context.Context, night *campaign.Campaign, s *campaign.Summary, dir string) error {
	for _, m := range s.Matches {
		games, err := night.GamesOf(m.Name)
		if err != nil {
			return err
		}
		if len(games) == 0 {
			continue
		}
		records := make([]*record.Record, len(games))
		for i, g := range games {
			records[i] = &g.Record
		}
		for _, lang := range static.Languages {
			var page bytes.Buffer
			o := report.Options{Lang: lang, From: s.Title + ": " + m.Name, Build: engine.Build(), Now: time.Now(), Boards: report.DefaultBoards}
			if err := report.Write(ctx, &page, records, o); err != nil {
				return err
			}
			if err := replaceFile(filepath.Join(dir, reportName(m.Name, lang)), page.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell writes the reports and pages, and prints the state.
func (f *campaignFlags) tell(c *cobra.Command, night *campaign.Campaign, dir string) error {
	s, err := night.Summary()
	if err != nil {
		return err
	}
	failed := f.writeReports(context.WithoutCancel(c.Context()), night, s, dir)
	if failed == nil {
		failed = f.writePages(s, dir)
	}
	if f.json {
		err = printJSON(c.OutOrStdout(), s)
	} else {
		err = report.CampaignText(c.OutOrStdout(), s, f.lang, func(out io.Writer, rows [][]string) error { return table(rows).write(out) })
	}
	if failed != nil {
		return fmt.Errorf("the page is not written: %w", failed)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.ErrOrStderr(), "page: %s\n", filepath.Join(dir, pageName(f.lang)))
	}
	return err
}
