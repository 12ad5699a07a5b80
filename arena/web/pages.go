package web

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"sparring/arena"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/screen/static"
)

// The pages of this file, of gamepage.go and of playerpage.go are complete without a script.

// Entries of a page of the lists.
const (
	shownGames   = 100
	shownPlayers = 100
)

// words are the page's texts in one language.
type words struct {
	static.Words
	site *site
}

// words returns the texts in the visitor's language.
func (s *Server) words(r *http.Request) words {
	site, err := s.site.now()
	if err != nil {
		site = s.site // the page itself reports it
	}
	return site.words(s.language(r))
}

// player is a player as lists show it.
type player struct {
	ID   protocol.PlayerID
	Name string
	// Alike says that another one on the page has the same name, which players choose:
	// the id stands beside it then.
	Alike bool
}

func playerOf(id protocol.PlayerID, display string) player {
	return player{ID: id, Name: cmp.Or(display, string(id), "–")} // a challenge may have ended before anybody took it
}

// markAlike marks the players whose names others of the page have, too.
func markAlike(players ...*player) {
	ids := make(map[string]protocol.PlayerID)
	alike := make(map[string]bool)
	for _, p := range players {
		if id, seen := ids[p.Name]; seen && id != p.ID {
			alike[p.Name] = true
		}
		ids[p.Name] = p.ID
	}
	for _, p := range players {
		p.Alike = alike[p.Name]
	}
}

// bothLanguages matches the name of a level or a guest, which is in English and Chinese:
// "Level 3 · 3 级". The scripts have the same in nameIn.
var bothLanguages = regexp.MustCompile(`^(.+) · (.*\p{Han}.*)$`)

// named returns a player with the name as the visitor's language has it: whole, unless it is
// a level or a guest. Others may call themselves like a level, and are not taken for it.
func (t words) named(p player) player {
	m := bothLanguages.FindStringSubmatch(p.Name)
	if m == nil || !p.ID.IsLevel() && !(p.ID.Person() && sameNumber(m[1], m[2])) {
		return p
	}
	p.Name = m[1]
	if t.Lang == "zh" {
		p.Name = m[2]
	}
	return p
}

// finalNumber matches the number of a guest.
var finalNumber = regexp.MustCompile(`\d+$`)

// sameNumber reports whether two names end with the same number, as those of a guest do.
func sameNumber(a, b string) bool {
	n := finalNumber.FindString(a)
	return n != "" && n == finalNumber.FindString(b)
}

// guestName returns the name of guest n, in all languages: others read it in theirs.
func (s *site) guestName(n int) string {
	return s.text("en", "page.guest", "n", n) + " · " + s.text("zh", "page.guest", "n", n)
}

// lowestRating is the lowest rating that is shown as a number. The scale of the ladder has
// no zero, and a rating below it says no more than that somebody is a beginner.
const lowestRating = 100

// ratingText writes a rating. The scripts have the same in ratingOf.
func ratingText(rating float64) string {
	if rating < lowestRating {
		return "<" + strconv.Itoa(lowestRating)
	}
	return strconv.Itoa(int(rating + .5))
}

// choiceLink is a link to another form of a page.
type choiceLink struct {
	Text    string
	Link    string
	Current bool
}

// gameLinks are links to the parts of a page by game; all adds one to all games.
func gameLinks(w words, path, chosen string, all bool) (links []choiceLink) {
	if all {
		links = append(links, choiceLink{w.T("page.all_games"), path, chosen == ""})
	}
	for _, g := range catalog.Names() {
		links = append(links, choiceLink{w.Or("game."+g, g), path + "?game=" + url.QueryEscape(g), chosen == g})
	}
	return links
}

// ladderPage is the data of ladder.html.
type ladderPage struct {
	Games, Speeds []choiceLink
	Rows          []ladderRow
	Players       int        // of this game and speed
	Own           *ladderRow // the visitor's, wherever it stands; nil: none
	OwnLink       string     // the page that has it
	Previous      string
	Next          string
}

// ladderRow is the standing of a player.
type ladderRow struct {
	Rank int
	player
	Rating              string
	Error               int // 95 %, either way
	Provisional         bool
	Wins, Draws, Losses int
	Own                 bool // the visitor's
}

var speeds = []clock.Speed{clock.Bullet, clock.Blitz, clock.Rapid, clock.Classical, clock.Correspondence}

// ladder shows the standings of one game and speed.
func (s *Server) ladder(w http.ResponseWriter, r *http.Request) {
	t, query := s.words(r), r.URL.Query()
	name := query.Get("game")
	if name == "" {
		name = catalog.Names()[0]
	}
	if _, err := catalog.Game(name); err != nil {
		s.notFound(w, r)
		return
	}
	bySpeed := map[clock.Speed][]arena.Standing{}
	for _, st := range s.arena.Standings(name) {
		bySpeed[st.Speed] = append(bySpeed[st.Speed], st)
	}
	speed := clock.Speed(query.Get("speed"))
	if speed == "" { // the one with most players
		speed = slices.MaxFunc(speeds, func(a, b clock.Speed) int { return cmp.Compare(len(bySpeed[a]), len(bySpeed[b])) })
	}
	if !slices.Contains(speeds, speed) {
		s.notFound(w, r)
		return
	}
	link := func(speed clock.Speed, from int) string { return ladderLink(name, speed, from) }
	data := ladderPage{Games: gameLinks(t, "/ladder", name, false)}
	for _, sp := range speeds {
		data.Speeds = append(data.Speeds, choiceLink{t.T("speed." + string(sp)), link(sp, 1), sp == speed})
	}
	all := bySpeed[speed]
	slices.SortStableFunc(all, func(a, b arena.Standing) int { return cmp.Compare(b.Rating.Rating, a.Rating.Rating) })
	var own protocol.PlayerID
	if p, err := s.session(r); err == nil { // without one, or without the store, the ladder is there all the same
		own = p.ID
	}
	data.fill(t, all, own, place(query.Get("from")), func(from int) string { return link(speed, from) })
	s.page(w, r, http.StatusOK, "ladder.html", data)
}

// ladderLink is the address of the standings of a game and speed from a rank on.
func ladderLink(gameName string, speed clock.Speed, from int) string {
	q := url.Values{"game": {gameName}, "speed": {string(speed)}}
	if from > 1 {
		q.Set("from", strconv.Itoa(from))
	}
	return "/ladder?" + q.Encode()
}

// firstShown is the first rank of the page that has a rank.
func firstShown(rank int) int { return (rank-1)/shownPlayers*shownPlayers + 1 }

// rowOf returns a standing as the pages show it.
func rowOf(t words, st arena.Standing, rank int) ladderRow {
	return ladderRow{Rank: rank, player: t.named(playerOf(st.Player, st.Display)),
		Rating: ratingText(st.Rating.Rating), Error: int(st.Error() + .5), Provisional: st.Provisional(),
		Wins: st.Wins, Draws: st.Draws, Losses: st.Losses}
}

// fill fills in the standings all, in their order, from a rank on, and where the player own
// stands. Link makes the address of the page from a rank.
func (d *ladderPage) fill(t words, all []arena.Standing, own protocol.PlayerID, from int, link func(from int) string) {
	from = max(1, min(from, len(all))) // a link that is older than the ladder may lead beyond its end
	d.Players = len(all)
	for i, st := range all {
		shown := i >= from-1 && i < from-1+shownPlayers
		if !shown && st.Player != own {
			continue
		}
		row := rowOf(t, st, i+1)
		row.Own = st.Player == own
		if shown {
			d.Rows = append(d.Rows, row)
		}
		if row.Own {
			d.Own, d.OwnLink = &row, link(firstShown(i+1))+"#own"
		}
	}
	shown := make([]*player, len(d.Rows))
	for i := range d.Rows {
		shown[i] = &d.Rows[i].player
	}
	markAlike(shown...)
	if from > 1 {
		d.Previous = link(max(1, from-shownPlayers))
	}
	if from-1+shownPlayers < len(all) {
		d.Next = link(from + shownPlayers)
	}
}

// place reads the place that a page of a list begins with, from 1.
func place(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// livePage is the data of games.html.
type livePage struct {
	Games []choiceLink
	liveRows
}

// liveRows are games being played, the newest first.
type liveRows struct {
	Rows []liveRow
	More int // that are not shown
}

// liveRow is a game being played.
type liveRow struct {
	Link, Game, Rules, Clock string
	Rated                    bool
	Seats                    [2]liveSeat
	Ply                      int
}

// liveSeat is a seat of a game being played.
type liveSeat struct {
	player
	Left  string // on the clock; empty without a limit
	ToAct bool
}

// private reports whether a game is shown by its link only: those whose terms say
// so, and those among people.
func private(st protocol.Snapshot) bool {
	return arena.Unlisted(st.Terms.Private, st.Holders[game.First].Kind, st.Holders[game.Second].Kind)
}

// live lists the games being played, the newest first.
func (s *Server) live(w http.ResponseWriter, r *http.Request) {
	t, name := s.words(r), r.URL.Query().Get("game")
	data := livePage{Games: gameLinks(t, "/games", name, true)}
	if _, err := catalog.Game(name); name != "" && err != nil {
		s.notFound(w, r)
		return
	}
	data.liveRows = liveList(t, s.arena.Running(), time.Now(), func(e protocol.Event) bool {
		return !private(e.Snapshot) && (name == "" || e.Terms.Game == name)
	})
	s.page(w, r, http.StatusOK, "games.html", data)
}

// liveList returns those of the running games, the oldest of which comes first, that are
// listed.
func liveList(t words, running []protocol.Event, now time.Time, listed func(protocol.Event) bool) (list liveRows) {
	for _, e := range slices.Backward(running) {
		if !listed(e) {
			continue
		}
		if len(list.Rows) == shownGames {
			list.More++
			continue
		}
		row := liveRow{Link: "/game/" + url.PathEscape(string(e.Game)), Game: t.Or("game."+e.Terms.Game, e.Terms.Game),
			Rules: t.Rules(e.Terms.Rules), Clock: t.Clock(e.Terms.Clock), Rated: e.Terms.Rated, Ply: len(e.Moves)}
		for i, left := range clocks(e, now) {
			row.Seats[i] = liveSeat{player: t.named(playerOf(e.Holders[i].Player, e.Holders[i].Display)), ToAct: e.Turn == game.Seat(i)}
			if left != nil {
				row.Seats[i].Left = t.Left(*left)
			}
		}
		markAlike(&row.Seats[0].player, &row.Seats[1].player)
		list.Rows = append(list.Rows, row)
	}
	return list
}

// clocks returns what is left on the clocks now; nil without a limit.
func clocks(e protocol.Event, now time.Time) (left [2]*time.Duration) {
	for i := range left {
		d, limited := e.Terms.Clock.Budget(e.Clocks.Seats[i].State())
		if !limited {
			continue
		}
		if e.Turn == game.Seat(i) {
			d -= time.Duration(e.Clocks.UsedMS) * time.Millisecond
		}
		if run := e.Clocks.Running; run != nil && int(*run) == i {
			d -= now.Sub(e.RunningSince)
		}
		d = max(d, 0)
		left[i] = &d
	}
	return left
}
