package tune

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"sparring/engine/adapter"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// Model is an evaluation that is linear in its weights.
type Model interface {
	// Names returns the names of the weights, Start their initial values.
	Names() []string
	Start() []float64
	// Fits reports whether the weights are for games under the rules.
	Fits(rules *game.Rules) bool
	// Coefficients stores a coefficient for each weight in to and returns the
	// evaluation with the initial weights, both for the side to move. Quiet is
	// false if a static evaluation of the position means little; the
	// coefficients are unspecified then. Several goroutines call it at once.
	Coefficients(p game.Position, to []float64) (worth float64, quiet bool, err error)
	// Captures reports whether a move takes material.
	Captures(p game.Position, m game.Move) bool
}

// Sampling selects the training positions of a game.
type Sampling struct {
	Seed    uint64 `json:"seed,string"`
	PerGame int    `json:"per_game"` // maximum
	// Bound excludes decided positions: those with an absolute score of Bound
	// or more.
	Bound int `json:"bound"`
	// HoldOut reserves one of every HoldOut games for validation; 0: none.
	HoldOut int `json:"hold_out"`
}

// Validate reports everything that is out of range.
func (s Sampling) Validate() error {
	var errs []error
	if s.PerGame < 1 {
		errs = append(errs, fmt.Errorf("%d positions a game: want 1 or more", s.PerGame))
	}
	if s.Bound < 1 {
		errs = append(errs, fmt.Errorf("bound %d: want 1 or more", s.Bound))
	}
	if s.HoldOut < 0 || s.HoldOut == 1 {
		errs = append(errs, fmt.Errorf("one of %d games held out: want 0 (none) or 2 and more", s.HoldOut))
	}
	return errors.Join(errs...)
}

// Games is a set of training games.
type Games struct {
	// Game is the kind of game. Fits reports whether games are under the rules to learn for,
	// as that of a Model and of a Policy does; nil: any.
	Game string
	Fits func(rules *game.Rules) bool

	Others int    // games skipped: of another kind
	Rules  int    // games skipped: under other rules
	Left   int    // games skipped: unfinished or duplicate
	Build  string // of the program that played the first game

	set  map[string]*training // by digest of moves and scores
	fits map[string]bool      // what Fits has said, by name of the rule set
}

// training is what is learnt from of a game: a small part of its record.
type training struct {
	id, game, rules, position string
	result                    game.Result
	moves                     string // with spaces between them; a move has none
	plies                     []trainingPly
}

// trainingPly says who played a move, and whether a search of what score chose it.
type trainingPly struct {
	score    int
	seat     game.Seat
	searched bool
}

// trainingOf returns what is learnt from of a record.
func trainingOf(r *record.Record) *training {
	t := &training{id: r.ID, game: r.Game, rules: r.Rules, position: r.Position, result: r.Result, plies: make([]trainingPly, len(r.Plies))}
	var moves strings.Builder
	for i, p := range r.Plies {
		if i > 0 {
			moves.WriteByte(' ')
		}
		moves.WriteString(p.Move)
		t.plies[i].seat = p.Seat
		if p.Think != nil && p.Think.Source == record.FromSearch {
			t.plies[i].score, t.plies[i].searched = p.Think.Score, true
		}
	}
	t.moves = strings.Clone(moves.String()) // without the room to grow
	return t
}

// Add adds a record, or counts it in Others, Rules or Left.
func (g *Games) Add(r *record.Record) {
	if r.Game != g.Game {
		g.Others++
		return
	}
	if !g.under(r.Rules) {
		g.Rules++
		return
	}
	if g.set == nil {
		g.set = map[string]*training{}
		g.Build = r.Source.Build
	}
	digest := digestOf(r)
	if r.Result == game.Undecided || g.set[digest] != nil {
		g.Left++
		return
	}
	g.set[digest] = trainingOf(r)
}

// under reports whether games of a rule set are to be learnt from. Of an unknown one they are,
// so that replaying one has the error.
func (g *Games) under(rules string) bool {
	if fits, known := g.fits[rules]; known || g.Fits == nil {
		return fits || g.Fits == nil
	}
	r, err := catalog.Rules(rules)
	if g.fits == nil {
		g.fits = map[string]bool{}
	}
	g.fits[rules] = err != nil || g.Fits(r)
	return g.fits[rules]
}

// Len returns the number of games.
func (g *Games) Len() int { return len(g.set) }

// digestOf identifies a game by its moves and scores, not by ids or times, which
// differ when the same match is played again.
func digestOf(r *record.Record) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%v\n", r.Rules, r.Position, r.Result)
	for _, p := range r.Plies {
		fmt.Fprintf(h, "%s", p.Move)
		if p.Think != nil {
			fmt.Fprintf(h, " %s %d", p.Think.Source, p.Think.Score)
		}
		io.WriteString(h, "\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digests returns the digests of all games in ascending order.
func (g *Games) digests() (all []string) {
	for d := range g.set {
		all = append(all, d)
	}
	slices.Sort(all)
	return all
}

// Digest returns the digest of all games; it does not depend on their order.
func (g *Games) Digest() string {
	h := sha256.New()
	for _, d := range g.digests() {
		fmt.Fprintln(h, d)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Sample selects quiet positions from the games, in an order that depends only
// on the games: positions where a search chose a non-capture with a score within
// the bound, and that the model calls quiet. It samples each game at random. The
// error names a game that cannot be replayed. GOMAXPROCS goroutines read the
// games; watch is called after each game, never concurrently.
func (g *Games) Sample(m Model, s Sampling, watch func(games int) error) ([]Position, error) {
	weights := len(m.Names())
	buffers := sync.Pool{New: func() any { c := make([]float64, weights); return &c }}
	return Each(g, s, watch, func(p game.Position, mv game.Move, l Label) (out Position, ok bool, err error) {
		if m.Captures(p, mv) {
			return out, false, nil
		}
		buffer := buffers.Get().(*[]float64)
		defer buffers.Put(buffer)
		coefficients := *buffer
		worth, quiet, err := m.Coefficients(p, coefficients)
		if err != nil || !quiet {
			return out, false, err
		}
		return Position{Worth: worth, Terms: terms(coefficients), Result: l.Result, Score: l.Score, Held: l.Held}, true, nil
	})
}

// Label is what a game tells of one of its positions, for the side to move.
type Label struct {
	Score  float64 // of the search that chose the move
	Result float64 // of the game: 1, 0.5 or 0
	Held   bool    // the position is for validation
}

// Each returns what take makes of a random sample of the positions where a search chose
// a move with a score within the bound, in an order that depends only on the games.
// Take is called with the position before the move, by GOMAXPROCS goroutines at once;
// it leaves a position out by returning false, and keeps none. The error names a game
// that cannot be replayed. Watch is called after each game, never concurrently.
func Each[T any](g *Games, s Sampling, watch func(games int) error, take func(p game.Position, m game.Move, l Label) (T, bool, error)) ([]T, error) {
	return eachGame(g, s, watch, func(t *training, rng *rand.Rand, held bool) (all []T, err error) {
		err = visit(t, s, rng, func(p game.Position, m game.Move, ply int) error {
			by := t.plies[ply]
			one, ok, err := take(p, m, Label{Score: float64(by.score), Result: resultFor(t.result, by.seat), Held: held})
			if ok && err == nil {
				all = append(all, one)
			}
			return err
		})
		return all, err
	})
}

// sampled draws at most PerGame of the plies that qualify, in ascending order.
func sampled(t *training, s Sampling, rng *rand.Rand) []int {
	plies := candidates(t, s)
	rng.Shuffle(len(plies), func(i, j int) { plies[i], plies[j] = plies[j], plies[i] })
	plies = plies[:min(s.PerGame, len(plies))]
	slices.Sort(plies)
	return plies
}

// candidates returns the plies that qualify according to the record.
func candidates(t *training, s Sampling) (plies []int) {
	for i, p := range t.plies {
		if p.searched && p.score < s.Bound && p.score > -s.Bound {
			plies = append(plies, i)
		}
	}
	return plies
}

// terms returns the nonzero coefficients.
func terms(coefficients []float64) []adapter.Term {
	n := 0
	for _, c := range coefficients {
		if c != 0 {
			n++
		}
	}
	all := make([]adapter.Term, 0, n)
	for i, c := range coefficients {
		if c != 0 {
			all = append(all, adapter.Term{Weight: int32(i), By: float32(c)})
		}
	}
	return all
}

func resultFor(r game.Result, s game.Seat) float64 {
	switch r {
	case game.WonBy(s):
		return 1
	case game.Draw:
		return 0.5
	}
	return 0
}
