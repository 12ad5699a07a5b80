package browser

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	cdpnetwork "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game/gametest"
	"sparring/protocol"
)

// setup is what somebody chooses on the start screen; "" leaves what is offered.
type setup struct {
	game, rules, clock, seat string
	handicap, position       string
	own                      map[string]string // a clock in numbers: minutes, increment, periods, period
}

// setUp fills in the start screen.
func (p *tab) setUp(s setup) {
	p.t.Helper()
	p.open("/")
	p.connected()
	p.tap(`[data-choose="` + s.game + `"]`)
	for name, value := range map[string]string{"rules": s.rules, "clock": s.clock, "seat": s.seat} {
		if value != "" {
			p.set(`select[name="`+name+`"]`, value)
		}
	}
	if s.position != "" {
		p.set(`input[name="position"]`, s.position)
	}
	if s.handicap != "" {
		p.await(`document.querySelector('select[name="handicap"] option[value="` + s.handicap + `"]')`)
		p.set(`select[name="handicap"]`, s.handicap)
	}
	for name, value := range s.own {
		p.set(fmt.Sprintf(`input[name="own_%s"]`, name), value)
	}
	if len(s.own) > 0 {
		eval[any](p, `document.querySelector('[data-act="own-clock"]').click()`)
	}
}

// play begins a game against a level, and waits until it is the person's turn.
func (p *tab) play(s setup) protocol.GameID {
	p.t.Helper()
	p.setUp(s)
	p.tapUntil(act("play"), inGame)
	id := p.shown()
	p.see(mayMove)
	return id
}

// state is an expression: the state of the connection.
const state = `document.documentElement.dataset.state`

// TestOfflineInMidMove: a move that is made without a network, or whose answer is
// lost, is played once.
func TestOfflineInMidMove(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched := w.watch(t)
	network := newWire(t, w.at)
	p := newPerson(t, "traveller", phone, network.at)
	id := p.play(setup{game: "xiangqi", seat: "first"})
	p.await(`document.querySelector("[data-moves]")`) // the list comes later, and without a network not before the next connection

	p.offline(true)
	network.setCut(true)
	p.await(state + ` === "lost"`)
	p.tap(`[data-point="h0"]`)
	p.tap(`[data-point="h1"]`)
	p.await(notes("The rules do not allow this move."))
	p.tap(`[data-point="h0"]`) // chooses the horse no more
	p.choose("h2e2")
	p.await(`/^No connection/.test(document.querySelector("[data-status]").textContent)`)
	p.offline(false)
	network.setCut(false)
	p.await(plies + ` >= 2`)

	p.see(mayMove)
	network.down.stall(true)
	p.choose("b2d2")
	gametest.Eventually(t, "the move has arrived", func() bool { return len(watched.of(id).Moves) >= 3 })
	network.setCut(true)
	network.down.stall(false)
	p.await(state + ` !== "connected"`)
	network.setCut(false)
	p.await(plies + ` >= 4`)
	p.see(mayMove)

	moves := watched.latest(t, id, p.tab).Moves
	if len(moves) != 4 || moves[0] != "h2e2" || moves[2] != "b2d2" {
		t.Errorf("played: %v", moves)
	}
}

// TestResignedWithoutConnection: somebody who resigns without a network is told that this is
// still to be sent, and it is.
func TestResignedWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "traveller", phone, network.at)
	p.play(setup{game: "gomoku", seat: "first"})
	network.setCut(true)
	p.await(state + ` === "lost"`)
	p.resign()
	p.await(`noted(/^No connection. This is sent/)`)
	network.setCut(false)
	p.await(`document.documentElement.dataset.result === "second"`)
}

// TestTakenBackMeanwhile: a move whose answer is lost, and which another device of the player
// has had taken back meanwhile, leaves the board free for another one.
func TestTakenBackMeanwhile(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	ann := newPerson(t, "ann", phone, network.at)
	f := &friends{t: t, watched: w.watch(t), ann: ann.tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	f.play(f.ann, "h8")
	f.play(f.bob, "h9")
	other := ann.newTab("other device")
	other.origin = "http://" + w.at
	other.open("/game/" + string(f.game))
	ann.see(mayMove)
	network.down.stall(true)
	ann.choose("i9")
	gametest.Eventually(t, "the move has arrived", func() bool { return len(f.watched.of(f.game).Moves) == 3 })
	network.setCut(true)
	network.down.stall(false)
	other.await(plies + ` === 3`)
	other.tap(act("takeback"))
	f.bob.tap(act("takeback-accept"))
	other.see(mayMove)
	network.setCut(false)
	ann.connected()
	ann.move("i8")
	if moves := f.watched.latest(t, f.game, ann.tab).Moves; !slices.Equal(moves, []string{"h8", "h9", "i8"}) {
		t.Errorf("played: %v", moves)
	}
}

// TestOfferedWithoutConnection: somebody who offers a draw without a network, and gets the
// opponent's move with it, is told that the offer was not made.
func TestOfferedWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", phone, network.at).tab}
	f.invite(setup{game: "xiangqi", own: clockOf("30", "20")})
	f.play(f.ann, "h2e2")
	f.play(f.bob, "h9g7")
	network.setCut(true)
	f.bob.await(state + ` === "lost"`)
	f.bob.tap(act("draw"))
	f.bob.tap(act("yes-draw"))
	f.bob.await(`noted(/^No connection. This is sent/)`)
	f.play(f.ann, "h0g2")
	network.setCut(false)
	f.bob.see(mayMove)
	f.bob.await(notes("The position has changed in the meantime."))
	f.play(f.bob, "i9h9")
}

// TestSilentNetwork: a connection that has gone silent is shown as lost, on the clock that
// runs, too, and the page comes back by itself.
func TestSilentNetwork(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "traveller", phone, network.at)
	p.play(setup{game: "gomoku", seat: "first"})
	network.down.stall(true)
	network.up.stall(true)
	p.await(state + ` === "lost"`)
	p.see(`.connection`)
	const dashed = `getComputedStyle(document.querySelector("[data-clock][data-running]")).outlineStyle === "dashed"`
	p.await(dashed)
	network.setCut(true) // what hung is given up
	network.down.stall(false)
	network.up.stall(false)
	network.setCut(false)
	p.connected()
	p.await("!(" + dashed + ")")
	p.move("h8")
}

// TestEightTabs: all tabs of a person are live.
func TestEightTabs(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "collector", desktop, w.at)
	id := p.play(setup{game: "xiangqi", seat: "first"})
	tabs := []*tab{p.tab}
	for n := 2; n <= 8; n++ {
		next := p.newTab(fmt.Sprintf("collector %d", n))
		next.open("/game/" + string(id))
		tabs = append(tabs, next)
	}
	for i, move := range []string{"h2e2", "b2d2"} {
		tabs[7*i].move(move)
		for _, tab := range tabs {
			tab.connected()
			tab.await(fmt.Sprintf(`%s >= %d`, plies, 2*i+1))
			tab.see(mayMove)
		}
	}
}

// TestArenaKilled: after a crash and restart of the arena the game goes on in the
// same page.
func TestArenaKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watched := w.watch(t)
	p := newPerson(t, "patient", phone, w.at)
	id := p.play(setup{game: "xiangqi", seat: "first"})
	p.move("h2e2")
	p.see(mayMove)
	eval[any](p.tab, `window.kept = true`)
	w.arena.kill()
	p.await(state + ` !== "connected"`)
	w.arena.start(t)
	w.healthy(t)
	p.connected()
	p.move("b2d2")
	p.see(mayMove)
	if !eval[bool](p.tab, `window.kept === true`) {
		t.Error("the page was loaded again")
	}
	if moves := watched.latest(t, id, p.tab).Moves; len(moves) < 3 || moves[2] != "b2d2" {
		t.Errorf("played: %v", moves)
	}
}

// TestPlatformGoesBack: a platform that was restored from a backup lacks the last moves of a
// game. The page shows where it goes on.
func TestPlatformGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	f.play(f.ann, "h8")
	f.play(f.bob, "h9")
	js := w.store(t)
	games, err := js.Stream(t.Context(), "sparring_games")
	if err != nil {
		t.Fatal(err)
	}
	info, err := games.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var backup []*jetstream.RawStreamMsg
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		msg, err := games.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		backup = append(backup, msg)
	}
	for _, moves := range [][2]string{{"i9", "g9"}, {"g7", "i10"}} { // more entries than there are new ones before the next move
		f.play(f.ann, moves[0])
		f.play(f.bob, moves[1])
	}
	w.arena.kill()
	if err := js.DeleteStream(t.Context(), info.Config.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), info.Config); err != nil {
		t.Fatal(err)
	}
	for _, msg := range backup {
		if _, err := js.Publish(t.Context(), msg.Subject, msg.Data); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(6 * time.Second) // a restore takes longer than messages are under way
	w.arena.start(t)
	w.healthy(t)
	f.ann.connected()
	f.ann.await(plies + ` === 2`)
	f.bob.await(plies + ` === 2`)
	f.ann.see(mayMove)
	f.play(f.ann, "g9")
	f.bob.await(plies + ` === 3`)
}

// TestArenaKilledWhileSomebodyWaits: a challenge that waits for a busy level survives a
// restart of the arena, and the page says so if it does not.
func TestArenaKilledWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "SPARRING_LEVELS=1")
	quick, patient := newPerson(t, "quick", desktop, w.at), newPerson(t, "patient", phone, w.at)
	wait := func(p *person) {
		t.Helper()
		p.setUp(setup{game: "gomoku", seat: "first"})
		p.tapUntil(act("play"), `document.querySelector('main.waiting [data-act="withdraw"]:not([hidden])')`)
	}
	restart := func() {
		t.Helper()
		w.arena.kill()
		for _, p := range []*person{quick, patient} {
			p.await(state + ` !== "connected"`)
		}
		w.arena.start(t)
		w.healthy(t)
		for _, p := range []*person{quick, patient} {
			p.connected()
		}
	}
	quick.play(setup{game: "gomoku", seat: "first"})
	wait(patient)
	restart()
	quick.resign()
	patient.see(mayMove)

	wait(quick)
	w.forgetWaiting(t)
	restart()
	quick.await(`document.querySelector("main.waiting [data-waiting]").textContent === "There is no such game."`)
	quick.see(`main.waiting a.button`)
	if quick.sees(act("withdraw")) {
		t.Error("what is gone can be withdrawn")
	}
}

// forgetWaiting removes the stored challenges that wait.
func (w *world) forgetWaiting(t testing.TB) {
	t.Helper()
	js := w.store(t)
	kv, err := js.KeyValue(t.Context(), "sparring_agreements")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kv.ListKeysFiltered(t.Context(), "waiting.>")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for key := range keys.Keys() {
		if err := kv.Purge(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n == 0 {
		t.Error("no challenge is stored")
	}
}

// TestClockAfterFreeze: after a while without timers, as in a phone's pocket, the clock
// on the screen is right.
func TestClockAfterFreeze(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched := w.watch(t)
	p := newPerson(t, "sleeper", phone, w.at)
	id := p.play(setup{game: "xiangqi", seat: "first", clock: "600+5"})
	p.move("h2e2")
	p.see(mayMove)
	p.freeze()
	time.Sleep(10 * time.Second) // a clock that stood still as long would be wrong by that
	p.thaw()
	p.connected()

	// Each change of the number is a moment at which the page believes that a whole
	// number of seconds is left.
	eval[any](p.tab, `(() => {
		window.changes = [];
		const clock = document.querySelector('[data-clock="first"] span');
		new MutationObserver(() => changes.push([Date.now(), clock.textContent])).observe(clock, {childList: true, characterData: true, subtree: true});
		return null;
	})()`)
	e := watched.latest(t, id, p.tab)
	if e.Clocks.Running == nil || *e.Clocks.Running != e.Turn {
		t.Fatalf("the clock does not run: %+v", e.Clocks)
	}
	// On a busy machine many changes come late.
	var off []time.Duration
	defer func() { t.Logf("differences: %v", off) }()
	gametest.Eventually(t, "the clock is right to 200 ms", func() bool {
		off = off[:0]
		for _, change := range eval[[][2]any](p.tab, `changes`) {
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
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "islander", phone, network.at)
	p.play(setup{game: "gomoku", seat: "first"})
	for _, d := range []*direction{&network.up, &network.down} {
		d.takes.Store(int64(2 * time.Second))
	}
	network.setCut(true)
	p.await(state + ` === "lost"`)
	network.setCut(false)
	p.see(mayMove)
	p.choose("h8")
	p.await(plies + ` >= 2`) // the answer of the level
	p.connected()
}

// hear forgets what the page has said.
func (p *tab) hear() {
	p.t.Helper()
	eval[any](p, `void (said = [])`)
}

// heard waits until the page has said a text.
func (p *tab) heard(text string) {
	p.t.Helper()
	p.await(`said.includes(` + quote(text) + `)`)
}

// unavailable is what the page says when something could not be done.
const unavailable = "The server can't do that right now. Try again in a moment."

// missing is what the page says when a part of it can't be loaded.
const missing = "This can't be loaded now. Try again once the connection is better."

// notes is an expression: whether the page has shown a note with a text.
func notes(text string) string {
	return fmt.Sprintf(`noted({test: (text) => text === %s})`, quote(text))
}

// blocked are addresses that the browser does not load.
type blocked struct {
	URLs []string `json:"urls"`
}

// block is the command of Debian's chromium. Later versions have network.SetBlockedURLs.
var block = cdp.Command[blocked, cdp.Empty]{Method: "Network.setBlockedURLs"}

// TestLoadedInPieces: a page whose dictionary or whose screen could not be loaded, because
// the connection was lost meanwhile, shows what is missing once it is back.
func TestLoadedInPieces(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "commuter", phone, network.at)
	call(p.tab, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	for _, piece := range []string{"en.json", "en.late.json", "start.js"} {
		call(p.tab, block, blocked{[]string{"*/" + piece}})
		p.open("/")
		if piece != "en.json" {
			p.await(`document.querySelector("main").textContent === ` + quote(missing))
		}
		p.connected()
		if p.sees(act("play")) {
			t.Fatalf("%s is not missed", piece)
		}
		if piece == "en.late.json" { // a single request was lost
			call(p.tab, block, blocked{[]string{}})
			p.see(act("play"))
			continue
		}
		network.setCut(true)
		p.await(state + ` === "lost"`)
		call(p.tab, block, blocked{[]string{}})
		network.setCut(false)
		p.see(act("play"))
	}
}

// TestWaitsForScreen: while the scripts of a page are slow to come, it shows that it loads; not
// to somebody whose browser runs none.
func TestWaitsForScreen(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	network.down.takes.Store(int64(3 * time.Second))
	p := newPerson(t, "islander", phone, network.at)
	p.open("/")
	p.see(`main .loading .dots`)
	p.see(act("play"))
	if p.sees(`.loading`) {
		t.Error("it goes on loading")
	}
	reader := newPerson(t, "reader", phone, w.at)
	call(reader.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	reader.open("/")
	if got := eval[string](reader.tab, `getComputedStyle(document.querySelector(".loading")).display`); got != "none" {
		t.Errorf("without scripts it is shown: %s", got)
	}
}

// TestPartNotLoaded: a button whose part of the page could not be loaded says so, and does what
// it is for once that can be loaded.
func TestPartNotLoaded(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "visitor", phone, w.at)
	p.before(saving)
	id := p.play(setup{game: "gomoku", seat: "first"})
	call(p.tab, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	for _, c := range []struct{ piece, button, opens string }{
		{"preferences.js", "settings", `dialog[open] select`},
		{"graph.js", "settings", `dialog[open] select`}, // of the review, which nobody has asked for
		{"en.late.json", "account", `dialog[open] [data-act="rename"]`},
		{"moves.js", "list", `.sheet.open`},
		{"hint.js", "hint", `.board .told`},
	} {
		p.open("/game/" + string(id))
		p.see(mayMove)
		call(p.tab, block, blocked{[]string{"*/" + c.piece + "*"}})
		p.tap(act(c.button))
		if c.piece != "graph.js" {
			p.await(notes(missing))
			if p.sees(c.opens) {
				t.Errorf("%s is not missed", c.piece)
			}
		}
		call(p.tab, block, blocked{[]string{}})
		p.tapUntil(act(c.button), visible(c.opens))
	}
}

// TestPartNeverLoaded: a part of the page that never comes, since it was on its way when a
// connection died, is given up like one that can't be loaded. A button says so, and those
// that are loaded ahead come nevertheless.
func TestPartNeverLoaded(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "commuter", phone, w.at)
	id := p.play(setup{game: "gomoku", seat: "first"})
	open := func(p *tab) {
		t.Helper()
		p.before(`{
			const later = setTimeout;
			window.expire = []; // for each module, what gives it up
			window.setTimeout = (f, ms, ...rest) => (ms === 20000 ? expire.push(() => f(...rest)) : later(f, ms, ...rest));
		}`)
		call(p, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/moves.js"}}})
		p.open("/game/" + string(id))
		p.see(mayMove)
	}
	p.before(saving)
	open(p.tab)
	p.tap(act("list"))
	p.await(`expire.length === 2`)
	eval[any](p.tab, `void expire[1]()`)
	p.await(notes(missing))
	p.tapUntil(act("list"), visible(`.sheet.open`))

	next := p.newTab("another tab")
	open(next)
	next.await(`expire.length === 2`)
	eval[any](next, `void expire[1]()`)
	next.await(fetches("onward.js")) // the last one
}

// TestLoadedAhead: once the connection has had nothing to do for a while, all of the page works
// without it that needs no server.
func TestLoadedAhead(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "commuter", phone, network.at)
	id := p.play(setup{game: "gomoku", seat: "first"})
	p.open("/game/" + string(id)) // the page loads nothing but a game
	p.await(fetches("onward.js")) // the last one
	p.settledRequests()
	network.setCut(true)
	p.await(state + ` === "lost"`)
	for _, c := range []struct{ button, opens, close string }{
		{"settings", `dialog[open] select`, "close"}, {"account", `dialog[open] [data-act="rename"]`, "close"}, {"list", `.sheet.open`, "close-list"},
	} {
		p.tap(act(c.button))
		p.see(c.opens)
		p.tap(act(c.close))
	}
	p.tap(`.brand`)
	p.see(`[data-choose="amazons"]`)
	if eval[bool](p.tab, notes(missing)) {
		t.Error("something is missing")
	}
}

// TestUpgradeBeforeALateModule: a page whose files have changed on the server loads no module
// of the new ones into itself, which need not go with what it has. It is reloaded, once, and
// the game goes on.
func TestUpgradeBeforeALateModule(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newOutdated(t, "player", network.at)
	p.before(saving)
	id := p.play(setup{game: "gomoku", seat: "first"})
	p.open("/game/" + string(id))
	p.see(mayMove)
	eval[any](p.tab, `void (window.kept = true)`)
	p.outdate(network)
	p.choose("h8") // which needs nothing new
	p.await(`document.querySelectorAll(".piece").length === 2`)
	if !eval[bool](p.tab, `window.kept`) {
		t.Fatal("the page was loaded again for nothing")
	}
	p.tap(act("settings"))
	p.await(`!window.kept`)
	p.see(mayMove)
	p.tapUntil(act("settings"), visible(`dialog[open] select`))
	p.tap(act("close"))
	if pieces := eval[int](p.tab, `document.querySelectorAll(".piece").length`); pieces != 2 {
		t.Errorf("%d stones on the board", pieces)
	}

	// Where servers of two versions answer in turn, reloading the page does not help.
	eval[any](p.tab, `void (window.kept = true)`)
	p.outdate(network)
	p.tapUntil(act("list"), visible(`.sheet.open`))
	if !eval[bool](p.tab, `window.kept`) {
		t.Error("the page was loaded again for the same version")
	}
}

// TestSpokenConnection: the loss of the connection is told, and that it is back.
func TestSpokenConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "listener", phone, network.at)
	p.open("/")
	p.connected()
	p.see(`.about [data-rating]`)
	p.hear()
	network.setCut(true)
	p.heard("No connection")
	network.setCut(false)
	p.heard("Connected again")
}

// TestScreenNotLoaded: a friend who has come by a link has no start screen yet. Without
// a connection the game stays where it is, and goes on.
func TestScreenNotLoaded(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, network.at).tab}
	f.bob.before(saving)
	link := f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	if eval[bool](f.bob, fetches("start.js")) {
		t.Fatal("the start screen is there already")
	}
	f.play(f.ann, "h8")
	f.bob.see(mayMove)
	f.bob.hear()
	network.setCut(true)
	f.bob.tap(`.brand`)
	f.bob.heard(missing)
	f.bob.see(mayMove)
	if path := f.bob.path(); path != "/game/"+string(f.game) {
		t.Errorf("the address of the game is %s", path)
	}
	network.setCut(false)
	f.bob.connected()
	f.play(f.bob, "a1")
	f.ann.see(mayMove)
	f.bob.tapUntil(`.brand`, `document.documentElement.dataset.screen === "start"`)
	f.bob.see(act("play"))

	next := newPerson(t, "next", phone, w.at)
	next.open(link)
	next.await(fetches("game.js")) // before it is needed
}

// fetches is an expression: whether the page has asked for one of its modules.
func fetches(module string) string {
	return fmt.Sprintf(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/%s"))`, module)
}

// TestLateAnswers: an answer that comes when the person has opened a game meanwhile
// leaves that on the screen, and a note tells of it.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "impatient", phone, network.at)
	id := string(p.play(setup{game: "gomoku", seat: "first"}))
	for _, c := range []struct{ tapped, told string }{
		{"invite", `said.some(text => text.includes("The link for your friend is ready. It is on the start page."))`},
		{"play", visible(`[data-news]:not([href="/game/` + id + `"])`)},
	} {
		p.open("/")
		p.connected()
		p.see(`[data-mine="` + id + `"] a`)
		p.see(act("play"))
		p.settledRequests() // the game's modules are there
		p.hear()
		network.setCut(true)
		p.await(state + ` === "lost"`)
		p.tap(act(c.tapped))
		p.tap(`[data-mine="` + id + `"] a`)
		p.await(`location.pathname === "/game/` + id + `"`)
		network.setCut(false)
		p.await(c.told)
		p.see(`.board svg`)
		if path := p.path(); path != "/game/"+id || p.sees(`input[data-link]`) {
			t.Errorf("after %s: at %s", c.tapped, path)
		}
	}
}

// TestGuestWithoutConnection: a new visitor without a connection is told that no game
// begins, and one does once it is back.
func TestGuestWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "visitor", phone, network.at)
	p.open("/")
	p.connected()
	p.see(`.about [data-rating]`)
	p.hear()
	network.setCut(true)
	p.await(state + ` === "lost"`)
	p.tap(act("play"))
	p.heard(unavailable)
	network.setCut(false)
	p.connected()
	p.tapUntil(act("play"), inGame)
}

// TestAccountWithoutAnswer: a change of the account that gets no answer, because the connection
// has died, is not waited for without end.
func TestAccountWithoutAnswer(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "traveller", phone, w.at)
	p.begin("gomoku")
	p.tap(act("account"))
	p.see(act("rename"))
	eval[any](p.tab, `void (AbortSignal.timeout = () => AbortSignal.abort())`) // all time has passed
	p.tap(act("rename"))
	p.await(`document.querySelector("dialog .error").textContent === ` + quote(unavailable))
}

// TestHandicapsNotListedNow: handicaps that could not be listed in a bad moment are offered
// when that has passed.
func TestHandicapsNotListedNow(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	p := newPerson(t, "visitor", desktop, w.at)
	call(p.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `{
		const { fetch } = window;
		window.refused = 0;
		window.fetch = async (...a) => a[0] === "/api/games" && !refused++ ? new Response("{}", {status: 503}) : fetch(...a);
	}`})
	p.open("/")
	p.await(`refused === 1`)
	p.tap(`[data-choose="gomoku"]`)
	p.tap(`[data-choose="xiangqi"]`)
	p.await(`document.querySelectorAll('select[name="handicap"] option').length > 1`)
}

// TestOfferedAfterMove: somebody who asks to undo a move that is still under way undoes that
// one, and who asks again meanwhile does nothing more.
func TestOfferedAfterMove(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", phone, network.at).tab}
	f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	f.play(f.ann, "h8")
	f.play(f.bob, "h9")
	f.play(f.ann, "i8")
	f.bob.see(mayMove)
	f.bob.see(act("takeback"))
	eval[any](f.bob, `{ const parse = JSON.parse; window.blind = true; JSON.parse = (text) => { const m = parse(text); return blind && m?.t === "state" ? {} : m; }; }`) // the answer comes before the state
	network.up.stall(true)
	f.bob.choose("i9")
	f.bob.tap(act("takeback"))
	network.up.stall(false)
	f.ann.see(act("takeback-accept"))
	eval[any](f.bob, `void (blind = false)`)
	network.setCut(true)
	f.bob.await(state + ` === "lost"`)
	network.setCut(false)
	f.bob.see(`.offered ` + act("takeback-decline"))
	if notes := `noted(/position has changed/)`; eval[bool](f.bob, notes) {
		t.Error("it was asked for the position before")
	}
	f.bob.tap(act("takeback"))
	f.bob.settled()
	if eval[bool](f.bob, `noted(/./)`) || !f.bob.sees(`.offered `+act("takeback-decline")) || !f.ann.sees(act("takeback-accept")) {
		t.Error("asking again has changed something")
	}
	f.ann.tap(act("takeback-accept"))
	for _, p := range []*tab{f.ann, f.bob} {
		p.await(plies + ` === 3`)
	}
	f.play(f.bob, "j9")
}

// settled waits until the page has the answers to what it has asked for.
func (p *tab) settled() {
	p.t.Helper()
	p.set(`input[name="chat"]`, "settled")
	eval[any](p, `void document.querySelector('[data-act="chat"]').click()`)
	p.await(`[...document.querySelectorAll(".chat li")].some(e => e.textContent.endsWith("settled"))`)
}

// TestListComesLater: the list of moves, which a phone could not load with the game, comes with
// the next connection, and nobody has to ask for it.
func TestListComesLater(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newPerson(t, "commuter", phone, network.at)
	id := p.play(setup{game: "gomoku", seat: "first"})
	p.before(`{ const { warn } = console; window.failed = ""; console.warn = (...all) => { failed += all.join(); warn(...all); }; }`)
	call(p.tab, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	call(p.tab, block, blocked{[]string{"*/moves.js*"}})
	p.open("/game/" + string(id))
	p.see(mayMove)
	p.await(`failed.includes("moves.js")`)
	network.setCut(true)
	p.await(state + ` === "lost"`)
	call(p.tab, block, blocked{[]string{}})
	network.setCut(false)
	p.await(`document.querySelector("[data-moves]")`)
}
