package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// Policy scores moves: the score of a move is the sum of the values of its
// features, and the value of a feature the sum of its weights. The probability that
// a move is chosen is the softmax of the scores.
type Policy interface {
	// Names returns the names of the weights; all start at 0.
	Names() []string
	// Weights returns the indices of each feature's weights.
	Weights() [][]int32
	// Features returns the features of each move that the search considers at p,
	// and which of the moves is m. Ok is false where nothing can be learnt: m is
	// the only move, or not among them. Several goroutines call it at once.
	Features(p game.Position, m game.Move) (moves [][2]int32, chosen int, ok bool, err error)
}

// Choice is a position of the training set of a policy.
type Choice struct {
	Moves  [][2]int32 // features of each move
	Chosen int
	Held   bool // validation position
}

// Choices selects positions where a search chose a move, in an order that depends
// only on the games. S.Bound bounds the absolute score. The error names a game that
// cannot be replayed. Watch is called after each game, never concurrently.
func (g *Games) Choices(policy Policy, s Sampling, watch func(games int) error) ([]Choice, error) {
	return eachGame(g, s, watch, func(r *record.Record, rng *rand.Rand, held bool) (all []Choice, err error) {
		err = visit(r, s, rng, func(p game.Position, m game.Move, _ int) error {
			moves, chosen, ok, err := policy.Features(p, m)
			if ok {
				all = append(all, Choice{moves, chosen, held})
			}
			return err
		})
		return all, err
	})
}

// eachGame reads all games with GOMAXPROCS goroutines and returns what read finds
// in them, in the order of the games' digests.
func eachGame[T any](g *Games, s Sampling, watch func(games int) error, read func(r *record.Record, rng *rand.Rand, held bool) ([]T, error)) ([]T, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	digests := g.digests()
	byGame := make([][]T, len(digests))
	var watching sync.Mutex
	done := 0
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, digest := range digests {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			r := g.set[digest]
			rng := rand.New(rand.NewPCG(s.Seed, uint64(i)))
			held := s.HoldOut > 0 && rng.IntN(s.HoldOut) == 0
			var err error
			if byGame[i], err = read(r, rng, held); err != nil {
				return fmt.Errorf("game %.40q: %w", r.ID, err)
			}
			watching.Lock()
			defer watching.Unlock()
			done++
			return watch(done)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	n := 0
	for _, part := range byGame {
		n += len(part)
	}
	all := make([]T, 0, n)
	for _, part := range byGame {
		all = append(all, part...)
	}
	return all, nil
}

// visit replays a game and calls see at a random sample of the plies that qualify,
// before the move.
func visit(r *record.Record, s Sampling, rng *rand.Rand, see func(p game.Position, m game.Move, ply int) error) error {
	wanted := sampled(r, s, rng)
	p, err := catalog.Setup(r.Game, r.Rules, r.Position)
	if err != nil {
		return err
	}
	for ply, move := range r.Plies {
		m, err := p.Parse(move.Move)
		if err == nil && len(wanted) > 0 && wanted[0] == ply {
			wanted = wanted[1:]
			err = see(p, m, ply)
		}
		if err == nil {
			err = p.Play(m)
		}
		if err != nil {
			return fmt.Errorf("ply %d: %w", ply+1, err)
		}
	}
	return nil
}

// Accuracy is how well a policy predicts the chosen moves.
type Accuracy struct {
	Loss  float64 `json:"loss"`  // mean negative logarithm of the chosen move's probability
	First float64 `json:"first"` // share of positions where the chosen move is first
	Top5  float64 `json:"top5"`  // among the first five
}

// PolicyOptions configure a fit of a policy.
type PolicyOptions struct {
	Passes int     `json:"passes"`
	Rate   float64 `json:"rate"` // of Adam, in natural logarithms
	// Pull is the regularization toward 0: a weight of 1 costs as much as this
	// much loss in every position.
	Pull float64 `json:"pull"`
}

// Validate reports all options that are out of range.
func (o PolicyOptions) Validate() error {
	return Options{Passes: o.Passes, Rate: o.Rate, Pull: o.Pull, Scale: 1}.Validate()
}

// FitPolicy maximizes the likelihood of the chosen moves and returns the weights, in
// natural logarithms. Watch is called after each pass with the loss before it.
func FitPolicy(ctx context.Context, policy Policy, all []Choice, o PolicyOptions, watch func(pass int, loss float64) error) ([]float64, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	learnt := 0
	for _, c := range all {
		if !c.Held {
			learnt++
		}
	}
	if learnt == 0 {
		return nil, errors.New("no chosen moves to learn from")
	}
	features := policy.Weights()
	s := NewState(len(policy.Names()))
	gradient := make([]float64, len(s.Change))
	for s.Passes < o.Passes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		values := featureValues(features, s.Change)
		byFeature, loss := policyGradient(all, values)
		clear(gradient)
		for f, g := range byFeature {
			if g != 0 {
				for _, w := range features[f] {
					gradient[w] += g
				}
			}
		}
		for i := range gradient {
			gradient[i] = gradient[i]/float64(learnt) + 2*o.Pull*s.Change[i]
		}
		s.step(gradient, Options{Passes: o.Passes, Rate: o.Rate})
		if err := watch(s.Passes, loss/float64(learnt)); err != nil {
			return nil, err
		}
	}
	return s.Change, nil
}

func featureValues(features [][]int32, weights []float64) []float64 {
	values := make([]float64, len(features))
	for f, all := range features {
		for _, w := range all {
			values[f] += weights[w]
		}
	}
	return values
}

// policyGradient returns the gradient of the summed loss by feature, and the sum.
// Parts of a fixed size are summed in their order, so that the result does not
// depend on the number of processors.
func policyGradient(all []Choice, values []float64) ([]float64, float64) {
	const parts = 8
	var gradients [parts][]float64
	var losses [parts]float64
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for part := range parts {
		group.Go(func() error {
			gradient := make([]float64, len(values))
			var scores []float64
			for _, c := range all[len(all)*part/parts : len(all)*(part+1)/parts] {
				if c.Held {
					continue
				}
				sum := 0.0
				scores = scores[:0]
				for _, f := range c.Moves {
					e := math.Exp(values[f[0]] + values[f[1]])
					scores = append(scores, e)
					sum += e
				}
				for i, f := range c.Moves {
					p := scores[i] / sum
					gradient[f[0]] += p
					gradient[f[1]] += p
				}
				chosen := c.Moves[c.Chosen]
				gradient[chosen[0]]--
				gradient[chosen[1]]--
				losses[part] -= math.Log(scores[c.Chosen] / sum)
			}
			gradients[part] = gradient
			return nil
		})
	}
	group.Wait() //nolint:errcheck // no part fails
	total, loss := gradients[0], losses[0]
	for part := 1; part < parts; part++ {
		for f, g := range gradients[part] {
			total[f] += g
		}
		loss += losses[part]
	}
	return total, loss
}

// Measure returns how well weights predict the positions that are held out, or the
// others. Of moves with equal scores the first counts as better.
func Measure(policy Policy, all []Choice, weights []float64, held bool) (a Accuracy) {
	values := featureValues(policy.Weights(), weights)
	n := 0.0
	for _, c := range all {
		if c.Held != held {
			continue
		}
		n++
		f := c.Moves[c.Chosen]
		own, sum, before := values[f[0]]+values[f[1]], 0.0, 0
		for i, f := range c.Moves {
			v := values[f[0]] + values[f[1]]
			sum += math.Exp(v)
			if v > own || v == own && i < c.Chosen {
				before++
			}
		}
		a.Loss += math.Log(sum) - own
		if before == 0 {
			a.First++
		}
		if before < 5 {
			a.Top5++
		}
	}
	if n > 0 {
		a.Loss, a.First, a.Top5 = a.Loss/n, a.First/n, a.Top5/n
	}
	return a
}
