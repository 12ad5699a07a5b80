package games

import (
	"slices"
	"testing"

	"sparring/arena/web/browser"
)

// premoveGone is what the page says when a premove is not played.
const premoveGone = "Your premove is not possible any more."

// TestPremoveOfAnotherTurn: a premove is for the next turn: it waits while the game is halted or
// the connection is lost, and is played in no other turn: not after a takeback, and not once
// another device has moved meanwhile.
func TestPremoveOfAnotherTurn(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	ann := browser.NewPerson(t, "ann", browser.Phone, network.At)
	ann.Before(`{
		const parse = JSON.parse;
		JSON.parse = (text) => {
			const m = parse(text);
			if (window.halted && m?.t === "state") m.status = "halted";
			return m;
		};
	}`)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: ann.Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "xiangqi", Own: browser.ClockOf("30", "20")})
	ann.Premoves()
	f.Play(f.Ann, "h2e2")
	f.Play(f.Bob, "h9g7")
	f.Play(f.Ann, "h0g2")

	ann.Premove("g2f4")
	f.Bob.Tap(browser.Act("takeback"))
	ann.Tap(browser.Act("takeback-accept"))
	ann.Await(browser.Notes(premoveGone))
	if ann.Sees(`.board .premove`) {
		t.Error("a premove is shown after a takeback")
	}

	reconnect := func(expression string) {
		t.Helper()
		network.SetCut(true)
		ann.Await(browser.State + ` === "lost"`)
		browser.Eval[any](ann.Tab, `void (`+expression+`)`)
		network.SetCut(false)
		ann.Connected()
	}
	ann.Premove("h0i2")
	reconnect(`window.halted = true`)
	ann.Await(`/^The clocks are stopped/.test(document.querySelector("[data-status]").textContent)`)
	reconnect(`window.halted = false`)
	f.Play(f.Bob, "b9c7")
	ann.Await(browser.Plies + ` === 3`)

	ann.Premove("b2b6")
	other := ann.NewTab("other device")
	other.Origin = "http://" + w.At
	other.Open("/game/" + string(f.Game))
	network.SetCut(true)
	ann.Await(browser.State + ` === "lost"`)
	f.Play(f.Bob, "a9a8")
	other.Move("i0h0")
	f.Play(f.Bob, "a8a9")
	network.SetCut(false)
	ann.Await(browser.Notes(premoveGone))
	ann.See(browser.MayMove)
	ann.Move("h0h6")
	want := []string{"h2e2", "b9c7", "h0i2", "a9a8", "i0h0", "a8a9", "h0h6"}
	if moves := f.Watched.Latest(t, f.Game, ann.Tab).Moves; !slices.Equal(moves, want) {
		t.Errorf("played: %v, want %v", moves, want)
	}
}

// TestPremoveOfThePageBefore: a premove waits although the page is loaded again, and is played
// by a page that is opened once its turn has come, unless it is for another turn.
func TestPremoveOfThePageBefore(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	ann := browser.NewPerson(t, "ann", browser.Phone, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: ann.Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20"), Seat: "first"})
	address := "/game/" + string(f.Game)
	ann.Premoves()
	f.Play(f.Ann, "h8")
	ann.Premove("h9")
	ann.Open(address)
	ann.See(`.board .premove`)
	f.Play(f.Bob, "a1")
	ann.Await(browser.Plies + ` === 3`)
	ann.Open(address)
	ann.See(`.board[data-may="premove"]`)
	if ann.Sees(`.board .premove`) {
		t.Error("a premove is shown that was played")
	}
	ann.Premove("h10")
	ann.Open("/")
	f.Play(f.Bob, "a15")
	ann.Open(address)
	ann.Await(browser.Plies + ` === 5`)
	ann.Premove("h11")
	ann.Open("/")
	f.Bob.Tap(browser.Act("takeback"))
	other := ann.NewTab("another tab")
	other.Open(address)
	other.Tap(browser.Act("takeback-accept"))
	ann.Open(address)
	ann.Await(browser.Notes(premoveGone))
	if moves := f.Watched.Latest(t, f.Game, ann.Tab).Moves; !slices.Equal(moves, []string{"h8", "a1", "h9"}) {
		t.Errorf("played: %v", moves)
	}
}

// TestPremoveWhileLookingBack: a premove is kept while its player looks at earlier positions, and
// played on the screen once its turn has come; not if premoves are switched off meanwhile.
func TestPremoveWhileLookingBack(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "amazons", Own: browser.ClockOf("30", "20")})
	f.Ann.Premoves()
	f.Play(f.Ann, "d1d7/b7")
	f.Ann.Premove("g1g6/b6")
	f.Ann.Tap(browser.Act("back"))
	f.Ann.Await(`location.pathname.endsWith("/0")`)
	if f.Ann.Sees(`.board .premove`) {
		t.Error("the premove is shown in an earlier position")
	}
	f.Ann.Tap(browser.Act("forward"))
	f.Ann.See(`.board .premove`)
	f.Ann.Tap(browser.Act("back"))
	f.Ann.Await(`location.pathname.endsWith("/0")`)
	f.Play(f.Bob, "a7a8/a7")
	f.Ann.Await(browser.Plies + ` === 3`)
	if path := f.Ann.Path(); path != "/game/"+string(f.Game) {
		t.Errorf("the premove is played at %s", path)
	}
	f.Ann.Premove("d7d6/d7")
	f.Ann.Tap(browser.Act("back"))
	f.Ann.Tap(browser.Act("settings"))
	f.Ann.Set(`dialog input[name="premove"]`, "false")
	f.Ann.Tap(`dialog ` + browser.Act("close"))
	f.Play(f.Bob, "a8a9/a8")
	f.Ann.Tap(browser.Act("latest"))
	f.Ann.See(browser.MayMove)
	f.Ann.Move("g6g5/g6")
	if moves := f.Watched.Latest(t, f.Game, f.Ann).Moves; moves[2] != "g1g6/b6" || moves[4] != "g6g5/g6" {
		t.Errorf("played: %v", moves)
	}
}
