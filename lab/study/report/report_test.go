package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/lab/match/elo"
	"sparring/lab/study/analysis"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/review"
)

// five is a game of Gomoku that the first seat wins.
var five = strings.Fields("h8 a1 h9 a2 h10 a3 h11 a4 h12")

// gameOf returns a record of a game of Gomoku. The chances are those that the movers
// saw; 0 is none.
func gameOf(id string, first, second string, result game.Result, chances ...float64) *record.Record {
	spec, err := clock.Parse("60+1")
	if err != nil {
		panic(err)
	}
	r := &record.Record{V: record.Version, ID: id, Game: "gomoku", Rules: "gomoku/freestyle-15", Clock: spec, Event: "match",
		Start: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Result: result, Reason: "five",
		Seats: [2]record.Seat{{Player: first}, {Player: second}}, Source: record.Source{By: record.ByMatch}}
	for i, m := range five {
		p := record.Ply{Seat: game.Seat(i % 2), Move: m, UsedMS: int64(100 * (i + 1)), LeftMS: int64(60_000 - 1000*i)}
		if i < len(chances) && chances[i] > 0 {
			p.Think = &record.Think{Source: record.FromSearch, Depth: 10 + i, WinProb: chances[i], Nodes: 1000}
		}
		r.Plies = append(r.Plies, p)
	}
	return r
}

// pairsOf returns a match of two players; wins counts pairs by the half points of a.
func pairsOf(wins elo.Pairs) (all []*record.Record) {
	pair := 0
	for halves, n := range wins {
		for range n {
			pair++
			legs := [2]int{halves / 2, (halves + 1) / 2}
			for leg, points := range legs {
				names, seat := [2]string{"a", "b"}, game.First
				if leg == 1 {
					names, seat = [2]string{"b", "a"}, game.Second
				}
				result := [3]game.Result{game.WonBy(seat.Other()), game.Draw, game.WonBy(seat)}[points]
				all = append(all, gameOf(fmt.Sprintf("mabcdefgh-%d-%d", pair, leg+1), names[0], names[1], result))
			}
		}
	}
	return all
}

func pageOf(t *testing.T, games []*record.Record, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if o.Lang == "" {
		o.Lang = "en"
	}
	boards, err := Write(t.Context(), &out, games, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `id="game-`); n != boards {
		t.Errorf("%d boards, said to be %d", n, boards)
	}
	return out.String()
}

// tableOf returns the texts of the cells of a table, by the data attribute that it has.
func tableOf(t *testing.T, page, name string) (rows [][]string) {
	t.Helper()
	_, rest, ok := strings.Cut(page, "data-"+name+">")
	body, _, ends := strings.Cut(rest, "</tbody>")
	_, body, begins := strings.Cut(body, "<tbody>")
	if !ok || !ends || !begins {
		t.Fatalf("no table %s", name)
	}
	tags := regexp.MustCompile(`<[^>]*>`)
	for _, row := range strings.Split(body, "<tr>")[1:] {
		var cells []string
		for _, c := range regexp.MustCompile(`(?s)<t[hd].*?</t[hd]>`).FindAllString(row, -1) {
			cells = append(cells, strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(strings.ReplaceAll(c, "<br>", " "), ""))), " "))
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestNumbers: score, interval and Elo of the tables are those of package elo.
func TestNumbers(t *testing.T) {
	wins := elo.Pairs{2, 3, 6, 5, 9}
	page := pageOf(t, pairsOf(wins), Options{Boards: 3})
	low, high := wins.Interval()
	from, to := wins.EloInterval()
	standing := tableOf(t, page, "standing")
	want := []string{"1", "a", "50", "", "", fmt.Sprintf("%.1f %% %.0f–%.0f %%", 100*wins.Score(), 100*low, 100*high), fmt.Sprintf("%+.0f (%+.0f to %+.0f)", wins.Elo().Elo, from, to)}
	for i, text := range want {
		if text != "" && standing[0][i] != text {
			t.Errorf("column %d: %q, want %q", i, standing[0][i], text)
		}
	}
	if !strings.Contains(standing[1][6], fmt.Sprintf("%+.0f (", -wins.Elo().Elo)) {
		t.Errorf("the other player has %q", standing[1][6])
	}
	verdict := fmt.Sprintf("a is better than b by %.0f to %.0f Elo", from, to)
	if !strings.Contains(page, verdict) {
		t.Errorf("the page does not say %q", verdict)
	}
	if !strings.Contains(page, "computed from complete pairs of games") {
		t.Error("the page does not say what the errors are computed from")
	}
	play := tableOf(t, page, "play")
	if play[0][1] != "0.5 s" || play[0][2] != "0.9 s" || play[0][3] != "52s" && play[0][3] != "0:52" {
		t.Errorf("times %v", play[0])
	}
	if got := strings.Count(page, `id="game-`); got != 3 {
		t.Errorf("%d boards, want 3", got)
	}
}

// TestCrosstable: several players, with the errors of single games where there are no
// pairs.
func TestCrosstable(t *testing.T) {
	var games []*record.Record
	for i := range 12 {
		games = append(games, gameOf(fmt.Sprintf("ab%d", i), "x", "y", game.FirstWins), gameOf(fmt.Sprintf("ac%d", i), "z", "x", []game.Result{game.Draw, game.SecondWins}[i%2]))
	}
	games = append(games, gameOf("open", "x", "y", game.Undecided), gameOf("self", "x", "x", game.FirstWins))
	page := pageOf(t, games, Options{Boards: 100})
	singles := elo.Pairs{0, 0, 6, 0, 6} // of x against z
	low, high := singles.Interval()
	rows := tableOf(t, page, "cross")
	if len(rows) != 3 || rows[0][1] != "x" || !slices.Contains(rows[0], fmt.Sprintf("9 / 12 %.0f–%.0f %%", 100*low, 100*high)) || !slices.Contains(rows[0], "12 / 12 83–100 %") && !strings.Contains(rows[0][4], "12 / 12") {
		t.Errorf("%q", rows)
	}
	for _, text := range []string{"computed from single games", "2 without a result"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
}

// TestPlayerOfSeveralSources: a player of a match, whose record has the name, is that of a
// file of another program, to which the reader of the file gives an id.
func TestPlayerOfSeveralSources(t *testing.T) {
	var games []*record.Record
	for i, names := range [][2]string{{"北理工", "Fairy 11"}, {"Fairy 11", "北理工"}} {
		games = append(games, gameOf(fmt.Sprintf("mabcdefgh-1-%d", i+1), names[0], names[1], game.FirstWins))
		read := gameOf(fmt.Sprintf("i-%d", i), "", "", game.FirstWins)
		for seat := range read.Seats {
			format.SetName(&read.Seats[seat], names[seat], "")
		}
		games = append(games, read)
	}
	rows := tableOf(t, pageOf(t, games, Options{}), "standing")
	if len(rows) != 2 || rows[0][1] != "北理工" || rows[0][2] != "4" || rows[1][1] != "Fairy 11" {
		t.Errorf("%q, want two players with 4 games each", rows)
	}
}

// TestPlayersWithoutScore: players whose games ended without a result are in no table, and
// the verdict does not count them; their games are there. If no game has a result, all are.
func TestPlayersWithoutScore(t *testing.T) {
	games := pairsOf(elo.Pairs{4: 10})
	for i := range 3 {
		games = append(games, gameOf(fmt.Sprintf("open%d", i), "a", fmt.Sprintf("guest%d", i), game.Undecided))
	}
	page := pageOf(t, games, Options{Boards: 100})
	if rows := tableOf(t, page, "standing"); len(rows) != 2 || rows[0][1] != "a" || rows[1][1] != "b" {
		t.Errorf("standing %q", rows)
	}
	for _, text := range []string{"a is better than b", "3 without a result", "guest2"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not say %q", text)
		}
	}
	if rows := tableOf(t, pageOf(t, games[20:], Options{Boards: 100}), "standing"); len(rows) != 4 {
		t.Errorf("without a result: standing %q", rows)
	}
}

// TestLossesFromTheRecord: a move loses what its own player saw less at its next move,
// and the end by the rules is known to both.
func TestLossesFromTheRecord(t *testing.T) {
	g := newPlayed(gameOf("g", "a", "b", game.FirstWins, 0.5, 0.6, 0.8, 0.1, 0.7, 0, 0.9, 0.05), nil)
	want := map[int]float64{0: 0, 1: 0.5, 2: 0.1, 4: 0, 7: 0.05}
	for i, turn := range g.turns {
		w, known := want[i]
		if known && math.Abs(turn.lost-w) > 1e-9 || !known && i != 6 && !math.IsNaN(turn.lost) {
			t.Errorf("ply %d lost %g, want %g", i, turn.lost, w)
		}
	}
	if g.turns[1].class != review.Blunder || g.turns[2].class != review.Inaccuracy || g.turns[0].class != "" {
		t.Errorf("%+v", g.turns)
	}
	if g.chances[1] != 0.4 || g.chances[9] != 1 || !math.IsNaN(g.chances[5]) {
		t.Errorf("chances %v", g.chances)
	}
	for _, points := range []*record.Think{{Depth: 8, Score: 100}, {Score: 100}} {
		if c, ok := analysis.ChanceSeen(points); !ok || math.Abs(c-0.64) > 0.001 {
			t.Errorf("100 points are %g, %v", c, ok)
		}
	}
	for _, none := range []*record.Think{nil, {Source: record.FromBook}, {Source: record.FromExternal, WinProb: 0.5}} {
		if _, ok := analysis.ChanceSeen(none); ok {
			t.Errorf("%+v has a chance", none)
		}
	}
}

// TestTimeLeftUnknown: a file of another program may have the clock and the time of each
// move, but not what was left.
func TestTimeLeftUnknown(t *testing.T) {
	games := pairsOf(elo.Pairs{0, 0, 1, 0, 0})
	for _, r := range games {
		for i := range r.Plies {
			r.Plies[i].LeftMS = 0
		}
	}
	if play := tableOf(t, pageOf(t, games, Options{}), "play"); play[0][2] != "0.9 s" || play[0][3] != "–" {
		t.Errorf("times %v, want no least time left", play[0])
	}
}

// TestRateOfShortMoves: records have whole milliseconds, so moves that take two or three say
// nothing of nodes a second.
func TestRateOfShortMoves(t *testing.T) {
	for used, want := range map[int64]string{2: "–", 20: "50"} {
		games := []*record.Record{gameOf("g", "a", "b", game.FirstWins, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)}
		for i := range games[0].Plies {
			games[0].Plies[i].UsedMS = used
		}
		if play := tableOf(t, pageOf(t, games, Options{}), "play"); play[0][5] != want {
			t.Errorf("%d ms a move: %q nodes a second, want %q", used, play[0][5], want)
		}
	}
}

// TestDepthOfProof: the mean depth is of searches that did not prove who wins.
func TestDepthOfProof(t *testing.T) {
	games := []*record.Record{gameOf("g", "a", "b", game.FirstWins, 0.5, 0.5, 0.5, 0.5, 0.5)}
	won := games[0].Plies[4].Think
	won.Depth, won.Score = search.MaxPly-1, int(search.Win-5)
	if play := tableOf(t, pageOf(t, games, Options{}), "play"); play[0][4] != "11.0" {
		t.Errorf("depth %s of 10, 12 and a proof", play[0][4])
	}
}

// TestWorst: the worst moves come with the better line, from a search or a review.
func TestWorst(t *testing.T) {
	games := []*record.Record{gameOf("g1", "a", "b", game.FirstWins, 0.5, 0.6, 0.8, 0.1, 0.7, 0, 0.9, 0.05)}
	asked := 0
	page := pageOf(t, games, Options{Boards: 1, Better: func(_ context.Context, r *record.Record, ply int) ([]string, error) {
		asked++
		if r.ID != "g1" || ply != 1 && ply != 2 {
			t.Errorf("asked for %s, ply %d", r.ID, ply)
		}
		return []string{"g7", "i9"}, nil
	}})
	for _, text := range []string{"2. White a1", "60\u00a0% → 10\u00a0%", `<span class="line">g7 i9</span>`, `href="#g1-2"`, `class="told best"`, `class="told mistake"`} {
		if !strings.Contains(page, text) {
			t.Errorf("the page does not have %q", text)
		}
	}
	if asked != 2 {
		t.Errorf("%d searches, want 2", asked)
	}
	broken := errors.New("broken")
	_, err := Write(t.Context(), &bytes.Buffer{}, games, Options{Lang: "en", Better: func(context.Context, *record.Record, int) ([]string, error) { return nil, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "g1") {
		t.Errorf("%v", err)
	}

	half, least := 0.5, 0.05
	rev := &analysis.Report{Game: "g1", Start: &half, Plies: []analysis.Move{{Ply: 1, Chance: &least, Lost: 0.45, Class: review.Blunder, Best: "h7", Line: []string{"h7"}}}}
	for i := 2; i <= 9; i++ {
		rev.Plies = append(rev.Plies, analysis.Move{Ply: i, Chance: &least})
	}
	page = pageOf(t, games, Options{Lang: "zh", Boards: 1, Reviews: map[string]*analysis.Report{"g1": rev}})
	for _, text := range []string{"1. 黑方 h8", `<span class="line">h7</span>`, "全部局面的分析"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page of a review does not have %q", text)
		}
	}
}

// TestWorstOnce: a move that was played in several games alike is one of the worst moves once.
func TestWorstOnce(t *testing.T) {
	chances := []float64{0.5, 0.6, 0.8, 0.1, 0.7, 0, 0.9, 0.05}
	again, other := gameOf("g2", "a", "b", game.FirstWins, chances...), gameOf("g3", "a", "b", game.FirstWins, chances...)
	other.Plies[0].Move, other.Plies[2].Move = other.Plies[2].Move, other.Plies[0].Move
	var games []*played
	for _, r := range []*record.Record{gameOf("g1", "a", "b", game.FirstWins, chances...), again, other} {
		games = append(games, newPlayed(r, nil))
	}
	s, err := newSection("gomoku", games)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.players {
		var at []string
		for _, m := range p.worst {
			at = append(at, fmt.Sprint(m.game.rec.ID, " ", m.ply))
		}
		if want := map[string][]string{"a": {"g1 2", "g3 2"}, "b": {"g1 1", "g3 1"}}[p.name]; !slices.Equal(at, want) {
			t.Errorf("%s: the worst moves are %q, want %q", p.name, at, want)
		}
		counted := 0
		for _, n := range p.classes {
			counted += n
		}
		if counted != 3 {
			t.Errorf("%s: %v are counted, want one in each game", p.name, p.classes)
		}
	}
}

// TestSetUp: the moves of a game that another one continues are neither judged nor counted.
func TestSetUp(t *testing.T) {
	r := gameOf("g1", "a", "b", game.FirstWins, 0.5, 0.6, 0.8, 0.1, 0.7, 0, 0.9, 0.05)
	half, least := 0.5, 0.05
	rev := &analysis.Report{Game: "g1", Start: &half}
	for i := range r.Plies {
		rev.Plies = append(rev.Plies, analysis.Move{Ply: i + 1, Chance: &least, Lost: 0.4, Class: review.Blunder})
	}
	r.Given = 4
	s, err := newSection("gomoku", []*played{newPlayed(r, rev)})
	if err != nil {
		t.Fatal(err)
	}
	moves := 0
	for i, p := range s.players {
		if moves += p.judged; p.judged != p.classes[string(review.Blunder)] || p.judged != s.standing.Players[i].Moves {
			t.Errorf("%s: %d moves judged of %d, %v", p.name, p.judged, s.standing.Players[i].Moves, p.classes)
		}
	}
	if moves != len(r.Plies)-4 {
		t.Errorf("%d of %d moves judged, 4 of which were set up", moves, len(r.Plies))
	}
}

// hostile are names that would do harm if they were taken for markup.
var hostile = []string{`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "{{.}}`${1}`<!--", "\u202egnp.exe"}

// TestHostileNames: names are text, everywhere.
func TestHostileNames(t *testing.T) {
	var games []*record.Record
	for i, name := range hostile {
		g := gameOf(fmt.Sprintf("h%d", i), "a", "b", game.FirstWins, 0.9, 0.9, 0.1, 0.1)
		g.Seats[0].Display, g.Event, g.Place, g.Text = name, name, name, name
		g.Seats[0].Player = fmt.Sprintf("p%d", i)
		games = append(games, g)
	}
	page := pageOf(t, games, Options{Boards: 10, From: hostile[0], Build: hostile[1]})
	for _, bad := range []string{"<script>alert", "<img", "alert(1)</script>", "</script><script>alert"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if got, want := strings.Count(page, "<script"), 2+len(games); got != want {
		t.Errorf("%d scripts, want %d", got, want)
	}
	for _, data := range regexp.MustCompile(`(?s)<script type="application/json" id="game-\d+">(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		var b board
		if err := json.Unmarshal([]byte(data[1]), &b); err != nil || !slices.Contains(hostile, b.Names[0]) {
			t.Errorf("%v, %q", err, b.Names)
		}
	}
}

// TestOffline: the page loads nothing, and its policy says so.
func TestOffline(t *testing.T) {
	page := pageOf(t, pairsOf(elo.Pairs{1, 0, 0, 0, 1}), Options{Boards: 10})
	if loads := regexp.MustCompile(`(?:src|srcset)=|<link|@import|url\((?:[^d]|d[^a])`).FindAllString(page, -1); len(loads) > 0 {
		t.Errorf("the page loads %q", loads)
	}
	if !strings.Contains(page, `content="default-src &#39;none&#39;; script-src &#39;sha256-`) {
		t.Error("no policy")
	}
}

// TestManyGames: of many games the numbers are those of all; the list has as many as
// have a board, and the page says what it leaves out.
func TestManyGames(t *testing.T) {
	games := pairsOf(elo.Pairs{100, 100, 100, 100, 100})
	began := time.Now()
	page := pageOf(t, games, Options{Boards: 40})
	t.Logf("%d games, %d KiB, %v", len(games), len(page)>>10, time.Since(began))
	if rows := tableOf(t, page, "games"); len(rows) != 40 || strings.Count(page, `id="game-`) != 40 {
		t.Errorf("%d games are listed", len(rows))
	}
	if standing := tableOf(t, page, "standing"); standing[0][2] != "1000" {
		t.Errorf("%v", standing[0])
	}
	if !strings.Contains(page, "960 more games are in all numbers above") {
		t.Error("the page does not say what it leaves out")
	}
	if len(page) > 400_000 {
		t.Errorf("%d bytes", len(page))
	}
}

// TestUnplayable: a record that can't be played through counts, and has no board.
func TestUnplayable(t *testing.T) {
	bad := gameOf("bad", "a", "b", game.FirstWins, 0.9, 0.9, 0.1, 0.1)
	bad.Plies[4].Move = "h8"
	foreign := gameOf("foreign", "a", "b", game.Draw)
	foreign.Game, foreign.Rules = "chess", "chess/standard"
	page := pageOf(t, []*record.Record{bad, foreign, gameOf("good", "a", "b", game.FirstWins)}, Options{Boards: 10})
	if got := strings.Count(page, `id="game-`); got != 1 {
		t.Errorf("%d boards", got)
	}
	if !strings.Contains(page, "Gomoku") || !strings.Contains(page, "chess") {
		t.Error("a game is missing")
	}
	if strings.Contains(page, "The worst moves of") { // they would be without a name and a board
		t.Error("moves of a game that can't be played are shown")
	}
}

// TestManyPlayers: tables are bounded, and the page says what is left out.
func TestManyPlayers(t *testing.T) {
	var games []*record.Record
	for i := range maxPlayers + 20 {
		games = append(games, gameOf(fmt.Sprintf("g%d", i), "hub", fmt.Sprintf("p%03d", i), game.FirstWins))
	}
	page := pageOf(t, games, Options{Boards: 1})
	if rows := tableOf(t, page, "standing"); len(rows) != maxPlayers {
		t.Errorf("%d players", len(rows))
	}
	if !strings.Contains(page, "21 of players with fewer games are left out") {
		t.Error("the page does not say who is left out")
	}
}

// TestDictionaries: both languages have the same keys, sorted, with the same values in
// braces, and none that the page has; every key that is asked for is there.
func TestDictionaries(t *testing.T) {
	texts := map[string]map[string]string{}
	for _, lang := range []string{"en", "zh"} {
		data, err := os.ReadFile(lang + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]string
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		texts[lang] = all
		keys := regexp.MustCompile(`(?m)^"([^"]+)":`).FindAllSubmatch(data, -1)
		if !slices.IsSortedFunc(keys, func(a, b [][]byte) int { return bytes.Compare(a[1], b[1]) }) || len(keys) != len(texts[lang]) {
			t.Errorf("%s.json: not sorted, or a key twice", lang)
		}
	}
	brace := regexp.MustCompile(`\{\w+`)
	for key, en := range texts["en"] {
		zh, ok := texts["zh"][key]
		a, b := brace.FindAllString(en, -1), brace.FindAllString(zh, -1)
		slices.Sort(a)
		slices.Sort(b)
		if !ok || !slices.Equal(slices.Compact(a), slices.Compact(b)) {
			t.Errorf("%s: %q and %q", key, en, zh)
		}
	}
	if len(texts["en"]) != len(texts["zh"]) {
		t.Error("one language has more keys")
	}
	w, err := Words("zh")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"page.html", "replay.js", "page.go", "words.go", "../../match/verdict.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:\bt "|[tT]\("|Finding\{(?:Key: )?"|key = "|: +")((?:report|replay|verdict|elo|review|game|page|sentence)\.[a-z0-9_.-]*[a-z0-9])"`).FindAllSubmatch(data, -1) {
			if _, ok := w.Texts[string(m[1])]; !ok {
				t.Errorf("%s asks for %s", file, m[1])
			}
		}
	}
	if _, err := Words("fr"); err == nil || !strings.Contains(err.Error(), "en, zh") {
		t.Errorf("%v", err)
	}
}

// TestChangeInWords: a change is called one where its interval leaves out 0, on whichever side.
func TestChangeInWords(t *testing.T) {
	w, err := Words("en")
	if err != nil {
		t.Fatal(err)
	}
	at := func(v float64) *float64 { return &v }
	for want, change := range map[string]campaign.Range{
		"too few games":              {Value: at(40)},
		"+40 (+5 to +75): stronger":  {Value: at(40), Low: at(5), High: at(75)},
		"+199 (above +10): stronger": {Value: at(199), Low: at(10)},
		"-40 (-75 to -5): weaker":    {Value: at(-40), Low: at(-75), High: at(-5)},
		"-199 (below -10): weaker":   {Value: at(-199), High: at(-10)},
		"+199 (above -10): open":     {Value: at(199), Low: at(-10)},
		"+1 (-34 to +36): open":      {Value: at(1), Low: at(-34), High: at(36)},
		"above +595: stronger":       {Low: at(595)},
		"above -45: open":            {Low: at(-45)},
		"below -80: weaker":          {High: at(-80)},
	} {
		if got := w.strength(campaign.Strength{Versions: true, Change: change}).Change; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCampaignPage: the page of a campaign has what changed first, in both languages,
// loads nothing, and takes names for what they are.
func TestCampaignPage(t *testing.T) {
	since := time.Date(2026, 11, 22, 7, 30, 0, 0, time.UTC)
	score := match.Score{Wins: 6, Losses: 2, Pairs: elo.Pairs{0, 0, 2, 0, 2}}
	const evil = `<img src=x onerror=alert(1)>`
	s := &campaign.Summary{Title: "A night", State: campaign.Until, Since: &since, Time: since, Games: 8, Total: 16, New: 8,
		Asides:   []campaign.Aside{{Match: "six", Players: [2]string{"a", "c"}, Broken: "c", Lost: 3, Fault: "crash", Text: evil}, {Match: "six", Players: [2]string{"b", "c"}, Broken: "c", Lost: 3, Fault: "crash", Text: evil}},
		Faults:   []campaign.Faults{{Match: "six", Player: "a", Games: 8, New: map[engine.FaultKind]int{"time": 2}, Before: map[engine.FaultKind]int{}, Text: "late"}},
		Players:  []campaign.NewVersion{{Player: "a", Before: &campaign.Version{Spec: "uci:a", Build: "old"}, Now: &campaign.Version{Spec: "uci:a", Build: "new"}}},
		Old:      []campaign.Old{{Match: "six", Players: [][2]string{{"a", "b"}}, Games: 4, Why: []campaign.Reason{{Kind: campaign.ReasonBuild, Name: "a", Before: "old", Now: "new"}}}},
		Strength: []campaign.Strength{{Match: "six", Players: [2]string{"a", "b"}, New: 8, Before: campaign.NewMeasure(score.Turned()), Now: campaign.NewMeasure(score)}},
		Matches: []campaign.MatchSummary{{Name: "six", Game: "amazons", Rules: "amazons/6x6", Games: 8, Total: 16, Repeated: 2,
			Pairings: []campaign.PairingSummary{{Players: [2]string{"a", "b"}, Total: 16, Aside: true, Measure: campaign.NewMeasure(score)}}}},
	}
	spared := map[string]string{"en": "8 games were not needed: a sequential test had decided.", "zh": "其中 8 局无需再下"}
	for lang, wants := range map[string][]string{
		"en": {"What changed", "Since the run that ended at ", "six: set aside: a – c, b – c. c broke: it lost 3 games", "a NOW loses by its own fault in six: time 2", "New version of a: new, before old", "4 old games (a – b) do not count any more", "same versions", "2 games are move for move like others", "set aside", "report.six.html"},
		"zh": {"有何变化", "已搁置 a – c、b – c。c 发生故障", "a 在 six 的 8 局新对局中开始因自身故障告负：超时 2", "a 有新版本", "4 局旧对局（a – b）不再计入", "版本相同", "2 局与其他对局着法完全相同", "对局报告"},
	} {
		changed := *s
		changed.State, changed.Asides = campaign.Done, nil
		var state bytes.Buffer
		if err := CampaignText(&state, &changed, lang); err != nil || strings.Contains(state.String(), "Finished") || strings.Contains(state.String(), "已完成：") {
			t.Errorf("%s: 8 of 16 games are called all: %v\n%s", lang, err, state.String())
		}
		decided := changed
		decided.Spared = 8
		var early bytes.Buffer
		if err := CampaignText(&early, &decided, lang); err != nil || !strings.Contains(early.String(), spared[lang]) || strings.Contains(early.String(), "has changed") {
			t.Errorf("%s: a test has spared 8 of 16 games: %v\n%s", lang, err, early.String())
		}
		grown := *s // by a setting; nothing was played since
		grown.State, grown.Asides, grown.Faults, grown.Players, grown.Old, grown.Strength = campaign.Done, nil, nil, nil, nil, nil
		var news bytes.Buffer
		if err := CampaignText(&news, &grown, lang); err != nil || strings.Contains(news.String(), "Nothing has changed") || strings.Contains(news.String(), "没有变化") {
			t.Errorf("%s: 8 of 16 games, of a file that has changed: %v\n%s", lang, err, news.String())
		}
		complete := strings.Contains(state.String(), "complete pairs") || strings.Contains(state.String(), "完整成对")
		changed.Matches = []campaign.MatchSummary{{Name: "six", Game: "amazons", Rules: "amazons/6x6", Games: 9, Total: 16,
			Pairings: []campaign.PairingSummary{{Players: [2]string{"a", "b"}, Total: 16, Measure: campaign.NewMeasure(match.Score{Wins: 7, Losses: 2, Pairs: score.Pairs})}}}}
		state.Reset()
		if err := CampaignText(&state, &changed, lang); err != nil || complete || !strings.Contains(state.String(), "complete pairs") && !strings.Contains(state.String(), "完整成对") {
			t.Errorf("%s: the game without a partner: %v\n%s", lang, err, state.String())
		}
		var out bytes.Buffer
		if err := Campaign(&out, s, CampaignOptions{Lang: lang, Other: map[string]string{"en": "en.html", "zh": "zh.html"}, Reports: map[string]string{"six": "report.six.html"}}); err != nil {
			t.Fatal(err)
		}
		page, at := html.UnescapeString(out.String()), 0
		if strings.Contains(out.String(), evil) || strings.Contains(out.String(), "http://") || strings.Contains(out.String(), "<script") {
			t.Errorf("%s: the page has markup of a name, or loads something", lang)
		}
		for _, want := range wants {
			next := strings.Index(page[at:], want)
			if next < 0 {
				t.Errorf("%s: the page has no %q after what comes before it", lang, want)
				continue
			}
			if want != "report.six.html" && want != "set aside" && want != "same versions" {
				at += next
			}
		}
		var text bytes.Buffer
		if err := CampaignText(&text, s, lang); err != nil || !strings.Contains(text.String(), wants[2]) {
			t.Errorf("%s as text: %v\n%s", lang, err, text.String())
		}
	}
}

// TestPlot: two players have a drawing of the score, with which the page loads nothing.
func TestPlot(t *testing.T) {
	page := pageOf(t, pairsOf(elo.Pairs{2, 2, 6, 4, 2}), Options{})
	drawing := regexp.MustCompile(`<img class="course" src="data:image/svg[^ ]*?;base64,([^"]+)"`).FindStringSubmatch(page)
	if drawing == nil {
		t.Fatal("no drawing")
	}
	svg, err := base64.StdEncoding.DecodeString(html.UnescapeString(drawing[1]))
	if err != nil || !bytes.Contains(svg, []byte("<svg")) || !bytes.Contains(svg, []byte("a against b")) {
		t.Errorf("%v: %.200s", err, svg)
	}
	chinese := regexp.MustCompile(`<img class="course" src="data:image/svg[^ ]*?;base64,([^"]+)"`).FindStringSubmatch(pageOf(t, pairsOf(elo.Pairs{2, 2, 6, 4, 2}), Options{Lang: "zh"}))
	if svg, err = base64.StdEncoding.DecodeString(html.UnescapeString(chinese[1])); err != nil || !bytes.Contains(svg, []byte("a 对 b：")) || bytes.Contains(svg, []byte("games")) {
		t.Errorf("in Chinese: %v: %.2000s", err, svg)
	}
	if strings.Contains(pageOf(t, pairsOf(elo.Pairs{2: 2}), Options{}), "course\" src=") {
		t.Error("a drawing of four games")
	}
}
