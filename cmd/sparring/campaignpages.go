package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sparring/engine"
	"sparring/internal/atomicfile"
	"sparring/lab/match/campaign"
	"sparring/lab/study/report"
	"sparring/record"
	"sparring/screen/static"
)

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

// pageEvery is how often the page is rewritten while a campaign runs.
const pageEvery = time.Minute

// played shows the progress, and now and then writes the page.
func (p *campaignPages) played(screen *display, done, total int) {
	if p.before < 0 {
		p.before = done - 1
	}
	text := fmt.Sprintf("%d of %d games, %s", done, total, timeLeft(p.begin, done-p.before, total-p.before))
	if part := maxLines * done / max(total, 1); screen.Live() || part != p.line {
		p.line = part
		screen.Line("campaign", text)
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
		screen.Say("sparring: the page is not written: %v", err)
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
		if err := atomicfile.WriteBytes(filepath.Join(dir, pageName(lang)), page.Bytes()); err != nil {
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
			if _, err := report.Write(ctx, &page, records, o); err != nil {
				return err
			}
			if err := atomicfile.WriteBytes(filepath.Join(dir, reportName(m.Name, lang)), page.Bytes()); err != nil {
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
		err = report.CampaignText(c.OutOrStdout(), s, f.lang)
	}
	if failed != nil {
		return fmt.Errorf("the page is not written: %w", failed)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.ErrOrStderr(), "page: %s\n", filepath.Join(dir, pageName(f.lang)))
	}
	return err
}
