package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

var (
	loadPeople = flag.Int("load.people", 0, "people in play in TestLoad; 0 skips it")
	loadFor    = flag.Duration("load.for", 30*time.Second, "how long TestLoad measures")
	loadURL    = flag.String("load.url", "", "where the pages of TestLoad connect, for its own second process")
	loadRules  = flag.String("load.rules", "xiangqi/simple,gomoku/freestyle-15,amazons/10x10", "rule sets of the games in TestLoad")
)

// TestLoad measures a move among many people who play each other, a move a second
// in each game, from the mover's socket to the opponent's. The NATS server, the
// arena and the gateway are in this process, the pages' ends of the sockets in
// another. It fails only if moves are lost.
//
//	go test ./arena/web -run TestLoad -load.people 500 -cpuprofile cpu.out
func TestLoad(t *testing.T) {
	switch {
	case *loadURL != "":
		playLoad(t)
		return
	case *loadPeople == 0:
		t.Skip("measures only with -load.people")
	}
	cfg := arena.Defaults()
	cfg.LostAfter = patience // whatever else this machine does
	g := startGateway(t, arenatest.StartServer(t, t.TempDir()), cfg, func(h *hub) { h.log = zerolog.Nop() })
	before := memoryInUse()
	pages := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestLoad$", "-test.v", "-load.url", strings.Replace(g.http.URL, "http", "ws", 1),
		"-load.people", fmt.Sprint(*loadPeople), "-load.for", loadFor.String(), "-load.rules", *loadRules)
	out, err := pages.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	measured, err := pages.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := pages.Start(); err != nil {
		t.Fatal(err)
	}
	var used time.Duration
	var moves int
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		switch line := strings.TrimSpace(lines.Text()); {
		case line == loadBegins:
			used = arenatest.CPUTime(t)
		case strings.HasPrefix(line, loadEnds):
			fmt.Sscan(strings.TrimPrefix(line, loadEnds), &moves)
			t.Logf("%d moves in %v, %.2f ms of processor time a move, %d KB of memory a person", moves, *loadFor,
				float64((arenatest.CPUTime(t)-used).Microseconds())/1000/float64(max(moves, 1)), (memoryInUse()-before)/uint64(*loadPeople)>>10)
			measured.Close()
		default:
			t.Log(line)
		}
	}
	if err := pages.Wait(); err != nil || moves == 0 {
		t.Fatalf("%d moves; the pages: %v", moves, err)
	}
}

// What the process of the pages writes when it begins and ends to measure.
const (
	loadBegins = "load begins"
	loadEnds   = "load ends, moves:"
)

// playLoad is the process of the pages.
func playLoad(t *testing.T) {
	l := &load{t: t, begun: make(chan struct{})}
	for name := range strings.SplitSeq(*loadRules, ",") {
		l.games = append(l.games, randomGame(t, name, 300))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	l.ready.Add(*loadPeople / 2)
	for i := range *loadPeople / 2 {
		all.Go(func() { l.play(ctx, i) })
	}
	l.ready.Wait()
	close(l.begun)
	time.Sleep(2 * time.Second) // until the games are in step
	l.reset()
	fmt.Println(loadBegins)
	time.Sleep(*loadFor)
	l.mu.Lock()
	informed, accepted, lost, received := l.informed, l.accepted, l.lost, l.received
	l.mu.Unlock()
	fmt.Println(loadEnds, len(informed))
	io.Copy(io.Discard, os.Stdin) // the people stay until the other process has measured
	cancel()
	all.Wait()
	if len(informed) == 0 || lost > 0 {
		t.Fatalf("%d moves, %d lost", len(informed), lost)
	}
	t.Logf("until the other is informed: %s; until the mover is answered: %s; %.1f KB a move to the pages, uncompressed",
		arenatest.Quantiles(informed), arenatest.Quantiles(accepted), float64(received)/1024/float64(len(informed)))
}

// load is many games of people.
type load struct {
	t     *testing.T
	games []scriptedGame
	ready sync.WaitGroup
	begun chan struct{}

	mu                 sync.Mutex
	informed, accepted []time.Duration
	received           int
	lost               int
}

func (l *load) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.informed, l.accepted, l.received = nil, nil, 0
}

// scriptedGame is a random game that is played again and again.
type scriptedGame struct {
	rules string
	moves []string
	keys  []string // of the positions after them
}

func randomGame(t *testing.T, rulesName string, most int) (best scriptedGame) {
	t.Helper()
	rules, err := catalog.Rules(rulesName)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		pos, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		g := scriptedGame{rules: rulesName}
		for len(g.moves) < most {
			legal := pos.Legal(nil)
			m := legal[rng.IntN(len(legal))]
			text := pos.Format(m)
			if err := pos.Play(m); err != nil {
				t.Fatal(err)
			}
			if pos.Outcome().Over() {
				break
			}
			g.moves, g.keys = append(g.moves, text), append(g.keys, game.KeyText(pos.Key()))
		}
		if len(g.moves) > len(best.moves) {
			best = g
		}
	}
	return best
}

// play plays games of two people until ctx ends.
func (l *load) play(ctx context.Context, n int) {
	script := l.games[n%len(l.games)]
	var pages [2]*loadPage
	for i := range pages {
		pages[i] = l.open(ctx, human(strings.Map(letters, fmt.Sprintf("p%dx%d", n, i))))
	}
	first := game.First
	link := pages[0].ask(message.Request{T: "invite", Terms: terms(l.t, script.rules, "3600"), Seat: &first})
	id := pages[1].ask(message.Request{T: "join", Token: link.Token}).Game
	for _, p := range pages {
		p.ask(message.Request{T: "open", Game: id})
	}
	l.ready.Done()
	<-l.begun
	for ply, move := range script.moves {
		select {
		case <-ctx.Done():
			return
		case <-time.After(500*time.Millisecond + rand.N(time.Second)):
		}
		mover, other := pages[ply%2], pages[1-ply%2]
		other.expect(script.keys[ply])
		began := time.Now()
		a := mover.ask(message.Request{T: "move", Game: id, Ply: ply, Move: move})
		accepted := time.Since(began)
		at := other.informed(ctx)
		if ctx.Err() != nil {
			return
		}
		l.mu.Lock()
		if a.Code != protocol.Accepted || at.IsZero() {
			l.lost++
			l.t.Errorf("game %d, ply %d: %+v", n, ply, a)
		}
		l.accepted, l.informed = append(l.accepted, accepted), append(l.informed, at.Sub(began))
		l.mu.Unlock()
	}
}

// letters maps digits to letters, since ids of people have few digits.
func letters(r rune) rune {
	if r >= '0' && r <= '9' {
		return 'a' + r - '0'
	}
	return r
}

// loadPage is the page's end of a socket. It decodes only what the test needs.
type loadPage struct {
	l       *load
	ctx     context.Context
	conn    *websocket.Conn
	answers chan message.Answer

	mu   sync.Mutex
	key  []byte // of the position that the page waits for
	seen chan time.Time
}

func (l *load) open(ctx context.Context, id protocol.PlayerID) *loadPage {
	p := &loadPage{l: l, ctx: ctx, answers: make(chan message.Answer, 4), seen: make(chan time.Time, 1)}
	address := *loadURL + "/ws?address=a&player=" + string(id) + "&name=" + string(id)
	var err error
	p.conn, _, err = websocket.Dial(ctx, address, &websocket.DialOptions{CompressionMode: websocket.CompressionNoContextTakeover})
	if err != nil {
		l.t.Error(err)
		return p
	}
	p.conn.SetReadLimit(-1)
	go p.read()
	return p
}

func (p *loadPage) read() {
	defer p.conn.CloseNow()
	for {
		_, data, err := p.conn.Read(p.ctx)
		if err != nil {
			return
		}
		now := time.Now()
		switch {
		case bytes.HasPrefix(data, []byte(`{"t":"answer"`)):
			var a message.Answer
			if err := json.Unmarshal(data, &a); err != nil {
				p.l.t.Error(err)
			}
			p.answers <- a
		case bytes.HasPrefix(data, []byte(`{"t":"state"`)):
			p.mu.Lock()
			if p.key != nil && bytes.Contains(data, p.key) {
				p.key = nil
				p.seen <- now
			}
			p.mu.Unlock()
		}
		p.l.mu.Lock()
		p.l.received += len(data)
		p.l.mu.Unlock()
	}
}

// expect makes the page note when it is told of a position.
func (p *loadPage) expect(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = []byte(`"key":"` + key + `"`)
}

// informed returns when the page was told of the position; zero if never.
func (p *loadPage) informed(ctx context.Context) time.Time {
	select {
	case at := <-p.seen:
		return at
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return time.Time{}
}

func (p *loadPage) ask(r message.Request) message.Answer {
	r.ID = protocol.NewID()
	data, err := json.Marshal(r)
	if err == nil {
		err = p.conn.Write(p.ctx, websocket.MessageText, data)
	}
	for err == nil {
		select {
		case a := <-p.answers:
			if a.ID == r.ID {
				return a
			}
		case <-p.ctx.Done():
			return message.Answer{}
		case <-time.After(patience):
			p.l.t.Errorf("%s: no answer", r.T)
			return message.Answer{}
		}
	}
	if p.ctx.Err() == nil {
		p.l.t.Errorf("%s: %v", r.T, err)
	}
	return message.Answer{}
}

// memoryInUse returns the memory that is in use after a collection, with stacks.
func memoryInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
