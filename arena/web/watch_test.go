package web

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"sparring/game"
	"sparring/protocol"
)

var (
	watchPages = flag.Int("watch.pages", 20, "pages that watch in TestWatchers")
	watchMoves = flag.Int("watch.moves", 12, "moves that TestWatchers measures with and without them")
)

// TestWatchers has many pages without a session watch a game. All see all of it, and
// the test reports how long a move takes to the other player with and without them.
//
//	go test ./arena/web -run TestWatchers -v -watch.pages 100 -watch.moves 300
func TestWatchers(t *testing.T) {
	srv := startServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	moves := gameOf(t, "amazons/10x10", 40)
	alone := measure(t, ann, ben, moves, func(protocol.GameID) {})

	var watchers []*socketPage
	for range *watchPages {
		watchers = append(watchers, openPage(t, gw, ""))
	}
	var g protocol.GameID
	watched := measure(t, ann, ben, moves, func(next protocol.GameID) {
		for _, p := range watchers {
			if g != "" {
				p.want(Request{T: "close", Game: g})
			}
			p.want(Request{T: "open", Game: next})
			if st := p.state(next, "the game", plies(0)); st.You != nil || len(st.May) != 0 {
				t.Errorf("a watcher's state: seat %v, may %v", st.You, st.May)
			}
		}
		g = next
		ann.state(g, "the watchers", func(st State) bool { return st.Watchers == *watchPages })
	})
	last := ann.state(g, "the game", plies(0))
	for _, p := range watchers {
		if st := p.state(g, "the last move", plies(len(last.Moves))); st.View.Key != last.View.Key {
			t.Errorf("a watcher sees %s, the player %s", st.View.Key, last.View.Key)
		}
		p.refuse(Request{T: "resign", Game: g}, protocol.Denied)
	}
	t.Logf("a move to the other player: alone %s; with %d watchers %s", spread(alone), *watchPages, spread(watched))
}

// gameOf returns the moves of a game that does not end within n plies.
func gameOf(t testing.TB, rules string, n int) (moves []string) {
	t.Helper()
	s := protocol.Snapshot{Terms: *terms(t, rules, "60")}
	for range n {
		pos, legal := legalMoves(t, s)
		text := legal[len(legal)*7/11]
		if _, err := game.PlayText(pos, text); err != nil {
			t.Fatal(err)
		}
		s.Moves = append(s.Moves, text)
	}
	return s.Moves
}

// measure has two pages play games of these moves, and returns how long each move
// took from the mover's page to the other's. It calls begun for each game.
func measure(t testing.TB, first, second *socketPage, moves []string, begun func(protocol.GameID)) (all []time.Duration) {
	t.Helper()
	pages := [2]*socketPage{first, second}
	for len(all) < *watchMoves {
		g := befriend(t, first, second, terms(t, "amazons/10x10", "3600"))
		begun(g)
		for ply := 0; ply < len(moves) && len(all) < *watchMoves; ply++ {
			began, other := time.Now(), pages[1-ply%2]
			pages[ply%2].put(Request{T: "move", Game: g, Ply: ply, Move: moves[ply]})
			other.state(g, "the move", plies(ply+1))
			other.mu.Lock()
			all = append(all, other.latest.Sub(began))
			other.mu.Unlock()
			time.Sleep(50 * time.Millisecond) // people do not play faster
		}
		first.want(Request{T: "resign", Game: g})
		for _, p := range pages {
			p.state(g, "the end", finished)
			p.want(Request{T: "close", Game: g})
		}
	}
	return all
}

func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond) }
	return fmt.Sprintf("median %v, p99 %v of %d", at(0.5), at(0.99), len(all))
}
