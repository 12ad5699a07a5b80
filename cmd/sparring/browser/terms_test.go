package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sparring/game"
	"sparring/protocol"
)

// TestOpenings: two people go through swap2, and see Renju's forbidden points, then
// through the offers of fifth moves.
func TestOpenings(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku", rules: "gomoku/renju-15+swap2"})
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
	f.ann.await(`noted(/^Double three/)`)
	f.play(f.ann, "c3")
	f.bob.see(mayMove)
	if f.bob.sees(`.board .forbidden`) {
		t.Error("White sees forbidden points on its turn")
	}
	f.play(f.bob, "h8")
	f.ann.resign()
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

// TestOpeningTexts: what an opening asks for fits below the board of a small phone.
func TestOpeningTexts(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "reader", phone, sharedWorld(t).at)
	p.begin("gomoku")
	for _, lang := range []string{"en", "zh"} {
		eval[any](p.tab, `fetch(document.querySelector('script[type="module"]').src.replace("main.js", "`+lang+`.late.json")).then(a => a.json()).then(d => window.`+lang+` = d), null`)
		p.await("window." + lang)
		if n := eval[int](p.tab, `Object.keys(`+lang+`).filter(key => /^open\./.test(key)).length`); n < 50 {
			t.Errorf("%s: %d texts of openings", lang, n)
		}
		cut := eval[string](p.tab, `(line => Object.entries(`+lang+`).filter(([key, text]) => {
			if (!/^open\.\w+\.(put-|offer|pick|.*\.wait)/.test(key)) return false;
			line.className = "line long";
			line.innerHTML = "<b></b>";
			line.firstChild.textContent = text.replace(/\{\w+\|.*?\|(.*?)\}/g, "$1").replace(/\{\w+\}/g, "10");
			return line.scrollHeight > line.clientHeight;
		}).map(([key]) => key).join(" "))(document.querySelector(".status .line"))`)
		if cut != "" {
			t.Errorf("%s: cut: %s", lang, cut)
		}
	}
}

// TestFirstStoneInTheCentre: who opens is asked for the centre, not for a point no steps from it.
func TestFirstStoneInTheCentre(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku", rules: "gomoku/renju-15+taraguchi-10"})
	f.ann.await(`document.querySelector("[data-status]").textContent === "Put the first stone in the centre. Your opponent may then swap colours."`)
	f.bob.await(`document.querySelector("[data-status]").textContent === "Your opponent puts the first stone in the centre. Then you may swap colours."`)
	eval[any](f.bob, `void new MutationObserver((_, o) => {
		const e = document.querySelector(".opening:not([hidden])");
		if (e) o.disconnect(), window.fresh = e.matches("[data-fresh]") && document.querySelector(".bar").matches("[data-fresh]");
	}).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true })`)
	f.play(f.ann, "h8")
	f.choose(f.bob, "stay", 2)
	if !eval[bool](f.bob, `fresh`) {
		t.Error("the choices take a tap that was meant for what stood there")
	}
	f.bob.await(`/^Put stone 2, at most 1 step from the centre/.test(document.querySelector("[data-status]").textContent)`)
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
	p.see(opening + ` [data-move="` + choice + `"]`)
	if over := eval[string](p, hidden(`[data-clock]`, `[data-point="a1"]`, `[data-point="o1"]`, `[data-point="a15"]`, `[data-point="o15"]`)); over != "" {
		f.t.Errorf("%s chooses without seeing %s", p.name, over)
	}
	if n := eval[int](p, `document.querySelectorAll(".opening .choice").length`); n != of {
		f.t.Errorf("%s may choose among %d things", p.name, n)
	}
	other := f.ann
	if p == f.ann {
		other = f.bob
	}
	other.await(`document.querySelector("[data-status]").textContent.startsWith("Your opponent ")`)
	if other.sees(opening) || other.sees(mayMove) {
		f.t.Errorf("%s is asked what %s has to choose", other.name, p.name)
	}
	ply := p.ply()
	p.tap(`[data-move="` + choice + `"]`)
	for _, x := range []*tab{f.ann, f.bob} {
		x.await(fmt.Sprintf(`%s > %d`, plies, ply))
	}
	p.await(`!document.querySelector('.opening:not([hidden])')`)
}

// hidden is an expression: those elements whose middle is off the screen or covered.
func hidden(selectors ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%s)].filter(e => {
		const r = e.getBoundingClientRect(), top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
		return !top || !e.contains(top);
	}).map(e => e.outerHTML).join(" ")`, quote(strings.Join(selectors, ", ")))
}

// TestSeatOfHandicap: the seat that a handicap has chosen is chosen no more without it.
func TestSeatOfHandicap(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	for what, end := range map[string]func(){
		"without the handicap": func() { p.set(`select[name="handicap"]`, "") },
		"in a rated game":      func() { eval[any](p.tab, `void document.querySelector('input[name="rated"]').click()`) },
		"on the next visit": func() {
			p.open("/")
			p.connected()
		},
	} {
		p.setUp(setup{game: "xiangqi", handicap: "horse"})
		p.await(`document.querySelector('select[name="seat"]').value === "second"`)
		end()
		p.await(`document.querySelector('select[name="seat"]')`)
		if seat := eval[string](p.tab, `document.querySelector('select[name="seat"]').value`); seat != "" {
			t.Errorf("%s: seat %q", what, seat)
		}
		eval[any](p.tab, `localStorage.clear()`)
	}
}

// TestOwnClock: numbers of which a clock would leave one out are refused with a word, which goes
// once they are right.
func TestOwnClock(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "player", phone, w.at)
	numbers := func(minutes, increment, periods, period string) map[string]string {
		return map[string]string{"minutes": minutes, "increment": increment, "periods": periods, "period": period}
	}
	const wrong = `[...document.querySelectorAll("details p.error")].some(e => e.textContent)`
	for _, own := range []map[string]string{numbers("5", "3", "2", "30"), numbers("5", "3", "0", "30"), numbers("5", "0", "0", "30"), numbers("5", "0", "2", "0")} {
		p.setUp(setup{game: "gomoku", own: own})
		p.await(wrong)
		eval[any](p.tab, `localStorage.clear()`)
	}
	p.set(`input[name="own_period"]`, "30")
	eval[any](p.tab, `document.querySelector('[data-act="own-clock"]').click()`)
	if eval[bool](p.tab, wrong) {
		t.Error("the numbers are right, and are called wrong")
	}
	p.await(`localStorage.getItem(Object.keys(localStorage).find(k => localStorage.getItem(k).includes("300/2x30")))`)
}

// TestCasualGames: a handicap, a game from a position whose last move would lose by
// repetition, and moves taken back: in play, and the one that ended the game.
func TestCasualGames(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "xiangqi", position: "3k5/9/9/9/9/9/9/9/7R1/5K3 w"})
	f.play(f.ann, "h1h8")
	f.play(f.bob, "d9e9")
	f.ann.tap(act("takeback"))
	f.bob.tap(act("takeback-accept"))
	f.ann.await(plies + ` === 0`)
	line := []string{"h1d1", "d9e9", "d1e1", "e9d9", "e1d1", "d9e9", "d1e1", "e9d9"}
	for i, move := range line {
		f.play([]*tab{f.ann, f.bob}[i%2], move)
	}
	warning := `[data-dialog="ending"]`
	for _, answer := range []string{"no", "yes-ending"} {
		f.ann.see(mayMove)
		f.ann.choose("e1d1")
		f.ann.see(warning)
		f.ann.await(`document.querySelector(` + quote(warning) + `).textContent.includes("perpetual check")`)
		f.ann.tap(warning + " " + act(answer))
		f.ann.await(`!document.querySelector(` + quote(warning) + `)`)
	}
	f.ends(game.SecondWins, "perpetual-check")

	f.ann.tap(act("takeback"))
	f.bob.see(act("takeback-accept"))
	f.bob.tap(act("takeback-accept"))
	old := f.game
	for _, p := range []*tab{f.ann, f.bob} {
		p.await(`!location.pathname.includes(` + quote(string(old)) + `)`)
	}
	f.game = f.ann.shown()
	f.ann.see(mayMove)
	if n := f.ann.ply(); n != len(line) {
		t.Errorf("%d moves in the game that goes on", n)
	}
	f.play(f.ann, "e1e2")
	f.bob.see(mayMove)

	f.invite(setup{game: "xiangqi", handicap: "horse"}) // helps Black, so Ann gets that side
	f.play(f.bob, "h2e2")
	f.play(f.ann, "h9g7")
	e := f.watched.latest(t, f.game, f.ann)
	if n := eval[int](f.bob, `document.querySelectorAll(".board .piece").length`); n != 31 || e.Terms.Position == "" {
		t.Errorf("%d pieces with the terms %+v", n, e.Terms)
	}
}
