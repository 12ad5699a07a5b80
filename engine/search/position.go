package search

import "sparring/game"

// Score is worth to the side to move, in the game's own integer unit. It
// fits 16 bits.
type Score int32

// The bands of a score, from the middle outwards. What the rules or a prover
// settle lies outside the evaluation; a win by repetition lies below every
// proven win, because it hangs on the path that led there.
const (
	Draw     Score = 0
	MaxEval  Score = 28000         // |Eval| stays within
	RepWin   Score = 30000         // win by a repetition rule: RepWin - plies
	Win      Score = 32000         // proven win: Win - plies to the end
	WinBound Score = Win - 1000    // at or above: a proven win
	RepBound Score = RepWin - 1000 // at or above, and below WinBound: a win by repetition
	Infinity Score = 32001
)

// AtPly is a verdict (of Node or Proof, counted from its own node) as the
// search sees it at a node ply plies from the root: wins come sooner, losses
// later.
func AtPly(verdict Score, ply int) Score {
	switch {
	case verdict >= RepBound:
		return verdict - Score(ply)
	case verdict <= -RepBound:
		return verdict + Score(ply)
	}
	return verdict
}

// MaxPly is the deepest line, in plies from the root, that a search follows.
const MaxPly = 128

// Position is what a game gives the kernel: few fat calls, because an
// interface call costs as much as a small one does (measured: a coarse
// contract ~1 % of a light node, a chatty one 13-19 %).
//
// The kernel's order of calls at a node is Enter, then any of Find, Moves,
// Eval, then Do, which leads to the next node's Enter; Undo and Unpass lead
// back, and the position is then as it was after its Enter, with nothing to be
// called again. Do only ever gets moves that Find or Moves gave here.
//
// In a search the turn alternates always; opening procedures are settled
// above it. A Position belongs to one goroutine.
type Position interface {
	// Enter tells all that a node needs to know before its moves.
	Enter() Node
	// Moves puts the next batch of legal moves into buf[:0] and returns it;
	// an empty batch ends. The cursor is the caller's, zero but for Mode at
	// first; several may be under way at one node, and between two batches
	// the kernel searches the moves of the first (the position is back at
	// this node by then). With Mode All the batches are disjoint and their
	// union is the legal list, but for Forced nodes, where moves that lose at
	// once may be missing, though never all of them: a node that is not Over
	// and has no move at all is lost (Xiangqi, Amazons). With Mode Noisy only moves with Noise > 0 come.
	Moves(buf []Entry, c *Cursor) []Entry
	// Find is the entry of m if m is a move that Moves(All) gives at this
	// node; m may be any 32 bits (hash tables lie, killers are from
	// elsewhere).
	Find(m game.Move) (Entry, bool)
	Do(m game.Move)
	Undo(m game.Move)
	// Pass lets the other side move (null move). Never called where the
	// node said !MayPass; may follow a Pass's Enter again only after Do.
	Pass()
	Unpass()
	// Eval is the static evaluation, |Eval| <= MaxEval. Never called where
	// the game has ended by its rules. Deterministic in the position alone.
	Eval() Score
	// Clone is an independent copy for another worker, at the same node.
	Clone() Position
}

// Node is what the kernel needs to know of a position before its moves.
type Node struct {
	Key uint64 // the position's key, as game.Position.Key
	// SearchKey keys the hash table: Key with all else that changes the
	// score: rules, evaluation, the bucket of the move limit.
	SearchKey uint64
	// Shape, unless 0, is a key of what changes slowly (pawns, material):
	// evaluations of nodes of one shape tend to err in the same way.
	Shape uint64
	// Forced: in check, or a four to be met. No stand-pat, no null move, no
	// reduction, and quiescence searches all of Moves(All).
	Forced bool
	// MayPass: passing is not likely to be better than any move.
	MayPass bool
	// NoCutoff: the score depends on more than SearchKey says (near the move
	// limit), so neither take a cutoff from the table nor store here.
	NoCutoff bool
	// Over: the game ends here (by its rules, or by a repetition judged as
	// its rules would) with Verdict for the side to move: -Win, Draw, Win,
	// +-RepWin. The kernel adds the distance from the root. A node may also
	// be over because it is known how it ends (endgame tables): the verdict
	// then has the plies to the end in it, as a Proof's score. The root of a
	// search is searched even so: its game goes on, a move is wanted.
	Over    bool
	Verdict Score
	// Back > 0: the verdict rests on the position that stood Back plies ago.
	// Scores that depend on a position before the node they are stored for
	// are never stored (the graph-history problem).
	Back int
}

// Mode says which moves a cursor runs through.
type Mode uint8

// The modes.
const (
	All   Mode = iota // every legal move
	Noisy             // only those that quiescence should see
)

// Cursor is the state of one run through the moves of one node. Mode, NoQuiets
// and ByVictim are the kernel's, the rest the adapter's, to use as it likes.
type Cursor struct {
	Mode Mode
	// NoQuiets: of the quiet moves that All has not given yet the kernel wants
	// only those that force; the adapter may leave the others out.
	NoQuiets bool
	// ByVictim: the kernel wants captures in the order of what they take, not
	// of how the exchange ends.
	ByVictim bool

	Stage uint8
	N     [4]int32
	W     [2]uint64
}

// Entry is a move with what the kernel needs to order and prune it.
type Entry struct {
	Move game.Move
	// Order is the adapter's static order score, comparable within a batch
	// with history scores in +-16384 added by the kernel. Batches come best
	// first: the kernel never looks ahead into the next.
	Order int32
	// Noise: 0 quiet; 1 noisy but likely losing (a bad capture); 2 noisy and
	// promising (a good capture, a four, a promotion of any kind).
	Noise uint8
	// Forces: the next node is Forced or Over (the move gives check). Such a
	// move is not pruned for coming late or for losing material; captures
	// that lose none need not tell.
	Forces bool
	// To tells captures on the same point from others, for the recapture
	// extension: the point, counted from 1, or 0.
	To uint16
	// Gain is what the move takes at once, in evaluation units (the victim's
	// value); 0 for quiet moves. For delta pruning and futility.
	Gain Score
	// Slots are the move's two indices into the history tables, each below
	// Params.Slots of the game (Xiangqi from-to and piece-to; Amazons queen
	// step and arrow; Gomoku point, and 0).
	Slots [2]uint16
}

// Exchanger is an optional power of a Position: static exchange evaluation.
type Exchanger interface {
	// SEE reports whether the exchange that m starts on its target point
	// gains at least threshold.
	SEE(m game.Move, threshold Score) bool
}

// Foreseer is an optional power of a Position: to know the key of the next one
// before the move is made, so that the hash table's entry is on its way from
// memory meanwhile.
type Foreseer interface {
	// KeyAfter is the SearchKey that the position after m will most probably
	// have; nothing hangs on it but speed.
	KeyAfter(m game.Move) uint64
}

// Prover is an optional power of a Position: a special search that settles
// some positions for good (victory by fours, divided territory, tablebases).
type Prover interface {
	// Prove searches at most budget nodes (each one Do) and asks stop now and
	// then. Ok means that the score is certain, with the distance in it as in
	// Node.Verdict; line starts at this node and may be empty. Not ok proves
	// nothing. Nodes counts what it used.
	Prove(budget int, stop func() bool) (p Proof, nodes int, ok bool)
}

// Proof is a settled score and why.
type Proof struct {
	Score Score       // from the side to move, Win - n: the win takes n plies
	Line  []game.Move // the winning line as far as known
	Kind  string      // "vcf", "region", "tablebase"
}
