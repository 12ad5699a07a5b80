package amazons

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"sync"

	"sparring/engine/adapter"
)

// The weights files were written by "sparring learn tune": the weights that differ
// from those of the paper, the model of the scores, and their origin.
//
//go:embed weights/*.json
var weightsFiles embed.FS

// learntBoard is a size of the board that has weights of its own.
type learntBoard struct{ cols, rows int }

var learntBoards = [...]learntBoard{{10, 10}, {8, 8}}

func (b learntBoard) String() string { return fmt.Sprintf("%dx%d", b.cols, b.rows) }

// nearestBoard returns the index of the size whose number of squares is nearest, by
// their ratio.
func nearestBoard(squares int) (best int) {
	off := func(i int) float64 {
		return math.Abs(math.Log(float64(squares) / float64(learntBoards[i].cols*learntBoards[i].rows)))
	}
	for i := range learntBoards {
		if off(i) < off(best) {
			best = i
		}
	}
	return best
}

// boardNamed returns the index of the size with that name.
func boardNamed(name string) (int, error) {
	var names []string
	for i, b := range learntBoards {
		if b.String() == name {
			return i, nil
		}
		names = append(names, b.String())
	}
	return 0, fmt.Errorf("rules %.40q: want one of %s", name, strings.Join(names, ", "))
}

// Weights change with the share of the squares to fill that are filled: there is a set
// for 0, one for each stageStep hundredths more, and between them they are
// interpolated. After the last set they stay.
const (
	learntStages = 6
	stageStep    = 12
)

// stageAt returns the stage that a number of arrows is in, and how far the next one has
// come, from 0 to 1.
func stageAt(arrows, squaresToFill int) (stage int, next float64) {
	at := float64(100*arrows) / float64(max(squaresToFill, 1)*stageStep)
	stage = min(int(at), learntStages-2)
	return stage, min(at-float64(stage), 1)
}

// What the learnt evaluation counts is numbered: squares by pairs of queen and of king
// distances, amazons and the least mobile ones by moves, amazons by liberties, and by
// whether they are alone, and squares that those cannot fill, each for the side to move
// and then for the other side, and the move itself.
const (
	kingAt      = classes * classes
	movesAt     = 2 * classes * classes
	leastAt     = movesAt + 2*len(moveKnots)
	libertiesAt = leastAt + 2*len(moveKnots)
	aloneAt     = libertiesAt + 2*(maxLiberties+1)
	defectAt    = aloneAt + 2*(maxAlone+1)
	tempoAt     = defectAt + 2
	counted     = tempoAt + 1
)

// countNames are the names of what is counted, in a weights file.
func countNames() (names []string) {
	distances := [classes]string{"1", "2", "3", "4", "5", "more", "never"}
	for _, kind := range []string{"queen", "king"} {
		for _, own := range distances {
			for _, other := range distances {
				names = append(names, kind+"."+own+"."+other)
			}
		}
	}
	bySide := func(name string, of []int) {
		for _, side := range []string{"own", "other"} {
			for _, n := range of {
				names = append(names, fmt.Sprintf("%s.%s.%d", side, name, n))
			}
		}
	}
	upTo := func(most int) (all []int) {
		for n := range most + 1 {
			all = append(all, n)
		}
		return all
	}
	bySide("moves", moveKnots[:])
	bySide("least", moveKnots[:])
	bySide("liberties", upTo(maxLiberties))
	bySide("alone", upTo(maxAlone))
	return append(names, "own.defect", "other.defect", "tempo")
}

// weights are all that was learnt for a size of the board: by stage and count, in units
// of 1/evalUnit of a hundredth of a square.
type weights struct {
	stages [learntStages][counted]int32
	model  adapter.ScoreModel
}

// evalUnit is the value of a weight of one hundredth of a square: many squares have the
// same class, so that whole hundredths are too coarse.
const (
	evalUnitBits = 4
	evalUnit     = 1 << evalUnitBits
)

// maxWeight bounds the values of a weights file, at 20 squares, and minScale what they
// are multiplied with, so that their sums fit into 32 bits.
const (
	maxWeight = 20 * square * evalUnit
	minScale  = square / 2
)

// parameters lists the weights. A name begins with the share of squares filled.
func (w *weights) parameters() (all []adapter.Weight) {
	names := countNames()
	for stage := range w.stages {
		for i, name := range names {
			all = append(all, adapter.Weight{Name: fmt.Sprintf("%d%%.%s", stage*stageStep, name), Value: &w.stages[stage][i]})
		}
	}
	return all
}

// formula1Weights returns formula (1) with a row of table 1. The class of more moves
// counts as one move more than the last class of its own.
func formula1Weights(r *stage) (w [counted]int32) {
	in := func(hundredths float64) int32 { return int32(math.Round(hundredths / 100 * evalUnit)) }
	half := func(class int) float64 {
		if class == unreached {
			return 0
		}
		return math.Pow(2, -float64(class+1))
	}
	for i := range classes {
		for j := range classes {
			if i == unreached && j == unreached {
				continue
			}
			delta := float64(min(max(j-i, -1), 1) * square)
			ahead := delta // of king steps
			switch {
			case i == j:
				delta = firstMove
			case i != unreached && j != unreached:
				ahead = float64(j-i) / kingCap * square
			}
			w[i*classes+j] = in(float64(r.t1)*delta + float64(2*r.p1*square)*(half(i)-half(j)))
			w[kingAt+i*classes+j] = in(float64(r.t2)*delta + float64(r.p2)*ahead)
		}
	}
	for i, n := range moveKnots {
		v := in(float64(r.m * n * square))
		w[movesAt+i], w[leastAt+i] = v, v
		w[movesAt+len(moveKnots)+i], w[leastAt+len(moveKnots)+i] = -v, -v
	}
	return w
}

// initialWeights returns those from which learning starts: table 1 by stage.
func initialWeights() *weights {
	w := new(weights)
	rows := stagesByArrows(stages, paperEmpty)
	for i := range w.stages {
		w.stages[i] = formula1Weights(rows[i*stageStep*paperEmpty/100])
	}
	return w
}

// readWeights parses a weights file for a size of the board.
func readWeights(data []byte, board learntBoard) (*weights, error) {
	f, err := adapter.ReadWeights(data, board.String())
	if err != nil {
		return nil, err
	}
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if f.Scale < minScale {
		return nil, fmt.Errorf("scale %g: want %d or more", f.Scale, minScale)
	}
	w := initialWeights()
	w.model = f.ScoreModel
	return w, adapter.SetWeights(w.parameters(), f.Weights, maxWeight)
}

// shipped returns the weights that the engine plays with. The files are embedded, so
// an invalid one panics, like an invalid regexp.MustCompile.
var shipped = func() (all [len(learntBoards)]func() *weights) {
	for i, board := range learntBoards {
		all[i] = sync.OnceValue(func() *weights {
			name := "weights/" + board.String() + ".json"
			data, err := fs.ReadFile(weightsFiles, name)
			var w *weights
			if err == nil {
				w, err = readWeights(data, board)
			}
			if err != nil {
				panic(fmt.Sprintf("engine/amazons: %s: %v", name, err))
			}
			return w
		})
	}
	return all
}()

// shippedTables are the tables of the shipped weights, by size of the board and
// squares to fill.
var shippedTables = func() (all [len(learntBoards)][maxSquares + 1]func() []*evalTable) {
	for i := range all {
		for squaresToFill := range all[i] {
			all[i][squaresToFill] = sync.OnceValue(func() []*evalTable { return shipped[i]().tables(squaresToFill) })
		}
	}
	return all
}()

// tables returns the tables by number of arrows. Weights are multiplied so that a score
// of winScale wins as often as the file says its scale does: whatever the size of the
// board, and of the errors in the games that the weights were fitted to, scores mean the
// same to the search.
func (w *weights) tables(squaresToFill int) (all []*evalTable) {
	unit := winScale / w.model.Scale
	for arrows := range squaresToFill + 1 {
		stage, next := stageAt(arrows, squaresToFill)
		var mixed [counted]int32
		for i := range mixed {
			from, to := float64(w.stages[stage][i]), float64(w.stages[stage+1][i])
			mixed[i] = int32(math.Round(unit * (from + next*(to-from))))
		}
		all = append(all, newEvalTable(&mixed))
	}
	return all
}

func newEvalTable(w *[counted]int32) *evalTable {
	t := &evalTable{tempo: w[tempoAt]}
	for i := range classes {
		copy(t.queen[i][:], w[i*classes:])
		copy(t.king[i][:], w[kingAt+i*classes:])
	}
	for side := range 2 {
		copy(t.liberties[side][:], w[libertiesAt+side*len(t.liberties[side]):])
		copy(t.alone[side][:], w[aloneAt+side*len(t.alone[side]):])
		t.defect[side] = w[defectAt+side]
		for n := range maxMoves {
			knot, next := knotAt(n)
			between := func(at int) int32 {
				from, to := float64(w[at+side*len(moveKnots)+knot]), float64(w[at+side*len(moveKnots)+knot+1])
				return int32(math.Round(from + next*(to-from)))
			}
			t.moves[side][n], t.least[side][n] = between(movesAt), between(leastAt)
		}
	}
	return t
}

// knotAt returns between which two knots a number of moves lies: the first, and how far
// towards the next. Beyond the last one the line between the last two goes on.
func knotAt(moves int) (knot int, next float64) {
	for knot+2 < len(moveKnots) && moves >= moveKnots[knot+1] {
		knot++
	}
	return knot, float64(moves-moveKnots[knot]) / float64(moveKnots[knot+1]-moveKnots[knot])
}
