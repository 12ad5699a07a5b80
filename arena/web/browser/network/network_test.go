package network

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sparring/game/gametest"

	"sparring/arena/web/browser"
)

// TestOfflineInMidMove: a move that is made without a network, or whose answer is
// lost, is played once.
func TestOfflineInMidMove(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	watched := w.Watch(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "traveller", browser.Phone, network.At)
	id := p.Play(browser.Setup{Game: "xiangqi", Seat: "first"})
	p.Await(`document.querySelector("[data-moves]")`) // the list comes later, and without a network not before the next connection

	p.Offline(true)
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	p.Tap(`[data-point="h0"]`)
	p.Tap(`[data-point="h1"]`)
	p.Await(browser.Notes("The rules do not allow this move."))
	p.Tap(`[data-point="h0"]`) // chooses the horse no more
	p.Choose("h2e2")
	p.Await(`/^No connection/.test(document.querySelector("[data-status]").textContent)`)
	p.Offline(false)
	network.SetCut(false)
	p.Await(browser.Plies + ` >= 2`)

	p.See(browser.MayMove)
	network.Down.Stall(true)
	p.Choose("b2d2")
	gametest.Eventually(t, "the move has arrived", func() bool { return len(watched.Of(id).Moves) >= 3 })
	network.SetCut(true)
	network.Down.Stall(false)
	p.Await(browser.State + ` !== "connected"`)
	network.SetCut(false)
	p.Await(browser.Plies + ` >= 4`)
	p.See(browser.MayMove)

	moves := watched.Latest(t, id, p.Tab).Moves
	if len(moves) != 4 || moves[0] != "h2e2" || moves[2] != "b2d2" {
		t.Errorf("played: %v", moves)
	}
}

// TestResignedWithoutConnection: somebody who resigns without a network is told that this is
// still to be sent, and it is.
func TestResignedWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "traveller", browser.Phone, network.At)
	p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	p.Resign()
	p.Await(`noted(/^No connection. This is sent/)`)
	network.SetCut(false)
	p.Await(`document.documentElement.dataset.result === "second"`)
}

// TestTakenBackMeanwhile: a move whose answer is lost, and which another device of the player
// has had taken back meanwhile, leaves the board free for another one.
func TestTakenBackMeanwhile(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	ann := browser.NewPerson(t, "ann", browser.Phone, network.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: ann.Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	f.Play(f.Ann, "h8")
	f.Play(f.Bob, "h9")
	other := ann.NewTab("other device")
	other.Origin = "http://" + w.At
	other.Open("/game/" + string(f.Game))
	ann.See(browser.MayMove)
	network.Down.Stall(true)
	ann.Choose("i9")
	gametest.Eventually(t, "the move has arrived", func() bool { return len(f.Watched.Of(f.Game).Moves) == 3 })
	network.SetCut(true)
	network.Down.Stall(false)
	other.Await(browser.Plies + ` === 3`)
	other.Tap(browser.Act("takeback"))
	f.Bob.Tap(browser.Act("takeback-accept"))
	other.See(browser.MayMove)
	network.SetCut(false)
	ann.Connected()
	ann.Move("i8")
	if moves := f.Watched.Latest(t, f.Game, ann.Tab).Moves; !slices.Equal(moves, []string{"h8", "h9", "i8"}) {
		t.Errorf("played: %v", moves)
	}
}

// TestOfferedWithoutConnection: somebody who offers a draw without a network, and gets the
// opponent's move with it, is told that the offer was not made.
func TestOfferedWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Phone, network.At).Tab}
	f.Invite(browser.Setup{Game: "xiangqi", Own: browser.ClockOf("30", "20")})
	f.Play(f.Ann, "h2e2")
	f.Play(f.Bob, "h9g7")
	network.SetCut(true)
	f.Bob.Await(browser.State + ` === "lost"`)
	f.Bob.Tap(browser.Act("draw"))
	f.Bob.Tap(browser.Act("yes-draw"))
	f.Bob.Await(`noted(/^No connection. This is sent/)`)
	f.Play(f.Ann, "h0g2")
	network.SetCut(false)
	f.Bob.See(browser.MayMove)
	f.Bob.Await(browser.Notes("The position has changed in the meantime."))
	f.Play(f.Bob, "i9h9")
}

// TestSilentNetwork: a connection that has gone silent is shown as lost, on the clock that
// runs, too, and the page comes back by itself.
func TestSilentNetwork(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "traveller", browser.Phone, network.At)
	p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	network.Down.Stall(true)
	network.Up.Stall(true)
	p.Await(browser.State + ` === "lost"`)
	p.See(`.connection`)
	const dashed = `getComputedStyle(document.querySelector("[data-clock][data-running]")).outlineStyle === "dashed"`
	p.Await(dashed)
	network.SetCut(true) // what hung is given up
	network.Down.Stall(false)
	network.Up.Stall(false)
	network.SetCut(false)
	p.Connected()
	p.Await("!(" + dashed + ")")
	p.Move("h8")
}

// TestEightTabs: all tabs of a person are live.
func TestEightTabs(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "collector", browser.Desktop, w.At)
	id := p.Play(browser.Setup{Game: "xiangqi", Seat: "first"})
	tabs := []*browser.Tab{p.Tab}
	for n := 2; n <= 8; n++ {
		next := p.NewTab(fmt.Sprintf("collector %d", n))
		next.Open("/game/" + string(id))
		tabs = append(tabs, next)
	}
	for i, move := range []string{"h2e2", "b2d2"} {
		tabs[7*i].Move(move)
		for _, tab := range tabs {
			tab.Connected()
			tab.Await(fmt.Sprintf(`%s >= %d`, browser.Plies, 2*i+1))
			tab.See(browser.MayMove)
		}
	}
}

// TestClockAfterFreeze: after a while without timers, as in a phone's pocket, the clock
// on the screen is right.
func TestClockAfterFreeze(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	watched := w.Watch(t)
	p := browser.NewPerson(t, "sleeper", browser.Phone, w.At)
	id := p.Play(browser.Setup{Game: "xiangqi", Seat: "first", Clock: "600+5"})
	p.Move("h2e2")
	p.See(browser.MayMove)
	p.Freeze()
	time.Sleep(10 * time.Second) // a clock that stood still as long would be wrong by that
	p.Thaw()
	p.Connected()

	// Each change of the number is a moment at which the page believes that a whole
	// number of seconds is left.
	browser.Eval[any](p.Tab, `(() => {
		window.changes = [];
		const clock = document.querySelector('[data-clock="first"] span');
		new MutationObserver(() => changes.push([Date.now(), clock.textContent])).observe(clock, {childList: true, characterData: true, subtree: true});
		return null;
	})()`)
	e := watched.Latest(t, id, p.Tab)
	if e.Clocks.Running == nil || *e.Clocks.Running != e.Turn {
		t.Fatalf("the clock does not run: %+v", e.Clocks)
	}
	// On a busy machine many changes come late.
	var off []time.Duration
	defer func() { t.Logf("differences: %v", off) }()
	gametest.Eventually(t, "the clock is right to 200 ms", func() bool {
		off = off[:0]
		for _, change := range browser.Eval[[][2]any](p.Tab, `changes`) {
			at, minutes, seconds := time.UnixMilli(int64(change[0].(float64))), 0, 0
			if _, err := fmt.Sscanf(change[1].(string), "%d:%d", &minutes, &seconds); err != nil {
				t.Fatalf("the clock shows %q", change[1])
			}
			shown := time.Duration(60*minutes+seconds) * time.Second
			left := time.Duration(e.Clocks.Seats[e.Turn].LeftMS)*time.Millisecond - at.Sub(e.RunningSince)
			off = append(off, (shown - left).Abs())
		}
		return len(off) > 1 && slices.Min(off[1:]) <= 200*time.Millisecond // the first may be one of thawing
	})
}

// TestSlowNetwork: with four seconds there and back the page stays connected,
// and plays.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "islander", browser.Phone, network.At)
	p.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	for _, d := range []*browser.Direction{&network.Up, &network.Down} {
		d.Takes.Store(int64(2 * time.Second))
	}
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	network.SetCut(false)
	p.See(browser.MayMove)
	p.Choose("h8")
	p.Await(browser.Plies + ` >= 2`) // the answer of the level
	p.Connected()
}

// missing is what the page says when a part of it can't be loaded.
const missing = "This can't be loaded now. Try again once the connection is better."

// TestSpokenConnection: the loss of the connection is told, and that it is back.
func TestSpokenConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "listener", browser.Phone, network.At)
	p.Open("/")
	p.Connected()
	p.See(`.about [data-rating]`)
	p.Hear()
	network.SetCut(true)
	p.Heard("No connection")
	network.SetCut(false)
	p.Heard("Connected again")
}

// TestLateAnswers: an answer that comes when the person has opened a game meanwhile
// leaves that on the screen, and a note tells of it.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "impatient", browser.Phone, network.At)
	id := string(p.Play(browser.Setup{Game: "gomoku", Seat: "first"}))
	for _, c := range []struct{ tapped, told string }{
		{"invite", `said.some(text => text.includes("The link for your friend is ready. It is on the start page."))`},
		{"play", browser.Visible(`[data-news]:not([href="/game/` + id + `"])`)},
	} {
		p.Open("/")
		p.Connected()
		p.See(`[data-mine="` + id + `"] a`)
		p.See(browser.Act("play"))
		p.SettledRequests() // the game's modules are there
		p.Hear()
		network.SetCut(true)
		p.Await(browser.State + ` === "lost"`)
		p.Tap(browser.Act(c.tapped))
		p.Tap(`[data-mine="` + id + `"] a`)
		p.Await(`location.pathname === "/game/` + id + `"`)
		network.SetCut(false)
		p.Await(c.told)
		p.See(`.board svg`)
		if path := p.Path(); path != "/game/"+id || p.Sees(`input[data-link]`) {
			t.Errorf("after %s: at %s", c.tapped, path)
		}
	}
}

// TestGuestWithoutConnection: a new visitor without a connection is told that no game
// begins, and one does once it is back.
func TestGuestWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewPerson(t, "visitor", browser.Phone, network.At)
	p.Open("/")
	p.Connected()
	p.See(`.about [data-rating]`)
	p.Hear()
	network.SetCut(true)
	p.Await(browser.State + ` === "lost"`)
	p.Tap(browser.Act("play"))
	p.Heard(browser.Unavailable)
	network.SetCut(false)
	p.Connected()
	p.TapUntil(browser.Act("play"), browser.InGame)
}

// TestAccountWithoutAnswer: a change of the account that gets no answer, because the connection
// has died, is not waited for without end.
func TestAccountWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	p := browser.NewPerson(t, "traveller", browser.Phone, w.At)
	p.Begin("gomoku")
	p.Tap(browser.Act("account"))
	p.See(browser.Act("rename"))
	browser.Eval[any](p.Tab, `void (AbortSignal.timeout = () => AbortSignal.abort())`) // all time has passed
	p.Set(`dialog input[name="name"]`, "Traveller")
	p.Tap(browser.Act("rename"))
	p.Await(`document.querySelector("dialog .error").textContent === ` + browser.Quote(browser.Unavailable))
}

// TestOfferedAfterMove: somebody who asks to undo a move that is still under way undoes that
// one, and who asks again meanwhile does nothing more.
func TestOfferedAfterMove(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Phone, network.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	f.Play(f.Ann, "h8")
	f.Play(f.Bob, "h9")
	f.Play(f.Ann, "i8")
	f.Bob.See(browser.MayMove)
	f.Bob.See(browser.Act("takeback"))
	browser.Eval[any](f.Bob, `{ const parse = JSON.parse; window.blind = true; JSON.parse = (text) => { const m = parse(text); return blind && m?.t === "state" ? {} : m; }; }`) // the answer comes before the state
	network.Up.Stall(true)
	f.Bob.Choose("i9")
	f.Bob.Tap(browser.Act("takeback"))
	network.Up.Stall(false)
	f.Ann.See(browser.Act("takeback-accept"))
	browser.Eval[any](f.Bob, `void (blind = false)`)
	network.SetCut(true)
	f.Bob.Await(browser.State + ` === "lost"`)
	network.SetCut(false)
	f.Bob.See(`.offered ` + browser.Act("takeback-decline"))
	if notes := `noted(/position has changed/)`; browser.Eval[bool](f.Bob, notes) {
		t.Error("it was asked for the position before")
	}
	f.Bob.Tap(browser.Act("takeback"))
	f.Bob.Settled()
	if browser.Eval[bool](f.Bob, `noted(/./)`) || !f.Bob.Sees(`.offered `+browser.Act("takeback-decline")) || !f.Ann.Sees(browser.Act("takeback-accept")) {
		t.Error("asking again has changed something")
	}
	f.Ann.Tap(browser.Act("takeback-accept"))
	for _, p := range []*browser.Tab{f.Ann, f.Bob} {
		p.Await(browser.Plies + ` === 3`)
	}
	f.Play(f.Bob, "j9")
}
