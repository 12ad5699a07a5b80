package browser

import (
	"fmt"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// What a game page may cost somebody who has none of its files: bytes over the wire,
// with all headers and the first messages of the socket, and requests.
const (
	maxBytes    = 68_000
	maxScript   = 43_000
	maxRequests = 24
)

// fetched is a request of a page.
type fetched struct {
	Name  string `json:"name"`
	Bytes int    `json:"transferSize"`
}

// settledRequests waits until the page requests nothing more, and returns its requests
// with the document's. The socket is one more.
func (p *tab) settledRequests() []fetched {
	p.t.Helper()
	const list = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(e => ({name: e.name, transferSize: e.transferSize}))`
	for count := 0; ; time.Sleep(time.Second) {
		all := eval[[]fetched](p, list)
		if len(all) == count {
			return all
		}
		count = len(all)
	}
}

// saving is what makes a page load nothing ahead: its visitor wants to save data.
const saving = `Object.defineProperty(navigator, "connection", { value: { saveData: true } });`

// TestBudget: a game page is small, for a player with an empty cache and for somebody
// who watches. What it may need later is not loaded yet.
func TestBudget(t *testing.T) {
	t.Parallel()
	w := sharedWorld(t)
	for _, name := range []string{"xiangqi", "gomoku", "amazons"} {
		line := newWire(t, w.at)
		player := newPerson(t, name+"-player", phone, line.at)
		player.before(saving)
		id := player.play(setup{game: name, seat: "first"})
		player.settledRequests()
		call(player.tab, network.Enable, network.EnableParams{})
		call(player.tab, network.ClearBrowserCache, cdp.Empty{})
		check := func(p *tab, line *wire) {
			t.Helper()
			before := line.down.bytes.Load()
			p.open("/game/" + string(id))
			p.connected()
			p.see(`.board svg`)
			all := p.settledRequests()
			total, script := int(line.down.bytes.Load()-before), 0
			list := ""
			slices.SortFunc(all, func(a, b fetched) int { return b.Bytes - a.Bytes })
			for _, f := range all {
				if path.Ext(f.Name) == ".js" {
					script += f.Bytes
				}
				list += fmt.Sprintf("%6d %s\n", f.Bytes, path.Base(f.Name))
			}
			t.Logf("%s: %d bytes, of which %d of scripts, in %d requests and a socket", p.name, total, script, len(all))
			if total > maxBytes || script > maxScript || len(all)+1 > maxRequests {
				t.Errorf("%s: want %d bytes, of which %d of scripts, in %d requests\n%s", p.name, maxBytes, maxScript, maxRequests, list)
			}
		}
		check(player.tab, line)
		line = newWire(t, w.at)
		watcher := newPerson(t, name+"-watcher", phone, line.at)
		watcher.before(saving)
		check(watcher.tab, line)
	}
}
