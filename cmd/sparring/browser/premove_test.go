package browser

import (
	"slices"
	"testing"
)

// premoves lets somebody choose moves in the opponent's turn.
func (p *tab) premoves() {
	p.t.Helper()
	p.tap(act("settings"))
	p.set(`dialog input[name="premove"]`, "true")
	p.tap(`dialog ` + act("close"))
}

// premove chooses a move in the opponent's turn.
func (p *tab) premove(text string) {
	p.t.Helper()
	p.see(`.board[data-may="premove"]`)
	p.choose(text)
	p.see(`.board .premove`)
}

// premoveGone is what the page says when a premove is not played.
const premoveGone = "Your premove is not possible any more."

// TestPremoveOfAnotherTurn: a premove is for the next turn: it waits while the game is halted or
// the connection is lost, and is played in no other turn: not after a takeback, and not once
// another device has moved meanwhile.
func TestPremoveOfAnotherTurn(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	ann := newPerson(t, "ann", phone, network.at)
	ann.before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => {
			const m = parse(text);
			if (window.halted && m?.t === "state") m.status = "halted";
			return m;
		};
	}`)
	f := &friends{t: t, watched: w.watch(t), ann: ann.tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.invite(setup{game: "xiangqi", own: clockOf("30", "20")})
	ann.premoves()
	f.play(f.ann, "h2e2")
	f.play(f.bob, "h9g7")
	f.play(f.ann, "h0g2")

	ann.premove("g2f4")
	f.bob.tap(act("takeback"))
	ann.tap(act("takeback-accept"))
	ann.await(notes(premoveGone))
	if ann.sees(`.board .premove`) {
		t.Error("a premove is shown after a takeback")
	}

	reconnect := func(expression string) {
		t.Helper()
		network.setCut(true)
		ann.await(state + ` === "lost"`)
		eval[any](ann.tab, `void (`+expression+`)`)
		network.setCut(false)
		ann.connected()
	}
	ann.premove("h0i2")
	reconnect(`window.halted = true`)
	ann.await(`/^The clocks are stopped/.test(document.querySelector("[data-status]").textContent)`)
	reconnect(`window.halted = false`)
	f.play(f.bob, "b9c7")
	ann.await(plies + ` === 3`)

	ann.premove("b2b6")
	other := ann.newTab("other device")
	other.origin = "http://" + w.at
	other.open("/game/" + string(f.game))
	network.setCut(true)
	ann.await(state + ` === "lost"`)
	f.play(f.bob, "a9a8")
	other.move("i0h0")
	f.play(f.bob, "a8a9")
	network.setCut(false)
	ann.await(notes(premoveGone))
	ann.see(mayMove)
	ann.move("h0h6")
	want := []string{"h2e2", "b9c7", "h0i2", "a9a8", "i0h0", "a8a9", "h0h6"}
	if moves := f.watched.latest(t, f.game, ann.tab).Moves; !slices.Equal(moves, want) {
		t.Errorf("played: %v, want %v", moves, want)
	}
}

// TestPremoveOfThePageBefore: a premove waits although the page is loaded again, and is played
// by a page that is opened once its turn has come, unless it is for another turn.
func TestPremoveOfThePageBefore(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	ann := newPerson(t, "ann", phone, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: ann.tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.invite(setup{game: "gomoku", own: clockOf("30", "20"), seat: "first"})
	address := "/game/" + string(f.game)
	ann.premoves()
	f.play(f.ann, "h8")
	ann.premove("h9")
	ann.open(address)
	ann.see(`.board .premove`)
	f.play(f.bob, "a1")
	ann.await(plies + ` === 3`)
	ann.open(address)
	ann.see(`.board[data-may="premove"]`)
	if ann.sees(`.board .premove`) {
		t.Error("a premove is shown that was played")
	}
	ann.premove("h10")
	ann.open("/")
	f.play(f.bob, "a15")
	ann.open(address)
	ann.await(plies + ` === 5`)
	ann.premove("h11")
	ann.open("/")
	f.bob.tap(act("takeback"))
	other := ann.newTab("another tab")
	other.open(address)
	other.tap(act("takeback-accept"))
	ann.open(address)
	ann.await(notes(premoveGone))
	if moves := f.watched.latest(t, f.game, ann.tab).Moves; !slices.Equal(moves, []string{"h8", "a1", "h9"}) {
		t.Errorf("played: %v", moves)
	}
}

// TestPremoveWhileLookingBack: a premove is kept while its player looks at earlier positions, and
// played on the screen once its turn has come; not if premoves are switched off meanwhile.
func TestPremoveWhileLookingBack(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.invite(setup{game: "amazons", own: clockOf("30", "20")})
	f.ann.premoves()
	f.play(f.ann, "d1d7/b7")
	f.ann.premove("g1g6/b6")
	f.ann.tap(act("back"))
	f.ann.await(`location.pathname.endsWith("/0")`)
	if f.ann.sees(`.board .premove`) {
		t.Error("the premove is shown in an earlier position")
	}
	f.ann.tap(act("forward"))
	f.ann.see(`.board .premove`)
	f.ann.tap(act("back"))
	f.ann.await(`location.pathname.endsWith("/0")`)
	f.play(f.bob, "a7a8/a7")
	f.ann.await(plies + ` === 3`)
	if path := f.ann.path(); path != "/game/"+string(f.game) {
		t.Errorf("the premove is played at %s", path)
	}
	f.ann.premove("d7d6/d7")
	f.ann.tap(act("back"))
	f.ann.tap(act("settings"))
	f.ann.set(`dialog input[name="premove"]`, "false")
	f.ann.tap(`dialog ` + act("close"))
	f.play(f.bob, "a8a9/a8")
	f.ann.tap(act("latest"))
	f.ann.see(mayMove)
	f.ann.move("g6g5/g6")
	if moves := f.watched.latest(t, f.game, f.ann).Moves; moves[2] != "g1g6/b6" || moves[4] != "g6g5/g6" {
		t.Errorf("played: %v", moves)
	}
}
