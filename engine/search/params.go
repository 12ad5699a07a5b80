package search

import (
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// Params are a game's data for the kernel. Every heuristic has a switch, so
// that its worth can be measured by leaving it out.
type Params struct {
	Game        string // salts the hash table, with what SearchKey holds
	HistorySize [2]int // sizes of the two history tables that ScoredMove.HistoryIndex index
	// ContinuationIndex (0 or 1) is the history index by which continuation
	// history and counter moves tell earlier moves apart. Continuation
	// history takes the square of its size.
	ContinuationIndex int

	// WinScale is the score at which the side to move wins 73 % of games: the
	// probability of winning is 1/(1+exp(-score/WinScale)).
	WinScale Score
	// WDLModel also models draws; its zero value models none.
	WDLModel WDLModel

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
	Null     Null     // where Per is 0, 3 plies less and one more for every four of depth, verified from 10 on
	LateFrom int      // about so many moves are searched at depth 1 before quiet ones are pruned; 0 is 4
	// Shallow is up to which depth moves are pruned before they are made; 0 is 6.
	Shallow int
	// Missing is how many plies more internal reduction takes off in the
	// principal variation.
	Missing int
	// Raised is by how many plies the moves after one that raised alpha are
	// searched less deep.
	Raised int
}

// Null shapes null-move pruning: after a pass the search is less deep by Base
// plies and by one for every Per plies of depth, and by up to Most more the
// further the evaluation is above beta. From depth Verify on, what it finds is
// verified.
type Null struct{ Base, Per, Most, Verify int }

var defaultNull = Null{Base: 3, Per: 4, Most: 3, Verify: 10}

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
	Null     Score // above beta, for each ply more that the search after a pass is less deep
	// Record is what a quiet move's record in the history must not lie below, per
	// ply, of the 16384 that it can: not a score.
	Record Score
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
		Singular: part(1, 5), SEEQuiet: part(1, 6), SEENoisy: part(1, 2), Delta: part(1, 1), Null: part(1, 1), Record: 4096, Tolerance: part(1, 32)}
}

// Reduce shapes late-move reductions: the n-th move of a node of depth d is
// reduced by Base/1024 + log2(d)*log2(n)*Slope/1024 plies. A perfect record in
// the history spares it Record/1024 plies, a hopeless one costs it as much. The
// others are what it costs (or spares, in the principal variation and as a
// killer), in 1024ths: at a node that should be refuted; where the evaluation
// does not improve; where the hash move is a capture; where the children keep
// refuting.
type Reduce struct{ Base, Slope, Record, PV, Cut, Stale, Killer, HashNoisy, Refuted int }

// defaultReduce is 0.5 + ln(d)*ln(n)/2.2.
var defaultReduce = Reduce{Base: 512, Slope: 224, Record: 2048, PV: 1024, Cut: 1024, Stale: 512, Killer: 1024}

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
	if p.Null.Per == 0 {
		p.Null = defaultNull
	}
	if p.LateFrom == 0 {
		p.LateFrom = 4
	}
	if p.Shallow == 0 {
		p.Shallow = 6
	}
	d, m := DefaultMargins(p.WinScale), &p.Margins
	for _, f := range []struct {
		set   *Score
		value Score
	}{{&m.Window, d.Window}, {&m.Reverse, d.Reverse}, {&m.Futility, d.Futility}, {&m.Razor, d.Razor}, {&m.ProbCut, d.ProbCut},
		{&m.Singular, d.Singular}, {&m.SEEQuiet, d.SEEQuiet}, {&m.SEENoisy, d.SEENoisy}, {&m.Delta, d.Delta},
		{&m.Null, d.Null}, {&m.Record, d.Record}, {&m.Tolerance, d.Tolerance}} {
		if *f.set == 0 {
			*f.set = f.value
		}
	}
}

// Switches turn the kernel's heuristics on. A zero Switches is plain
// alpha-beta, which the tests hold against minimax. The first group never
// changes the value of a fixed-depth search.
type Switches struct {
	Deepening     bool // go to a depth by way of those before it
	FailSoft      bool // outside the window a score says all that is known, not only on which side it is
	Aspiration    bool // narrow window around the last iteration's score
	PVS           bool // null-window search of all moves but the first
	Tolerance     bool // and a move counts as better only if it is so by a margin (changes values)
	HashMove      bool // try the table's move first
	HashCutoff    bool // take scores from the table
	ExchangeOrder bool // captures that lose the exchange come last
	Killers       bool // two quiet moves that refuted siblings
	Counter       bool // the quiet move that refuted the same move elsewhere
	History       bool // order quiet moves by their record of cutoffs
	Continuation  bool // order quiet moves by their record after the last two moves
	NoisyHistory  bool // order noisy moves by their record of cutoffs
	KeepHistory   bool // from search to search, until Forget
	MateDistance  bool // prune what can't beat a win already found

	SkipLosing bool // quiescence leaves out captures that lose material
	Delta      bool // quiescence leaves out captures that can't reach alpha

	HashEval        bool // a score in the table that says more than the evaluation stands for it
	Correction      bool // correct evaluations by how they erred before
	Razoring        bool // far below alpha, quiescence decides
	ReverseFutility bool // far above beta, the evaluation decides
	NullMove        bool // a pass that still reaches beta decides
	ProbCut         bool // a capture that reaches far above beta at small depth decides
	Internal        bool // without a hash move search less deep: ordering would be poor (internal iterative reduction)
	LateMoves       bool // prune the quiet moves that come late at small depth
	Futility        bool // prune quiet moves where the evaluation is far below alpha
	RecordPruning   bool // prune quiet moves of bad record at small depth
	SEEPruning      bool // prune moves that lose much material at small depth
	ByReduced       bool // prune by the depth that a move would be left with, not by the node's
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

// Is reports whether the heuristic of that name, one of SwitchNames, is on.
func (s *Switches) Is(name string) bool { return reflect.ValueOf(s).Elem().FieldByName(name).Bool() }

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

// numbers are the parameters that are numbers and may be tried at other values,
// by name: those of the structs within as "Margins.Futility". What ContinuationIndex and
// WinScale say is a fact of the game.
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

// NumberNames are the names that SetNumber knows.
func NumberNames() []string { return slices.Sorted(maps.Keys(new(Params).numbers())) }

// SetNumber sets the parameter of that name, in any case of letters, to a
// number that is not negative. Zero takes it back to its default, where it has
// one.
func (p *Params) SetNumber(name string, n int) error {
	if n < 0 || n > mostNumber {
		return fmt.Errorf("%.40s is %d: want 0 to %d", name, n, mostNumber)
	}
	for known, v := range p.numbers() {
		if strings.EqualFold(known, name) {
			v.SetInt(int64(n))
			return nil
		}
	}
	return fmt.Errorf("no number %.40q (have %s)", name, strings.Join(near(name), ", "))
}

// near are the names that may have been meant: of a group that the name is not
// in only the group's.
func near(name string) (names []string) {
	for _, known := range NumberNames() {
		if group, _, in := strings.Cut(known, "."); in && !strings.HasPrefix(strings.ToLower(name), strings.ToLower(group)+".") {
			known = group + ".*"
		}
		names = append(names, known)
	}
	return slices.Compact(names)
}

// mostNumber bounds what SetNumber takes: more than any of them means.
const mostNumber = 1 << 15
