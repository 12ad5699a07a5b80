package gomoku

import (
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// Prove looks for what is settled by fives and fours alone: a five, two points
// that make five, and victory by continuous fours (VCF), where every move
// makes a four and leaves the other side one reply. The shortest such victory
// is found; within the budget, absence proves nothing. Where Black's reply
// would be a forbidden point, the four itself wins.
func (a *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	own, other := &a.field.sets[a.toMove], &a.field.sets[a.toMove.Other()]
	if a.set.Continuous() {
		return search.Proof{}, 0, false // nothing ends the game before its time
	}
	if !own[five].empty() {
		return search.Proof{Score: search.Win - 1, Line: []game.Move{gomoku.StoneMove(own[five].first())}, Kind: "vcf"}, 0, true
	}
	if !a.forcing {
		return search.Proof{}, 0, false
	}
	if fives := other[five].count(); fives > 1 {
		p := other[five].first()
		return search.Proof{Score: -(search.Win - 2), Line: []game.Move{gomoku.StoneMove(p)}, Kind: "vcf"}, 0, true
	}
	if own[four].empty() {
		return search.Proof{}, 0, false
	}
	if a.failed == nil {
		a.failed = new(failures)
	}
	v := vcf{field: a.field, attacker: a.toMove, bound: a.bound(), failed: a.failed, budget: budget, stop: stop}
	for fours := 1; fours <= maxFours; fours++ {
		v.cut = false
		if v.attack(a.key, fours, 0) {
			score := search.Win - search.Score(2*fours+1)
			return search.Proof{Score: score, Line: v.line[:v.length], Kind: "vcf"}, v.nodes, true
		}
		if v.over() || !v.cut {
			break
		}
	}
	return search.Proof{}, v.nodes, false
}

// bound: the side that defends has forbidden points.
func (a *position) bound() bool { return a.set.Forbids(a.toMove.Other()) }

// maxFours is the longest victory looked for; on a full board there is no more.
const maxFours = gomoku.MaxPoints / 2

// vcf is one search for victory by continuous fours.
type vcf struct {
	field    *field
	attacker gomoku.Colour
	failed   *failures
	budget   int
	nodes    int
	stop     func() bool
	stopped  bool
	bound    bool // the defender has forbidden points
	cut      bool // a longer search may find what this one does not
	line     [2*maxFours + 1]game.Move
	length   int // of the line
}

// over reports whether the search has to end.
func (v *vcf) over() bool {
	if v.nodes&255 == 0 && v.stop() {
		v.stopped = true
	}
	return v.stopped || v.nodes >= v.budget
}

// attack reports whether the attacker, to move and without a five, wins with
// at most the given number of fours, the last of which leaves two fives. Key
// is the position's; the line is filled in from ply on.
func (v *vcf) attack(key uint64, fours, ply int) bool {
	f := v.field
	defender := v.attacker.Other()
	moves := f.sets[v.attacker][four]
	// A five that the defender threatens has to be stopped, by a four.
	if fives := &f.sets[defender][five]; !fives.empty() {
		if fives.count() > 1 || !moves.has(fives.first()) {
			return false
		}
		moves = points{}
		moves.add(fives.first())
	}
	if moves.empty() {
		return false
	}
	if fours == 1 && !v.bound {
		// Only two fives will do, and the field knows where they come from.
		last := moves.both(&f.sets[v.attacker][two4s])
		if last.empty() {
			v.cut = true
			return false
		}
		moves = last
	}
	exhausted := v.failed.depth(key)
	if exhausted >= fours {
		v.cut = v.cut || exhausted != always
		return false
	}
	cut := v.cut
	v.cut = fours == 1
	for p := range moves.all() {
		if v.over() {
			return false
		}
		if f.foul(p, v.attacker) {
			continue
		}
		v.nodes++
		f.put(p, v.attacker)
		won := v.answer(key^gomoku.StoneKey(p, v.attacker), fours, ply)
		f.take(p, v.attacker)
		if won {
			v.line[ply] = gomoku.StoneMove(p)
			return true
		}
	}
	if v.over() {
		return false
	}
	if v.cut {
		v.failed.note(key, fours)
	} else {
		v.failed.note(key, always)
	}
	v.cut = v.cut || cut
	return false
}

// answer lets the defender meet the four just made, in the one way there is,
// and goes on.
func (v *vcf) answer(key uint64, fours, ply int) bool {
	f := v.field
	defender := v.attacker.Other()
	if !f.sets[defender][five].empty() {
		return false
	}
	fives := f.sets[v.attacker][five]
	reply := fives.first()
	v.line[ply+1] = gomoku.StoneMove(reply)
	if fives.count() > 1 {
		fives.remove(reply)
		v.line[ply+2] = gomoku.StoneMove(fives.first())
		v.length = ply + 3
		return true
	}
	if f.foul(reply, defender) {
		v.length = ply + 1 // whatever comes next, the five follows
		return true
	}
	if fours == 1 || v.over() {
		return false
	}
	v.nodes++
	f.put(reply, defender)
	won := v.attack(key^gomoku.StoneKey(reply, defender), fours-1, ply+2)
	f.take(reply, defender)
	return won
}

// always is the depth of a position that has no victory by fours at all.
const always = 255

// failures remembers positions, the attacker to move, and with how many fours
// there was no victory.
type failures [1 << failedBits]failure

type failure struct {
	key   uint64
	fours uint8
}

func (t *failures) depth(key uint64) int {
	if f := &t[key>>(64-failedBits)]; f.key == key {
		return int(f.fours)
	}
	return 0
}

func (t *failures) note(key uint64, fours int) {
	t[key>>(64-failedBits)] = failure{key, uint8(fours)}
}
