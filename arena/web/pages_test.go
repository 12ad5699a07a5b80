package web

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/screen/static"
	"sparring/screen/view"
)

// read returns a page of a server, as somebody without a script gets it.
func read(s *Server, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// contains checks a page's text, without entities.
func contains(t *testing.T, w *httptest.ResponseRecorder, want ...string) {
	t.Helper()
	text := html.UnescapeString(w.Body.String())
	for _, s := range want {
		if w.Code != http.StatusOK || !strings.Contains(text, s) {
			t.Errorf("%d, no %q in %s", w.Code, s, text)
		}
	}
}

// TestPages reads the pages of a platform on which a person plays a bot whose name
// is markup, and two people play each other.
func TestPages(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "gomoku-level-3")
	g := startGateway(t, srv, quick(), nil)
	evil := `<b>"Hare" & <script>`
	joinBot(t, srv, "gomoku-level-3", protocol.Hello{Display: evil + " · 野兔"})
	p := openPage(t, g, human("ann"))
	p.want(message.Request{T: "lobby", On: true})
	p.until("the bot in the lobby", func() bool { return p.lobby != nil && len(p.lobby.Opponents) == 3 })
	contains(t, read(g.server, "/games", "Accept-Language", "zh"), "现在没有正在进行的对局")

	first := game.First
	id := p.want(message.Request{T: "play", Terms: terms(t, "xiangqi/wxf", "300+2"), Opponent: "gomoku-level-3", Seat: &first}).Game
	p.want(message.Request{T: "open", Game: id})
	p.state(id, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	p.move(id, 0, "h2e2")
	p.state(id, "the answer", plies(2))
	list := read(g.server, "/games")
	contains(t, list, "/game/"+string(id), string(human("ann")), "gomoku-level-3", evil, "World Xiangqi Federation", "5 min + 2 s a move", "move 2")
	if strings.Contains(list.Body.String(), "野兔") {
		t.Errorf("a bot has its name in another language as well: %s", list.Body)
	}
	if strings.Contains(list.Body.String(), "<script>") || strings.Contains(list.Body.String(), "<b>\"") {
		t.Errorf("a name is markup: %s", list.Body)
	}
	contains(t, read(g.server, "/games?game=xiangqi"), "/game/"+string(id))
	if w := read(g.server, "/games?game=gomoku"); strings.Contains(w.Body.String(), string(id)) {
		t.Errorf("a game of Xiangqi is listed under Gomoku")
	}
	running := read(g.server, "/game/"+string(id))
	contains(t, running, "<svg", "炮", "h2e2", "This game is being played", "move 2 of 2", "<bdi", string(human("ann")))
	contains(t, read(g.server, "/game/"+string(id)+"/1", "Accept-Language", "zh"), "炮二平五", `aria-current="true"`, "楚河")
	contains(t, read(g.server, "/game/"+string(id)+"/0?notation=wxf"), "C2=5", "/1?notation=wxf")

	among := befriend(t, openPage(t, g, human("cid")), openPage(t, g, human("dan")), terms(t, "gomoku/freestyle-15", "300+2"))
	if w := read(g.server, "/games"); strings.Contains(w.Body.String(), string(among)) || !strings.Contains(w.Body.String(), string(id)) {
		t.Errorf("the game among people %s is listed, or the other is not: %s", among, w.Body)
	}
	if w := read(g.server, "/game/"+string(among)); w.Code != http.StatusOK || w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Errorf("the link of a game among people: %d %v", w.Code, w.Header())
	}

	p.want(message.Request{T: "resign", Game: id})
	p.state(id, "the end", finished)
	contains(t, read(g.server, "/game/"+string(id)), "Black won: Red resigned.", "/rules/xiangqi#resign")
	contains(t, read(g.server, "/game/"+string(id), "Accept-Language", "zh"), "黑方胜：红方认输。")
	for path, want := range map[string]int{
		"/game/nothing": http.StatusNotFound, "/game/A.b*": http.StatusNotFound, "/game/" + string(id) + "/3": http.StatusNotFound,
		"/game/" + string(id) + "/-1": http.StatusNotFound, "/game/" + string(id) + "/x": http.StatusNotFound,
		"/game/" + string(id) + "/1?notation=%3Cb%3E": http.StatusOK, "/games?game=chess": http.StatusNotFound,
		"/ladder?game=chess": http.StatusNotFound, "/ladder?speed=none": http.StatusNotFound, "/ladder?from=999999999999999999": http.StatusOK,
		"/ladder?from=-5": http.StatusOK, "/rules/chess": http.StatusNotFound, "/rules/match": http.StatusNotFound, "/rules": http.StatusOK,
	} {
		if w := read(g.server, path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestLadder: players stand in the order of their ratings, by game and speed, and somebody who
// has a rating is told where.
func TestLadder(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "gomoku-level-3")
	g := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "gomoku-level-3", protocol.Hello{Display: "Hare · 野兔"})
	made := httptest.NewRecorder()
	g.server.Handler().ServeHTTP(made, httptest.NewRequest(http.MethodPost, "/api/session", strings.NewReader("{}")))
	var ann whoAnswer
	if err := json.Unmarshal(made.Body.Bytes(), &ann); err != nil {
		t.Fatal(err)
	}
	cookie := made.Result().Cookies()[0]
	_, secret, _ := splitToken(cookie.Value)
	p := dialPage(t, g, "address=a&name=Ann&player="+string(ann.Player)+"&session="+hashed(secret))
	p.want(message.Request{T: "lobby", On: true})
	p.until("the bot in the lobby", func() bool { return p.lobby != nil && len(p.lobby.Opponents) == 3 })
	contains(t, read(g.server, "/ladder"), "Nobody has played a rated game here yet.")
	rated := terms(t, "gomoku/freestyle-15", "300+2")
	rated.Rated = true
	first := game.First
	id := p.want(message.Request{T: "play", Terms: rated, Opponent: "gomoku-level-3", Seat: &first}).Game
	p.want(message.Request{T: "open", Game: id})
	p.state(id, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	p.move(id, 0, "h8")
	p.state(id, "the answer", plies(2))
	p.want(message.Request{T: "resign", Game: id})
	p.state(id, "the end", finished)
	gametest.Eventually(t, "two standings", func() bool { return len(g.arena.Standings("gomoku")) == 2 })
	w := read(g.server, "/ladder?game=gomoku")
	contains(t, w, ">Hare<", string(ann.Player), "provisional", "1 won · 0 drawn · 0 lost", "±", "/ladder?game=gomoku&speed=blitz")
	if text := w.Body.String(); strings.Index(text, ">gomoku-level-3<") > strings.Index(text, string(ann.Player)) {
		t.Error("the winner does not stand first")
	}
	contains(t, read(g.server, "/ladder?game=gomoku", "Cookie", cookie.Name+"="+cookie.Value), "Your place: 2 of 2", `<tr id="own">`)
	if strings.Contains(w.Body.String(), "Your place") || strings.Contains(w.Body.String(), `id="own"`) {
		t.Error("a stranger has a place")
	}
	contains(t, read(g.server, "/ladder?game=gomoku&speed=blitz", "Accept-Language", "zh"), "五子棋", "快棋", "暂定", ">野兔<")
	contains(t, read(g.server, "/ladder?game=gomoku&speed=bullet"), "Nobody has played a rated game here yet.")
	contains(t, read(g.server, "/ladder?game=xiangqi"), "Nobody has played a rated game here yet.")
}

// TestLongLadder: each page has its part of the standings, one that begins beyond their end
// the last; and the own place is there on all of them.
func TestLongLadder(t *testing.T) {
	all := make([]arena.Standing, 250)
	for i := range all {
		all[i] = arena.Standing{Player: protocol.PlayerID(fmt.Sprintf("p%d", i+1))}
	}
	link := func(from int) string { return fmt.Sprint(from) }
	for _, c := range []struct {
		from, first, last int
		previous, next    string
	}{{1, 1, 100, "", "101"}, {101, 101, 200, "1", "201"}, {201, 201, 250, "101", ""}, {40, 40, 139, "1", "140"}, {1000, 250, 250, "150", ""}} {
		var d ladderPage
		d.fill(words{}, all, "p130", c.from, link)
		if n := len(d.Rows); n != c.last-c.first+1 || d.Rows[0].Rank != c.first || d.Rows[n-1].Rank != c.last || d.Previous != c.previous || d.Next != c.next {
			t.Errorf("from %d: %d rows, previous %q, next %q", c.from, n, d.Previous, d.Next)
		}
		if d.Own == nil || d.Own.Rank != 130 || d.OwnLink != "101#own" || d.Players != 250 {
			t.Errorf("from %d: own place %+v, %q, of %d", c.from, d.Own, d.OwnLink, d.Players)
		}
		for _, row := range d.Rows {
			if row.Own != (row.Rank == 130) {
				t.Errorf("from %d: place %d is the own one: %t", c.from, row.Rank, row.Own)
			}
		}
	}
	var none, empty ladderPage
	none.fill(words{}, all, "", 1, link)
	empty.fill(words{}, nil, "p1", 7, link)
	if none.Own != nil || empty.Own != nil || len(empty.Rows) > 0 || empty.Previous != "" || empty.Next != "" {
		t.Errorf("a stranger's own place is %+v; an empty ladder has %+v", none.Own, empty)
	}
}

// describeAll plays a game from texts, and describes its page at a ply.
func describeAll(t *testing.T, lang, rules string, o game.Outcome, ply int, moves ...string) *gamePage {
	t.Helper()
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(rules, "/")
	g := &played{id: "g", terms: protocol.Terms{Game: name, Rules: rules}, moves: moves, finished: o.Reason != "", outcome: o,
		seats: [2]player{{ID: "a", Name: "Ann"}, {ID: "b", Name: "Ben"}}}
	p, err := describe(site.words(lang), g, ply, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDescribe: boards, sentences and moves of all games.
func TestDescribe(t *testing.T) {
	p := describeAll(t, "en", "gomoku/freestyle-15+swap2", game.Outcome{Result: game.SecondWins, Reason: game.Five}, 9,
		"a1", "b1", "c1", "put-two", "d1", "e1", "swap", "f1", "g1")
	if p.Seats[0].Side != "White" || p.Result != "Black won with five in a row." || p.Moves[3].Text != "puts two more" || p.RuleLink != "/rules/gomoku#five" {
		t.Errorf("%+v", p)
	}
	if board := string(p.Board); strings.Count(board, "stone black") != 4 || strings.Count(board, "stone white") != 3 || strings.Count(board, "last-stone") != 1 ||
		strings.Contains(board, `class="won"`) {
		t.Errorf("board %s", board)
	}
	p = describeAll(t, "zh", "amazons/10x10", game.Outcome{}, 1, "d1d7/g7", "j7g4/b4")
	if board := string(p.Board); strings.Count(board, "queen white") != 4 || strings.Count(board, "arrowed") != 1 || strings.Count(board, `class="last"`) != 3 {
		t.Errorf("board %s", board)
	}
	if p.Seats[0].Side != "白方" || p.Steps[0].Link == "" || p.Steps[3].Link == "" || len(p.Notations) != 3 || !p.Running {
		t.Errorf("%+v", p)
	}
	p = describeAll(t, "zh", "xiangqi/wxf", game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}, 0, "h2e2")
	if p.Title != "象棋：\u2068Ann\u2069对\u2068Ben\u2069" {
		t.Errorf("title %q", p.Title)
	}
	if p.Result != "双方同意和棋。" || p.Moves[0].Text != "炮二平五" || p.Steps[0].Link != "" || strings.Count(string(p.Board), "piece disc") != 32 {
		t.Errorf("%+v", p)
	}
	p = describeAll(t, "en", "gomoku/renju-15", game.Outcome{}, 4, "h8", "a1", "h9", "a2")
	if !strings.Contains(string(p.Board), `viewBox="0 0 630 630"`) {
		t.Errorf("board %s", p.Board)
	}
}

// TestDescribeChallenge: one that nobody took has a page too.
func TestDescribeChallenge(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	g := &played{id: "g", terms: protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15"}, finished: true,
		outcome: game.Outcome{Reason: protocol.ReasonExpired}, seats: [2]player{playerOf("a", "Ann"), playerOf("", "")}}
	p, err := describe(site.words("en"), g, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Result != "Nobody accepted the challenge in time." || p.Seats[1].Name == "" || len(p.Moves) > 0 || p.Board == "" {
		t.Errorf("%+v", p)
	}
}

// TestCalledOff: a game that was called off says who did not begin, and nobody is said to
// have won it.
func TestCalledOff(t *testing.T) {
	for reason, want := range map[game.Reason]string{protocol.ReasonNoStart: "Called off: Ben did not make the first move in time.",
		protocol.ReasonAbandoned: "Called off: a player left before both had moved."} {
		if p := describeAll(t, "en", "gomoku/freestyle-15", game.Outcome{Reason: reason}, 1, "h8"); p.Result != want {
			t.Errorf("%s: %q, want %q", reason, p.Result, want)
		}
	}
}

// TestNamesInBothLanguages: a level, which is named in both languages, has the name of the
// visitor's; others have the names that they chose.
func TestNamesInBothLanguages(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	g := &played{id: "g", terms: protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15"}, finished: true,
		seats: [2]player{playerOf("gomoku-level-3", "Level 3 · 3 级"), playerOf(human("ann"), "Ann · 安")}}
	for lang, want := range map[string][2]string{"en": {"Level 3", "Ann · 安"}, "zh": {"3 级", "Ann · 安"}} {
		p, err := describe(site.words(lang), g, 0, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{p.Seats[0].Name, p.Seats[1].Name}; got != want || !strings.Contains(p.Title, isolated(want[0])) || !strings.Contains(p.Title, isolated(want[1])) {
			t.Errorf("%s: %q in %q, want %q", lang, got, p.Title, want)
		}
	}
	for name, want := range map[string]string{site.guestName(1234): "访客1234", "Guest 1234 · 访客1235": "Guest 1234 · 访客1235", "Ann · 安": "Ann · 安"} {
		if got := site.words("zh").named(playerOf(human("ann"), name)).Name; got != want {
			t.Errorf("%q of a person is shown as %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"Hare · 2.1", "Hare", "–", "Level 3 · 3 级"} {
		for _, id := range []protocol.PlayerID{"hare", "-level-3", "gomoku-level-03", "gomoku-level-3x"} {
			if got := site.words("en").named(playerOf(id, name)).Name; got != name {
				t.Errorf("%q of %s is shown as %q", name, id, got)
			}
		}
	}
}

// TestAlike: ids stand only beside names that two players have.
func TestAlike(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	standings := func(names ...string) (all []arena.Standing) {
		for i, name := range names {
			all = append(all, arena.Standing{Player: protocol.PlayerID(fmt.Sprintf("p%d", i)), Display: name})
		}
		return all
	}
	var d ladderPage
	d.fill(site.words("en"), standings("Ann", "Ben", "Ann", "Cid"), "", 1, func(int) string { return "" })
	for i, row := range d.Rows {
		if row.Alike != (row.Name == "Ann") {
			t.Errorf("row %d, %s: alike %v", i, row.Name, row.Alike)
		}
	}
	one, same := playerOf("p1", "Ann"), playerOf("p1", "Ann")
	if markAlike(&one, &same); one.Alike || same.Alike {
		t.Error("a player is taken for another one of the same name")
	}
}

// TestRatingText: no rating is negative.
func TestRatingText(t *testing.T) {
	for rating, want := range map[float64]string{-21: "<100", 0: "<100", 99.6: "<100", 100: "100", 1337.5: "1338"} {
		if got := ratingText(rating); got != want {
			t.Errorf("%v is shown as %q, want %q", rating, got, want)
		}
	}
}

// TestPictureOfAnotherGame: squares with letters, and nothing of its texts is
// markup.
func TestPictureOfAnotherGame(t *testing.T) {
	v := &view.View{Game: "tic\"tac", Columns: 3, Rows: 3, FirstRow: 1, Pieces: map[string]string{"a1": "<x>", "z9": "o"}, Last: "a1"}
	board := string(view.Picture(v, `"><script>`))
	if strings.Contains(board, "<x>") || strings.Contains(board, "<script>") || strings.Contains(board, `tic"`) || strings.Count(board, "&lt;x&gt;") != 1 ||
		strings.Count(board, `class="dark"`) != 5 {
		t.Errorf("board %s", board)
	}
}

// BenchmarkDescribe makes the page of a long game.
func BenchmarkDescribe(b *testing.B) {
	site, err := openSite("")
	if err != nil {
		b.Fatal(err)
	}
	g := &played{id: "g", terms: protocol.Terms{Game: "xiangqi", Rules: "xiangqi/wxf+limit=none+repetition=none"}}
	for range 75 {
		g.moves = append(g.moves, "b2e2", "b7e7", "e2b2", "e7b7")
	}
	for b.Loop() {
		if _, err := describe(site.words("zh"), g, len(g.moves), ""); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPrivate: games among people are not listed.
func TestPrivate(t *testing.T) {
	var st protocol.Snapshot
	st.Holders[0].Kind, st.Holders[1].Kind = protocol.Human, protocol.Human
	if !private(st) {
		t.Error("a game among people is listed")
	}
	st.Holders[1].Kind = protocol.Bot
	if private(st) {
		t.Error("a game against a bot is not listed")
	}
}

var anchor = regexp.MustCompile(` id="([^"]+)"`)

// TestRules: the rules of each game have an anchor for every reason, forbidden
// point and opening procedure, in all languages, and are pages.
func TestRules(t *testing.T) {
	h := startHouse(t, Config{})
	for _, g := range catalog.Games() {
		want := protocolReasons(t)
		for _, r := range g.Reasons {
			want = append(want, string(r))
		}
		for _, set := range g.Sets {
			if staged, ok := usual(t, g, set).(game.Staged); ok {
				if stage, running := staged.Stage(); running {
					want = append(want, stage.Procedure)
				}
			}
		}
		if g.Name == "gomoku" {
			want = append(want, string(game.DoubleThree), string(game.DoubleFour), string(game.Overline))
		}
		var first []string
		for _, lang := range static.Languages {
			w := read(h.Server, "/rules/"+g.Name, "Accept-Language", lang)
			if w.Code != http.StatusOK {
				t.Fatalf("%s: %d", g.Name, w.Code)
			}
			var ids []string
			for _, m := range anchor.FindAllStringSubmatch(w.Body.String(), -1) {
				if slices.Contains(ids, m[1]) {
					t.Errorf("%s %s: %s is there twice", g.Name, lang, m[1])
				}
				ids = append(ids, m[1])
			}
			for _, id := range want {
				if !slices.Contains(ids, id) {
					t.Errorf("%s %s: nothing about %s", g.Name, lang, id)
				}
			}
			if slices.Sort(ids); first != nil && !slices.Equal(ids, first) {
				t.Errorf("%s: anchors %v in one language, %v in the other", g.Name, first, ids)
			}
			first = ids
		}
	}
}

// TestLanguageOfAddress: somebody without a script chooses the language by a link.
func TestLanguageOfAddress(t *testing.T) {
	h := startHouse(t, Config{})
	w := read(h.Server, "/rules/xiangqi?lang=zh", "Accept-Language", "en")
	contains(t, w, `lang="zh"`, "象棋规则", "lang=en")
	if c := w.Result().Cookies(); len(c) != 1 || c[0].Name != languageCookie || c[0].Value != "zh" {
		t.Errorf("cookies %v", c)
	}
	if w := read(h.Server, "/rules/xiangqi?lang=%3Cscript%3E", "Accept-Language", "en"); len(w.Result().Cookies()) > 0 || strings.Contains(w.Body.String(), "<script>") {
		t.Errorf("a language that does not exist: %s", w.Body)
	}
}

// TestNoLiterals: everything that people read in a template comes from the texts.
func TestNoLiterals(t *testing.T) {
	files, err := os.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	action, tag, letters := regexp.MustCompile(`\{\{[^}]*\}\}`), regexp.MustCompile(`<[^>]*>`), regexp.MustCompile(`\pL+`)
	label := regexp.MustCompile(`(?:aria-label|title|alt|placeholder)="[^"{]*\pL`)
	for _, f := range files {
		text, err := os.ReadFile("templates/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		plain := action.ReplaceAllString(string(text), "")
		if m := letters.FindString(tag.ReplaceAllString(plain, "")); m != "" {
			t.Errorf("%s has the text %q", f.Name(), m)
		}
		if m := label.FindString(plain); m != "" {
			t.Errorf("%s has a text in %s", f.Name(), m)
		}
	}
}

// TestPagesWithoutStore: with NATS gone, a page that needs the store says so, and
// the others are shown as they were.
func TestPagesWithoutStore(t *testing.T) {
	h := startHouse(t, Config{})
	h.Server.arena.Conn().Close()
	for _, path := range []string{"/game/" + protocol.NewID(), "/player/hare"} {
		w := read(h.Server, path, "Accept-Language", "en")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "nats") {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	for _, path := range []string{"/games", "/ladder", "/rules/xiangqi"} {
		if w := read(h.Server, path); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
