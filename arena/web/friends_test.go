package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/screen/static"
)

// parted are two friends, at a gateway, after a game that ann has resigned.
func parted(t testing.TB) (gw *gateway, ann, ben *socketPage, g protocol.GameID) {
	t.Helper()
	srv := arenatest.StartServer(t, "")
	gw = startGateway(t, srv, quick(), nil)
	ann, ben = openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	g = befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	ann.want(message.Request{T: "resign", Game: g})
	ben.state(g, "the end", finished)
	return gw, ann, ben, g
}

// befriend begins a game between two pages by a link; the first one invites, and
// has seat first.
func befriend(t testing.TB, ann, ben *socketPage, terms *protocol.Terms) protocol.GameID {
	t.Helper()
	first := game.First
	link := ann.want(message.Request{T: "invite", Terms: terms, Seat: &first})
	if len(link.Token) < 26 || !strings.HasSuffix(link.URL, "/invite/"+link.Token) {
		t.Fatalf("link %+v", link)
	}
	seen := ben.want(message.Request{T: "invited", Token: link.Token})
	if seen.Terms == nil || !seen.Terms.Equal(*terms) || seen.Seat == nil || *seen.Seat != game.Second || seen.Player != ann.welcome.Player {
		t.Fatalf("invited to %+v", seen)
	}
	g := ben.want(message.Request{T: "join", Token: link.Token}).Game
	ann.until("notice of the game", func() bool {
		for _, n := range ann.notices {
			if n.Kind == noticeStarted && n.Game == g {
				return true
			}
		}
		return false
	})
	for _, p := range []*socketPage{ann, ben} {
		p.want(message.Request{T: "open", Game: g})
		p.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing && st.You != nil })
	}
	return g
}

// playOn has both pages play moves that pick chooses until it returns "" or the
// game is over.
func playOn(t testing.TB, g protocol.GameID, pages [2]*socketPage, pick func(ply int, legal []string) string) {
	t.Helper()
	for ply := 0; ; ply++ {
		st := pages[0].state(g, "the position", plies(ply))
		if finished(st) {
			return
		}
		text := pick(ply, append(st.View.Moves, st.View.Choices...))
		if text == "" {
			return
		}
		pages[st.Turn].want(message.Request{T: "move", Game: g, Ply: ply, Move: text})
	}
}

// script plays a list of moves.
func script(moves ...string) func(int, []string) string {
	return func(ply int, _ []string) string {
		if ply < len(moves) {
			return moves[ply]
		}
		return ""
	}
}

// TestFriendsFinishGames plays all three games to each kind of end, on two pages.
func TestFriendsFinishGames(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	mate := terms(t, "xiangqi/simple", "300+2")
	mate.Position = "3k5/R8/9/9/9/9/9/4R4/9/4K4 w"
	five := []string{"h8", "a1", "h9", "a2", "h10", "a3", "h11", "a4", "h12"}
	last := func(_ int, legal []string) string { return legal[len(legal)-1] }
	for i, c := range []struct {
		name  string
		terms *protocol.Terms
		pick  func(int, []string) string
		end   func(g protocol.GameID, pages [2]*socketPage)
		want  game.Outcome
	}{
		{"xiangqi rules", mate, script("e2d2"), nil, game.Outcome{Result: game.FirstWins, Reason: game.Checkmate}},
		{"gomoku rules", terms(t, "gomoku/freestyle-15", "300+2"), script(five...), nil, game.Outcome{Result: game.FirstWins, Reason: game.Five}},
		{"amazons rules", terms(t, "amazons/6x6", "300+2"), last, nil, game.Outcome{Reason: game.NoMoves}},
		{"xiangqi resign", terms(t, "xiangqi/simple", "300+2"), script("h2e2"), resignation, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}},
		{"gomoku resign", terms(t, "gomoku/renju-15", "300+2"), script(), resignation, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}},
		{"amazons resign", terms(t, "amazons/10x10", "300+2"), script("d1d7/b7"), resignation, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}},
		{"xiangqi draw", terms(t, "xiangqi/simple", "300+2"), script("h2e2", "h9g7"), agreement, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}},
		{"gomoku draw", terms(t, "gomoku/freestyle-15", "300+2"), script("h8", "h9"), agreement, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}},
		{"amazons draw", terms(t, "amazons/10x10", "300+2"), script("d1d7/b7"), agreement, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}},
		{"xiangqi flag", terms(t, "xiangqi/simple", "3"), script("h2e2", "h9g7"), nil, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonTime}},
		{"gomoku flag", terms(t, "gomoku/freestyle-15", "3"), script("h8", "h9"), nil, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonTime}},
		{"amazons flag", terms(t, "amazons/6x6", "3"), func(ply int, legal []string) string {
			if ply < 2 {
				return legal[0]
			}
			return ""
		}, nil, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonTime}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ann, ben := openPage(t, gw, human(fmt.Sprintf("ann%c", 'a'+i))), openPage(t, gw, human(fmt.Sprintf("ben%c", 'a'+i)))
			g := befriend(t, ann, ben, c.terms)
			playOn(t, g, [2]*socketPage{ann, ben}, c.pick)
			if c.end != nil {
				c.end(g, [2]*socketPage{ann, ben})
			}
			for _, p := range []*socketPage{ann, ben} {
				st := p.state(g, "the end", finished)
				if st.Outcome.Reason != c.want.Reason || c.want.Result != game.Undecided && st.Outcome != c.want {
					t.Errorf("outcome %+v, want %+v", st.Outcome, c.want)
				}
				if len(st.Moves) > 0 && st.View.Last != st.Moves[len(st.Moves)-1] {
					t.Errorf("the view's last move is %q, want %q", st.View.Last, st.Moves[len(st.Moves)-1])
				}
			}
		})
	}
}

func resignation(g protocol.GameID, pages [2]*socketPage) {
	pages[0].want(message.Request{T: "resign", Game: g})
}

func agreement(g protocol.GameID, pages [2]*socketPage) {
	ply := len(pages[0].state(g, "the position", plies(0)).Moves)
	pages[0].want(message.Request{T: "draw", Game: g, Ply: ply, Step: protocol.StepOffer})
	pages[1].state(g, "the offer", func(st message.State) bool { return st.DrawBy != nil && *st.DrawBy == game.First })
	pages[1].want(message.Request{T: "draw", Game: g, Ply: ply, Step: protocol.StepAccept})
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	ann, ben, cat := openPage(t, gw, human("ann")), openPage(t, gw, human("ben")), openPage(t, gw, human("cat"))
	casual := terms(t, "gomoku/freestyle-15", "300+2")
	ann.want(message.Request{T: "lobby", On: true})

	link := ann.want(message.Request{T: "invite", Terms: casual})
	ann.until("the invitation in the lobby", func() bool {
		return ann.lobby != nil && len(ann.lobby.Waiting) == 1 && ann.lobby.Waiting[0].Token == link.Token && ann.lobby.Waiting[0].URL == link.URL
	})
	ann.refuse(message.Request{T: "join", Token: link.Token}, protocol.Denied)
	ben.refuse(message.Request{T: "uninvite", Token: link.Token}, protocol.NotOffered)
	ann.want(message.Request{T: "uninvite", Token: link.Token})
	ann.until("the lobby without it", func() bool { return len(ann.lobby.Waiting) == 0 })
	ben.refuse(message.Request{T: "join", Token: link.Token}, protocol.NotOffered)
	ben.refuse(message.Request{T: "invited", Token: link.Token}, protocol.NotOffered)
	ben.refuse(message.Request{T: "join", Token: "nothing"}, protocol.NotOffered)

	// The lobby's own name of an invitation revokes it, too.
	ann.want(message.Request{T: "invite", Terms: casual})
	ann.until("the next invitation in the lobby", func() bool { return len(ann.lobby.Waiting) == 1 })
	ann.want(message.Request{T: "uninvite", Token: ann.lobby.Waiting[0].Invite})

	link = ann.want(message.Request{T: "invite", Terms: casual})
	r := message.Request{T: "join", Token: link.Token, ID: "again"}
	g := ben.want(r).Game
	if again := ben.ask(message.Request{T: "join", Token: link.Token}); again.Game != g {
		t.Errorf("accepted twice: %+v, then %s", again, g)
	}
	cat.refuse(message.Request{T: "join", Token: link.Token}, protocol.NotOffered)
	ann.notice(noticeStarted)
	if n := len(gw.arena.RunningOf(human("ann"))); n != 1 {
		t.Errorf("%d games of one invitation", n)
	}

	// An acceptance that came to nothing, because the platform was away for longer than
	// the challenge waited, does not use the invitation up.
	link = ann.want(message.Request{T: "invite", Terms: casual})
	nobody := human("nobody")
	lost := gw.participant(human("ben"), "").challenge(t.Context(), protocol.ChallengeRequest{
		Header: protocol.Header{ID: "lost"}, Terms: *casual, Opponent: nobody, ExpireMS: 1,
	})
	gametest.Eventually(t, "the challenge has expired", func() bool { return gw.cameToNothing(t.Context(), lost.Game) })
	if _, err := changeEntry(t.Context(), gw.agreements, "invite."+hashed(link.Token), func(i *invitation) error {
		i.TakenBy, i.Request = human("ben"), "lost"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ben.refuse(message.Request{T: "join", Token: link.Token}, protocol.Unavailable)
	ben.want(message.Request{T: "join", Token: link.Token})

	wrong := *casual
	wrong.Rules = "gomoku/none"
	ben.refuse(message.Request{T: "invite", Terms: &wrong}, protocol.UnknownGame)
	ben.refuse(message.Request{T: "invite"}, protocol.Malformed)
	rated := *casual
	rated.Rated, rated.Position = true, "start"
	if a := ben.ask(message.Request{T: "invite", Terms: &rated}); a.Code == protocol.Accepted {
		t.Error("a rated game from a position was accepted")
	}
	for range maxInvites {
		cat.want(message.Request{T: "invite", Terms: casual})
	}
	gametest.Eventually(t, "the invitations", func() bool { return len(gw.agreements.invitesOf(human("cat"))) == maxInvites })
	cat.refuse(message.Request{T: "invite", Terms: casual}, protocol.RateLimited)
}

func TestRematch(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	joinBot(t, srv, "hare", protocol.Hello{})
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	watcher := openPage(t, gw, "")
	strict := terms(t, "gomoku/freestyle-15", "300+2")
	strict.Strict = true
	g := befriend(t, ann, ben, strict)
	watcher.want(message.Request{T: "open", Game: g})
	ann.refuse(message.Request{T: "rematch", Game: g}, protocol.NotOffered)
	ann.want(message.Request{T: "resign", Game: g})
	ben.state(g, "the end", finished)

	ann.want(message.Request{T: "rematch", Game: g, Step: protocol.StepOffer})
	ann.refuse(message.Request{T: "rematch", Game: g, Step: protocol.StepOffer}, protocol.Duplicate)
	ann.refuse(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}, protocol.NotOffered)
	offered := func(st message.State) bool { return st.RematchBy != nil && *st.RematchBy == game.First }
	ben.state(g, "the offer", offered)
	watcher.state(g, "the offer", offered)
	watcher.refuse(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}, protocol.Denied)
	ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepDecline})
	ann.state(g, "the refusal", func(st message.State) bool { return st.RematchBy == nil })
	ben.refuse(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}, protocol.NotOffered)

	ann.want(message.Request{T: "rematch", Game: g})
	ben.state(g, "the offer", offered)
	next := ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}).Game
	for _, p := range []*socketPage{ann, ben, watcher} {
		p.state(g, "the next game", func(st message.State) bool { return st.Next == next })
		p.want(message.Request{T: "open", Game: next})
	}
	st := ann.state(next, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	if st.You == nil || *st.You != game.Second || !st.Terms.Equal(*strict) {
		t.Errorf("rematch: seat %v, terms %+v", st.You, st.Terms)
	}
	if again := ann.ask(message.Request{T: "rematch", Game: g}); again.Game != next {
		t.Errorf("another rematch of the same game: %+v", again)
	}

	// A bot agrees at once.
	seat := game.First
	g = ann.want(message.Request{T: "play", Opponent: "hare", Terms: strict, Seat: &seat}).Game
	ann.want(message.Request{T: "open", Game: g})
	ann.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	ann.want(message.Request{T: "resign", Game: g})
	ann.state(g, "the end", finished)
	next = ann.want(message.Request{T: "rematch", Game: g}).Game
	ann.want(message.Request{T: "open", Game: next})
	st = ann.state(next, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	if *st.You != game.Second || st.Holders[0].Player != "hare" {
		t.Errorf("rematch: seat %v, holders %+v", *st.You, st.Holders)
	}
}

// TestAgreementWithoutAGame: when the one who accepted a rematch could send no challenge, as
// from a gateway that died, the other may offer again.
func TestAgreementWithoutAGame(t *testing.T) {
	t.Parallel()
	gw, ann, ben, g := parted(t)
	agreed := func(ago time.Duration) {
		t.Helper()
		_, err := changeEntry(t.Context(), gw.agreements, "after."+string(g), func(c *continuations) error {
			c.Rematch = &continuation{By: game.First, At: time.Now().Add(-ago), Request: protocol.NewID(), Seat: game.Second}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	agreed(0)
	ann.want(message.Request{T: "rematch", Game: g, Step: protocol.StepOffer}) // his challenge is under way
	agreed(agreedFor + time.Second)
	ann.want(message.Request{T: "rematch", Game: g, Step: protocol.StepOffer})
	ben.state(g, "the offer", func(st message.State) bool { return st.RematchBy != nil && *st.RematchBy == game.First })
	agreed(agreedFor + time.Second)
	next := ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}).Game // a repetition, late
	ann.state(g, "the next game", func(st message.State) bool { return next != "" && st.Next == next })
}

// TestOffersAfterADecline: an offer to continue may be made once more after it was declined
// or withdrawn, so that nobody can be asked without end. The opponent may still offer.
func TestOffersAfterADecline(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	g := befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1", "h9", "a2", "h10", "a3", "h11", "a4", "h12"))
	for _, p := range []*socketPage{ann, ben} {
		p.state(g, "the end", finished)
	}
	for _, kind := range []string{"rematch", "takeback"} {
		offer, decline := message.Request{T: kind, Game: g, Step: protocol.StepOffer}, message.Request{T: kind, Game: g, Step: protocol.StepDecline}
		ben.want(offer)
		ann.want(decline)
		ben.want(offer)
		ben.refuse(offer, protocol.Duplicate)
		ben.want(decline) // withdrawn
		if a := ben.ask(offer); a.Code != protocol.RateLimited || a.Reason != reasonDeclined {
			t.Errorf("a third %s: %+v", kind, a)
		}
		ann.want(offer)
		ben.want(decline)
		if a := ben.ask(offer); a.Code != protocol.RateLimited {
			t.Errorf("a third %s, after one of the opponent: %+v", kind, a)
		}
	}
	ann.want(message.Request{T: "rematch", Game: g})
	next := ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepOffer}).Game // which agrees to hers
	ann.state(g, "the next game", func(st message.State) bool { return st.Next == next })
	for _, lang := range static.Languages {
		if gw.server.site.texts[lang].Texts["error."+reasonDeclined] == "" {
			t.Errorf("%s: no sentence for it", lang)
		}
	}
}

func TestTakebackOfTheLastMove(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	hare := joinBot(t, srv, "hare", protocol.Hello{})
	answers := []string{"h8", "h9", "h10", "h11", "h12"}
	hare.set(func(b *bot) {
		b.pick = func(st protocol.State, _ []string) string {
			if n := len(st.Moves) / 2; n < len(answers) {
				return answers[n]
			}
			return ""
		}
	})
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	second := game.Second
	g := ann.want(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2"), Seat: &second}).Game
	ann.want(message.Request{T: "open", Game: g})
	for i, text := range []string{"a1", "a2", "a3", "a4"} {
		ann.state(g, "the bot's move", plies(2*i+1))
		ann.want(message.Request{T: "move", Game: g, Ply: 2*i + 1, Move: text})
	}
	st := ann.state(g, "the end", finished)
	if st.Outcome.Reason != game.Five || !strings.Contains(fmt.Sprint(st.May), "takeback") {
		t.Errorf("outcome %+v, may %v", st.Outcome, st.May)
	}
	hare.set(func(b *bot) { b.pick = func(protocol.State, []string) string { return "" } })
	next := ann.want(message.Request{T: "takeback", Game: g, Step: protocol.StepOffer}).Game
	ann.want(message.Request{T: "open", Game: next})
	st = ann.state(next, "the position before", func(st message.State) bool { return st.Status == protocol.Playing })
	if len(st.Moves) != 7 || *st.You != game.Second || st.Turn != game.Second {
		t.Errorf("after %d moves, seat %v, %v to act", len(st.Moves), *st.You, st.Turn)
	}
	ann.state(g, "the link to it", func(st message.State) bool { return st.Next == next })
	ann.refuse(message.Request{T: "takeback", Game: next, Ply: 7, Step: protocol.StepOffer}, protocol.Illegal)

	// A friend has to agree. A resignation can't be taken back, nor anything in a
	// strict game.
	g = befriend(t, ann, ben, terms(t, "gomoku/freestyle-15", "300+2"))
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1", "h9", "a2", "h10", "a3", "h11", "a4", "h12"))
	ben.state(g, "the end", finished)
	ben.want(message.Request{T: "takeback", Game: g, Step: protocol.StepOffer})
	ann.state(g, "the request", func(st message.State) bool { return st.TakebackBy != nil && *st.TakebackBy == game.Second })
	ann.refuse(message.Request{T: "takeback", Game: g, Step: protocol.StepOffer}, protocol.NotOffered) // of another move
	next = ann.want(message.Request{T: "takeback", Game: g, Step: protocol.StepAccept}).Game
	ben.want(message.Request{T: "open", Game: next})
	st = ben.state(next, "the position before", func(st message.State) bool { return st.Status == protocol.Playing })
	if len(st.Moves) != 7 || *st.You != game.Second {
		t.Errorf("after %d moves, seat %v", len(st.Moves), *st.You)
	}
	ben.move(next, 7, "b4")
	ben.want(message.Request{T: "resign", Game: next})
	if st = ben.state(next, "the end", finished); strings.Contains(fmt.Sprint(st.May), "takeback") {
		t.Errorf("may %v after a resignation", st.May)
	}
	ben.refuse(message.Request{T: "takeback", Game: next, Step: protocol.StepOffer}, protocol.Illegal)
	strict := terms(t, "gomoku/freestyle-15", "300+2")
	strict.Strict = true
	g = befriend(t, ann, ben, strict)
	playOn(t, g, [2]*socketPage{ann, ben}, script("h8", "a1"))
	ann.refuse(message.Request{T: "takeback", Game: g, Ply: 2, Step: protocol.StepOffer}, protocol.Illegal)
	if st := ann.state(g, "two moves", plies(2)); strings.Contains(fmt.Sprint(st.May), "takeback") || strings.Contains(fmt.Sprint(st.May), "hint") {
		t.Errorf("may %v in a strict game", st.May)
	}
}
