package searchtest

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// The part of Conform about moves.

// checkMoves compares the batches with the independent list.
func (w *walker) checkMoves(snap snapshot) {
	w.t.Helper()
	legal := map[game.Move]bool{}
	for _, m := range w.s.Legal(w.g) {
		legal[m] = true
	}
	given := map[game.Move]search.ScoredMove{}
	for _, e := range snap.all {
		if _, twice := given[e.Move]; twice {
			w.fatalf("Moves(All) gives %s twice", w.g.Format(e.Move))
		}
		given[e.Move] = e
		if !legal[e.Move] {
			w.fatalf("Moves(All) gives %s (%#x), which is not legal", w.g.Format(e.Move), e.Move)
		}
		if e.Move == game.NoMove || e.Move >= 1<<21 {
			w.fatalf("move %#x does not fit the hash table's 21 bits", e.Move)
		}
		for i, slot := range e.HistoryIndex {
			if int(slot) >= max(w.s.Params.HistorySize[i], 1) {
				w.fatalf("%s: history slot %d is %d of %d", w.g.Format(e.Move), i, slot, w.s.Params.HistorySize[i])
			}
		}
	}
	for m := range legal {
		if _, ok := given[m]; ok {
			continue
		}
		switch {
		case snap.node.Restricted:
			if w.s.Loses != nil && !w.s.Loses(w.g.Clone(), m) {
				w.fatalf("Moves(All) lacks %s at a restricted node, though it does not lose", w.g.Format(m))
			}
		case !snap.node.Forced:
			w.fatalf("Moves(All) lacks %s", w.g.Format(m))
		case !w.losesAtOnce(m):
			w.fatalf("Moves(All) lacks %s at a forced node, though it does not lose at once", w.g.Format(m))
		}
	}
	if len(legal) > 0 && len(given) == 0 {
		w.fatalf("Moves(All) is empty, which means lost, but %d moves are legal", len(legal))
	}
	for _, e := range snap.noisy {
		if e.Noise == search.Quiet || given[e.Move] != e {
			w.fatalf("Moves(Noisy) gives %+v, Moves(All) %+v", e, given[e.Move])
		}
	}
	w.andLosing(snap, legal)
	w.skipQuiets(snap, given)
	w.victimOrder(given)
	if slices.ContainsFunc(snap.noisy, func(e search.ScoredMove) bool { return !legal[e.Move] }) {
		w.fatalf("Moves(Noisy) gives illegal moves: %v", snap.noisy)
	}
}

// andLosing checks a cursor that also gives what a restricted node leaves out.
func (w *walker) andLosing(snap snapshot, legal map[game.Move]bool) {
	w.t.Helper()
	all := batches(w.p, search.AndLosing)
	if len(all) < len(snap.all) || !slices.Equal(all[:len(snap.all)], snap.all) {
		w.fatalf("Moves(AndLosing) gives %v, and does not begin with Moves(All), %v", all, snap.all)
	}
	given := map[game.Move]bool{}
	for _, e := range all {
		if given[e.Move] || !legal[e.Move] {
			w.fatalf("Moves(AndLosing) gives %s twice, or it is not legal", w.g.Format(e.Move))
		}
		given[e.Move] = true
	}
	if !snap.node.Forced && len(given) < len(legal) {
		w.fatalf("Moves(AndLosing) gives %d moves of %d", len(given), len(legal))
	}
}

// skipQuiets checks a cursor without the quiet moves that are not Forcing.
func (w *walker) skipQuiets(snap snapshot, given map[game.Move]search.ScoredMove) {
	w.t.Helper()
	got := map[game.Move]search.ScoredMove{}
	c := search.Cursor{Mode: search.All, SkipQuiets: true}
	for buf := w.p.Moves(nil, &c); len(buf) > 0; buf = w.p.Moves(buf[:0], &c) {
		for _, e := range buf {
			got[e.Move] = e
			if given[e.Move] != e {
				w.fatalf("Moves without quiets gives %+v, Moves(All) %+v", e, given[e.Move])
			}
		}
	}
	for _, e := range snap.all {
		if _, ok := got[e.Move]; !ok && (e.Noise != search.Quiet || e.Forcing) {
			w.fatalf("Moves without quiets lacks %+v", e)
		}
	}
}

// victimOrder checks a cursor with captures in the order of their victims.
func (w *walker) victimOrder(given map[game.Move]search.ScoredMove) {
	w.t.Helper()
	n := 0
	c := search.Cursor{Mode: search.All, VictimOrder: true}
	for buf := w.p.Moves(nil, &c); len(buf) > 0; buf = w.p.Moves(buf[:0], &c) {
		for _, e := range buf {
			n++
			want := given[e.Move]
			if want.Order = e.Order; want != e {
				w.fatalf("Moves by victim gives %+v, Moves(All) %+v", e, given[e.Move])
			}
		}
	}
	if n != len(given) {
		w.fatalf("Moves by victim gives %d moves, Moves(All) %d", n, len(given))
	}
}

// losesAtOnce reports whether m or a reply to it loses the game for the mover.
func (w *walker) losesAtOnce(m game.Move) bool {
	g := w.g.Clone()
	me := g.Turn()
	if err := g.Play(m); err != nil {
		w.fatalf("the game refuses its own move %s: %v", w.g.Format(m), err)
	}
	lost := game.WonBy(me.Other())
	if out := g.Outcome(); out.Over() {
		return out.Result == lost
	}
	for _, reply := range g.Legal(nil) {
		if err := g.Play(reply); err != nil {
			w.fatalf("the game refuses its own move %s: %v", g.Format(reply), err)
		}
		out := g.Outcome()
		g.Undo()
		if out.Result == lost {
			return true
		}
	}
	return false
}

// checkFind compares Find with the list of moves: for every move, for words that
// differ from one in a bit or two, and for random words.
func (w *walker) checkFind(snap snapshot) {
	w.t.Helper()
	given := map[game.Move]search.ScoredMove{}
	for _, e := range snap.all {
		given[e.Move] = e
	}
	check := func(m game.Move) {
		got, ok := w.p.Find(m)
		want, legal := given[m]
		if ok != legal {
			w.fatalf("Find(%#x) says %v, Moves(All) says %v", m, ok, legal)
		}
		if ok && got != want {
			w.fatalf("Find(%s) gives %+v, Moves(All) %+v", w.g.Format(m), got, want)
		}
	}
	check(game.NoMove)
	for _, e := range snap.all {
		check(e.Move)
	}
	for range 300 {
		check(game.Move(w.rng.Uint32()))
		check(game.Move(w.rng.Uint32N(1 << 21)))
		check(game.Move(w.rng.Uint32N(1 << 14)))
		if len(snap.all) > 0 {
			m := snap.all[w.rng.IntN(len(snap.all))].Move
			check(m ^ 1<<w.rng.IntN(32))
			check(m ^ 1<<w.rng.IntN(21) ^ 1<<w.rng.IntN(21))
		}
	}
	w.unchanged(snap, "Find")
}
