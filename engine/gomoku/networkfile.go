package gomoku

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
)

// NetworkWeights are the numbers of a network of look-ups, as they are fitted.
type NetworkWeights struct {
	// Sides has one set for both colours, or one for each: under rules that forbid
	// points to Black.
	Sides []NetworkSide
}

// NetworkSide is a set of weights: rows for one colour's view, the layers for this
// colour to move.
type NetworkSide struct {
	// Rows by the code of a line, from the lowest bits the four cells before the
	// point, from the farthest on, and the four after it; two bits a cell: 0 empty,
	// 1 own, 2 the other's, 3 border. Only the rows of canonical codes count.
	Rows []NetworkRow // 1<<16
	// Layers has one for each [NetworkStage], or one for all of them.
	Layers []NetworkLayer
}

// NetworkLayer is the hidden layer and what it says of a position.
type NetworkLayer struct {
	// Weight has for each neuron those of its inputs, which are the sums of the
	// activations, those of the own view first, divided by 16.
	Weight [hiddenWidth][2 * viewWidth]float32
	Bias   [hiddenWidth]float32
	// Out is in points of the evaluation.
	Out [hiddenWidth]float32
}

// NetworkRow is what a line of cells contributes to its point.
type NetworkRow [viewWidth]float32

// CanonicalLine returns the code that names the row of a line: the smaller one of the
// line's and of its reversal, and 0 for all lines without a stone, whose row is 0.
func CanonicalLine(code uint16) uint16 {
	if stones := code ^ code>>1; stones&0x5555 == 0 { // every cell is empty or border
		return 0
	}
	reversed := bits.Reverse16(code)
	return min(code, reversed>>1&0x5555|reversed&0x5555<<1)
}

// swapped returns the code of a line in the other colour's view.
func swapped(code uint16) uint16 {
	return code>>1&0x5555 | code&0x5555<<1
}

// networkHead is what the engine reads of a network file's first line, which is JSON.
// The rest is little-endian binary: for each side the number of its rows (uint32), its
// rows, each with its code (uint16) and 16 numbers (int16), from the lowest code, and
// its layers (binaryLayer).
type networkHead struct {
	Rules  string `json:"rules"`
	Stages int    `json:"stages"` // layers of a side; none in files that are older than stages: 1
	Digest string `json:"digest"` // SHA-256 of the rest
}

// binaryLayer is a layer in a file: weights by neuron and input.
type binaryLayer struct {
	Weight    [hiddenWidth][2 * viewWidth]int16
	Bias, Out [hiddenWidth]int32
}

type binaryRow struct {
	Code uint16
	Row  [viewWidth]int16
}

const (
	// maxRow bounds the numbers of a row: four of them must fit into 16 bits.
	maxRow = 1<<13 - 1
	// The unit of a layer's weights: inputs are in rowOne*inputShare.
	weightUnit = float64(hiddenUnit) / rowOne / inputShare
	// maxInput is the greatest input.
	maxInput = 1<<15 - 1
	// maxOut bounds a neuron's share of the evaluation, in 1/evalUnit.
	maxOut = 1 << 24
	// maxValue bounds what the network says of a position, in 1/evalUnit: with the
	// greatest sum over codes it fits into 32 bits.
	maxValue = 1 << 30
)

// Encode returns the weights as a network file for the rules, whose manifest, a JSON
// object, gets "rules", "stages" and "digest". The error is for weights out of range.
func (w *NetworkWeights) Encode(rules string, manifest map[string]any) ([]byte, error) {
	class, err := classNamed(rules)
	if err != nil {
		return nil, err
	}
	if len(w.Sides) != class.sides() {
		return nil, fmt.Errorf("%d sides, want %d for %s rules", len(w.Sides), class.sides(), rules)
	}
	stages := 0
	for i := range w.Sides {
		if stages = len(w.Sides[i].Layers); !validStages(stages) || stages != len(w.Sides[0].Layers) {
			return nil, fmt.Errorf("%d layers, want %d or 1, for both sides", stages, NetworkStages)
		}
	}
	var body bytes.Buffer
	put := func(v any) { binary.Write(&body, binary.LittleEndian, v) } // a bytes.Buffer never fails
	for i := range w.Sides {
		side := &w.Sides[i]
		if len(side.Rows) != lineCodes {
			return nil, fmt.Errorf("%d rows, want %d", len(side.Rows), lineCodes)
		}
		var rows []binaryRow
		for code := range side.Rows {
			if CanonicalLine(uint16(code)) != uint16(code) || code == 0 {
				continue
			}
			row, zero := binaryRow{Code: uint16(code)}, true
			for j, x := range side.Rows[code] {
				v := math.Round(float64(x) * rowUnit)
				if !(math.Abs(v) <= maxRow) {
					return nil, fmt.Errorf("row %04x has %g: want %g at most", code, x, float64(maxRow)/rowUnit)
				}
				row.Row[j] = int16(v)
				zero = zero && v == 0
			}
			if !zero {
				rows = append(rows, row)
			}
		}
		put(uint32(len(rows)))
		put(rows)
		for stage := range side.Layers {
			layer, err := side.Layers[stage].binary()
			if err != nil {
				return nil, fmt.Errorf("stage %d: %w", stage, err)
			}
			put(layer)
		}
	}
	sum := sha256.Sum256(body.Bytes())
	head := map[string]any{}
	for k, v := range manifest {
		head[k] = v
	}
	head["rules"], head["stages"], head["digest"] = rules, stages, hex.EncodeToString(sum[:])
	line, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), body.Bytes()...), nil
}

// validStages reports whether a side may have so many layers.
func validStages(n int) bool { return n == 1 || n == NetworkStages }

// binary returns the layer as it is in a file.
func (from *NetworkLayer) binary() (l *binaryLayer, err error) {
	l = new(binaryLayer)
	whole := func(what string, x float32, unit float64, most float64) float64 {
		v := math.Round(float64(x) * unit)
		if !(math.Abs(v) <= most) && err == nil {
			err = fmt.Errorf("%s has %g: want %g at most", what, x, most/unit)
		}
		return v
	}
	for i := range hiddenWidth {
		for j, x := range from.Weight[i] {
			l.Weight[i][j] = int16(whole("the layer", x, weightUnit, math.MaxInt16))
		}
		l.Bias[i] = int32(whole("the layer's bias", from.Bias[i], hiddenUnit, math.MaxInt32))
		l.Out[i] = int32(whole("the output", from.Out[i], evalUnit, maxOut))
	}
	if err == nil {
		err = l.validate()
	}
	return l, err
}

// validate reports weights that would overflow.
func (l *binaryLayer) validate() error {
	value := int64(0)
	for i := range hiddenWidth {
		most := abs(int64(l.Bias[i]))
		for _, w := range l.Weight[i] {
			most += maxInput * abs(int64(w))
		}
		if most > math.MaxInt32 {
			return fmt.Errorf("neuron %d may reach %d: want 32 bits", i, most)
		}
		if abs(int64(l.Out[i])) > maxOut {
			return fmt.Errorf("neuron %d counts %d: want %d at most", i, l.Out[i], maxOut)
		}
		value += most * abs(int64(l.Out[i]))
	}
	if value >>= hiddenBits; value > maxValue {
		return fmt.Errorf("the evaluation may reach %d: want %d at most", value, maxValue)
	}
	return nil
}

func abs(x int64) int64 { return max(x, -x) }

// readNetwork takes a network from its file.
func readNetwork(data []byte, r ruleClass) (*network, error) {
	head, sides, err := readNetworkFile(data)
	if err != nil {
		return nil, err
	}
	if head.Rules != ruleClassNames[r] {
		return nil, fmt.Errorf("for %.40q rules, want %s", head.Rules, ruleClassNames[r])
	}
	n := new(network)
	for i := range sides {
		n.setSide(&sides[i], i, len(sides))
	}
	return n, nil
}

// ReadNetworkWeights returns the rules and the numbers of a network file. The numbers
// are rounded as in the file.
func ReadNetworkWeights(data []byte) (rules string, w *NetworkWeights, err error) {
	head, sides, err := readNetworkFile(data)
	if err != nil {
		return "", nil, err
	}
	w = &NetworkWeights{}
	for i := range sides {
		from, to := &sides[i], NetworkSide{Rows: make([]NetworkRow, lineCodes)}
		for _, row := range from.rows {
			for j, x := range row.Row {
				to.Rows[row.Code][j] = float32(x) / rowUnit
			}
		}
		for i := range from.layers {
			to.Layers = append(to.Layers, from.layers[i].floats())
		}
		w.Sides = append(w.Sides, to)
	}
	return head.Rules, w, nil
}

// floats is the reverse of NetworkLayer.binary.
func (l *binaryLayer) floats() (to NetworkLayer) {
	for k := range hiddenWidth {
		for j, x := range l.Weight[k] {
			to.Weight[k][j] = float32(float64(x) / weightUnit)
		}
		to.Bias[k], to.Out[k] = float32(l.Bias[k])/hiddenUnit, float32(l.Out[k])/evalUnit
	}
	return to
}

// binarySide is a set of weights in a file.
type binarySide struct {
	rows   []binaryRow
	layers []binaryLayer // as many as the file has stages
}

// readNetworkFile checks a file and takes it apart.
func readNetworkFile(data []byte) (head networkHead, sides []binarySide, err error) {
	line, body, ok := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(line, &head); err != nil || !ok || head.Digest == "" {
		return head, nil, fmt.Errorf("no network file: want a line of JSON and binary data")
	}
	class, err := classNamed(head.Rules)
	if err != nil {
		return head, nil, err
	}
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != head.Digest {
		return head, nil, fmt.Errorf("%d bytes after the first line, with another digest than it says: truncated or changed", len(body))
	}
	if head.Stages == 0 {
		head.Stages = 1
	}
	if !validStages(head.Stages) {
		return head, nil, fmt.Errorf("%d stages: want %d or 1", head.Stages, NetworkStages)
	}
	rest := bytes.NewReader(body)
	sides = make([]binarySide, class.sides())
	for i := range sides {
		sides[i].layers = make([]binaryLayer, head.Stages)
		if err := sides[i].read(rest); err != nil {
			return head, nil, fmt.Errorf("side %d: %w", i, err)
		}
	}
	if rest.Len() > 0 {
		return head, nil, fmt.Errorf("%d bytes too many", rest.Len())
	}
	return head, sides, nil
}

// read reads a set of weights, with as many layers as there is room for, and checks it.
func (s *binarySide) read(from *bytes.Reader) error {
	var count uint32
	if err := binary.Read(from, binary.LittleEndian, &count); err != nil {
		return fmt.Errorf("no rows: %w", err)
	}
	if count > lineCodes {
		return fmt.Errorf("%d rows: want %d at most", count, lineCodes)
	}
	s.rows = make([]binaryRow, count)
	if err := binary.Read(from, binary.LittleEndian, s.rows); err != nil {
		return fmt.Errorf("%d rows: %w", count, err)
	}
	for i := range s.rows {
		row := &s.rows[i]
		if row.Code == 0 || CanonicalLine(row.Code) != row.Code {
			return fmt.Errorf("row %04x is no canonical line", row.Code)
		}
		for _, x := range row.Row {
			if abs(int64(x)) > maxRow {
				return fmt.Errorf("row %04x has %d: want %d at most", row.Code, x, maxRow)
			}
		}
	}
	for stage := range s.layers {
		l := &s.layers[stage]
		if err := binary.Read(from, binary.LittleEndian, l); err != nil {
			return fmt.Errorf("no layer of stage %d: %w", stage, err)
		}
		if err := l.validate(); err != nil {
			return fmt.Errorf("stage %d: %w", stage, err)
		}
	}
	return nil
}

// setSide takes one of so many sets of weights.
func (n *network) setSide(from *binarySide, side, sides int) {
	byCode := make(map[uint16]*[viewWidth]int16, len(from.rows))
	for i := range from.rows {
		byCode[from.rows[i].Code] = &from.rows[i].Row
	}
	for before, first := range halves.before {
		for after, second := range halves.after {
			if first == noHalf || second == noHalf {
				continue
			}
			for colour := side; colour < 2; colour += sides {
				view := uint16(before | after<<8)
				if colour == 1 {
					view = swapped(view)
				}
				if row := byCode[CanonicalLine(view)]; row != nil {
					copy(n.rows[first+second][colour*viewWidth:], row[:])
				}
			}
		}
	}
	for colour := side; colour < 2; colour += sides {
		for stage := range n.layer[colour] {
			n.layer[colour][stage].set(&from.layers[stage%len(from.layers)])
		}
	}
}

// set takes the numbers of a file.
func (l *hiddenLayer) set(from *binaryLayer) {
	l.bias, l.out = from.Bias, from.Out
	for i := range hiddenWidth {
		for j, w := range from.Weight[i] {
			l.weight[j/2][i][j%2] = w
		}
	}
}
