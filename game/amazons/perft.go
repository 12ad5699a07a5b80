package amazons

// Perft counts the leaves of the move tree, see game.Perft. The last ply is
// counted without generating its moves.
func (b *Board) Perft(depth int) uint64 {
	if depth <= 0 {
		return 1
	}
	own, other := b.amazons[b.turn], b.amazons[b.turn.Other()]
	if b.geo.cols*b.geo.rows <= 64 {
		return b.geo.perft64(own.Lo, other.Lo, b.free.Lo, depth)
	}
	return b.geo.perft(own, other, b.free, depth)
}

// perft walks the tree on the bare sets: keys and turn are not needed to count.
func (g *geometry) perft(own, other, free Bits, depth int) uint64 {
	if depth == 1 {
		return g.countMoves(own, free)
	}
	var n uint64
	steps := g.ground(free)
	for rest := own; !rest.Empty(); {
		from := Bit(rest.Pop())
		shots := g.ground(free.Or(from))
		for tos := steps.reach(from); !tos.Empty(); {
			to := Bit(tos.Pop())
			moved := own.Xor(from).Or(to)
			left := shots.all.Xor(to)
			for arrows := shots.reach(to); !arrows.Empty(); {
				n += g.perft(other, moved, left.Xor(Bit(arrows.Pop())), depth-1)
			}
		}
	}
	return n
}

// countMoves returns the number of moves of the amazons in own, without looking at
// single moves.
//
// An amazon that has moved from o to d can shoot over the squares that are free
// now and also, in the direction back, over o and the squares behind it. So the
// number of its moves is that of the queen moves from all d it can reach, plus
// 1+len(opposite ray) for each d on a ray from o. The queen moves from d are
// counted for all amazons together: planes holds, in binary, how many amazons
// reach each square, and raySum counts one plane at a time.
func (g *geometry) countMoves(own, free Bits) uint64 {
	ground := g.ground(free)
	var planes [4]Bits // a square is reached from at most eight directions
	n := 0
	for !own.Empty() {
		reach, back := ground.rays(Bit(own.Pop()))
		n += back
		for i := 0; reach.Lo|reach.Hi != 0; i++ {
			carry := planes[i].And(reach)
			planes[i] = planes[i].Xor(reach)
			reach = carry
		}
	}
	for i := range planes {
		if planes[i].Lo|planes[i].Hi != 0 {
			n += ground.raySum(planes[i]) << i
		}
	}
	return uint64(n)
}

// rays returns the squares one queen move from the single square o, and the number
// of shots back to or past o that an amazon leaving o gains: along a ray of
// length a with the ray of length b behind it, a*(1+b).
func (g *ground) rays(o Bits) (reach Bits, back int) {
	a, b := 0, 0
	line := func() { back += a + b + 2*a*b; a, b = 0, 0 }
	for f := o.up(1).And(g.east); f.Lo|f.Hi != 0; f = f.up(1).And(g.east) {
		reach, a = reach.Or(f), a+1
	}
	for f := o.down(1).And(g.west); f.Lo|f.Hi != 0; f = f.down(1).And(g.west) {
		reach, b = reach.Or(f), b+1
	}
	line()
	for f := o.up(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.up(g.s).And(g.all) {
		reach, a = reach.Or(f), a+1
	}
	for f := o.down(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.down(g.s).And(g.all) {
		reach, b = reach.Or(f), b+1
	}
	line()
	for f := o.up(g.s + 1).And(g.east); f.Lo|f.Hi != 0; f = f.up(g.s + 1).And(g.east) {
		reach, a = reach.Or(f), a+1
	}
	for f := o.down(g.s + 1).And(g.west); f.Lo|f.Hi != 0; f = f.down(g.s + 1).And(g.west) {
		reach, b = reach.Or(f), b+1
	}
	line()
	for f := o.up(g.s - 1).And(g.west); f.Lo|f.Hi != 0; f = f.up(g.s - 1).And(g.west) {
		reach, a = reach.Or(f), a+1
	}
	for f := o.down(g.s - 1).And(g.east); f.Lo|f.Hi != 0; f = f.down(g.s - 1).And(g.east) {
		reach, b = reach.Or(f), b+1
	}
	line()
	return reach, back
}

// raySum returns the number of queen moves from all squares in b together.
func (g *ground) raySum(b Bits) int {
	n := 0
	for f := b.up(1).And(g.east); f.Lo|f.Hi != 0; f = f.up(1).And(g.east) {
		n += f.Count()
	}
	for f := b.down(1).And(g.west); f.Lo|f.Hi != 0; f = f.down(1).And(g.west) {
		n += f.Count()
	}
	for f := b.up(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.up(g.s).And(g.all) {
		n += f.Count()
	}
	for f := b.down(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.down(g.s).And(g.all) {
		n += f.Count()
	}
	for f := b.up(g.s + 1).And(g.east); f.Lo|f.Hi != 0; f = f.up(g.s + 1).And(g.east) {
		n += f.Count()
	}
	for f := b.down(g.s + 1).And(g.west); f.Lo|f.Hi != 0; f = f.down(g.s + 1).And(g.west) {
		n += f.Count()
	}
	for f := b.up(g.s - 1).And(g.west); f.Lo|f.Hi != 0; f = f.up(g.s - 1).And(g.west) {
		n += f.Count()
	}
	for f := b.down(g.s - 1).And(g.east); f.Lo|f.Hi != 0; f = f.down(g.s - 1).And(g.east) {
		n += f.Count()
	}
	return n
}
