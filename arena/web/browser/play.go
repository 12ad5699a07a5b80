package browser

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/protocol"
	"strings"
	"testing"
	"time"
)

// Begin starts a game against level 1 with the seat that opens, and waits for the
// first turn.
func (p *Tab) Begin(game string) {
	p.T.Helper()
	p.Open("/")
	p.Connected()
	p.Tap(`[data-choose="` + game + `"]`)
	p.Await(`document.querySelector('select[name="seat"]')`)
	p.Choice(`select[name="seat"]`, "first")
	p.TapUntil(Act("play"), InGame)
	p.See(MayMove)
}

// Resign resigns the game that is shown.
func (p *Tab) Resign() {
	p.T.Helper()
	p.Tap(Act("resign"))
	p.Tap(Act("yes-resign"))
}

// ResignToReview resigns the game in which the person is to move, and opens its review.
func (p *Tab) ResignToReview() {
	p.T.Helper()
	p.See(MayMove)
	p.Resign()
	p.Tap(Act("review"))
	p.See(`.review[data-complete="true"]`)
}

// Setup is what somebody chooses on the start screen; "" leaves what is offered.
type Setup struct {
	Game, Rules, Clock, Seat string
	Handicap, Position       string
	Own                      map[string]string // a clock in numbers: minutes, increment, periods, period
}

// SetUp fills in the start screen.
func (p *Tab) SetUp(s Setup) {
	p.T.Helper()
	p.Open("/")
	p.Connected()
	p.Tap(`[data-choose="` + s.Game + `"]`)
	for name, value := range map[string]string{"rules": s.Rules, "clock": s.Clock, "seat": s.Seat} {
		if value != "" {
			p.Set(`select[name="`+name+`"]`, value)
		}
	}
	if s.Position != "" {
		p.Set(`input[name="position"]`, s.Position)
	}
	if s.Handicap != "" {
		p.Await(`document.querySelector('select[name="handicap"] option[value="` + s.Handicap + `"]')`)
		p.Set(`select[name="handicap"]`, s.Handicap)
	}
	for name, value := range s.Own {
		p.Set(fmt.Sprintf(`input[name="own_%s"]`, name), value)
	}
	if len(s.Own) > 0 {
		Eval[any](p, `document.querySelector('[data-act="own-clock"]').click()`)
	}
}

// Play begins a game against a level, and waits until it is the person's turn.
func (p *Tab) Play(s Setup) protocol.GameID {
	p.T.Helper()
	p.SetUp(s)
	p.TapUntil(Act("play"), InGame)
	id := p.Shown()
	p.See(MayMove)
	return id
}

// State is an expression: the state of the connection.
const State = `document.documentElement.dataset.state`

// Unavailable is what the page says when something could not be done.
const Unavailable = "The server can't do that right now. Try again in a moment."

// Settled waits until the page has the answers to what it has asked for.
func (p *Tab) Settled() {
	p.T.Helper()
	p.Set(`input[name="chat"]`, "settled")
	Eval[any](p, `void document.querySelector('[data-act="chat"]').click()`)
	p.Await(`[...document.querySelectorAll(".chat li")].some(e => e.textContent.endsWith("settled"))`)
}

// Shown waits until a game is on the screen, and returns its id.
func (p *Tab) Shown() protocol.GameID {
	p.T.Helper()
	p.Await(InGame)
	return protocol.GameID(strings.Split(p.Path(), "/")[2])
}

// MayMove is the selector of the board of somebody whose turn it is.
const MayMove = `.board[data-may="move"]`

// Move plays a move by tapping its points, and waits until it is in the list of moves.
// A tap has no effect if the board changes under it, as when a game is halted; then the
// person taps again.
func (p *Tab) Move(text string) {
	p.T.Helper()
	ply := p.Ply()
	played := fmt.Sprintf(`%s > %d`, Plies, ply)
	for range 5 {
		p.See(MayMove)
		p.Choose(text)
		for range 50 {
			if Eval[bool](p, played) {
				return
			}
			if p.Sees(Act("yes-ending")) { // the page warns of how the move ends the game
				p.Tap(Act("yes-ending"))
			}
			time.Sleep(50 * time.Millisecond)
		}
		if !p.Sees(MayMove) {
			break // it is on its way
		}
		p.T.Logf("%s taps %s again: %s", p.Name, text, Eval[string](p, `document.querySelector(".board").dataset.may + " " + document.querySelector(".board-live").textContent + " " + (document.querySelector(".note")?.textContent ?? "")`))
	}
	p.Await(played)
}

// Plies is an expression: the number of moves in the list.
const Plies = `document.querySelectorAll("[data-ply]").length`

// Written is an expression: a move in the list, without its number.
func Written(ply int) string {
	return fmt.Sprintf(`document.querySelector('[data-ply="%d"]')?.lastChild.textContent.trim()`, ply)
}

// Ply returns that number, once the list is there.
func (p *Tab) Ply() int {
	p.T.Helper()
	p.Await(`document.querySelector("[data-moves]")`)
	return Eval[int](p, Plies)
}

// Choose taps the points of a move, and confirms it where the board asks for that.
func (p *Tab) Choose(text string) {
	p.T.Helper()
	for _, point := range points(text) {
		p.Tap(`[data-point="` + point + `"]`)
	}
	const confirm = `.board-play:not([disabled])`
	if p.Sees(`.board-play`) {
		p.Tap(confirm)
	}
}

// points returns the points of a move, in order.
func points(move string) []string { return point.FindAllString(move, -1) }

var point = regexp.MustCompile(`[a-z]\d+`)

// Mover waits until one of the players may move, and returns that one; nil once the
// game is over.
func Mover(players ...*Tab) *Tab {
	var found *Tab
	over := false
	gametest.Eventually(players[0].T, "somebody may move, or the game is over", func() bool {
		for _, p := range players {
			switch {
			case p.Root("result") != "":
				over = true
			case p.Sees(MayMove):
				found = p
			}
		}
		return over || found != nil
	})
	if over {
		return nil
	}
	return found
}

// AnyMove returns a legal move in a game.
func AnyMove(t testing.TB, rng *rand.Rand, e protocol.Event) string {
	t.Helper()
	rules, err := catalog.Rules(e.Terms.Rules)
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.Replay(rules, e.Terms.Position, e.Moves)
	if err != nil {
		t.Fatal(err)
	}
	legal := pos.Legal(nil)
	return pos.Format(legal[rng.IntN(len(legal))])
}

// Premoves lets somebody choose moves in the opponent's turn.
func (p *Tab) Premoves() {
	p.T.Helper()
	p.Tap(Act("settings"))
	p.Set(`dialog input[name="premove"]`, "true")
	p.Tap(`dialog ` + Act("close"))
}

// Premove chooses a move in the opponent's turn.
func (p *Tab) Premove(text string) {
	p.T.Helper()
	p.See(`.board[data-may="premove"]`)
	p.Choose(text)
	p.See(`.board .premove`)
}

// Waits is the selector of the ladder's part of the start screen while somebody waits.
const Waits = `[data-ladder][data-seeking] [data-waited]`

// Ladder asks for a rated game.
func (p *Tab) Ladder(game string) {
	p.T.Helper()
	p.Open("/")
	p.Connected()
	p.Tap(`[data-choose="` + game + `"]`)
	p.TapUntil(Act("ladder"), Visible(Waits))
}

// Rename gives somebody who comes for the first time a name.
func (p *Tab) Rename(name string) {
	p.T.Helper()
	p.Open("/")
	Eval[any](p, `void (async () => {
		await fetch("/api/session", {method: "POST"});
		await fetch("/api/name", {method: "POST", body: JSON.stringify({name: `+Quote(name)+`})});
		window.named = true;
	})()`)
	p.Await(`window.named`)
}
