package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/train/trees"
)

// TreeFiles are the files of labelled trees that were read. The zero value has none.
type TreeFiles struct {
	Inputs []trees.Terms // the first lines of the files
	Digest string        // of the positions and their labels, in order; "" without files
}

// read calls take for each position of files of labelled trees of a game. One of every
// holdOut trees is for validation, drawn by the seed; 0: none. The error names the file
// and the tree.
func (f *TreeFiles) read(ctx context.Context, gameName string, s Sampling, paths []string, take func(p game.Position, l trees.Position, held bool) error) error {
	digest, number := sha256.New(), uint64(0)
	for _, path := range paths {
		header, err := trees.Read(path, func(t trees.Tree) error {
			held := s.HoldOut > 0 && rand.New(rand.NewPCG(s.Seed, number)).IntN(s.HoldOut) == 0
			number++
			for _, l := range t.Positions {
				fmt.Fprintf(digest, "%s %s %d", t.Rules, l.Text, l.Score)
				if l.Move != "" {
					fmt.Fprint(digest, " ", l.Move)
				}
				fmt.Fprintln(digest)
				if err := ctx.Err(); err != nil {
					return err
				}
				p, err := catalog.Setup(gameName, t.Rules, l.Text)
				if err == nil {
					err = take(p, l, held)
				}
				if err != nil {
					return fmt.Errorf("tree %d: %.200q: %w", t.Number, l.Text, err)
				}
			}
			fmt.Fprintln(digest)
			return nil
		})
		if err == nil && header.Game != gameName {
			err = fmt.Errorf("trees: %s: of %s, want %s", path, header.Game, gameName)
		}
		if err != nil {
			return err
		}
		f.Inputs = append(f.Inputs, header)
	}
	if len(paths) > 0 {
		f.Digest = hex.EncodeToString(digest.Sum(nil)[:16])
	}
	return nil
}

// Trees are labelled positions of search trees to learn an evaluation from besides games.
// The zero value has none.
type Trees struct {
	TreeFiles
	Left int // positions that the model does not call quiet

	positions []Position
}

// Len returns the number of positions to learn from.
func (t *Trees) Len() int { return len(t.positions) }

// LoadTrees reads the quiet positions of files of labelled trees for a model of a game.
// The label alone is the target of a position, whatever the share of results in that of
// a position of a game. One of every holdOut trees is for validation, drawn by the seed;
// 0: none. The error names the file and the tree.
func LoadTrees(ctx context.Context, m Model, gameName string, s Sampling, paths []string) (*Trees, error) {
	all := &Trees{}
	coefficients := make([]float64, len(m.Names()))
	err := all.read(ctx, gameName, s, paths, func(p game.Position, l trees.Position, held bool) error {
		worth, quiet, err := m.Coefficients(p, coefficients)
		switch {
		case err != nil:
			return err
		case !quiet:
			all.Left++
		default:
			all.positions = append(all.positions, Position{Worth: worth, Terms: terms(coefficients), Score: float64(l.Score), Held: held, ScoreOnly: true})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// TreeChoices are positions of search trees to learn a policy from besides games. The
// zero value has none.
type TreeChoices struct {
	TreeFiles
	choices []Choice
}

// LoadTreeChoices reads the positions of files of labelled trees that have a move which a
// search chose with a score within the bound of the sampling, and where a policy has
// something to learn. Trees are held out, and errors are, as for LoadTrees; it is one,
// too, if a file has no moves.
func LoadTreeChoices(ctx context.Context, policy Policy, gameName string, s Sampling, paths []string) (*TreeChoices, error) {
	all := &TreeChoices{}
	err := all.read(ctx, gameName, s, paths, func(p game.Position, l trees.Position, held bool) error {
		if l.Move == "" {
			return errors.New("no move: make the trees with --moves")
		}
		if l.Source != search.FromSearch || l.Score >= search.Score(s.Bound) || l.Score <= -search.Score(s.Bound) {
			return nil
		}
		m, err := p.Parse(l.Move)
		if err != nil {
			return err
		}
		c, ok, err := policy.Choice(p, m)
		if ok && err == nil {
			all.choices = append(all.choices, Choice{c, held})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}
