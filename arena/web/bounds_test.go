package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/screen/static"
)

// TestFloodOfOneAddress: many guests of one address together get only its share of a
// bot's games, and another address finds room. Ended games and withdrawn challenges
// make room.
func TestFloodOfOneAddress(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), func(h *hub) {
		h.challengePace = 1000
		l := plentiful()
		l.AddressGames, l.PersonGames = 6, 2
		h.bounds = newBounds(l)
	})
	hare := joinBot(t, srv, "hare", protocol.Hello{})
	hare.set(func(b *bot) { b.free = 8 })
	play := message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2")}
	refusals := map[string]int{}
	var first *socketPage
	var games []protocol.GameID
	for i := range 5 {
		p := pageFrom(t, gw, "flood", human(fmt.Sprintf("guest%c", 'a'+i)))
		for range 3 {
			switch a := p.ask(play); {
			case a.Code == protocol.Accepted:
				if games = append(games, a.Game); first == nil {
					first = p
				}
			case a.Code == protocol.RateLimited && a.Text != "":
				refusals[a.Reason]++
			default:
				t.Fatalf("answer %+v", a)
			}
		}
	}
	if len(games) != 6 || refusals[reasonOwnGames] != 3 || refusals[reasonAddressGames] != 6 {
		t.Fatalf("%d games, refused %v", len(games), refusals)
	}
	other := pageFrom(t, gw, "quiet", human("other"))
	g := other.want(play).Game
	other.want(message.Request{T: "open", Game: g})
	other.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })

	// An end makes room for one.
	first.want(message.Request{T: "open", Game: games[0]})
	first.state(games[0], "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	first.want(message.Request{T: "resign", Game: games[0]})
	first.state(games[0], "the end", finished)
	gametest.Eventually(t, "room for another game", func() bool {
		return first.ask(play).Code == protocol.Accepted || // or it was, and the answer came too late
			slices.ContainsFunc(gw.arena.RunningOf(human("guesta")), func(e protocol.Event) bool { return !slices.Contains(games, e.Game) })
	})
	if a := first.ask(play); a.Reason != reasonOwnGames {
		t.Errorf("one more: %+v", a)
	}

	// What the platform refuses counts for nothing.
	cat := pageFrom(t, gw, "third", human("cat"))
	wrong := *play.Terms
	wrong.Position = "nothing"
	for range 3 {
		cat.refuse(message.Request{T: "play", Opponent: "hare", Terms: &wrong}, protocol.UnknownGame)
	}
	cat.want(play)

	// A challenge that is withdrawn makes room, too.
	gametest.Eventually(t, "the games of a guest", func() bool { return len(gw.arena.RunningOf(human("guestb"))) == 2 })
	hare.set(func(b *bot) { b.answer = protocol.Busy })
	w := other.want(play).Game
	if a := other.ask(play); a.Reason != reasonOwnGames {
		t.Errorf("with a waiting challenge: %+v", a)
	}
	other.want(message.Request{T: "withdraw", Game: w})
	gametest.Eventually(t, "room after the withdrawal", func() bool { return other.ask(play).Code == protocol.Accepted })

	// A challenge that has just stopped waiting counts until its game is seen to run, or could
	// have begun no more.
	dog := pageFrom(t, gw, "fourth", human("dog"))
	between := []*botGame{{game: "between1"}, {game: "between2"}}
	expire := func(at time.Time) {
		gw.bounds.mu.Lock()
		defer gw.bounds.mu.Unlock()
		for _, g := range between {
			g.address, g.player, g.expires = "fourth", human("dog"), at
			gw.bounds.add(g)
			gw.bounds.games[g.game] = g
		}
	}
	expire(time.Now().Add(time.Hour))
	if a := dog.ask(play); a.Reason != reasonOwnGames {
		t.Errorf("with games that neither wait nor run yet: %+v", a)
	}
	expire(time.Now().Add(-time.Hour))
	if a := dog.ask(play); a.Code != protocol.Accepted {
		t.Errorf("after they could have begun: %+v", a)
	}
	for reason := range refusals {
		for _, lang := range static.Languages {
			if gw.server.site.texts[lang].Texts["error."+reason] == "" {
				t.Errorf("%s: no sentence for %s", lang, reason)
			}
		}
	}

	// A page that comes back brings its games along to a gateway that does not know them.
	next := startGateway(t, srv, quick(), func(h *hub) {
		l := plentiful()
		l.AddressGames = 1
		h.bounds = newBounds(l)
	})
	gametest.Eventually(t, "the other arena knows the games", func() bool { return len(next.arena.RunningOf(human("guestb"))) == 2 })
	joinBot(t, srv, "hare", protocol.Hello{})
	gametest.Eventually(t, "the other arena knows the bot", func() bool { return next.arena.Present("hare") })
	pageFrom(t, next, "flood", human("guestb"))
	if a := pageFrom(t, next, "flood", human("someone")).ask(play); a.Reason != reasonAddressGames {
		t.Errorf("at another gateway: %+v", a)
	}
}

// TestPaceOfOneAddress: what one address asks for too often is refused, and another
// address is served.
func TestPaceOfOneAddress(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) {
		l := plentiful()
		few := Rate{PerMinute: 0.01, Burst: 2}
		l.Challenges, l.Acts, l.Chats, l.Hints = few, few, few, few
		h.bounds = newBounds(l)
	})
	ann, ben := pageFrom(t, gw, "one", human("ann")), pageFrom(t, gw, "one", human("ben"))
	cat := pageFrom(t, gw, "two", human("cat"))
	for _, kind := range []string{"join", "resign", "chat", "hint"} {
		r := message.Request{T: kind, Game: "nothing", Token: "nothing", Text: "hello", Level: 1}
		codes := []protocol.Code{ann.ask(r).Code, ben.ask(r).Code, ann.ask(r).Code, ben.ask(r).Code, cat.ask(r).Code}
		limited := slices.Repeat([]protocol.Code{protocol.RateLimited}, 2)
		if slices.Contains(codes[:2], protocol.RateLimited) || !slices.Equal(codes[2:4], limited) || codes[4] == protocol.RateLimited {
			t.Errorf("%s: %v", kind, codes)
		}
	}
}

// TestLookupsOfOneAddress: one address gets only so many answers of the kinds that need
// no session, whatever it asks. Its games go on, and another address is served.
func TestLookupsOfOneAddress(t *testing.T) {
	t.Parallel()
	const most = 30
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) {
		l := plentiful()
		l.Lookups = Rate{PerMinute: 0.01, Burst: most}
		h.bounds = newBounds(l)
	})
	ann, ben := pageFrom(t, gw, "one", human("ann")), pageFrom(t, gw, "one", human("ben"))
	g := befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1"))
	why := message.Request{T: "why", Game: g, From: "h8"}
	stranger := pageFrom(t, gw, "one", "")
	served := 0
	for range most + 1 {
		if stranger.ask(why).Code == protocol.Accepted {
			served++
		}
	}
	if served == 0 || served > most {
		t.Errorf("%d requests are served", served)
	}
	for _, r := range []message.Request{why, {T: "open", Game: g}, {T: "invited", Token: "nothing"}} {
		for _, p := range []*socketPage{stranger, ann, pageFrom(t, gw, "one", "")} {
			p.refuse(r, protocol.RateLimited)
		}
	}
	far := pageFrom(t, gw, "two", "")
	far.want(message.Request{T: "open", Game: g})
	far.want(why)
	ann.move(g, 2, "h9")
	ben.move(g, 3, "b1")
	for _, p := range []*socketPage{ann, ben, far} {
		p.state(g, "the moves", plies(4))
	}
}

// TestGamesOpenedAtOnce: a tab can't have more than a few games looked for at a time,
// with a session or without.
func TestGamesOpenedAtOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), nil)
	for _, id := range []protocol.PlayerID{"", human("ann")} {
		p := openPage(t, gw, id)
		p.untilTooManyAtOnce(message.Request{T: "open", Game: "nothing"})
		gametest.Eventually(t, "room for another", func() bool { return p.ask(message.Request{T: "open", Game: "nothing"}).Code == protocol.NoGame })
	}
}

// untilTooManyAtOnce sends requests that wait, until one is refused because too many do.
func (p *socketPage) untilTooManyAtOnce(r message.Request) {
	p.t.Helper()
	gametest.Eventually(p.t, "too many "+r.T+" at once", func() bool {
		var ids []string
		for range 2 * requestsAtOnce {
			ids = append(ids, p.put(r))
		}
		waits := func(id string) bool { return p.answers[id].ID == "" }
		p.until("the answers to "+r.T, func() bool { return !slices.ContainsFunc(ids, waits) })
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(ids, func(id string) bool { return p.answers[id].Text == tooManyAtOnce.Text })
	})
}
