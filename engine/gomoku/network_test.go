package gomoku

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// randomNetwork has numbers of all sizes that files may have.
func randomNetwork(rng *rand.Rand) *network {
	n := new(network)
	for i := range n.rows {
		for j := range n.rows[i] {
			n.rows[i][j] = int16(rng.IntN(2*maxRow+1) - maxRow)
		}
	}
	for k := range 2 * NetworkStages {
		l := &n.layer[k/NetworkStages][k%NetworkStages]
		for i := range hiddenWidth {
			room := math.MaxInt32 / maxInput
			for j := range 2 * viewWidth {
				w := rng.IntN(room/(2*viewWidth-j)+1) / (1 + rng.IntN(3))
				room -= w
				l.weight[j/2][i][j%2] = int16(w * (1 - 2*rng.IntN(2)))
			}
			l.bias[i] = int32(rng.IntN(1 << 15))
			l.out[i] = int32(rng.IntN(2*maxOut) - maxOut)
		}
	}
	return n
}

// TestAccumulatorIsIncremental: whatever moves, passes and undone moves came before,
// and however rarely it was asked, an accumulator has the sums of the position.
func TestAccumulatorIsIncremental(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := randomNetwork(rng)
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/standard-20", "gomoku/renju-15", "gomoku/freestyle-20"} {
		for range 10 {
			a := adapt(t, setUp(t, rules, "", ""))
			a.net = newAccumulator(n, a.field.board)
			var moves []game.Move // 0: a pass
			for range 300 {
				last := len(moves) - 1
				node := a.Enter()
				list := a.Moves(nil, &search.Cursor{})
				switch passed := last >= 0 && moves[last] == 0; {
				case last >= 0 && (node.Over || len(list) == 0 || rng.IntN(3) == 0):
					if passed {
						a.Unpass()
					} else {
						a.Undo(moves[last])
					}
					moves = moves[:last]
				case node.MayPass && !passed && rng.IntN(10) == 0:
					a.Pass()
					moves = append(moves, 0)
				default:
					m := list[rng.IntN(len(list))].Move
					a.Do(m)
					moves = append(moves, m)
				}
				if rng.IntN(20) == 0 {
					a = a.Clone().(*position)
				}
				if rng.IntN(3) > 0 || a.field.board.Stones() <= fewStones {
					continue // then it is not asked
				}
				a.Eval()
				want := addRows(n, a.field.board)
				if a.net.sum != want.sum {
					t.Fatalf("%s after %v: sums %v, want %v", rules, moves, a.net.sum, want.sum)
				}
				for p := range a.field.open.all() {
					if a.net.points[p] != want.points[p] {
						t.Fatalf("%s after %v: point %d: %v, want %v", rules, moves, p, a.net.points[p], want.points[p])
					}
				}
			}
		}
	}
}

// FuzzNetwork compares what plays with its plain twin.
func FuzzNetwork(f *testing.F) {
	n := randomNetwork(rand.New(rand.NewPCG(2, 2)))
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		a := &accumulator{net: n}
		for i := range a.points {
			for j := range a.points[i] {
				a.points[i][j] = int16(rng.Uint32())
			}
		}
		for j := range a.sum {
			a.sum[j] = int16(rng.Uint32())
		}
		changes := make([]rowChange, rng.IntN(maxChanges+1))
		order := rng.Perm(gomoku.MaxPoints)
		for i := range changes {
			changes[i] = rowChange{uint32(order[i]), rng.Uint32N(uint32(len(n.rows))), rng.Uint32N(uint32(len(n.rows)))}
		}
		stone := gomoku.Point(order[len(changes)])
		b, before, want := a.clone(), make([]lanes, len(changes)), make([]lanes, len(changes))
		a.apply(stone, changes, before)
		b.applyPlain(stone, changes, want)
		if a.points != b.points || a.sum != b.sum || !slices.Equal(before, want) {
			t.Fatalf("%d changes: sums %v, want %v", len(changes), a.sum, b.sum)
		}
		a.restore(changes, before)
		b.restorePlain(changes, before)
		if a.points != b.points {
			t.Fatalf("%d changes are not taken back", len(changes))
		}
		for c := range gomoku.Colour(2) {
			for stage := range n.layer[c] {
				l := &n.layer[c][stage]
				if got, want := l.output(&a.sum, c), l.outputPlain(&a.sum, c); got != want {
					t.Fatalf("%v, stage %d: %d, want %d", c, stage, got, want)
				}
			}
		}
	})
}

// TestNetworkIsItsFloats: an encoded network says what its weights say, computed from
// the definition: cell by cell, in floating point, with one layer and with one for each
// stage; and what is read of it is encoded as it was.
func TestNetworkIsItsFloats(t *testing.T) {
	for i, rules := range []string{"freestyle-15", "standard-15", "renju-15", "freestyle-15", "renju-15"} {
		stages := NetworkStages
		if i > 2 {
			stages = 1
		}
		class := classOf(adapt(t, setUp(t, "gomoku/"+rules, "", "")).set)
		rng := rand.New(rand.NewPCG(4, 4))
		w := new(NetworkWeights)
		for range class.sides() {
			w.Sides = append(w.Sides, randomSide(rng, stages))
		}
		data, err := w.Encode(ruleClassNames[class], map[string]any{"positions": 1})
		if err != nil {
			t.Fatal(err)
		}
		n, err := readNetwork(data, class)
		if err != nil {
			t.Fatal(err)
		}
		_, read, err := ReadNetworkWeights(data)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := read.Encode(ruleClassNames[class], map[string]any{"positions": 1}); err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: the numbers of the file change when they are read and written: %v", rules, err)
		}
		for range 20 {
			a := adapt(t, setUp(t, "gomoku/"+rules, "", ""))
			for range 5 + rng.IntN(60) {
				if a.Enter().Over {
					break
				}
				list := a.Moves(nil, &search.Cursor{})
				a.Do(list[rng.IntN(len(list))].Move)
			}
			got := float64(newAccumulator(n, a.field.board).value(a.toMove)) / evalUnit
			want := w.value(&a.field.board, a.toMove)
			// Activations are rounded down; other layers would be some 500 off.
			if math.Abs(got-want) > 0.02*math.Abs(want)+25 {
				t.Errorf("%s: %.1f, want %.1f", rules, got, want)
			}
		}
	}
}

func randomSide(rng *rand.Rand, stages int) NetworkSide {
	s := NetworkSide{Rows: make([]NetworkRow, lineCodes), Layers: make([]NetworkLayer, stages)}
	for i := range s.Rows {
		for j := range s.Rows[i] {
			s.Rows[i][j] = float32(rng.NormFloat64() * 0.3)
		}
	}
	for stage := range s.Layers {
		l := &s.Layers[stage]
		for i := range hiddenWidth {
			for j := range l.Weight[i] {
				l.Weight[i][j] = float32(rng.NormFloat64() * 0.3)
			}
			l.Bias[i], l.Out[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64()*100)
		}
	}
	return s
}

// value is the definition.
func (w *NetworkWeights) value(b *gomoku.Board, toMove gomoku.Colour) (sum float64) {
	var in [2 * viewWidth]float64
	for p := range gomoku.Point(b.Points) {
		if !b.Empty(p) {
			continue
		}
		for half, view := range [2]gomoku.Colour{toMove, toMove.Other()} {
			rows := w.Sides[int(view)%len(w.Sides)].Rows
			var h [viewWidth]float64
			for _, d := range [4][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
				code := uint16(0)
				for i, at := range [8]int{-4, -3, -2, -1, 1, 2, 3, 4} {
					cell := uint16(3)
					if q := b.Point(b.Column(p)+at*d[0], b.RowOf(p)+at*d[1]); q != gomoku.NoPoint {
						cell = 0
						if c, ok := b.At(q); ok && c == view {
							cell = 1
						} else if ok {
							cell = 2
						}
					}
					code |= cell << (2 * i)
				}
				if code = CanonicalLine(code); code == 0 {
					continue
				}
				for j, x := range rows[code] {
					h[j] += float64(x)
				}
			}
			for j, x := range h {
				in[half*viewWidth+j] += min(max(x, 0), 1) / inputShare
			}
		}
	}
	layers := w.Sides[int(toMove)%len(w.Sides)].Layers
	layer := &layers[0]
	if n := b.Stones(); len(layers) > 1 {
		switch {
		case n >= 44:
			layer = &layers[3]
		case n >= 28:
			layer = &layers[2]
		case n >= 16:
			layer = &layers[1]
		}
	}
	for i := range hiddenWidth {
		x := float64(layer.Bias[i])
		for j, v := range in {
			x += v * float64(layer.Weight[i][j])
		}
		if x < 0 {
			x /= 8
		}
		sum += x * float64(layer.Out[i])
	}
	return sum
}

func TestCanonicalLine(t *testing.T) {
	for _, tt := range []struct{ code, want uint16 }{
		{0, 0}, {0xffff, 0}, {0x3, 0}, {1, 1}, {0x4000, 1}, {0x8000, 2}, {0xf001, 0x400f}, {0x0012, 0x0012}, {0x8400, 0x0012},
	} {
		if got := CanonicalLine(tt.code); got != tt.want {
			t.Errorf("%04x: %04x, want %04x", tt.code, got, tt.want)
		}
	}
}

func TestShippedNetworks(t *testing.T) {
	for r := range ruleClasses {
		if n := shippedNetworks[r](); n == nil || n.layer[1][NetworkStages-1].out == [hiddenWidth]int32{} {
			t.Errorf("%s: no network", ruleClassNames[r])
		}
	}
	if a := adapt(t, setUp(t, "gomoku/continuous-15", "", "")); a.net != nil {
		t.Error("a network under continuous rules")
	}
}

func TestRefusesNetworks(t *testing.T) {
	w := &NetworkWeights{Sides: []NetworkSide{randomSide(rand.New(rand.NewPCG(5, 5)), 1)}}
	for i := range w.Sides[0].Rows {
		if i != 0x1234 && i != 1 {
			w.Sides[0].Rows[i] = NetworkRow{}
		}
	}
	good, err := w.Encode("freestyle", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readNetwork(good, freestyle); err != nil {
		t.Fatal(err)
	}
	// with gives the file a new body, and the digest of it.
	_, body, _ := bytes.Cut(good, []byte("\n"))
	with := func(change func(body []byte) []byte) []byte {
		b := change(bytes.Clone(body))
		sum := sha256.Sum256(b)
		return append(fmt.Appendf(nil, "{\"rules\":\"freestyle\",\"digest\":%q}\n", hex.EncodeToString(sum[:])), b...)
	}
	if _, err := readNetwork(with(bytes.Clone), freestyle); err != nil {
		t.Errorf("a file that is older than stages: %v", err)
	}
	const row, layer = 4, 4 + 2*34 // where the first row and the layer begin
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "no network file"},
		{"another file", []byte("{}"), "no network file"},
		{"no JSON", []byte("x\n"), "no network file"},
		{"truncated", good[:len(good)-1], "truncated or changed"},
		{"changed", append(good[:len(good)-1:len(good)-1], good[len(good)-1]^1), "truncated or changed"},
		{"no rows", with(func(b []byte) []byte { return b[:3] }), "side 0: no rows"},
		{"too many rows", with(func(b []byte) []byte { return append([]byte{0xff, 0xff, 0xff, 0xff}, b[4:]...) }), "4294967295 rows"},
		{"half a row", with(func(b []byte) []byte { return b[:row+20] }), "2 rows"},
		{"another line", with(func(b []byte) []byte { b[row], b[row+1] = 0, 0x40; return b }), "row 4000 is no canonical line"},
		{"a large row", with(func(b []byte) []byte { binary.LittleEndian.PutUint16(b[row+2:], 1<<13); return b }), "has 8192: want 8191 at most"},
		{"other stages", bytes.Replace(good, []byte(`"stages":1`), []byte(`"stages":3`), 1), "3 stages: want 4 or 1"},
		{"too few layers", bytes.Replace(good, []byte(`"stages":1`), []byte(`"stages":4`), 1), "side 0: no layer of stage 1"},
		{"no layer", with(func(b []byte) []byte { return b[:layer] }), "no layer"},
		{"a large layer", with(func(b []byte) []byte {
			for i := range 4 {
				binary.LittleEndian.PutUint16(b[layer+2*i:], 1<<15-1)
			}
			return b
		}), "neuron 0 may reach"},
		{"a large output", with(func(b []byte) []byte { binary.LittleEndian.PutUint32(b[len(b)-4:], 1<<30); return b }), "neuron 31 counts 1073741824"},
		{"all outputs large", with(func(b []byte) []byte {
			for i := range hiddenWidth {
				b[len(b)-4*i-1], b[len(b)-4*i-2] = 0, 0xff // just below 1<<24
			}
			return b
		}), "the evaluation may reach"},
		{"more", with(func(b []byte) []byte { return append(b, 0) }), "1 bytes too many"},
	} {
		if _, err := readNetwork(tt.data, freestyle); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := readNetwork(good, renju); err == nil || !strings.Contains(err.Error(), `for "freestyle" rules, want renju`) {
		t.Errorf("other rules: %v", err)
	}
	var head map[string]any
	if line, _, _ := bytes.Cut(good, []byte("\n")); json.Unmarshal(line, &head) != nil || head["rules"] != "freestyle" {
		t.Errorf("head %v", head)
	}
	for _, tt := range []struct {
		change func(*NetworkSide)
		want   string
	}{
		{func(s *NetworkSide) { s.Rows[1][3] = 17 }, "row 0001 has 17"},
		{func(s *NetworkSide) { s.Rows[1][3] = float32(math.NaN()) }, "row 0001 has NaN"},
		{func(s *NetworkSide) { s.Layers[0].Weight[2][3] = 40 }, "the layer has 40"},
		{func(s *NetworkSide) { s.Layers[0].Out[31] = float32(math.Inf(1)) }, "the output has +Inf"},
		{func(s *NetworkSide) { s.Layers = nil }, "0 layers, want 4 or 1"},
		{func(s *NetworkSide) { s.Rows = nil }, "0 rows, want 65536"},
	} {
		side := w.Sides[0]
		side.Rows, side.Layers = slices.Clone(side.Rows), slices.Clone(side.Layers)
		tt.change(&side)
		if _, err := (&NetworkWeights{Sides: []NetworkSide{side}}).Encode("freestyle", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	if _, err := w.Encode("renju", nil); err == nil {
		t.Error("one side for Renju")
	}
}

// BenchmarkEval measures an evaluation after a move and its taking back.
func BenchmarkEval(b *testing.B) {
	a := adapt(b, setUp(b, "gomoku/freestyle-15", bench.Positions[8], ""))
	var moves []game.Move
	a.Enter()
	for _, m := range a.Moves(nil, &search.Cursor{}) {
		moves = append(moves, m.Move)
	}
	a.Eval()
	i := 0
	for b.Loop() {
		m := moves[i%len(moves)]
		i++
		a.Do(m)
		a.Eval()
		a.Undo(m)
	}
}
