package xiangqi

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// weights.json is what "sparring learn tune" wrote: the weights that differ
// from the author's, what their scores mean, and where they come from.
//
//go:embed weights.json
var weightsFile []byte

// shipped is what the engine plays with, and shippedModel what its scores stand for.
// That the file can be read is a condition of the build, like a pattern that is
// compiled at the start.
var shipped, shippedModel = mustParseWeights(weightsFile)

// scoreModel is what a score stands for: Scale is the score that wins 73 % of the
// points, Outcomes tell draws apart.
type scoreModel struct {
	Scale    float64         `json:"scale"`
	Outcomes search.WDLModel `json:"outcomes"`
}

func mustParseWeights(file []byte) (*evaluation, scoreModel) {
	var f struct {
		scoreModel
		Weights map[string]int32 `json:"weights"`
	}
	w := untuned
	err := json.Unmarshal(file, &f)
	if err == nil {
		err = w.set(f.Weights)
	}
	if err == nil && (f.Scale < 1 || f.Outcomes.Scale < 1 || f.Outcomes.Edge < 0) {
		err = fmt.Errorf("scale %g, outcomes %+v: want scales of 1 or more and an edge that is not negative", f.Scale, f.Outcomes)
	}
	if err != nil {
		panic(fmt.Sprintf("xiangqi: weights.json: %v", err))
	}
	return w.compile(), f.scoreModel
}

// parameter is a weight that tuning may vary: two numbers of a weights file.
type parameter struct {
	name  string // without the phase
	value *weight
}

// phases end the names of a weight's numbers: middle game and endgame.
var phases = [2]string{".mg", ".eg"}

// parameters lists what tuning may vary: what no position shows is left out.
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

// mobilityOf is how many squares a piece of the kind can move to at most.
var mobilityOf = [rules.Kinds]int{
	rules.Advisor: 4, rules.Elephant: 4, rules.Horse: 8, rules.Rook: mostMoves, rules.Cannon: mostMoves, rules.Pawn: 3,
}

// canStand reports whether a Red piece of the kind can come to stand on s.
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

// set sets the weights of those names; the error names one that there is not.
func (w *weights) set(values map[string]int32) error {
	known := map[string]*int32{}
	for _, p := range w.parameters() {
		known[p.name+phases[0]], known[p.name+phases[1]] = &p.value.mg, &p.value.eg
	}
	for name, v := range values {
		at := known[name]
		if at == nil {
			return fmt.Errorf("no weight %.40q", name)
		}
		if v > mostWeight || v < -mostWeight {
			return fmt.Errorf("%s is %d: want %d at most, whatever its sign", name, v, mostWeight)
		}
		*at = v
	}
	return nil
}

// mostWeight bounds what a weights file may say: the sums stay far within 32 bits.
const mostWeight = 2000

// unit is a weight that shows its coefficient without rounding where all the
// others are zero: it is what the evaluation divides by.
const unit = 16

// Linear shows the evaluation as a linear function of its weights, to who fits
// them: about worth = sum of weight * coefficient. It may be used by several
// goroutines at once.
type Linear struct {
	names []string
	start []float64
	plain *evaluation
	// probes are without weights but for one each, which is unit.
	probes []*evaluation
}

// NewLinear is the evaluation at the weights that tuning begins with: those
// before any tuning, whatever is shipped.
func NewLinear() *Linear {
	l := &Linear{plain: untuned.compile()}
	for i, p := range untuned.parameters() {
		l.names = append(l.names, p.name+phases[0], p.name+phases[1])
		l.start = append(l.start, float64(p.value.mg), float64(p.value.eg))
		var w weights
		w.parameters()[i].value.mg = unit
		l.probes = append(l.probes, w.compile())
	}
	return l
}

// Names are the weights', in the order of all that Linear gives. They are
// those of a weights file.
func (l *Linear) Names() []string { return l.names }

// Start are the weights that tuning begins with.
func (l *Linear) Start() []float64 { return l.start }

// Coefficients puts the coefficients of a position into to, which has room for
// one of each weight, and returns the evaluation at Start, both for the side to
// move. Quiet is false where the evaluation alone says little, because the
// side to move is in check. The error is of another game's position.
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
