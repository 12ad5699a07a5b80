package screens

import (
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"

	"sparring/arena/web/browser"
)

// What a game page may cost somebody who has none of its files: bytes over the wire,
// with all headers and the first messages of the socket, and requests.
const (
	maxBytes    = 68_000
	maxScript   = 43_000
	maxRequests = 24
)

// TestBudget: a game page is small, for a player with an empty cache and for somebody
// who watches. What it may need later is not loaded yet.
func TestBudget(t *testing.T) {
	t.Parallel()
	w := browser.SharedWorld(t)
	for _, name := range []string{"xiangqi", "gomoku", "amazons"} {
		line := browser.NewWire(t, w.At)
		player := browser.NewPerson(t, name+"-player", browser.Phone, line.At)
		player.Before(browser.Saving)
		id := player.Play(browser.Setup{Game: name, Seat: "first"})
		player.SettledRequests()
		browser.Call(player.Tab, network.Enable, network.EnableParams{})
		browser.Call(player.Tab, network.ClearBrowserCache, cdp.Empty{})
		check := func(p *browser.Tab, line *browser.Wire) {
			t.Helper()
			before := line.Down.Bytes.Load()
			p.Open("/game/" + string(id))
			p.Connected()
			p.See(`.board svg`)
			all := p.SettledRequests()
			total, script := int(line.Down.Bytes.Load()-before), 0
			list := ""
			slices.SortFunc(all, func(a, b browser.Fetched) int { return b.Bytes - a.Bytes })
			for _, f := range all {
				if path.Ext(f.Name) == ".js" {
					script += f.Bytes
				}
				list += fmt.Sprintf("%6d %s\n", f.Bytes, path.Base(f.Name))
			}
			t.Logf("%s: %d bytes, of which %d of scripts, in %d requests and a socket", p.Name, total, script, len(all))
			if total > maxBytes || script > maxScript || len(all)+1 > maxRequests {
				t.Errorf("%s: want %d bytes, of which %d of scripts, in %d requests\n%s", p.Name, maxBytes, maxScript, maxRequests, list)
			}
		}
		check(player.Tab, line)
		line = browser.NewWire(t, w.At)
		watcher := browser.NewPerson(t, name+"-watcher", browser.Phone, line.At)
		watcher.Before(browser.Saving)
		check(watcher.Tab, line)
	}
}
