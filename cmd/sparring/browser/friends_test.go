package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"

	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestFriends: two people meet by a link and finish games of all kinds in every way,
// each game a rematch of the one before.
func TestFriends(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	watched, adviser := w.watch(t), newAdviser(t)
	for _, c := range []struct {
		setup
		line []string // a short game; nil: good moves
		end  game.Reason
	}{
		{setup{game: "xiangqi"}, []string{"b2b5", "h7h8", "b5g5", "d9e8", "g5g9"}, "checkmate"},
		{setup{game: "gomoku"}, []string{"h8", "a1", "i8", "a3", "j8", "a5", "k8", "a7", "l8"}, "five"},
		{setup{game: "amazons", rules: "amazons/6x6"}, nil, "no-moves"},
	} {
		t.Run(c.game, func(t *testing.T) {
			t.Parallel()
			f := meet(t, w, watched, c.setup)
			next := func() bool {
				p := mover(f.ann, f.bob)
				if p == nil {
					return false
				}
				e := watched.latest(t, f.game, p)
				if c.line != nil {
					p.move(c.line[len(e.Moves)])
				} else {
					p.move(adviser.best(t, e))
				}
				return true
			}
			next()
			next()
			f.bob.resign()
			f.ends(game.FirstWins, protocol.ReasonResign)

			f.rematch()
			next()
			f.ann.tap(act("draw"))
			f.ann.tap(act("yes-draw"))
			f.bob.tap(act("draw-accept"))
			f.ends(game.Draw, protocol.ReasonAgreement)

			f.rematch()
			for next() {
			}
			f.ends(game.Undecided, c.end)
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		f := meet(t, w, watched, setup{game: "gomoku", own: clockOf("0.25", "0")})
		f.ann.see(mayMove)
		if got := eval[string](f.ann, `document.querySelector("[data-status]").textContent`); got != "Your turn" { // the world waits an hour for a first move
			t.Errorf("with a quarter of a minute on the clock: %q", got)
		}
		f.play(f.ann, "h8")
		f.play(f.bob, "h9")
		f.ends(game.SecondWins, protocol.ReasonTime)
	})
}

// TestWarning: before a move that ends the game by a repetition the page asks, and the
// move is sent only after a yes.
func TestWarning(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "xiangqi"})
	line := []string{"h2e2", "a9a8", "a0a1", "a8a9", "a1a0", "a9a8", "a0a1", "a8a9"}
	for i, move := range line {
		[]*tab{f.ann, f.bob}[i%2].move(move)
	}
	warning := `[data-dialog="ending"]`
	for _, answer := range []string{"no", "yes-ending"} {
		f.ann.see(mayMove)
		f.ann.choose("a1a0")
		f.ann.see(warning)
		f.ann.tap(warning + " " + act(answer))
		f.ann.await(`!document.querySelector(` + quote(warning) + `)`)
		if answer == "no" && len(f.watched.of(f.game).Moves) != len(line) {
			t.Error("the move was sent without a yes")
		}
	}
	f.ends(game.Draw, "repetition")
}

// friends are two people in a game with each other.
type friends struct {
	t        testing.TB
	watched  *games
	ann, bob *tab
	game     protocol.GameID
}

// clockOf is a clock with minutes for the game and seconds a move.
func clockOf(minutes, seconds string) map[string]string {
	return map[string]string{"minutes": minutes, "increment": seconds, "periods": "0", "period": "0"}
}

// meet lets Ann, with a phone, invite Bob, who opens her link on a desktop. Ann has the
// first seat of the first game. Without a clock of its own the game has one that runs
// out on no machine.
func meet(t testing.TB, w *world, watched *games, s setup) *friends {
	t.Helper()
	f := &friends{t: t, watched: watched, ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	if s.own == nil {
		s.own = clockOf("30", "20")
	}
	f.invite(s)
	return f
}

// invite begins a game on Ann's terms, by her link, and returns the path of that. She
// has the first seat.
func (f *friends) invite(s setup) string {
	f.t.Helper()
	s.seat = "first"
	f.ann.setUp(s)
	f.ann.tapUntil(act("invite"), visible(`input[data-link]`))
	f.ann.see(`input[data-link] + p`) // the link leads to this computer only
	link := f.ann.link()
	f.bob.open(link)
	f.bob.tapAway(act("join"))
	f.game = f.ann.shown()
	if other := f.bob.shown(); other != f.game {
		f.t.Fatalf("ann is in game %s, bob in %s", f.game, other)
	}
	return link
}

// link returns the path of the link that is shown.
func (p *tab) link() string {
	p.t.Helper()
	return eval[string](p, `new URL(document.querySelector("input[data-link]").value).pathname`)
}

// tapAway taps what is gone then.
func (p *tab) tapAway(selector string) {
	p.t.Helper()
	p.tapUntil(selector, "!"+visible(selector))
}

// tapUntil taps until an expression is true: again, if a tap has had no effect because
// news moved the button under it, or because the connection was lost.
func (p *tab) tapUntil(selector, expression string) {
	p.t.Helper()
	p.tap(selector)
	tapped := time.Now()
	poll(p, "!!("+expression+")", func(done bool) bool {
		if !done && time.Since(tapped) > tapAgain {
			if at := eval[[]float64](p, middle(selector)); len(at) == 2 {
				p.tapAt(at[0], at[1])
			}
			tapped = time.Now()
		}
		return done
	})
}

// tapAgain is how long a person waits for the effect of a tap before another one.
const tapAgain = 5 * time.Second

// inGame is an expression: whether a game is on the screen.
const inGame = `document.documentElement.dataset.game && location.pathname.startsWith("/game/")`

// ends checks how the game has ended, on both screens and for the spectators.
func (f *friends) ends(result game.Result, reason game.Reason) {
	f.t.Helper()
	f.ann.await(`document.documentElement.dataset.result`)
	f.bob.await(`document.documentElement.dataset.result`)
	var e protocol.Event
	gametest.Eventually(f.t, "the spectators see the end", func() bool {
		e = f.watched.of(f.game)
		return e.Status == protocol.Finished
	})
	if result != game.Undecided && e.Outcome.Result != result || e.Outcome.Reason != reason {
		f.t.Errorf("game %s ended as %+v, want %s by %s", f.game, e.Outcome, result, reason)
	}
	for _, p := range []*tab{f.ann, f.bob} {
		if got := p.root("result"); got != e.Outcome.Result.String() {
			f.t.Errorf("%s sees the result %q of %+v", p.name, got, e.Outcome)
		}
	}
}

// rematch begins another game with the seats swapped.
func (f *friends) rematch() {
	f.t.Helper()
	before := f.watched.of(f.game)
	f.ann.tap(act("rematch"))
	f.bob.tap(act("rematch-accept"))
	for _, p := range []*tab{f.ann, f.bob} {
		p.await(`document.documentElement.dataset.game && !location.pathname.includes(` + quote(string(f.game)) + `)`)
	}
	f.game = f.ann.shown()
	var e protocol.Event
	gametest.Eventually(f.t, "the spectators see the next game", func() bool {
		e = f.watched.of(f.game)
		return e.Status == protocol.Playing
	})
	if e.Holders[game.First].Player != before.Holders[game.Second].Player || e.Terms.Clock != before.Terms.Clock {
		f.t.Errorf("the rematch of %+v is %+v", before, e)
	}
}

// TestChat: what one says, both read once. A friend who looks at the review learns of
// a rematch, and is taken along when it begins.
func TestChat(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	f.bob.see(`input[name="chat"]`)
	f.bob.set(`input[name="chat"]`, "good luck")
	f.bob.tap(act("chat"))
	for _, p := range []*tab{f.ann, f.bob} {
		p.await(`document.querySelector(".chat li")?.textContent.endsWith("good luck")`)
	}
	f.bob.await(`document.querySelector('input[name="chat"]').value === ""`)
	for _, p := range []*tab{f.ann, f.bob} {
		if n := eval[int](p, `document.querySelectorAll(".chat li").length`); n != 1 {
			t.Errorf("%s reads the message %d times", p.name, n)
		}
	}
	f.ann.move("h8")
	f.bob.move("a1")
	f.ann.await(`document.documentElement.dataset.turn === "first"`)
	f.bob.resign()
	f.ends(game.FirstWins, protocol.ReasonResign)
	f.ann.tap(act("review"))
	f.ann.see(`[data-review]`)
	f.bob.tap(act("rematch"))
	f.ann.await(`noted(/rematch/)`)
	f.ann.tap(act("review-close"))
	f.bob.tap(act("rematch-decline")) // withdraws it
	f.bob.await(`!document.querySelector('[data-act="rematch-decline"]')`)
	f.ann.tap(act("rematch"))
	f.bob.see(act("rematch-accept"))
	f.ann.tap(act("review"))
	f.ann.see(`[data-review]`)
	f.bob.tap(act("rematch-accept"))
	f.ann.await(`!document.querySelector("[data-review]") && document.documentElement.dataset.turn === "first"`)
}

// TestLongChat: a message of any length covers no more of the other's board than two lines of
// it, and can be read as a whole beside the game.
func TestLongChat(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "xiangqi"})
	long := strings.Repeat("Donaudampfschifffahrt", 14)
	f.bob.see(`input[name="chat"]`)
	f.bob.set(`input[name="chat"]`, long)
	eval[any](f.ann, `void new MutationObserver(() => {
		const note = document.querySelector("[data-note]");
		if (note) window.covered = note.getBoundingClientRect().height;
	}).observe(document.body, {childList: true})`)
	f.bob.tap(act("chat"))
	f.ann.await(`window.covered`)
	if got := eval[float64](f.ann, `covered`); got > 80 {
		t.Errorf("the note is %.0f pixels high", got)
	}
	f.ann.tap(act("list"))
	f.ann.await(lines + ` === ` + quote(long))
}

// lines is an expression: the messages that the page shows, in order.
const lines = `[...document.querySelectorAll(".chat li")].map(e => e.lastChild.textContent).join(" ")`

// TestChatWithoutConnection: what one says while the other has no connection, and what
// the other writes then, both read once and in that order, also if the page follows the
// game again only after what it says. It is there when the page is loaded again.
func TestChatWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", desktop, w.at).tab, bob: newPerson(t, "bob", desktop, network.at).tab}
	f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	say := func(p *tab, text string) {
		t.Helper()
		p.see(`input[name="chat"]`)
		p.set(`input[name="chat"]`, text)
		p.tap(act("chat"))
	}
	read := func(want string) {
		t.Helper()
		for _, p := range []*tab{f.ann, f.bob} {
			p.await(lines + ` === ` + quote(want))
		}
	}
	say(f.ann, "one")
	read("one")
	eval[any](f.bob, `{
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (m) { m.includes('"t":"open"') ? setTimeout(() => send.call(this, m), 1000) : send.call(this, m); };
	}`)
	network.setCut(true)
	f.bob.await(state + ` === "lost"`)
	say(f.ann, "two")
	f.ann.await(lines + ` === "one two"`)
	say(f.bob, "three")
	f.bob.tap(act("chat")) // since nothing seems to happen
	network.setCut(false)
	read("one two three")
	f.bob.await(`document.querySelector('input[name="chat"]').value === ""`)

	network.down.stall(true)
	say(f.bob, "four")
	f.ann.await(lines + ` === "one two three four"`)
	network.setCut(true)
	network.down.stall(false)
	network.setCut(false)
	read("one two three four")

	f.bob.hear()
	network.down.stall(true)
	for range 2 { // since nothing seems to happen
		f.bob.tap(act("draw"))
		f.bob.tap(act("yes-draw"))
	}
	f.ann.see(act("draw-decline"))
	network.down.stall(false)
	f.bob.see(act("draw-decline"))
	say(f.bob, "five")
	read("one two three four five")
	if eval[bool](f.bob, `said.some(text => text.includes("no longer on offer"))`) {
		t.Error("an offer that is open is called none")
	}

	f.bob.open("/game/" + string(f.game))
	read("one two three four five")
}

// TestChoiceWithoutConnection: a player who has to choose in an opening can, although the
// connection was bad since the game began, or when the page was loaded.
func TestChoiceWithoutConnection(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku", rules: "gomoku/freestyle-15+swap2"})
	call(f.bob, cdpnetwork.Enable, cdpnetwork.EnableParams{})
	call(f.bob, block, blocked{[]string{"*.js"}})
	for _, stone := range []string{"h8", "h9", "g8"} {
		f.ann.move(stone)
	}
	const choice = `[data-dialog="opening"] [data-move="swap"]`
	f.bob.see(choice)

	call(f.bob, cdpnetwork.ClearBrowserCache, cdp.Empty{})
	call(f.bob, block, blocked{[]string{"*opening.js*"}})
	f.bob.open("/game/" + string(f.game))
	f.bob.await(`document.documentElement.dataset.turn === "second"`)
	f.bob.await(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/opening.js?1"))`)
	call(f.bob, block, blocked{})
	f.bob.tap(choice)
	f.ann.see(mayMove)
}

// rename gives somebody who comes for the first time a name.
func (p *tab) rename(name string) {
	p.t.Helper()
	p.open("/")
	eval[any](p, `void (async () => {
		await fetch("/api/session", {method: "POST"});
		await fetch("/api/name", {method: "POST", body: JSON.stringify({name: `+quote(name)+`})});
		window.named = true;
	})()`)
	p.await(`window.named`)
}

// TestNameFromTheRight: what somebody says whose name is written from right to left stands beside
// the name, in its own order.
func TestNameFromTheRight(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", desktop, w.at).tab}
	f.bob.rename("משה")
	f.invite(setup{game: "gomoku", own: clockOf("30", "20")})
	f.bob.see(`input[name="chat"]`)
	f.bob.set(`input[name="chat"]`, "5 minutes?")
	f.bob.tap(act("chat"))
	f.ann.await(`noted(/5 minutes/)`)
	for _, c := range []struct {
		p  *tab
		of string // what has the name and the text
	}{{f.bob, ".chat li"}, {f.ann, ".note"}} {
		got := eval[string](c.p, `(() => {
			const texts = document.createTreeWalker(document.querySelector(`+quote(c.of)+`), NodeFilter.SHOW_TEXT), range = document.createRange(), places = [];
			while (texts.nextNode()) [...texts.currentNode.data].forEach((letter, i) => {
				range.setStart(texts.currentNode, i);
				range.setEnd(texts.currentNode, i + 1);
				if (/[\p{L}\d]/u.test(letter)) places.push([range.getBoundingClientRect().left, letter]);
			});
			return places.sort((a, b) => a[0] - b[0]).map((x) => x[1]).join("");
		})()`)
		if want := "השמ5minutes"; got != want {
			t.Errorf("%s reads %q from left to right, want %q", c.p.name, got, want)
		}
	}
}

// TestLongName: what somebody with a long name offers can be read on a phone.
func TestLongName(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := &friends{t: t, watched: w.watch(t), ann: newPerson(t, "ann", phone, w.at).tab, bob: newPerson(t, "bob", phone, w.at).tab}
	f.bob.rename(strings.Repeat("W", 24))
	f.invite(setup{game: "gomoku"})
	f.play(f.ann, "h8")
	f.play(f.bob, "h9")
	f.bob.tap(act("takeback"))
	f.ann.see(act("takeback-decline"))
	sizes := eval[[]float64](f.ann, `[".offered p", ".offered"].flatMap(s => { const e = document.querySelector(s); return [e.offsetHeight, e.scrollWidth - e.clientWidth]; })`)
	if sizes[0] > sizes[2]+3 || sizes[1]+sizes[3] > 0 {
		t.Errorf("the text is %v pixels high of %v, and %v and %v wider than its place", sizes[0], sizes[2], sizes[1], sizes[3])
	}
}

// outdate lets the page look twice, in a while, at whether its files have changed: they have, as
// by a restart of the server. The page's person touches nothing meanwhile.
func (p *person) outdate(network *wire) {
	p.t.Helper()
	network.setCut(true)
	p.await(state + ` === "lost"`)
	eval[any](p.tab, `void (window.newer = true)`)
	network.setCut(false)
	p.connected()
	eval[any](p.tab, `void (looked = 0)`)
	p.await(`looked === 2 || !window.newer`)
}

// newOutdated opens a browser for outdate.
func newOutdated(t *testing.T, name string, at string) *person {
	t.Helper()
	p := newPerson(t, name, phone, at)
	p.before(`{
		const parse = JSON.parse, now = performance.now.bind(performance), every = setInterval;
		window.looked = 0;
		JSON.parse = (text) => { const m = parse(text); if (m?.t === "welcome" && window.newer) m.version = "newer"; return m; };
		performance.now = () => now() + (window.newer ? 60e3 : 0);
		window.setInterval = (f, ms) => every(ms === 5000 ? () => (f(), looked++) : f, ms);
	}`)
	return p
}

// TestLinkStays: a page that shows the link for a friend is not reloaded when its files
// have changed: nobody could show the link again after that restart of the server.
func TestLinkStays(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newOutdated(t, "host", network.at)
	p.setUp(setup{game: "gomoku"})
	p.tapUntil(act("invite"), visible(`input[data-link]`))
	p.outdate(network)
	if !p.sees(`input[data-link]`) {
		t.Error("the link is gone")
	}
}

// TestReviewStays: nor is a page with a review, in which somebody may be thinking about a mistake.
func TestReviewStays(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	network := newWire(t, w.at)
	p := newOutdated(t, "reader", network.at)
	p.begin("gomoku")
	p.move("h8")
	p.resignToReview()
	p.outdate(network)
	if !p.sees(`[data-review]`) {
		t.Error("the review is gone")
	}
}

// TestLinkAddress: the screen with the link for a friend has an address of its own: it is
// there again after going back and forward and after loading it again, and it says when
// the link was revoked in another tab. Back from the game leads to the start screen.
func TestLinkAddress(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	host, friend := newPerson(t, "host", phone, w.at), newPerson(t, "friend", desktop, w.at)
	shown := visible(`input[data-link]`)
	goes := func(to int) { eval[any](host.tab, fmt.Sprintf(`void setTimeout(() => history.go(%d))`, to)) }
	host.setUp(setup{game: "gomoku"})
	host.tapUntil(act("invite"), shown)
	link := host.link()
	for _, to := range []int{-1, 1, 0} {
		goes(to)
		if to < 0 {
			host.see(`[data-waiting] ` + act("show-link"))
			continue
		}
		host.await(shown + ` && location.pathname === ` + quote(link))
	}
	other := host.newTab("other")
	other.open("/")
	other.tapUntil(`[data-waiting] `+act("withdraw"), `!`+visible(`[data-waiting]`))
	host.await(`!(` + shown + `) && document.querySelector("main.waiting a.button")`)

	host.setUp(setup{game: "gomoku"})
	host.tapUntil(act("invite"), shown)
	friend.open(host.link())
	friend.tapAway(act("join"))
	host.shown()
	goes(-1)
	host.see(act("play"))
	if path := host.path(); path != "/" {
		t.Errorf("back from the game at %s", path)
	}
}

// TestTakenBackPosition: whoever looks at the position to which the game goes back, or at
// one that is taken back, may move there.
func TestTakenBackPosition(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	for _, at := range []int{2, 3} {
		for i, move := range []string{"h8", "h9", "g8", "g9"} {
			if at == 2 || i > 1 {
				[]*tab{f.ann, f.bob}[i%2].move(move)
			}
		}
		f.ann.see(mayMove)
		eval[any](f.ann, fmt.Sprintf(`void document.querySelector('[data-ply="%d"]').click()`, at))
		f.ann.await(fmt.Sprintf(`location.pathname === "/game/%s/%d"`, f.game, at))
		f.ann.tap(act("takeback"))
		f.bob.tap(act("takeback-accept"))
		f.ann.await(`!document.querySelector('[data-ply="3"]')`)
		f.ann.see(mayMove)
		if path := f.ann.path(); path != "/game/"+string(f.game) {
			t.Errorf("after ply %d: at %s", at, path)
		}
	}
}

// TestDeclined: an offer comes into sight on a phone whose sheet is open, and who made
// it is told that it was declined, and the move that did.
func TestDeclined(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	f := meet(t, w, w.watch(t), setup{game: "gomoku"})
	f.ann.move("h8")
	f.bob.move("h9")
	f.ann.see(mayMove)
	f.ann.tap(act("list"))
	f.ann.see(`.sheet.open`)
	f.bob.tap(act("draw"))
	f.bob.tap(act("yes-draw"))
	f.ann.await(`!document.querySelector(".sheet.open")`)
	f.ann.tap(act("draw-decline"))
	f.bob.await(`noted(/declined/)`)
	f.bob.tap(act("takeback"))
	f.ann.tap(act("takeback-decline"))
	f.bob.await(`noted(/declined to undo/)`)

	f.play(f.ann, "i8")
	f.play(f.bob, "i9")
	f.ann.see(mayMove)
	f.bob.tap(act("takeback"))
	f.ann.see(act("takeback-decline"))
	f.bob.hear()
	f.ann.move("j8") // which declines it, too
	f.bob.await(`said.some(text => /: j8/.test(text) && /declined to undo/.test(text))`)
}
