package search

// Params are a game's data for the kernel. Every heuristic has a switch, so
// that its worth can be measured by leaving it out.
type Params struct {
	Game  string // salts the hash table, with what SearchKey holds
	Slots [2]int // sizes of the two history tables that Entry.Slots index

	// WinScale is the score at which the side to move wins 73 % of games:
	// chance = 1/(1+exp(-score/WinScale)).
	WinScale Score

	// Quiescence is whether leaves search on through noisy moves.
	Quiescence bool
	// QuiescencePlies is how deep quiescence goes at most; 0 is no limit.
	QuiescencePlies int

	// ProveRoot and ProveLeaf are the prover's node budgets at the root, and
	// where the main search would drop into quiescence; 0 is never.
	ProveRoot, ProveLeaf int

	On Switches
}

// Switches turn the kernel's heuristics on. A zero Switches is plain
// alpha-beta, which the tests hold against minimax.
type Switches struct {
	Aspiration   bool // narrow window around the last iteration's score
	PVS          bool // null-window search of all moves but the first
	HashMove     bool // try the table's move first
	HashCutoff   bool // take scores from the table
	Killers      bool // two quiet moves that refuted siblings
	History      bool // order quiet moves by their record of cutoffs
	MateDistance bool // prune what can't beat a win already found
	SkipLosing   bool // quiescence leaves out captures that lose material
}
