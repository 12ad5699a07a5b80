package screens

import (
	"fmt"
	"path"
	"slices"
	"testing"

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
		player, watcher := browser.NewPerson(t, name+"-player", browser.Phone, w.At), browser.NewPerson(t, name+"-watcher", browser.Phone, w.At)
		id := player.Play(browser.Setup{Game: name, Seat: "first"})
		for _, p := range []*browser.Person{player, watcher} {
			line := browser.NewWire(t, w.At)
			p.Origin = "http://" + line.At // from which the browser has no files
			p.Before(browser.Saving)
			p.Open("/game/" + string(id))
			p.Connected()
			p.See(`.board svg`)
			all := p.SettledRequests()
			total, script := int(line.Down.Bytes.Load()), 0
			list := ""
			slices.SortFunc(all, func(a, b browser.Fetched) int { return b.Bytes - a.Bytes })
			for _, f := range all {
				if path.Ext(f.Name) == ".js" {
					script += f.Bytes
				}
				list += fmt.Sprintf("%6d %s\n", f.Bytes, path.Base(f.Name))
			}
			t.Logf("%s: %d bytes, of which %d of scripts, in %d requests and a socket", p.Name, total, script, len(all))
			if script == 0 || total > maxBytes || script > maxScript || len(all)+1 > maxRequests {
				t.Errorf("%s: want %d bytes, of which %d of scripts, in %d requests\n%s", p.Name, maxBytes, maxScript, maxRequests, list)
			}
		}
	}
}
