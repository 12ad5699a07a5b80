package search

import (
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// Params are a game's data for the kernel. Every heuristic has a switch, so
// that its worth can be measured.
type Params struct {
	Game        string // changes the keys of the hash table, as Eval and SearchKey do
	Eval        string // name of the evaluation; "" is the game's own
	HistorySize [2]int // sizes of the two history tables that ScoredMove.HistoryIndex index
	// ContinuationIndex (0 or 1) is the history index by which continuation
	// history and counter moves tell earlier moves apart. Continuation
	// history takes the square of its size.
	ContinuationIndex int

	// WinScale is the score at which the side to move wins 73 % of games: the
	// winning chance is 1/(1+exp(-score/WinScale)).
	WinScale Score
	// WDLModel also models draws; its zero value models none.
	WDLModel WDLModel

	// Quiescence: leaves are searched on through noisy moves. Without it the
	// kernel assumes that the game has no noisy moves.
	Quiescence bool
	// QuiescencePlies limits the depth of quiescence; 0 is no limit.
	QuiescencePlies int
	// QuiescenceBadNoisy is the number of plies at the start of quiescence at
	// which bad noisy moves are searched, too; 0 is all plies. A score then
	// depends on the ply, so this needs QuiescencePlies: with that only scores of
	// the first ply enter the hash table.
	QuiescenceBadNoisy int
	// QuiescenceChecks is the number of plies at the start of quiescence at
	// which quiet moves that are Forcing are searched, too.
	QuiescenceChecks int

	// ProveRoot and ProveLeaf are the prover's node budgets at the root, and
	// where the main search would enter quiescence; 0 is off.
	ProveRoot, ProveLeaf int
	// ProveShare bounds the prover at the root to one part in so many of the
	// search's nodes and time; 0 is 4.
	ProveShare int
	// ProveMate is ProveRoot where a win is asked for (Limits.Mate), at most half of the
	// search's nodes and time; 0 is ProveRoot.
	ProveMate int
	// ProveAgain asks the prover at the root again in the course of the search, until
	// it has had this many nodes for each other node, four times as many where only
	// a proof ends the search: for provers that continue where they stopped. 0 is off.
	ProveAgain int
	// ProvePV is the budget in the principal variation, where at least
	// ProvePVDepth plies are left to search; 0 is off, and a depth of 4.
	ProvePV, ProvePVDepth int
	// ProveNode is the budget at a node that is Provable; 0 is off.
	ProveNode int

	Margins  Margins        // a zero margin is taken from DefaultMargins
	LMR      LMRParams      // zero is 0.5 + ln(depth)*ln(n)/2.2
	NullMove NullMoveParams // with DepthDivisor 0: R = 3 + depth/4, verified from depth 10 on
	On       Switches       // the heuristics in use
	// SortedPicks is the number of moves of a node that are picked as the best of
	// their batch; 0 is 16. Later ones hardly ever cut off, and to look for them
	// costs more than it gains, unless a game has so many moves that which of them
	// are pruned matters.
	SortedPicks int
	// LMPBase scales late-move pruning: about this many moves are searched at
	// depth 1 before quiet ones are pruned; 0 is 4.
	LMPBase int
	// LMPExponent, unless 0, gives late-move pruning another form: LMPBase +
	// depth^(LMPExponent/100) moves are searched, half of them where the
	// evaluation is not improving. 0 is LMPBase*(3+depth²)/3, and a third less.
	LMPExponent int
	// PruneMaxDepth is the greatest depth at which moves are pruned before
	// they are made; 0 is 6.
	PruneMaxDepth int
	// PolicyPruning, unless 0, prunes quiet moves whose Order is more than
	// Margins.Policy*(depth+PolicyPruning) below that of the node's best move.
	PolicyPruning int

	// The depths of techniques: 0 is the default given here. Razoring,
	// reverse futility pruning and alpha-raise reduction work up to a depth,
	// the others from one on.
	RazoringDepth        int // 3
	ReverseFutilityDepth int // 7
	AlphaRaiseDepth      int // 7
	ProbCutDepth         int // 5
	IIRDepth             int // 4
	SingularDepth        int // 7

	// ExtensionDepth is the least depth at which the check extension and the
	// one-reply extension extend. Below it quiescence follows a forcing line, and
	// does so without all the quiet moves on its way.
	ExtensionDepth int

	// IIRDepthGap, unless 0, extends internal iterative reduction to nodes with a
	// hash move whose search was at least that many plies less deep.
	IIRDepthGap int
	// IIRExtraPV is how many more plies internal iterative reduction takes off
	// in the principal variation.
	IIRExtraPV int
	// AlphaRaiseReduction is how many plies less deep the rest of a node's
	// moves are searched after one has raised alpha.
	AlphaRaiseReduction int
	// SingularDouble is how many moves of one line the singular extension may
	// extend by two plies (Margins.DoubleSingular); 0 is none.
	SingularDouble int
	// SingularNegative is how many plies less deep a hash move is searched that
	// is not singular, though its score in the table is at least beta.
	SingularNegative int
}

// NullMoveParams shape null-move pruning: the search after a pass is reduced by Base +
// depth/DepthDivisor plies, and by up to MaxEvalPlies more, one for each Margins.NullMove by
// which the evaluation is above beta.
type NullMoveParams struct {
	Base, DepthDivisor, MaxEvalPlies int

	MinDepth    int // the least depth at which a pass is tried; 0 is 3
	VerifyDepth int // the depth from which on a cutoff is verified by a search without passes
}

var defaultNullMove = NullMoveParams{Base: 3, DepthDivisor: 4, MaxEvalPlies: 3, VerifyDepth: 10}

// Margins are differences of scores, in the game's unit.
type Margins struct {
	Aspiration      Score // half width of the first aspiration window
	ReverseFutility Score // per ply: prune the node if the evaluation is this far above beta
	Futility        Score // per ply: prune quiet moves if the evaluation is this far below alpha
	Razoring        Score // per ply: search only noisy moves if the evaluation is this far below alpha
	ProbCut         Score // above beta: what a shallow search must reach to stand for a deep one
	Singular        Score // per 16 plies of depth: how much worse all other moves must be
	DoubleSingular  Score // beyond Singular: how much worse they must be for two plies of extension
	SEEQuiet        Score // per ply squared: the greatest exchange loss of a quiet move that is searched
	SEENoisy        Score // per ply: the same of a noisy move
	Delta           Score // what a capture may win beyond the value of the victim
	NullMove        Score // above beta, for each further ply of null-move reduction
	EvalAboveBeta   Score // above beta, for each LMRParams.EvalAboveBeta
	// History is the history score per ply (of +-16384) below which a quiet
	// move is pruned: not a value.
	History Score
	// Policy is the difference in ScoredMove.Order per ply by which a quiet move
	// must be worse than the best to be pruned (PolicyPruning): not a value.
	Policy Score
	// Tolerance is by how much a move must be better to be worth searching
	// for its exact value.
	Tolerance Score
}

// DefaultMargins derives margins from WinScale, in the proportions that are
// common among chess engines, where a pawn and a half wins 73 % of games.
func DefaultMargins(winScale Score) Margins {
	part := func(n, of Score) Score { return max(winScale*n/of, 1) }
	return Margins{Aspiration: part(1, 8), ReverseFutility: part(1, 2), Futility: part(3, 5), Razoring: part(3, 2), ProbCut: part(6, 5),
		Singular: part(1, 5), DoubleSingular: part(1, 8), SEEQuiet: part(1, 6), SEENoisy: part(1, 2), Delta: part(1, 1), NullMove: part(1, 1), EvalAboveBeta: part(1, 1), History: 4096, Policy: 4096, Tolerance: part(1, 32)}
}

// LMRParams shape late-move reductions, in 1024ths of a ply. The n-th move of a node of
// depth d is reduced by Base + log2(d)*log2(n)*Slope, more or less by what follows.
type LMRParams struct {
	Base, Slope int

	History      int // less for the best history score, more for the worst, linear between
	PV           int // less in the principal variation
	CutNode      int // more at expected cut nodes
	NotImproving int // more where the evaluation is not improving
	Killer       int // less for killers
	HashNoisy    int // more where the hash move is noisy
	CutoffCount  int // more where many children have failed high
	// Order is more for each orderUnit by which the move's Order is below that of the node's
	// best.
	Order int
	// EvalAboveBeta is more for each Margins.EvalAboveBeta by which the evaluation is above
	// beta, maxEvalAboveBeta of them at most.
	EvalAboveBeta int
}

// orderUnit is the difference in ScoredMove.Order for which LMRParams.Order is
// given: the greatest history score.
const orderUnit = historyMax

const maxEvalAboveBeta = 3

// defaultLMR is 0.5 + ln(d)*ln(n)/2.2.
var defaultLMR = LMRParams{Base: 512, Slope: 224, History: 2048, PV: 1024, CutNode: 1024, NotImproving: 512, Killer: 1024}

// base returns the reduction by depth and move number, in 1024ths. It takes integers
// only, because node counts must be the same on every machine, and floating
// point may not be.
func (r LMRParams) base(depth, n int) int {
	return r.Base + log2(depth)*log2(n)*r.Slope/4096
}

// log2 is 64 times the binary logarithm, linear between powers of two.
func log2(n int) int {
	k := bits.Len(uint(max(n, 1))) - 1
	return k*64 + max(n, 1)<<6>>k - 64
}

// lmpCounts returns how many moves late-move pruning searches, by depths up to
// PruneMaxDepth: where the evaluation is improving, and elsewhere.
func (p *Params) lmpCounts() (improving, elsewhere []int) {
	for depth := range min(p.PruneMaxDepth, MaxPly) + 1 {
		n := p.LMPBase * (3 + depth*depth) / 3
		fewer := n - n/3
		if p.LMPExponent > 0 {
			n = p.LMPBase + power(depth, p.LMPExponent)
			fewer = n / 2
		}
		improving, elsewhere = append(improving, n), append(elsewhere, fewer)
	}
	return improving, elsewhere
}

// power returns base^(hundredths/100), rounded down: the greatest n with n^100 <=
// base^hundredths. The result is at most maxNumber, the exponent taken at most 10.
// It takes integers only, as LMRParams.base does.
func power(base, hundredths int) int {
	hundred := big.NewInt(100)
	limit := big.NewInt(int64(base))
	limit.Exp(limit, big.NewInt(int64(min(hundredths, 1000))), nil)
	return sort.Search(maxNumber, func(n int) bool {
		next := big.NewInt(int64(n + 1))
		return next.Exp(next, hundred, nil).Cmp(limit) > 0
	})
}

// WithDefaults returns the parameters with those set that were left out.
func (p Params) WithDefaults() Params {
	p.setDefaults()
	return p
}

// setDefaults sets the parameters that were left out.
func (p *Params) setDefaults() {
	// What has no part in the default shape does not displace it.
	lmr := defaultLMR
	lmr.Order, lmr.EvalAboveBeta = p.LMR.Order, p.LMR.EvalAboveBeta
	if p.LMR == (LMRParams{Order: lmr.Order, EvalAboveBeta: lmr.EvalAboveBeta}) {
		p.LMR = lmr
	}
	if p.NullMove.DepthDivisor == 0 {
		null := defaultNullMove
		null.MinDepth = p.NullMove.MinDepth
		p.NullMove = null
	}
	for _, f := range []struct {
		set   *int
		value int
	}{{&p.ProveShare, 4}, {&p.SortedPicks, 16}, {&p.LMPBase, 4}, {&p.PruneMaxDepth, 6}, {&p.RazoringDepth, 3}, {&p.ReverseFutilityDepth, 7}, {&p.AlphaRaiseDepth, 7}, {&p.ProbCutDepth, 5},
		{&p.IIRDepth, 4}, {&p.SingularDepth, 7}, {&p.ProvePVDepth, 4}, {&p.NullMove.MinDepth, 3}} {
		if *f.set == 0 {
			*f.set = f.value
		}
	}
	d, m := DefaultMargins(p.WinScale), &p.Margins
	for _, f := range []struct {
		set   *Score
		value Score
	}{{&m.Aspiration, d.Aspiration}, {&m.ReverseFutility, d.ReverseFutility}, {&m.Futility, d.Futility}, {&m.Razoring, d.Razoring}, {&m.ProbCut, d.ProbCut},
		{&m.Singular, d.Singular}, {&m.DoubleSingular, d.DoubleSingular}, {&m.SEEQuiet, d.SEEQuiet}, {&m.SEENoisy, d.SEENoisy}, {&m.Delta, d.Delta},
		{&m.NullMove, d.NullMove}, {&m.EvalAboveBeta, d.EvalAboveBeta}, {&m.History, d.History}, {&m.Policy, d.Policy}, {&m.Tolerance, d.Tolerance}} {
		if *f.set == 0 {
			*f.set = f.value
		}
	}
}

// Switches turn the kernel's heuristics on. With none the kernel is plain
// alpha-beta, which the tests compare with minimax. Those of the first group,
// except ToleranceSearch, never change the value of a fixed-depth search.
type Switches struct {
	IterativeDeepening  bool
	FailSoft            bool // scores outside the window are the tightest bounds known
	Aspiration          bool // a narrow window around the last iteration's score
	PVS                 bool // principal variation search: null windows for all moves but the first
	ToleranceSearch     bool // with PVS: a move must be better by a margin
	HashMove            bool // try the hash table's move first
	HashCutoff          bool // cut off by the hash table's score
	SEEOrder            bool // captures that lose the exchange come last
	Killers             bool // two quiet moves that cut off at the same ply
	CounterMoves        bool // the quiet move that cut off after the same previous move
	History             bool // order quiet moves by history
	ContinuationHistory bool // order quiet moves by history after the last two moves
	NoisyHistory        bool // order noisy moves by history (capture history)
	KeepHistory         bool // keep a game's histories from search to search
	MateDistance        bool // mate-distance pruning

	QuiescenceSEE bool // quiescence skips captures that lose the exchange
	DeltaPruning  bool // quiescence skips captures that can't reach alpha

	HashEval          bool // a tighter bound in the hash table replaces the evaluation
	CorrectionHistory bool // correct evaluations by their errors in similar nodes
	Razoring          bool // far below alpha: quiescence
	ReverseFutility   bool // RFP (static null move): far above beta the evaluation cuts off
	NullMove          bool // NMP: a pass that still reaches beta cuts off
	ProbCut           bool // a capture far above beta at small depth cuts off
	IIR               bool // internal iterative reduction: less depth without a hash move
	LMP               bool // late-move pruning: no quiet moves after enough others
	Futility          bool // no quiet moves where the evaluation is far below alpha
	HistoryPruning    bool // no quiet moves with a bad history at small depth
	SEEPruning        bool // no moves that lose much material at small depth
	LMRDepthPruning   bool // prune by the depth after LMR, not by the node's
	LMR               bool // late-move reductions

	CheckExtension     bool // a forced node (in check) does not cost a ply
	OneReplyExtension  bool // extend a forced node's only move
	RecaptureExtension bool // extend a recapture on the square of the last capture
	SingularExtension  bool // extend a hash move that is much better than all others; multi-cut
}

// needEval reports whether any heuristic uses the evaluation of inner nodes.
func (s *Switches) needEval() bool {
	return s.CorrectionHistory || s.Razoring || s.ReverseFutility || s.NullMove || s.ProbCut || s.LMP || s.Futility || s.LMR
}

// SwitchNames returns the names that Set takes.
func SwitchNames() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Switches]()) {
		names = append(names, f.Name)
	}
	return names
}

// Is reports whether the heuristic of that name, one of SwitchNames, is on.
func (s *Switches) Is(name string) bool { return reflect.ValueOf(s).Elem().FieldByName(name).Bool() }

// Set turns the heuristic of that name, ignoring case, on or off.
func (s *Switches) Set(name string, on bool) error {
	for _, known := range SwitchNames() {
		if strings.EqualFold(known, name) {
			reflect.ValueOf(s).Elem().FieldByName(known).SetBool(on)
			return nil
		}
	}
	return fmt.Errorf("no heuristic %.40q (have %s)", name, strings.Join(SwitchNames(), ", "))
}

// numbers returns the parameters that are numbers, by name: those of inner structs
// as "Margins.Futility". ContinuationIndex and WinScale are facts of the game
// and not among them.
func (p *Params) numbers() map[string]reflect.Value {
	all := map[string]reflect.Value{}
	var add func(prefix string, v reflect.Value)
	add = func(prefix string, v reflect.Value) {
		for _, f := range reflect.VisibleFields(v.Type()) {
			switch field := v.FieldByIndex(f.Index); field.Kind() {
			case reflect.Int, reflect.Int32:
				all[prefix+f.Name] = field
			case reflect.Struct:
				add(prefix+f.Name+".", field)
			}
		}
	}
	add("", reflect.ValueOf(p).Elem())
	delete(all, "ContinuationIndex")
	delete(all, "WinScale")
	return all
}

// NumberNames returns the names that SetNumber takes.
func NumberNames() []string { return slices.Sorted(maps.Keys(new(Params).numbers())) }

// SetNumber sets the parameter of that name, ignoring case, to n, which is not
// negative. Zero means the default, if there is one.
func (p *Params) SetNumber(name string, n int) error {
	if n < 0 || n > maxNumber {
		return fmt.Errorf("%.40s is %d: want 0 to %d", name, n, maxNumber)
	}
	for known, v := range p.numbers() {
		if strings.EqualFold(known, name) {
			v.SetInt(int64(n))
			return nil
		}
	}
	return fmt.Errorf("no number %.40q (have %s)", name, strings.Join(suggestions(name), ", "))
}

// suggestions returns the names that may have been meant. A group that the name is
// not in is shortened to "Group.*".
func suggestions(name string) (names []string) {
	for _, known := range NumberNames() {
		if group, _, in := strings.Cut(known, "."); in && !strings.HasPrefix(strings.ToLower(name), strings.ToLower(group)+".") {
			known = group + ".*"
		}
		names = append(names, known)
	}
	return slices.Compact(names)
}

// maxNumber bounds the values of SetNumber; no parameter makes sense above it.
const maxNumber = 1 << 15
