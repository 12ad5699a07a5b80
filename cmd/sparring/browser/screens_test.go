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
	w := sharedWorld(t)
	watched := w.watch(t)
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
		for _, p := range []*tab{ann, bob} {
			p.open("/")
			eval[any](p, `void localStorage.setItem("settings", JSON.stringify({language: "`+look.language+`", theme: "`+look.theme+`"}))`)
			eval[any](p, `void (document.cookie = "lang=`+look.language+`; path=/", document.cookie = "theme=`+look.theme+`; path=/")`)
		}
		tour(t, watched, ann, bob, func(p *tab, screen string) {
			t.Helper()
			time.Sleep(500 * time.Millisecond) // for what moves; a picture is no assertion
			picture := run(p, chromedp.CaptureScreenshot())
			if err := os.WriteFile(filepath.Join(*screens, screen+"-"+look.name+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
