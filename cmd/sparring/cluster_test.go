package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
	"sparring/game/gametest"
	"sparring/internal/netfault"
	"sparring/protocol"
)

var (
	clusterRuns   = flag.Int("cluster.runs", 0, "how often TestCluster breaks each part of a cluster of three NATS servers; 0: not at all")
	clusterFaults = flag.String("cluster.faults", "follower-killed,leader-killed,follower-cut,leader-cut,arena-killed", "the faults of TestCluster, in order")
)

// servers is how many servers the cluster has.
const servers = 3

// cluster is three NATS servers with configs/cluster/nats.conf. Each reaches the others
// through proxies, so that it can be cut off from them.
type cluster struct {
	h       *fleet
	dir     string
	names   [servers]string
	port    [servers]int
	routes  [servers]int
	proxies [servers][servers]*netfault.Proxy // from one server to another
	process [servers]*process
}

func newCluster(h *fleet) *cluster {
	h.t.Helper()
	c := &cluster{h: h, dir: h.t.TempDir()}
	for i := range servers {
		c.names[i] = fmt.Sprintf("nats-%d", i+1)
		c.port[i], c.routes[i] = gametest.FreePort(h.t), gametest.FreePort(h.t)
	}
	for i := range servers {
		for j := range servers {
			if i == j {
				continue
			}
			p, err := netfault.Listen(fmt.Sprintf("127.0.0.1:%d", c.routes[j]))
			if err != nil {
				h.t.Fatal(err)
			}
			h.t.Cleanup(p.Close)
			c.proxies[i][j] = p
		}
	}
	for i := range servers {
		c.start(i)
	}
	return c
}

// start starts a server, also again.
func (c *cluster) start(i int) {
	c.h.t.Helper()
	conf, err := filepath.Abs(filepath.Join(root, "configs/cluster/nats.conf"))
	if err != nil {
		c.h.t.Fatal(err)
	}
	dir := filepath.Join(c.dir, c.names[i])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.h.t.Fatal(err)
	}
	var routes []string
	for _, p := range c.proxies[i] {
		if p != nil {
			routes = append(routes, "nats://route:"+password("route")+"@"+p.Addr())
		}
	}
	p := c.h.start(c.names[i], "nats-server", "-c", conf, "-a", "127.0.0.1", "-p", fmt.Sprint(c.port[i]), "-m", "-1",
		"-cluster", fmt.Sprintf("nats://route:%s@127.0.0.1:%d", password("route"), c.routes[i]), "-no_advertise",
		"-cluster_advertise", "127.0.0.1:1") // else the servers tell each other of a way around the proxies
	p.cmd.Dir = dir
	p.with("SPARRING_SERVER_NAME="+c.names[i], "SPARRING_ROUTE_PASSWORD="+password("route"), "SPARRING_ROUTES=["+strings.Join(routes, ", ")+"]")
	for _, user := range []string{"platform", "bots", "guest", "watch"} {
		p.with("SPARRING_" + strings.ToUpper(user) + "_PASSWORD=" + password(user))
	}
	p.run()
	c.process[i] = p
	c.h.wait(c.names[i]+" listens", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.port[i]))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// url returns the servers, beginning with one.
func (c *cluster) url(first int) string {
	var all []string
	for i := range servers {
		all = append(all, fmt.Sprintf("nats://127.0.0.1:%d", c.port[(first+i)%servers]))
	}
	return strings.Join(all, ",")
}

// partition cuts a server off from the others, or ends that.
func (c *cluster) partition(i int, on bool) {
	for j := range servers {
		if i != j {
			c.proxies[i][j].Refuse(on)
			c.proxies[j][i].Refuse(on)
		}
	}
}

// leader returns which server leads a stream; -1: none.
func (c *cluster) leader(stream string) int {
	c.h.t.Helper()
	js, done := c.h.jetStream(c.url(0))
	defer done()
	ctx, cancel := context.WithTimeout(c.h.ctx, 5*time.Second)
	defer cancel()
	st, err := js.Stream(ctx, stream)
	if err != nil || st.CachedInfo().Cluster == nil {
		return -1
	}
	return slices.Index(c.names[:], st.CachedInfo().Cluster.Leader)
}

// healthy waits until all servers are in step with the leaders of all streams.
func (c *cluster) healthy() {
	c.h.t.Helper()
	c.h.wait("the cluster is whole", func() bool {
		js, done := c.h.jetStream(c.url(0))
		defer done()
		ctx, cancel := context.WithTimeout(c.h.ctx, 10*time.Second)
		defer cancel()
		n := 0
		list := js.ListStreams(ctx)
		for st := range list.Info() {
			n++
			if st.Config.Replicas != servers || st.Cluster == nil || st.Cluster.Leader == "" || len(st.Cluster.Replicas) != servers-1 ||
				slices.ContainsFunc(st.Cluster.Replicas, func(r *jetstream.PeerInfo) bool { return !r.Current || r.Offline }) {
				return false
			}
		}
		return list.Err() == nil && n >= 6
	})
}

// timeline notes when games move, stand still, and change their referees.
type timeline struct {
	mu     sync.Mutex
	moves  []time.Time // of all games
	stops  []standstill
	last   map[protocol.GameID]time.Time // last event of each running game
	charge []charge
}

// standstill is a time between two events of a running game.
type standstill struct {
	game     protocol.GameID
	from, to time.Time
	takeover bool // another arena took the game over at its end
}

func (s standstill) long() time.Duration { return s.to.Sub(s.from) }

// charge is what a move was charged.
type charge struct {
	at   time.Time
	time time.Duration
}

func (l *timeline) note(e protocol.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if e.Kind == protocol.EventMove {
		l.moves = append(l.moves, now)
	}
	if e.Receipt != nil {
		l.charge = append(l.charge, charge{now, time.Duration(e.Receipt.ChargedMS) * time.Millisecond})
	}
	if before, ok := l.last[e.Game]; ok {
		l.stops = append(l.stops, standstill{e.Game, before, now, e.Kind == protocol.EventTakeover})
	}
	l.last[e.Game] = now
	if e.Status == protocol.Finished {
		delete(l.last, e.Game)
	}
}

// cost is what a fault cost the games.
type cost struct {
	pause     time.Duration // the longest time without a move in any game
	stop      standstill    // the longest of one running game
	takeovers int
	takeover  standstill    // the longest before a takeover
	charged   time.Duration // the most that a move was charged
}

func (c cost) String() string {
	round := func(d time.Duration) float64 { return d.Round(10 * time.Millisecond).Seconds() }
	return fmt.Sprintf("no move in any game for %5.2f s, in one running game for %5.2f s; %2d takeovers, the slowest after %5.2f s; charged at most %.2f s",
		round(c.pause), round(c.stop.long()), c.takeovers, round(c.takeover.long()), round(c.charged))
}

// since returns the cost of what happened since a moment.
func (l *timeline) since(begun time.Time) (c cost) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, before := time.Now(), begun
	for _, at := range append(slices.Clone(l.moves), now) {
		if at.After(begun) {
			c.pause, before = max(c.pause, at.Sub(before)), at
		}
	}
	stops := slices.Clone(l.stops)
	for g, from := range l.last {
		stops = append(stops, standstill{game: g, from: from, to: now})
	}
	for _, s := range stops {
		if !s.to.After(begun) {
			continue
		}
		if s.long() > c.stop.long() {
			c.stop = s
		}
		if s.takeover {
			c.takeovers++
			if s.long() > c.takeover.long() {
				c.takeover = s
			}
		}
	}
	for _, move := range l.charge {
		if move.at.After(begun) {
			c.charged = max(c.charged, move.time)
		}
	}
	return c
}

// movesSince counts them.
func (l *timeline) movesSince(at time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, m := range l.moves {
		if m.After(at) {
			n++
		}
	}
	return n
}

// TestCluster plays on three NATS servers, with two arenas and two bot processes, while
// servers are lost and cut off and arenas killed. No game is lost, has two ends or two
// records, or ends on time. It takes minutes, so it is run by hand: -cluster.runs 1. With
// -artifacts -outputdir DIR the logs of all processes are kept.
func TestCluster(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	if *clusterRuns == 0 {
		t.Skip("takes minutes: -cluster.runs 1 runs it")
	}
	h := newFleet(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+*clusterRuns)*6*time.Minute)
	t.Cleanup(cancel)
	h.ctx = ctx
	logs := t.ArtifactDir()
	t.Cleanup(func() {
		for i, p := range h.processes {
			name := fmt.Sprintf("%02d %s.log", i, p.name)
			if err := os.WriteFile(filepath.Join(logs, name), []byte(p.out.String()), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	c := newCluster(h)
	line := &timeline{last: map[protocol.GameID]time.Time{}}
	games := &spectator{last: map[protocol.GameID]protocol.Event{}, plies: map[protocol.GameID]int{}, gaps: true, each: line.note}
	for _, port := range c.port { // one of them may be cut off
		games.connect(h, protocol.Connection{URL: fmt.Sprintf("nats://127.0.0.1:%d", port), Name: "spectator", User: "watch", Password: password("watch")})
	}
	n := 0
	arena := func(first int) *process {
		n++
		name := fmt.Sprintf("arena%d", n)
		p := h.prepareArena(c.url(first), "SPARRING_ARENA_REPLICAS=3", "SPARRING_LADDER_ROUNDS=0", "SPARRING_LADDER_PAUSE=1ms", "SPARRING_LADDER_GAMES=3", "SPARRING_ARENA_NAME="+name)
		p.name = name
		p.run()
		return p
	}
	arenas := [2]*process{arena(1), arena(2)}
	c.healthy()
	for i := range 2 {
		// Slow moves, so that games are always under way, and take no processor time.
		h.startBot(c.url(i+1), protocol.InstanceID(fmt.Sprintf("bot%d", i)), "SPARRING_SLOTS=24", "SPARRING_PLAY_DELAY=100ms", "SPARRING_MATCH_ON=true", "SPARRING_MATCH_INTERVAL=1s", "SPARRING_MATCH_LONGEST=2s")
	}
	h.wait("games under way", func() bool { return line.movesSince(time.Time{}) > 30 })

	// broken breaks something, waits until moves come again, mends it, and says what it cost.
	broken := func(what string, for_ time.Duration, do func(), mend func()) {
		t.Helper()
		begun, ended := time.Now(), games.finished()
		do()
		time.Sleep(for_)
		h.wait(what+": moves come again", func() bool { return line.movesSince(begun.Add(for_)) > 20 })
		during := line.since(begun)
		mended := time.Now()
		mend()
		c.healthy()
		h.wait(what+": games end afterwards", func() bool { return games.finished() > ended && line.movesSince(mended) > 20 })
		t.Logf("%s %-16s %v", begun.Format(time.TimeOnly), what, during)
		t.Logf("%s %-16s %v", mended.Format(time.TimeOnly), "  mended", line.since(mended))
	}
	leader := func() int { return max(c.leader("sparring_games"), 0) }
	kill := func(what string, i int) {
		broken(what, time.Second, c.process[i].kill, func() { c.start(i) })
	}
	cut := func(what string, i int) {
		broken(what, 15*time.Second, func() { c.partition(i, true) }, func() { c.partition(i, false) })
	}
	faults := map[string]func(what string){
		"follower-killed": func(what string) { kill(what, (leader()+1)%servers) },
		"leader-killed":   func(what string) { kill(what, leader()) },
		"follower-cut":    func(what string) { cut(what, (leader()+1)%servers) },
		"leader-cut":      func(what string) { cut(what, leader()) },
		"arena-killed": func(what string) {
			for i := range arenas {
				broken(what, time.Second, arenas[i].kill, func() { arenas[i] = arena(i + 1) })
			}
		},
	}
	for range *clusterRuns {
		for what := range strings.SplitSeq(*clusterFaults, ",") {
			if faults[what] == nil {
				t.Fatalf("-cluster.faults: %q: want some of %v", what, slices.Sorted(maps.Keys(faults)))
			}
			faults[what](what)
		}
	}
	if _, err := h.operator(c.url(0), "drain", "--all", "--wait"); err != nil {
		t.Fatal(err)
	}
	h.wait("the records of all games", func() bool { return len(h.recorded(c.url(0))) >= games.played() })
	c.verify(t)
	for _, a := range arenas {
		a.end(syscall.SIGTERM)
	}
}

// verify reads all logs.
func (c *cluster) verify(t *testing.T) {
	t.Helper()
	js, done := c.h.jetStream(c.url(0))
	defer done()
	var st jetstream.Stream
	c.h.wait("the stream of logs", func() (ok bool) {
		var err error
		st, err = js.Stream(c.h.ctx, "sparring_games")
		return err == nil
	})
	logs := map[protocol.GameID][]protocol.Event{}
	// One by one: a consumer that a cluster has just placed may have no server yet.
	for seq, last := st.CachedInfo().State.FirstSeq, st.CachedInfo().State.LastSeq; seq <= last; seq++ {
		var msg *jetstream.RawStreamMsg
		c.h.wait("an entry of a log", func() (ok bool) {
			var err error
			msg, err = st.GetMsg(c.h.ctx, seq)
			return err == nil || errors.Is(err, jetstream.ErrMsgNotFound)
		})
		if msg == nil {
			continue
		}
		e, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			t.Fatal(refusal)
		}
		logs[e.Game] = append(logs[e.Game], e)
	}
	records := c.h.recorded(c.url(0))
	began, most, reasons := 0, time.Duration(0), map[game.Reason]int{}
	for id, events := range logs {
		if events[0].Kind == protocol.EventEnd {
			continue // a challenge that did not become a game
		}
		began++
		ends := 0
		for i, e := range events {
			if e.Index != uint64(i+1) || i > 0 && (e.Term < events[i-1].Term || len(e.Moves) < len(events[i-1].Moves)) {
				t.Errorf("game %s: entry %d of term %d follows entry %d of term %d", id, e.Index, e.Term, i, events[max(i-1, 0)].Term)
			}
			if e.Kind == protocol.EventEnd {
				ends++
			}
			if e.Receipt != nil {
				most = max(most, time.Duration(e.Receipt.ChargedMS)*time.Millisecond)
			}
		}
		last := events[len(events)-1]
		reasons[last.Outcome.Reason]++
		if ends != 1 || records[id] != 1 || last.Outcome.Reason == protocol.ReasonTime || last.Outcome.Reason == protocol.ReasonAbandoned || last.Outcome.Result == game.Undecided {
			t.Errorf("game %s: %d ends, %d records, %+v after %d plies", id, ends, records[id], last.Outcome, len(last.Moves))
		}
	}
	if len(records) != began {
		t.Errorf("%d records of %d games", len(records), began)
	}
	t.Logf("%d games, ends %v, the most that a move was charged: %v", began, reasons, most)
}
