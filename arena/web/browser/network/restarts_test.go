package network

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/web/browser"
)

// TestArenaKilled: after a crash and restart of the arena the game goes on in the
// same page.
func TestArenaKilled(t *testing.T) {
	t.Parallel()
	w := browser.NewWorld(t)
	watched := w.Watch(t)
	p := browser.NewPerson(t, "patient", browser.Phone, w.At)
	id := p.Play(browser.Setup{Game: "xiangqi", Seat: "first"})
	p.Move("h2e2")
	p.See(browser.MayMove)
	browser.Eval[any](p.Tab, `window.kept = true`)
	w.Arena.Kill()
	p.Await(browser.State + ` !== "connected"`)
	w.Arena.Start(t)
	w.Healthy(t)
	p.Connected()
	p.Move("b2d2")
	p.See(browser.MayMove)
	if !browser.Eval[bool](p.Tab, `window.kept === true`) {
		t.Error("the page was loaded again")
	}
	if moves := watched.Latest(t, id, p.Tab).Moves; len(moves) < 3 || moves[2] != "b2d2" {
		t.Errorf("played: %v", moves)
	}
}

// TestPlatformGoesBack: a platform that was restored from a backup lacks the last moves of a
// game. The page shows where it goes on.
func TestPlatformGoesBack(t *testing.T) {
	t.Parallel()
	w := browser.NewWorld(t)
	f := browser.Meet(t, w, w.Watch(t), browser.Setup{Game: "gomoku"})
	f.Play(f.Ann, "h8")
	f.Play(f.Bob, "h9")
	js := w.Store(t)
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
		f.Play(f.Ann, moves[0])
		f.Play(f.Bob, moves[1])
	}
	w.Arena.Kill()
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
	w.Arena.Start(t)
	w.Healthy(t)
	f.Ann.Connected()
	f.Ann.Await(browser.Plies + ` === 2`)
	f.Bob.Await(browser.Plies + ` === 2`)
	f.Ann.See(browser.MayMove)
	f.Play(f.Ann, "g9")
	f.Bob.Await(browser.Plies + ` === 3`)
}

// TestArenaKilledWhileSomebodyWaits: a challenge that waits for a busy level survives a
// restart of the arena, and the page says so if it does not.
func TestArenaKilledWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	w := browser.NewWorld(t, "SPARRING_LEVELS=1")
	quick, patient := browser.NewPerson(t, "quick", browser.Desktop, w.At), browser.NewPerson(t, "patient", browser.Phone, w.At)
	wait := func(p *browser.Person) {
		t.Helper()
		p.SetUp(browser.Setup{Game: "gomoku", Seat: "first"})
		p.TapUntil(browser.Act("play"), `document.querySelector('main.waiting [data-act="withdraw"]:not([hidden])')`)
	}
	restart := func() {
		t.Helper()
		w.Arena.Kill()
		for _, p := range []*browser.Person{quick, patient} {
			p.Await(browser.State + ` !== "connected"`)
		}
		w.Arena.Start(t)
		w.Healthy(t)
		for _, p := range []*browser.Person{quick, patient} {
			p.Connected()
		}
	}
	quick.Play(browser.Setup{Game: "gomoku", Seat: "first"})
	wait(patient)
	restart()
	quick.Resign()
	patient.See(browser.MayMove)

	wait(quick)
	w.ForgetWaiting(t)
	restart()
	quick.Await(`document.querySelector("main.waiting [data-waiting]").textContent === "There is no such game."`)
	quick.See(`main.waiting a.button`)
	if quick.Sees(browser.Act("withdraw")) {
		t.Error("what is gone can be withdrawn")
	}
}
