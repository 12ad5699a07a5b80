package web

import (
	"slices"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
)

// No engine helps in a rated or strict game, nor its players elsewhere in a game
// of the same kind.
func TestNoHelpInRatedGames(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"rated", "strict"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			srv, g := analysed(t, nil)
			b := joinBot(t, srv, "hare", protocol.Hello{})
			slow := evenOracle(t)
			slow.hold = make(chan struct{})
			slow.join(srv, "gomoku")
			o := evenOracle(t)
			o.best = func([]string) string { return "h2e2" }
			o.join(srv, "xiangqi")
			p := openPage(t, g, human("ann"))
			old, _ := shortGame(t, p, b)
			other := openPage(t, g, human("bob"))
			for _, reader := range []*socketPage{p, other} {
				reader.want(Request{T: "review", Game: old})
			}
			inOrder(b)
			serious := terms(t, "gomoku/freestyle-15", "300+2")
			serious.Rated, serious.Strict = kind == "rated", kind == "strict"
			id := begin(t, p, serious)
			if st := p.state(id, "the start", plies(0)); slices.Contains(st.May, "hint") {
				t.Errorf("may %v", st.May)
			}
			// The gateway hears of the game by another way than the player.
			gametest.Eventually(t, "the gateway knows the game", func() bool { return len(g.arena.RunningOf(human("ann"))) == 1 })
			close(slow.hold)
			other.reviewed(old)
			p.put(Request{T: "ping", N: 1})
			p.until("a pong", func() bool { return len(p.pongs) == 1 })
			for _, r := range p.reviews {
				if r.Done == r.Total {
					t.Error("the review goes on to a player of such a game")
				}
			}
			reason := func(r Request, want string) {
				t.Helper()
				if a := p.ask(r); a.Code != protocol.Denied || a.Reason != want {
					t.Errorf("%+v: %+v, want %s", r, a, want)
				}
			}
			reason(Request{T: "hint", Game: id, Level: 1}, reasonRated)
			reason(Request{T: "review", Game: id}, reasonRunning)
			reason(Request{T: "review", Game: old}, reasonPlaying)
			casual := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
			reason(Request{T: "hint", Game: casual, Level: 1}, reasonPlaying)
			another := begin(t, p, terms(t, "xiangqi/simple", "300+2"))
			p.want(Request{T: "hint", Game: another, Level: 2})
			p.until("the hint in another kind of game", func() bool { return len(p.hints) == 1 && p.hints[0].Move == "h2e2" })
			p.want(Request{T: "resign", Game: id})
			p.state(id, "the end", finished)
			gametest.Eventually(t, "the review after the game", func() bool { return p.ask(Request{T: "review", Game: old}).Code == protocol.Accepted })
			p.reviewed(old)
		})
	}
}

// The position of a rated game under way gets no hint in anybody's game.
func TestNoHintInThePositionOfARatedGame(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	moves := []string{"h8", "a1", "h9", "b1", "i8", "c1", "i9", "e1", "j10", "f1"}
	inOrder(b, moves...)
	evenOracle(t).join(srv, "gomoku")
	play := func(name string, rated bool) (*socketPage, protocol.GameID) {
		p := openPage(t, g, human(name))
		want := terms(t, "gomoku/freestyle-15", "300+2")
		want.Rated = rated
		id := begin(t, p, want)
		for ply := 0; ply < len(moves); ply += 2 {
			p.move(id, ply, moves[ply])
			p.state(id, "the answer", plies(ply+2))
		}
		return p, id
	}
	dora, reviewed := play("dora", false)
	dora.want(Request{T: "resign", Game: reviewed})
	dora.state(reviewed, "the end", finished)
	dora.want(Request{T: "review", Game: reviewed})
	dora.reviewed(reviewed)
	ann, rated := play("ann", true)
	bob, casual := play("bob", false)
	if a := bob.ask(Request{T: "hint", Game: casual, Ply: len(moves), Level: 1}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("%+v", a)
	}
	if a := dora.ask(Request{T: "review", Game: reviewed}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("a review of before: %+v", a)
	}
	// Nor as a start position, under other rules, or in a review.
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.Replay(rules, "", moves)
	if err != nil {
		t.Fatal(err)
	}
	again := terms(t, "gomoku/standard-15", "300+2")
	again.Position = pos.String()
	carl := openPage(t, g, human("carl"))
	copied := begin(t, carl, again)
	if a := carl.ask(Request{T: "hint", Game: copied, Level: 1}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("hint: %+v", a)
	}
	inOrder(b) // it thinks until the end
	carl.move(copied, 0, "o1")
	carl.want(Request{T: "resign", Game: copied})
	carl.state(copied, "the end", finished)
	if a := carl.ask(Request{T: "review", Game: copied}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("review: %+v", a)
	}
	ann.want(Request{T: "resign", Game: rated})
	ann.state(rated, "the end", finished)
	gametest.Eventually(t, "a hint after the rated game", func() bool {
		return bob.ask(Request{T: "hint", Game: casual, Ply: len(moves), Level: 1}).Code == protocol.Accepted
	})
}

// One person can't use up the analysts.
func TestAnalysisLimits(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) { l.hintsHourly, l.reviewsHourly, l.waiting = 2, 3, 1 })
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	ann, bob := openPage(t, g, human("ann")), openPage(t, g, human("bob"))
	var games []protocol.GameID
	for range 4 {
		id, _ := shortGame(t, ann, b)
		games = append(games, id)
	}
	why := func(p *socketPage, r Request, code protocol.Code) {
		t.Helper()
		if a := p.ask(r); a.Code != code || a.Reason != reasonTooMany {
			t.Errorf("%+v: %+v, want %s", r, a, code)
		}
	}
	ann.want(Request{T: "review", Game: games[0]})
	ann.want(Request{T: "review", Game: games[1]})
	why(ann, Request{T: "review", Game: games[2]}, protocol.RateLimited) // two at once
	why(bob, Request{T: "review", Game: games[3]}, protocol.CodeBusy)    // one waits already
	bob.want(Request{T: "review", Game: games[0]})                       // costs nothing
	close(o.hold)
	ann.reviewed(games[1])
	ann.want(Request{T: "review", Game: games[2]})
	ann.reviewed(games[2])
	why(ann, Request{T: "review", Game: games[3]}, protocol.RateLimited) // three an hour
	bob.want(Request{T: "review", Game: games[3]})
	bob.reviewed(games[3])

	for n := range 3 {
		inOrder(b)
		id := begin(t, ann, terms(t, "gomoku/freestyle-15", "300+2"))
		if n == 2 {
			why(ann, Request{T: "hint", Game: id, Level: 1}, protocol.RateLimited)
			break
		}
		ann.want(Request{T: "hint", Game: id, Level: 1})
	}
}

// The guests of one address leave places to others.
func TestReviewsOfOneAddress(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) { l.perAddress = 1 })
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	ann, bob := openPage(t, g, human("ann")), openPage(t, g, human("bob"))
	far := pageFrom(t, g, "b", human("far"))
	first, _ := shortGame(t, ann, b)
	second, _ := shortGame(t, ann, b)
	ann.want(Request{T: "review", Game: first})
	if a := bob.ask(Request{T: "review", Game: second}); a.Code != protocol.RateLimited || a.Reason != reasonTooMany {
		t.Errorf("%+v", a)
	}
	far.want(Request{T: "review", Game: second})
	close(o.hold)
	ann.reviewed(first)
	bob.want(Request{T: "review", Game: second})
	bob.reviewed(second)
}

func TestLimitAnalysis(t *testing.T) {
	for searches, reviews := range map[int]int{1: 1, 2: 1, 3: 1, 8: 4} {
		if l := limitAnalysis(searches); l.searches != searches || l.reviews != reviews {
			t.Errorf("%d searches: %d reviews with %d", searches, l.reviews, l.searches)
		}
	}
	if l := limitAnalysis(0); l != defaultAnalysisLimits {
		t.Errorf("the default is %+v", l)
	}
}
