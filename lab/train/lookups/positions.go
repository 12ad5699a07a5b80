package lookups

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"sparring/engine/gomoku"
	"sparring/game"
	"sparring/game/catalog"
	rules "sparring/game/gomoku"
	"sparring/lab/train/trees"
	"sparring/lab/train/tune"
)

// Scale is the score that wins 73 % of the games: errors are of winning chances.
const Scale = 313

// MaxScore is what proven wins count.
const MaxScore = 4000

// Positions are labelled positions, packed: some 100 bytes each.
type Positions struct {
	Inputs []trees.Terms // the first lines of the files of trees
	Digest string        // of the positions and their labels, in order
	Trees  int
	Games  int // whose positions there are besides those of trees
	// Left counts those where the end is settled or a five must be stopped. Positions
	// of games do not count.
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
	linear, target float32 // the evaluation without a network, in Scale, and the winning chance
}

// stone is a point and, in the lowest bit, the colour.
type stone uint16

// chance returns the winning chance that an evaluation in units of Scale stands
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

// unpack adds a position of a tree.
func (p *Positions) unpack(linear *gomoku.Linear, ruleSet string, l trees.Position, held bool) error {
	pos, err := catalog.Setup(rules.Name, ruleSet, l.Text)
	if err != nil {
		return err
	}
	one, quiet, err := pack(linear, pos, scoreChance(float64(l.Score)), held)
	if err != nil {
		return err
	}
	if !quiet {
		p.Left++
		return nil
	}
	p.append(one)
	return nil
}

// scoreChance returns the winning chance that the score of a search stands for.
func scoreChance(score float64) float32 {
	return chance(float32(min(max(score, -MaxScore), MaxScore)) / Scale)
}

// packed is a position with its stones.
type packed struct {
	position
	stones []stone
}

// pack packs a position. It is not quiet where the end is settled or a five must be
// stopped.
func pack(linear *gomoku.Linear, pos game.Position, target float32, held bool) (one packed, quiet bool, err error) {
	worth, quiet, err := linear.Shipped(pos)
	if err != nil || !quiet {
		return one, false, err
	}
	g := pos.(*rules.Position) // or the adapter would have refused it
	b := g.Board()
	one.position = position{size: uint8(b.Size), toMove: g.ToMove(), held: held, linear: float32(worth) / Scale, target: target}
	for at := range rules.Point(b.Points) {
		if b.Dead(at) {
			return one, false, fmt.Errorf("dead stones: no network is for such rules")
		}
		if c, ok := b.At(at); ok {
			one.stones = append(one.stones, stone(at)<<1|stone(c))
		}
	}
	one.position.stones = uint16(len(one.stones))
	return one, true, nil
}

func (p *Positions) append(one packed) {
	one.first = uint32(len(p.stones))
	p.all, p.stones = append(p.all, one.position), append(p.stones, one.stones...)
}

// GamesPlan says how positions of games are drawn and labelled. The zero value is for
// trees alone.
type GamesPlan struct {
	PerGame int     `json:"per_game"` // positions of a game at most
	Mix     float64 `json:"mix"`      // the result's share in the label; the rest is the score of the search
}

// Validate reports everything that is out of range.
func (p GamesPlan) Validate() error {
	var errs []error
	if p.PerGame < 1 {
		errs = append(errs, fmt.Errorf("%d positions a game: want 1 or more", p.PerGame))
	}
	if !(p.Mix >= 0 && p.Mix <= 1) {
		errs = append(errs, fmt.Errorf("mix %g: want 0 to 1", p.Mix))
	}
	return errors.Join(errs...)
}

// AddGames adds positions of games: random ones where a search chose the move and had
// proved nothing. One of every holdOut games is left out of the fit. Watch is called
// after each game. The error names a game that can't be replayed or is under other
// rules.
func (p *Positions) AddGames(class string, games *tune.Games, plan GamesPlan, holdOut int, seed uint64, watch func(games int) error) error {
	linear, err := gomoku.NewLinear(class, nil)
	if err != nil {
		return err
	}
	sampling := tune.Sampling{Seed: seed, PerGame: plan.PerGame, Bound: MaxScore, HoldOut: holdOut}
	all, err := tune.Each(games, sampling, watch, func(pos game.Position, _ game.Move, l tune.Label) (packed, bool, error) {
		mix := float32(plan.Mix)
		return pack(linear, pos, mix*float32(l.Result)+(1-mix)*scoreChance(l.Score), l.Held)
	})
	if err != nil {
		return err
	}
	for _, one := range all {
		p.append(one)
	}
	p.Games += games.Len()
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %s %+v %d %d\n", p.Digest, games.Digest(), plan, holdOut, seed))
	p.Digest = hex.EncodeToString(digest[:16])
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

// Loss is the mean squared error of winning chances.
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
