package gomoku

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"sparring/engine/adapter"
	"sparring/game/gomoku"
)

// The weights files were written by "sparring learn tune" and "sparring learn
// moves": the weights that are not zero, the model of the scores, and their origin.
// The network files are those of "sparring learn network"; docs/training.md says how
// the present ones were made.
//
//go:embed weights/*.json weights/*.network
var weightsFiles embed.FS

// ruleClass is the rules that share weights.
type ruleClass uint8

const (
	freestyle ruleClass = iota // five or more wins
	standard                   // exactly five wins; the Caro rules use these, too
	renju                      // and Black has forbidden points
	ruleClasses
)

var ruleClassNames = [ruleClasses]string{"freestyle", "standard", "renju"}

// classOf returns the class of a rule set.
func classOf(set gomoku.Set) ruleClass {
	switch {
	case set.Forbids(gomoku.Black):
		return renju
	case set.Line(gomoku.Black) == gomoku.FiveOrMore:
		return freestyle
	}
	return standard
}

// sides returns the number of weight sets: one for each colour in Renju, elsewhere
// one for both.
func (r ruleClass) sides() int {
	if r == renju {
		return 2
	}
	return 1
}

// byKinds is a number for each code: those of its four kinds and one of its own.
type byKinds struct {
	kind [gomoku.Kinds]int32
	code [codes]int32
}

func (w *byKinds) at(c code) int32 {
	sum := w.code[c]
	for _, k := range kindsOfCode()[c] {
		sum += w.kind[k]
	}
	return sum
}

// parameters appends the weights with their names.
func (w *byKinds) parameters(prefix string, all []adapter.Weight) []adapter.Weight {
	for k := range w.kind {
		all = append(all, adapter.Weight{Name: prefix + "kind." + gomoku.Kind(k).String(), Value: &w.kind[k]})
	}
	for c := range w.code {
		all = append(all, adapter.Weight{Name: prefix + "code." + code(c).String(), Value: &w.code[c]})
	}
	return all
}

// String returns the names of the code's kinds but dead ones.
func (c code) String() string {
	var names []string
	for _, k := range kindsOfCode()[c] {
		if k != gomoku.Dead {
			names = append(names, k.String())
		}
	}
	if names == nil {
		return gomoku.Dead.String()
	}
	return strings.Join(names, "+")
}

// evalWeights are the evaluation's for one side to move: the value of a position is
// the sum over the empty points of its own and the other side's codes, and one
// number for who threatens what.
type evalWeights struct {
	own, other byKinds
	threat     [1 << threatBits]int32
}

// threatBits is the number of bits of a threat index: whether the other side
// threatens five, then for each side the threats from two fours to a lone three.
const threatBits = 11

// threatIndex returns who threatens what, for c to move.
func (f *field) threatIndex(c gomoku.Colour) (index int) {
	own, other := &f.counts[c], &f.counts[c.Other()]
	if other[makesFive] > 0 {
		index = 1
	}
	for t := makesTwo4s; t <= makesThree; t++ {
		if own[t] > 0 {
			index |= 1 << t
		}
		if other[t] > 0 {
			index |= 1 << (t + 5)
		}
	}
	return index
}

// need is what the side to move has to meet.
type need uint8

const (
	meetNothing need = iota
	meetThree        // the other side can make two fives possible
	needs
)

var needNames = [needs]string{"free", "meet"}

// moveWeights are the policy's for one side to move, in 1024ths of a natural
// logarithm: the score of a move is the sum of those of its point's own and other
// code.
type moveWeights struct{ own, other [needs]byKinds }

// weights are all that was learnt for a class of rules.
type weights struct {
	eval  [2]evalWeights // by the side to move; one is used for both where sides is 1
	moves [2]moveWeights
	model adapter.ScoreModel
}

// sidePrefix begins the names of a side's weights.
func (r ruleClass) sidePrefix(side int) string {
	if r.sides() == 1 {
		return ""
	}
	return gomoku.Colour(side).String() + "."
}

// evalParameters lists the weights of the evaluation.
func (w *weights) evalParameters(r ruleClass) (all []adapter.Weight) {
	for side := range r.sides() {
		e, prefix := &w.eval[side], r.sidePrefix(side)
		all = e.own.parameters(prefix+"own.", all)
		all = e.other.parameters(prefix+"other.", all)
		for i := range e.threat {
			all = append(all, adapter.Weight{Name: fmt.Sprintf("%sthreat.%0*b", prefix, threatBits, i), Value: &e.threat[i]})
		}
	}
	return all
}

// moveParameters lists the weights of the policy.
func (w *weights) moveParameters(r ruleClass) (all []adapter.Weight) {
	for side := range r.sides() {
		for n := range needs {
			prefix := r.sidePrefix(side) + needNames[n]
			all = w.moves[side].own[n].parameters(prefix+".own.", all)
			all = w.moves[side].other[n].parameters(prefix+".other.", all)
		}
	}
	return all
}

// maxWeight bounds the values of a weights file. Five of them for each colour add up
// to the value of a point, and the sum over the largest board must fit into 32 bits.
const maxWeight = 1 << 18

// evalUnit is the value of a weight of one unit of the evaluation: many points have
// the same code, so that whole units are too coarse.
const evalUnit = 32

// readEval takes the evaluation from a weights file.
func (w *weights) readEval(data []byte, r ruleClass) error {
	f, err := adapter.ReadWeights(data, ruleClassNames[r])
	if err != nil {
		return err
	}
	if err := f.Validate(); err != nil {
		return err
	}
	w.model = f.ScoreModel
	return adapter.SetWeights(w.evalParameters(r), f.Weights, maxWeight)
}

// readMoves takes the policy from a weights file.
func (w *weights) readMoves(data []byte, r ruleClass) error {
	f, err := adapter.ReadWeights(data, ruleClassNames[r])
	if err != nil {
		return err
	}
	return adapter.SetWeights(w.moveParameters(r), f.Weights, maxWeight)
}

// shipped returns the weights that the engine plays with. The files are embedded, so
// an invalid one panics, like an invalid regexp.MustCompile.
var shipped = func() (all [ruleClasses]func() *weights) {
	for r := range ruleClasses {
		all[r] = sync.OnceValue(func() *weights {
			w := new(weights)
			for suffix, read := range map[string]func([]byte, ruleClass) error{"": w.readEval, "-moves": w.readMoves} {
				name := "weights/" + ruleClassNames[r] + suffix + ".json"
				data, err := fs.ReadFile(weightsFiles, name)
				if err == nil {
					err = read(data, r)
				}
				if err != nil {
					panic(fmt.Sprintf("engine/gomoku: %s: %v", name, err))
				}
			}
			return w
		})
	}
	return all
}()

// pointInfo is what the engine looks up about the codes of a few points only.
type pointInfo struct {
	foul foul
	// fourThree: a stone makes a four with one answer and an open three.
	fourThree bool
	// builds: it makes no threat, but rows that later ones can use.
	builds bool
}

// pointTable is what a colour's codes give. Each stone changes many points, which need value and
// threat, while moves are made for few positions: so these lie close together, and the rest apart.
type pointTable struct {
	// value is what a point adds to the evaluation: if the colour is to move in the high 32
	// bits, if the other is in the low ones.
	value  [codes]int64
	threat [codes]threat
	info   [codes]pointInfo
	score  [needs][2][codes]int16 // in the policy: if the colour is to move, if the other is
}

// valuesOf returns the two sums of a total of pointTable.value: if the colour is to move, and if
// the other is.
func valuesOf(sum int64) (toMove, waiting int32) {
	waiting = int32(sum)
	return int32((sum - int64(waiting)) >> 32), waiting
}

// tables returns the tables of both colours: where they share weights it is one, to need less of
// the processor's caches.
func (w *weights) tables(r ruleClass) [2]*pointTable {
	var tables [2]*pointTable
	for c := range gomoku.Colour(2) {
		own, other := c, c.Other()
		if r.sides() == 1 {
			own, other = 0, 0
			if tables[0] != nil {
				tables[c] = tables[0]
				break
			}
		}
		t := new(pointTable)
		for i := range t.info {
			at, p := code(i), &t.info[i]
			t.value[i] = int64(w.eval[own].own.at(at))<<32 + int64(w.eval[other].other.at(at))
			for n := range needs {
				t.score[n][0][i], t.score[n][1][i] = saturated(w.moves[own].own[n].at(at)), saturated(w.moves[other].other[n].at(at))
			}
			t.threat[i], p.foul = classify(kindsOfCode()[i], r == renju && c == gomoku.Black)
			p.fourThree = t.threat[i] == makesFourMore && slices.ContainsFunc(kindsOfCode()[i][:], gomoku.Kind.IsOpenThree)
			p.builds = builds(kindsOfCode()[i])
		}
		tables[c] = t
	}
	return tables
}

// builds reports whether a stone with these rows, though no threat, prepares one: a
// three or an open two, or several twos.
func builds(kinds [gomoku.Directions]gomoku.Kind) bool {
	twos := 0
	for _, k := range kinds {
		if k == gomoku.Three || k.IsOpenTwo() {
			return true
		}
		if k == gomoku.Two {
			twos++
		}
	}
	return twos > 1
}

func saturated(v int32) int16 { return int16(min(max(v, -1<<15), 1<<15-1)) }

var shippedTables = func() (all [ruleClasses]func() [2]*pointTable) {
	for r := range ruleClasses {
		all[r] = sync.OnceValue(func() [2]*pointTable { return shipped[r]().tables(r) })
	}
	return all
}()

// pointTablesOf returns the shipped tables of a rule set.
func pointTablesOf(set gomoku.Set) [2]*pointTable { return shippedTables[classOf(set)]() }

// shippedNetworks are those of the classes of rules that have one.
var shippedNetworks = func() (all [ruleClasses]func() *network) {
	for r := range ruleClasses {
		all[r] = sync.OnceValue(func() *network {
			name := "weights/" + ruleClassNames[r] + ".network"
			data, err := fs.ReadFile(weightsFiles, name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			n, err := readNetwork(data, r)
			if err != nil {
				panic(fmt.Sprintf("engine/gomoku: %s: %v", name, err))
			}
			return n
		})
	}
	return all
}()

// networkOf returns the network of a rule set, or nil. Under continuous rules counted
// rows become dead stones, which no network has seen.
func networkOf(set gomoku.Set) *network {
	if set.Continuous() {
		return nil
	}
	return shippedNetworks[classOf(set)]()
}
