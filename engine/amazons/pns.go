package amazons

import (
	"math"
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// proofSearch solves positions with few free squares by depth-first proof-number search
// (df-pn; Nagai, "Df-pn algorithm for searching AND/OR trees and its
// applications", 2002): it always expands the position with the fewest others
// still to be solved. The first estimate of that number is from the evaluation,
// areas decide positions early, and positions that are images of each other count
// as one. The table stays from search to search, so the next one continues where
// the last one stopped.
type proofSearch struct {
	images [][]rules.Square // of each square, by symmetry
	table  []proofEntry
	used   int           // entries
	read   uint64        // keeps the compiler from dropping what moves reads ahead
	lists  [][]proofMove // by depth
	buffer []game.Move

	budget int
	nodes  int
	polls  int
	stop   func() bool
}

// proofEntry is a position in the table, by its key up to symmetry.
type proofEntry struct {
	key uint64
	proofNumbers
}

// proofNumbers estimate how many positions are to be solved to prove that the side to
// move wins, and that it loses: 0 is proven, infinite impossible.
type proofNumbers struct{ win, loss uint32 }

const infinite = math.MaxUint32

// lineBudget is the number of nodes spent to find the proven line again.
const lineBudget = 20000

// proofMove is a move, with the numbers of the position after it for its side to move.
type proofMove struct {
	move game.Move
	key  uint64
	proofNumbers
}

// The table grows with use between these numbers of entries, of 16 bytes. Entries
// are looked for in buckets.
const (
	firstEntries = 1 << 12
	maxEntries   = 1 << 22
	bucketSize   = 4
)

// newProofSearch returns a solver for a board.
func newProofSearch(b *rules.Board) *proofSearch {
	s := &proofSearch{table: make([]proofEntry, firstEntries)}
	cols, rows := b.Size()
	symmetries := 4
	if cols == rows {
		symmetries = 8
	}
	for symmetry := range symmetries {
		images := make([]rules.Square, cols*rows)
		for i := range images {
			col, row := i%cols, i/cols
			if symmetry&1 != 0 {
				col = cols - 1 - col
			}
			if symmetry&2 != 0 {
				row = rows - 1 - row
			}
			if symmetry&4 != 0 {
				col, row = row, col
			}
			images[i] = rules.Square(row*cols + col)
		}
		s.images = append(s.images, images)
	}
	return s
}

// imageKeys are a position's keys under the symmetries, without the side to move.
type imageKeys [8]uint64

// Kinds of squares in an imageKeys.
const (
	freeSquare = 2 // after the seats
	turnNumber = 3
)

// proofZobrist are the numbers of the keys. Numbers from 1<<20 on are
// used for nothing else.
var proofZobrist = func() (t [turnNumber + 1][stepSlots >> 7]uint64) {
	for kind := range t {
		for s := range t[kind] {
			t[kind][s] = game.Zobrist(rules.Seed, uint64(1<<20+kind<<8+s))
		}
	}
	return t
}()

func (s *proofSearch) keys(b *rules.Board) (k imageKeys) {
	for kind, set := range [...]rules.Bits{b.Amazons(game.First), b.Amazons(game.Second), b.Free()} {
		for !set.Empty() {
			at := set.Pop()
			for i, images := range s.images {
				k[i] ^= proofZobrist[kind][images[at]]
			}
		}
	}
	return k
}

// after returns the keys after a move of a side.
func (s *proofSearch) after(k *imageKeys, side game.Seat, m game.Move) imageKeys {
	from, to, arrow := rules.Squares(m)
	next := *k
	for i, images := range s.images {
		next[i] ^= proofZobrist[side][images[from]] ^ proofZobrist[side][images[to]] ^
			proofZobrist[freeSquare][images[from]] ^ proofZobrist[freeSquare][images[to]] ^
			proofZobrist[freeSquare][images[arrow]]
	}
	return next
}

// key returns the key up to symmetry.
func (s *proofSearch) key(k *imageKeys, turn game.Seat) uint64 {
	return slices.Min(k[:len(s.images)]) ^ proofZobrist[turnNumber][turn]
}

// bucket returns the entries among which a key may be.
func (s *proofSearch) bucket(key uint64) []proofEntry {
	at := key & uint64(len(s.table)-1) &^ (bucketSize - 1)
	return s.table[at : at+bucketSize]
}

// slot returns the entry of a key, or else the one that it replaces.
func (s *proofSearch) slot(key uint64) *proofEntry {
	bucket := s.bucket(key)
	for i := range bucket {
		if bucket[i].key == key || bucket[i].key == 0 {
			return &bucket[i]
		}
	}
	return &bucket[key>>62]
}

func (s *proofSearch) store(key uint64, n proofNumbers) {
	e := s.slot(key)
	if e.key == 0 {
		if s.used++; s.used > len(s.table)/2 && len(s.table) < maxEntries {
			old := s.table
			s.table, s.used = make([]proofEntry, 4*len(old)), 1
			search.HugePages(s.table)
			for i := range old {
				if old[i].key != 0 {
					*s.slot(old[i].key) = old[i]
					s.used++
				}
			}
			e = s.slot(key)
		}
	}
	*e = proofEntry{key, n}
}

// solve searches the position with at most so many nodes, one for each position
// that is evaluated. Line is the play as far as it is proven.
func (s *proofSearch) solve(p *position, budget int, stop func() bool) (n proofNumbers, line []game.Move) {
	s.budget, s.nodes, s.stop = budget, 0, stop
	k := s.keys(&p.board)
	n = s.search(p, &k, 0, proofNumbers{infinite, infinite})
	if n.win != 0 && n.loss != 0 {
		return n, nil
	}
	won, nodes := n.win == 0, s.nodes
	s.budget += lineBudget
	defer func() { s.nodes = min(s.nodes, nodes) }()
	for {
		next := game.NoMove
		if !p.Enter().Over {
			// What was proven may have been replaced in the table.
			for try := 0; try < 2 && next == game.NoMove; try++ {
				if try > 0 {
					s.search(p, &k, 1, proofNumbers{infinite, infinite})
				}
				for _, c := range s.moves(p, &k, 0) {
					if won && c.loss == 0 || !won && c.win == 0 {
						next = c.move
						break
					}
				}
			}
		}
		if next == game.NoMove {
			break
		}
		line = append(line, next)
		k = s.after(&k, p.board.Turn(), next)
		p.Do(next)
		won = !won
	}
	for i := range line {
		p.Undo(line[len(line)-1-i])
	}
	return n, line
}

// search searches a position until one of its numbers reaches its limit.
func (s *proofSearch) search(p *position, k *imageKeys, depth int, limit proofNumbers) proofNumbers {
	turn := p.board.Turn()
	list := s.moves(p, k, depth)
	for {
		// One move that wins is enough; all must be proven to lose.
		n := proofNumbers{infinite, 0}
		best, second, sum := 0, uint32(infinite), uint64(0)
		for i := range list {
			c := &list[i]
			sum += uint64(c.win)
			switch {
			case c.loss < n.win:
				best, second, n.win = i, n.win, c.loss
			case c.loss < second:
				second = c.loss
			}
		}
		switch {
		case n.win == 0:
			n.loss = infinite
		case sum == 0:
			n.win = infinite
		default:
			n.loss = uint32(min(sum, infinite-1))
		}
		if n.win >= limit.win || n.loss >= limit.loss || n.win == 0 || s.stopped() {
			s.store(s.key(k, turn), n)
			return n
		}
		// The best move has the limits at which another one, or this position's
		// parent, would turn elsewhere. To go a little beyond the second best
		// saves turning to and fro.
		c := &list[best]
		next := proofNumbers{win: infinite, loss: min(limit.win, second+min(second, infinite-second))}
		if others := sum - uint64(c.win); limit.loss < infinite {
			next.win = uint32(uint64(limit.loss) - min(others, uint64(limit.loss)-1))
		}
		after := s.after(k, turn, c.move)
		p.Do(c.move)
		c.proofNumbers = s.search(p, &after, depth+1, next)
		p.Undo(c.move)
	}
}

// stopped calls stop now and then.
func (s *proofSearch) stopped() bool {
	if s.polls++; s.polls%64 == 0 && s.stop() {
		s.budget = s.nodes
	}
	return s.nodes >= s.budget
}

// moves lists the moves of the position, up to symmetry, with their numbers.
func (s *proofSearch) moves(p *position, k *imageKeys, depth int) []proofMove {
	if depth == len(s.lists) {
		s.lists = append(s.lists, nil)
	}
	list := s.lists[depth][:0]
	turn := p.board.Turn()
	images := k[:len(s.images)]
	symmetric := false
	for i := range images {
		symmetric = symmetric || slices.Contains(images[:i], images[i])
	}
	s.buffer = p.board.Moves(s.buffer[:0])
	for _, m := range s.buffer {
		after := s.after(k, turn, m)
		c := proofMove{move: m, key: s.key(&after, turn.Other())}
		if symmetric && slices.ContainsFunc(list, func(e proofMove) bool { return e.key == c.key }) {
			continue
		}
		list = append(list, c)
	}
	// No read waits for another one: the table is read from many places at a time.
	for i := range list {
		s.read ^= s.bucket(list[i].key)[0].key
	}
	for i := range list {
		c := &list[i]
		if e := s.slot(c.key); e.key == c.key {
			c.proofNumbers = e.proofNumbers
			if c.loss == 0 && c.win != 0 {
				return list[i : i+1] // a win
			}
		}
	}
	for i := range list {
		c := &list[i]
		if c.proofNumbers != (proofNumbers{}) {
			continue // known
		}
		p.Do(c.move)
		c.proofNumbers = s.estimate(p)
		p.Undo(c.move)
		if c.win == 0 || c.loss == 0 {
			s.store(c.key, c.proofNumbers)
		}
		if c.loss == 0 {
			list = list[:i+1]
			break // a win
		}
	}
	s.lists[depth] = list
	return list
}

// estimate returns the first numbers of a position: proven, or by its evaluation.
func (s *proofSearch) estimate(p *position) proofNumbers {
	if s.nodes >= s.budget {
		return proofNumbers{1, 1} // the search ends before it matters
	}
	s.nodes++
	node := p.Enter()
	lost, won := proofNumbers{infinite, 0}, proofNumbers{0, infinite}
	if node.Over {
		return lost
	}
	if node.Provable {
		proof, nodes, ok := p.proveAreas(min(proveAtLeaf, s.budget-s.nodes), s.stop)
		s.nodes += nodes
		switch {
		case ok && proof.Score > 0:
			return won
		case ok:
			return lost
		}
	}
	e := min(max(int(p.Eval())*stepsOfTwo/doublesAt, -stepsOfTwo*maxDoublings), stepsOfTwo*maxDoublings)
	return proofNumbers{powers[stepsOfTwo*maxDoublings-e], powers[stepsOfTwo*maxDoublings+e]}
}

// powers are those of two, in steps of a quarter, from which estimates are taken.
var powers = func() (t [2*stepsOfTwo*maxDoublings + 1]uint32) {
	for i := range t {
		t[i] = uint32(math.Round(math.Exp2(float64(i) / stepsOfTwo)))
	}
	return t
}()

// prove solves the position if it is small enough.
func (p *position) prove(budget int, stop func() bool) (search.Proof, int, bool) {
	free := p.board.Free().Count()
	if free > solvedSquares || budget <= 0 {
		return search.Proof{}, 0, false
	}
	if p.proofs == nil {
		p.proofs = newProofSearch(&p.board)
	}
	// doublesAt is for the paper's evaluation: with the learnt one, which was learnt on
	// full boards, small boards take three times the nodes.
	usual, stages, tables := p.eval, p.stages, p.tables
	p.evaluateBy(&staged)
	n, line := p.proofs.solve(p, budget, stop)
	p.eval, p.stages, p.tables = usual, stages, tables
	proof := search.Proof{Line: line, Kind: "region"}
	// The winner moves last, at the latest on the last free square.
	switch {
	case n.win == 0:
		proof.Score = search.Win - search.Score(free-1+free%2)
	case n.loss == 0:
		proof.Score = -search.Win + search.Score(free-free%2)
	default:
		return search.Proof{}, p.proofs.nodes, false
	}
	return proof, p.proofs.nodes, true
}
