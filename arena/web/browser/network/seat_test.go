package network

import (
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"sparring/arena/web/browser"
)

// kept is an expression: what a browser knows of those who were there before, and what it does to
// a page because of them. All of it is as in a new browser but the page's own cookie.
const kept = `(async () => ({
	cookies: document.cookie,
	local: Object.keys(localStorage).join(),
	session: Object.keys(sessionStorage).filter(key => key !== "person").join(),
	databases: (await indexedDB.databases()).map(d => d.name).join(),
	caches: (await caches.keys()).join(),
	name: window.name,
	scripts: typeof window.injected,
	media: ["print", "(prefers-color-scheme: dark)", "(forced-colors: active)"].filter(q => matchMedia(q).matches).join(),
	text: getComputedStyle(document.documentElement).fontSize,
	touches: navigator.maxTouchPoints,
	online: navigator.onLine,
	refused: await fetch("/blocked").then(a => !a.ok, () => true),
}))()`

// fill leaves something of each kind that a page can store.
const fill = `(async () => {
	document.cookie = "left=1; max-age=3600; path=/";
	localStorage.left = sessionStorage.left = window.name = "left";
	await caches.open("left");
	await new Promise(done => { indexedDB.open("left").onsuccess = e => (e.target.result.close(), done()); });
	window.filled = true;
})(), null`

type findings struct {
	Cookies, Local, Session, Databases, Caches, Name, Scripts, Media, Text string
	Touches                                                                int
	Online, Refused                                                        bool
}

// find returns what somebody finds in the browser.
func find(p *browser.Person) findings {
	p.T.Helper()
	browser.Eval[any](p.Tab, `void `+kept+`.then(found => window.found = found)`)
	return browser.Poll(p.Tab, `window.found ?? {}`, func(f findings) bool { return f.Text != "" })
}

// TestHarnessSeat: somebody who gets the browser that another person has left finds nothing there
// of what that person, or the test, has done to it. No test runs beside this one, which would
// take that browser.
func TestHarnessSeat(t *testing.T) {
	at := serveSpecimen(t)
	var before *browser.Person
	t.Run("before", func(t *testing.T) {
		before = browser.NewPerson(t, "before", browser.Phone, at)
		before.Before(`window.injected = true`)
		before.Open("/before")
		before.Run(fill)
		before.Await(`window.filled`)
		browser.Call(before.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: "dark"}, {Name: "forced-colors", Value: "active"}}})
		before.Block("*/blocked")
		want := findings{Cookies: "path=before; left=1", Local: "left", Session: "left", Databases: "left", Caches: "left", Name: "left", Scripts: "boolean",
			Media: "print,(prefers-color-scheme: dark),(forced-colors: active)", Text: "16px", Touches: 1, Online: true, Refused: true}
		if got := find(before); got != want {
			t.Errorf("what the first person does has the effect %+v, want %+v", got, want)
		}
		before.Offline(true)
		browser.Call(before.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	})
	next := browser.NewPerson(t, "next", browser.Desktop, at)
	if !next.Succeeds(before) {
		t.Fatal("the browser is not used again")
	}
	next.Open("/next")
	next.Connected() // by a script
	if got, want := find(next), (findings{Cookies: "path=next", Scripts: "undefined", Text: "16px", Online: true}); got != want {
		t.Errorf("the next person finds %+v, want %+v", got, want)
	}
	if size := browser.Eval[[]int64](next.Tab, `[innerWidth, innerHeight]`); size[0] != browser.Desktop.Width || size[1] != browser.Desktop.Height {
		t.Errorf("a screen of %v", size)
	}

	// What can't be taken back ends with its person's browser.
	var spoilt *browser.Person
	t.Run("spoilt", func(t *testing.T) {
		spoilt = browser.NewPerson(t, "spoilt", browser.Phone, at)
		spoilt.TextSize(32)
	})
	if after := browser.NewPerson(t, "after", browser.Phone, at); after.Succeeds(spoilt) {
		t.Error("a browser with large text is used again")
	}
}
