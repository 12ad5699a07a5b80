package tune

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"sparring/game/catalog"
	"sparring/lab/trees"
)

// Trees are labelled positions of search trees to learn from besides games. The zero
// value has none.
type Trees struct {
	Inputs []trees.Terms // the first lines of the files
	Digest string        // of the positions and their labels, in order; "" without files
	Left   int           // positions that the model does not call quiet

	positions []Position
}

// Len returns the number of positions to learn from.
func (t *Trees) Len() int { return len(t.positions) }

// LoadTrees reads the quiet positions of files of labelled trees for a model of a game.
// The label alone is the target of a position, whatever the share of results in that of
// a position of a game. One of every holdOut trees is for validation, drawn by the seed;
// 0: none. The error names the file and the tree.
func LoadTrees(ctx context.Context, m Model, gameName string, s Sampling, paths []string) (*Trees, error) {
	all, digest, number := &Trees{}, sha256.New(), uint64(0)
	coefficients := make([]float64, len(m.Names()))
	for _, path := range paths {
		header, err := trees.Read(path, func(t trees.Tree) error {
			held := s.HoldOut > 0 && rand.New(rand.NewPCG(s.Seed, number)).IntN(s.HoldOut) == 0
			number++
			for _, l := range t.Positions {
				fmt.Fprintf(digest, "%s %s %d\n", t.Rules, l.Text, l.Score)
				if err := ctx.Err(); err != nil {
					return err
				}
				p, err := catalog.Setup(gameName, t.Rules, l.Text)
				if err != nil {
					return fmt.Errorf("tree %d: %w", t.Number, err)
				}
				worth, quiet, err := m.Coefficients(p, coefficients)
				if err != nil {
					return fmt.Errorf("tree %d: %.200q: %w", t.Number, l.Text, err)
				}
				if !quiet {
					all.Left++
					continue
				}
				all.positions = append(all.positions, Position{Worth: worth, Terms: terms(coefficients), Score: float64(l.Score), Held: held, ScoreOnly: true})
			}
			fmt.Fprintln(digest)
			return nil
		})
		if err == nil && header.Game != gameName {
			err = fmt.Errorf("trees: %s: of %s, want %s", path, header.Game, gameName)
		}
		if err != nil {
			return nil, err
		}
		all.Inputs = append(all.Inputs, header)
	}
	if len(paths) > 0 {
		all.Digest = hex.EncodeToString(digest.Sum(nil)[:16])
	}
	return all, nil
}
