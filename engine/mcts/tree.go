package mcts

import (
	"container/list"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"sparring/engine/search"
	"sparring/game"
)

// value is the winning chance of the side to move, draws counted half, in
// units of 1/one. Integers make results the same on every machine.
type value int32

const one value = 1 << 15

// node is a position of the tree. Its statistics are for its side to move.
type node struct {
	sum    int64     // of the values that visits have brought
	visits uint32    // finished
	first  chunkID   // of its children, none where there is none
	move   game.Move // that led here
	q      uint16    // the value: a mixture of mean and minimax, exact if proven
	best   uint16    // the minimax value of what has been visited below
	prior  uint16    // the policy's probability of the move, in units of 1/priorOne

	// proven, if not 0, is the certain result: a score of a proven win or loss
	// that counts plies from here, or provenDraw.
	proven  int16
	virtual uint16 // visits in progress
	// opened is the number of children, with allOpened once no move is left.
	opened uint16
}

const (
	priorOne         = 1<<16 - 1
	provenDraw int16 = 1
	allOpened        = 1 << 15
	maxOpened        = allOpened - chunkNodes
	lostAtOnce       = -int16(search.Win)
)

// children returns how many children are open.
func (n *node) children() int { return int(n.opened &^ allOpened) }

// exhausted reports whether no move is left to open.
func (n *node) exhausted() bool { return n.opened&allOpened != 0 }

// won and lost report a proven result for the side to move.
func (n *node) won() bool  { return n.proven >= int16(search.WinBound) }
func (n *node) lost() bool { return n.proven <= -int16(search.WinBound) }

// certain returns the value of a proven node.
func (n *node) certain() value {
	switch {
	case n.won():
		return one
	case n.lost():
		return 0
	}
	return one / 2
}

// nodeID is the index of a node: a chunk and one of its chunkNodes places.
// chunkID is the index of a chunk of siblings; none is the root's own, which
// nobody has as children.
type (
	nodeID  uint32
	chunkID uint32
)

const (
	chunkNodes         = 4
	none       chunkID = 0

	slabChunks = 256 // 33 KiB
	slabBytes  = slabChunks * (chunkNodes*32 + 4)
)

// slab is the unit in which trees get memory. next links the chunks of a node's
// children, in the order in which they were opened.
type slab struct {
	nodes [slabChunks * chunkNodes]node
	next  [slabChunks]chunkID
}

// tree is a game's tree. Chunks are handed out one after another; what is given
// back comes from moving the chunks that stay together.
type tree struct {
	store *store

	// exclusive is held for reading during a visit, and for writing while chunks
	// move. Lock it before mu.
	exclusive sync.RWMutex
	// mu guards the nodes. It is held while a visit chooses a child, adds
	// children or brings its value up, not while it computes a position.
	mu sync.Mutex

	slabs  []*slab
	chunks chunkID     // in use, from 0
	full   atomic.Bool // a chunk was refused

	// Root is where searches begin. Base is the root or, while a reply is pondered,
	// that of the search before, whose other replies may still be played. What is
	// not below base is of no more use.
	root, base       nodeID
	rootPos, basePos search.Position
	restricted       bool // only some moves were allowed at the root

	// Of the search so far, by all workers.
	visits   uint64
	depths   uint64 // sum over the visits
	seldepth int    // the deepest

	marks       []uint64 // of chunks, by compact
	ranks       []chunkID
	compactions int

	idle *list.Element // in store.idle, guarded by its mu
}

func (t *tree) at(i nodeID) *node {
	return &t.slabs[i/(slabChunks*chunkNodes)].nodes[i%(slabChunks*chunkNodes)]
}

func (t *tree) next(c chunkID) *chunkID { return &t.slabs[c/slabChunks].next[c%slabChunks] }

// firstNode returns the first node of a chunk.
func (c chunkID) firstNode() nodeID { return nodeID(c) * chunkNodes }

// after returns the sibling that was opened after i. The first is that of the
// parent's first chunk.
func (t *tree) after(i nodeID) nodeID {
	if (i+1)%chunkNodes != 0 {
		return i + 1
	}
	return t.next(chunkID(i / chunkNodes)).firstNode()
}

// reserve makes sure that so many chunks can be allocated. False means that there is no
// memory for them.
func (t *tree) reserve(chunks chunkID) bool {
	for int(t.chunks+chunks) > len(t.slabs)*slabChunks {
		s := t.store.take(t)
		if s == nil {
			t.full.Store(true)
			return false
		}
		t.slabs = append(t.slabs, s)
	}
	return true
}

// allocate returns a new chunk of zero nodes, which was reserved.
func (t *tree) allocate() chunkID {
	c := t.chunks
	t.chunks++
	*t.next(c) = none
	nodes := &t.slabs[c/slabChunks].nodes
	clear(nodes[c%slabChunks*chunkNodes : (c%slabChunks+1)*chunkNodes])
	return c
}

// reset makes the tree a single root, which has not been visited.
func (t *tree) reset(pos search.Position) {
	t.chunks, t.restricted = 0, false
	t.full.Store(false)
	if !t.reserve(1) {
		panic("mcts: no memory for a root") // the store grants minSlabs
	}
	t.allocate()
	t.base, t.root = 0, 0
	t.basePos, t.rootPos = pos.Clone(), pos.Clone()
}

// compact keeps what is below the root and, of that, only the children of nodes with
// at least so many visits. The caller holds exclusive.
func (t *tree) compact(visits uint32) {
	t.compactions++
	t.marks = append(t.marks[:0], make([]uint64, int(t.chunks)/64+1)...)
	t.mark(t.root, visits)
	root := *t.at(t.root)
	// The chunks that stay move down in their order; ranks has the number of those
	// before each word of marks. Chunk 0 is the root's.
	t.ranks = t.ranks[:0]
	n := chunkID(1)
	for _, word := range t.marks {
		t.ranks = append(t.ranks, n)
		n += chunkID(bits.OnesCount64(word))
	}
	moved := func(c chunkID) chunkID {
		if c == none {
			return none
		}
		word, bit := c/64, c%64
		return t.ranks[word] + chunkID(bits.OnesCount64(t.marks[word]&(1<<bit-1)))
	}
	relocate := func(n *node) { n.first = moved(n.first) }
	relocate(&root)
	for word, set := range t.marks {
		for ; set != 0; set &= set - 1 {
			from := chunkID(word*64 + bits.TrailingZeros64(set))
			to := moved(from)
			next := moved(*t.next(from))
			for i := range nodeID(chunkNodes) {
				n := *t.at(from.firstNode() + i)
				relocate(&n)
				*t.at(to.firstNode() + i) = n
			}
			*t.next(to) = next
		}
	}
	*t.at(0) = root
	t.root, t.base, t.basePos = 0, 0, t.rootPos
	t.chunks = n
	t.full.Store(false)
}

// mark marks the chunks below a node that stay, and makes leaves of the nodes whose
// children go.
func (t *tree) mark(from nodeID, visits uint32) {
	n := t.at(from)
	if n.first == none {
		return
	}
	if n.visits < visits && from != t.root {
		n.first, n.opened = none, 0
		return
	}
	for c := n.first; c != none; c = *t.next(c) {
		t.marks[c/64] |= 1 << (c % 64)
		for i := range nodeID(chunkNodes) {
			t.mark(c.firstNode()+i, visits)
		}
	}
}

// makeRoom gives memory back, so that the tree can grow again: first what is not
// below the search root, then the children of the least visited nodes, until
// the tree takes no more than half of what it may have. Where that would take until
// the deadline, it does nothing: then the tree does not grow any more.
func (t *tree) makeRoom(deadline time.Time) {
	t.exclusive.Lock()
	defer t.exclusive.Unlock()
	t.mu.Lock() // reports look at the tree between visits
	defer t.mu.Unlock()
	if !t.full.Load() {
		return // somebody else did
	}
	if !deadline.IsZero() && time.Until(deadline) < time.Duration(t.chunks)*roomTime {
		return
	}
	fair := min(t.store.fair(), len(t.slabs))
	most := max(fair/2, 1) * slabChunks
	if t.compact(0); int(t.chunks) > most {
		t.compact(t.threshold(most))
	}
	keep := max((int(t.chunks)+slabChunks-1)/slabChunks, fair)
	t.store.put(t.slabs[keep:])
	clear(t.slabs[keep:])
	t.slabs = t.slabs[:keep]
}

// roomTime is about what makeRoom takes for each chunk: twice 100 ns, measured, and
// some more for a busy machine.
const roomTime = 300 * time.Nanosecond

// threshold returns how many visits a node needs to keep its children, so that at
// most that many chunks stay. It counts the chunks by their parents' visits, in
// classes: each number below 8, then 8 classes for each power of two.
func (t *tree) threshold(most int) uint32 {
	var chunks [8 * 30]int
	total := 0
	for i := range nodeID(t.chunks) * chunkNodes {
		n := t.at(i)
		k := (n.children() + chunkNodes - 1) / chunkNodes
		chunks[visitClass(n.visits)] += k
		total += k
	}
	c := 0
	for ; c < len(chunks)-1 && total > most; c++ {
		total -= chunks[c]
	}
	return minVisits(c)
}

func visitClass(visits uint32) int {
	if visits < 8 {
		return int(visits)
	}
	n := bits.Len32(visits) - 4
	return 8*(n+1) + int(visits>>n&7)
}

// minVisits returns the least number of visits of a class.
func minVisits(class int) uint32 {
	if class < 8 {
		return uint32(class)
	}
	return uint32(8+class%8) << (class/8 - 1)
}
