package web

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
	"sparring/record/review"
)

// analysisLimits bound what hints, reviews and tries may cost.
type analysisLimits struct {
	searches  int // of reviews at once, on all analysts together
	reviews   int // under way; others wait
	waiting   int // reviews that wait
	perPerson int // reviews of a person under way or waiting
	// perAddress bounds the reviews under way or waiting that one address asked for: a
	// school may have only one, but must leave places to others.
	perAddress int
	// How many a person may begin in an hour, and how many at once.
	hintsHourly, reviewsHourly, triesHourly, burst int

	reviewTime             time.Duration // for the searches of a review
	minSearch, longest     time.Duration // bounds of each of them
	hintTime, tryTime      time.Duration
	patience               time.Duration // how long a hint or a try waits for a free analyst
	retry                  time.Duration // how long a review waits for an analyst to come back
	linger                 time.Duration // a review goes on so long without a page
	progress               time.Duration // between two messages about a review
	keptReviews, keptMoves int
}

var defaultAnalysisLimits = analysisLimits{
	searches: 2, reviews: 1, waiting: 50, perPerson: 2, perAddress: 25,
	hintsHourly: 200, reviewsHourly: 20, triesHourly: 400, burst: 20,
	reviewTime: 45 * time.Second, minSearch: 200 * time.Millisecond, longest: 1500 * time.Millisecond,
	hintTime: 2 * time.Second, tryTime: time.Second, patience: 20 * time.Second, retry: 20 * time.Second,
	linger: 30 * time.Second, progress: time.Second, keptReviews: 200, keptMoves: 4000,
}

// limitAnalysis returns the limits with so many searches of reviews at once, and so much time
// for a review, to which the bounds of each search are in proportion; 0 is the default.
func limitAnalysis(searches int, reviewTime time.Duration) analysisLimits {
	l := defaultAnalysisLimits
	if reviewTime > 0 {
		share := float64(reviewTime) / float64(l.reviewTime)
		l.minSearch, l.longest = time.Duration(share*float64(l.minSearch)), time.Duration(share*float64(l.longest))
		l.reviewTime = reviewTime
	}
	if searches > 0 {
		l.searches, l.reviews = searches, max(1, searches/2)
	}
	return l
}

// analyses gives people what an engine knows: hints in casual games, reviews of
// finished ones. It decides who may ask for what, and keeps the results. A
// player of a rated or strict game gets nothing about games of that kind until
// it has ended: any position could be one of that game.
type analyses struct {
	hub    *hub
	limits analysisLimits
	search chan struct{}                          // has an element for each search of a review
	turn   chan struct{}                          // has an element for each review under way
	hourly map[string]*limiter[protocol.PlayerID] // by kind of request

	mu      sync.Mutex
	reviews map[protocol.GameID]*gameReview
	order   []protocol.GameID // of reviews, oldest first
	moves   *memory[moveKey, protocol.Analysis]
	asked   map[asking]context.CancelFunc // hints and tries under way
}

// asking is a hint or a try that a person waits for; there is one of each.
type asking struct {
	player protocol.PlayerID
	kind   string
}

// moveKey names a search whose result is kept: for a hint, or for a move that
// was tried.
type moveKey struct {
	game protocol.GameID
	ply  int
	key  string // of the position
	move string // tried; "" for a hint
}

func newAnalyses(h *hub, limits analysisLimits) *analyses {
	hourly := func(n int) *limiter[protocol.PlayerID] {
		return newLimiter[protocol.PlayerID](Rate{PerMinute: float64(n) / 60, Burst: min(limits.burst, n)})
	}
	a := &analyses{
		hub: h, limits: limits, search: make(chan struct{}, limits.searches), turn: make(chan struct{}, limits.reviews),
		hourly: map[string]*limiter[protocol.PlayerID]{
			"hint": hourly(limits.hintsHourly), "review": hourly(limits.reviewsHourly), "try": hourly(limits.triesHourly),
		},
		reviews: make(map[protocol.GameID]*gameReview),
		moves:   newMemory[moveKey, protocol.Analysis](limits.keptMoves), asked: make(map[asking]context.CancelFunc),
	}
	maps.Copy(h.requests, map[string]handler{
		"hint":   {serve: a.hint, pace: paceHints},
		"review": {serve: a.review},
		"try":    {serve: a.try, pace: paceHints},
		"cancel": {serve: a.cancel},
	})
	return a
}

// Reasons of refusals, which the page has sentences for.
const (
	reasonRated    = "rated"        // this game is rated or strict
	reasonPlaying  = "playing"      // the person plays a rated or strict game of this kind
	reasonSame     = "same"         // the position is that of a rated or strict game under way
	reasonRunning  = "not-finished" // a review of a running game
	reasonTurn     = "not-your-turn"
	reasonTooMany  = "too-many"
	reasonTooEarly = "no-review" // a move is tried in a position that was not reviewed
)

var tooManyAnalyses = message.Answer{Code: protocol.RateLimited, Reason: reasonTooMany, Text: "too many analyses in an hour"}

// helpless reports whether help is forbidden in a game.
func helpless(t protocol.Terms) bool { return t.Rated || t.Strict }

// mayLearn refuses analysis to a player of a rated or strict game of this kind.
func (a *analyses) mayLearn(p protocol.PlayerID, gameName string) (message.Answer, bool) {
	for _, e := range a.hub.arena.RunningOf(p) {
		if helpless(e.Terms) && e.Terms.Game == gameName {
			return message.Denied(reasonPlaying, "no analysis while you play a rated or strict game of this kind"), false
		}
	}
	return message.Answer{}, true
}

// openingPlies is for how long positions of different games are the same by nature.
const openingPlies = 10

// sameAsRated reports whether one of the positions, by their keys, stands in a rated
// or strict game under way: somebody may play it again in a casual game, also
// under other rules or from a start position, to ask for help.
func (a *analyses) sameAsRated(g protocol.GameID, gameName string, keys ...string) bool {
	for _, e := range a.hub.arena.Running() {
		if helpless(e.Terms) && e.Game != g && e.Terms.Game == gameName && len(e.Moves) >= openingPlies && slices.Contains(keys, e.Key) {
			return true
		}
	}
	return false
}

// hint looks for the best move in a person's casual game. The hint comes as a
// message of its own, as much of it as the level shows.
func (a *analyses) hint(ctx context.Context, t *tab, r message.Request) message.Answer {
	if r.Level < 1 || r.Level > 3 {
		return message.Refused(protocol.Malformed, "level: want 1 to 3")
	}
	s, err := a.hub.snapshot(ctx, r.Game)
	if err != nil {
		return notRead(err)
	}
	seat, plays := seatOf(&s, t.ID)
	switch {
	case !plays:
		return message.Refused(protocol.Denied, "this player has no seat in this game")
	case helpless(s.Terms):
		return message.Denied(reasonRated, "no hints in rated and strict games")
	case s.Status == protocol.Finished:
		return message.Refused(protocol.Over, "the game has ended")
	case s.Turn != seat:
		return message.Answer{Code: protocol.NotYourTurn, Reason: reasonTurn, Text: "the opponent is to move"}
	case len(s.Moves) != r.Ply:
		return message.Refused(protocol.Stale, "the position has changed")
	case a.sameAsRated(s.Game, s.Terms.Game, s.Key):
		return message.Denied(reasonSame, "this position stands in a rated or strict game under way")
	}
	if no, ok := a.mayLearn(t.ID, s.Terms.Game); !ok {
		return no
	}
	key := moveKey{game: s.Game, ply: r.Ply, key: s.Key}
	if known, ok := a.moves.get(key); ok {
		t.send("", hintOf(r, s.Terms, known))
		return message.Answer{Game: r.Game}
	}
	if bounded(a.hourly["hint"], t.ID) != nil {
		return tooManyAnalyses
	}
	a.ask(t.ID, "hint", func(ctx context.Context) {
		found, err := a.consult(ctx, s.Terms, protocol.AnalysisRequest{
			Rules: s.Terms.Rules, Position: s.Terms.Position, Moves: s.Moves, Purpose: protocol.ForHint,
			TimeMS: a.limits.hintTime.Milliseconds(),
		})
		if err != nil {
			if code := whyFailed(ctx, err); code != "" {
				t.send("", message.Hint{T: "hint", Game: r.Game, Ply: r.Ply, Level: r.Level, Code: code})
			}
			return
		}
		a.moves.put(key, found)
		t.send("", hintOf(r, s.Terms, found))
	})
	return message.Answer{Game: r.Game}
}

// errUnusable is returned for an analysis without a legal move.
var errUnusable = protocol.Refuse(protocol.Unavailable, "the analyst named no legal move")

// consult asks an analyst. It believes no move that the rules refuse: lines end
// before one, and a line without any is dropped.
func (a *analyses) consult(ctx context.Context, terms protocol.Terms, r protocol.AnalysisRequest) (protocol.Analysis, error) {
	found, err := a.hub.arena.Analyse(ctx, terms.Game, r, nil)
	if err != nil {
		return found, err
	}
	pos, err := setUp(terms, r.Moves)
	if err != nil {
		return found, err
	}
	var lines []protocol.AnalysisLine
	for _, l := range found.Lines {
		p, legal := pos.Clone(), 0
		for legal < len(l.Moves) {
			if m, err := p.Parse(l.Moves[legal]); err != nil || p.Format(m) != l.Moves[legal] || p.Play(m) != nil {
				break
			}
			legal++
		}
		if l.Moves = l.Moves[:legal]; legal > 0 {
			lines = append(lines, l)
		}
	}
	if found.Lines = lines; len(lines) == 0 {
		return found, errUnusable
	}
	return found, nil
}

// whyFailed returns the code of a failed analysis; "" if the person has cancelled it.
func whyFailed(ctx context.Context, err error) protocol.Code {
	var e *protocol.Error
	switch {
	case errors.Is(context.Cause(ctx), errLaterAsked), errors.Is(context.Cause(ctx), context.Canceled):
		return ""
	case errors.Is(err, nats.ErrNoResponders):
		return protocol.Unavailable
	case errors.As(err, &e):
		return e.Code
	}
	return protocol.CodeBusy
}

var errLaterAsked = errors.New("the person has asked for something else")

// ask runs a search for a person, instead of the one of the same kind under way.
func (a *analyses) ask(p protocol.PlayerID, kind string, f func(context.Context)) {
	a.hub.spawn(func(life context.Context) {
		limited, stop := context.WithTimeoutCause(life, a.limits.patience, errTooLong)
		defer stop()
		ctx, cancel := context.WithCancelCause(limited)
		defer cancel(nil)
		key := asking{p, kind}
		mine := func() { cancel(errLaterAsked) }
		a.mu.Lock()
		if before := a.asked[key]; before != nil {
			before()
		}
		a.asked[key] = mine
		a.mu.Unlock()
		f(ctx)
		a.mu.Lock()
		defer a.mu.Unlock()
		if ctx.Err() == nil || !errors.Is(context.Cause(ctx), errLaterAsked) {
			delete(a.asked, key) // no later one has taken its place
		}
	})
}

var errTooLong = errors.New("no analyst was free in time")

// cancel ends what the person asked for.
func (a *analyses) cancel(_ context.Context, t *tab, r message.Request) message.Answer {
	switch r.What {
	case "review":
		a.mu.Lock()
		v := a.reviews[r.Game]
		a.mu.Unlock()
		if v != nil {
			v.leave(t)
		}
	case "hint", "try":
		a.mu.Lock()
		if stop := a.asked[asking{t.ID, r.What}]; stop != nil {
			stop()
			delete(a.asked, asking{t.ID, r.What})
		}
		a.mu.Unlock()
	default:
		return message.Refused(protocol.Malformed, "what: want review, hint or try")
	}
	return message.Answer{}
}

// leave ends what a socket follows.
func (a *analyses) leave(t *tab) {
	for _, v := range a.allReviews() {
		v.leave(t)
	}
}

func (a *analyses) allReviews() []*gameReview {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(a.reviews))
}

// try judges a move that somebody tries instead of one that was played.
func (a *analyses) try(ctx context.Context, t *tab, r message.Request) message.Answer {
	a.mu.Lock()
	v := a.reviews[r.Game]
	a.mu.Unlock()
	if v == nil {
		return message.Answer{Code: protocol.NotOffered, Reason: reasonTooEarly, Text: "the game was not reviewed"}
	}
	if no, ok := a.mayLearn(t.ID, v.terms.Game); !ok {
		return no
	}
	if v.sameAsRated() {
		return sameNow
	}
	best, ok := v.best(r.Ply)
	if !ok {
		return message.Answer{Code: protocol.NotOffered, Reason: reasonTooEarly, Text: "this position was not reviewed"}
	}
	pos, err := v.position(r.Ply)
	if err != nil {
		return message.Refused(protocol.Unavailable, "the position can't be set up")
	}
	m, err := pos.Parse(r.Move)
	if err != nil {
		return message.Refused(protocol.Illegal, "the rules refuse this move")
	}
	move := pos.Format(m)
	tell := func(lost float64, reply []string) {
		t.send("", message.Tried{T: "tried", Game: r.Game, Ply: r.Ply, Move: move, Lost: lost, Class: review.ClassOf(lost), Reply: reply})
	}
	if move == best.move {
		tell(0, nil)
		return message.Answer{Game: r.Game}
	}
	after := pos.Clone()
	if err := after.Play(m); err != nil {
		return message.Refused(protocol.Illegal, "the rules refuse this move")
	}
	if a.sameAsRated(v.id, v.terms.Game, game.KeyText(after.Key())) { // the answer would be a move in that game
		return message.Denied(reasonSame, "the move leads to a position of a rated or strict game under way")
	}
	if out := after.Outcome(); out.Over() {
		tell(max(0, best.chance-review.ChanceOf(out, pos.Turn())), nil)
		return message.Answer{Game: r.Game}
	}
	key := moveKey{game: r.Game, ply: r.Ply, move: move}
	judge := func(found protocol.Analysis) {
		lost, line := review.LostBy(found, best.move, move)
		tell(lost, line)
	}
	if known, ok := a.moves.get(key); ok {
		judge(known)
		return message.Answer{Game: r.Game}
	}
	if bounded(a.hourly["try"], t.ID) != nil {
		return tooManyAnalyses
	}
	a.ask(t.ID, "try", func(ctx context.Context) {
		found, err := a.consult(ctx, v.terms, v.request(r.Ply, a.limits.tryTime, protocol.ForHint, []string{best.move, move}))
		if err != nil {
			if code := whyFailed(ctx, err); code != "" {
				t.send("", message.Tried{T: "tried", Game: r.Game, Ply: r.Ply, Move: move, Code: code})
			}
			return
		}
		a.moves.put(key, found)
		judge(found)
	})
	return message.Answer{Game: r.Game}
}

// memory keeps the latest results.
type memory[K comparable, V any] struct {
	most int

	mu    sync.Mutex
	known map[K]V
	order []K
}

func newMemory[K comparable, V any](most int) *memory[K, V] {
	return &memory[K, V]{most: most, known: make(map[K]V)}
}

func (m *memory[K, V]) get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[k]
	return v, ok
}

func (m *memory[K, V]) put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.known[k]; !ok {
		m.order = append(m.order, k)
	}
	m.known[k] = v
	if len(m.order) > m.most {
		delete(m.known, m.order[0])
		m.order = append([]K(nil), m.order[1:]...)
	}
}
