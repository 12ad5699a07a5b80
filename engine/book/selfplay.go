package book

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// SelfPlay plays games for a book: one engine plays both seats, at first with moves
// chosen at random from the better ones. A game depends only on its number and
// these settings.
type SelfPlay struct {
	Rules string
	Nodes uint64 // a move
	Seed  uint64
	// Openings are moves with which games begin, from the usual start: game n with
	// opening n, counted from 1, and after the last with the first again. Nil: with none.
	Openings [][]string
	// In the first Plies plies after the opening a move is chosen at random from the
	// best Lines moves. One whose winning chance is lower by d than the best has
	// e^(-d/Spread) times its weight. These searches have Explore times the nodes
	// and are done once for each position.
	Plies   int
	Lines   int
	Spread  float64
	Explore uint64
	Hash    int // bytes of hash table

	engine *engine.Engine
	fresh  engine.Game // searches each position as if it were the first
	rules  *game.Rules
	known  map[uint64][]search.Info // the lines of opening positions, by key
}

// A game is adjudicated as won if the winning chance of one side was at least
// adjudicateChance for adjudicatePlies plies, and as drawn after maxPlies plies.
const (
	adjudicateChance = 0.985
	adjudicatePlies  = 6
	maxPlies         = 250
)

// Start checks the settings. The error lists everything that is wrong with them.
func (s *SelfPlay) Start() error {
	r, err := catalog.Rules(s.Rules)
	if err != nil {
		return err
	}
	if s.Nodes == 0 || s.Explore == 0 || s.Plies < 0 || s.Lines < 1 || !(s.Spread > 0) {
		err = errors.New("self-play: nodes, explore, lines and spread must be positive, plies not negative")
	}
	p, err2 := r.New("")
	if err2 == nil && opening.Running(p) {
		err2 = fmt.Errorf("self-play: games of %s begin with an opening procedure; use %s", r.Name, Family(r.Name))
	}
	e, err3 := engine.New(r.Game, engine.Options{HashBytes: s.Hash})
	if err = errors.Join(err, err2, err3); err != nil {
		return err
	}
	if s.fresh, err = e.NewGame(engine.GameOptions{Rules: r, Reproducible: true}); err != nil {
		return err
	}
	for _, moves := range s.Openings {
		p, err := game.Replay(r, "", moves)
		if err == nil && p.Outcome().Over() {
			err = game.ErrOver
		}
		if err != nil {
			return fmt.Errorf("self-play: opening %s: %w", strings.Join(moves, " "), err)
		}
	}
	s.rules, s.engine, s.known = r, e, map[uint64][]search.Info{}
	return nil
}

// Play plays game number n. Call Start first. The outcome's reason is "" if the
// game was adjudicated. The error is ctx's, or says why the engine failed.
func (s *SelfPlay) Play(ctx context.Context, n int) (Game, game.Outcome, error) {
	g := Game{ID: fmt.Sprintf("%x-%d", s.Seed, n), Rules: s.rules.Name}
	p, err := s.rules.New("")
	if err != nil {
		return g, game.Outcome{}, err
	}
	if len(s.Openings) > 0 {
		g.Moves = slices.Clone(s.Openings[(n-1)%len(s.Openings)])
		if p, err = game.Replay(s.rules, "", g.Moves); err != nil {
			return g, game.Outcome{}, err
		}
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(n)))
	end := len(g.Moves) + s.Plies
	for len(g.Moves) < end && !p.Outcome().Over() {
		m, err := s.draw(ctx, p, rng)
		if err == nil {
			err = g.add(p, m)
		}
		if err != nil {
			return g, game.Outcome{}, err
		}
	}
	out, err := s.finish(ctx, p, &g)
	g.Result = out.Result
	return g, out, err
}

// add plays a move and appends it.
func (g *Game) add(p game.Position, m game.Move) error {
	g.Moves = append(g.Moves, p.Format(m))
	return p.Play(m)
}

// draw chooses a random move of the opening.
func (s *SelfPlay) draw(ctx context.Context, p game.Position, rng *rand.Rand) (game.Move, error) {
	lines, err := s.lines(ctx, p)
	if err != nil {
		return game.NoMove, err
	}
	best, sum := 0.0, 0.0
	for _, l := range lines {
		best = max(best, l.WinProb)
	}
	weights := make([]float64, len(lines))
	for i, l := range lines {
		weights[i] = math.Exp((l.WinProb - best) / s.Spread)
		sum += weights[i]
	}
	at := rng.Float64() * sum
	for i, w := range weights {
		if at -= w; at < 0 {
			return lines[i].PV[0], nil
		}
	}
	return lines[len(lines)-1].PV[0], nil // rounding
}

// lines returns the best lines of an opening position: at least one, and no two
// whose first moves are equal or images of each other.
func (s *SelfPlay) lines(ctx context.Context, p game.Position) ([]search.Info, error) {
	if lines, known := s.known[p.Key()]; known {
		return lines, nil
	}
	r, err := find(ctx, s.fresh, p, search.Limits{Nodes: s.Nodes * s.Explore, MultiPV: s.Lines})
	if err != nil {
		return nil, err
	}
	at := spotOf(p)
	var lines []search.Info
	var taken []game.Move
	// An interrupted iteration may have found a new line for a move that has an
	// older one; the newest comes first.
	for _, l := range append(r.Lines, search.Info{PV: []game.Move{r.Move}, WinProb: r.WinProb}) {
		if len(l.PV) > 0 && !slices.Contains(taken, at.fold(l.PV[0])) {
			lines, taken = append(lines, l), append(taken, at.fold(l.PV[0]))
		}
	}
	s.known[p.Key()] = lines
	return lines, nil
}

// finish plays the game to its end.
func (s *SelfPlay) finish(ctx context.Context, p game.Position, g *Game) (game.Outcome, error) {
	own, err := s.engine.NewGame(engine.GameOptions{ID: g.ID, Rules: s.rules, OwnTable: true})
	if err != nil {
		return game.Outcome{}, err
	}
	defer own.Close()
	leader, decided := game.First, 0
	for !p.Outcome().Over() {
		if p.Ply() >= maxPlies {
			return game.Outcome{Result: game.Draw}, nil
		}
		r, err := find(ctx, own, p, search.Limits{Nodes: s.Nodes})
		if err != nil {
			return game.Outcome{}, err
		}
		ahead := p.Turn()
		if r.WinProb < 0.5 {
			ahead = ahead.Other()
		}
		if ahead != leader || max(r.WinProb, 1-r.WinProb) < adjudicateChance {
			leader, decided = ahead, 0
		} else if decided++; decided == adjudicatePlies {
			return game.Outcome{Result: game.WonBy(leader)}, nil
		}
		if err := g.add(p, r.Move); err != nil {
			return game.Outcome{}, err
		}
	}
	return p.Outcome(), nil
}

// find searches a position and waits for the result.
func find(ctx context.Context, g engine.Game, p game.Position, l search.Limits) (search.Result, error) {
	run, err := g.Search(p, l, nil)
	if err != nil {
		return search.Result{}, err
	}
	select {
	case <-run.Done():
	case <-ctx.Done():
		run.Stop()
		return search.Result{}, ctx.Err()
	}
	r := run.Wait()
	return r, r.Err
}
