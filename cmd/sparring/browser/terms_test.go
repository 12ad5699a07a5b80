package browser

import (
	"fmt"
	"slices"
	"testing"

	"sparring/game"
	"sparring/protocol"
)

// TestOpenings: two people go through swap2, and see Renju's forbidden points, then
// through the offers of fifth moves.
func TestOpenings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := meet(t, w, w.watch(), setup{game: "gomoku", rules: "gomoku/renju-15+swap2"})
	f.play(f.ann, "g8", "a1", "i8")
	f.choose(f.bob, "put-two", 3)
	f.play(f.bob, "o1", "h7")
	f.choose(f.ann, "stay", 2) // she is Black
	f.play(f.bob, "a15")
	f.play(f.ann, "h9")
	f.play(f.bob, "o15")

	f.ann.see(`.board .forbidden`)
	f.bob.await(plies + ` === 10`)
	if f.bob.sees(`.board .forbidden`) {
		t.Error("White sees what is forbidden to Black")
	}
	f.ann.see(mayMove)
	f.ann.tap(`[data-point="h8"]`)
	f.ann.await(`document.querySelector("[data-note]")?.textContent.startsWith("Double three")`)
	f.play(f.ann, "c3")
	f.bob.see(mayMove)
	if f.bob.sees(`.board .forbidden`) {
		t.Error("White sees forbidden points on its turn")
	}
	f.play(f.bob, "h8")
	f.ann.tap(act("resign"))
	f.ann.tap(act("yes-resign"))
	f.ends(game.SecondWins, protocol.ReasonResign)

	f.invite(setup{game: "gomoku", rules: "gomoku/renju-15+soosyrv-8"})
	f.play(f.ann, "h8", "h9", "j9")
	f.choose(f.bob, "swap", 2) // he is Black
	f.play(f.ann, "a1")
	f.choose(f.ann, "fifths-2", 8)
	f.choose(f.bob, "stay", 2)
	f.play(f.bob, "offer:i7", "offer:g7")
	f.ann.see(mayMove)
	f.play(f.ann, "g7")
	f.play(f.ann, "b1")
	f.bob.see(mayMove)
	e := f.watched.latest(t, f.game, f.ann)
	if want := []string{"h8", "h9", "j9", "swap", "a1", "fifths-2", "stay", "offer:i7", "offer:g7", "g7", "b1"}; !slices.Equal(e.Moves, want) {
		t.Errorf("moves %v", e.Moves)
	}
}

// play lets somebody make moves, one after the other.
func (f *friends) play(p *tab, moves ...string) {
	f.t.Helper()
	for _, m := range moves {
		p.move(m)
	}
}

// choose lets somebody take one of the choices of an opening, while the friend reads
// what there is to wait for.
func (f *friends) choose(p *tab, choice string, of int) {
	f.t.Helper()
	const dialog = `.opening[data-dialog="opening"]`
	p.see(dialog + ` [data-move="` + choice + `"]`)
	if n := eval[int](p, `document.querySelectorAll(".opening .choice").length`); n != of {
		f.t.Errorf("%s may choose among %d things", p.name, n)
	}
	other := f.ann
	if p == f.ann {
		other = f.bob
	}
	other.await(`document.querySelector("[data-status]").textContent.startsWith("Your opponent ")`)
	if other.sees(dialog) || other.sees(mayMove) {
		f.t.Errorf("%s is asked what %s has to choose", other.name, p.name)
	}
	ply := p.ply()
	p.tap(`[data-move="` + choice + `"]`)
	for _, x := range []*tab{f.ann, f.bob} {
		x.await(fmt.Sprintf(`%s > %d`, plies, ply))
	}
	p.await(`!document.querySelector('.opening:not([hidden])')`)
}
