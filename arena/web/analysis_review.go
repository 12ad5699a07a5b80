package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
)

// review is the analysis of a finished game, for all who look at it. Its results
// stay when it has ended.
type review struct {
	desk   *analyses
	id     protocol.GameID
	by     protocol.PlayerID // who asked first
	from   string            // the address of who began the work under way
	terms  protocol.Terms
	moves  []string
	stages []reached // of each position, the start position first

	mu      sync.Mutex
	tabs    map[*tab]bool
	left    time.Time // when the last page left
	plies   []*Reviewed
	total   int // positions to analyse
	done    int
	running bool
	ended   bool // all is analysed
	code    protocol.Code
	changed bool // since the last message
}

// reached is what the rules say of a position of the game.
type reached struct {
	turn game.Seat
	out  game.Outcome // by the rules
	key  string       // of the position
}

// review shows the review of a finished game, and begins it if nobody has asked
// for it before.
func (a *analyses) review(ctx context.Context, t *tab, r Request) Answer {
	s, err := a.hub.snapshot(ctx, r.Game)
	if err != nil {
		return refused(protocol.NoGame, "no such game")
	}
	if s.Status != protocol.Finished || len(s.Moves) == 0 {
		return denied(reasonRunning, "only finished games are reviewed")
	}
	if no, ok := a.mayLearn(t.ID, s.Terms.Game); !ok {
		return no
	}
	v, no := a.openReview(t, s)
	if v == nil {
		return no
	}
	v.join(t)
	v.start(t.address)
	return Answer{Game: r.Game}
}

var sameNow = denied(reasonSame, "a position of this game stands in a rated or strict game under way")

// openReview returns the review of a game, a new one if there is none.
func (a *analyses) openReview(t *tab, s protocol.Snapshot) (*review, Answer) {
	a.mu.Lock()
	v := a.reviews[s.Game]
	a.mu.Unlock()
	if v != nil && a.sameAsRated(s.Game, s.Terms.Game, v.keys()...) {
		return nil, sameNow
	}
	if v != nil && v.alive() {
		return v, Answer{}
	}
	all, own, near := a.underWay(t.ID, t.address)
	if own >= a.limits.perPerson || near >= a.limits.perAddress {
		return nil, Answer{Code: protocol.RateLimited, Reason: reasonTooMany, Text: "too many reviews at once"}
	}
	if all >= a.limits.reviews+a.limits.waiting {
		return nil, Answer{Code: protocol.CodeBusy, Reason: reasonTooMany, Text: "too many reviews are waiting"}
	}
	if v == nil {
		var err error
		if v, err = newReview(a, s); err != nil {
			return nil, refused(protocol.Unavailable, "the game can't be set up")
		}
		v.by = t.ID
	}
	if a.sameAsRated(s.Game, s.Terms.Game, v.keys()...) {
		return nil, sameNow
	}
	if bounded(a.hourly["review"], t.ID) != nil {
		return nil, tooManyAnalyses
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if other := a.reviews[s.Game]; other != nil && other != v {
		return other, Answer{} // somebody was faster
	}
	if a.reviews[s.Game] == nil {
		a.reviews[s.Game] = v
		a.order = append(a.order, s.Game)
		a.forget()
	}
	return v, Answer{}
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

func newReview(a *analyses, s protocol.Snapshot) (*review, error) {
	pos, err := setUp(s.Terms, nil)
	if err != nil {
		return nil, err
	}
	v := &review{desk: a, id: s.Game, terms: s.Terms, moves: s.Moves, tabs: make(map[*tab]bool), left: time.Now(),
		plies: make([]*Reviewed, len(s.Moves)+1)}
	for i := 0; ; i++ {
		st := reached{pos.Turn(), pos.Outcome(), game.KeyText(pos.Key())}
		v.stages = append(v.stages, st)
		if !st.out.Over() {
			v.total++
		} else {
			c := chanceOf(st.out, game.First)
			v.plies[i] = &Reviewed{Turn: st.turn, Chance: &c}
		}
		if i == len(s.Moves) {
			return v, nil
		}
		if _, err := game.PlayText(pos, s.Moves[i]); err != nil {
			return nil, err
		}
	}
}

// keys returns the keys of the positions that the review analyses.
func (v *review) keys() (keys []string) {
	for _, st := range v.stages {
		if !st.out.Over() {
			keys = append(keys, st.key)
		}
	}
	return keys
}

func (v *review) alive() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.running || v.ended
}

func (v *review) unused() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.tabs) == 0 && !v.running
}

// join adds a page and shows it what there is.
func (v *review) join(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.ctx.Err() != nil {
		return // it has just left
	}
	v.tabs[t] = true
	if data, err := json.Marshal(v.message()); err == nil {
		t.put("review "+string(v.id), data)
	}
}

func (v *review) leave(t *tab) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.tabs[t] {
		delete(v.tabs, t)
		v.left = time.Now()
	}
}

// message returns the state of the review; v.mu is held.
func (v *review) message() Review {
	done := v.done
	if !v.ended {
		done = min(done, v.total-1) // some moves are still compared
	}
	return Review{T: "review", Game: v.id, Done: done, Total: v.total, Plies: v.plies, Code: v.code}
}

// start begins or resumes the work for a page at an address.
func (v *review) start(address string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running || v.ended {
		return
	}
	v.running, v.from, v.code, v.left = true, address, "", time.Now()
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
		v.running, v.from, v.ended, v.changed = false, "", err == nil, true
		if err != nil && ctx.Err() == nil {
			v.code = whyFailed(ctx, err)
		}
		v.mu.Unlock()
		close(worked)
		<-told
	})
}

// tellPages sends the progress to all pages, until the work has ended. It stops
// the work when there has been no page for a while.
func (v *review) tellPages(stop context.CancelFunc, worked <-chan struct{}) {
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
// rated or strict game.
func (v *review) tell() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.changed {
		return
	}
	v.changed = false
	data, err := json.Marshal(v.message())
	if err != nil {
		v.desk.hub.log.Error().Err(err).Msg("review not made")
		return
	}
	for t := range v.tabs {
		if _, ok := v.desk.mayLearn(t.ID, v.terms.Game); !ok {
			delete(v.tabs, t)
			v.left = time.Now()
			continue
		}
		t.put("review "+string(v.id), data)
	}
}

// work analyses what is missing, from the end of the game to its start: what the
// analysts learn from a position helps with the one before.
func (v *review) work(ctx context.Context) error {
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
				if err := v.analyse(ctx, ply); err != nil {
					cancel(err)
				}
			}
		})
	}
	for ply := len(v.plies) - 1; ply >= 0 && ctx.Err() == nil; ply-- {
		todo <- ply
	}
	close(todo)
	wg.Wait()
	return context.Cause(ctx)
}

// searchTime returns the time for a search. About a quarter of the moves are
// compared with the best one in a second search. Other reviews may be under way.
func (v *review) searchTime() time.Duration {
	l := &v.desk.limits
	each := l.reviewTime * time.Duration(l.searches/l.reviews) / time.Duration(v.total+v.total/4+1)
	return min(max(each, l.leastSearch), l.longest)
}

// analyse analyses a position, and judges the moves before and after it for which
// that was missing.
func (v *review) analyse(ctx context.Context, ply int) error {
	v.mu.Lock()
	known := v.plies[ply] != nil
	v.mu.Unlock()
	if !known {
		found, err := v.ask(ctx, v.request(ply, v.searchTime(), protocol.ForReview))
		if err != nil {
			return err
		}
		v.mu.Lock()
		v.plies[ply] = v.reviewed(ply, found)
		v.done++
		v.changed = true
		v.mu.Unlock()
	}
	for _, at := range []int{ply, ply - 1} {
		if err := v.judge(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// reviewLine is how many moves of the better line are shown.
const reviewLine = 10

// reviewed returns what an analysis says of a position.
func (v *review) reviewed(ply int, found protocol.Analysis) *Reviewed {
	line := found.Lines[0].Moves
	r := &Reviewed{Turn: v.stages[ply].turn, Depth: found.Depth, Best: line[0], Line: line[:min(len(line), reviewLine)]}
	if found.Chance != nil {
		c := *found.Chance
		if v.stages[ply].turn == game.Second {
			c = 1 - c
		}
		r.Chance = &c
	}
	return r
}

// judge finds what the move played in a position lost, once the positions before
// and after it are analysed. It does so once.
func (v *review) judge(ctx context.Context, ply int) error {
	if ply < 0 || ply >= len(v.moves) {
		return nil
	}
	v.mu.Lock()
	before, after := v.plies[ply], v.plies[ply+1]
	if before == nil || after == nil || before.judged || before.Chance == nil || after.Chance == nil {
		v.mu.Unlock()
		return nil
	}
	before.judged = true
	v.mu.Unlock()
	lost := *before.Chance - *after.Chance
	if v.stages[ply].turn == game.Second {
		lost = -lost
	}
	played := v.moves[ply]
	if before.Best == played {
		lost = 0
	}
	if lost >= suspect && !v.stages[ply+1].out.Over() {
		found, err := v.ask(ctx, v.comparison(ply, v.searchTime(), protocol.ForReview, before.Best, played))
		if err != nil {
			v.mu.Lock()
			before.judged = false
			v.mu.Unlock()
			return err
		}
		lost, _ = lostBy(found, before.Best, played)
	}
	lost = min(max(lost, 0), 1)
	v.mu.Lock()
	defer v.mu.Unlock()
	// Messages are made under the lock, so the entry can be changed.
	before.Lost, before.Class = lost, classOf(lost)
	v.changed = true
	return nil
}

// request returns the request to analyse a position of the game.
func (v *review) request(ply int, each time.Duration, p protocol.Purpose) protocol.AnalysisRequest {
	return protocol.AnalysisRequest{Rules: v.terms.Rules, Position: v.terms.Position, Moves: v.moves[:ply], TimeMS: each.Milliseconds(), Purpose: p}
}

// comparison returns the request to search two moves of a position, each as deep
// as the other.
func (v *review) comparison(ply int, each time.Duration, p protocol.Purpose, best, move string) protocol.AnalysisRequest {
	r := v.request(ply, each, p)
	r.Consider, r.Lines = []string{best, move}, 2
	return r
}

// ask sends a request when it may be searched. It waits for analysts that are
// being restarted.
func (v *review) ask(ctx context.Context, r protocol.AnalysisRequest) (protocol.Analysis, error) {
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
func (v *review) best(ply int) (preferred, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if ply >= len(v.moves) || v.plies[ply] == nil || v.plies[ply].Chance == nil || v.plies[ply].Best == "" {
		return preferred{}, false
	}
	p := preferred{v.plies[ply].Best, *v.plies[ply].Chance}
	if v.stages[ply].turn == game.Second {
		p.chance = 1 - p.chance
	}
	return p, true
}

func (v *review) position(ply int) (game.Position, error) { return setUp(v.terms, v.moves[:ply]) }
