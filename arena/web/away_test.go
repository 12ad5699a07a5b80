package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/glicko"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// startGame begins a game of a page against a bot, with seat first, and opens it.
func startGame(t testing.TB, p *socketPage, opponent protocol.PlayerID, terms *protocol.Terms) protocol.GameID {
	t.Helper()
	first := game.First
	g := p.want(message.Request{T: "play", Opponent: opponent, Terms: terms, Seat: &first}).Game
	p.want(message.Request{T: "open", Game: g})
	p.state(g, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	return g
}

func TestEightTabs(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	tabs := []*socketPage{openPage(t, gw, human("ann"))}
	g := startGame(t, tabs[0], "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	for range 9 {
		p := openPage(t, gw, human("ann"))
		p.want(message.Request{T: "open", Game: g})
		tabs = append(tabs, p)
	}
	for i, p := range tabs { // a move from each of them
		p.state(g, "its turn", plies(2*i))
		_, legal := legalMoves(t, p.state(g, "its turn", plies(2*i)).Snapshot)
		move := legal[(37*i+5)%len(legal)]
		p.move(g, 2*i, move)
		for _, other := range tabs {
			if st := other.state(g, "the move", plies(2*i+1)); st.Moves[2*i] != move || *st.You != game.First {
				t.Errorf("tab: %+v", st)
			}
		}
	}
}

// TestOfflineInMidMove sends a move, loses the socket before the answer, and sends the
// same request again on another one.
func TestOfflineInMidMove(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	cfg := quick()
	cfg.LostAfter = 300 * time.Millisecond
	gw := startGateway(t, srv, cfg, func(h *hub) { h.grace = 100 * time.Millisecond })
	hare := joinBot(t, srv, "hare", protocol.Hello{})
	hare.set(func(b *bot) { b.pick = func(protocol.State, []string) string { return "" } })
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	move := message.Request{T: "move", Game: g, Ply: 0, Move: "h8", ID: "m1"}
	ann.put(move)
	ann.close()

	watcher := openPage(t, gw, "")
	watcher.want(message.Request{T: "open", Game: g})
	watcher.state(g, "the person away", func(st message.State) bool { return st.Away[game.First] != nil && st.ForfeitMS > 0 })

	again := openPage(t, gw, human("ann"))
	again.put(move) // before anything else, as a page does
	again.put(move)
	again.want(message.Request{T: "open", Game: g})
	again.until("the answer", func() bool { _, ok := again.answers["m1"]; return ok })
	if a := again.answers["m1"]; a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		t.Errorf("repeated move: %+v", a)
	}
	st := again.state(g, "the move", plies(1))
	if len(st.Moves) != 1 {
		t.Errorf("moves %v", st.Moves)
	}
	watcher.state(g, "the person back", func(st message.State) bool { return st.Away[game.First] == nil })
	if a := again.ask(message.Request{T: "move", Game: g, Ply: 0, Move: "h8", ID: "m2"}); a.Code != protocol.Duplicate {
		t.Errorf("the same move with another id: %+v", a)
	}
}

// TestNobodyIsAwayInCorrespondence closes the only tab: the game waits.
func TestNobodyIsAwayInCorrespondence(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	cfg := quick()
	cfg.LostAfter = 300 * time.Millisecond
	cfg.Policy.AbandonAfter, cfg.Policy.FirstMove = 300*time.Millisecond, 300*time.Millisecond
	gw := startGateway(t, srv, cfg, func(h *hub) { h.grace = 50 * time.Millisecond })
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "86400/move"))
	ann.move(g, 0, "h8")
	ann.close()
	gametest.Eventually(t, "the person not announced", func() bool {
		for _, in := range gw.arena.Instances() {
			if in.Player == human("ann") {
				return false
			}
		}
		return true
	})
	time.Sleep(2 * cfg.Policy.AbandonAfter) // nothing may happen meanwhile
	again := openPage(t, gw, human("ann"))
	again.want(message.Request{T: "lobby", On: true})
	again.until("the game in the lobby", func() bool { return again.lobby != nil && len(again.lobby.Mine) == 1 && again.lobby.Mine[0].MyTurn })
	again.want(message.Request{T: "open", Game: g})
	st := again.state(g, "the game", plies(2))
	if st.Status != protocol.Playing || st.Away[0] != nil {
		t.Errorf("after a pause: %s, away %v", st.Status, st.Away)
	}
	again.want(message.Request{T: "move", Game: g, Ply: 2, Move: "a15"})
}

// TestTwoGateways plays with a tab on each of two gateways, of which one dies.
func TestTwoGateways(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	cfg := quick()
	cfg.LostAfter = patience
	one, two := startGateway(t, srv, cfg, nil), startGateway(t, srv, cfg, nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	gametest.Eventually(t, "the bot on both", func() bool { return len(one.arena.Instances()) == 1 && len(two.arena.Instances()) == 1 })
	first, second := openPage(t, one, human("ann")), openPage(t, two, human("ann"))
	g := startGame(t, first, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	second.want(message.Request{T: "open", Game: g})
	second.state(g, "the game", func(st message.State) bool { return st.You != nil })
	for ply := 0; ply < 8; ply += 2 {
		p, other := first, second
		if ply%4 != 0 {
			p, other = second, first
		}
		p.state(g, "its turn", plies(ply))
		p.move(g, ply, []string{"h1", "h4", "h7", "h10"}[ply/2])
		other.state(g, "the move", plies(ply+1))
	}
	epoch := second.state(g, "its turn", plies(8)).Holders[game.First].Epoch
	one.crash()
	second.move(g, 8, "h13")
	st := second.state(g, "the answer", plies(10))
	if h := st.Holders[game.First]; h.Instance == "" || h.Epoch != epoch {
		t.Errorf("after one gateway died: holder %+v, epoch before %d", h, epoch)
	}
	// Friends on different gateways.
	ben := openPage(t, two, human("ben"))
	three := startGateway(t, srv, cfg, nil)
	cat := openPage(t, three, human("cat"))
	g = befriend(t, ben, cat, terms(t, "gomoku/freestyle-15", "300+2"))
	playOn(t, g, [2]*socketPage{ben, cat}, script("h8", "a1", "h9", "a2"))
	ben.want(message.Request{T: "resign", Game: g})
	cat.state(g, "the end", finished)
	cat.want(message.Request{T: "rematch", Game: g})
	ben.state(g, "the offer", func(st message.State) bool { return st.RematchBy != nil })
	next := ben.want(message.Request{T: "rematch", Game: g, Step: protocol.StepAccept}).Game
	cat.state(g, "the next game", func(st message.State) bool { return st.Next == next })
}

// TestNATSRestarts stops the NATS server under a running game.
func TestNATSRestarts(t *testing.T) {
	t.Parallel()
	dir, port := t.TempDir(), gametest.FreePort(t)
	srv := startListening(t, dir, port)
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	ann.move(g, 0, "h8")
	ann.state(g, "the answer", plies(2))
	srv.Close()
	id := ann.put(message.Request{T: "move", Game: g, Ply: 2, Move: "h9", ID: "offline"})
	startListening(t, dir, port)
	ann.until("an answer", func() bool { return ann.answers[id].T != "" })
	if a := ann.answers[id]; a.Code == protocol.Unavailable { // it took too long: the page sends it again
		gametest.Eventually(t, "the platform", func() bool {
			ann.mu.Lock()
			delete(ann.answers, id)
			ann.mu.Unlock()
			a := ann.ask(message.Request{T: "move", Game: g, Ply: 2, Move: "h9", ID: "offline"})
			return a.Code == protocol.Accepted || a.Code == protocol.Duplicate
		})
	} else if a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		t.Errorf("move: %+v", a)
	}
	st := ann.state(g, "the answer", plies(4))
	if st.Moves[2] != "h9" {
		t.Errorf("moves %v", st.Moves)
	}
}

// TestFlood has one person send as much as it can: the others play on, and the
// flood is refused.
func TestFlood(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	ctx, stop := context.WithCancel(context.Background())
	var floods sync.WaitGroup
	defer func() { stop(); floods.Wait() }()
	var bad []*socketPage
	kinds := []string{"resign", "play", "chat", "invite", "join", "withdraw", "name", "rematch"}
	for n := range 4 {
		p := openPage(t, gw, human("bad"))
		bad = append(bad, p)
		floods.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				kind := kinds[i%len(kinds)]
				r := fmt.Sprintf(`{"t":"%s","id":"%[1]s-%d-%d","game":"%s","text":"hi","terms":{"game":"gomoku","rules":"gomoku/freestyle-15","clock":"60"},"opponent":"hare"}`,
					kind, n, i, g)
				if p.conn.Write(ctx, websocket.MessageText, []byte(r)) != nil {
					return
				}
			}
		})
	}
	for ply := 0; ply < 8; ply += 2 {
		_, legal := legalMoves(t, ann.state(g, "its turn", plies(ply)).Snapshot)
		ann.move(g, ply, legal[(37*ply+5)%len(legal)])
	}
	for _, kind := range kinds {
		tooMany := func(p *socketPage) bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			for id, a := range p.answers {
				if strings.HasPrefix(id, kind+"-") && a.Code == protocol.RateLimited && strings.HasSuffix(a.Text, "in a short time") {
					return true
				}
			}
			return false
		}
		gametest.Eventually(t, "the limit of "+kind, func() bool { return slices.ContainsFunc(bad, tooMany) })
	}
}

// TestSlowReader has a page that does not read: it is dropped, be it for a message that
// takes too long or for all that waits, and the others get their states.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	t.Run("long", func(t *testing.T) { readSlowly(t, 500*time.Millisecond, 1, "its page reads too slowly") })
	t.Run("much", func(t *testing.T) { readSlowly(t, time.Hour, 10, "too much waits for its page") })
}

// readSlowly sends a page so many long messages, for which it is dropped for a reason that
// the log has.
func readSlowly(t *testing.T, writing time.Duration, messages int, reason string) {
	var log gametest.Output
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), func(h *hub) {
		h.log = zerolog.New(&log)
		h.limits.writing, h.limits.pinging = writing, time.Hour
	})
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "amazons/10x10", "300+2"))
	openNarrow(t, gw)("b")
	gametest.Eventually(t, "the slow socket", func() bool { return gw.sockets() == 2 })
	slow := gw.from("b")[0]
	for range messages {
		slow.send("", longNotice())
	}
	gametest.Eventually(t, "the slow socket dropped", func() bool { return gw.sockets() == 1 })
	gametest.Eventually(t, "the log's word that "+reason, func() bool { return strings.Contains(log.String(), reason) })
	_, legal := legalMoves(t, ann.state(g, "its turn", plies(0)).Snapshot)
	ann.move(g, 0, legal[0])
}

// from returns the tabs of an address.
func (h *hub) from(address string) (all []*tab) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for x := range h.tabs {
		if x.address == address {
			all = append(all, x)
		}
	}
	return all
}

// longNotice is half of what may wait for a page, and stays so when it is compressed.
func longNotice() message.Notice {
	data := make([]byte, outboxBytes/2)
	for i := range data {
		data[i] = "0123456789abcdef"[rand.IntN(16)]
	}
	return message.Notice{T: "notice", Notice: protocol.Notice{Text: string(data)}}
}

// openNarrow returns a function that opens a socket from an address, which nobody reads.
// Its buffers are small, and soon full.
func openNarrow(t *testing.T, gw *gateway) func(address string) *websocket.Conn {
	tight := httptest.NewUnstartedServer(gw.http.Config.Handler)
	tight.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	tight.Start()
	t.Cleanup(tight.Close)
	narrow := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	return func(address string) *websocket.Conn {
		t.Helper()
		url := strings.Replace(tight.URL, "http", "ws", 1) + "/ws?address=" + address
		conn, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{HTTPClient: &http.Client{Transport: narrow}, CompressionMode: websocket.CompressionNoContextTakeover})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.CloseNow() })
		return conn
	}
}

// TestNobodyReads: sockets of one address that take nothing hold back no messages to the
// pages of others, however many they are.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) {
		h.limits.writing, h.limits.pinging, h.limits.compressed = time.Hour, time.Hour, 2
		h.compressing = make(chan struct{}, 4)
	})
	ann, open := openPage(t, gw, human("ann")), openNarrow(t, gw)
	for range 6 {
		open("b")
	}
	gametest.Eventually(t, "the sockets", func() bool { return gw.sockets() == 7 })
	silent, reading := gw.from("b"), gw.from("a")
	for _, to := range [][]*tab{silent, reading} {
		for _, x := range to {
			x.send("", longNotice())
		}
		gametest.Eventually(t, "the messages begun", func() bool {
			return !slices.ContainsFunc(to, func(x *tab) bool { x.out.mu.Lock(); defer x.out.mu.Unlock(); return len(x.out.queue) > 0 })
		})
	}
	ann.until("the message", func() bool { return len(ann.notices) == 1 })
}

// TestSilentPage has a browser that no longer answers pings, as one that lost its
// network: its socket is given up.
func TestSilentPage(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.limits.pinging = 200 * time.Millisecond })
	address := strings.Replace(gw.http.URL, "http", "ws", 1) + "/ws?address=a"
	silent, _, err := websocket.Dial(t.Context(), address, nil) // answers pings only while it reads
	if err != nil {
		t.Fatal(err)
	}
	defer silent.CloseNow()
	gametest.Eventually(t, "the socket", func() bool { return gw.sockets() == 1 })
	gametest.Eventually(t, "the socket given up", func() bool { return gw.sockets() == 0 })
}

func (h *hub) sockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tabs)
}

// TestRefusals has requests that the server refuses whatever the page shows.
func TestRefusals(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare", "fox")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.challengePace = 1000; h.limits.perPerson, h.limits.openGames = 3, 2 })
	joinBot(t, srv, "hare", protocol.Hello{})
	only := false
	joinBot(t, srv, "fox", protocol.Hello{Takes: &protocol.Takes{Kinds: []protocol.Kind{protocol.Bot}, Rated: &only}})
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	casual := terms(t, "gomoku/freestyle-15", "300+2")
	g := startGame(t, ann, "hare", casual)
	for _, r := range []message.Request{
		{T: "move", Game: g, Ply: 0, Move: "h8"}, {T: "resign", Game: g}, {T: "draw", Game: g, Step: protocol.StepOffer},
		{T: "takeback", Game: g, Step: protocol.StepOffer}, {T: "chat", Game: g, Text: "hi"}, {T: "rematch", Game: g},
	} {
		ben.refuse(r, protocol.Denied)
	}
	ben.refuse(message.Request{T: "move", Game: "nothing", Ply: 0, Move: "h8"}, protocol.NoGame)
	ben.refuse(message.Request{T: "play", Opponent: "fox", Terms: casual}, protocol.NotOffered)
	ben.refuse(message.Request{T: "play", Opponent: human("ann"), Terms: casual}, protocol.NotOffered)
	ben.refuse(message.Request{T: "play", Opponent: "nobody", Terms: casual}, protocol.NotOffered)
	ben.refuse(message.Request{T: "play", Terms: casual}, protocol.Malformed)
	ben.refuse(message.Request{T: "dance"}, protocol.UnknownVerb)
	ben.refuse(message.Request{T: "open", Game: "a.b"}, protocol.Malformed)
	ben.refuse(message.Request{T: "open", Game: "sparring.>"}, protocol.Malformed)
	ben.refuse(message.Request{T: "withdraw", Game: g}, protocol.NotOffered)
	ann.refuse(message.Request{T: "chat", Game: g, Text: "hello"}, protocol.Denied) // a bot does not read
	ben.want(message.Request{T: "lobby", On: true})
	ben.until("the opponents", func() bool { return ben.lobby != nil && len(ben.lobby.Opponents) == 3 })
	for _, o := range ben.lobby.Opponents {
		if o.Player != "hare" {
			t.Errorf("offered: %+v", o)
		}
	}
	g = befriend(t, ann, ben, casual)
	for text, code := range map[string]protocol.Code{
		"good luck": protocol.Accepted, "": protocol.Malformed, strings.Repeat("x", 501): protocol.Malformed,
		strings.Repeat("長", 10_000): protocol.Malformed, "\u202egnp.exe": protocol.Malformed, "a\x07b": protocol.Malformed,
		"a\u0301\u0301\u0301": protocol.Malformed, "\u2800": protocol.Malformed,
	} {
		a := ann.ask(message.Request{T: "chat", Game: g, Text: text})
		if a.Code != code && !(a.Code == protocol.Duplicate && code == protocol.Accepted) || (a.Reason == reasonUnreadable) != (code == protocol.Malformed) {
			t.Errorf("chat of %d bytes: %s %s, want %s", len(text), a.Code, a.Text, code)
		}
	}
	if n := ben.notice(protocol.NoticeChat); n.Text != "good luck" || n.From != human("ann") {
		t.Errorf("chat %+v", n)
	}
	if n := ann.notice(protocol.NoticeChat); n.Text != "good luck" || n.From != human("ann") {
		t.Errorf("own chat %+v", n)
	}

	ann.refuse(message.Request{T: "open", Game: "third"}, protocol.RateLimited)

	// What is no request at all does not close the socket; what is too long does.
	for _, text := range []string{"", "{", "[]", `{"t":1}`, `{"t":"ping","id":"A B"}`, `{"t":"open","id":"x","game":{}}`} {
		ben.conn.Write(t.Context(), websocket.MessageText, []byte(text))
	}
	ben.put(message.Request{T: "ping", N: 1})
	ben.until("a pong", func() bool { return len(ben.pongs) == 1 })
	more := []*socketPage{openPage(t, gw, human("ben")), openPage(t, gw, human("ben"))}
	dialPage(t, gw, "address=a&player="+string(human("ben"))).untilClosed(statusTooMany)
	// The session ended while the socket was opened.
	dialPage(t, gw, "address=a&session=ended&player="+string(human("cat"))).untilClosed(statusSessionEnded)
	more[0].conn.Write(t.Context(), websocket.MessageText, []byte(strings.Repeat("x", 100_000)))
	more[0].untilClosed(websocket.StatusMessageTooBig)
}

// TestBusyBots waits for a bot that has no free slot, and withdraws.
func TestBusyBots(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	hare := joinBot(t, srv, "hare", protocol.Hello{})
	hare.set(func(b *bot) { b.answer, b.free = protocol.Busy, 0 })
	ann := openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "lobby", On: true})
	ann.until("the bot busy", func() bool {
		return ann.lobby != nil && len(ann.lobby.Opponents) == 3 && ann.lobby.Opponents[0].Busy
	})
	r := message.Request{T: "play", Opponent: "hare", Terms: terms(t, "gomoku/freestyle-15", "300+2"), ID: "play"}
	a := ann.want(r)
	ann.until("the challenge in the lobby", func() bool { return len(ann.lobby.Waiting) == 1 && ann.lobby.Waiting[0].Game == a.Game })
	ann.notice(protocol.NoticeWaiting)
	ann.want(message.Request{T: "open", Game: a.Game})
	again := openPage(t, gw, human("ann")) // the same request, on another socket
	if b := again.ask(r); b.Code != a.Code || b.Game != a.Game {
		t.Errorf("repeated: %+v, first %+v", b, a)
	}
	ann.want(message.Request{T: "withdraw", Game: a.Game})
	ann.until("the lobby without it", func() bool { return len(ann.lobby.Waiting) == 0 })
	st := ann.state(a.Game, "the end of the challenge", finished)
	if st.Outcome.Reason != protocol.ReasonWithdrawn {
		t.Errorf("outcome %+v", st.Outcome)
	}
	ann.mu.Lock()
	ann.lobby = nil
	ann.mu.Unlock()
	hare.set(func(b *bot) { b.answer, b.free = protocol.Accept, 5 })
	ann.until("the bot free", func() bool { return ann.lobby != nil && !ann.lobby.Opponents[0].Busy })
}

// register stores an account of somebody, with the session of its pages.
func register(t testing.TB, gw *gateway, id protocol.PlayerID) {
	t.Helper()
	a := account{V: 1, Name: string(id), Sessions: []session{{Seen: time.Now()}}}
	if err := gw.people.write(t.Context(), id, a, 0); err != nil {
		t.Fatal(err)
	}
}

// TestResults wins, and reads the results in the lobby of the next gateway.
func TestResults(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), func(h *hub) { h.ratings = map[protocol.PlayerID]glicko.Rating{"hare": {Rating: 812}} })
	elo := 1200.0 // anybody may say so
	joinBot(t, srv, "hare", protocol.Hello{Display: "Hare", Games: []protocol.Capability{{
		Game: "gomoku", Engine: &protocol.Engine{Name: "x", Level: 4, Elo: &elo, EloError: 30}}}})
	register(t, gw, human("ann"))
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	ann.move(g, 0, "h8")
	ann.state(g, "the answer", plies(2))
	ann.want(message.Request{T: "resign", Game: g})
	ann.want(message.Request{T: "lobby", On: true})
	lost := func(p *socketPage) func() bool {
		return func() bool {
			return p.lobby != nil && len(p.lobby.Results) == 1 && p.lobby.Results[0] == message.PastResult{Game: "gomoku", Opponent: "hare", Level: 4, Result: "lost"}
		}
	}
	ann.until("the result", lost(ann))
	if o := ann.lobby.Opponents[0]; o.Level != 4 || o.Rating != 812 || o.Display != "Hare" {
		t.Errorf("opponent %+v", o)
	}
	gw.stop()
	next := startGateway(t, srv, quick(), nil)
	again := openPage(t, next, human("ann"))
	again.want(message.Request{T: "lobby", On: true})
	again.until("the result", lost(again))
}

// TestErasedWhilePlaying: nothing is stored of somebody whose game ends after the person
// was erased.
func TestErasedWhilePlaying(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	key := "results." + string(human("ann"))
	stored := func() int {
		t.Helper()
		r, _, err := readEntry[results](t.Context(), gw.agreements, key)
		if err != nil {
			t.Fatal(err)
		}
		return len(r.List)
	}
	register(t, gw, human("ann"))
	ann := openPage(t, gw, human("ann"))
	var ends []protocol.Event
	for range 2 {
		g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
		ann.move(g, 0, "h8")
		ann.state(g, "the answer", plies(2))
		ann.want(message.Request{T: "resign", Game: g})
		ann.state(g, "the end", finished)
		e, _, err := gw.arena.Game(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, e)
	}
	gametest.Eventually(t, "both results", func() bool { return stored() == 2 })
	if err := gw.people.erase(t.Context(), human("ann")); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "no results", func() bool { return stored() == 0 })
	p := gw.participant(human("ann"), "ann")
	for _, e := range ends { // as if the games ended now
		p.noteResult(t.Context(), e)
	}
	if n := stored(); n != 0 {
		t.Errorf("%d results of an erased person are stored", n)
	}
}

// TestFinishedGameIsShown opens a game that ended long ago, without a session.
func TestFinishedGameIsShown(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	cfg := quick()
	cfg.Linger = 10 * time.Millisecond
	gw := startGateway(t, srv, cfg, nil)
	joinBot(t, srv, "hare", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	private := terms(t, "gomoku/freestyle-15", "300+2")
	private.Private = true
	g := startGame(t, ann, "hare", private)
	ann.move(g, 0, "h8")
	ann.want(message.Request{T: "resign", Game: g})
	before := ann.state(g, "the end", finished)
	if !before.Private {
		t.Error("not private")
	}
	gw.stop()
	next := startGateway(t, srv, cfg, func(*hub) {})
	watcher := openPage(t, next, "")
	watcher.want(message.Request{T: "open", Game: g})
	st := watcher.state(g, "the game", finished)
	if st.You != nil || st.Seq < before.Seq || st.Outcome != before.Outcome || st.View.Last != st.Moves[len(st.Moves)-1] || len(st.May) != 0 {
		t.Errorf("shown: %+v", st)
	}
}
