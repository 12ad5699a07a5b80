package lookups

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"

	"sparring/engine/gomoku"
	rules "sparring/game/gomoku"
)

// The sizes of a network.
const (
	width  = len(gomoku.NetworkRow{})
	hidden = len(gomoku.NetworkLayer{}.Bias)
	stages = gomoku.NetworkStages
	inputs = 2 * width
	codes  = 1 << 16
)

const (
	inputShare = 1. / 16 // of the sums of activations: an input
	leak       = 1. / 8  // of a neuron below 0
)

// row is what a line of cells contributes, and for each number the sum of its squared
// gradients (Adagrad; Duchi, Hazan and Singer 2011).
type row struct{ weight, squares [width]float32 }

// neuron is a hidden neuron with its share of the output in units of Scale.
type neuron struct {
	weight, squares       [inputs]float32
	bias, biasSquares     float32
	output, outputSquares float32
}

// side is a set of weights, see gomoku.NetworkSide.
type side struct {
	rows   []row
	hidden [stages]layer
}

// layer is a hidden layer, see gomoku.NetworkLayer.
type layer [hidden]neuron

// net is a network in floating point.
type net struct{ sides []side }

// newNet returns a network of small random numbers.
func newNet(sides int, rng *rand.Rand) *net {
	n := &net{make([]side, sides)}
	for i := range n.sides {
		s := &n.sides[i]
		s.rows = make([]row, codes)
		for c := range s.rows {
			s.rows[c].squares = unlearnt
			for j := range width {
				// Above 0, where a sum of four has a slope.
				s.rows[c].weight[j] = float32(rng.NormFloat64()*0.1) + 0.08
			}
		}
		s.rows[0] = row{}
		for k := range s.hidden[0] {
			h := &s.hidden[0][k]
			h.output = float32(rng.NormFloat64() * 0.1)
			for j := range h.weight {
				h.weight[j] = float32(rng.NormFloat64() * 0.1)
			}
			h.clearSquares()
		}
		for stage := range s.hidden {
			s.hidden[stage] = s.hidden[0]
		}
	}
	return n
}

// The sums of squared gradients that the weights of the layer and of the rows start
// from. Without them each weight would move by the whole rate at the first position,
// and together they may saturate the output for good. Some hundred positions outweigh
// the layer's, some ten occurrences a row's.
const (
	layerSquares = 0.1
	rowSquares   = 1e-5
)

var unlearnt = func() (r [width]float32) {
	for j := range r {
		r[j] = rowSquares
	}
	return r
}()

// from returns a network that starts from the numbers of another, which may have one
// set of weights for both sides.
func from(w *gomoku.NetworkWeights, sides int) (*net, error) {
	if len(w.Sides) > sides {
		return nil, errors.New("the network to start from has numbers for either colour, the new one for both together")
	}
	n := &net{make([]side, sides)}
	for i := range n.sides {
		s, start := &n.sides[i], &w.Sides[i%len(w.Sides)]
		s.rows = make([]row, codes)
		for c := range s.rows {
			s.rows[c] = row{start.Rows[c], unlearnt}
		}
		for stage := range s.hidden {
			l := &start.Layers[stage%len(start.Layers)]
			for k := range s.hidden[stage] {
				h := &s.hidden[stage][k]
				h.weight, h.bias, h.output = l.Weight[k], l.Bias[k], l.Out[k]/Scale
				h.clearSquares()
			}
		}
	}
	return n, nil
}

// clearSquares sets the sums of squares to those of the start.
func (h *neuron) clearSquares() {
	h.biasSquares, h.outputSquares = layerSquares, layerSquares
	for j := range h.squares {
		h.squares[j] = layerSquares
	}
}

// canonical has the codes that name the rows of a line for each colour's view. A line
// as the board has it is Black's view.
var canonical = func() *[2][codes]uint16 {
	t := new([2][codes]uint16)
	for c := range codes {
		code := uint16(c)
		t[rules.Black][c] = gomoku.CanonicalLine(code)
		t[rules.White][c] = gomoku.CanonicalLine(code>>1&0x5555 | code&0x5555<<1)
	}
	return t
}()

// pass is what an evaluation leaves for the way back.
type pass struct {
	points []point
	stage  int
	sum    [2][width]float32 // of the activations, for the view of the side to move, then the other's
	neuron [hidden]float32   // before the leak
}

// point is an empty point with a stone near it: for each colour's view the codes of its
// four lines and, a bit a number, where its sum is between 0 and 1.
type point struct {
	codes [2][rules.Directions]uint16
	slope [2]uint16
}

// value evaluates a position, in units of Scale, and fills v.
func (n *net) value(v *pass, b *rules.Board, toMove rules.Colour) float32 {
	v.points, v.stage = v.points[:0], gomoku.NetworkStage(b.Stones())
	v.sum = [2][width]float32{}
	views := [2]*side{n.view(rules.Black), n.view(rules.White)}
	for at := range rules.Point(b.Points) {
		if !b.Empty(at) {
			continue
		}
		var p point
		near := uint16(0)
		for d := range rules.Direction(rules.Directions) {
			w := b.Window(at, d)
			code := w>>2&0xff | w>>4&0xff00
			p.codes[rules.Black][d], p.codes[rules.White][d] = canonical[rules.Black][code], canonical[rules.White][code]
			near |= p.codes[rules.Black][d]
		}
		if near == 0 {
			continue
		}
		for c := range p.codes {
			own := uint8(c) ^ uint8(toMove)
			p.slope[c] = activate(views[c].rows, &p.codes[c], &v.sum[own])
		}
		v.points = append(v.points, p)
	}
	out := float32(0)
	layer := n.layer(toMove, v.stage)
	for i := range layer {
		h := &layer[i]
		x := h.bias
		for j := range width {
			x += (h.weight[j]*v.sum[0][j] + h.weight[width+j]*v.sum[1][j]) * inputShare
		}
		v.neuron[i] = x
		if x < 0 {
			x *= leak
		}
		out += x * h.output
	}
	return out
}

// activate adds the activations of a point to the sums, and returns where they have a
// slope.
func activate(rows []row, codes *[rules.Directions]uint16, sum *[width]float32) (slope uint16) {
	a, b, c, d := &rows[codes[0]].weight, &rows[codes[1]].weight, &rows[codes[2]].weight, &rows[codes[3]].weight
	for j := range width {
		x := a[j] + b[j] + c[j] + d[j]
		if x <= 0 {
			continue
		}
		if x >= 1 {
			sum[j]++
			continue
		}
		sum[j] += x
		slope |= 1 << j
	}
	return slope
}

// view returns the weights that have the rows of a colour's view.
func (n *net) view(c rules.Colour) *side { return &n.sides[int(c)%len(n.sides)] }

func (n *net) layer(toMove rules.Colour, stage int) *layer { return &n.view(toMove).hidden[stage] }

// learn moves the weights against the gradient of the squared error of a position that
// was just evaluated: chance is its winning chance, off the error of that.
func (n *net) learn(v *pass, toMove rules.Colour, off, chance, rate float32) {
	gradient := 2 * off * chance * (1 - chance)
	var back [2][width]float32 // the gradient of the sums
	layer := n.layer(toMove, v.stage)
	for i := range layer {
		h, x := &layer[i], v.neuron[i]
		slope := float32(1)
		if x < 0 {
			slope = leak
		}
		g := gradient * h.output * slope
		step(&h.output, &h.outputSquares, gradient*x*slope, rate)
		for own := range back {
			weight, squares := h.weight[own*width:][:width], h.squares[own*width:][:width]
			for j, s := range &v.sum[own] {
				back[own][j] += g * weight[j] * inputShare
				if s != 0 {
					step(&weight[j], &squares[j], g*s*inputShare, rate)
				}
			}
		}
		step(&h.bias, &h.biasSquares, g, rate)
	}
	views := [2]*side{n.view(rules.Black), n.view(rules.White)}
	for i := range v.points {
		p := &v.points[i]
		for c := range p.codes {
			rows, g := views[c].rows, &back[uint8(c)^uint8(toMove)]
			for _, code := range p.codes[c] {
				if code == 0 {
					continue
				}
				r := &rows[code]
				for m := p.slope[c]; m != 0; m &= m - 1 {
					j := bits.TrailingZeros16(m) & (width - 1)
					step(&r.weight[j], &r.squares[j], g[j], rate)
				}
			}
		}
	}
}

// step is a step of Adagrad.
func step(weight, squares *float32, gradient, rate float32) {
	*squares += gradient * gradient
	*weight -= rate * gradient / (float32(math.Sqrt(float64(*squares))) + 1e-6)
}

// forget clears the rows that nothing was learnt about, which are random.
func (n *net) forget() {
	for i := range n.sides {
		rows := n.sides[i].rows
		for c := range rows {
			if r := &rows[c]; r.squares == unlearnt {
				r.weight = [width]float32{}
			}
		}
	}
}

// weights returns the network for its file.
func (n *net) weights() *gomoku.NetworkWeights {
	out := &gomoku.NetworkWeights{}
	for i := range n.sides {
		s := &n.sides[i]
		o := gomoku.NetworkSide{Rows: make([]gomoku.NetworkRow, codes)}
		for c := range s.rows {
			o.Rows[c] = s.rows[c].weight
		}
		for stage := range s.hidden {
			var l gomoku.NetworkLayer
			for k := range s.hidden[stage] {
				h := &s.hidden[stage][k]
				l.Weight[k], l.Bias[k], l.Out[k] = h.weight, h.bias, h.output*Scale
			}
			o.Layers = append(o.Layers, l)
		}
		out.Sides = append(out.Sides, o)
	}
	return out
}
