package xiangqi

import (
	_ "embed"
	"errors"
	"fmt"

	"sparring/engine/adapter"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// weights.json was written by "sparring learn tune": the weights that differ from
// untuned, the model of their scores, and their origin.
//
//go:embed weights.json
var weightsFile []byte

// shipped is the evaluation that the engine plays with, and shippedModel the model
// of its scores. The file is embedded, so an invalid one panics at start, like an
// invalid regexp.MustCompile.
var shipped, shippedModel = mustParseWeights(weightsFile)

func mustParseWeights(file []byte) (*evaluation, adapter.ScoreModel) {
	w := untuned
	f, err := adapter.ReadWeights(file, "")
	if err == nil {
		err = errors.Join(w.set(f.Weights), f.Validate())
	}
	if err != nil {
		panic(fmt.Sprintf("xiangqi: weights.json: %v", err))
	}
	return w.compile(), f.ScoreModel
}

// parameter is a weight that tuning may vary: two numbers in a weights file.
type parameter struct {
	name  string // without the phase
	value *weight
}

// phases are the suffixes of a weight's two numbers: middle game and endgame.
var phases = [2]string{".mg", ".eg"}

// parameters lists the weights that tuning may vary, without those that no position
// can show.
func (w *weights) parameters() (all []parameter) {
	single := func(name string, v *weight) { all = append(all, parameter{name, v}) }
	kinds := func(name string, v *byKind, which ...rules.Kind) {
		for _, k := range which {
			single(name+"."+k.String(), &v[k])
		}
	}
	byNumber := func(name string, v []weight, from int) {
		for n := from; n < len(v); n++ {
			single(fmt.Sprintf("%s.%d", name, n), &v[n])
		}
	}
	const advisor, elephant, horse, rook, cannon, pawn = rules.Advisor, rules.Elephant, rules.Horse, rules.Rook, rules.Cannon, rules.Pawn
	kinds("material", &w.material, advisor, elephant, horse, rook, cannon, pawn)
	for k := advisor; k <= pawn; k++ {
		byNumber("mobility."+k.String(), w.mobility[k][:mobilityOf[k]+1], 0)
	}
	for k := advisor; k <= pawn; k++ {
		for other := k; other <= pawn; other++ {
			single(fmt.Sprintf("together.%v.%v", other, k), &w.together[k][other])
		}
	}
	for k := horse; k <= pawn; k++ {
		kinds("against."+k.String(), &w.against[k], advisor, elephant)
	}
	single("pawns hand in hand", &w.pawnsHandInHand)
	kinds("linked", &w.linked, horse, rook, cannon)
	for n := range w.crossed {
		byNumber(fmt.Sprintf("crossed pawns.%d", n), w.crossed[n][:], 1)
	}
	single("open file", &w.openFile)
	single("half-open file", &w.halfOpenFile)
	byNumber("wing", w.wing[:], 1)
	single("central cannon", &w.centralCannon)
	single("hollow cannon", &w.hollowCannon)
	single("bottom cannon", &w.bottomCannon)
	kinds("palace attack", &w.palaceAttack, horse, rook, cannon, pawn)
	byNumber("gathering", w.gathering[:], 1)
	single("cannon against full guard", &w.cannonAgainstFullGuard)
	single("smothered", &w.smothered)
	kinds("safe check", &w.safeCheck, horse, rook, cannon)
	byNumber("king room", w.room[:], 0)
	kinds("threatened", &w.threatened, advisor, elephant, horse, rook, cannon, pawn)
	kinds("guarded", &w.guarded, advisor, elephant, horse, cannon, pawn)
	single("tempo", &w.tempo)
	for k := rules.King; k <= pawn; k++ {
		for s := range rules.Square(rules.Squares) {
			if s.File() < 5 && canStand(k, s) {
				row, col := halfSquare(s)
				single(fmt.Sprintf("square.%v.%v", k, s), &w.squares[k][row][col])
			}
		}
	}
	return all
}

// mobilityOf is the maximum mobility of each kind.
var mobilityOf = [rules.Kinds]int{
	rules.Advisor: 4, rules.Elephant: 4, rules.Horse: 8, rules.Rook: maxMoves, rules.Cannon: maxMoves, rules.Pawn: 3,
}

// canStand reports whether a red piece of the kind can reach s.
func canStand(k rules.Kind, s rules.Square) bool {
	file, rank := s.File(), s.Rank()
	switch k {
	case rules.King:
		return rules.Palace(rules.Red).Has(s)
	case rules.Advisor:
		return rules.AdvisorAttacks(s).Any() && rules.Palace(rules.Red).Has(s)
	case rules.Elephant:
		return rank%4 == 0 && rank < 5 && file%4 == 2 || rank == 2 && file%4 == 0
	case rules.Pawn:
		return rank > 4 || rank > 2 && file%2 == 0
	}
	return true
}

// set assigns weights by name.
func (w *weights) set(values map[string]int32) error {
	return adapter.SetWeights(w.byPhase(), values, maxWeight)
}

// byPhase lists the numbers of which each weight has two.
func (w *weights) byPhase() (all []adapter.Weight) {
	for _, p := range w.parameters() {
		all = append(all, adapter.Weight{Name: p.name + phases[0], Value: &p.value.mg}, adapter.Weight{Name: p.name + phases[1], Value: &p.value.eg})
	}
	return all
}

// maxWeight bounds the values of a weights file, so that sums stay well within 32
// bits.
const maxWeight = 2000

// unit is the value of a probe's only weight. The evaluation divides by it, so the
// probe shows the weight's coefficient without rounding.
const unit = 16

// Linear presents the evaluation as a linear function of its weights, for fitting
// them: evaluation = sum of weight * coefficient, except for rounding. It is safe
// for concurrent use.
type Linear struct {
	adapter.Parameters
	plain *evaluation
	// probes have a single nonzero weight each, with the value unit.
	probes []*evaluation
}

// NewLinear returns the evaluation with the weights from which tuning starts,
// independent of the shipped ones.
func NewLinear() *Linear {
	l := &Linear{Parameters: adapter.ParametersOf(untuned.byPhase()), plain: untuned.compile()}
	for i := range untuned.parameters() {
		var w weights
		w.parameters()[i].value.mg = unit
		l.probes = append(l.probes, w.compile())
	}
	return l
}

// Fits reports whether the rules are those of Xiangqi.
func (l *Linear) Fits(r *game.Rules) bool { return r.Game == rules.Name }

// Coefficients stores the coefficients of a position in to, whose length is that
// of Names, and returns the evaluation with the weights of Start, both for the
// side to move. If the side to move is in check, where the evaluation alone says
// little, it returns with quiet false. It returns an error for a position of
// another game.
func (l *Linear) Coefficients(g game.Position, to []float64) (worth float64, quiet bool, err error) {
	s, err := New(g)
	if err != nil {
		return 0, false, err
	}
	p := s.(*position)
	if p.Enter().Forced {
		return 0, false, nil
	}
	at := func(e *evaluation) {
		p.eval, p.accumulators = e, append(p.accumulators[:0], e.accumulate(p.board))
	}
	middle := float64(p.accumulator().middlegame()) / phaseFull
	for i, e := range l.probes {
		at(e)
		times := float64(p.phaseScores().mg) / unit // in both phases
		to[2*i], to[2*i+1] = times*middle, times*(1-middle)
	}
	at(l.plain)
	return float64(p.static()), true, nil
}

// Captures reports whether a move of the position takes a piece.
func (l *Linear) Captures(g game.Position, m game.Move) bool {
	x, ok := g.(*rules.Position)
	return ok && x.Board().At(rules.To(m)) != rules.NoPiece
}
