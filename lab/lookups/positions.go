package lookups

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"sparring/engine/gomoku"
	"sparring/game/catalog"
	rules "sparring/game/gomoku"
	"sparring/lab/trees"
)

// Scale is the score that wins 73 % of the games: errors are of winning probabilities.
const Scale = 313

// MostScore is what proven wins count.
const MostScore = 4000

// Positions are labelled positions, packed: some 100 bytes each.
type Positions struct {
	Inputs []trees.Terms // the first lines of the files
	Digest string        // of the positions and their labels, in order
	Trees  int
	// Left counts those where the end is settled or a five must be stopped.
	Left int

	all    []position
	stones []stone // of one position after the other
}

// Len returns the number of positions.
func (p *Positions) Len() int { return len(p.all) }

// position is a labelled position.
type position struct {
	first          uint32 // its first stone
	stones         uint16
	size           uint8
	toMove         rules.Colour
	held           bool    // left out of the fit
	linear, target float32 // the evaluation without a network, in Scale, and the winning probability
}

// stone is a point and, in the lowest bit, the colour.
type stone uint16

// chance returns the winning probability that an evaluation in units of Scale stands
// for.
func chance(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// Load reads files of labelled trees for a class of rules. One of every holdOut trees
// is left out of the fit, drawn by the seed; 0: none. Watch is called now and then with
// the number of positions read. The error names the file and the tree.
func Load(ctx context.Context, class string, holdOut int, seed uint64, paths []string, watch func(positions int)) (*Positions, error) {
	linear, err := gomoku.NewLinear(class, nil)
	if err != nil {
		return nil, err
	}
	p, digest := &Positions{}, sha256.New()
	for _, path := range paths {
		var batch []trees.Tree
		flush := func() error {
			err := p.add(ctx, linear, holdOut, seed, batch)
			if err != nil {
				return err
			}
			batch = batch[:0]
			watch(p.Len())
			return nil
		}
		var failed error
		terms, err := trees.Read(path, func(t trees.Tree) error {
			for _, l := range t.Positions {
				fmt.Fprintf(digest, "%s %s %d\n", t.Rules, l.Text, l.Score)
			}
			fmt.Fprintln(digest)
			if batch = append(batch, t); len(batch) < batchTrees {
				return nil
			}
			failed = flush()
			return failed
		})
		if err == nil {
			failed = flush()
		}
		if failed != nil { // the tree counts, not the line that was being read
			err = fmt.Errorf("trees: %s: %w", path, failed)
		}
		if err == nil && terms.Game != rules.Name {
			err = fmt.Errorf("trees: %s: of %s, want %s", path, terms.Game, rules.Name)
		}
		if err != nil {
			return nil, err
		}
		p.Inputs = append(p.Inputs, terms)
	}
	p.Digest = hex.EncodeToString(digest.Sum(nil)[:16])
	if p.Len() == 0 {
		return nil, fmt.Errorf("no positions to learn from in %d trees", p.Trees)
	}
	return p, nil
}

// batchTrees is how many trees are unpacked at a time, by all cores.
const batchTrees = 256

// add adds the positions of trees, in their order.
func (p *Positions) add(ctx context.Context, linear *gomoku.Linear, holdOut int, seed uint64, batch []trees.Tree) error {
	parts, errs := make([]Positions, len(batch)), make([]error, len(batch))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range batch {
		held := holdOut > 0 && rand.New(rand.NewPCG(seed, uint64(p.Trees+i))).IntN(holdOut) == 0
		group.Go(func() error {
			for _, l := range t.Positions {
				errs[i] = ctx.Err()
				if errs[i] == nil {
					errs[i] = parts[i].unpack(linear, t.Rules, l, held)
				}
				if errs[i] != nil {
					errs[i] = fmt.Errorf("tree %d: %.200q: %w", t.Number, l.Text, errs[i])
					break
				}
			}
			return nil
		})
	}
	group.Wait() // the first error in the order of the trees is the one to return
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for i := range parts {
		part := &parts[i]
		for j := range part.all {
			part.all[j].first += uint32(len(p.stones))
		}
		p.all, p.stones = append(p.all, part.all...), append(p.stones, part.stones...)
		p.Left += part.Left
	}
	p.Trees += len(batch)
	return nil
}

// unpack adds a position.
func (p *Positions) unpack(linear *gomoku.Linear, ruleSet string, l trees.Position, held bool) error {
	pos, err := catalog.Setup(rules.Name, ruleSet, l.Text)
	if err != nil {
		return err
	}
	worth, quiet, err := linear.Shipped(pos)
	if err != nil {
		return err
	}
	if !quiet {
		p.Left++
		return nil
	}
	g := pos.(*rules.Position) // or the adapter would have refused it
	score := float32(min(max(l.Score, -MostScore), MostScore))
	q := position{first: uint32(len(p.stones)), size: uint8(g.Board().Size), toMove: g.ToMove(), held: held,
		linear: float32(worth) / Scale, target: chance(score / Scale)}
	b := g.Board()
	for at := range rules.Point(b.Points) {
		if b.Dead(at) {
			return fmt.Errorf("dead stones: no network is for such rules")
		}
		if c, ok := b.At(at); ok {
			p.stones = append(p.stones, stone(at)<<1|stone(c))
			q.stones++
		}
	}
	p.all = append(p.all, q)
	return nil
}

// board returns the board of a position.
func (p *Positions) board(q *position) rules.Board {
	b := rules.NewBoard(int(q.size))
	for _, s := range p.stones[q.first:][:q.stones] {
		b.Put(rules.Point(s>>1), rules.Colour(s&1))
	}
	return b
}

// linearLoss returns the error of the evaluation without a network.
func (p *Positions) linearLoss() Loss {
	var l loss
	for i := range p.all {
		q := &p.all[i]
		l.add(q, chance(q.linear))
	}
	return l.mean()
}

// Loss is the mean squared error of winning probabilities.
type Loss struct {
	Learnt float64 `json:"learnt"`
	Held   float64 `json:"held"` // on the trees left out
}

// loss adds up errors: first of the positions learnt from, then of the others.
type loss struct {
	sum   [2]float64
	count [2]int
}

func (l *loss) add(q *position, chance float32) {
	off := float64(chance) - float64(q.target)
	i := 0
	if q.held {
		i = 1
	}
	l.sum[i] += off * off
	l.count[i]++
}

func (l *loss) mean() Loss {
	return Loss{l.sum[0] / float64(max(l.count[0], 1)), l.sum[1] / float64(max(l.count[1], 1))}
}

// learnt returns the positions that are not held out.
func (p *Positions) learnt() (all []int32) {
	for i := range p.all {
		if !p.all[i].held {
			all = append(all, int32(i))
		}
	}
	return slices.Clip(all)
}
