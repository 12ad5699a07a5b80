// Package timing is the time manager: it turns clocks into how long a search
// should and how long it may take. It never reads the time of day.
package timing

import (
	"time"

	"sparring/engine/search"
	"sparring/game/clock"
)

// Situation is what the time manager needs to know before a move.
type Situation struct {
	Clock        clock.Spec
	Mine, Theirs clock.State // at the moment the mover's clock began to run
	Ply          int         // plies played
	Length       int         // plies that games of this kind usually last, above 0
	MovesToGo    int         // until the next time control, 0 if there is none
	// Overhead is the time that a move costs besides the search, as
	// measured: a high percentile, not a mean.
	Overhead time.Duration
	// MoveLimit is the longest that the move may take; 0: all that is left.
	MoveLimit time.Duration
}

// Budget is the time for a move. A search ends between two iterations once it
// has taken Soft, scaled by [SoftScale], and at any point once it has taken Hard.
// 0 is no such limit.
type Budget struct{ Soft, Hard time.Duration }

// Numbers of the time manager, set by hand.
const (
	// MinBudget is the shortest hard limit, for when the overhead is more than what
	// is left on the clock.
	MinBudget = time.Millisecond

	// Unhurried is the soft limit without a clock: the opponent still waits.
	Unhurried = 5 * time.Second

	// fewestMoves is the least number of own moves to plan for: some games last
	// longer than usual, and must not run out of time then.
	fewestMoves = 12

	// One move takes at most 1/greatestShare of the main time.
	greatestShare = 5

	// 1/reserveShare of the initial time, at most greatestReserve, is held back.
	// Without it, games at 10+0.2 on a busy machine were lost with 0.3 s left, on
	// moves that took 0.3 s longer than planned.
	reserveShare    = 8
	greatestReserve = 2 * time.Second

	// ratio of the hard to the soft limit: the most that SoftScale asks for, and
	// some more for the iteration under way.
	ratio = 5
)

// Numbers of SoftScale, set by hand. With usual values of progress the factors are
// about 1.
const (
	// A best move that has just changed, how much less with each iteration in which
	// it stays, and after how many iterations no less.
	unstable, stability, stableAfter = 1.4, 0.1, 8

	// The winning chance that the last iteration has lost, and the most that a
	// fall may add and a rise take away.
	perDrop, maxDrop, maxRise = 4, 0.8, 0.2

	// A best move without any of the nodes, and how much less for one with all.
	noEffort, effort = 1.4, 0.7

	minScale, maxScale = 0.3, 3
)

// Allot splits the clock among the moves to come.
func Allot(s Situation) Budget {
	b := s.allot()
	if s.MoveLimit > 0 {
		b.Hard = min(b.Hard, max(s.MoveLimit-s.Overhead, MinBudget))
		b.Soft = min(b.Soft, b.Hard)
	}
	return b
}

func (s Situation) allot() Budget {
	budget, limited := s.Clock.Budget(s.Mine)
	t, left := s.Clock.Traits(), s.Mine.Left
	switch {
	case !limited:
		return Budget{Soft: Unhurried, Hard: ratio * Unhurried}
	case !t.Saves: // unused time is lost
		return Budget{Hard: s.clip(budget)}
	case t.Period > 0 && left <= t.Period/4:
		// Byo-yomi with next to no main time. A move that takes the whole period
		// uses it up, and the other periods are kept in reserve.
		return Budget{Hard: s.clip(left + t.Period - s.Overhead - MinBudget)}
	}
	// With byo-yomi the main time is spent freely, since each move has a period
	// besides it.
	return s.main(left, t.Increment+t.Period, t.Period)
}

// main shares what is left among the moves to come and adds most of gain, which
// each move brings. One move may take extra on top of left at no cost.
func (s Situation) main(left, gain, extra time.Duration) Budget {
	moves, share := max((s.Length-s.Ply)/2, s.Length/6, fewestMoves), greatestShare
	keep := Reserve(s.Clock, s.Overhead)
	if n := s.MovesToGo; n > 0 && n < moves {
		// Nothing needs to be left at the time control.
		moves, share = n, min(share, n)
		keep = min(keep, time.Duration(n)*keep/fewestMoves)
	}
	gain = gain * 3 / 4
	if left < keep {
		// Spend less than comes in, so that the reserve grows again.
		gain = time.Duration(float64(gain) * float64(max(left, 0)) / float64(keep))
	}
	soft := max(left-keep, 0)/time.Duration(moves) + gain - s.Overhead
	soft = s.lead(soft)
	// A move that takes all but a fifth of what is left would starve the rest.
	hard := min(ratio*soft, left/time.Duration(share)+gain+extra, left+extra-s.Overhead-MinBudget)
	hard = s.clip(max(hard, 0))
	return Budget{Soft: min(max(soft, MinBudget), hard), Hard: hard}
}

// LongestMove is the longest time that a move takes by default in a correspondence game, and
// where each move has more than that.
const LongestMove = time.Minute

// MoveLimit returns the longest time that a move may take by a clock. Set is what the operator
// or the player's spec has set; 0 leaves it to the clock: a move takes no days because it may.
// 0 is no limit but the clock's. Without a clock a move takes Unhurried anyway.
func MoveLimit(c clock.Spec, set time.Duration) time.Duration {
	t := c.Traits()
	switch {
	case set > 0:
		return set
	case t.Limited && (c.Speed() == clock.Correspondence || !t.Saves && t.Period > LongestMove):
		return LongestMove
	}
	return 0
}

// fixedShare bounds what is kept of a fixed time for a move: 1/fixedShare of it.
const fixedShare = 33

// FixedOverhead returns how much of a fixed time for a move, which a client at the other end
// of a pipe counts, is kept for what a move costs besides the search. There unused time is
// lost, a pipe takes a tenth of a millisecond, and the search ends within two of its limit.
// The overhead that a clock for a whole game pays once would be a third of 100 ms. On a machine
// so busy that more is needed nothing is lost by it: managers and runners allow for some
// lateness, because it is their own as well. A server's clock at the other end of a network
// does not, and its overhead is measured.
func FixedOverhead(fixed, overhead time.Duration) time.Duration {
	return min(overhead, fixed/fixedShare)
}

// Reserve returns the time kept for moves that cost more than was ever measured: a
// busy machine may stall every process for a while.
func Reserve(c clock.Spec, overhead time.Duration) time.Duration {
	return min(c.Initial/reserveShare, greatestReserve) + 4*overhead
}

// lead spends a little more when ahead of the opponent on the clock, and less
// when behind: the player with less time would be the first to run short.
func (s Situation) lead(soft time.Duration) time.Duration {
	if s.Mine.Left <= 0 || s.Theirs.Left <= 0 {
		return soft
	}
	ahead := float64(s.Mine.Left) / float64(s.Theirs.Left)
	return time.Duration(float64(soft) * min(max(ahead, 0.85), 1.15))
}

// clip keeps a hard limit within what the flag allows.
func (s Situation) clip(d time.Duration) time.Duration {
	budget, _ := s.Clock.Budget(s.Mine)
	return max(min(d, budget-s.Overhead), MinBudget)
}

// SoftScale returns the factor for a soft limit, between 0.3 and 3. A best move that
// has not changed for long, or takes nearly all the nodes, needs less time; a
// falling score needs more.
func SoftScale(p search.Progress) float64 {
	f := unstable - stability*float64(min(p.StableIterations, stableAfter))
	f *= 1 + min(max(perDrop*p.WinProbDrop, -maxRise), maxDrop)
	f *= noEffort - effort*p.Effort
	return min(max(f, minScale), maxScale)
}
