package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

var loadedGames = regexp.MustCompile(`href="/game/([^"]+)"`)

// lists waits until a player has so many finished games.
func (gw *gateway) lists(p protocol.PlayerID, n int) {
	gw.t.Helper()
	gametest.Eventually(gw.t, fmt.Sprintf("%d games of %s", n, p), func() bool {
		games, err := gw.arena.FinishedGames(gw.t.Context(), p)
		return err == nil && len(games) == n
	})
}

// lost plays a game of Gomoku that the page loses.
func lost(t testing.TB, p *socketPage, opponent protocol.PlayerID, want *protocol.Terms) protocol.GameID {
	t.Helper()
	first := game.First
	g := p.want(message.Request{T: "play", Terms: want, Opponent: opponent, Seat: &first}).Game
	p.want(message.Request{T: "open", Game: g})
	p.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing && st.You != nil })
	p.move(g, 0, "h8")
	p.state(g, "the answer", plies(2))
	p.want(message.Request{T: "resign", Game: g})
	p.state(g, "the end", finished)
	return g
}

// lacks checks that a page is there without some texts.
func lacks(t *testing.T, w *httptest.ResponseRecorder, texts ...string) {
	t.Helper()
	for _, s := range texts {
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), s) {
			t.Errorf("%d, %q in %s", w.Code, s, w.Body)
		}
	}
}

// TestPlayerPage: a player's ratings and games are there for everybody, but those among
// people, and by link only, for the player alone.
func TestPlayerPage(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "gomoku-level-3")
	g := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "gomoku-level-3", protocol.Hello{Display: `<b>Hare</b> · 野兔`})
	made := httptest.NewRecorder()
	g.server.Handler().ServeHTTP(made, httptest.NewRequest(http.MethodPost, "/api/session", strings.NewReader("{}")))
	cookie := made.Result().Cookies()[0]
	id, secret, _ := splitToken(cookie.Value)
	own := func(path string) *httptest.ResponseRecorder {
		return read(g.server, path, "Cookie", cookie.Name+"="+cookie.Value)
	}
	if err := g.people.rename(t.Context(), id, "Ann"); err != nil {
		t.Fatal(err)
	}
	ann := dialPage(t, g, "address=a&name=Ann&player="+string(id)+"&session="+hashed(secret))
	ann.want(message.Request{T: "lobby", On: true})
	ann.until("the bot in the lobby", func() bool { return ann.lobby != nil && len(ann.lobby.Opponents) == 3 })
	page := "/player/" + string(id)
	contains(t, own(page), ">Ann<", string(id), "you", "No rated game yet.", "There is no finished game to show.")
	contains(t, read(g.server, "/player/gomoku-level-3"), "<b>Hare</b>", "No rated game yet.")
	lacks(t, read(g.server, "/player/gomoku-level-3"), "<b>Hare")
	if w := read(g.server, page); w.Header().Get("X-Robots-Tag") != "noindex" {
		t.Errorf("the page of a person: %v", w.Header())
	}

	rated, private := terms(t, "gomoku/freestyle-15", "300+2"), terms(t, "gomoku/freestyle-15", "300+2")
	rated.Rated, private.Private = true, true
	shown := lost(t, ann, "gomoku-level-3", rated)
	secretly := lost(t, ann, "gomoku-level-3", private)
	register(t, g, human("ben"))
	ben := openPage(t, g, human("ben"))
	among := befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	ann.want(message.Request{T: "resign", Game: among})
	ben.state(among, "the end", finished)
	running := befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	g.lists(id, 3)
	g.lists("gomoku-level-3", 2)
	g.lists(human("ben"), 1)
	gametest.Eventually(t, "the ratings", func() bool {
		return len(g.arena.StandingsOf(id)) == 1 && len(g.arena.StandingsOf("gomoku-level-3")) == 1
	})

	w := read(g.server, page)
	contains(t, w, "2 of 2", "/ladder?game=gomoku&speed=blitz", "Gomoku · Blitz", "0 won · 0 drawn · 1 lost", "/game/"+string(shown), `href="/player/gomoku-level-3"`,
		"\u2068<b>Hare</b>\u2069 won: \u2068Ann\u2069 resigned.", ">Lost<", "rated · 2 moves")
	lacks(t, w, string(secretly), string(among), string(running), string(human("ben")))
	w = own(page)
	contains(t, w, "/game/"+string(shown), "/game/"+string(secretly), "/game/"+string(among), "/game/"+string(running), `href="/player/`+string(human("ben"))+`"`)
	if text := w.Body.String(); strings.Index(text, string(among)) > strings.Index(text, string(shown)) {
		t.Error("the first game stands first")
	}
	contains(t, read(g.server, "/player/gomoku-level-3", "Accept-Language", "zh"), "野兔", ">胜<", "第 1 名，共 2 人", "认输")
	lacks(t, read(g.server, "/player/gomoku-level-3"), string(secretly))
	contains(t, read(g.server, "/ladder?game=gomoku"), `href="/player/gomoku-level-3"`, `href="`+page+`"`)
	contains(t, read(g.server, "/game/"+string(shown)), `href="/player/gomoku-level-3"`)

	for path, want := range map[string]int{
		"/player/nobody": http.StatusNotFound, "/player/A.b*": http.StatusNotFound, "/player/" + strings.Repeat("a", 33): http.StatusNotFound,
		"/player/" + string(human("cid")): http.StatusNotFound, "/player/": http.StatusNotFound, "/player/%2e%2e": http.StatusNotFound,
		"/player/gomoku-level-3?from=-5": http.StatusOK, "/player/gomoku-level-3?from=x": http.StatusOK, "/player/gomoku-level-3?from=99999999999999999999": http.StatusOK,
	} {
		if w := read(g.server, path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}

	// Who has deleted the account has no page, and no name on those of others.
	if err := g.people.erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if w := own(page); w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "Ann") {
		t.Errorf("the page of nobody: %d %s", w.Code, w.Body)
	}
	w = read(g.server, "/player/gomoku-level-3")
	contains(t, w, "/game/"+string(shown), "against somebody who has left", "\u2068Somebody who has left\u2069 resigned.")
	lacks(t, w, "Ann", string(id))
	// What the operator erases is gone from there, too.
	if _, err := arena.Erase(t.Context(), g.nc, g.arena.Subjects(), id, true); err != nil {
		t.Fatal(err)
	}
	w = read(g.server, "/player/gomoku-level-3")
	contains(t, w, "There is no finished game to show.")
	lacks(t, w, string(shown))
}

// TestLongPlayerPage: the finished games are there twenty at a time, and none twice.
func TestLongPlayerPage(t *testing.T) {
	t.Parallel()
	g := startGateway(t, arenatest.StartServer(t, ""), quick(), nil)
	const games = 2*shownFinished + 3
	for i := range games {
		rec := &record.Record{V: record.Version, ID: fmt.Sprint("g", i), Game: "gomoku", Rules: "gomoku/freestyle-15", Result: game.Draw, Reason: protocol.ReasonAgreement,
			Seats: [2]record.Seat{{Player: "hare", Kind: record.Bot}, {Player: "bear", Kind: record.Bot}}, Source: record.Source{By: record.ByArena}, End: time.Unix(int64(i), 0)}
		data, err := record.Encode(rec)
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(g.nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.Publish(t.Context(), g.arena.Subjects().Record("gomoku", protocol.GameID(rec.ID)), data); err != nil {
			t.Fatal(err)
		}
	}
	g.lists("hare", games)
	seen := map[string]bool{}
	path, pages := "/player/hare", 0
	for path != "" {
		w := read(g.server, path)
		contains(t, w, "Finished games")
		for _, m := range loadedGames.FindAllStringSubmatch(w.Body.String(), -1) {
			if seen[m[1]] {
				t.Errorf("%s is shown twice", m[1])
			}
			seen[m[1]] = true
		}
		pages++
		path = ""
		if pages < 3 {
			path = fmt.Sprintf("/player/hare?from=%d", pages*shownFinished+1)
			contains(t, w, path+`">Next`)
		} else if strings.Contains(w.Body.String(), ">Next") {
			t.Error("there is more than all")
		}
		if pages == 2 {
			contains(t, w, `/player/hare?from=1">Previous`)
		}
	}
	if len(seen) != games {
		t.Errorf("%d games on %d pages, want %d", len(seen), pages, games)
	}
}

// TestPlayersOfOneAddress: an address may look at so many players, and at other pages then.
func TestPlayersOfOneAddress(t *testing.T) {
	l := DefaultLimits()
	l.Histories = Rate{PerMinute: 1, Burst: 3}
	h := startHouse(t, Config{Limits: l})
	for i := range 5 {
		w := h.get("/player/nobody")
		if want := map[bool]int{true: http.StatusNotFound, false: http.StatusTooManyRequests}[i < 3]; w.Code != want || (w.Header().Get("Retry-After") == "") != (i < 3) {
			t.Errorf("request %d: %d %v, want %d", i, w.Code, w.Header(), want)
		}
	}
	if w := h.get("/ladder"); w.Code != http.StatusOK {
		t.Errorf("the ladder: %d", w.Code)
	}
}
