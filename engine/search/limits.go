package search

import (
	"math"
	"sort"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Limits end a search, the first that is reached. Without any it ends at MaxPly
// or by Stop.
type Limits struct {
	Depth int    // plies, 0 is no limit
	Nodes uint64 // at most this many, including those of pondering; 0 is no limit
	Mate  int    // end with a win in at most this many moves of the side to move; 0 is no limit

	// Hard ends the search at any point but in its first few hundred nodes, that
	// long after From, which is by default the time of the call of Start or
	// PonderHit. Soft ends it between two root moves and also counts the time
	// spent pondering. 0 is no limit.
	Soft, Hard time.Duration
	From       time.Time
	// SoftScale is the factor for Soft during the search; nil is 1.
	SoftScale func(Progress) float64

	// Clock is the clock from which Soft, Hard and From were computed, if there
	// is one, for searchers with their own time manager. The kernel ignores it.
	Clock *Clock
	// MovesToGo is the number of moves until Clock's next time control, 0 if
	// there is none.
	MovesToGo int

	// NoBook makes a searcher with an opening book ignore it.
	NoBook bool

	MultiPV int         // lines to find, 0 is one
	Moves   []game.Move // search only these root moves; nil is all
	Threads int         // goroutines, 0 is one. More than one is not deterministic.

	// Wait holds the result back until Stop or PonderHit, even when there is
	// nothing left to search: for "infinite" analysis and for pondering.
	Wait bool
}

// unlimited reports whether only Stop or a proof ends the search: it is an analysis, and
// never a move of a game, also not one that is pondered on.
func (l *Limits) unlimited() bool {
	return l.Depth == 0 && l.Nodes == 0 && l.Mate == 0 && l.Soft == 0 && l.Hard == 0 && !l.Wait
}

// Clock is the state of the clocks before a move.
type Clock struct {
	Spec         clock.Spec
	TheirSpec    clock.Spec  // of the opponent; the zero value: Spec
	Mine, Theirs clock.State // at the moment At
	At           time.Time   // when the mover's clock began to run; zero is now
	Overhead     time.Duration
	MoveLimit    time.Duration // the longest that this move may take; 0: all that is left
}

// Progress is the state of a search for the time manager.
type Progress struct {
	Depth            int     // the iteration just finished
	StableIterations int     // iterations in a row that chose this move
	WinProbDrop      float64 // since the last iteration; negative if the winning chance rose
	Effort           float64 // share of the nodes below the best move
}

// Info is the state of one line of a running search.
type Info struct {
	Depth    int
	SelDepth int // deepest ply reached
	Line     int // of an iteration, from 1; a later one may turn out better, as Lines considers
	Score    Score
	Bound    Bound   // Exact, unless the score is outside the aspiration window
	WinProb  float64 // the winning chance of the side to move, draws counted half
	Nodes    uint64  // of all lines and threads
	Time     time.Duration
	NPS      uint64
	HashFull int         // thousandths
	PV       []game.Move // a copy
}

// Result is the result of a search.
type Result struct {
	Move     game.Move // NoMove if there is no legal move
	Ponder   game.Move // the expected reply, NoMove if unknown
	Score    Score     // for the side to move
	WinProb  float64   // as in Info
	Depth    int       // last finished iteration
	SelDepth int
	Nodes    uint64
	Time     time.Duration
	PV       []game.Move
	Source   string // one of the constants below, or the Kind of a Proof
	Lines    []Info // of different moves, those of the last iteration first, best first; if that was cut short, then those of the one before

	// TimedOut reports that the clock ended the search of a reproducible game: its
	// move depends on the machine and its load after all.
	TimedOut bool

	// Set by searchers other than the kernel. Err is the fault because of which
	// there is no move.
	Resign    bool
	OfferDraw bool
	Err       error
	// Incidents are what went wrong since the last result without costing the
	// game, a sentence each: for the log and the record.
	Incidents []string
}

// Judges reports whether Score and WinProb say what the engine thinks: it has finished an
// iteration, or is a program that has given a score, which some do without a depth.
func (r *Result) Judges() bool { return r.Depth > 0 || r.Source == FromExternal && r.Score != 0 }

// Sources of a Result besides provers.
const (
	FromSearch = "search"
	FromOnly   = "only" // there is at most one move
	FromBook   = "book" // an opening book, without a search

	FromExternal = "external" // an engine that is not ours
)

// WinProb returns the winning chance that a score stands for, draws counted
// half.
func (p *Params) WinProb(s Score) float64 {
	win, draw, _ := p.WDL(s)
	return win + draw/2
}

// ScoreFor returns the evaluation whose WinProb is nearest, within MaxEval.
func (p *Params) ScoreFor(winProb float64) Score {
	return Score(sort.Search(2*int(MaxEval), func(i int) bool {
		s := Score(i) - MaxEval
		return (p.WinProb(s)+p.WinProb(s+1))/2 >= winProb
	})) - MaxEval
}

// WDL returns the probabilities of win, draw and loss that a score stands for.
func (p *Params) WDL(s Score) (win, draw, loss float64) {
	switch {
	case s >= RepBound:
		return 1, 0, 0
	case s <= -RepBound:
		return 0, 0, 1
	}
	o := p.WDLModel
	if o.Scale == 0 {
		o.Scale = float64(p.WinScale)
	}
	return o.Probabilities(float64(s))
}

// WDLModel is a model of win, draw and loss: the probability of winning is
// 1/(1+exp(-(score-Edge)/Scale)), that of losing is the opponent's probability
// of winning, and the rest is a draw. Edge and Scale are scores; Edge is not
// negative.
type WDLModel struct {
	Edge  float64 `json:"edge"`
	Scale float64 `json:"scale"`
}

// Probabilities returns those of win, draw and loss at a score.
func (o WDLModel) Probabilities(score float64) (win, draw, loss float64) {
	winProb := func(score float64) float64 { return 1 / (1 + math.Exp((o.Edge-score)/o.Scale)) }
	win, loss = winProb(score), winProb(-score)
	return win, max(0, 1-win-loss), loss
}
