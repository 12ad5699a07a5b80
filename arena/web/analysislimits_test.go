package web

import (
	"slices"
	"testing"
	"time"

	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record/review"
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
				reader.want(message.Request{T: "review", Game: old})
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
			p.put(message.Request{T: "ping", N: 1})
			p.until("a pong", func() bool { return len(p.pongs) == 1 })
			for _, r := range p.reviews {
				if r.Done == r.Total {
					t.Error("the review goes on to a player of such a game")
				}
			}
			reason := func(r message.Request, want string) {
				t.Helper()
				if a := p.ask(r); a.Code != protocol.Denied || a.Reason != want {
					t.Errorf("%+v: %+v, want %s", r, a, want)
				}
			}
			reason(message.Request{T: "hint", Game: id, Level: 1}, reasonRated)
			reason(message.Request{T: "review", Game: id}, reasonRunning)
			reason(message.Request{T: "review", Game: old}, reasonPlaying)
			casual := begin(t, p, terms(t, "gomoku/freestyle-15", "300+2"))
			reason(message.Request{T: "hint", Game: casual, Level: 1}, reasonPlaying)
			another := begin(t, p, terms(t, "xiangqi/simple", "300+2"))
			p.want(message.Request{T: "hint", Game: another, Level: 2})
			p.until("the hint in another kind of game", func() bool { return len(p.hints) == 1 && p.hints[0].Move == "h2e2" })
			p.want(message.Request{T: "resign", Game: id})
			p.state(id, "the end", finished)
			gametest.Eventually(t, "the review after the game", func() bool { return p.ask(message.Request{T: "review", Game: old}).Code == protocol.Accepted })
			p.reviewed(old)
		})
	}
}

// longGame has enough moves that their position is not one of an opening.
var longGame = []string{"h8", "a1", "h9", "b1", "i8", "c1", "i9", "e1", "j10", "f1"}

// playLong plays the moves in a game of a person against the bot.
func playLong(t testing.TB, g *gateway, b *bot, name string, rated bool, moves ...string) (*socketPage, protocol.GameID) {
	t.Helper()
	inOrder(b, moves...)
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

// The position of a rated game under way gets no hint in anybody's game, nor a try in
// one that was reviewed before.
func TestNoHintInThePositionOfARatedGame(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	moves := longGame
	o := evenOracle(t)
	o.join(srv, "gomoku")
	reviewed := func(name string, moves ...string) (*socketPage, protocol.GameID) {
		p, id := playLong(t, g, b, name, false, moves...)
		p.want(message.Request{T: "resign", Game: id})
		p.state(id, "the end", finished)
		p.want(message.Request{T: "review", Game: id})
		p.reviewed(id)
		return p, id
	}
	dora, through := reviewed("dora", append(slices.Clone(moves), "m1", "m2")...)
	evan, past := reviewed("evan", append(slices.Clone(moves[:9]), "g1")...)
	asked := o.count()
	ann, rated := playLong(t, g, b, "ann", true, moves...)
	same := func(p *socketPage, r message.Request) {
		t.Helper()
		if a := p.ask(r); a.Code != protocol.Denied || a.Reason != reasonSame {
			t.Errorf("%+v: %+v", r, a)
		}
	}
	gametest.Eventually(t, "the gateway knows the moves", func() bool {
		return slices.ContainsFunc(g.arena.Running(), func(e protocol.Event) bool { return e.Game == rated && len(e.Moves) == len(moves) })
	})
	same(dora, message.Request{T: "review", Game: through})
	same(dora, message.Request{T: "try", Game: through, Ply: len(moves), Move: "k11"})
	same(dora, message.Request{T: "try", Game: through, Ply: len(moves), Move: "o15"}) // the best one needs no search
	same(evan, message.Request{T: "try", Game: past, Ply: len(moves) - 1, Move: moves[len(moves)-1]})
	evan.want(message.Request{T: "try", Game: past, Ply: len(moves) - 1, Move: "k11"})
	evan.until("the judgment of another move", func() bool { return len(evan.tried) == 1 })
	if n := o.count() - asked; n != 1 {
		t.Errorf("%d searches, want one", n)
	}
	bob, casual := playLong(t, g, b, "bob", false, moves...)
	same(bob, message.Request{T: "hint", Game: casual, Ply: len(moves), Level: 1})
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
	if a := carl.ask(message.Request{T: "hint", Game: copied, Level: 1}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("hint: %+v", a)
	}
	inOrder(b) // it thinks until the end
	carl.move(copied, 0, "o1")
	carl.want(message.Request{T: "resign", Game: copied})
	carl.state(copied, "the end", finished)
	if a := carl.ask(message.Request{T: "review", Game: copied}); a.Code != protocol.Denied || a.Reason != reasonSame {
		t.Errorf("review: %+v", a)
	}
	ann.want(message.Request{T: "resign", Game: rated})
	ann.state(rated, "the end", finished)
	gametest.Eventually(t, "a hint after the rated game", func() bool {
		return bob.ask(message.Request{T: "hint", Game: casual, Ply: len(moves), Level: 1}).Code == protocol.Accepted
	})
}

// A review under way stops for all its readers when a rated game comes to one of its
// positions.
func TestReviewStopsAtThePositionOfARatedGame(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, nil)
	b := joinBot(t, srv, "hare", protocol.Hello{})
	o := evenOracle(t)
	o.hold = make(chan struct{})
	o.join(srv, "gomoku")
	dora, id := playLong(t, g, b, "dora", false, longGame...)
	dora.want(message.Request{T: "resign", Game: id})
	dora.state(id, "the end", finished)
	dora.want(message.Request{T: "review", Game: id})
	ann, rated := playLong(t, g, b, "ann", true, longGame...)
	gametest.Eventually(t, "the gateway knows the moves", func() bool {
		return slices.ContainsFunc(g.arena.Running(), func(e protocol.Event) bool { return e.Game == rated && len(e.Moves) == len(longGame) })
	})
	close(o.hold)
	dora.until("the end of the review", func() bool {
		return slices.ContainsFunc(dora.reviews, func(r message.Review) bool { return r.Code != "" || r.Done > 0 })
	})
	gametest.Eventually(t, "the searches for nobody to end", func() bool { all, _, _ := g.analyses.underWay("", ""); return all == 0 })
	dora.put(message.Request{T: "ping", N: 1})
	dora.until("a pong", func() bool { return len(dora.pongs) == 1 })
	for _, r := range dora.reviews {
		if known := slices.ContainsFunc(r.Plies, func(p *review.Position) bool { return p != nil && p.Best != "" }); known || r.Done > 0 {
			t.Errorf("the page was told %+v", r)
		}
	}
	if last := dora.reviews[len(dora.reviews)-1]; last.Code != protocol.Denied {
		t.Errorf("the page was told %+v last", last)
	}
	ann.want(message.Request{T: "resign", Game: rated})
	ann.state(rated, "the end", finished)
	gametest.Eventually(t, "the review after the rated game", func() bool { return dora.ask(message.Request{T: "review", Game: id}).Code == protocol.Accepted })
	dora.reviewed(id)
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
	why := func(p *socketPage, r message.Request, code protocol.Code) {
		t.Helper()
		if a := p.ask(r); a.Code != code || a.Reason != reasonTooMany {
			t.Errorf("%+v: %+v, want %s", r, a, code)
		}
	}
	ann.want(message.Request{T: "review", Game: games[0]})
	ann.want(message.Request{T: "review", Game: games[1]})
	why(ann, message.Request{T: "review", Game: games[2]}, protocol.RateLimited) // two at once
	why(bob, message.Request{T: "review", Game: games[3]}, protocol.CodeBusy)    // one waits already
	bob.want(message.Request{T: "review", Game: games[0]})                       // costs nothing
	close(o.hold)
	ann.reviewed(games[1])
	ann.want(message.Request{T: "review", Game: games[2]})
	ann.reviewed(games[2])
	why(ann, message.Request{T: "review", Game: games[3]}, protocol.RateLimited) // three an hour
	bob.want(message.Request{T: "review", Game: games[3]})
	bob.reviewed(games[3])

	for n := range 3 {
		inOrder(b)
		id := begin(t, ann, terms(t, "gomoku/freestyle-15", "300+2"))
		if n == 2 {
			why(ann, message.Request{T: "hint", Game: id, Level: 1}, protocol.RateLimited)
			break
		}
		ann.want(message.Request{T: "hint", Game: id, Level: 1})
	}
}

// A review that somebody looks at is not forgotten, however many there are.
func TestReviewsInUseAreKept(t *testing.T) {
	t.Parallel()
	srv, g := analysed(t, func(l *analysisLimits) { l.keptReviews = 1 })
	b := joinBot(t, srv, "hare", protocol.Hello{})
	evenOracle(t).join(srv, "gomoku")
	kept := func() (games []protocol.GameID) {
		g.analyses.mu.Lock()
		defer g.analyses.mu.Unlock()
		return slices.Clone(g.analyses.order)
	}
	ann := openPage(t, g, human("ann"))
	var games []protocol.GameID
	for range 3 {
		id, _ := shortGame(t, ann, b)
		games = append(games, id)
	}
	bob := openPage(t, g, human("bob"))
	for n, p := range []*socketPage{ann, bob} {
		p.want(message.Request{T: "review", Game: games[n]})
		p.reviewed(games[n])
	}
	if got := kept(); !slices.Equal(got, games[:2]) {
		t.Errorf("kept: %q, want those that two pages look at, %q", got, games[:2])
	}
	bob.want(message.Request{T: "try", Game: games[1], Move: "a15"})
	bob.until("the judgment of a move", func() bool { return len(bob.tried) == 1 })
	ann.close()
	gametest.Eventually(t, "her review to be left", func() bool { return g.analyses.allReviews()[0].unused() || g.analyses.allReviews()[1].unused() })
	bob.want(message.Request{T: "review", Game: games[2]})
	bob.reviewed(games[2])
	if got := kept(); !slices.Equal(got, games[1:]) {
		t.Errorf("kept: %q, want those that a page looks at, %q", got, games[1:])
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
	ann.want(message.Request{T: "review", Game: first})
	if a := bob.ask(message.Request{T: "review", Game: second}); a.Code != protocol.RateLimited || a.Reason != reasonTooMany {
		t.Errorf("%+v", a)
	}
	far.want(message.Request{T: "review", Game: second})
	close(o.hold)
	ann.reviewed(first)
	bob.want(message.Request{T: "review", Game: second})
	bob.reviewed(second)
}

func TestLimitAnalysis(t *testing.T) {
	for searches, reviews := range map[int]int{1: 1, 2: 1, 3: 1, 8: 4} {
		if l := limitAnalysis(searches, 0); l.searches != searches || l.reviews != reviews {
			t.Errorf("%d searches: %d reviews with %d", searches, l.reviews, l.searches)
		}
	}
	if l := limitAnalysis(0, 0); l != defaultAnalysisLimits {
		t.Errorf("the default is %+v", l)
	}
	if l := limitAnalysis(0, 9*time.Second); l.reviewTime != 9*time.Second || l.minSearch != 40*time.Millisecond || l.longest != 300*time.Millisecond {
		t.Errorf("in 9 s: %v, a search from %v to %v", l.reviewTime, l.minSearch, l.longest)
	}
}

// TestLimitsOfReviews: what the operator sets about reviews holds for them.
func TestLimitsOfReviews(t *testing.T) {
	h := startHouse(t, Config{Searches: 8, ReviewTime: 9 * time.Second})
	if got, want := h.hub.analyses.limits, limitAnalysis(8, 9*time.Second); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
