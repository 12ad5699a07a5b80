package web

import (
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/screen/static"
)

// TestAbsent: a live game between people begins only if both are here, on whatever
// gateway; a correspondence game begins at once.
func TestAbsent(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	brief := func(h *hub) { h.challengePace, h.grace = 1000, 50*time.Millisecond }
	one, two := startGateway(t, srv, quick(), brief), startGateway(t, srv, quick(), brief)
	ann, ben := openPage(t, one, human("ann")), openPage(t, two, human("ben"))
	leave := func() {
		t.Helper()
		ann.close()
		gametest.Eventually(t, "she is gone", func() bool { return !one.arena.Present(human("ann")) && !two.arena.Present(human("ann")) })
	}
	come := func() {
		t.Helper()
		ann = openPage(t, one, human("ann"))
		gametest.Eventually(t, "she is announced", func() bool { return two.arena.Present(human("ann")) })
	}
	absent := func(reason string, r message.Request) {
		t.Helper()
		if a := ben.ask(r); a.Code != protocol.Unavailable || a.Reason != reason || a.Game != "" {
			t.Fatalf("%s without her: %+v", r.T, a)
		}
	}
	first := game.First
	live := terms(t, "gomoku/freestyle-15", "300+2")
	link := ann.want(message.Request{T: "invite", Terms: live, Seat: &first})
	gametest.Eventually(t, "who invites is announced", func() bool { return two.arena.Present(human("ann")) })
	leave()
	absent(reasonAbsent, message.Request{T: "join", Token: link.Token})
	if a := ben.want(message.Request{T: "invited", Token: link.Token}); a.Terms == nil {
		t.Errorf("the invitation is closed: %+v", a)
	}
	come()
	g := ben.want(message.Request{T: "join", Token: link.Token}).Game
	if n := ann.notice(noticeStarted); n.Game != g {
		t.Errorf("notice %+v, want game %s", n, g)
	}

	for _, p := range []*socketPage{ann, ben} {
		p.want(message.Request{T: "open", Game: g})
		p.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	}
	ben.want(message.Request{T: "resign", Game: g})
	ann.state(g, "the end", finished)
	ann.want(message.Request{T: "rematch", Game: g})
	ben.state(g, "the offer", func(st message.State) bool { return st.RematchBy != nil })
	leave()
	absent(reasonAbsentOffer, message.Request{T: "rematch", Game: g, Step: protocol.StepAccept})
	come()
	next := ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}).Game
	ann.want(message.Request{T: "open", Game: next})
	ann.state(next, "the start", func(st message.State) bool { return st.Status == protocol.Playing })

	link = ann.want(message.Request{T: "invite", Terms: terms(t, "gomoku/freestyle-15", "86400/move")})
	leave()
	g = ben.want(message.Request{T: "join", Token: link.Token}).Game
	ben.want(message.Request{T: "open", Game: g})
	ben.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	for _, reason := range []string{reasonAbsent, reasonAbsentOffer} {
		for _, lang := range static.Languages {
			if one.server.site.texts[lang].Texts["error."+reason] == "" {
				t.Errorf("%s: no sentence for %s", lang, reason)
			}
		}
	}
}

// TestOfferEnds: an offer disappears from the pages when its time is over.
func TestOfferEnds(t *testing.T) {
	t.Parallel()
	gw, _, ben, g := parted(t)
	_, err := changeEntry(t.Context(), gw.agreements, "after."+string(g), func(c *continuations) error {
		c.Rematch = &continuation{By: game.First, Player: human("ann"), At: time.Now().Add(5*time.Second - offerFor)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ben.state(g, "the offer", func(st message.State) bool { return st.RematchBy != nil })
	ben.state(g, "its end", func(st message.State) bool { return st.RematchBy == nil })
}

// TestRepeatedInvite: the same request through another gateway gets the same link.
func TestRepeatedInvite(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	one, two := startGateway(t, srv, quick(), nil), startGateway(t, srv, quick(), nil)
	r := message.Request{T: "invite", ID: "again", Terms: terms(t, "gomoku/freestyle-15", "300+2")}
	link := openPage(t, one, human("ann")).want(r)
	again := openPage(t, two, human("ann")).ask(r)
	if again.Code != protocol.Duplicate || again.Token != link.Token || !again.Expires.Equal(link.Expires) {
		t.Errorf("repeated: %+v, first %+v", again, link)
	}
	if other := openPage(t, two, human("ben")).want(r); other.Token == link.Token {
		t.Error("two people have the same link")
	}
	gametest.Eventually(t, "one invitation", func() bool { return len(two.agreements.invitesOf(human("ann"))) == 1 })
}
