package games

import (
	"slices"
	"testing"

	"sparring/game"
	"sparring/protocol"

	"sparring/arena/web/browser"
)

// TestOpenings: two people go through swap2, and see Renju's forbidden points, then
// through the offers of fifth moves.
func TestOpenings(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku", Rules: "gomoku/renju-15+swap2"})
	f.Play(f.Ann, "g8", "a1", "i8")
	f.Choose(f.Bob, "put-two", 3)
	f.Play(f.Bob, "o1", "h7")
	f.Choose(f.Ann, "stay", 2) // she is Black
	f.Play(f.Bob, "a15")
	f.Play(f.Ann, "h9")
	f.Play(f.Bob, "o15")

	f.Ann.See(`.board .forbidden`)
	f.Bob.Await(browser.Plies + ` === 10`)
	if f.Bob.Sees(`.board .forbidden`) {
		t.Error("White sees what is forbidden to Black")
	}
	f.Ann.See(browser.MayMove)
	f.Ann.Tap(`[data-point="h8"]`)
	f.Ann.Await(`noted(/^Double three/)`)
	f.Play(f.Ann, "c3")
	f.Bob.See(browser.MayMove)
	if f.Bob.Sees(`.board .forbidden`) {
		t.Error("White sees forbidden points on its turn")
	}
	f.Play(f.Bob, "h8")
	f.Ann.Resign()
	f.Ends(game.SecondWins, protocol.ReasonResign)

	f.Invite(browser.Setup{Game: "gomoku", Rules: "gomoku/renju-15+soosyrv-8"})
	f.Play(f.Ann, "h8", "h9", "j9")
	f.Choose(f.Bob, "swap", 2) // he is Black
	f.Play(f.Ann, "a1")
	f.Choose(f.Ann, "fifths-2", 8)
	f.Choose(f.Bob, "stay", 2)
	f.Play(f.Bob, "offer:i7", "offer:g7")
	f.Ann.See(browser.MayMove)
	f.Play(f.Ann, "g7")
	f.Play(f.Ann, "b1")
	f.Bob.See(browser.MayMove)
	e := f.Watched.Latest(t, f.Game, f.Ann)
	if want := []string{"h8", "h9", "j9", "swap", "a1", "fifths-2", "stay", "offer:i7", "offer:g7", "g7", "b1"}; !slices.Equal(e.Moves, want) {
		t.Errorf("moves %v", e.Moves)
	}
}

// TestOpeningTexts: what an opening asks for fits below the board of a small phone.
func TestOpeningTexts(t *testing.T) {
	t.Parallel()
	p := browser.NewPerson(t, "reader", browser.Phone, browser.SharedWorld(t).At)
	p.Begin("gomoku")
	for _, lang := range []string{"en", "zh"} {
		browser.Eval[any](p.Tab, `fetch(document.querySelector('script[type="module"]').src.replace("main.js", "`+lang+`.late.json")).then(a => a.json()).then(d => window.`+lang+` = d), null`)
		p.Await("window." + lang)
		if n := browser.Eval[int](p.Tab, `Object.keys(`+lang+`).filter(key => /^open\./.test(key)).length`); n < 50 {
			t.Errorf("%s: %d texts of openings", lang, n)
		}
		cut := browser.Eval[string](p.Tab, `(line => Object.entries(`+lang+`).filter(([key, text]) => {
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
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku", Rules: "gomoku/renju-15+taraguchi-10"})
	f.Ann.Await(`document.querySelector("[data-status]").textContent === "Put the first stone in the centre. Your opponent may then swap colours."`)
	f.Bob.Await(`document.querySelector("[data-status]").textContent === "Your opponent puts the first stone in the centre. Then you may swap colours."`)
	browser.Eval[any](f.Bob, `void new MutationObserver((_, o) => {
		const e = document.querySelector(".opening:not([hidden])");
		if (e) o.disconnect(), window.fresh = e.matches("[data-fresh]") && document.querySelector(".bar").matches("[data-fresh]");
	}).observe(document.querySelector("main"), { subtree: true, childList: true, attributes: true })`)
	f.Play(f.Ann, "h8")
	f.Choose(f.Bob, "stay", 2)
	if !browser.Eval[bool](f.Bob, `fresh`) {
		t.Error("the choices take a tap that was meant for what stood there")
	}
	f.Bob.Await(`/^Put stone 2, at most 1 step from the centre/.test(document.querySelector("[data-status]").textContent)`)
}

// TestSeatOfHandicap: the seat that a handicap has chosen is chosen no more without it.
func TestSeatOfHandicap(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	for what, end := range map[string]func(){
		"without the handicap": func() { p.Set(`select[name="handicap"]`, "") },
		"in a rated game":      func() { browser.Eval[any](p.Tab, `void document.querySelector('input[name="rated"]').click()`) },
		"on the next visit": func() {
			p.Open("/")
			p.Connected()
		},
	} {
		p.SetUp(browser.Setup{Game: "xiangqi", Handicap: "horse"})
		p.Await(`document.querySelector('select[name="seat"]').value === "second"`)
		end()
		p.Await(`document.querySelector('select[name="seat"]')`)
		if seat := browser.Eval[string](p.Tab, `document.querySelector('select[name="seat"]').value`); seat != "" {
			t.Errorf("%s: seat %q", what, seat)
		}
		browser.Eval[any](p.Tab, `localStorage.clear()`)
	}
}

// TestOwnClock: numbers of which a clock would leave one out are refused with a word, which goes
// once they are right.
func TestOwnClock(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "player", browser.Phone, w.At)
	numbers := func(minutes, increment, periods, period string) map[string]string {
		return map[string]string{"minutes": minutes, "increment": increment, "periods": periods, "period": period}
	}
	const wrong = `[...document.querySelectorAll("details p.error")].some(e => e.textContent)`
	for _, own := range []map[string]string{numbers("5", "3", "2", "30"), numbers("5", "3", "0", "30"), numbers("5", "0", "0", "30"), numbers("5", "0", "2", "0")} {
		p.SetUp(browser.Setup{Game: "gomoku", Own: own})
		p.Await(wrong)
		browser.Eval[any](p.Tab, `localStorage.clear()`)
	}
	p.Set(`input[name="own_period"]`, "30")
	browser.Eval[any](p.Tab, `document.querySelector('[data-act="own-clock"]').click()`)
	if browser.Eval[bool](p.Tab, wrong) {
		t.Error("the numbers are right, and are called wrong")
	}
	p.Await(`localStorage.getItem(Object.keys(localStorage).find(k => localStorage.getItem(k).includes("300/2x30")))`)
}

// TestCasualGames: a handicap, a game from a position whose last move would lose by
// repetition, and moves taken back: in play, and the one that ended the game.
func TestCasualGames(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "xiangqi", Position: "3k5/9/9/9/9/9/9/9/7R1/5K3 w"})
	f.Play(f.Ann, "h1h8")
	f.Play(f.Bob, "d9e9")
	f.Ann.Tap(browser.Act("takeback"))
	f.Bob.Tap(browser.Act("takeback-accept"))
	f.Ann.Await(browser.Plies + ` === 0`)
	line := []string{"h1d1", "d9e9", "d1e1", "e9d9", "e1d1", "d9e9", "d1e1", "e9d9"}
	for i, move := range line {
		f.Play([]*browser.Tab{f.Ann, f.Bob}[i%2], move)
	}
	warning := `[data-dialog="ending"]`
	for _, answer := range []string{"no", "yes-ending"} {
		f.Ann.See(browser.MayMove)
		f.Ann.Choose("e1d1")
		f.Ann.See(warning)
		f.Ann.Await(`document.querySelector(` + browser.Quote(warning) + `).textContent.includes("perpetual check")`)
		f.Ann.Tap(warning + " " + browser.Act(answer))
		f.Ann.Await(`!document.querySelector(` + browser.Quote(warning) + `)`)
	}
	f.Ends(game.SecondWins, "perpetual-check")

	f.Ann.Tap(browser.Act("takeback"))
	f.Bob.See(browser.Act("takeback-accept"))
	f.Bob.Tap(browser.Act("takeback-accept"))
	old := f.Game
	for _, p := range []*browser.Tab{f.Ann, f.Bob} {
		p.Await(`!location.pathname.includes(` + browser.Quote(string(old)) + `)`)
	}
	f.Game = f.Ann.Shown()
	f.Ann.See(browser.MayMove)
	if n := f.Ann.Ply(); n != len(line) {
		t.Errorf("%d moves in the game that goes on", n)
	}
	f.Play(f.Ann, "e1e2")
	f.Bob.See(browser.MayMove)

	f.Invite(browser.Setup{Game: "xiangqi", Handicap: "horse"}) // helps Black, so Ann gets that side
	f.Play(f.Bob, "h2e2")
	f.Play(f.Ann, "h9g7")
	e := f.Watched.Latest(t, f.Game, f.Ann)
	if n := browser.Eval[int](f.Bob, `document.querySelectorAll(".board .piece").length`); n != 31 || e.Terms.Position == "" {
		t.Errorf("%d pieces with the terms %+v", n, e.Terms)
	}
}
