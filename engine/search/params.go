package search

import (
	"fmt"
	"math/bits"
	"reflect"
	"strings"
)

// Params are a game's data for the kernel. Every heuristic has a switch, so
// that its worth can be measured by leaving it out.
type Params struct {
	Game  string // salts the hash table, with what SearchKey holds
	Slots [2]int // sizes of the two history tables that Entry.Slots index
	// Follow is which of the two slots (0 or 1) says what a move was to the
	// moves after it: continuation history has its size squared, counter
	// moves its size.
	Follow int

	// WinScale is the score at which the side to move wins 73 % of games:
	// chance = 1/(1+exp(-score/WinScale)).
	WinScale Score

	// Quiescence is whether leaves search on through noisy moves. Without it
	// the kernel takes the game to have no noisy moves at all.
	Quiescence bool
	// QuiescencePlies is how deep quiescence goes at most; 0 is no limit.
	QuiescencePlies int

	// QuiescenceChecks is for how many of its first plies quiescence looks at
	// quiet moves that force, too.
	QuiescenceChecks int

	// Parity: scores swing between odd and even depths, because the
	// evaluation favours who moved last; compare only with two plies back.
	Parity bool

	// ProveRoot and ProveLeaf are the prover's node budgets at the root, and
	// where the main search would drop into quiescence; 0 is never.
	ProveRoot, ProveLeaf int

	Margins  Margins  // a zero margin is taken from DefaultMargins
	Reduce   Reduce   // zero is 0.5 + ln(d)*ln(n)/2.2
	On       Switches // what the kernel does
	LateFrom int      // about so many moves are searched at depth 1 before quiet ones are pruned; 0 is 4
}

// Margins are distances of scores, in the game's unit.
type Margins struct {
	Window   Score // half width of the first aspiration window
	Reverse  Score // per ply: this far above beta an evaluation is taken for granted
	Futility Score // per ply: this far below alpha no quiet move is expected to help
	Razor    Score // per ply: this far below alpha only noisy moves can help
	ProbCut  Score // above beta: what a shallow search must reach to stand for a deep one
	Singular Score // per 16 plies of depth: how much worse all other moves must be
	SEEQuiet Score // per ply squared: the loss that a quiet move may risk
	SEENoisy Score // per ply: the loss that a noisy move may risk
	Delta    Score // that a capture may win beyond what it takes
	// Tolerance is by how much a move must be better to be worth a search of
	// its exact value.
	Tolerance Score
}

// DefaultMargins guesses margins from what a score means: they are the
// proportions that are common among chess engines, where a pawn and a half
// wins 73 % of games.
func DefaultMargins(winScale Score) Margins {
	part := func(n, of Score) Score { return max(winScale*n/of, 1) }
	return Margins{Window: part(1, 8), Reverse: part(1, 2), Futility: part(3, 5), Razor: part(3, 2), ProbCut: part(6, 5),
		Singular: part(1, 5), SEEQuiet: part(1, 6), SEENoisy: part(1, 2), Delta: part(1, 1), Tolerance: part(1, 32)}
}

// Reduce shapes late-move reductions: the n-th move of a node of depth d is
// reduced by Base/1024 + log2(d)*log2(n)*Slope/1024 plies. A perfect record in
// the history spares it Record/1024 plies, a hopeless one costs it as much.
type Reduce struct{ Base, Slope, Record int }

// defaultReduce is 0.5 + ln(d)*ln(n)/2.2.
var defaultReduce = Reduce{Base: 512, Slope: 224, Record: 2048}

// plies is the reduction in 1024ths. Integers only: the node count must be the
// same on every machine, and floating point may not be.
func (r Reduce) plies(depth, n int) int {
	return r.Base + log2(depth)*log2(n)*r.Slope/4096
}

// log2 is 64 times the logarithm, linear between powers of two.
func log2(n int) int {
	k := bits.Len(uint(max(n, 1))) - 1
	return k*64 + max(n, 1)<<6>>k - 64
}

// fill completes parameters that were left out.
func (p *Params) fill() {
	if p.Reduce == (Reduce{}) {
		p.Reduce = defaultReduce
	}
	if p.Reduce.Record == 0 {
		p.Reduce.Record = defaultReduce.Record
	}
	if p.LateFrom == 0 {
		p.LateFrom = 4
	}
	d, m := DefaultMargins(p.WinScale), &p.Margins
	for _, f := range []struct {
		set   *Score
		value Score
	}{{&m.Window, d.Window}, {&m.Reverse, d.Reverse}, {&m.Futility, d.Futility}, {&m.Razor, d.Razor}, {&m.ProbCut, d.ProbCut},
		{&m.Singular, d.Singular}, {&m.SEEQuiet, d.SEEQuiet}, {&m.SEENoisy, d.SEENoisy}, {&m.Delta, d.Delta},
		{&m.Tolerance, d.Tolerance}} {
		if *f.set == 0 {
			*f.set = f.value
		}
	}
}

// Switches turn the kernel's heuristics on. A zero Switches is plain
// alpha-beta, which the tests hold against minimax. The first group never
// changes the value of a fixed-depth search.
type Switches struct {
	Aspiration   bool // narrow window around the last iteration's score
	PVS          bool // null-window search of all moves but the first
	Tolerance    bool // and a move counts as better only if it is so by a margin (changes values)
	HashMove     bool // try the table's move first
	HashCutoff   bool // take scores from the table
	Killers      bool // two quiet moves that refuted siblings
	Counter      bool // the quiet move that refuted the same move elsewhere
	History      bool // order quiet moves by their record of cutoffs
	Continuation bool // order quiet moves by their record after the last two moves
	NoisyHistory bool // order noisy moves by their record of cutoffs
	MateDistance bool // prune what can't beat a win already found

	SkipLosing bool // quiescence leaves out captures that lose material
	Delta      bool // quiescence leaves out captures that can't reach alpha

	Correction      bool // correct evaluations by how they erred before
	Razoring        bool // far below alpha, quiescence decides
	ReverseFutility bool // far above beta, the evaluation decides
	NullMove        bool // a pass that still reaches beta decides
	ProbCut         bool // a capture that reaches far above beta at small depth decides
	Internal        bool // without a hash move search less deep: ordering would be poor (internal iterative reduction)
	LateMoves       bool // prune the quiet moves that come late at small depth
	Futility        bool // prune quiet moves where the evaluation is far below alpha
	SEEPruning      bool // prune moves that lose much material at small depth
	Reductions      bool // search late moves less deep at first

	ForcedExtension bool // a forced node (check) does not count as a ply
	OneReply        bool // nor does a forced node's only move
	Recapture       bool // nor does taking back on the point of the last capture
	Singular        bool // nor does a hash move much better than all others
}

// evaluates reports whether any heuristic looks at evaluations of inner nodes.
func (s *Switches) evaluates() bool {
	return s.Correction || s.Razoring || s.ReverseFutility || s.NullMove || s.ProbCut || s.LateMoves || s.Futility || s.Reductions
}

// SwitchNames are the names that Set knows.
func SwitchNames() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Switches]()) {
		names = append(names, f.Name)
	}
	return names
}

// Set turns the heuristic of that name, in any case of letters, on or off.
func (s *Switches) Set(name string, on bool) error {
	for _, known := range SwitchNames() {
		if strings.EqualFold(known, name) {
			reflect.ValueOf(s).Elem().FieldByName(known).SetBool(on)
			return nil
		}
	}
	return fmt.Errorf("no heuristic %.40q (have %s)", name, strings.Join(SwitchNames(), ", "))
}
