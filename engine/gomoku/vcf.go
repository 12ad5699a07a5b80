package gomoku

import (
	"sync"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// prover is the memory of the proofs that start from a position. It belongs to one
// position, so that nothing is allocated for each proof.
type prover struct {
	failed failures
	vcf    vcf
	vct    vct
}

// provers are unused ones, without any proof of an earlier position: most searches of
// few nodes would take longer to clear a new one than to prove something.
var provers = sync.Pool{New: func() any { return new(prover) }}

// Release implements search.Releaser.
func (a *position) Release() {
	fields.Put(a.field)
	if a.net != nil {
		accumulators.Put(a.net)
	}
	p := a.prover
	a.field, a.net, a.prover = nil, nil, nil
	if p == nil || p.vct.field != nil { // a VCT leaves more behind than is quickly cleared
		return
	}
	p.failed.clear()
	p.vcf = vcf{}
	provers.Put(p)
}

// Prove looks for positions decided by fives and fours alone (see [position.proveVCF])
// and, where the budget is large, for a victory by continuous threats (VCT), in
// which open threes count as well. Finding none proves nothing. The line is valid
// until the next call.
func (a *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	if budget < minVCTBudget {
		return a.proveVCF(budget, stop)
	}
	// The search for a VCT finds those of fours, too, only not the shortest.
	proof, nodes, ok := a.proveVCF(budget/2, stop)
	if ok {
		return proof, nodes, true
	}
	quiets := 0
	if budget >= minQuietBudget {
		quiets = maxQuiets
	}
	proof, more, ok := a.proveVCT(budget-nodes, quiets, stop)
	return proof, nodes + more, ok
}

// proveVCF looks for positions decided by fives and fours alone: a five, two points
// that make five, and a victory by continuous fours (VCF), in which every move
// makes a four and leaves the other side one reply. It finds the shortest VCF.
// If Black's reply would be a forbidden point, the four itself wins.
func (a *position) proveVCF(budget int, stop func() bool) (search.Proof, int, bool) {
	own, other := &a.field.sets[a.toMove], &a.field.sets[a.toMove.Other()]
	if a.set.Continuous() {
		return search.Proof{}, 0, false // a five does not end the game
	}
	if !own[five].empty() {
		return search.Proof{Score: search.Win - 1, Line: []game.Move{gomoku.StoneMove(own[five].first())}, Kind: "vcf"}, 0, true
	}
	if !a.forcing {
		return search.Proof{}, 0, false
	}
	if fives := other[five].count(); fives > 1 {
		p, ok := a.field.firstAllowed(&other[five], a.toMove)
		if !ok {
			p = other[five].first()
		}
		return search.Proof{Score: -(search.Win - 2), Line: []game.Move{gomoku.StoneMove(p)}, Kind: "vcf"}, 0, true
	}
	if own[four].empty() {
		return search.Proof{}, 0, false
	}
	if a.prover == nil {
		a.prover = provers.Get().(*prover)
	}
	v := &a.prover.vcf
	v.field, v.attacker, v.defenderHasFouls, v.failed = a.field, a.toMove, a.defenderHasFouls(), &a.prover.failed
	v.budget, v.nodes, v.stop, v.stopped = budget, 0, stop, false
	for fours := 1; fours <= maxFours; fours++ {
		v.truncated = false
		if v.attack(a.key, fours, 0) {
			score := search.Win - search.Score(2*fours+1)
			return search.Proof{Score: score, Line: v.line[:v.length], Kind: "vcf"}, v.nodes, true
		}
		if v.spent() || !v.truncated {
			break
		}
	}
	return search.Proof{}, v.nodes, false
}

// defenderHasFouls reports whether the side that defends has forbidden points.
func (a *position) defenderHasFouls() bool { return a.set.Forbids(a.toMove.Other()) }

// maxFours is the longest VCF that fits on a board.
const maxFours = gomoku.MaxPoints / 2

// vcf is one search for victory by continuous fours.
type vcf struct {
	field            *field
	attacker         gomoku.Colour
	failed           *failures
	budget           int
	nodes            int
	stop             func() bool
	stopped          bool
	defenderHasFouls bool // the defender has forbidden points
	truncated        bool // a search with more fours may find a VCF
	line             [2*maxFours + 1]game.Move
	length           int // of the line
}

// spent reports whether the search has to end.
func (v *vcf) spent() bool {
	if v.nodes&255 == 0 && v.stop() {
		v.stopped = true
	}
	return v.stopped || v.nodes >= v.budget
}

// attack reports whether the attacker, who is to move and has no five, wins with
// at most the given number of fours, the last of which makes two fives possible.
// Key is the position's; the line is filled in from ply on.
func (v *vcf) attack(key uint64, fours, ply int) bool {
	f := v.field
	defender := v.attacker.Other()
	moves := f.sets[v.attacker][four]
	// A five that the defender threatens must be stopped by a four.
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
	if fours == 1 && !v.defenderHasFouls {
		// Only a double four wins, and the field lists those.
		last := moves.intersect(&f.sets[v.attacker][two4s])
		if last.empty() {
			v.truncated = true
			return false
		}
		moves = last
	}
	exhausted := v.failed.depth(key)
	if exhausted >= fours {
		v.truncated = v.truncated || exhausted != always
		return false
	}
	truncated := v.truncated
	v.truncated = fours == 1
	for p := range moves.all() {
		if v.spent() {
			return false
		}
		if f.foul(p, v.attacker) {
			continue
		}
		v.nodes++
		f.put(p, v.attacker)
		won := v.reply(key^gomoku.StoneKey(p, v.attacker), fours, ply)
		f.take(p, v.attacker)
		if won {
			v.line[ply] = gomoku.StoneMove(p)
			return true
		}
	}
	if v.spent() {
		return false
	}
	if v.truncated {
		v.failed.note(key, fours)
	} else {
		v.failed.note(key, always)
	}
	v.truncated = v.truncated || truncated
	return false
}

// reply searches the defender's only reply to the four just made.
func (v *vcf) reply(key uint64, fours, ply int) bool {
	f := v.field
	defender := v.attacker.Other()
	if !f.sets[defender][five].empty() {
		return false
	}
	fives := f.sets[v.attacker][five]
	block, ok := f.firstAllowed(&fives, defender)
	if !ok {
		v.length = ply + 1 // the five can't be stopped
		return true
	}
	v.line[ply+1] = gomoku.StoneMove(block)
	if fives.count() > 1 {
		fives.remove(block)
		v.line[ply+2] = gomoku.StoneMove(fives.first())
		v.length = ply + 3
		return true
	}
	if fours == 1 || v.spent() {
		return false
	}
	v.nodes++
	f.put(block, defender)
	won := v.attack(key^gomoku.StoneKey(block, defender), fours-1, ply+2)
	f.take(block, defender)
	return won
}

// always is the depth of a position without any VCF.
const always = 255

// failures is a table of positions with the attacker to move, and the number of
// fours within which there was no VCF.
type failures struct {
	table [1 << failedBits]failure
	used  []uint16 // the entries that were written; those after the first maxUsed are not listed
}

// maxUsed is how many entries are cleared one by one.
const maxUsed = 512

// clear leaves nothing of earlier positions.
func (t *failures) clear() {
	if len(t.used) < maxUsed {
		for _, i := range t.used {
			t.table[i] = failure{}
		}
	} else {
		clear(t.table[:])
	}
	t.used = t.used[:0]
}

type failure struct {
	key   uint64
	fours uint8
}

func (t *failures) depth(key uint64) int {
	if f := &t.table[key>>(64-failedBits)]; f.key == key {
		return int(f.fours)
	}
	return 0
}

func (t *failures) note(key uint64, fours int) {
	i := key >> (64 - failedBits)
	t.table[i] = failure{key, uint8(fours)}
	if len(t.used) < maxUsed {
		t.used = append(t.used, uint16(i))
	}
}
