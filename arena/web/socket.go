package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// socketLimits bound what sockets may cost.
type socketLimits struct {
	perPerson  int           // sockets of one person
	perAddress int           // sockets from one address: a school may have only one
	message    int64         // bytes of a message from the page
	perSecond  rate.Limit    // messages of a socket; those beyond wait unread
	burst      int           // of perSecond
	openGames  int           // games that a socket follows
	compressed int           // messages to an address that are compressed at a time
	writing    time.Duration // a message that takes longer to send closes the socket
	pinging    time.Duration // between two pings; a page that does not answer one in this time is gone
}

var defaultSocketLimits = socketLimits{
	perPerson: 32, perAddress: 400, message: 64 << 10, perSecond: 30, burst: 60, openGames: 16,
	compressed: compressors / 8, writing: 10 * time.Second, pinging: 10 * time.Second,
}

// Messages of this size and more are compressed. The window is not kept between
// messages: it would cost over 600 KB for each socket.
const compressFrom = 4 << 10

// compressors bounds how many messages are compressed at a time, as each needs
// that much memory until its reader has taken it. Readers that take nothing keep it for
// as long as writing may last, so that an address gets only some of them: the pages of
// the others need theirs.
const compressors = 64

// Close codes that the library does not name.
const (
	statusTooMany      websocket.StatusCode = 4029 // sockets of this person
	statusSessionEnded websocket.StatusCode = 4001 // it was ended elsewhere, or the person erased
)

// visitor is who opens a socket.
type visitor struct {
	person         // the zero value without a session: such a visitor may only watch
	address string // bounds sockets; stands in no log
	base    string // begins the links that the visitor passes on
}

// socketsAgain is when a visitor with too many sockets may try again.
const socketsAgain = 10 * time.Second

// socket lets a page connect, for the person of its session.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	p, err := s.session(r)
	if err != nil && !errors.Is(err, errNobody) {
		s.refuseError(w, r, err)
		return
	}
	v := visitor{person: p, address: s.visitor(r).String(), base: s.baseURL(r)}
	if err := s.hub.admit(v.address); err != nil {
		s.refuseError(w, r, err)
		return
	}
	s.hub.serveSocket(w, r, v)
}

// tab is a page's socket.
type tab struct {
	visitor
	hub    *hub
	conn   *websocket.Conn
	here   *participant // nil without a session
	out    *outbox
	ctx    context.Context
	stop   context.CancelFunc
	pinger *time.Timer
	trip   atomic.Int64 // what the last ping took there and back, as a time.Duration
	waits  atomic.Bool  // for a game of the ladder
	heard  atomic.Int64 // when the page said something last, in nanoseconds since 1970
	turns  []byte       // the latest Turns that was sent; of tellTurns
	begun  []string     // ids of the latest requests that took effect at once; of read

	inFlight    atomic.Int32  // requests that beside serves
	compressing chan struct{} // of its address

	mu    sync.Mutex
	games map[protocol.GameID]*table
}

// serveSocket begins to serve a socket of an address that was admitted. It returns
// at once: what the request needed is free then.
func (h *hub) serveSocket(w http.ResponseWriter, r *http.Request, v visitor) {
	var origins []string
	if u, err := url.Parse(v.base); err == nil && u.Host != "" {
		origins = append(origins, u.Host)
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		OriginPatterns: origins, CompressionMode: websocket.CompressionNoContextTakeover, CompressionThreshold: compressFrom,
	})
	if err != nil {
		h.log.Debug().Err(err).Msg("socket refused")
		h.release(v.address)
		return
	}
	conn.SetReadLimit(h.limits.message)
	t := &tab{visitor: v, hub: h, conn: conn, out: newOutbox(), games: make(map[protocol.GameID]*table)}
	h.mu.Lock()
	t.compressing = h.addresses[v.address].compressing
	h.mu.Unlock()
	t.ctx, t.stop = context.WithCancel(h.life)
	if !h.spawn(func(context.Context) { t.serve() }) {
		t.stop()
		conn.CloseNow()
		h.release(v.address)
	}
}

// serve serves the socket until it closes.
func (t *tab) serve() {
	h := t.hub
	defer h.release(t.address)
	defer t.conn.CloseNow()
	h.connect(t)
	defer h.disconnect(t)
	if t.ID != "" {
		if t.here = h.attach(t); t.here == nil {
			t.conn.Close(statusTooMany, "too many tabs")
			return
		}
		defer t.here.detach(t)
		// The session may have ended before there was a socket to close.
		if a, err := h.people.get(t.ctx, t.ID); t.session != "" && (errors.Is(err, errNobody) || err == nil && a.session(t.session, time.Now()) == nil) {
			t.conn.Close(statusSessionEnded, "the session has ended")
			return
		}
	}
	defer t.leave()
	t.pinger = time.AfterFunc(h.limits.pinging/10, func() { h.spawn(t.ping) })
	defer t.pinger.Stop()
	t.send("", message.Welcome{T: "welcome", Player: t.ID, Name: t.displayName(), ServerTime: time.Now().UTC(), Version: h.version()})
	h.lobbies.refresh(t.ID)
	t.read()
}

func (t *tab) displayName() string {
	if t.here == nil {
		return ""
	}
	return t.here.displayName()
}

// leave ends what the socket follows, and its writer.
func (t *tab) leave() {
	t.stop()
	t.out.close()
	t.hub.unfollowLobby(t)
	t.hub.analyses.leave(t)
	t.mu.Lock()
	games := t.games
	t.games = nil
	t.mu.Unlock()
	for _, g := range games {
		g.remove(t)
	}
}

// read serves the page's requests until the socket closes.
func (t *tab) read() {
	pace := rate.NewLimiter(t.hub.limits.perSecond, t.hub.limits.burst)
	for pace.Wait(t.ctx) == nil {
		_, data, err := t.conn.Read(t.ctx)
		if err != nil {
			if t.hub.life.Err() != nil {
				t.conn.Close(websocket.StatusGoingAway, "the server stops")
			}
			return
		}
		t.heard.Store(time.Now().UnixNano())
		t.hub.serve(t, data)
	}
}

// write sends what waits in the outbox.
func (t *tab) write(context.Context) {
	for data := t.out.take(); data != nil; data = t.out.take() {
		if !t.sendNow(data) {
			t.out.close()
			t.conn.CloseNow()
			return
		}
	}
}

// sendNow writes one message; false means that the socket is closed.
func (t *tab) sendNow(data []byte) bool {
	ctx, cancel := context.WithTimeout(t.ctx, t.hub.limits.writing)
	defer cancel()
	if len(data) >= compressFrom {
		for _, slots := range []chan struct{}{t.compressing, t.hub.compressing} {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return false
			}
		}
	}
	if err := t.conn.Write(ctx, websocket.MessageText, data); err != nil {
		// The library closes the connection when the time is up, so that the reader may
		// have ended the socket by now: what counts is which of the two came first.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.hub.metrics.slowReaders.Inc()
			t.hub.log.Info().Str("player", string(t.ID)).Msg("socket dropped: its page reads too slowly")
		}
		return false
	}
	return true
}

// ping measures the way to the browser and back, and closes the socket if it does not
// answer.
func (t *tab) ping(context.Context) {
	ctx, cancel := context.WithTimeout(t.ctx, t.hub.limits.pinging)
	defer cancel()
	began := time.Now()
	if t.conn.Ping(ctx) != nil {
		t.stop() // the library leaves the socket open, and its reader would wait for long
		return
	}
	t.trip.Store(int64(time.Since(began)))
	t.pinger.Reset(t.hub.limits.pinging)
}

// lag returns how much of the lag that the page claims this process has seen itself.
func (t *tab) lag(claimed time.Duration) time.Duration {
	return min(claimed, time.Duration(t.trip.Load()))
}

// send puts a message into the outbox. Of messages with the same key only the
// latest is sent, unless the key is "".
func (t *tab) send(key string, message any) {
	data, err := json.Marshal(message)
	if err != nil {
		t.hub.log.Error().Err(err).Type("of", message).Msg("message not made")
		return
	}
	t.put(key, data)
}

// put is send for an encoded message.
func (t *tab) put(key string, data []byte) {
	fits, start := t.out.put(key, data)
	if start {
		t.hub.spawn(t.write)
	}
	if !fits {
		t.hub.metrics.slowReaders.Inc()
		t.hub.log.Info().Str("player", string(t.ID)).Msg("socket dropped: too much waits for its page")
		t.out.close()
		t.stop()
	}
}

// again reports whether the socket has brought a request before. The answer to the first is
// under way then, since a socket loses nothing; and to take effect again would undo what
// the page has asked for in between, as when it closes a game and opens it once more.
func (t *tab) again(r message.Request) bool {
	if r.T == "ping" {
		return false // they come every second, each with an id of its own
	}
	if slices.Contains(t.begun, r.ID) {
		return true
	}
	t.begun = append(t.begun, r.ID)
	t.begun = slices.Clone(t.begun[max(0, len(t.begun)-rememberedAnswers):])
	return false
}

// beside answers a request in a goroutine. If too many of the tab wait already, it
// refuses the request and returns false.
func (t *tab) beside(id string, serve func(context.Context) message.Answer) bool {
	if t.inFlight.Add(1) > requestsAtOnce {
		t.inFlight.Add(-1)
		t.answer(id, tooManyAtOnce)
		return false
	}
	t.hub.beside(func(ctx context.Context) {
		defer t.inFlight.Add(-1)
		t.answer(id, serve(ctx))
	})
	return true
}

// answer sends the answer to a request.
func (t *tab) answer(id string, a message.Answer) {
	a.T, a.ID = "answer", id
	if a.Code == "" {
		a.Code = protocol.Accepted
	}
	if a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		t.hub.metrics.refused.WithLabelValues(string(a.Code)).Inc()
	}
	t.send("", a)
}
