package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sparring/game"
)

const (
	// countTime is how long a program may count before it is taken for one that does not.
	countTime = 5 * time.Second
	// startLeaves bounds the count of the start position, and ruleLeaves that of the others.
	startLeaves, ruleLeaves = 200_000, 3_000
	// maxPerft is the largest depth.
	maxPerft = 3
)

var errNoPerft = errors.New("no answer to perft")

// perft compares the program's moves with ours, where it can count them: in the start
// position and in those of the rules.
func (x *checker) perft() Finding {
	d := x.spec.Dialect
	if !d.Counts() {
		return Finding{"perft", Skip, string(d) + " has no command that counts moves"}
	}
	positions, depths, leaves := []game.Position{x.start}, []int{depthFor(x.start, startLeaves)}, uint64(0)
	for _, at := range of(x.positions, x.start.Rules().Name) {
		p, err := at.setUp(x.start.Rules().Name)
		if err != nil {
			return Finding{"perft", Bad, err.Error()}
		}
		positions, depths = append(positions, p), append(depths, depthFor(p, ruleLeaves))
	}
	for i, p := range positions {
		n, wrong, err := x.divide(p, depths[i])
		switch {
		case errors.Is(err, errNoPerft) && i == 0:
			return Finding{"perft", Skip, "it does not count moves (go perft)"}
		case errors.Is(err, errNoPerft):
			return Finding{"perft", Warn, fmt.Sprintf("it counts the moves of other positions, and gave no answer within %v in %s",
				countTime, p)}
		case err != nil:
			return x.failed("perft", err)
		case wrong != "":
			return Finding{"perft", Bad, wrong}
		}
		leaves += n
	}
	return Finding{"perft", Good, fmt.Sprintf("%d leaves of %d positions counted as by the rules, the usual start to depth %d",
		leaves, len(positions), depths[0])}
}

// depthFor returns the largest depth that has about so many leaves at most.
func depthFor(p game.Position, leaves uint64) int {
	moves := uint64(len(p.Legal(nil)))
	for depth := 1; ; depth++ {
		if depth == maxPerft || game.Perft(p, depth)*moves > leaves {
			return depth
		}
	}
}

// divide compares the moves of a position. Wrong says the first difference, after the moves
// that lead to it.
func (x *checker) divide(p game.Position, depth int) (leaves uint64, wrong string, err error) {
	theirs, ok, err := x.program.Perft(p, depth, countTime)
	if err != nil || !ok {
		if err == nil {
			err = errNoPerft
		}
		return 0, "", err
	}
	where := "in " + p.String()
	if _, moves := game.History(p); len(moves) > 0 {
		where = fmt.Sprintf("after %v, %s", moves, where)
	}
	for _, m := range p.Legal(nil) {
		text := p.Format(m)
		n, has := theirs[text]
		if !has {
			return 0, fmt.Sprintf("%s: it does not know %s, which is legal", where, text), nil
		}
		delete(theirs, text)
		after := p.Clone()
		if after.Play(m) != nil {
			continue
		}
		ours := game.Perft(after, depth-1)
		if leaves += ours; ours == n {
			continue
		}
		if depth > 1 {
			if _, deeper, err := x.divide(after, depth-1); deeper != "" || err != nil {
				return 0, deeper, err
			}
		}
		return 0, fmt.Sprintf("%s: after %s it counts %d leaves at depth %d, and there are %d", where, text, n, depth-1, ours), nil
	}
	if more := slices.Sorted(maps.Keys(theirs)); len(more) > 0 {
		_, why := broken(p, more[0])
		return 0, fmt.Sprintf("%s: it has %s: %s", where, more[0], cmp.Or(why, "it is not legal")), nil
	}
	return leaves, "", nil
}
