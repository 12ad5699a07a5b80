package report

import (
	"embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match"
	"sparring/lab/match/elo"
	"sparring/screen/static"
)

//go:embed en.json zh.json page.html campaign.html report.css replay.js
var bundled embed.FS

// words are the texts of a report: those of the page and its own.
type words struct{ static.Words }

// Words returns the texts of a language, "en" or "zh".
func Words(lang string) (words, error) {
	page, err := static.ReadWords(static.Files, lang)
	if err != nil {
		return words{}, fmt.Errorf("language %.10q: want one of %s", lang, strings.Join(static.Languages, ", "))
	}
	own, err := static.ReadWords(bundled, lang)
	if err != nil {
		return words{}, err
	}
	maps.Copy(page.Texts, own.Texts)
	return words{page}, nil
}

// Verdict writes what the games show in two sentences, see [match.Standing.Verdict].
func Verdict(lang string, findings [2]match.Finding) (string, error) {
	w, err := Words(lang)
	if err != nil {
		return "", err
	}
	return w.verdict(findings), nil
}

func (w words) verdict(findings [2]match.Finding) string {
	return w.finding(findings[0]) + w.T("sentence.space") + w.finding(findings[1])
}

func (w words) finding(f match.Finding) string {
	values := slices.Clone(f.Values)
	for i, v := range values {
		if kinds, ok := v.(map[engine.FaultKind]int); ok {
			values[i] = w.faults(kinds)
		}
	}
	return w.T(f.Key, values...)
}

// faults counts faults by kind: "time 2, crash 1".
func (w words) faults(kinds map[engine.FaultKind]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", w.T("report.fault."+string(kind)), kinds[kind]))
	}
	return strings.Join(parts, w.T("sentence.list"))
}

// elo writes a difference with the ends of its 95 % interval.
func (w words) elo(p elo.Pairs) string {
	low, high := p.EloInterval()
	return w.eloOf(p.Elo().Elo, low, high)
}

// eloOf writes a difference with the ends of its interval; what is open has words.
func (w words) eloOf(diff, low, high float64) string {
	if math.IsInf(low, 0) && math.IsInf(high, 0) {
		return w.T("elo.few")
	}
	whole := func(v float64) string { return fmt.Sprintf("%+.0f", v) }
	switch {
	case math.IsInf(diff, 1):
		return w.T("elo.above", "low", whole(low))
	case math.IsInf(diff, -1):
		return w.T("elo.below", "high", whole(high))
	case math.IsInf(high, 0):
		return w.T("elo.from", "elo", whole(diff), "low", whole(low))
	case math.IsInf(low, 0):
		return w.T("elo.to", "elo", whole(diff), "high", whole(high))
	default:
		return w.T("elo.within", "elo", whole(diff), "low", whole(low), "high", whole(high))
	}
}

// ended says how a game ended. Sides are the colours of the seats.
func (w words) ended(result game.Result, reason game.Reason, sides [2]string) string {
	if result == game.Undecided && reason == "" {
		return w.T("report.unfinished")
	}
	return w.Outcome(game.Outcome{Result: result, Reason: reason}, sides)
}

// seconds writes a time.
func (w words) seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.1:
		return w.T("report.ms", "n", fmt.Sprintf("%.0f", 1000*s))
	case s < 10:
		return w.T("clock.seconds", "n", fmt.Sprintf("%.1f", s))
	}
	return w.Left(d)
}

// policy forbids the page to load anything: what it needs is in it. Only its own
// script and style count, so that markup in a name would do nothing.
func policy(script, style string) string {
	return "default-src 'none'; script-src '" + script + "'; style-src '" + style + "'; font-src data:; img-src data:; base-uri 'none'; form-action 'none'"
}
