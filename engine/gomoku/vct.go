package gomoku

import (
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// minVCTBudget is the smallest budget with which Prove looks for a VCT, in nodes.
const minVCTBudget = 200

// minQuietBudget is the smallest budget with which Prove looks for a VCT with quiet moves,
// in nodes, and maxQuiets the most of them in a line. That many nodes it has only where a
// win is asked for (Limits.Mate).
const (
	minQuietBudget = proveRoot + 1
	maxQuiets      = 3
)

// proveVCT looks for a victory by continuous threats (VCT): every move of the side
// to move, the attacker, makes a four or threatens to make two fives possible, and
// wins against every reply. Replies that lose at once are left out:
//
//   - Against a four only the point of the five is left.
//   - Against a threat to make two fives possible at a point, only that point, those
//     that take one of the fives away, and the defender's own fours are left. If there
//     are several such threats, a point must stop all of them.
//
// The distance is that of the line found against the longest resistance, not
// necessarily the shortest win. Finding none proves nothing.
//
// The search is depth-first proof-number search (df-pn) by Nagai, "Df-pn algorithm
// for searching AND/OR trees and its applications" (2002), with the maximum of the
// children's numbers instead of their sum, so that what many orders of the same
// moves share is counted once (weak proof-number search by Ueda and others, 2008).
//
// Where threats alone do not win, up to so many moves of a line may be quiet: they
// threaten a VCF (in Renju, fukumi). Against these the replies are left that may stop
// the VCF found: see [vct.stopsOfFours].
func (a *position) proveVCT(budget, quiets int, stop func() bool) (search.Proof, int, bool) {
	if !a.forcing || quiets == 0 && a.field.sets[a.toMove][open3].empty() {
		return search.Proof{}, 0, false
	}
	if a.prover == nil {
		a.prover = provers.Get().(*prover)
	}
	v := &a.prover.vct
	v.field, v.attacker, v.defender, v.fours = a.field, a.toMove, a.toMove.Other(), &a.prover.vcf
	v.budget, v.nodes, v.stop, v.stopped = budget-budget/8, 0, stop, false
	v.fours.field, v.fours.attacker, v.fours.defenderHasFouls, v.fours.failed = a.field, a.toMove, a.defenderHasFouls(), &a.prover.failed
	v.fours.stop, v.fours.stopped = func() bool { return v.stopped }, false
	var root numbers
	var key uint64
	for v.most = 0; ; v.most++ {
		v.quiets = v.most
		key = a.key ^ v.salt()
		root = v.search(key, true, numbers{infinite, infinite, 0})
		if root.phi == 0 {
			break
		}
		if v.most == quiets || v.spent() {
			return search.Proof{}, v.nodes, false
		}
	}
	v.line, v.options = v.line[:0], v.options[:0]
	v.budget = budget // the last eighth is for what the table has lost of the line
	v.follow(key, true)
	plies := max(int(root.plies), len(v.line))
	return search.Proof{Score: search.Win - search.Score(plies), Line: v.line, Kind: "vct"}, v.nodes, true
}

// salt distinguishes, in the table, who attacks and how many quiet moves it may make.
func (v *vct) salt() uint64 {
	return (uint64(v.attacker) + uint64(v.quiets)<<8 + uint64(v.most)<<16) * 0x9e3779b97f4a7c15
}

// numbers are a node's proof and disproof numbers, from the side to move: phi is
// the effort still needed to show that it reaches its goal (to win, for the attacker;
// to leave the attacker without a threat, for the defender), delta that the other side
// does. Zero is proven, and then the other is infinite. If the attacker has won,
// plies is the most that it takes.
type numbers struct {
	phi, delta uint32
	plies      uint32
}

const infinite = 1 << 30

// reached and missed are the numbers of a node whose side to move has reached or
// missed its goal.
func reached(plies int) numbers { return numbers{0, infinite, uint32(plies)} }
func missed(plies int) numbers  { return numbers{infinite, 0, uint32(plies)} }

// option is a move of a node with the numbers of the child.
type option struct {
	point gomoku.Point
	quiet bool // an attack that is no threat
	numbers
}

// vct is one search for victory by continuous threats.
type vct struct {
	field              *field
	fours              *vcf // for what a quiet move threatens
	attacker, defender gomoku.Colour
	most, quiets       int // quiet moves in a line, and those left from the current node on
	table              proofTable
	budget, nodes      int
	stop               func() bool
	stopped            bool
	options            []option // of the nodes from the root to the current one
	line               []game.Move
}

// spent reports whether the search has to end.
func (v *vct) spent() bool {
	if v.nodes&255 == 0 && v.stop() {
		v.stopped = true
	}
	return v.stopped || v.nodes >= v.budget
}

// search searches a node until one of its numbers reaches that of the limit, and
// returns them. Attacking tells whether the attacker is to move.
func (v *vct) search(key uint64, attacking bool, limit numbers) numbers {
	began, first := v.nodes, len(v.options)
	n, settled := v.list(key, attacking)
	if !settled {
		n = v.expand(key, attacking, limit, first, n.plies)
		v.options = v.options[:first]
	}
	v.table.store(key, n, v.nodes-began)
	return n
}

// expand is search for a node whose options, from first on, are listed. Unlisted is
// the number of plies in which the attacker wins after a reply that is not listed.
func (v *vct) expand(key uint64, attacking bool, limit numbers, first int, unlisted uint32) numbers {
	for {
		s := summarize(v.options[first:])
		if s.phi >= limit.phi || s.delta >= limit.delta || v.spent() {
			n := numbers{phi: s.phi, delta: s.delta}
			if attacking && n.phi == 0 || !attacking && n.delta == 0 {
				n.plies = 1 + v.options[first+v.principal(first, attacking)].plies
				n.plies = max(n.plies, 1+unlisted)
			}
			return n
		}
		next := numbers{phi: infinite, delta: min(limit.phi, s.second+1)}
		if limit.delta < infinite {
			next.phi = limit.delta - s.others
		}
		o := v.options[first+s.best]
		found := v.search(v.do(key, o, attacking), !attacking, next)
		v.undo(o, attacking)
		v.options[first+s.best].numbers = found
	}
}

// principal returns, of a node that the attacker has won, the index of the option
// that wins soonest or that resists longest, counted from first.
func (v *vct) principal(first int, attacking bool) (best int) {
	best = -1
	for i, o := range v.options[first:] {
		switch {
		case attacking && o.delta > 0:
		case best < 0, attacking == (o.plies < v.options[first+best].plies):
			best = i
		}
	}
	return best
}

// do makes a move of the side to move, and returns the new key.
func (v *vct) do(key uint64, o option, attacking bool) uint64 {
	c := v.side(attacking)
	v.nodes++
	v.field.put(o.point, c)
	key = v.childKey(key, o, c)
	if o.quiet {
		v.quiets--
	}
	return key
}

func (v *vct) undo(o option, attacking bool) {
	if o.quiet {
		v.quiets++
	}
	v.field.take(o.point, v.side(attacking))
}

func (v *vct) side(attacking bool) gomoku.Colour {
	if attacking {
		return v.attacker
	}
	return v.defender
}

func (v *vct) childKey(key uint64, o option, c gomoku.Colour) uint64 {
	key ^= gomoku.StoneKey(o.point, c) ^ gomoku.SideKey()
	if o.quiet {
		key ^= v.salt()
		v.quiets--
		key ^= v.salt()
		v.quiets++
	}
	return key
}

// summary is what a node's options say of it.
type summary struct {
	phi, delta uint32
	best       int    // index of the option to search next
	second     uint32 // delta of the second best; infinite if there is none
	others     uint32 // what the number of options adds to delta
}

func summarize(options []option) summary {
	s := summary{phi: infinite, second: infinite}
	var most, open uint32
	for i := range options {
		o := &options[i]
		if o.phi > 0 {
			open++
			most = max(most, o.phi)
		}
		if o.delta < s.phi || i == 0 {
			s.phi, s.second, s.best = o.delta, s.phi, i
		} else {
			s.second = min(s.second, o.delta)
		}
	}
	switch {
	case s.phi == 0:
		s.delta = infinite
	case open > 0:
		s.others = open - 1
		s.delta = min(most+s.others, infinite)
	}
	return s
}

// list appends the options of a node, or settles it if the field shows that the
// attacker wins or has no threat. If it is open, plies are those in which the
// attacker wins after a reply that is not listed.
func (v *vct) list(key uint64, attacking bool) (n numbers, settled bool) {
	if attacking {
		return v.listAttacks(key)
	}
	return v.listReplies(key)
}

func (v *vct) listAttacks(key uint64) (numbers, bool) {
	f := v.field
	own, other := &f.sets[v.attacker], &f.sets[v.defender]
	if !own[five].empty() {
		return reached(1), true
	}
	if fives := &other[five]; !fives.empty() {
		block := fives.first()
		if fives.count() > 1 || f.foul(block, v.attacker) {
			return missed(0), true
		}
		v.option(key, option{block, false, numbers{1, 1, 0}}, v.attacker)
		return numbers{}, false
	}
	if _, ok := f.firstAllowed(&own[two4s], v.attacker); ok {
		return reached(3), true
	}
	first := len(v.options)
	for p := range own[open3].all() {
		if f.foul(p, v.attacker) {
			continue
		}
		v.option(key, option{p, false, numbers{1, v.promise(p), 0}}, v.attacker)
	}
	if v.quiets > 0 && other[two4s].empty() {
		quiet := f.open.intersect(&f.near)
		quiet = quiet.minus(&own[open3])
		for p := range quiet.all() {
			if f.info(p, v.attacker).builds && !f.foul(p, v.attacker) {
				v.option(key, option{p, true, numbers{1, quietPromise, 0}}, v.attacker)
			}
		}
	}
	return missed(0), len(v.options) == first
}

func (v *vct) listReplies(key uint64) (numbers, bool) {
	f := v.field
	own, other := &f.sets[v.defender], &f.sets[v.attacker]
	if !own[five].empty() {
		return reached(0), true
	}
	if fives := &other[five]; !fives.empty() {
		block := fives.first()
		if fives.count() > 1 || f.foul(block, v.defender) {
			return missed(2), true
		}
		v.option(key, option{block, false, numbers{1, 1, 0}}, v.defender)
		return numbers{plies: 1}, false
	}
	if _, ok := f.firstAllowed(&own[two4s], v.defender); ok {
		return reached(0), true // two fives with one stone: more than the attacker can stop
	}
	unlisted := 3
	stops, threatened := f.stopsOfTwo4s(v.attacker)
	if !threatened && v.most > 0 {
		stops, unlisted, threatened = v.stopsOfFours(key)
	}
	if !threatened {
		return reached(0), true
	}
	first := len(v.options)
	replies := stops.union(&own[four])
	for p := range replies.all() {
		if !f.foul(p, v.defender) {
			v.option(key, option{p, false, numbers{1, 1, 0}}, v.defender)
		}
	}
	if len(v.options) == first {
		return missed(1 + unlisted), true
	}
	return numbers{plies: uint32(unlisted)}, false
}

// quietPromise is promise for a quiet move, and quietFours the nodes in which what it
// threatens must be found.
const (
	quietPromise = 40
	quietFours   = 300
)

// winsByFours looks for a VCF of the attacker, as if it were to move, and returns its
// number of fours. Key is that of the position with the attacker to move.
func (v *vct) winsByFours(key uint64, budget int) (fours int, won bool) {
	w := v.fours
	w.budget, w.nodes = min(budget, v.budget-v.nodes), 0
	for fours = 1; !w.spent(); fours++ {
		w.truncated = false
		if won = w.attack(key, fours, 0); won || !w.truncated {
			break
		}
	}
	v.nodes += w.nodes
	return fours, won
}

// stopsOfFours looks for a VCF that the attacker threatens, and returns the points
// where the defender, who is to move, may stop it, besides its own fours, and in how
// many plies it wins otherwise. These are the points of all its moves, fours that the
// defender's forced replies would make with them, and those that take away one of the
// two fives at its end. As in stopsOfTwo4s, a VCF with points that may become forbidden
// does not count; if the VCF ends with a point that is forbidden to the defender, all points are
// returned, since that may depend on any of them.
func (v *vct) stopsOfFours(key uint64) (stops points, plies int, threatened bool) {
	f := v.field
	if v.budget-v.nodes < 2*quietFours {
		v.nodes = v.budget // too few are left for the line as well
		return points{}, 0, false
	}
	fours, threatened := v.winsByFours(key^v.salt()^gomoku.SideKey(), quietFours)
	if !threatened {
		return points{}, 0, false
	}
	all, last := f.open, 2*(fours-1) // last is the ply of the last four
	done := 0
	for ; threatened && done <= last; done++ {
		p, c := gomoku.Point(v.fours.line[done]-1), v.side(done%2 == 0)
		switch {
		case done%2 == 1:
		case f.info(p, c).foul != noFoul:
			threatened = false
		case done < last:
		case f.sets[c][two4s].has(p):
			at := f.stopsAt(p, c)
			stops = stops.union(&at)
		default:
			stops = all
		}
		stops.add(p)
		v.nodes++
		f.put(p, c)
		if done%2 == 1 {
			stops = stops.union(&f.sets[c][four])
		}
	}
	for done--; done >= 0; done-- {
		f.take(gomoku.Point(v.fours.line[done]-1), v.side(done%2 == 0))
	}
	return stops, 2*fours + 1, threatened
}

// promise guesses the effort to prove that the attacker wins with a move at p, from 1.
// A four and a three together nearly win; a threat that makes nothing else rarely
// does. Of the positions of random games of which 20,000 nodes proved 422, 500 nodes
// proved 259 with these weights, and 121 without.
func (v *vct) promise(p gomoku.Point) uint32 {
	const most, step = 6, 4
	f := v.field
	rows, direct := 0, false
	for d := range gomoku.Direction(gomoku.Directions) {
		switch k := f.state[p].rows.of(v.attacker).kind(d); {
		case k.IsOpenTwo(), k == gomoku.Three:
			rows++
		case k.IsOpenThree():
			rows += 3
		case k == gomoku.Four:
			rows += 3
			direct = true
		}
	}
	n := uint32(1 + step*(most-min(rows, most)))
	if !direct {
		n++ // there are several replies
	}
	return n
}

// option appends a move of colour c, with the numbers that the table has of it instead
// of those guessed.
func (v *vct) option(key uint64, o option, c gomoku.Colour) {
	if n, ok := v.table.probe(v.childKey(key, o, c)); ok {
		o.numbers = n
	}
	v.options = append(v.options, o)
}

// follow appends to the line from a node that the attacker has won: the best move of
// the attacker, the reply that resists longest. What the table has lost is searched
// again. If the budget does not suffice, the line ends early.
func (v *vct) follow(key uint64, attacking bool) {
	first := len(v.options)
	n, settled := v.list(key, attacking)
	if settled {
		v.finish(key, attacking, n)
		return
	}
	n = v.expand(key, attacking, numbers{infinite, infinite, 0}, first, n.plies)
	var o option
	proven := attacking && n.phi == 0 || !attacking && n.delta == 0
	if proven {
		o = v.options[first+v.principal(first, attacking)]
	}
	v.options = v.options[:first]
	if !proven || v.nodes >= v.budget {
		return
	}
	v.line = append(v.line, gomoku.StoneMove(o.point))
	v.follow(v.do(key, o, attacking), !attacking)
	v.undo(o, attacking)
}

// finish appends the end of the line, from a node that list settles as won.
func (v *vct) finish(key uint64, attacking bool, n numbers) {
	f := v.field
	var p gomoku.Point
	switch fives := &f.sets[v.attacker][five]; {
	case n.plies == 0:
		return
	case !fives.empty() && attacking:
		p = fives.first()
	case !fives.empty():
		var ok bool
		if p, ok = f.firstAllowed(fives, v.defender); !ok {
			return // the four can't be stopped
		}
	case attacking:
		p, _ = f.firstAllowed(&f.sets[v.attacker][two4s], v.attacker)
	case f.sets[v.attacker][two4s].empty():
		return // every reply to a quiet move is forbidden
	default:
		// No reply stops all threats: this one stops the first.
		for p = range f.sets[v.attacker][two4s].all() {
			if f.info(p, v.attacker).foul == noFoul {
				break
			}
		}
		if f.foul(p, v.defender) {
			return
		}
	}
	v.line = append(v.line, gomoku.StoneMove(p))
	if n.plies == 1 || v.nodes >= v.budget {
		return
	}
	o := option{point: p}
	key = v.do(key, o, attacking)
	n, _ = v.list(key, !attacking)
	v.finish(key, !attacking, n)
	v.undo(o, attacking)
}
