package web

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// testLog returns a log that writes to the test's output.
func testLog(t testing.TB) zerolog.Logger {
	level := zerolog.InfoLevel
	if os.Getenv("SPARRING_TEST_DEBUG") != "" {
		level = zerolog.DebugLevel
	}
	return zerolog.New(zerolog.NewTestWriter(t)).Level(level).With().Timestamp().Logger()
}

// startServer runs a NATS server with users for the players.
func startServer(t testing.TB, dir string, players ...protocol.PlayerID) *embedded.Server {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Dir: dir, Log: zerolog.Nop(), Players: players})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// startListening runs a NATS server on a port, so that another can take its place.
func startListening(t testing.TB, dir string, port int) (*embedded.Server, error) {
	t.Helper()
	if port == 0 {
		port = embedded.RandomPort
	}
	srv, err := embedded.Start(embedded.Config{Dir: dir, Port: port, Log: zerolog.Nop(), Players: []protocol.PlayerID{"hare"},
		Passwords: map[string]string{"platform": "p", "hare": "h"}})
	if err == nil {
		t.Cleanup(srv.Close)
	}
	return srv, err
}

func portOf(t testing.TB, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func connect(t testing.TB, c protocol.Connection) *nats.Conn {
	t.Helper()
	c.Log = zerolog.Nop()
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// quick are settings with short waits.
func quick() arena.Config {
	cfg := arena.Defaults()
	cfg.Heartbeat, cfg.LostAfter = 100*time.Millisecond, 2*time.Second
	cfg.LeaseFor = time.Second
	cfg.RetryAfter, cfg.RetryMost = 50*time.Millisecond, 200*time.Millisecond
	cfg.Linger = 2 * time.Second
	return cfg
}

// gateway is a running arena with its gateway. Its sockets are those of whom the
// query of the address names: sessions have tests of their own.
type gateway struct {
	*hub
	server *Server
	t      testing.TB
	nc     *nats.Conn
	http   *httptest.Server
	cancel context.CancelFunc
	ended  sync.WaitGroup
	once   sync.Once
}

// startGateway runs an arena with its gateway until the test ends. Change, if not
// nil, is called before the hub starts.
func startGateway(t testing.TB, srv *embedded.Server, cfg arena.Config, change func(*hub)) *gateway {
	t.Helper()
	g := &gateway{t: t, nc: connect(t, srv.Platform())}
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	a, err := arena.New(ctx, g.nc, cfg, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(ctx, a, Config{}, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	g.hub, g.server = s.hub, s
	if change != nil {
		change(g.hub)
	}
	g.ended.Go(func() {
		if err := a.Run(ctx); err != nil && !g.nc.IsClosed() {
			t.Errorf("arena: %v", err)
		}
	})
	g.ended.Go(func() { s.Run(ctx) })
	g.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" {
			a.Handler().ServeHTTP(w, r)
			return
		}
		q := r.URL.Query()
		g.admit(q.Get("address"))
		g.serveSocket(w, r, visitor{
			person:  person{ID: protocol.PlayerID(q.Get("player")), Name: q.Get("name")},
			address: q.Get("address"), base: "http://" + r.Host,
		})
	}))
	t.Cleanup(g.stop)
	eventually(t, "the arena", func() bool {
		res, err := g.http.Client().Get(g.http.URL + "/healthz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return g
}

func (g *gateway) stop() {
	g.once.Do(func() {
		g.cancel()
		g.ended.Wait()
		g.http.Close()
	})
}

// crash cuts the arena off, like a kill.
func (g *gateway) crash() {
	g.nc.Close()
	g.http.CloseClientConnections()
	g.stop()
}

// socketPage is a page of a person: a socket and what came over it.
type socketPage struct {
	t    testing.TB
	conn *websocket.Conn

	mu       sync.Mutex
	change   chan struct{} // closed and renewed at every message
	answers  map[string]Answer
	states   map[protocol.GameID]State
	count    map[protocol.GameID]int // states received
	notices  []Notice
	lobby    *Lobby
	welcome  *Welcome
	pongs    []Pong
	hints    []Hint
	reviews  []Review
	tried    []Tried
	closed   error
	bytes    int
	latest   time.Time // when the last state came
	onState  func(State)
	finished chan struct{}
}

// openPage opens a socket for a person; "" is a visitor without a session.
func openPage(t testing.TB, g *gateway, player protocol.PlayerID) *socketPage {
	t.Helper()
	p, err := dialPage(t, g, player)
	if err != nil {
		t.Fatal(err)
	}
	p.until("the welcome", func() bool { return p.welcome != nil })
	return p
}

func dialPage(t testing.TB, g *gateway, player protocol.PlayerID) (*socketPage, error) {
	address := strings.Replace(g.http.URL, "http", "ws", 1) + "/ws?address=a&player=" + string(player) + "&name=" + string(player)
	p, _, err := dialAddress(t, address, nil)
	return p, err
}

func dialAddress(t testing.TB, address string, header http.Header) (*socketPage, *http.Response, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{CompressionMode: websocket.CompressionNoContextTakeover, HTTPHeader: header})
	if err != nil {
		return nil, res, err
	}
	conn.SetReadLimit(-1)
	p := &socketPage{
		t: t, conn: conn, change: make(chan struct{}), answers: make(map[string]Answer),
		states: make(map[protocol.GameID]State), count: make(map[protocol.GameID]int), finished: make(chan struct{}),
	}
	go p.read()
	t.Cleanup(p.close)
	return p, res, nil
}

// untilClosed waits until the server has closed the socket with a code.
func (p *socketPage) untilClosed(code websocket.StatusCode) {
	p.t.Helper()
	select {
	case <-p.finished:
	case <-time.After(patience):
		p.t.Fatal("the socket is not closed")
	}
	if got := websocket.CloseStatus(p.closed); got != code {
		p.t.Errorf("closed with %v, want code %d", p.closed, code)
	}
}

func (p *socketPage) close() {
	p.conn.CloseNow()
	<-p.finished
}

func (p *socketPage) read() {
	defer close(p.finished)
	for {
		_, data, err := p.conn.Read(context.Background())
		if err != nil {
			p.mu.Lock()
			p.closed = err
			p.news()
			p.mu.Unlock()
			return
		}
		p.take(data)
	}
}

func decode[T any](p *socketPage, data []byte) (v T) {
	if err := json.Unmarshal(data, &v); err != nil {
		p.t.Errorf("message %.200s: %v", data, err)
	}
	return v
}

func (p *socketPage) take(data []byte) {
	kind := decode[struct{ T string }](p, data).T
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += len(data)
	switch kind {
	case "welcome":
		m := decode[Welcome](p, data)
		p.welcome = &m
	case "answer":
		m := decode[Answer](p, data)
		p.answers[m.ID] = m
	case "state":
		m := decode[State](p, data)
		if m.Seq < p.states[m.Game].Seq {
			break
		}
		p.states[m.Game], p.latest = m, time.Now()
		p.count[m.Game]++
		if p.onState != nil {
			p.onState(m)
		}
	case "notice":
		p.notices = append(p.notices, decode[Notice](p, data))
	case "lobby":
		m := decode[Lobby](p, data)
		p.lobby = &m
	case "pong":
		p.pongs = append(p.pongs, decode[Pong](p, data))
	case "hint":
		p.hints = append(p.hints, decode[Hint](p, data))
	case "review":
		p.reviews = append(p.reviews, decode[Review](p, data))
	case "tried":
		p.tried = append(p.tried, decode[Tried](p, data))
	default:
		p.t.Errorf("unknown message %.200s", data)
	}
	p.news()
}

func (p *socketPage) news() {
	close(p.change)
	p.change = make(chan struct{})
}

// until waits until ok, which is called with p.mu held.
func (p *socketPage) until(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		done, change, closed := ok(), p.change, p.closed
		p.mu.Unlock()
		if done {
			return
		}
		if closed != nil {
			p.t.Fatalf("waiting for %s: %v", what, closed)
		}
		select {
		case <-change:
		case <-deadline:
			p.mu.Lock()
			defer p.mu.Unlock()
			p.t.Fatalf("timed out waiting for %s; notices %+v, answers %+v", what, p.notices, p.answers)
		}
	}
}

// put sends a request without waiting for its answer.
func (p *socketPage) put(r Request) string {
	if r.ID == "" {
		r.ID = protocol.NewID()
	}
	data, err := json.Marshal(r)
	if err != nil {
		p.t.Error(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p.conn.Write(ctx, websocket.MessageText, data) // a closed socket shows in read
	return r.ID
}

// ask sends a request and returns its answer.
func (p *socketPage) ask(r Request) (a Answer) {
	p.t.Helper()
	id := p.put(r)
	p.until("the answer to "+r.T, func() (ok bool) { a, ok = p.answers[id]; return ok })
	return a
}

// want is ask for a request that has to be accepted.
func (p *socketPage) want(r Request) Answer {
	p.t.Helper()
	a := p.ask(r)
	if a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		p.t.Fatalf("%s: %s %s", r.T, a.Code, a.Text)
	}
	return a
}

// refuse is ask for a request that has to be refused.
func (p *socketPage) refuse(r Request, code protocol.Code) {
	p.t.Helper()
	if a := p.ask(r); a.Code != code {
		p.t.Errorf("%+v: %s %s, want %s", r, a.Code, a.Text, code)
	}
}

// state waits for a state of a game.
func (p *socketPage) state(g protocol.GameID, what string, ok func(State) bool) (st State) {
	p.t.Helper()
	p.until(what+" in game "+string(g), func() bool { st = p.states[g]; return st.T != "" && ok(st) })
	return st
}

// notice waits for a notice of a kind.
func (p *socketPage) notice(k protocol.NoticeKind) (n Notice) {
	p.t.Helper()
	p.until("a notice "+string(k), func() bool {
		i := slices.IndexFunc(p.notices, func(n Notice) bool { return n.Kind == k })
		if i >= 0 {
			n = p.notices[i]
		}
		return i >= 0
	})
	return n
}

// move plays a move and waits until the page shows it.
func (p *socketPage) move(g protocol.GameID, ply int, text string) {
	p.t.Helper()
	p.want(Request{T: "move", Game: g, Ply: ply, Move: text})
	p.state(g, "the move "+text, plies(ply+1))
}

func plies(n int) func(State) bool { return func(st State) bool { return len(st.Moves) >= n } }
func finished(st State) bool       { return st.Status == protocol.Finished }

func terms(t testing.TB, rules, spec string) *protocol.Terms {
	t.Helper()
	c, err := clock.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(rules, "/")
	return &protocol.Terms{Game: name, Rules: rules, Clock: c}
}

// human returns the id of a person.
func human(name string) protocol.PlayerID {
	return protocol.PlayerID("human-" + name + strings.Repeat("a", 16-len(name)))
}

// bot is a scripted player that accepts what it is offered and plays legal moves.
type bot struct {
	id     protocol.PlayerID
	client *protocol.Client
	t      testing.TB
	nc     *nats.Conn

	mu     sync.Mutex
	rng    *rand.Rand
	pick   func(st protocol.State, legal []string) string // "" plays nothing
	answer protocol.Taking
	free   int
	games  map[protocol.GameID]*nats.Subscription
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

// joinBot connects a bot and says hello.
func joinBot(t testing.TB, srv *embedded.Server, id protocol.PlayerID, hello protocol.Hello) *bot {
	t.Helper()
	b := &bot{id: id, t: t, nc: connect(t, srv.Player(string(id))), rng: rand.New(rand.NewPCG(1, 2)), answer: protocol.Accept, free: 1000,
		games: make(map[protocol.GameID]*nats.Subscription)}
	b.pick = func(_ protocol.State, legal []string) string { return legal[b.rng.IntN(len(legal))] }
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	if b.client, err = protocol.NewClient(b.nc, subjects, id, protocol.InstanceID(protocol.NewID()), zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	if hello.Games == nil {
		for _, g := range catalog.Games() {
			hello.Games = append(hello.Games, protocol.Capability{Game: g.Name})
		}
	}
	hello.Kind, hello.Slots = protocol.Bot, 1000
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	if _, err := b.client.Offers(protocol.OwnPool(id), b.offered); err != nil {
		t.Fatal(err)
	}
	b.greet(ctx, hello)
	b.wg.Go(func() { b.beat(ctx, hello) })
	t.Cleanup(func() { b.stop(); b.nc.Close(); b.wg.Wait() })
	return b
}

func (b *bot) greet(ctx context.Context, hello protocol.Hello) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ans, err := b.client.Hello(ctx, hello)
	if err != nil && ctx.Err() == nil {
		b.t.Errorf("hello: %v", err)
	}
	for _, g := range ans.Held {
		b.follow(g)
	}
}

func (b *bot) beat(ctx context.Context, hello protocol.Hello) {
	for ctx.Err() == nil {
		b.mu.Lock()
		games, free := []protocol.GameID{}, b.free
		for g := range b.games {
			games = append(games, g)
		}
		b.mu.Unlock()
		try, cancel := context.WithTimeout(ctx, time.Second)
		ans, err := b.client.Alive(try, free, games[:min(len(games), 256)])
		cancel()
		if protocolCode(err) == protocol.UnknownPeer {
			b.greet(ctx, hello)
		}
		for _, g := range ans.Held {
			b.follow(g)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func protocolCode(err error) protocol.Code {
	if e, ok := err.(*protocol.Error); ok {
		return e.Code
	}
	return ""
}

func (b *bot) offered(o protocol.Offer) protocol.OfferAnswer {
	b.mu.Lock()
	answer := b.answer
	b.mu.Unlock()
	if answer == protocol.Accept {
		b.follow(o.Game)
	}
	return protocol.OfferAnswer{Answer: answer, Player: b.id, Reason: protocol.DeclineOpponent, Text: "no"}
}

func (b *bot) follow(g protocol.GameID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.games[g] != nil {
		return
	}
	sub, err := b.client.Game(g, b.state)
	if err == nil {
		b.games[g] = sub
	}
}

// set changes how the bot behaves.
func (b *bot) set(change func(*bot)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

func (b *bot) state(st protocol.State) {
	if st.Status == protocol.Finished {
		b.mu.Lock()
		defer b.mu.Unlock()
		if sub := b.games[st.Game]; sub != nil {
			sub.Unsubscribe()
			delete(b.games, st.Game)
		}
		return
	}
	seat := st.Holders[st.You]
	if st.TakebackBy != nil && *st.TakebackBy != st.You {
		b.wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			b.client.Takeback(ctx, st.Game, seat.Epoch, len(st.Moves), protocol.StepAccept)
		})
		return
	}
	if st.Status != protocol.Playing || st.Turn != st.You || seat.Instance != b.client.Instance() {
		return
	}
	pos, legal := legalMoves(b.t, st.Snapshot)
	b.mu.Lock()
	text := b.pick(st, legal)
	b.mu.Unlock()
	if text == "" {
		return
	}
	if _, err := game.PlayText(pos, text); err != nil {
		b.t.Error(err)
		return
	}
	b.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		b.client.Move(ctx, st.Game, seat.Epoch, len(st.Moves), text, game.KeyText(pos.Key()))
	})
}

// legalMoves sets up a position and lists its moves.
func legalMoves(t testing.TB, s protocol.Snapshot) (game.Position, []string) {
	rules, err := catalog.Rules(s.Terms.Rules)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	pos, err := game.Replay(rules, s.Terms.Position, s.Moves)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	var list []string
	for _, m := range pos.Legal(nil) {
		list = append(list, pos.Format(m))
	}
	return pos, list
}
