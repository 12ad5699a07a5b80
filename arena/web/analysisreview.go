package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
	"sparring/record/review"
)

// gameReview is the review of a finished game, for all who look at it. Its results
// stay when it has ended.
type gameReview struct {
	desk  *analyses
	id    protocol.GameID
	by    protocol.PlayerID // who began the work under way
	from  string            // the address from which
	terms protocol.Terms
	game  *review.Game

	mu      sync.Mutex
	tabs    map[*tab]bool
	left    time.Time // when the last page left
	running bool
	ended   bool // all is analysed
	code    protocol.Code
	changed bool // since the last message, besides the results
	told    int  // changes of the results that the last message had
}

// review shows the review of a finished game, and begins it if nobody has asked
// for it before.
func (a *analyses) review(ctx context.Context, t *tab, r message.Request) message.Answer {
	s, err := a.hub.snapshot(ctx, r.Game)
	if err != nil {
		return notRead(err)
	}
	if s.Status != protocol.Finished || len(s.Moves) == 0 {
		return message.Denied(reasonRunning, "only finished games are reviewed")
	}
	if no, ok := a.mayLearn(t.ID, s.Terms.Game); !ok {
		return no
	}
	v, no := a.openReview(t, s)
	if v == nil {
		return no
	}
	v.show(t)
	v.start(t)
	return message.Answer{Game: r.Game}
}

var sameNow = message.Denied(reasonSame, "a position of this game stands in a rated or strict game under way")

// sameAsRated reports whether a position of the game stands in a rated or strict game
// under way.
func (v *gameReview) sameAsRated() bool {
	return v.desk.sameAsRated(v.id, v.terms.Game, v.game.Keys()...)
}

// openReview returns the review of a game, a new one if there is none, which the page
// has joined.
func (a *analyses) openReview(t *tab, s protocol.Snapshot) (*gameReview, message.Answer) {
	a.mu.Lock()
	v := a.reviews[s.Game]
	a.mu.Unlock()
	if v != nil && v.sameAsRated() {
		return nil, sameNow
	}
	if v != nil && v.alive() {
		return a.keep(v, t), message.Answer{}
	}
	all, own, near := a.underWay(t.ID, t.address)
	if own >= a.limits.perPerson || near >= a.limits.perAddress {
		return nil, message.Answer{Code: protocol.RateLimited, Reason: reasonTooMany, Text: "too many reviews at once"}
	}
	if all >= a.limits.reviews+a.limits.waiting {
		return nil, message.Answer{Code: protocol.CodeBusy, Reason: reasonTooMany, Text: "too many reviews are waiting"}
	}
	if v == nil {
		var err error
		if v, err = newReview(a, s); err != nil {
			return nil, message.Refused(protocol.Unavailable, "the game can't be set up")
		}
	}
	if v.sameAsRated() {
		return nil, sameNow
	}
	if bounded(a.hourly["review"], t.ID) != nil {
		return nil, tooManyAnalyses
	}
	return a.keep(v, t), message.Answer{}
}

// keep makes a page join a review before that could be forgotten, as one that nobody looks
// at. It returns the review that there is of the game, if somebody was faster.
func (a *analyses) keep(v *gameReview, t *tab) *gameReview {
	a.mu.Lock()
	defer a.mu.Unlock()
	if there := a.reviews[v.id]; there != nil {
		v = there
	} else {
		a.reviews[v.id] = v
		a.order = append(a.order, v.id)
	}
	v.join(t)
	a.forget()
	return v
}

// forget drops the oldest reviews that nobody looks at; a.mu is held.
func (a *analyses) forget() {
	a.order = slices.DeleteFunc(a.order, func(g protocol.GameID) bool {
		if len(a.reviews) <= a.limits.keptReviews || !a.reviews[g].unused() {
			return false
		}
		delete(a.reviews, g)
		return true
	})
}

// underWay counts the reviews that are worked on or wait, those that a person
// began, and those that an address did.
func (a *analyses) underWay(p protocol.PlayerID, address string) (all, own, near int) {
	for _, v := range a.allReviews() {
		v.mu.Lock()
		if v.running {
			all++
			if v.by == p {
				own++
			}
			if v.from == address {
				near++
			}
		}
		v.mu.Unlock()
	}
	return all, own, near
}

func newReview(a *analyses, s protocol.Snapshot) (*gameReview, error) {
	pos, err := setUp(s.Terms, nil)
	if err != nil {
		return nil, err
	}
	g, err := review.New(pos, s.Moves)
	if err != nil {
		return nil, err
	}
	return &gameReview{desk: a, id: s.Game, terms: s.Terms, game: g, tabs: make(map[*tab]bool), left: time.Now()}, nil
}

func (v *gameReview) alive() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running || v.ended
}

func (v *gameReview) unused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.tabs) == 0 && !v.running
}

// join adds a page.
func (v *gameReview) join(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.ctx.Err() == nil { // else it has just left
		v.tabs[t] = true
	}
}

// show shows a page what there is.
func (v *gameReview) show(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if data, err := json.Marshal(v.message()); err == nil {
		t.put("review "+string(v.id), data)
	}
}

func (v *gameReview) leave(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tabs[t] {
		delete(v.tabs, t)
		v.left = time.Now()
	}
}

// message returns the state of the review; v.mu is held.
func (v *gameReview) message() message.Review {
	done, total := v.game.Progress()
	if !v.ended {
		done = min(done, total-1) // some moves are still compared
	}
	return message.Review{T: "review", Game: v.id, Done: done, Total: total, Plies: v.game.Positions(), Code: v.code}
}

// start begins or resumes the work for a page.
func (v *gameReview) start(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running || v.ended {
		return
	}
	v.running, v.by, v.from, v.code, v.left = true, t.ID, t.address, "", time.Now()
	v.desk.hub.spawn(func(life context.Context) {
		ctx, stop := context.WithCancel(life)
		defer stop()
		told := make(chan struct{})
		worked := make(chan struct{})
		go func() {
			defer close(told)
			v.tellPages(stop, worked)
		}()
		err := v.work(ctx)
		v.mu.Lock()
		v.running, v.ended, v.changed = false, err == nil, true
		if err != nil && ctx.Err() == nil {
			v.code = whyFailed(ctx, err)
		}
		var missed *tab // that came when the work was being stopped, since there had been no page
		for t := range v.tabs {
			if err != nil && ctx.Err() != nil {
				missed = t
			}
		}
		v.mu.Unlock()
		close(worked)
		<-told
		if missed != nil {
			v.start(missed)
		}
	})
}

// tellPages sends the progress to all pages, until the work has ended. It stops
// the work when there has been no page for a while.
func (v *gameReview) tellPages(stop context.CancelFunc, worked <-chan struct{}) {
	tick := time.NewTicker(v.desk.limits.progress)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.tell()
			v.mu.Lock()
			deserted := len(v.tabs) == 0 && time.Since(v.left) > v.desk.limits.linger
			v.mu.Unlock()
			if deserted {
				stop()
			}
		case <-worked:
			v.tell()
			return
		}
	}
}

// tell sends what has changed to all pages, but not to a person who has begun a
// rated or strict game, and to nobody once such a game has come to a position of
// this one: the pages are told that the review is broken off, and may ask again.
func (v *gameReview) tell() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.game.Changes()
	if !v.changed && now == v.told {
		return
	}
	v.changed, v.told = false, now
	m, same := v.message(), v.sameAsRated()
	if same {
		m.Done, m.Plies, m.Code = 0, []*review.Position{}, sameNow.Code
	}
	data, err := json.Marshal(m)
	if err != nil {
		v.desk.hub.log.Error().Err(err).Str("of", "review").Msg("message not made")
		return
	}
	for t := range v.tabs {
		_, ok := v.desk.mayLearn(t.ID, v.terms.Game)
		if same || !ok {
			delete(v.tabs, t)
			v.left = time.Now()
		}
		if !ok {
			continue
		}
		t.put("review "+string(v.id), data)
	}
}

// work analyses what is missing.
func (v *gameReview) work(ctx context.Context) error {
	select {
	case v.desk.turn <- struct{}{}:
		defer func() { <-v.desk.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan int)
	var wg sync.WaitGroup
	for range v.desk.limits.searches {
		wg.Go(func() {
			for ply := range todo {
				if err := v.game.Analyse(ctx, ply, v.search); err != nil {
					cancel(err)
				}
			}
		})
	}
	v.game.Each(func(ply int) bool {
		todo <- ply
		return ctx.Err() == nil
	})
	close(todo)
	wg.Wait()
	return context.Cause(ctx)
}

// searchTime returns the time for a search. About a quarter of the moves are
// compared with the best one in a second search. Other reviews may be under way.
func (v *gameReview) searchTime() time.Duration {
	l := &v.desk.limits
	_, total := v.game.Progress()
	each := l.reviewTime * time.Duration(l.searches/l.reviews) / time.Duration(total+total/4+1)
	return min(max(each, l.minSearch), l.longest)
}

// search is a search of the review.
func (v *gameReview) search(ctx context.Context, ply int, consider []string) (protocol.Analysis, error) {
	return v.ask(ctx, v.request(ply, v.searchTime(), protocol.ForReview, consider))
}

// request returns the request to analyse a position of the game, or to search some
// of its moves, each as deep as the other.
func (v *gameReview) request(ply int, each time.Duration, p protocol.Purpose, consider []string) protocol.AnalysisRequest {
	return protocol.AnalysisRequest{Rules: v.terms.Rules, Position: v.terms.Position, Moves: v.game.Moves()[:ply], TimeMS: each.Milliseconds(),
		Purpose: p, Consider: consider, Lines: len(consider)}
}

// ask sends a request when it may be searched. It waits for analysts that are
// being restarted.
func (v *gameReview) ask(ctx context.Context, r protocol.AnalysisRequest) (protocol.Analysis, error) {
	select {
	case v.desk.search <- struct{}{}:
		defer func() { <-v.desk.search }()
	case <-ctx.Done():
		return protocol.Analysis{}, context.Cause(ctx)
	}
	for began := time.Now(); ; {
		if ctx.Err() != nil {
			return protocol.Analysis{}, context.Cause(ctx)
		}
		found, err := v.desk.consult(ctx, v.terms, r)
		if err == nil || !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, protocol.ErrAnalystLost) || time.Since(began) > v.desk.limits.retry {
			return found, err
		}
		select {
		case <-ctx.Done():
			return found, context.Cause(ctx)
		case <-time.After(v.desk.limits.retry / 40):
		}
	}
}

// preferred is the move that the analysis of a position prefers.
type preferred struct {
	move   string
	chance float64 // of the seat to act
}

// best returns the preferred move of a position.
func (v *gameReview) best(ply int) (preferred, bool) {
	all := v.game.Positions()
	if ply >= len(v.game.Moves()) || all[ply] == nil || all[ply].Best == "" {
		return preferred{}, false
	}
	chance, ok := all[ply].Mover()
	return preferred{all[ply].Best, chance}, ok
}

func (v *gameReview) position(ply int) (game.Position, error) {
	return setUp(v.terms, v.game.Moves()[:ply])
}
