package browser

import (
	"fmt"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"testing"
)

// Play lets somebody make moves, one after the other.
func (f *Friends) Play(p *Tab, moves ...string) {
	f.T.Helper()
	for _, m := range moves {
		p.Move(m)
	}
}

// Choose lets somebody take one of the choices of an opening, while the friend reads
// what there is to wait for.
func (f *Friends) Choose(p *Tab, choice string, of int) {
	f.T.Helper()
	p.See(Opening + ` [data-move="` + choice + `"]`)
	if over := Eval[string](p, hidden(`[data-clock]`, `[data-point="a1"]`, `[data-point="o1"]`, `[data-point="a15"]`, `[data-point="o15"]`)); over != "" {
		f.T.Errorf("%s chooses without seeing %s", p.Name, over)
	}
	if n := Eval[int](p, `document.querySelectorAll(".opening .choice").length`); n != of {
		f.T.Errorf("%s may choose among %d things", p.Name, n)
	}
	other := f.Ann
	if p == f.Ann {
		other = f.Bob
	}
	other.Await(`document.querySelector("[data-status]").textContent.startsWith("Your opponent ")`)
	if other.Sees(Opening) || other.Sees(MayMove) {
		f.T.Errorf("%s is asked what %s has to choose", other.Name, p.Name)
	}
	ply := p.Ply()
	p.Tap(`[data-move="` + choice + `"]`)
	for _, x := range []*Tab{f.Ann, f.Bob} {
		x.Await(fmt.Sprintf(`%s > %d`, Plies, ply))
	}
	p.Await(`!document.querySelector('.opening:not([hidden])')`)
}

// Opening is the selector of the dialog in which a seat chooses.
const Opening = `.opening[data-dialog="opening"]`

// Friends are two people in a game with each other.
type Friends struct {
	T        testing.TB
	Watched  *Games
	Ann, Bob *Tab
	Game     protocol.GameID
}

// ClockOf is a clock with minutes for the game and seconds a move.
func ClockOf(minutes, seconds string) map[string]string {
	return map[string]string{"minutes": minutes, "increment": seconds, "periods": "0", "period": "0"}
}

// Meet lets Ann, with a phone, invite Bob, who opens her link on a desktop. Ann has the
// first seat of the first game. Without a clock of its own the game has one that runs
// out on no machine.
func Meet(t testing.TB, w *World, watched *Games, s Setup) *Friends {
	t.Helper()
	f := &Friends{T: t, Watched: watched, Ann: NewPerson(t, "ann", Phone, w.At).Tab, Bob: NewPerson(t, "bob", Desktop, w.At).Tab}
	if s.Own == nil {
		s.Own = ClockOf("30", "20")
	}
	f.Invite(s)
	return f
}

// Invite begins a game on Ann's terms, by her link, and returns the path of that. She
// has the first seat.
func (f *Friends) Invite(s Setup) string {
	f.T.Helper()
	s.Seat = "first"
	f.Ann.SetUp(s)
	f.Ann.TapUntil(Act("invite"), Visible(`input[data-link]`))
	f.Ann.See(`input[data-link] + p`) // the link leads to this computer only
	link := f.Ann.Link()
	f.Bob.Open(link)
	f.Bob.TapAway(Act("join"))
	f.Game = f.Ann.Shown()
	if other := f.Bob.Shown(); other != f.Game {
		f.T.Fatalf("ann is in game %s, bob in %s", f.Game, other)
	}
	return link
}

// Link returns the path of the link that is shown.
func (p *Tab) Link() string {
	p.T.Helper()
	return Eval[string](p, `new URL(document.querySelector("input[data-link]").value).pathname`)
}

// InGame is an expression: whether a game is on the screen.
const InGame = `document.documentElement.dataset.game && location.pathname.startsWith("/game/")`

// Ends checks how the game has ended, on both screens and for the spectators.
func (f *Friends) Ends(result game.Result, reason game.Reason) {
	f.T.Helper()
	f.Ann.Await(`document.documentElement.dataset.result`)
	f.Bob.Await(`document.documentElement.dataset.result`)
	var e protocol.Event
	gametest.Eventually(f.T, "the spectators see the end", func() bool {
		e = f.Watched.Of(f.Game)
		return e.Status == protocol.Finished
	})
	if result != game.Undecided && e.Outcome.Result != result || e.Outcome.Reason != reason {
		f.T.Errorf("game %s ended as %+v, want %s by %s", f.Game, e.Outcome, result, reason)
	}
	for _, p := range []*Tab{f.Ann, f.Bob} {
		if got := p.Root("result"); got != e.Outcome.Result.String() {
			f.T.Errorf("%s sees the result %q of %+v", p.Name, got, e.Outcome)
		}
	}
}

// Rematch begins another game with the seats swapped.
func (f *Friends) Rematch() {
	f.T.Helper()
	before := f.Watched.Of(f.Game)
	f.Ann.Tap(Act("rematch"))
	f.Bob.Tap(Act("rematch-accept"))
	for _, p := range []*Tab{f.Ann, f.Bob} {
		p.Await(`document.documentElement.dataset.game && !location.pathname.includes(` + Quote(string(f.Game)) + `)`)
	}
	f.Game = f.Ann.Shown()
	var e protocol.Event
	gametest.Eventually(f.T, "the spectators see the next game", func() bool {
		e = f.Watched.Of(f.Game)
		return e.Status == protocol.Playing
	})
	if e.Holders[game.First].Player != before.Holders[game.Second].Player || e.Terms.Clock != before.Terms.Clock {
		f.T.Errorf("the rematch of %+v is %+v", before, e)
	}
}
