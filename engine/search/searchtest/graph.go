package searchtest

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// Graph is a toy game with everything that a kernel must handle: the players take
// turns to move one token along the edges of a random directed graph. Vertices
// may end the game or be forced, edges may be noisy, and a vertex that recurs on
// the path with the same side to move is a draw or a win by repetition. All is
// computed from Seed by hashing, so a Graph of any size costs nothing to make.
type Graph struct {
	Seed     uint64
	Vertices int
	Degree   int  // edges out of each vertex
	Layered  bool // the ply is part of the position: no repetition, but transpositions
	Noise    int  // percent of edges that are noisy
	Terminal int  // percent of vertices that end the game
	Forcing  int  // percent of vertices that are forced
	Dead     int  // percent of vertices without a move
	Swing    int  // evaluations lie in -Swing..Swing

	root   int
	vertex int
	ply    int
	path   []int // vertices before this one
}

// NewGraph returns a graph with every feature, at its root.
func NewGraph(seed uint64) *Graph {
	return &Graph{Seed: seed, Vertices: 400, Degree: 5, Layered: true, Noise: 30, Terminal: 4, Forcing: 10, Dead: 2, Swing: 300}
}

// Params returns parameters that suit all graphs.
func (*Graph) Params() search.Params {
	return search.Params{Game: "graph", HistorySize: [2]int{64, 16}, WinScale: 100, Quiescence: true, QuiescencePlies: 4}
}

// At moves the root to a vertex; the path to it is empty.
func (g *Graph) At(vertex int) *Graph {
	c := *g
	c.root, c.vertex, c.ply, c.path = vertex, vertex, 0, nil
	return &c
}

func (g *Graph) hash(kind, a, b uint64) uint64 {
	return game.Zobrist(g.Seed^game.Zobrist(kind, a), b)
}

// here identifies the position: vertex, side to move and, if Layered, the ply.
func (g *Graph) here() uint64 {
	at := uint64(g.vertex)*2 + uint64(g.ply&1)
	if g.Layered {
		return at + uint64(g.ply)<<32
	}
	return at
}

func (g *Graph) percent(kind uint64, percent int) bool {
	return int(g.hash(kind, g.here(), 0)%100) < percent
}

const (
	ofKey uint64 = iota + 1
	ofEval
	ofEdge
	ofNoise
	ofTerminal
	ofForced
	ofDead
	ofRepetition
	ofOrder
	ofSEE
)

// Enter implements search.Position.
func (g *Graph) Enter() search.Node {
	n := search.Node{Key: g.hash(ofKey, g.here(), 0)}
	n.SearchKey = n.Key
	n.Forced = g.percent(ofForced, g.Forcing)
	n.MayPass = !n.Forced
	if g.ply > 0 && g.percent(ofTerminal, g.Terminal) {
		verdicts := [...]search.Score{-search.Win, search.Draw, search.Win}
		n.Over, n.Verdict = true, verdicts[g.hash(ofTerminal, g.here(), 1)%3]
		return n
	}
	if !g.Layered {
		for back := 2; back <= len(g.path); back += 2 {
			if g.path[len(g.path)-back] == g.vertex {
				verdicts := [...]search.Score{search.Draw, search.Draw, search.RepWin, -search.RepWin}
				n.Over, n.RepetitionPlies = true, back
				n.Verdict = verdicts[g.hash(ofRepetition, g.here(), 0)%4]
				return n
			}
		}
	}
	return n
}

func (g *Graph) edges() []search.ScoredMove {
	if g.percent(ofDead, g.Dead) {
		return nil
	}
	var list []search.ScoredMove
	for i := range g.Degree {
		to := int(g.hash(ofEdge, g.here(), uint64(i)) % uint64(g.Vertices))
		m := game.Move(to + 1)
		if slices.ContainsFunc(list, func(e search.ScoredMove) bool { return e.Move == m }) {
			continue
		}
		e := search.ScoredMove{Move: m, Order: int32(g.hash(ofOrder, g.here(), uint64(to)) % 1000)}
		e.HistoryIndex = [2]uint16{uint16(to % 64), uint16(to % 16)}
		if h := g.hash(ofNoise, g.here(), uint64(to)); int(h%100) < g.Noise {
			e.Noise = search.BadNoisy + search.Noise(h>>32&1)
			e.Gain = search.Score(h >> 40 % 100)
		}
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b search.ScoredMove) int { return int(b.Noise) - int(a.Noise) })
	return list
}

// Moves implements search.Position, two moves a batch.
func (g *Graph) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	list := g.edges()
	for ; int(c.Ints[0]) < len(list) && len(buf) < 2; c.Ints[0]++ {
		if e := list[c.Ints[0]]; c.Mode == search.All || e.Noise != search.Quiet {
			buf = append(buf, e)
		}
	}
	return buf
}

// Find implements search.Position.
func (g *Graph) Find(m game.Move) (search.ScoredMove, bool) {
	for _, e := range g.edges() {
		if e.Move == m {
			return e, true
		}
	}
	return search.ScoredMove{}, false
}

// Do implements search.Position.
func (g *Graph) Do(m game.Move) { g.step(int(m) - 1) }

func (g *Graph) step(to int) {
	g.path = append(g.path, g.vertex)
	g.vertex = to
	g.ply++
}

// Undo implements search.Position.
func (g *Graph) Undo(game.Move) {
	g.vertex = g.path[len(g.path)-1]
	g.path = g.path[:len(g.path)-1]
	g.ply--
}

// Pass implements search.Position: the token stays.
func (g *Graph) Pass() { g.step(g.vertex) }

// Unpass implements search.Position.
func (g *Graph) Unpass() { g.Undo(game.NoMove) }

// Eval implements search.Position.
func (g *Graph) Eval() search.Score {
	return search.Score(g.hash(ofEval, g.here(), 0)%uint64(2*g.Swing+1)) - search.Score(g.Swing)
}

// Clone implements search.Position.
func (g *Graph) Clone() search.Position {
	c := *g
	c.path = slices.Clone(g.path)
	return &c
}

// SEE implements search.StaticExchanger with fixed random values.
func (g *Graph) SEE(m game.Move, threshold search.Score) bool {
	return search.Score(g.hash(ofSEE, g.here(), uint64(m))%200)-100 >= threshold
}

// Prove implements search.Prover: it sees wins and losses of one move.
func (g *Graph) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	nodes := 0
	for _, e := range g.edges() {
		if nodes == budget || stop() {
			break
		}
		nodes++
		g.Do(e.Move)
		n := g.Enter()
		g.Undo(e.Move)
		if n.Over && n.RepetitionPlies == 0 && n.Verdict == -search.Win {
			return search.Proof{Score: search.Win - 1, Line: []game.Move{e.Move}, Kind: "step"}, nodes, true
		}
	}
	return search.Proof{}, nodes, false
}
