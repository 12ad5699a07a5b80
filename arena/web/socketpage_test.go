package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sparring/arena/web/message"
	"sparring/game/clock"
	"sparring/protocol"
)

// socketPage is a page of a person: a socket and what came over it.
type socketPage struct {
	t    testing.TB
	conn *websocket.Conn

	mu       sync.Mutex
	change   chan struct{} // closed and renewed at every message
	answers  map[string]message.Answer
	states   map[protocol.GameID]message.State
	count    map[protocol.GameID]int // states received
	notices  []message.Notice
	lobby    *message.Lobby
	turns    message.Turns
	welcome  *message.Welcome
	pongs    []message.Pong
	hints    []message.Hint
	reviews  []message.Review
	tried    []message.Tried
	closed   error
	bytes    int
	frozen   bool // it does not answer calls
	calls    int
	latest   time.Time // when the last state came
	onState  func(message.State)
	finished chan struct{}
}

// openPage opens a socket for a person; "" is a visitor without a session.
func openPage(t testing.TB, g *gateway, player protocol.PlayerID) *socketPage {
	t.Helper()
	return pageFrom(t, g, "a", player)
}

// pageFrom is openPage from an address.
func pageFrom(t testing.TB, g *gateway, address string, player protocol.PlayerID) *socketPage {
	t.Helper()
	p := dialPage(t, g, "address="+address+"&player="+string(player)+"&name="+string(player))
	p.until("the welcome", func() bool { return p.welcome != nil })
	return p
}

// dialPage opens a socket, which the server may close at once.
func dialPage(t testing.TB, g *gateway, query string) *socketPage {
	t.Helper()
	p, _, err := dialAddress(t, strings.Replace(g.http.URL, "http", "ws", 1)+"/ws?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
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
		t: t, conn: conn, change: make(chan struct{}), answers: make(map[string]message.Answer),
		states: make(map[protocol.GameID]message.State), count: make(map[protocol.GameID]int), finished: make(chan struct{}),
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
		m := decode[message.Welcome](p, data)
		p.welcome = &m
	case "answer":
		m := decode[message.Answer](p, data)
		p.answers[m.ID] = m
	case "state":
		m := decode[message.State](p, data)
		if m.Seq < p.states[m.Game].Seq {
			break
		}
		p.states[m.Game], p.latest = m, time.Now()
		p.count[m.Game]++
		if p.onState != nil {
			p.onState(m)
		}
	case "notice":
		p.notices = append(p.notices, decode[message.Notice](p, data))
	case "lobby":
		m := decode[message.Lobby](p, data)
		p.lobby = &m
	case "turns":
		p.turns = decode[message.Turns](p, data)
	case "call":
		if p.calls++; !p.frozen {
			go p.put(message.Request{T: "ping"})
		}
	case "pong":
		p.pongs = append(p.pongs, decode[message.Pong](p, data))
	case "hint":
		p.hints = append(p.hints, decode[message.Hint](p, data))
	case "review":
		p.reviews = append(p.reviews, decode[message.Review](p, data))
	case "tried":
		p.tried = append(p.tried, decode[message.Tried](p, data))
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
func (p *socketPage) put(r message.Request) string {
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
func (p *socketPage) ask(r message.Request) (a message.Answer) {
	p.t.Helper()
	id := p.put(r)
	p.until("the answer to "+r.T, func() (ok bool) { a, ok = p.answers[id]; return ok })
	return a
}

// want is ask for a request that has to be accepted.
func (p *socketPage) want(r message.Request) message.Answer {
	p.t.Helper()
	a := p.ask(r)
	if a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		p.t.Fatalf("%s: %s %s", r.T, a.Code, a.Text)
	}
	return a
}

// refuse is ask for a request that has to be refused.
func (p *socketPage) refuse(r message.Request, code protocol.Code) {
	p.t.Helper()
	if a := p.ask(r); a.Code != code {
		p.t.Errorf("%+v: %s %s, want %s", r, a.Code, a.Text, code)
	}
}

// state waits for a state of a game.
func (p *socketPage) state(g protocol.GameID, what string, ok func(message.State) bool) (st message.State) {
	p.t.Helper()
	p.until(what+" in game "+string(g), func() bool { st = p.states[g]; return st.T != "" && ok(st) })
	return st
}

// notice waits for a notice of a kind.
func (p *socketPage) notice(k protocol.NoticeKind) (n message.Notice) {
	p.t.Helper()
	p.until("a notice "+string(k), func() bool {
		i := slices.IndexFunc(p.notices, func(n message.Notice) bool { return n.Kind == k })
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
	p.want(message.Request{T: "move", Game: g, Ply: ply, Move: text})
	p.state(g, "the move "+text, plies(ply+1))
}

func plies(n int) func(message.State) bool {
	return func(st message.State) bool { return len(st.Moves) >= n }
}
func finished(st message.State) bool { return st.Status == protocol.Finished }

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
