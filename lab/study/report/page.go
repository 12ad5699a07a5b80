package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"math"
	"strings"
	"time"

	"sparring/game"
	"sparring/internal/chart"
	"sparring/lab/match"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/review"
	"sparring/screen/static"
	"sparring/screen/view"
)

// page is the data of page.html.
type page struct {
	Lang, Title, Policy string
	Games, Boards       int
	From, Made          string
	When                string
	Style               template.CSS
	Script              template.JS
	Dictionary          map[string]string
	Sections            []sectionPage
	Data                []*board
}

// sectionPage has the games of one kind.
type sectionPage struct {
	Heading, Rules, Verdict string
	Plot                    template.URL // of the score over the games; "": none
	Games, Open, Left       int
	Single                  bool // no pairs: errors are those of single games
	Players                 []playerRow
	Numbers                 []int // of the players with a column in the crosstable
	Worst                   []worstPage
	Rows                    []gameRow
	Unlisted, Reviewed      int
}

// playerRow is a player in the tables, best first.
type playerRow struct {
	Rank                                    int
	Name                                    string
	Games                                   int
	Result, Points, Percent, Interval, Elo  string
	Cells                                   []cell
	Time, Longest, Least, Depth, Rate, Lost string
	Inaccuracies, Mistakes, Blunders        int
	Judged                                  int
	Faults                                  string
}

// cell is a player's score against another.
type cell struct{ Score, Percent, Interval string }

// worstPage has the worst moves of a player.
type worstPage struct {
	Name  string
	Moves []worstRow
}

// worstRow is one of the worst moves.
type worstRow struct {
	Link          string
	Players       [2]string
	Move, Class   string
	Sign, Text    string
	Before, After string // winning chance of the mover
	Better, Own   string
	Picture       template.HTML
}

// gameRow is a game of the list.
type gameRow struct {
	Number     int
	Link       string
	Names      [2]string
	Winner     int // 1 or 2; 0 for none
	Score, End string
	Plies      int
	Date       string
	Classes    string
}

// crossColumns is how many players have a column in the crosstable.
const crossColumns = 12

func (r *reporter) write(out io.Writer) error {
	p := page{Lang: htmlLang(r.Lang), Games: len(r.games), From: r.From, Made: r.Build, When: r.Now.Format("2006-01-02 15:04")}
	for _, s := range r.sections {
		sp, err := r.section(s, &p)
		if err != nil {
			return err
		}
		p.Sections = append(p.Sections, sp)
	}
	p.Boards = len(p.Data)
	p.Title = r.title()
	if err := p.parts(r.words); err != nil {
		return err
	}
	t, err := template.New("page.html").Funcs(r.words.functions()).ParseFS(bundled, "page.html")
	if err != nil {
		return err
	}
	return t.Execute(out, p)
}

// title names the players of a match, or counts what there is.
func (r *reporter) title() string {
	if len(r.sections) == 1 && len(r.sections[0].players) == 2 {
		s := r.sections[0]
		first, second := s.players[s.standing.Ranking()[0]], s.players[s.standing.Ranking()[1]]
		return r.words.T("game.title", "game", r.words.Or("game."+s.name, s.name), "first", first.name, "second", second.name)
	}
	return r.words.T("report.title", "n", len(r.games))
}

// parts adds script, style and the texts that the script needs.
func (p *page) parts(w words) error {
	module, err := bundled.ReadFile("replay.js")
	if err != nil {
		return err
	}
	script, err := static.Link(module)
	if err != nil {
		return fmt.Errorf("replay.js: %w", err)
	}
	style, err := styleSheet()
	if err != nil {
		return err
	}
	p.Script, p.Style = template.JS(script), template.CSS(style)
	p.Policy = policy(digest(script), digest(style))
	p.Dictionary = map[string]string{}
	maps.Copy(p.Dictionary, w.Texts)
	maps.DeleteFunc(p.Dictionary, func(key, _ string) bool {
		for _, prefix := range []string{"board.", "side.", "move.", "clock.", "game.", "review.", "replay."} {
			if strings.HasPrefix(key, prefix) {
				return false
			}
		}
		return true
	})
	return nil
}

// styleSheet returns that of the page, with the font in it, and the report's own.
func styleSheet() (string, error) {
	css, err := fs.ReadFile(static.Files, "style.css")
	if err != nil {
		return "", err
	}
	font, err := fs.ReadFile(static.Files, "xiangqi.woff2")
	if err != nil {
		return "", err
	}
	own, err := bundled.ReadFile("report.css")
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(static.WithPlainColours(css)), `url("xiangqi.woff2")`, "url(data:font/woff2;base64,"+base64.StdEncoding.EncodeToString(font)+")")
	return text + string(own), nil
}

// digest returns what a policy names a script or style by.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (r *reporter) section(s *section, p *page) (sectionPage, error) {
	w := r.words
	sp := sectionPage{Heading: w.Or("game."+s.name, s.name), Games: len(s.games), Open: s.open, Left: s.left, Single: true}
	rules := map[string]bool{}
	for _, g := range s.games {
		if name := w.Rules(g.rec.Rules); !rules[name] {
			rules[name] = true
			sp.Rules = strings.TrimPrefix(sp.Rules+" · "+name, " · ")
		}
		if g.review != nil {
			sp.Reviewed++
		}
	}
	for _, res := range s.standing.Results {
		sp.Single = sp.Single && res.Leg == 0
	}
	if s.standing.Games > 0 {
		sp.Verdict = w.verdict(s.standing.Verdict(nil))
	}
	var err error
	if sp.Plot, err = w.plotOf(s.standing); err != nil {
		return sp, err
	}
	ranking := s.standing.Ranking()
	for rank, i := range ranking {
		if rank < crossColumns {
			sp.Numbers = append(sp.Numbers, rank+1)
		}
		row := r.player(s, i, rank+1)
		for _, j := range ranking[:min(len(ranking), crossColumns)] {
			row.Cells = append(row.Cells, w.cell(s.standing, i, j))
		}
		sp.Players = append(sp.Players, row)
	}
	for _, g := range s.games {
		if g.board == 0 {
			sp.Unlisted++
			continue
		}
		b, err := r.boardOf(g)
		if err != nil {
			return sp, fmt.Errorf("game %s: %w", g.rec.ID, err)
		}
		p.Data = append(p.Data, b)
		sp.Rows = append(sp.Rows, r.row(g, b))
	}
	for _, i := range ranking {
		worst := worstPage{Name: s.players[i].name}
		for _, m := range s.players[i].worst {
			row, err := r.worst(m)
			if err != nil {
				return sp, err
			}
			worst.Moves = append(worst.Moves, row)
		}
		if len(worst.Moves) > 0 && len(sp.Worst) < maxWorst {
			sp.Worst = append(sp.Worst, worst)
		}
	}
	return sp, nil
}

// plotGames is from how many games on the score of two players is drawn.
const plotGames = 10

// plotOf draws the score of two players over the games, as an image that the page's
// policy allows.
func (w words) plotOf(s *match.Standing) (template.URL, error) {
	if len(s.Pairings) != 1 || s.Games < plotGames {
		return "", nil
	}
	var drawing bytes.Buffer
	m := &s.Pairings[0]
	a, b := s.Players[m.A].Name, s.Players[m.B].Name
	texts := match.ScoreTexts{
		Title: w.T("report.course.title", "a", a, "b", b, "wins", m.Wins, "draws", m.Draws, "losses", m.Losses, "elo", w.elo(m.Pairs)),
		Games: w.T("report.course.games"),
		Score: w.T("report.course.score", "a", a),
	}
	if err := s.DrawScore(&drawing, chart.SVG, texts); err != nil {
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(drawing.Bytes())), nil
}

// maxWorst is of how many players the worst moves are shown, the best players first.
const maxWorst = crossColumns

func points(s match.Score) string {
	text := fmt.Sprint(int(s.Points()))
	if s.Draws%2 == 1 {
		text = strings.TrimPrefix(text, "0") + "½"
	}
	return text
}

func percents(low, high float64) string { return fmt.Sprintf("%.0f–%.0f\u00a0%%", 100*low, 100*high) }

// cell is the score of player i against player j.
func (w words) cell(s *match.Standing, i, j int) cell {
	for k := range s.Pairings {
		m := &s.Pairings[k]
		score := m.Score
		switch {
		case m.A == i && m.B == j:
		case m.A == j && m.B == i:
			score = m.Score.Turned()
		default:
			continue
		}
		if score.Games() == 0 {
			return cell{}
		}
		c := cell{Score: fmt.Sprintf("%s / %d", points(score), score.Games()), Percent: fmt.Sprintf("%.0f\u00a0%%", score.Percent())}
		if score.Pairs.Count() > 1 {
			c.Interval = percents(score.Pairs.Interval())
		}
		return c
	}
	return cell{}
}

func (r *reporter) player(s *section, i, rank int) playerRow {
	w, t, p := r.words, &s.standing.Players[i], s.players[i]
	row := playerRow{Rank: rank, Name: p.name, Games: t.Games(), Result: resultOf(t.Score), Points: points(t.Score),
		Percent: fmt.Sprintf("%.1f\u00a0%%", t.Percent()), Elo: w.elo(t.Pairs), Judged: p.judged,
		Inaccuracies: p.classes[string(review.Inaccuracy)], Mistakes: p.classes[string(review.Mistake)], Blunders: p.classes[string(review.Blunder)]}
	if t.Pairs.Count() > 1 {
		row.Interval = percents(t.Pairs.Interval())
	}
	ms := func(n int64) string { return w.seconds(time.Duration(n) * time.Millisecond) }
	if t.Moves > 0 && t.TimeUS > 0 {
		row.Time, row.Longest = w.seconds(time.Duration(t.TimeUS/int64(t.Moves))*time.Microsecond), ms(p.longest)
	}
	if p.least >= 0 {
		row.Least = ms(p.least)
	}
	if t.Searched > 0 {
		row.Depth = fmt.Sprintf("%.1f", float64(t.Depths)/float64(t.Searched))
	}
	if t.Nodes > 0 && t.TimeUS > 0 && t.TimeUS >= minMoveTime*int64(t.Moves) {
		row.Rate = fmt.Sprintf("%.0f", float64(t.Nodes)/float64(t.TimeUS)*1000)
	}
	if p.judged > 0 {
		row.Lost = fmt.Sprintf("%.1f\u00a0%%", 100*p.lost/float64(p.judged))
	}
	row.Faults = w.faults(t.Faults)
	return row
}

// minMoveTime is the mean time of a move, in µs, from which on nodes a second are told: the
// moves of records have whole milliseconds, and of shorter ones too little is left.
const minMoveTime = 10_000

// about tells of a game what is not in its result.
func (r *reporter) about(rec *record.Record) (parts []string) {
	parts = append(parts, r.words.Rules(rec.Rules))
	if rec.Clock.String() != "unlimited" {
		parts = append(parts, r.words.Clock(rec.Clock))
	}
	for _, s := range rec.Seats {
		if s.Clock != nil {
			parts = append(parts, fmt.Sprintf("%s %s", format.Name(s), r.words.Clock(*s.Clock)))
		}
	}
	if rec.Event != "" && rec.Event != match.Event {
		parts = append(parts, rec.Event)
	}
	if rec.Place != "" {
		parts = append(parts, rec.Place)
	}
	if !rec.Start.IsZero() {
		parts = append(parts, rec.Start.UTC().Format("2006-01-02"))
	}
	return parts
}

func (r *reporter) row(g *played, b *board) gameRow {
	row := gameRow{Number: g.board, Link: fmt.Sprintf("#g%d", g.board), Names: b.Names, End: b.Result, Plies: len(g.rec.Plies)}
	switch g.rec.Result {
	case game.FirstWins:
		row.Score, row.Winner = "1–0", 1
	case game.SecondWins:
		row.Score, row.Winner = "0–1", 2
	case game.Draw:
		row.Score = "½–½"
	default:
		row.Score = "–"
	}
	if !g.rec.Start.IsZero() {
		row.Date = g.rec.Start.UTC().Format("2006-01-02 15:04")
	}
	for _, t := range g.turns {
		if t.class == review.Blunder {
			row.Classes = strings.TrimSpace(row.Classes + " " + signs[t.class])
		}
	}
	if n := strings.Count(row.Classes, signs[review.Blunder]); n > 3 {
		row.Classes = fmt.Sprintf("%s ×%d", signs[review.Blunder], n)
	}
	return row
}

// signs of the classes, as in commented games.
var signs = map[review.Class]string{review.Inaccuracy: "?!", review.Mistake: "?", review.Blunder: "??"}

// percentOf writes a winning chance; "" for one that is not known.
func percentOf(c float64) string {
	if math.IsNaN(c) {
		return ""
	}
	return fmt.Sprintf("%.0f\u00a0%%", 100*c)
}

// worst describes one of the worst moves, with the position before it.
func (r *reporter) worst(m moment) (worstRow, error) {
	g, w := m.game, r.words
	t := g.turns[m.ply]
	row := worstRow{Class: string(t.class), Sign: signs[t.class], Before: percentOf(review.SideOf(g.chances[m.ply], m.seat)),
		After: percentOf(review.SideOf(g.chances[m.ply], m.seat) - t.lost), Text: w.T("review."+string(t.class), "lost", percentOf(t.lost))}
	for i, s := range g.rec.Seats {
		row.Players[i] = format.Name(s)
	}
	if g.board > 0 {
		row.Link = fmt.Sprintf("#g%d-%d", g.board, m.ply+1)
	}
	if g.fault != nil {
		return row, nil
	}
	p := g.start.Clone()
	for _, ply := range g.rec.Plies[:m.ply] {
		game.PlayOn(p)
		if _, err := game.PlayText(p, ply.Move); err != nil {
			return row, err
		}
	}
	game.PlayOn(p)
	v, err := view.Still(p)
	if err != nil {
		return row, err
	}
	n := w.notation(p)
	made := g.rec.Plies[m.ply].Move
	text := strings.Join(writtenLine(p, n, []string{made}), "")
	row.Move = w.T("replay.move", "n", m.ply+1, "side", w.Side(v.Sides[m.seat]), "move", w.Move(text))
	told := []view.Told{{Move: made, Kind: "mistake"}}
	label := w.T("report.diagram", "move", row.Move)
	if len(t.line) > 0 && t.line[0] != made {
		const most = 6
		row.Better = strings.Join(writtenLine(p, n, t.line[:min(len(t.line), most)]), " ")
		told = append(told, view.Told{Move: t.line[0], Kind: "best"})
	} else if len(t.line) > 0 {
		row.Own = w.T("report.own")
	}
	row.Picture = view.Picture(v, label, told...)
	return row, nil
}
