package browser

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var screens = flag.String("screens", "", "folder in which to put pictures of the page's screens")

// TestScreens takes pictures of what the page looks like, for people to judge.
func TestScreens(t *testing.T) {
	if *screens == "" {
		t.Skip("takes pictures for people: -screens FOLDER")
	}
	if err := os.MkdirAll(*screens, 0o755); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	watched := w.watch()
	for _, look := range []struct {
		name            string
		device          device
		language, theme string
	}{
		{"phone-en-light", phone, "en", "light"}, {"phone-zh-dark", phone, "zh", "dark"},
		{"desktop-en-dark", desktop, "en", "dark"}, {"desktop-zh-light", desktop, "zh", "light"},
	} {
		ann := newPerson(t, "ann", look.device, w.at).tab
		bob := newPerson(t, "bob", look.device, w.at).tab
		shoot := func(what string) {
			t.Helper()
			time.Sleep(500 * time.Millisecond) // for what moves; a picture is no assertion
			picture := run(ann, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(*screens, what+"-"+look.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range []*tab{ann, bob} {
			p.open("/")
			eval[any](p, `void localStorage.setItem("settings", JSON.stringify({language: "`+look.language+`", theme: "`+look.theme+`"}))`)
			eval[any](p, `void (document.cookie = "lang=`+look.language+`; path=/", document.cookie = "theme=`+look.theme+`; path=/")`)
		}
		ann.open("/")
		ann.see(act("play"))
		shoot("start")
		for name, line := range map[string][]string{"gomoku": {"h8"}, "amazons": {"d1d7/b7"}, "xiangqi": {"h2h9", "b2b9", "a0a2", "a2f2"}} {
			ann.play(setup{game: name, seat: "first"})
			for _, move := range line {
				ann.move(move)
				ann.see(mayMove)
			}
			shoot(name)
			ann.tap(act("resign"))
			ann.tap(act("yes-resign"))
			ann.await(`document.documentElement.dataset.result`)
			shoot(name + "-over")
		}
		ann.tap(act("review"))
		ann.await(`document.querySelector(".review")`)
		time.Sleep(20 * time.Second)
		shoot("review")
		if ann.sees(act("retry")) {
			ann.tap(act("retry"))
			shoot("retry")
		}
		f := &friends{t: t, watched: watched, ann: bob, bob: ann} // Bob invites, so that Ann chooses
		f.invite(setup{game: "gomoku", rules: "gomoku/renju-15+swap2", own: map[string]string{"minutes": "10", "increment": "5", "periods": "0", "period": "0"}})
		f.play(bob, "g8", "a1", "i8")
		ann.see(`.opening[data-dialog="opening"]`)
		shoot("swap2")
		ann.tap(`[data-move="swap"]`) // Bob is White, and moves
		f.play(bob, "a15")
		f.play(ann, "h9")
		f.play(bob, "o15")
		f.play(ann, "h7")
		f.play(bob, "o1")
		ann.see(`.board .forbidden`)
		shoot("forbidden")
		ann.open("/games")
		shoot("live")
		ann.open("/ladder")
		shoot("ladder")
	}
}
