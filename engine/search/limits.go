package search

import (
	"math"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Limits end a search; the first that is met does. Without any it ends at
// MaxPly or by Stop.
type Limits struct {
	Depth int    // plies, 0 is no limit
	Nodes uint64 // exactly so many at most, pondering included; 0 is no limit
	Mate  int    // end when a win within so many moves of the mover is found; 0 is no limit

	// Hard ends the search wherever it is, counted from From, or from the
	// call of Start or PonderHit where From is zero. Soft ends it between two root
	// moves, and counts the time spent pondering too. 0 is no limit.
	Soft, Hard time.Duration
	From       time.Time
	// SoftScale is the factor for Soft as the search goes on; nil is 1.
	SoftScale func(Progress) float64

	// Clock is what Soft, Hard and From were worked out from, if a clock runs:
	// for searchers that keep their own time. The kernel does not look at it.
	Clock *Clock
	// MovesToGo is the number of moves until Clock gets its time anew, 0 where
	// it never does.
	MovesToGo int

	// NoBook is for searchers with an opening book: think, whatever it says.
	// The kernel has none.
	NoBook bool

	MultiPV int         // lines to find, 0 is one
	Moves   []game.Move // look at these root moves alone; nil is all
	Threads int         // goroutines, 0 is one. More than one is not deterministic.

	// Wait keeps the answer back until Stop or PonderHit, even when there is
	// nothing left to search: for "infinite" analysis and for pondering.
	Wait bool
}

// Clock is the time that a move has.
type Clock struct {
	Spec         clock.Spec
	Mine, Theirs clock.State // at the moment At
	At           time.Time   // since then the mover's clock runs; zero is now
	Overhead     time.Duration
}

// Progress is how a search goes, for the time manager.
type Progress struct {
	Depth            int     // the iteration just finished
	StableIterations int     // iterations in a row that chose this move
	WinProbDrop      float64 // how far the winning chance fell since the last iteration; negative if it rose
	Effort           float64 // share of all nodes that went below the best move
}

// Info is the state of a running search, one line of it with MultiPV.
type Info struct {
	Depth    int
	SelDepth int // deepest ply reached
	Line     int // 1 is the best line
	Score    Score
	Bound    Bound // Exact, or what a failed aspiration window says
	WinProb  float64
	Nodes    uint64 // of all lines and threads
	Time     time.Duration
	NPS      uint64
	HashFull int         // thousandths
	PV       []game.Move // begins with the move that the line is about; own copy
}

// Result is what a search found.
type Result struct {
	Move     game.Move // NoMove where there is no legal one
	Ponder   game.Move // the expected reply, NoMove if unknown
	Score    Score     // from the side to move
	WinProb  float64   // of winning, draws half
	Depth    int       // last finished iteration
	SelDepth int
	Nodes    uint64
	Time     time.Duration
	PV       []game.Move
	Source   string // "search" or another below, or the Kind of the Proof that settled it
	Lines    []Info // the last state of each line, best first

	// TimedOut reports that the clock ended the search of a reproducible game,
	// so the move depends on the machine and its load after all.
	TimedOut bool

	// What a searcher other than the kernel may say beside or instead of a
	// move. Err is why it has none to give: a fault of its own.
	Resign    bool
	OfferDraw bool
	Err       error
	// Incidents are what went wrong since the last result without costing the
	// game, a sentence each: for the log and the record.
	Incidents []string
}

// Sources of a Result besides provers.
const (
	FromSearch = "search"
	FromOnly   = "only" // one move to choose from, or none
	FromBook   = "book" // an opening book, nothing was searched

	FromExternal = "external" // an engine that is not ours
)

// WinProb is the probability of winning that a score stands for, draws counted
// half.
func (p *Params) WinProb(s Score) float64 {
	win, draw, _ := p.WDL(s)
	return win + draw/2
}

// WDL are the probabilities of win, draw and loss that a score stands for.
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
// 1/(1+exp(-(score-Edge)/Scale)), that of losing the same of the opponent's
// score, and the rest is a draw. Both are scores; Edge is not negative.
type WDLModel struct {
	Edge  float64 `json:"edge"`
	Scale float64 `json:"scale"`
}

// Probabilities are those of win, draw and loss at a score.
func (o WDLModel) Probabilities(score float64) (win, draw, loss float64) {
	winProb := func(score float64) float64 { return 1 / (1 + math.Exp((o.Edge-score)/o.Scale)) }
	win, loss = winProb(score), winProb(-score)
	return win, max(0, 1-win-loss), loss
}
