package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/lab/match/elo"
	"sparring/pipe/playerspec"
	"sparring/screen/static"
)

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

// ends returns when a run ends: by the flag or the file.
func (f *campaignFlags) ends(file *campaign.File) (time.Time, error) {
	if f.until == "" {
		end, err := file.Ends(time.Now())
		if err != nil {
			return end, usage(err)
		}
		return end, nil
	}
	end, err := campaign.ParseUntil(f.until, time.Now())
	if err != nil {
		return end, usagef("--until: %w", err)
	}
	return end, nil
}

// plan reads a file, but not when a run ends: many are over.
func (f *campaignFlags) plan(c *cobra.Command, path string) (*campaign.Plan, *campaign.File, error) {
	f.file, f.lang = path, cmp.Or(f.lang, environmentLanguage())
	if !slices.Contains(static.Languages, f.lang) {
		return nil, nil, usagef("--lang %.10q: want %s", f.lang, strings.Join(static.Languages, " or "))
	}
	if f.over != "" && f.over != overNATS {
		return nil, nil, usagef("--over %.20q: want nats, or no value for this machine", f.over)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, usage(err)
	}
	file, err := campaign.Parse(data, path, conditionKeys())
	if err != nil {
		return nil, nil, usage(err)
	}
	if err := match.CheckConcurrency(cmp.Or(f.concurrency, file.Concurrency, 1)); err != nil {
		return nil, nil, usage(err)
	}
	p := &campaign.Plan{Name: file.Name, Title: file.Title, Dir: cmp.Or(f.dir, file.Name+".campaign"), Versions: map[string]campaign.Version{},
		Concurrency: cmp.Or(f.concurrency, file.Concurrency, 1)}
	var versions campaign.Versions
	for _, player := range file.Players {
		if p.Versions[player.Name], err = versions.Of(player.Spec); err != nil {
			return nil, nil, usage(campaign.At(path, player.Line, fmt.Errorf("player %s: %w", player.Name, err)))
		}
	}
	for i := range file.Matches {
		m, err := f.match(c, &file.Matches[i])
		if err != nil {
			return nil, nil, usage(err)
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
			err := tryOne(ctx, t, spec, like)
			if ctx.Err() != nil {
				return ctx.Err() // whatever the player made of it
			}
			if err != nil {
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
	player, err := playerspec.Parse(spec)
	if err != nil {
		return err
	}
	switch {
	case untimed(player): // it can't be told to be quick
		short.Limit.Clock = clock.Spec{}
	case short.Limit.Clock.Traits().Limited:
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
