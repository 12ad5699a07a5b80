package book

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"sparring/engine/opening"
	"sparring/game"
)

// Options set how a book is used. Zero values are the defaults.
type Options struct {
	Plies       int     // of a game in which the book is used, 24 when 0
	MinGames    int     // fewest games that a move was played in, 3 when 0
	Temperature float64 // 1 when 0; a low one favours the heaviest move
	// Imitate: play each move as often as the games of the book did, whatever became
	// of it. Moves that are avoided are still not played.
	Imitate bool
}

func (o Options) complete() Options {
	return Options{cmp.Or(o.Plies, usualPlies), cmp.Or(o.MinGames, usualMinGames), cmp.Or(o.Temperature, usualTemperature), o.Imitate}
}

// Candidate is a move that a book knows in a position, with its images.
type Candidate struct {
	Entry
	// Moves are the legal moves that the entry stands for: several if the
	// position is symmetric. Moves that repeat an earlier position or lose at once
	// are left out.
	Moves []game.Move
	Share float64 // probability of being chosen, 0 if never
}

// Look returns the book's moves in a position, the likeliest first.
func (b *Book) Look(p game.Position, o Options) []Candidate {
	if Family(p.Rules().Name) != b.family || p.Outcome().Over() || opening.Running(p) {
		return nil
	}
	list := b.candidates(p)
	if len(list) == 0 {
		return nil
	}
	past := pastKeys(p)
	for i := range list {
		list[i].Moves = slices.DeleteFunc(list[i].Moves, func(m game.Move) bool { return !sound(p, m, past) })
	}
	share(list, o.complete())
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Weight(), a.Weight()))
	})
	return list
}

// candidates returns the entries of a position with the legal moves that they stand
// for, in the book's order.
func (b *Book) candidates(p game.Position) []Candidate {
	s := spotOf(p)
	entries := b.at(s.key)
	if len(entries) == 0 {
		return nil
	}
	list := make([]Candidate, len(entries))
	for i, e := range entries {
		list[i].Entry = e
	}
	for _, m := range p.Legal(nil) {
		folded := s.fold(m)
		if i, ok := slices.BinarySearchFunc(entries, folded, func(e Entry, m game.Move) int { return cmp.Compare(e.Move, m) }); ok {
			list[i].Moves = append(list[i].Moves, m)
		}
	}
	return list
}

// pastKeys returns the keys of all positions of the game up to p.
func pastKeys(p game.Position) map[uint64]bool {
	q := p.Clone()
	keys := map[uint64]bool{q.Key(): true}
	for q.Ply() > 0 {
		q.Undo()
		keys[q.Key()] = true
	}
	return keys
}

// sound reports whether a legal move neither repeats an earlier position nor loses
// at once by the rules.
func sound(p game.Position, m game.Move, past map[uint64]bool) bool {
	q := p.Clone()
	if q.Play(m) != nil {
		return false
	}
	return !past[q.Key()] && q.Outcome().Result != game.WonBy(p.Turn().Other())
}

// share sets the shares of the candidates, which add up to 1 unless none is
// playable.
func share(list []Candidate, o Options) {
	heaviest, sum := 0.0, 0.0
	for _, c := range list {
		if c.playable(o) {
			heaviest = max(heaviest, c.weight(o))
		}
	}
	for i, c := range list {
		list[i].Share = 0
		if w := c.weight(o); c.playable(o) && (c.Preference > 0 || o.Imitate || w >= minShare*heaviest) {
			list[i].Share = math.Pow(w/heaviest, 1/o.Temperature)
		}
		sum += list[i].Share
	}
	for i := range list {
		if sum > 0 {
			list[i].Share /= sum
		}
	}
}

// weight returns the weight of a candidate in the random choice.
func (c Candidate) weight(o Options) float64 {
	if o.Imitate {
		return float64(c.Games())
	}
	return c.Weight()
}

// playable reports whether a candidate may be played.
func (c Candidate) playable(o Options) bool {
	switch {
	case len(c.Moves) == 0 || c.Preference == Avoid:
		return false
	case o.Imitate:
		return c.Games() > 0
	case c.Preference > 0:
		return true
	}
	return c.Games() >= o.MinGames && c.Score() >= worstScore
}

// Choose picks a random move for a position: the same seed gives the same move. If
// among is not nil, only its moves are considered. The result is false if the book
// has no move to play.
func (b *Book) Choose(p game.Position, o Options, seed uint64, among []game.Move) (game.Move, Candidate, bool) {
	o = o.complete()
	if p.Ply() >= o.Plies {
		return game.NoMove, Candidate{}, false
	}
	list := b.Look(p, o)
	if among != nil {
		for i := range list {
			list[i].Moves = slices.DeleteFunc(list[i].Moves, func(m game.Move) bool { return !slices.Contains(among, m) })
		}
		share(list, o)
	}
	rng := rand.New(rand.NewPCG(seed, p.Key()))
	at := rng.Float64()
	for _, c := range list {
		if at -= c.Share; at < 0 && c.Share > 0 {
			return c.Moves[rng.IntN(len(c.Moves))], c, true
		}
	}
	// Rounding may leave a sum just below 1.
	if len(list) > 0 && list[0].Share > 0 {
		return list[0].Moves[0], list[0], true
	}
	return game.NoMove, Candidate{}, false
}
