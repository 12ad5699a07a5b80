package screens

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sparring/arena/web/browser"
)

// TestScreens takes pictures of what the page looks like, for people to judge.
func TestScreens(t *testing.T) {
	if *browser.Screens == "" {
		t.Skip("takes pictures for people: -screens FOLDER")
	}
	if err := os.MkdirAll(*browser.Screens, 0o755); err != nil {
		t.Fatal(err)
	}
	w := browser.SharedWorld(t)
	watched := w.Watch(t)
	for _, look := range []struct {
		name            string
		device          browser.Device
		language, theme string
	}{
		{"phone-en-light", browser.Phone, "en", "light"}, {"phone-zh-dark", browser.Phone, "zh", "dark"},
		{"desktop-en-dark", browser.Desktop, "en", "dark"}, {"desktop-zh-light", browser.Desktop, "zh", "light"},
	} {
		ann := browser.NewPerson(t, "ann", look.device, w.At).Tab
		bob := browser.NewPerson(t, "bob", look.device, w.At).Tab
		for _, p := range []*browser.Tab{ann, bob} {
			p.Open("/")
			browser.Eval[any](p, `void localStorage.setItem("settings", JSON.stringify({language: "`+look.language+`", theme: "`+look.theme+`"}))`)
			browser.Eval[any](p, `void (document.cookie = "lang=`+look.language+`; path=/", document.cookie = "theme=`+look.theme+`; path=/")`)
		}
		tour(t, watched, ann, bob, func(p *browser.Tab, screen string) {
			t.Helper()
			time.Sleep(500 * time.Millisecond) // for what moves; a picture is no assertion
			picture := browser.Run(p, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(*browser.Screens, screen+"-"+look.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
