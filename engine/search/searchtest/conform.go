// Package searchtest has what the tests of the kernel and of the game adapters
// share: [Conform], the conformance tests for an adapter; [Minimax], a plain
// search to compare the kernel with; and [Graph], a toy game with everything that
// a kernel must handle.
package searchtest

import (
	"math/rand/v2"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// Subject is an adapter under test.
type Subject struct {
	New    func(p game.Position) (search.Position, error)
	Params search.Params
	Starts []game.Position // random walks begin here, each in turn

	// Legal lists the legal moves independently of the adapter;
	// game.Position.Legal when nil.
	Legal func(p game.Position) []game.Move

	// Loses reports whether m, a legal move at p, is a proven loss for its
	// side. It judges, independently of the adapter, the moves that are missing
	// at Restricted nodes; when nil, they are not judged. P may be changed.
	Loses func(p game.Position, m game.Move) bool

	Walks int    // random walks, 20 when 0
	Plies int    // longest walk, 60 when 0
	Seed  uint64 // of the walks; a failure names it
}

// TB is what Conform needs of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// Conform tests an adapter against the contract of search.Position along random
// walks: moves against an independent list, Find against that list, Do, Undo,
// Pass, cursors and clones for what they must leave unchanged, and incremental
// state against a new adapter.
func Conform(t TB, s Subject) {
	t.Helper()
	if s.Legal == nil {
		s.Legal = func(p game.Position) []game.Move { return p.Legal(nil) }
	}
	if s.Walks == 0 {
		s.Walks = 20
	}
	if s.Plies == 0 {
		s.Plies = 60
	}
	if s.Params.Game == "" || s.Params.WinScale <= 0 {
		t.Fatalf("Params lack a game's name or WinScale: %+v", s.Params)
	}
	for walk := range s.Walks {
		w := walker{t: t, s: &s, walk: walk, rng: rand.New(rand.NewPCG(s.Seed, uint64(walk)))}
		w.g = s.Starts[walk%len(s.Starts)].Clone()
		w.run()
		if t.Failed() {
			return
		}
	}
}

// walker is one random walk of the game and the adapter.
type walker struct {
	t    TB
	s    *Subject
	walk int
	rng  *rand.Rand
	g    game.Position
	p    search.Position
}

// snapshot is everything that a position returns at one node.
type snapshot struct {
	node  search.Node
	eval  search.Score
	all   []search.ScoredMove
	noisy []search.ScoredMove
}

func (w *walker) fatalf(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("walk %d of seed %d, ply %d, position %s:", w.walk, w.s.Seed, w.g.Ply(), w.g)
	w.t.Fatalf(format, args...)
}

func (w *walker) run() {
	w.t.Helper()
	w.p = w.fresh()
	for range w.s.Plies {
		node := w.p.Enter()
		w.checkVerdict(node)
		if w.g.Outcome().Over() {
			return
		}
		if node.Over {
			// The adapter ended the game by a repetition, the rules do not. A
			// search does not continue from here, but a game may.
			w.p = w.fresh()
			node = w.p.Enter()
		}
		snap := w.snapshot(node)
		w.checkIncremental(snap)
		w.checkMoves(snap)
		w.checkFind(snap)
		w.checkDoUndo(snap)
		w.checkPass(snap)
		w.checkCursors(snap)
		w.checkClone(snap)
		if len(snap.all) == 0 {
			return
		}
		m := snap.all[w.rng.IntN(len(snap.all))].Move
		w.p.Do(m)
		if err := w.g.Play(m); err != nil {
			w.fatalf("the game refuses move %s: %v", w.g.Format(m), err)
		}
	}
}

func (w *walker) fresh() search.Position {
	p, err := w.s.New(w.g.Clone())
	if err != nil {
		w.fatalf("New: %v", err)
	}
	return p
}

// checkVerdict compares Over with the game's own outcome.
func (w *walker) checkVerdict(node search.Node) {
	w.t.Helper()
	if node.Key != w.g.Key() {
		w.fatalf("Enter: Key %016x, the game's is %016x", node.Key, w.g.Key())
	}
	if node.Over && (node.Verdict > search.Win || node.Verdict < -search.Win) {
		w.fatalf("Enter: verdict %d", node.Verdict)
	}
	out := w.g.Outcome()
	switch {
	case !out.Over() && node.Over && node.RepetitionPlies == 0 && !knownEnd(node.Verdict):
		w.fatalf("Enter: over with verdict %d and no repetition, but the game continues", node.Verdict)
	case !out.Over():
		return
	case !node.Over:
		if moves := batches(w.p, search.All); len(moves) > 0 || out.Result == game.Draw {
			w.fatalf("Enter: not over, with %d moves, but the game ended %s by %s", len(moves), out.Result, out.Reason)
		}
		return
	}
	want := 0
	if out.Result != game.Draw {
		want = -1
		if out.Result == game.WonBy(w.g.Turn()) {
			want = 1
		}
	}
	if sign(node.Verdict) != want {
		w.fatalf("Enter: verdict %d for the side to move, but the game ended %s by %s", node.Verdict, out.Result, out.Reason)
	}
}

// knownEnd reports whether a verdict has the plies to an end that is still to come.
func knownEnd(verdict search.Score) bool {
	return verdict >= search.WinBound && verdict < search.Win || verdict <= -search.WinBound && verdict > -search.Win
}

func sign(s search.Score) int {
	switch {
	case s > 0:
		return 1
	case s < 0:
		return -1
	}
	return 0
}

// batches returns all moves of a cursor.
func batches(p search.Position, mode search.Mode) []search.ScoredMove {
	var all, buf []search.ScoredMove
	c := search.Cursor{Mode: mode}
	for {
		buf = p.Moves(buf[:0], &c)
		if len(buf) == 0 {
			return all
		}
		all = append(all, buf...)
	}
}

func (w *walker) snapshot(node search.Node) snapshot {
	return snapshot{node, w.p.Eval(), batches(w.p, search.All), batches(w.p, search.Noisy)}
}

// unchanged fails unless the adapter still returns what is in want.
func (w *walker) unchanged(want snapshot, after string) {
	w.t.Helper()
	// First without Enter: the kernel does not call it again after an Undo.
	got := w.snapshot(want.node)
	w.equal(want, got, after)
	got.node = w.p.Enter()
	w.equal(want, got, after+" and Enter")
}

func (w *walker) equal(want, got snapshot, after string) {
	w.t.Helper()
	if got.node != want.node {
		w.fatalf("after %s: Enter gives %+v, want %+v", after, got.node, want.node)
	}
	if got.eval != want.eval {
		w.fatalf("after %s: Eval %d, want %d", after, got.eval, want.eval)
	}
	if !slices.Equal(got.all, want.all) {
		w.fatalf("after %s: Moves(All) gives %v, want %v", after, got.all, want.all)
	}
	if !slices.Equal(got.noisy, want.noisy) {
		w.fatalf("after %s: Moves(Noisy) gives %v, want %v", after, got.noisy, want.noisy)
	}
}

// checkIncremental compares the state after moves with that of a new adapter.
func (w *walker) checkIncremental(snap snapshot) {
	w.t.Helper()
	kept := w.p
	w.p = w.fresh()
	node := w.p.Enter()
	if node.Over != snap.node.Over {
		w.fatalf("Enter: over %v, but afresh %v", snap.node.Over, node.Over)
	}
	got := w.snapshot(node)
	w.p = kept
	if got.node.Key != snap.node.Key || got.node.SearchKey != snap.node.SearchKey {
		w.fatalf("keys %x %x, but afresh %x %x", snap.node.Key, snap.node.SearchKey, got.node.Key, got.node.SearchKey)
	}
	if got.eval != snap.eval {
		w.fatalf("Eval %d, but afresh %d", snap.eval, got.eval)
	}
	byMove := func(a, b search.ScoredMove) int { return int(a.Move) - int(b.Move) }
	a, b := slices.SortedFunc(slices.Values(snap.all), byMove), slices.SortedFunc(slices.Values(got.all), byMove)
	if !slices.Equal(a, b) {
		w.fatalf("Moves(All) gives %v, but afresh %v", a, b)
	}
	if snap.eval > search.MaxEval || snap.eval < -search.MaxEval {
		w.fatalf("Eval %d beyond MaxEval", snap.eval)
	}
}

// checkDoUndo makes moves, looks at the children, and takes the moves back.
func (w *walker) checkDoUndo(snap snapshot) {
	w.t.Helper()
	for _, i := range w.rng.Perm(len(snap.all))[:min(len(snap.all), 8)] {
		m := snap.all[i].Move
		w.p.Do(m)
		if err := w.g.Play(m); err != nil {
			w.fatalf("the game refuses move %s: %v", w.g.Format(m), err)
		}
		node := w.p.Enter()
		w.checkVerdict(node)
		if snap.all[i].Forcing && !node.Forced && !node.Over {
			w.fatalf("%s does not force, though its entry says so", w.g.Format(m))
		}
		w.dive(node, 3)
		w.g.Undo()
		w.p.Undo(m)
		w.unchanged(snap, "Do and Undo of "+w.g.Format(m))
	}
}

// dive plays a random line below the current node and takes it back, which covers
// state that spans several plies.
func (w *walker) dive(node search.Node, plies int) {
	w.t.Helper()
	if plies == 0 || node.Over || w.g.Outcome().Over() {
		return
	}
	moves := batches(w.p, search.All)
	if len(moves) == 0 {
		return
	}
	eval := w.p.Eval()
	m := moves[w.rng.IntN(len(moves))].Move
	w.p.Do(m)
	if err := w.g.Play(m); err != nil {
		w.fatalf("the game refuses move %s: %v", w.g.Format(m), err)
	}
	child := w.p.Enter()
	w.checkVerdict(child)
	w.dive(child, plies-1)
	w.g.Undo()
	w.p.Undo(m)
	if back := w.p.Eval(); back != eval {
		w.fatalf("Eval %d after Do and Undo of %s, %d before", back, w.g.Format(m), eval)
	}
}

// checkPass passes, moves, and takes both back.
func (w *walker) checkPass(snap snapshot) {
	w.t.Helper()
	if !snap.node.MayPass || snap.node.Forced {
		return
	}
	w.p.Pass()
	node := w.p.Enter()
	if node.SearchKey == snap.node.SearchKey {
		w.fatalf("Pass does not change SearchKey")
	}
	if !node.Over {
		if moves := batches(w.p, search.All); len(moves) > 0 {
			m := moves[w.rng.IntN(len(moves))].Move
			w.p.Eval()
			w.p.Do(m)
			w.p.Enter()
			w.p.Undo(m)
		}
	}
	w.p.Unpass()
	w.unchanged(snap, "Pass and Unpass")
}

// checkCursors runs two cursors alternately, with moves made in between.
func (w *walker) checkCursors(snap snapshot) {
	w.t.Helper()
	cur := [2]search.Cursor{{Mode: search.All}, {Mode: search.Noisy}}
	var got [2][]search.ScoredMove
	var buf [2][]search.ScoredMove
	for open := [2]bool{true, true}; open[0] || open[1]; {
		i := w.rng.IntN(2)
		if !open[i] {
			continue
		}
		buf[i] = w.p.Moves(buf[i][:0], &cur[i])
		open[i] = len(buf[i]) > 0
		got[i] = append(got[i], buf[i]...)
		if len(buf[i]) > 0 {
			m := buf[i][0].Move
			w.p.Do(m)
			if node := w.p.Enter(); !node.Over {
				w.p.Eval()
				batches(w.p, search.All)
			}
			w.p.Undo(m)
		}
	}
	w.equal(snap, snapshot{snap.node, snap.eval, got[0], got[1]}, "two cursors at once")
}

// checkClone moves a copy, then the original: neither may affect the other.
func (w *walker) checkClone(snap snapshot) {
	w.t.Helper()
	original := w.p
	c := original.Clone()
	w.p = c
	w.unchanged(snap, "Clone")
	if len(snap.all) == 0 {
		w.p = original
		return
	}
	m := snap.all[w.rng.IntN(len(snap.all))].Move
	c.Do(m)
	c.Enter()
	w.p = original
	w.unchanged(snap, "a move of the clone")
	c.Undo(m)
	original.Do(m)
	original.Enter()
	w.p = c
	w.unchanged(snap, "a move of the original")
	w.p = original
	original.Undo(m)
}
