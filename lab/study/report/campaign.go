package report

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"sparring/internal/texttable"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/lab/match/elo"
)

// CampaignOptions say what the page of a campaign has.
type CampaignOptions struct {
	Lang    string            // "en" or "zh"
	Other   map[string]string // files of the page by language
	Reports map[string]string // files of the reports of matches by their names
}

// campaignPage is the data of campaign.html, and of the same as text.
type campaignPage struct {
	Lang, Title, Policy string
	Style               template.CSS
	Other               []otherPage
	State               string
	Since               string
	Alarms, News        []string
	Strength            []strengthRow
	Quiet               string // nothing changed
	Tables              []campaignTable
	Matches             []campaignMatch
	Made                string
}

type otherPage struct{ Name, File, Lang string }

// strengthRow is how the score of two players changed.
type strengthRow struct {
	Match, A, B         string
	New                 int
	Before, Now, Change string
	Versions            bool
}

// campaignTable is the crosstable of a game.
type campaignTable struct {
	Heading string
	Players []campaignPlayer
	Numbers []int
}

type campaignPlayer struct {
	Rank                                       int
	Name, Result, Points, Percent, Elo, Faults string
	Games                                      int
	Cells                                      []cell
}

// campaignMatch is the table of a match.
type campaignMatch struct {
	Name, About, Report, Done string
	Rows                      []campaignRow
}

type campaignRow struct {
	A, B, Games, Result, Percent, Elo, LOS, Faults, State string
	Aside                                                 bool
}

// Campaign writes the page of a campaign.
func Campaign(out io.Writer, s *campaign.Summary, o CampaignOptions) error {
	w, err := Words(o.Lang)
	if err != nil {
		return err
	}
	p := w.campaign(s, o.Reports)
	for _, lang := range slices.Sorted(maps.Keys(o.Other)) {
		if lang != o.Lang {
			p.Other = append(p.Other, otherPage{w.T("campaign.other"), o.Other[lang], lang})
		}
	}
	style, err := styleSheet()
	if err != nil {
		return err
	}
	p.Lang, p.Style, p.Policy = htmlLang(o.Lang), template.CSS(style), policy("none", digest(style))
	t, err := template.New("campaign.html").Funcs(w.functions()).ParseFS(bundled, "campaign.html")
	if err != nil {
		return err
	}
	return t.Execute(out, p)
}

// CampaignText writes the same as text.
func CampaignText(out io.Writer, s *campaign.Summary, lang string) error {
	w, err := Words(lang)
	if err != nil {
		return err
	}
	p := w.campaign(s, nil)
	lines := append([]string{p.Title, p.State, "", p.Since}, p.Alarms...)
	lines = append(lines, p.News...)
	if p.Quiet != "" {
		lines = append(lines, p.Quiet)
	}
	if _, err := fmt.Fprintln(out, strings.Join(lines, "\n")); err != nil {
		return err
	}
	heading := func(text string) { fmt.Fprintf(out, "\n%s\n", text) } // an error comes back below
	if len(p.Strength) > 0 {
		rows := texttable.Table{{w.T("campaign.col.match"), w.T("report.col.players"), w.T("campaign.col.new"), w.T("campaign.col.before"), w.T("campaign.col.now"), w.T("campaign.col.change")}}
		for _, r := range p.Strength {
			rows.Add(r.Match, r.A+" - "+r.B, r.New, r.Before, r.Now, r.Change)
		}
		if err := rows.Write(out); err != nil {
			return err
		}
	}
	for _, t := range p.Tables {
		heading(t.Heading)
		rows := texttable.Table{{w.T("page.place"), w.T("page.player"), w.T("report.col.games"), w.T("report.col.result"), w.T("report.col.percent"), w.T("report.col.elo"), w.T("report.col.faults")}}
		for _, n := range t.Numbers {
			rows[0] = append(rows[0], fmt.Sprint(n))
		}
		for _, q := range t.Players {
			row := []string{fmt.Sprint(q.Rank), q.Name, fmt.Sprint(q.Games), q.Result, q.Percent, q.Elo, orDash(q.Faults)}
			for _, c := range q.Cells {
				row = append(row, orDash(strings.TrimSpace(c.Score)))
			}
			rows = append(rows, row)
		}
		if err := rows.Write(out); err != nil {
			return err
		}
	}
	for _, m := range p.Matches {
		heading(m.Name + " · " + m.About + " · " + m.Done)
		rows := texttable.Table{{w.T("report.col.players"), w.T("report.col.games"), w.T("report.col.result"), w.T("report.col.percent"), w.T("report.col.elo"), "LOS", w.T("report.col.faults"), ""}}
		for _, r := range m.Rows {
			rows.Add(r.A+" - "+r.B, r.Games, r.Result, r.Percent, r.Elo, r.LOS, orDash(r.Faults), r.State)
		}
		if err := rows.Write(out); err != nil {
			return err
		}
	}
	if unpaired(s) {
		heading(w.T("report.errors.pairs"))
	}
	return nil
}

// unpaired reports whether a game of a pairing has no partner yet: its percentage then
// is not that of its Elo.
func unpaired(s *campaign.Summary) bool {
	return slices.ContainsFunc(s.Matches, func(m campaign.MatchSummary) bool {
		return slices.ContainsFunc(m.Pairings, func(meet campaign.PairingSummary) bool { return meet.Measure.Games()%2 == 1 })
	})
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// htmlLang is the code of a language in HTML.
func htmlLang(lang string) string {
	if lang == "zh" {
		return "zh-Hans"
	}
	return lang
}

// functions are those of the templates.
func (w words) functions() template.FuncMap {
	return template.FuncMap{
		"t":   func(key string, pairs ...any) string { return w.T(key, pairs...) },
		"inc": func(n int) int { return n + 1 },
	}
}

func (w words) campaign(s *campaign.Summary, reports map[string]string) *campaignPage {
	p := &campaignPage{Title: s.Title, Made: s.Build}
	const form = "2006-01-02 15:04"
	local := func(t time.Time) string { return t.Local().Format(form) }
	state := "campaign.state." + string(s.State)
	if s.State == campaign.Done && s.Missing() > 0 && len(s.Asides) == 0 { // there is more to play than there was
		state = "campaign.state.changed"
	}
	p.State = w.T(state, "games", s.Games, "total", s.Total, "when", local(s.Time))
	if s.Spared > 0 {
		p.State += w.T("sentence.space") + w.T("campaign.spared", "n", s.Spared)
	}
	if s.State == campaign.Running && s.Until != nil {
		p.State += w.T("sentence.space") + w.T("campaign.runs-until", "until", local(*s.Until))
	}
	p.Since = w.T("campaign.first", "n", s.New)
	if s.Since != nil {
		p.Since = w.T("campaign.since", "since", local(*s.Since), "n", s.New)
	}
	p.Alarms = append(p.Alarms, w.asides(s.Asides)...)
	for _, f := range s.Faults {
		p.Alarms = append(p.Alarms, w.faultsText(f, s.Since != nil))
	}
	p.News = append(p.News, w.versions(s.Players)...)
	for _, o := range s.Old {
		p.News = append(p.News, w.oldGames(o))
	}
	for _, x := range s.Strength {
		p.Strength = append(p.Strength, w.strength(x))
	}
	if len(p.Alarms)+len(p.News)+len(p.Strength) == 0 && s.Since != nil && state != "campaign.state.changed" {
		p.Quiet = w.T("campaign.quiet")
	}
	for _, t := range s.Tables {
		p.Tables = append(p.Tables, w.campaignTable(t))
	}
	for _, m := range s.Matches {
		p.Matches = append(p.Matches, w.campaignMatch(m, reports[m.Name]))
	}
	return p
}

// asides says what was set aside, together of a player that broke.
func (w words) asides(all []campaign.Aside) (texts []string) {
	met := map[string][]string{} // by match and reason
	key := func(a campaign.Aside) string { return fmt.Sprintf("%q %q %q", a.Match, a.Broken, a.Text) }
	for _, a := range all {
		met[key(a)] = append(met[key(a)], a.Players[0]+" – "+a.Players[1])
	}
	for _, a := range all {
		names := met[key(a)]
		if names == nil {
			continue
		}
		delete(met, key(a))
		why := a.Text
		if a.Broken != "" {
			why = w.T("campaign.broken", "a", a.Broken, "n", a.Lost, "kind", w.T("report.fault."+string(a.Fault)), "text", a.Text)
		}
		texts = append(texts, w.T("campaign.aside", "match", a.Match, "met", strings.Join(names, w.T("sentence.list")), "why", why))
	}
	return texts
}

// faultsText says what a player lost by faults since the last run, and whether it had
// such faults before.
func (w words) faultsText(f campaign.Faults, compared bool) string {
	key := "campaign.faults"
	for kind := range f.New {
		if compared && f.Before[kind] == 0 {
			key = "campaign.faults.now"
		}
	}
	return w.T(key, "a", f.Player, "match", f.Match, "kinds", w.faults(f.New), "games", f.Games, "text", f.Text)
}

// versions says what became of the players, together of those that have the same new
// build.
func (w words) versions(all []campaign.NewVersion) (texts []string) {
	var builds [][2]string
	names := map[[2]string][]string{}
	for _, v := range all {
		switch {
		case v.Before == nil:
			texts = append(texts, w.T("campaign.player.new", "a", v.Player, "spec", v.Now.Spec))
		case v.Now == nil:
			texts = append(texts, w.T("campaign.player.gone", "a", v.Player))
		case v.Before.Spec != v.Now.Spec:
			texts = append(texts, w.T("campaign.player.spec", "a", v.Player, "before", v.Before.Spec, "now", v.Now.Spec))
		default:
			b := [2]string{v.Before.Build, v.Now.Build}
			if names[b] == nil {
				builds = append(builds, b)
			}
			names[b] = append(names[b], v.Player)
		}
	}
	for _, b := range builds {
		texts = append(texts, w.T("campaign.player.build", "a", strings.Join(names[b], w.T("sentence.list")), "before", b[0], "now", b[1]))
	}
	return texts
}

// OldGames says in a language of what games some do not count any more, and why.
func OldGames(lang string, o campaign.Old) (string, error) {
	w, err := Words(lang)
	if err != nil {
		return "", err
	}
	return w.oldGames(o), nil
}

// reasons says why games do not count any more.
func (w words) reasons(all []campaign.Reason) (why []string) {
	for _, r := range all {
		why = append(why, w.T("campaign.old."+r.Kind, "name", r.Name, "before", orDash(r.Before), "now", orDash(r.Now)))
	}
	return why
}

func (w words) oldGames(o campaign.Old) string {
	why := w.reasons(o.Why)
	if o.Gone {
		why = append(why, w.T("campaign.old.gone"))
	}
	var met []string
	for _, p := range o.Players {
		met = append(met, p[0]+" – "+p[1])
	}
	return w.T("campaign.old", "match", o.Match, "met", strings.Join(met, w.T("sentence.list")), "n", o.Games, "why", strings.Join(why, w.T("campaign.semicolon")))
}

func (w words) strength(x campaign.Strength) strengthRow {
	row := strengthRow{Match: x.Match, A: x.Players[0], B: x.Players[1], New: x.New, Versions: x.Versions, Before: w.measured(x.Before), Now: w.measured(x.Now)}
	switch {
	case x.Versions:
		infinite := func(v *float64, sign int) float64 {
			if v == nil {
				return math.Inf(sign)
			}
			return *v
		}
		low, high := infinite(x.Change.Low, -1), infinite(x.Change.High, 1)
		value := infinite(x.Change.Value, 1) // one of the scores is 0 or 100 %
		if math.IsInf(low, -1) {
			value = infinite(x.Change.Value, -1)
		}
		row.Change = w.eloOf(value, low, high)
		switch {
		case low > 0:
			row.Change = w.T("campaign.change.stronger", "elo", row.Change)
		case high < 0:
			row.Change = w.T("campaign.change.weaker", "elo", row.Change)
		case !math.IsInf(low, 0) || !math.IsInf(high, 0): // else there are too few games
			row.Change = w.T("campaign.change.open", "elo", row.Change)
		}
	case x.Before.Games() == 0:
		row.Change = w.T("campaign.first-games")
	default:
		row.Change = w.T("campaign.same-versions")
	}
	return row
}

// measured writes a difference in Elo, with the number of games.
func (w words) measured(m campaign.Measure) string {
	if m.Games() == 0 {
		return "–"
	}
	return w.T("campaign.measured", "elo", w.elo(m.Pairs), "n", m.Games())
}

func (w words) campaignTable(t campaign.Table) campaignTable {
	n := campaignTable{Heading: w.Or("game."+t.Game, t.Game)}
	ranking := t.Standing.Ranking()
	for rank, i := range ranking {
		if rank < crossColumns {
			n.Numbers = append(n.Numbers, rank+1)
		}
		p := &t.Standing.Players[i]
		row := campaignPlayer{Rank: rank + 1, Name: p.Name, Games: p.Games(), Result: resultOf(p.Score), Points: points(p.Score),
			Percent: w.percentInterval(p.Score), Elo: w.elo(p.Pairs), Faults: w.faults(p.Faults)}
		for _, j := range ranking[:min(len(ranking), crossColumns)] {
			row.Cells = append(row.Cells, w.cell(t.Standing, i, j))
		}
		n.Players = append(n.Players, row)
	}
	return n
}

func resultOf(s match.Score) string {
	return fmt.Sprintf("%d – %d – %d", s.Wins, s.Draws, s.Losses)
}

// percentInterval writes a score with its interval; "–" without games.
func (w words) percentInterval(s match.Score) string {
	if s.Games() == 0 {
		return "–"
	}
	text := fmt.Sprintf("%.1f\u00a0%%", s.Percent())
	if s.Pairs.Count() > 1 {
		text += " (" + percents(s.Pairs.Interval()) + ")"
	}
	return text
}

func (w words) campaignMatch(m campaign.MatchSummary, report string) campaignMatch {
	n := campaignMatch{Name: m.Name, Report: report, Done: w.T("campaign.done", "games", m.Games, "total", m.Total)}
	if m.Repeated > 0 {
		n.Done += " · " + w.T("campaign.repeated", "n", m.Repeated)
	}
	about := []string{w.Or("game."+m.Game, m.Game), w.Rules(m.Rules)}
	switch l := m.Limit; {
	case l.Nodes > 0:
		about = append(about, w.T("campaign.nodes", "n", l.Nodes))
	case l.Depth > 0:
		about = append(about, w.T("replay.depth", "n", l.Depth))
	case l.Clock.String() != "unlimited":
		about = append(about, w.Clock(l.Clock))
	}
	if m.Event != "" {
		about = append(about, m.Event)
	}
	n.About = strings.Join(about, " · ")
	for _, x := range m.Pairings {
		row := campaignRow{A: x.Players[0], B: x.Players[1], Games: fmt.Sprintf("%d / %d", x.Games(), x.Total), Result: resultOf(x.Score),
			Percent: w.percentInterval(x.Score), Elo: orDash(""), LOS: orDash(""), Aside: x.Aside}
		if x.Games() > 0 {
			row.Elo = w.elo(x.Pairs)
		}
		if x.Pairs.Count() > 1 {
			row.LOS = fmt.Sprintf("%.0f\u00a0%%", 100*x.LOS)
		}
		if x.Faults[0]+x.Faults[1] > 0 {
			row.Faults = fmt.Sprintf("%d : %d", x.Faults[0], x.Faults[1])
		}
		switch {
		case x.Aside:
			row.State = w.T("campaign.set-aside")
		case x.Verdict != "" && x.Verdict != elo.Open.String():
			row.State = w.T("campaign.sprt." + strings.ToLower(strings.Fields(x.Verdict)[0]))
		case x.Games() >= x.Total:
			row.State = w.T("campaign.complete")
		}
		n.Rows = append(n.Rows, row)
		for _, e := range x.Earlier {
			n.Rows = append(n.Rows, w.earlierRow(x.Players, e))
		}
	}
	return n
}

// earlierRow is the row of games that do not count any more. They stay on the page: a program
// that is compiled again must not empty it.
func (w words) earlierRow(players [2]string, e campaign.Earlier) campaignRow {
	row := campaignRow{A: players[0], B: players[1], Games: fmt.Sprint(e.Games()), Result: resultOf(e.Score), Percent: w.percentInterval(e.Score),
		Elo: w.elo(e.Pairs), LOS: orDash(""), State: w.T("campaign.earlier", "why", strings.Join(w.reasons(e.Why), w.T("campaign.semicolon")))}
	if e.Pairs.Count() > 1 {
		row.LOS = fmt.Sprintf("%.0f\u00a0%%", 100*e.Pairs.LOS())
	}
	return row
}
