package web

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/protocol"
)

// Many people do everything at once, some of them on several devices. Nobody
// becomes somebody else, and no request fails for reasons of the server's own.
func TestManyPeopleAtOnce(t *testing.T) {
	t.Parallel()
	plenty := Rate{PerMinute: 1e6, Burst: 1e5}
	h := startHouseLog(t, Config{Limits: Limits{Requests: plenty, Sessions: plenty, Positions: plenty, Changes: plenty}}, arenatest.Log(t))
	other := h.another(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			lot := rand.New(rand.NewPCG(uint64(i), 1))
			phone, laptop := h.browser(t), other.browser(t)
			who := phone.guest().Player
			for range 25 {
				switch lot.IntN(6) {
				case 0, 1:
					name := fmt.Sprintf("Person %d %d", i, lot.IntN(1000))
					if code, a := phone.post("/api/name", `{"name": "`+name+`"}`); code != http.StatusOK || a.Player != who || a.Name != name {
						t.Errorf("a name: %d %+v", code, a)
					}
				case 2:
					_, made := phone.post("/api/link", "")
					path := "/link/" + made.linkAnswer.Token
					laptop.request(http.MethodGet, path, "")
					if w := laptop.request(http.MethodPost, path, ""); w.Code != http.StatusSeeOther {
						t.Errorf("a link: %d", w.Code)
					}
					laptop.want(who)
				case 3:
					if code, _ := phone.post("/api/logout", `{"others": true}`); code != http.StatusOK {
						t.Errorf("others signed out: %d", code)
					}
					gametest.Eventually(t, "the laptop to be signed out", func() bool { return laptop.player() != who })
				case 4:
					if code, _ := laptop.post("/api/session", ""); code != http.StatusOK {
						t.Errorf("a session: %d", code)
					}
				case 5:
					phone.post("/api/erase", "")
					gametest.Eventually(t, "the erased person to be a stranger everywhere", func() bool {
						return phone.player() == "" && laptop.player() != who
					})
					if next := phone.guest().Player; next == who {
						t.Error("an erased person is back")
					} else {
						who = next
					}
				}
				phone.want(who)
			}
		})
	}
	all.Wait()
}

// player returns who plays in this browser, "" for a stranger.
func (b *browser) player() protocol.PlayerID {
	r := b.newRequest(http.MethodGet, "/", "")
	p, _ := b.h.session(r)
	return p.ID
}
