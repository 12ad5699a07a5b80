package web

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/screen/view"
)

var (
	watchPages = flag.Int("watch.pages", 20, "pages that watch in TestWatchers")
	watchURL   = flag.String("watch.url", "", "where the pages of TestWatchers connect, for its own second process")
	watchMoves = flag.Int("watch.moves", 12, "moves that TestWatchers measures with and without them")
)

// TestWatchers has many pages without a session watch a game. All see all of it, and
// the test reports how long a move takes to the other player with and without them.
//
//	go test ./arena/web -run TestWatchers -v -watch.pages 100 -watch.moves 300
//
// Most of the pages are in another process, whose time does not count.
func TestWatchers(t *testing.T) {
	t.Parallel()
	if *watchURL != "" {
		watchElsewhere(t)
		return
	}
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000 })
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	moves := gameOf(t, "amazons/10x10", 40)
	nothing := func(protocol.GameID) {}
	alone := measure(t, ann, ben, moves, nothing, nothing)

	address := strings.Replace(gw.http.URL, "http", "ws", 1) + "/ws?address=a"
	var watchers []*watcher
	for range min(*watchPages, 3) {
		watchers = append(watchers, openWatcher(t, address))
	}
	// Their process yields to this one: watchers have machines of their own.
	others := exec.CommandContext(t.Context(), "nice", "-n", "39", os.Args[0], "-test.run", "^TestWatchers$", "-watch.url", address,
		"-watch.pages", fmt.Sprint(*watchPages-len(watchers)))
	games, err := others.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := others.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		games.Close()
		if err := others.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	var g protocol.GameID
	watched := measure(t, ann, ben, moves, func(next protocol.GameID) {
		for _, w := range watchers {
			w.follow(g, next)
		}
		fmt.Fprintln(games, next)
		g = next
		ann.state(g, "the watchers", func(st message.State) bool { return st.Watchers == *watchPages })
		for _, w := range watchers {
			gametest.Eventually(t, "the start at a watcher", func() bool { return w.last().Game == g })
			if v := w.last().View; v.Turn == nil || len(v.Moves) > 0 {
				t.Errorf("a watcher's view: %v to act, %d legal moves", v.Turn, len(v.Moves))
			}
		}
	}, func(protocol.GameID) {
		for _, w := range watchers {
			gametest.Eventually(t, "the end at a watcher", func() bool { st := w.last(); return st.Game == g && finished(st) })
		}
	})
	last := ann.state(g, "the game", plies(0))
	longest := 0
	for _, w := range watchers {
		w.close()
		if st := w.last(); st.Game != g || !finished(st) || st.View.Key != last.View.Key || st.You != nil || len(st.May) != 0 {
			t.Errorf("a watcher's last state: game %s, %s, key %s, seat %v, may %v", st.Game, st.Status, st.View.Key, st.You, st.May)
		}
		longest = max(longest, w.longest)
	}
	t.Logf("a move to the other player: alone %s; with %d watchers %s; at most %d bytes to a watcher",
		spread(alone), *watchPages, spread(watched), longest)
}

// watcher is a page without a session that keeps only its last message, so that
// the test costs less than what it measures.
type watcher struct {
	t    testing.TB
	conn *websocket.Conn
	done chan struct{}

	mu      sync.Mutex
	data    []byte // the last state
	longest int
}

// watchElsewhere has pages watch the games whose ids come on the standard input.
func watchElsewhere(t *testing.T) {
	var watchers []*watcher
	for range *watchPages {
		watchers = append(watchers, openWatcher(t, *watchURL))
	}
	old := protocol.GameID("none")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); old = protocol.GameID(lines.Text()) {
		for _, w := range watchers {
			w.follow(old, protocol.GameID(lines.Text()))
		}
	}
}

func openWatcher(t testing.TB, address string) *watcher {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	w := &watcher{t: t, conn: conn, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			if strings.HasPrefix(string(data[:min(len(data), 20)]), `{"t":"state"`) {
				w.mu.Lock()
				w.data, w.longest = data, max(w.longest, len(data))
				w.mu.Unlock()
			}
		}
	}()
	t.Cleanup(w.close)
	return w
}

func (w *watcher) close() {
	w.conn.CloseNow()
	<-w.done
}

// follow leaves one game for the next.
func (w *watcher) follow(old, next protocol.GameID) {
	for _, text := range []string{`{"t":"close","id":"c","game":"` + string(old) + `"}`, `{"t":"open","id":"o","game":"` + string(next) + `"}`} {
		if err := w.conn.Write(w.t.Context(), websocket.MessageText, []byte(text)); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *watcher) last() (st message.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.data == nil {
		return st
	}
	if err := json.Unmarshal(w.data, &st); err != nil {
		w.t.Errorf("last message %.100s: %v", w.data, err)
	}
	if st.View == nil {
		st.View = &view.View{}
	}
	return st
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
// took from the mover's page to the other's. It calls begun and ended for each game.
func measure(t testing.TB, first, second *socketPage, moves []string, begun, ended func(protocol.GameID)) (all []time.Duration) {
	t.Helper()
	pages := [2]*socketPage{first, second}
	for len(all) < *watchMoves {
		g := befriend(t, first, second, terms(t, "amazons/10x10", "3600"))
		begun(g)
		for ply := 0; ply < len(moves) && len(all) < *watchMoves; ply++ {
			began, other := time.Now(), pages[1-ply%2]
			pages[ply%2].put(message.Request{T: "move", Game: g, Ply: ply, Move: moves[ply]})
			other.state(g, "the move", plies(ply+1))
			other.mu.Lock()
			all = append(all, other.latest.Sub(began))
			other.mu.Unlock()
			time.Sleep(50 * time.Millisecond) // people do not play faster
		}
		first.want(message.Request{T: "resign", Game: g})
		for _, p := range pages {
			p.state(g, "the end", finished)
			if len(all) < *watchMoves {
				p.want(message.Request{T: "close", Game: g})
			}
		}
		ended(g)
	}
	return all
}

func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond) }
	return fmt.Sprintf("median %v, p99 %v of %d", at(0.5), at(0.99), len(all))
}
