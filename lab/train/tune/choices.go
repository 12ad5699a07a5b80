package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"sparring/engine/adapter"
	"sparring/engine/opening"
	"sparring/game"
	"sparring/game/catalog"
)

// Policy scores moves by their features, see adapter.Choice. The probability that a
// move is chosen is the softmax of the scores.
type Policy interface {
	// Names returns the names of the weights, Start the values from which the fit starts,
	// in 1024ths of a natural logarithm.
	Names() []string
	Start() []float64
	// Fits reports whether the weights are for games under the rules.
	Fits(rules *game.Rules) bool
	// Features returns the terms of the features that all positions share.
	Features() [][]adapter.Term
	// Choice returns the features of each move that the search considers at p, and
	// which of the moves is m. Ok is false where nothing can be learnt: m is the only
	// move, or not among them. Several goroutines call it at once.
	Choice(p game.Position, m game.Move) (c adapter.Choice, ok bool, err error)
}

// Choice is a position of the training set of a policy.
type Choice struct {
	adapter.Choice
	Held bool // validation position
}

// Choices selects positions where a search chose a move, in an order that depends
// only on the games. S.Bound bounds the absolute score. The error names a game that
// cannot be replayed. Watch is called after each game, never concurrently.
func (g *Games) Choices(policy Policy, s Sampling, watch func(games int) error) ([]Choice, error) {
	return Each(g, s, watch, func(p game.Position, m game.Move, l Label) (Choice, bool, error) {
		c, ok, err := policy.Choice(p, m)
		return Choice{c, l.Held}, ok, err
	})
}

// eachGame reads all games with GOMAXPROCS goroutines and returns what read finds
// in them, in the order of the games' digests.
func eachGame[T any](g *Games, s Sampling, watch func(games int) error, read func(t *training, rng *rand.Rand, held bool) ([]T, error)) ([]T, error) {
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
			t := g.set[digest]
			rng := rand.New(rand.NewPCG(s.Seed, uint64(i)))
			held := s.HoldOut > 0 && rng.IntN(s.HoldOut) == 0
			var err error
			if byGame[i], err = read(t, rng, held); err != nil {
				return fmt.Errorf("game %.40q: %w", t.id, err)
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
// before the move. Those of an opening procedure teach nothing: no search of the position
// decides them.
func visit(t *training, s Sampling, rng *rand.Rand, see func(p game.Position, m game.Move, ply int) error) error {
	wanted := sampled(t, s, rng)
	p, err := catalog.Setup(t.game, t.rules, t.position)
	if err != nil {
		return err
	}
	for ply, move := range strings.Fields(t.moves) {
		game.PlayOn(p) // the arbiter did not end the game there
		m, err := p.Parse(move)
		if err == nil && len(wanted) > 0 && wanted[0] == ply {
			if wanted = wanted[1:]; !opening.Running(p) {
				err = see(p, m, ply)
			}
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
	// Pull is the regularization toward the start: a weight that is 1 away from it costs as
	// much as this much loss in every position.
	Pull float64 `json:"pull"`
}

// Validate reports all options that are out of range.
func (o PolicyOptions) Validate() error {
	return Options{Passes: o.Passes, Rate: o.Rate, Pull: o.Pull, Scale: 1}.Validate()
}

// startOf returns the weights from which a fit of a policy starts, in natural logarithms.
func startOf(policy Policy) []float64 {
	start := slices.Clone(policy.Start())
	for i := range start {
		start[i] /= PolicyUnit
	}
	return start
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
	features, start := policy.Features(), startOf(policy)
	s := NewState(len(start))
	weights, gradient := slices.Clone(start), make([]float64, len(start))
	for s.Passes < o.Passes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		loss := policyGradient(all, features, weights, gradient)
		for i := range gradient {
			gradient[i] = gradient[i]/float64(learnt) + 2*o.Pull*s.Change[i]
		}
		s.step(gradient, Options{Passes: o.Passes, Rate: o.Rate})
		for i, change := range s.Change {
			weights[i] = start[i] + change
		}
		if err := watch(s.Passes, loss/float64(learnt)); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// appendValues appends the values of features.
func appendValues(values []float64, features [][]adapter.Term, weights []float64) []float64 {
	for _, terms := range features {
		v := 0.0
		for _, t := range terms {
			v += float64(t.By) * weights[t.Weight]
		}
		values = append(values, v)
	}
	return values
}

// addGradient adds the gradient by weight that follows from one by feature.
func addGradient(gradient []float64, features [][]adapter.Term, byFeature []float64) {
	for f, terms := range features {
		if g := byFeature[f]; g != 0 {
			for _, t := range terms {
				gradient[t.Weight] += float64(t.By) * g
			}
		}
	}
}

// score adds up the values of a move's features.
func score(c *Choice, move int, values []float64) (sum float64) {
	for _, f := range c.Move(move) {
		sum += values[f]
	}
	return sum
}

// policyGradient stores the gradient of the summed loss and returns the sum. Parts
// of a fixed size are summed in their order, so that the result does not depend on
// the number of processors.
func policyGradient(all []Choice, features [][]adapter.Term, weights, gradient []float64) (loss float64) {
	const parts = 8
	shared := appendValues(nil, features, weights)
	var sums [parts]lossSum
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for part := range parts {
		group.Go(func() error {
			s := lossSum{values: slices.Clone(shared), slopes: make([]float64, len(shared)), gradient: make([]float64, len(weights))}
			for i := len(all) * part / parts; i < len(all)*(part+1)/parts; i++ {
				if c := &all[i]; !c.Held {
					s.add(c, weights)
				}
			}
			sums[part] = s
			return nil
		})
	}
	group.Wait() //nolint:errcheck // no part fails
	for part := range sums {
		loss += sums[part].loss
		if part > 0 {
			for f, g := range sums[part].slopes {
				sums[0].slopes[f] += g
			}
		}
	}
	clear(gradient)
	addGradient(gradient, features, sums[0].slopes)
	for part := range sums {
		for w, g := range sums[part].gradient {
			gradient[w] += g
		}
	}
	return loss
}

// lossSum is the loss of some choices, summed up, and its derivatives.
type lossSum struct {
	loss     float64
	values   []float64 // of the shared features
	slopes   []float64 // derivatives by the values of the shared features
	gradient []float64 // derivatives by the weights, through the features of single choices

	scores []float64 // room for add
}

// add adds a choice: the loss is the negative logarithm of the softmax at the chosen
// move.
func (s *lossSum) add(c *Choice, weights []float64) {
	shared := len(s.slopes)
	values := appendValues(s.values, c.Features, weights)
	slopes := append(s.slopes, make([]float64, len(c.Features))...)
	sum := 0.0
	s.scores = s.scores[:0]
	for m := range c.Len() {
		e := math.Exp(score(c, m, values))
		s.scores = append(s.scores, e)
		sum += e
	}
	for m, e := range s.scores {
		for _, f := range c.Move(m) {
			slopes[f] += e / sum
		}
	}
	for _, f := range c.Move(c.Chosen) {
		slopes[f]--
	}
	addGradient(s.gradient, c.Features, slopes[shared:])
	s.loss -= math.Log(s.scores[c.Chosen] / sum)
	s.values, s.slopes = values[:shared], slopes[:shared]
}

// Measure returns how well weights predict the positions that are held out, or the
// others. Of moves with equal scores the first counts as better.
func Measure(policy Policy, all []Choice, weights []float64, held bool) (a Accuracy) {
	values := appendValues(nil, policy.Features(), weights)
	shared := len(values)
	n := 0.0
	for i := range all {
		c := &all[i]
		if c.Held != held {
			continue
		}
		n++
		values = appendValues(values[:shared], c.Features, weights)
		own, sum, before := score(c, c.Chosen, values), 0.0, 0
		for m := range c.Len() {
			v := score(c, m, values)
			sum += math.Exp(v)
			if v > own || v == own && m < c.Chosen {
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
