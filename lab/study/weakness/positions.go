package weakness

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"sparring/engine"
)

// decided is the winning chance up to which a side has lost: from such positions both
// players win with the same side, whatever they are weak at.
const decided = 0.1

// Named returns the group of a name, with or without what it is grouped by: "quiet" or
// "move quiet".
func (r *Result) Named(name string) (Group, bool) {
	i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Name == name || g.Title() == name })
	if i < 0 {
		return Group{}, false
	}
	return r.Groups[i], true
}

// Title names the group and what it groups by.
func (g Group) Title() string { return string(g.By) + " " + g.Name }

// in reports whether the move is in a group.
func (m Move) in(g Group) bool { return slices.Contains(m.keys, key{g.By, g.Name}) }

// Sample returns up to n of the player's moves in a group, from undecided positions,
// drawn at random whatever they lost: the worst moves of any group look bad, a sample
// only if the group is weak. Every game gives one before any gives a second. Take is
// asked about each move in turn, and false leaves it out.
func (r *Result) Sample(g Group, n int, take func(Move) bool) (sample []Move) {
	var all []Move
	for _, m := range r.Played {
		if m.in(g) && isUndecided(m.Chance) {
			all = append(all, m)
		}
	}
	shuffle(all)
	rank, seen := map[place]int{}, map[*Game]int{}
	for _, m := range all {
		rank[m.place()] = seen[m.Game]
		seen[m.Game]++
	}
	slices.SortStableFunc(all, func(a, b Move) int { return cmp.Compare(rank[a.place()], rank[b.place()]) })
	for _, m := range all {
		if len(sample) < n && take(m) {
			sample = append(sample, m)
		}
	}
	return sample
}

// shuffle puts moves into a random order, which is the same for the same moves.
func shuffle(moves []Move) {
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(moves), func(i, j int) { moves[i], moves[j] = moves[j], moves[i] })
}

func isUndecided(chance float64) bool { return chance >= decided && chance <= 1-decided }

// place names a move among those of all games.
type place struct {
	game *Game
	ply  int
}

func (m Move) place() place { return place{m.Game, m.Ply} }

// Controls returns for each of the given moves another of the player, as near to it as
// there is in winning chance and ply and whatever it lost: what the player does in
// comparable positions that were not singled out. They are outside of the group except,
// unless it is nil; of one that is a phase, the plies are not compared. Take is that of
// Sample. The error is of a kind of game without an engine.
func (r *Result) Controls(of []Move, except *Group, take func(Move) bool) (controls []Move, err error) {
	out := map[place]bool{}
	for _, m := range of {
		out[m.place()] = true
	}
	all := slices.Clone(r.Played)
	shuffle(all)
	for _, m := range of {
		a, err := engine.Adapter(m.Game.Record.Game)
		if err != nil {
			return nil, err
		}
		// A tenth of the winning chance counts as much as a twentieth of a game. The plies
		// outside of a phase are others, and its borders no better than the rest.
		distance := func(c Move) float64 {
			d := 10 * math.Abs(c.Chance-m.Chance)
			if except == nil || except.By != Phase {
				d += 20 * math.Abs(float64(c.Ply-m.Ply)) / float64(a.Length)
			}
			return d
		}
		var rest []Move
		for _, c := range all {
			if !out[c.place()] && (except == nil || !c.in(*except)) {
				rest = append(rest, c)
			}
		}
		slices.SortStableFunc(rest, func(a, b Move) int { return cmp.Compare(distance(a), distance(b)) })
		for _, c := range rest {
			out[c.place()] = true // also if it is not taken now, it will not be later
			if take(c) {
				controls = append(controls, c)
				break
			}
		}
	}
	return controls, nil
}
