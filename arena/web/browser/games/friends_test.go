package games

import (
	"math/rand/v2"

	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdpnetwork "github.com/chromedp/cdproto/network"

	"sparring/game"
	"sparring/protocol"

	"sparring/arena/web/browser"
)

// TestFriends: two people meet by a link and finish games of all kinds in every way,
// each game a rematch of the one before.
func TestFriends(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	watched, rng := w.Watch(t), rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		browser.Setup
		line []string // a short game; nil: good moves
		end  game.Reason
	}{
		{browser.Setup{Game: "xiangqi"}, []string{"b2b5", "h7h8", "b5g5", "d9e8", "g5g9"}, "checkmate"},
		{browser.Setup{Game: "gomoku"}, []string{"h8", "a1", "i8", "a3", "j8", "a5", "k8", "a7", "l8"}, "five"},
		{browser.Setup{Game: "amazons", Rules: "amazons/6x6"}, nil, "no-moves"},
	} {
		t.Run(c.Game, func(t *testing.T) {
			t.Parallel()
			f := browser.Meet(t, w, watched, c.Setup)
			next := func() bool {
				p := browser.Mover(f.Ann, f.Bob)
				if p == nil {
					return false
				}
				e := watched.Latest(t, f.Game, p)
				if c.line != nil {
					p.Move(c.line[len(e.Moves)])
				} else {
					p.Move(browser.AnyMove(t, rng, e))
				}
				return true
			}
			next()
			next()
			f.Bob.Resign()
			f.Ends(game.FirstWins, protocol.ReasonResign)

			f.Rematch()
			next()
			f.Ann.Tap(browser.Act("draw"))
			f.Ann.Tap(browser.Act("yes-draw"))
			f.Bob.Tap(browser.Act("draw-accept"))
			f.Ends(game.Draw, protocol.ReasonAgreement)

			f.Rematch()
			for next() {
			}
			f.Ends(game.Undecided, c.end)
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Parallel()
		f := browser.Meet(t, w, watched, browser.Setup{Game: "gomoku", Own: browser.ClockOf("0.25", "0")})
		f.Ann.See(browser.MayMove)
		if got := browser.Eval[string](f.Ann, `document.querySelector("[data-status]").textContent`); got != "Your turn" { // the world waits an hour for a first move
			t.Errorf("with a quarter of a minute on the clock: %q", got)
		}
		f.Play(f.Ann, "h8")
		f.Play(f.Bob, "h9")
		f.Ends(game.SecondWins, protocol.ReasonTime)
	})
}

// TestWarning: before a move that ends the game by a repetition the page asks, and the
// move is sent only after a yes.
func TestWarning(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "xiangqi"})
	line := []string{"h2e2", "a9a8", "a0a1", "a8a9", "a1a0", "a9a8", "a0a1", "a8a9"}
	for i, move := range line {
		[]*browser.Tab{f.Ann, f.Bob}[i%2].Move(move)
	}
	warning := `[data-dialog="ending"]`
	for _, answer := range []string{"no", "yes-ending"} {
		f.Ann.See(browser.MayMove)
		f.Ann.Choose("a1a0")
		f.Ann.See(warning)
		f.Ann.Tap(warning + " " + browser.Act(answer))
		f.Ann.Await(`!document.querySelector(` + browser.Quote(warning) + `)`)
		if answer == "no" && len(f.Watched.Of(f.Game).Moves) != len(line) {
			t.Error("the move was sent without a yes")
		}
	}
	f.Ends(game.Draw, "repetition")
}

// TestChat: what one says, both read once. A friend who looks at the review learns of
// a rematch, and is taken along when it begins.
func TestChat(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Bob.See(`input[name="chat"]`)
	f.Bob.Set(`input[name="chat"]`, "good luck")
	f.Bob.Tap(browser.Act("chat"))
	for _, p := range []*browser.Tab{f.Ann, f.Bob} {
		p.Await(`document.querySelector(".chat li")?.textContent.endsWith("good luck")`)
	}
	f.Bob.Await(`document.querySelector('input[name="chat"]').value === ""`)
	for _, p := range []*browser.Tab{f.Ann, f.Bob} {
		if n := browser.Eval[int](p, `document.querySelectorAll(".chat li").length`); n != 1 {
			t.Errorf("%s reads the message %d times", p.Name, n)
		}
	}
	f.Ann.Move("h8")
	f.Bob.Move("a1")
	f.Ann.Await(`document.documentElement.dataset.turn === "first"`)
	f.Bob.Resign()
	f.Ends(game.FirstWins, protocol.ReasonResign)
	f.Ann.Tap(browser.Act("review"))
	f.Ann.See(`[data-review]`)
	f.Bob.Tap(browser.Act("rematch"))
	f.Ann.Await(`noted(/rematch/)`)
	f.Ann.Tap(browser.Act("review-close"))
	f.Bob.Tap(browser.Act("rematch-decline")) // withdraws it
	f.Bob.Await(`!document.querySelector('[data-act="rematch-decline"]')`)
	f.Ann.Tap(browser.Act("rematch"))
	f.Bob.See(browser.Act("rematch-accept"))
	f.Ann.Tap(browser.Act("review"))
	f.Ann.See(`[data-review]`)
	f.Bob.Tap(browser.Act("rematch-accept"))
	f.Ann.Await(`!document.querySelector("[data-review]") && document.documentElement.dataset.turn === "first"`)
}

// TestLongChat: a message of any length covers no more of the other's board than two lines of
// it, and can be read as a whole beside the game.
func TestLongChat(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "xiangqi"})
	long := strings.Repeat("Donaudampfschifffahrt", 14)
	f.Bob.See(`input[name="chat"]`)
	f.Bob.Set(`input[name="chat"]`, long)
	browser.Eval[any](f.Ann, `void new MutationObserver(() => {
		const note = document.querySelector("[data-note]");
		if (note) window.covered = note.getBoundingClientRect().height;
	}).observe(document.body, {childList: true})`)
	f.Bob.Tap(browser.Act("chat"))
	f.Ann.Await(`window.covered`)
	if got := browser.Eval[float64](f.Ann, `covered`); got > 80 {
		t.Errorf("the note is %.0f pixels high", got)
	}
	f.Ann.Tap(browser.Act("list"))
	f.Ann.Await(lines + ` === ` + browser.Quote(long))
}

// lines is an expression: the messages that the page shows, in order.
const lines = `[...document.querySelectorAll(".chat li")].map(e => e.lastChild.textContent).join(" ")`

// TestChatWithoutConnection: what one says while the other has no connection, and what
// the other writes then, both read once and in that order, also if the page follows the
// game again only after what it says. It is there when the page is loaded again.
func TestChatWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Desktop, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, network.At).Tab}
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	say := func(p *browser.Tab, text string) {
		t.Helper()
		p.See(`input[name="chat"]`)
		p.Set(`input[name="chat"]`, text)
		p.Tap(browser.Act("chat"))
	}
	read := func(want string) {
		t.Helper()
		for _, p := range []*browser.Tab{f.Ann, f.Bob} {
			p.Await(lines + ` === ` + browser.Quote(want))
		}
	}
	say(f.Ann, "one")
	read("one")
	browser.Eval[any](f.Bob, `{
		const send = WebSocket.prototype.send;
		WebSocket.prototype.send = function (m) { m.includes('"t":"open"') ? setTimeout(() => send.call(this, m), 1000) : send.call(this, m); };
	}`)
	network.SetCut(true)
	f.Bob.Await(browser.State + ` === "lost"`)
	say(f.Ann, "two")
	f.Ann.Await(lines + ` === "one two"`)
	say(f.Bob, "three")
	f.Bob.Tap(browser.Act("chat")) // since nothing seems to happen
	network.SetCut(false)
	read("one two three")
	f.Bob.Await(`document.querySelector('input[name="chat"]').value === ""`)

	network.Down.Stall(true)
	say(f.Bob, "four")
	f.Ann.Await(lines + ` === "one two three four"`)
	network.SetCut(true)
	network.Down.Stall(false)
	network.SetCut(false)
	read("one two three four")

	f.Bob.Hear()
	network.Down.Stall(true)
	for range 2 { // since nothing seems to happen
		f.Bob.Tap(browser.Act("draw"))
		f.Bob.Tap(browser.Act("yes-draw"))
	}
	f.Ann.See(browser.Act("draw-decline"))
	network.Down.Stall(false)
	f.Bob.See(browser.Act("draw-decline"))
	say(f.Bob, "five")
	read("one two three four five")
	if browser.Eval[bool](f.Bob, `said.some(text => text.includes("no longer on offer"))`) {
		t.Error("an offer that is open is called none")
	}

	f.Bob.Open("/game/" + string(f.Game))
	read("one two three four five")
}

// TestChoiceWithoutConnection: a player who has to choose in an opening can, although the
// connection was bad since the game began, or when the page was loaded.
func TestChoiceWithoutConnection(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku", Rules: "gomoku/freestyle-15+swap2"})
	f.Bob.Block("*.js")
	for _, stone := range []string{"h8", "h9", "g8"} {
		f.Ann.Move(stone)
	}
	const choice = `[data-dialog="opening"] [data-move="swap"]`
	f.Bob.See(choice)

	browser.Call(f.Bob, cdpnetwork.ClearBrowserCache, cdp.Empty{})
	f.Bob.Block("*opening.js*")
	f.Bob.Open("/game/" + string(f.Game))
	f.Bob.Await(`document.documentElement.dataset.turn === "second"`)
	f.Bob.Await(`performance.getEntriesByType("resource").some(e => e.name.endsWith("/opening.js?1"))`)
	f.Bob.Block()
	f.Bob.Tap(choice)
	f.Ann.See(browser.MayMove)
}

// TestNameFromTheRight: what somebody says whose name is written from right to left stands beside
// the name, in its own order.
func TestNameFromTheRight(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Desktop, w.At).Tab}
	f.Bob.Rename("משה")
	f.Invite(browser.Setup{Game: "gomoku", Own: browser.ClockOf("30", "20")})
	f.Bob.See(`input[name="chat"]`)
	f.Bob.Set(`input[name="chat"]`, "5 minutes?")
	f.Bob.Tap(browser.Act("chat"))
	f.Ann.Await(`noted(/5 minutes/)`)
	for _, c := range []struct {
		p  *browser.Tab
		of string // what has the name and the text
	}{{f.Bob, ".chat li"}, {f.Ann, ".note"}} {
		got := browser.Eval[string](c.p, `(() => {
			const texts = document.createTreeWalker(document.querySelector(`+browser.Quote(c.of)+`), NodeFilter.SHOW_TEXT), range = document.createRange(), places = [];
			while (texts.nextNode()) [...texts.currentNode.data].forEach((letter, i) => {
				range.setStart(texts.currentNode, i);
				range.setEnd(texts.currentNode, i + 1);
				if (/[\p{L}\d]/u.test(letter)) places.push([range.getBoundingClientRect().left, letter]);
			});
			return places.sort((a, b) => a[0] - b[0]).map((x) => x[1]).join("");
		})()`)
		if want := "השמ5minutes"; got != want {
			t.Errorf("%s reads %q from left to right, want %q", c.p.Name, got, want)
		}
	}
}

// TestLongName: what somebody with a long name offers can be read on a phone.
func TestLongName(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := &browser.Friends{T: t, Watched: w.Watch(t), Ann: browser.NewPerson(t, "ann", browser.Phone, w.At).Tab, Bob: browser.NewPerson(t, "bob", browser.Phone, w.At).Tab}
	f.Bob.Rename(strings.Repeat("W", 24))
	f.Invite(browser.Setup{Game: "gomoku"})
	f.Play(f.Ann, "h8")
	f.Play(f.Bob, "h9")
	f.Bob.Tap(browser.Act("takeback"))
	f.Ann.See(browser.Act("takeback-decline"))
	sizes := browser.Eval[[]float64](f.Ann, `[".offered p", ".offered"].flatMap(s => { const e = document.querySelector(s); return [e.offsetHeight, e.scrollWidth - e.clientWidth]; })`)
	if sizes[0] > sizes[2]+3 || sizes[1]+sizes[3] > 0 {
		t.Errorf("the text is %v pixels high of %v, and %v and %v wider than its place", sizes[0], sizes[2], sizes[1], sizes[3])
	}
}

// TestLinkStays: a page that shows the link for a friend is not reloaded when its files
// have changed: nobody could show the link again after that restart of the server.
func TestLinkStays(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewOutdated(t, "host", network.At)
	p.SetUp(browser.Setup{Game: "gomoku"})
	p.TapUntil(browser.Act("invite"), browser.Visible(`input[data-link]`))
	p.Outdate(network)
	if !p.Sees(`input[data-link]`) {
		t.Error("the link is gone")
	}
}

// TestReviewStays: nor is a page with a review, in which somebody may be thinking about a mistake.
func TestReviewStays(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	network := browser.NewWire(t, w.At)
	p := browser.NewOutdated(t, "reader", network.At)
	p.Begin("gomoku")
	p.Move("h8")
	p.ResignToReview()
	p.Outdate(network)
	if !p.Sees(`[data-review]`) {
		t.Error("the review is gone")
	}
}

// TestLinkAddress: the screen with the link for a friend has an address of its own: it is
// there again after going back and forward and after loading it again, and it says when
// the link was revoked in another tab. Back from the game leads to the start screen.
func TestLinkAddress(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	host, friend := browser.NewPerson(t, "host", browser.Phone, w.At), browser.NewPerson(t, "friend", browser.Desktop, w.At)
	shown := browser.Visible(`input[data-link]`)
	goes := func(to int) { browser.Eval[any](host.Tab, fmt.Sprintf(`void setTimeout(() => history.go(%d))`, to)) }
	host.SetUp(browser.Setup{Game: "gomoku"})
	host.TapUntil(browser.Act("invite"), shown)
	link := host.Link()
	for _, to := range []int{-1, 1, 0} {
		goes(to)
		if to < 0 {
			host.See(`[data-waiting] ` + browser.Act("show-link"))
			continue
		}
		host.Await(shown + ` && location.pathname === ` + browser.Quote(link))
	}
	other := host.NewTab("other")
	other.Open("/")
	other.TapUntil(`[data-waiting] `+browser.Act("withdraw"), `!`+browser.Visible(`[data-waiting]`))
	host.Await(`!(` + shown + `) && document.querySelector("main.waiting a.button")`)

	host.SetUp(browser.Setup{Game: "gomoku"})
	host.TapUntil(browser.Act("invite"), shown)
	friend.Open(host.Link())
	friend.TapAway(browser.Act("join"))
	host.Shown()
	goes(-1)
	host.See(browser.Act("play"))
	if path := host.Path(); path != "/" {
		t.Errorf("back from the game at %s", path)
	}
}

// TestTakenBackPosition: whoever looks at the position to which the game goes back, or at
// one that is taken back, may move there.
func TestTakenBackPosition(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	for _, at := range []int{2, 3} {
		for i, move := range []string{"h8", "h9", "g8", "g9"} {
			if at == 2 || i > 1 {
				[]*browser.Tab{f.Ann, f.Bob}[i%2].Move(move)
			}
		}
		f.Ann.See(browser.MayMove)
		browser.Eval[any](f.Ann, fmt.Sprintf(`void document.querySelector('[data-ply="%d"]').click()`, at))
		f.Ann.Await(fmt.Sprintf(`location.pathname === "/game/%s/%d"`, f.Game, at))
		f.Ann.Tap(browser.Act("takeback"))
		f.Bob.Tap(browser.Act("takeback-accept"))
		f.Ann.Await(`!document.querySelector('[data-ply="3"]')`)
		f.Ann.See(browser.MayMove)
		if path := f.Ann.Path(); path != "/game/"+string(f.Game) {
			t.Errorf("after ply %d: at %s", at, path)
		}
	}
}

// TestDeclined: an offer comes into sight on a phone whose sheet is open, and who made
// it is told that it was declined, and the move that did.
func TestDeclined(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Ann.Move("h8")
	f.Bob.Move("h9")
	f.Ann.See(browser.MayMove)
	f.Ann.Tap(browser.Act("list"))
	f.Ann.See(`.sheet.open`)
	f.Bob.Tap(browser.Act("draw"))
	f.Bob.Tap(browser.Act("yes-draw"))
	f.Ann.Await(`!document.querySelector(".sheet.open")`)
	f.Ann.Tap(browser.Act("draw-decline"))
	f.Bob.Await(`noted(/declined/)`)
	f.Bob.Tap(browser.Act("takeback"))
	f.Ann.Tap(browser.Act("takeback-decline"))
	f.Bob.Await(`noted(/declined to undo/)`)

	f.Play(f.Ann, "i8")
	f.Play(f.Bob, "i9")
	f.Ann.See(browser.MayMove)
	f.Bob.Tap(browser.Act("takeback"))
	f.Ann.See(browser.Act("takeback-decline"))
	f.Bob.Hear()
	f.Ann.Move("j8") // which declines it, too
	f.Bob.Await(`said.some(text => /: j8/.test(text) && /declined to undo/.test(text))`)
}
