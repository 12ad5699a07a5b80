package search

import "sparring/game"

// Score is the value of a position for the side to move, in the game's own
// integer unit. It fits 16 bits.
type Score int32

// The ranges of a score, from the middle outwards. Results known from the
// rules or a prover lie outside the range of evaluations. A win by repetition
// lies below every proven win, because it depends on the path that led there.
const (
	Draw     Score = 0
	MaxEval  Score = 28000         // |Eval| stays within
	RepWin   Score = 30000         // win by a repetition rule: RepWin - plies
	Win      Score = 32000         // proven win: Win - plies to the end
	WinBound Score = Win - 1000    // at or above: a proven win
	RepBound Score = RepWin - 1000 // at or above, and below WinBound: a win by repetition
	Infinity Score = 32001
)

// AtPly converts a Node's Verdict or a Proof's score, which count plies from
// their own node, to a score that counts from the root, ply plies above: wins
// come sooner, losses later.
func AtPly(verdict Score, ply int) Score {
	switch {
	case verdict >= RepBound:
		return verdict - Score(ply)
	case verdict <= -RepBound:
		return verdict + Score(ply)
	}
	return verdict
}

// MateIn returns the number of plies of a proven win of the side to move, negative
// for a loss; ok is false for other scores.
func MateIn(s Score) (plies int, ok bool) {
	switch {
	case s >= WinBound:
		return int(Win - s), true
	case s <= -WinBound:
		return -int(Win + s), true
	}
	return 0, false
}

// MaxPly bounds the length of a line, in plies from the root.
const MaxPly = 128

// Position is what a game implements for the kernel: a few methods that do a
// lot each, because an interface call costs as much as a small one does
// (measured: a coarse interface ~1 % of a light node, a fine one 13-19 %).
//
// At each node the kernel calls Enter first, then any of Find, Moves and Eval,
// then Do, which leads to the next node's Enter. After Undo or Unpass the
// position is again as it was after its Enter, which is not called a second
// time. Do only gets moves that Find or Moves returned at this node.
//
// The turn alternates within a search; opening procedures are handled outside
// of it. A Position belongs to one goroutine.
type Position interface {
	// Enter returns what the kernel needs before it asks for moves.
	Enter() Node
	// Moves puts the next batch of legal moves into buf[:0] and returns it; an
	// empty batch is the end. The caller starts with a zero cursor, except for
	// Mode. Several cursors may be in use at one node, and the kernel searches
	// the moves of one batch before it asks for the next (the position is back
	// at this node by then). With Mode All the batches are disjoint and their
	// union is the legal list, with two exceptions: at Forced nodes moves that
	// lose at once may be missing, and at Restricted nodes moves that provably
	// lose while one that does not lose sooner is given. Never are all moves
	// missing: a node that is not Over and has no move is lost (Xiangqi,
	// Amazons). With Mode AndLosing those of Restricted nodes come last. With
	// Mode Noisy no Quiet move comes.
	Moves(buf []ScoredMove, c *Cursor) []ScoredMove
	// Find returns the ScoredMove of m if Moves(All) gives m at this node. M
	// may be any 32 bits: it may come from a hash collision or, as a killer,
	// from another node.
	Find(m game.Move) (ScoredMove, bool)
	Do(m game.Move)
	Undo(m game.Move)
	// Pass gives the turn to the other side (null move). It is not called at a
	// node without MayPass, nor twice without a Do in between.
	Pass()
	Unpass()
	// Eval returns the static evaluation, |Eval| <= MaxEval, a function of the
	// position alone. It is not called where the rules have ended the game.
	Eval() Score
	// Clone returns an independent copy for another worker, at the same node.
	Clone() Position
}

// Node is what the kernel needs to know of a position before its moves.
type Node struct {
	Key uint64 // the position's key, as game.Position.Key
	// SearchKey is the key of the hash table: Key combined with everything
	// else that changes the score, such as rules, evaluation and the range of
	// the move limit that the game is in.
	SearchKey uint64
	// CorrectionKey, unless 0, is a key of slowly changing features (pawns,
	// material): evaluation errors of nodes with the same one are alike.
	CorrectionKey uint64
	// Forced: in check, or facing a four. No stand pat, null move or reduction
	// here, and quiescence searches all of Moves(All).
	Forced bool
	// Restricted: Moves and Find may leave out moves that provably lose, so
	// nothing follows from the number of moves. Otherwise the node is like any
	// other: only Forced and MayPass decide about stand pat, null move and reverse
	// futility pruning.
	Restricted bool
	// MayPass: a null move makes sense, for passing is hardly ever better than
	// every move, and no threat asks for a certain move.
	MayPass bool
	// Provable: the prover will probably solve this node, so it is asked at any
	// depth (Params.ProveNode).
	Provable bool
	// NoTable: the score depends on more than SearchKey (near the move limit),
	// so it is neither taken from the hash table nor stored there.
	NoTable bool
	// Over: the game has ended, by its rules or by a repetition judged as the
	// rules would, with Verdict for the side to move: -Win, Draw, Win or
	// +-RepWin. The kernel adds the distance from the root. Over is also set
	// where an endgame table knows the result; Verdict then includes the plies
	// to the end, like a Proof's score. The kernel searches the root anyway,
	// since a move is wanted.
	Over    bool
	Verdict Score
	// RepetitionPlies > 0: Verdict depends on the position that many plies
	// back. A score that depends on a position before the node it belongs to
	// is not stored (the graph-history interaction problem).
	RepetitionPlies int
}

// Mode selects the moves that a cursor runs through.
type Mode uint8

// The modes.
const (
	All   Mode = iota // every legal move
	Noisy             // only those that quiescence should see
	// AndLosing: as All, then those that a Restricted node leaves out. The kernel
	// does not use it: people overlook what an engine need not try.
	AndLosing
)

// Cursor is the state of one run through the moves of a node. The kernel sets
// the first four fields; the others belong to the adapter.
type Cursor struct {
	Mode Mode
	// SkipQuiets: from here on the kernel wants only the quiet moves that are
	// Forcing; the adapter may leave out the others.
	SkipQuiets bool
	// VictimOrder: order captures by their victims (MVV-LVA), not by static
	// exchange.
	VictimOrder bool
	// Depth is how deep the node is to be searched, or 0: where it is great the
	// adapter may take more time for the order of its moves.
	Depth int

	Stage uint8
	Ints  [4]int32
	Bits  [2]uint64
}

// Noise tells quiet moves from those that quiescence looks at.
type Noise uint8

// The kinds of moves.
const (
	Quiet     Noise = iota
	BadNoisy        // a capture that loses the exchange, or the like
	GoodNoisy       // any other capture, a four, a promotion
)

// ScoredMove is a move with what the kernel needs to order and prune it.
type ScoredMove struct {
	Move game.Move
	// Order is the adapter's move-ordering score. The kernel adds history
	// scores within +-16384 and orders the moves of a batch by the sum. Better
	// batches come first: the kernel does not look ahead into the next one.
	// With LMRParams.Order or Params.PolicyPruning its differences matter as
	// well, within a batch and between batches: there it should be a scaled
	// log-probability (a policy).
	Order int32
	Noise Noise
	// Forcing: the next node is Forced or Over (the move gives check). Such a
	// move is not pruned by its place in the order or by static exchange. It
	// may be left false for a GoodNoisy move.
	Forcing bool
	// CaptureSquare identifies the square of a capture for the recapture
	// extension, counted from 1; 0 is none.
	CaptureSquare uint16
	// Gain is the value of what the move captures, in evaluation units, for
	// delta pruning; 0 for quiet moves.
	Gain Score
	// HistoryIndex has the move's index in each of the two history tables,
	// below Params.HistorySize (Xiangqi: from-to and piece-to; Amazons: queen
	// move and arrow; Gomoku: point, and 0).
	HistoryIndex [2]uint16
}

// StaticExchanger is implemented by a Position with static exchange
// evaluation (SEE).
type StaticExchanger interface {
	// SEE reports whether the exchange that m starts on its target square
	// gains at least threshold.
	SEE(m game.Move, threshold Score) bool
}

// Releaser is implemented by a Position that can use some of its memory again for
// another one.
type Releaser interface {
	// Release is called by whoever has made or cloned the position, and does not use it
	// any more.
	Release()
}

// KeyPrefetcher is implemented by a Position that can guess the key of the
// next position before a move is made, so that its hash-table bucket is
// fetched from memory meanwhile.
type KeyPrefetcher interface {
	// KeyAfter returns the SearchKey that the position after m will most probably
	// have. A wrong guess costs only time.
	KeyAfter(m game.Move) uint64
}

// Prover is implemented by a Position with a special search that can solve
// some positions (victory by continuous fours, divided territory, mate by
// checks).
type Prover interface {
	// Prove searches at most budget nodes (each one Do) and calls stop now and
	// then. If ok, the score is certain and includes the distance, as in
	// Node.Verdict; the line starts at this node and may be empty. If not ok,
	// nothing is proven. Nodes is the number searched.
	Prove(budget int, stop func() bool) (p Proof, nodes int, ok bool)
}

// Proof is a proven score with its line.
type Proof struct {
	Score Score       // from the side to move; Win - n wins in n plies
	Line  []game.Move // the winning line as far as known, valid until the next call
	Kind  string      // "vcf", "vct", "region", "tablebase"
}
