package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
)

func TestPlayAgainstBot(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	g := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "hare", protocol.Hello{Display: "Hare"})
	p := openPage(t, g, human("ann"))
	if p.welcome.Player != human("ann") {
		t.Errorf("welcome %+v", p.welcome)
	}
	p.put(message.Request{T: "ping", N: 7, ID: "ping"})
	p.until("the pong", func() bool { return len(p.pongs) == 1 && p.pongs[0].N == 7 })
	p.want(message.Request{T: "lobby", On: true})
	p.until("the bot in the lobby", func() bool { return p.lobby != nil && len(p.lobby.Opponents) == 3 })

	first := game.First
	id := p.want(message.Request{T: "play", Terms: terms(t, "gomoku/freestyle-15", "300+2"), Opponent: "hare", Seat: &first}).Game
	p.want(message.Request{T: "open", Game: id})
	st := p.state(id, "the start", func(st message.State) bool { return st.Status == protocol.Playing })
	if st.You == nil || *st.You != game.First || st.View == nil || len(st.View.Moves) != 225 || st.Clocks.Running == nil {
		t.Errorf("state %+v", st)
	}
	p.until("the game in the lobby", func() bool {
		return len(p.lobby.Mine) == 1 && p.lobby.Mine[0].MyTurn && p.lobby.Mine[0].Running
	})
	p.refuse(message.Request{T: "move", Game: id, Ply: 0, Move: "z9"}, protocol.Illegal)
	p.move(id, 0, "h8")
	p.state(id, "the answer", plies(2))
	p.refuse(message.Request{T: "move", Game: id, Ply: 0, Move: "a1"}, protocol.Stale)
	if a := p.want(message.Request{T: "why", Game: id, From: "h8"}); a.Reason != "illegal.occupied" {
		t.Errorf("a stone on a stone: reason %q", a.Reason)
	}
	p.want(message.Request{T: "resign", Game: id})
	st = p.state(id, "the end", finished)
	if st.Outcome != (game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}) {
		t.Errorf("outcome %+v", st.Outcome)
	}
}

// TestSocketNeedsSession follows the way of a browser: a session by its cookie.
func TestSocketNeedsSession(t *testing.T) {
	t.Parallel()
	h := startHouse(t, Config{})
	web := httptest.NewServer(h.Handler())
	t.Cleanup(web.Close)
	res, err := web.Client().Post(web.URL+"/api/session", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var who whoAnswer
	if err := json.NewDecoder(res.Body).Decode(&who); err != nil {
		t.Fatal(err)
	}
	cookie := res.Cookies()[0].String()
	address := strings.Replace(web.URL, "http", "ws", 1) + "/ws"
	p, _, err := dialAddress(t, address, http.Header{"Cookie": {cookie}, "Origin": {web.URL}})
	if err != nil {
		t.Fatal(err)
	}
	p.until("the welcome", func() bool { return p.welcome != nil })
	if p.welcome.Player != who.Player || p.welcome.Name != who.Name || p.welcome.Version == "" {
		t.Errorf("welcome %+v, want %+v", p.welcome, who)
	}
	p.want(message.Request{T: "name", Name: "安"})
	p.refuse(message.Request{T: "name", Name: "\u202eann"}, codeName)
	if _, res, err := dialAddress(t, address, http.Header{"Cookie": {cookie}, "Origin": {"https://example.com"}}); err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page: %v", err)
	}

	stranger, _, err := dialAddress(t, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger.until("the welcome", func() bool { return stranger.welcome != nil })
	if stranger.welcome.Player != "" {
		t.Errorf("welcome %+v without a session", stranger.welcome)
	}
	stranger.want(message.Request{T: "lobby", On: true})
	stranger.refuse(message.Request{T: "play", Opponent: "hare", Terms: terms(t, "xiangqi/simple", "60")}, protocol.Denied)
	stranger.refuse(message.Request{T: "resign", Game: "g"}, protocol.Denied)
	stranger.refuse(message.Request{T: "open", Game: "g"}, protocol.NoGame)

	r, err := http.NewRequest(http.MethodPost, web.URL+"/api/logout", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", cookie)
	out, err := web.Client().Do(r)
	if err != nil || out.StatusCode != http.StatusOK {
		t.Fatalf("logout: %v", err)
	}
	out.Body.Close()
	p.untilClosed(statusSessionEnded)
}

// TestTurns: a tab is told of the games that wait for its person, unless it shows them.
func TestTurns(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "gomoku-level-3")
	gw := startGateway(t, srv, quick(), nil)
	joinBot(t, srv, "gomoku-level-3", protocol.Hello{})
	ann := openPage(t, gw, human("ann"))
	one := startGame(t, ann, "gomoku-level-3", terms(t, "gomoku/freestyle-15", "86400/move"))
	other := openPage(t, gw, human("ann"))
	count := func(n int) {
		t.Helper()
		other.until(fmt.Sprintf("%d games that wait", n), func() bool { return other.turns.Count == n && (n == 0) == (other.turns.Next == nil) })
	}
	count(1)
	if m := other.turns.Next; m.Game != one || !m.MyTurn || !m.Level || m.Opponent == "" {
		t.Errorf("the game that waits: %+v", m)
	}
	two := startGame(t, ann, "gomoku-level-3", terms(t, "xiangqi/wxf", "86400/move"))
	count(2)
	other.want(message.Request{T: "open", Game: one})
	count(1)
	other.want(message.Request{T: "close", Game: one})
	count(2)
	ann.want(message.Request{T: "resign", Game: one})
	count(1)
	ann.want(message.Request{T: "resign", Game: two})
	count(0)
	if ann.turns.Count != 0 {
		t.Errorf("a tab that shows all games is told of %d", ann.turns.Count)
	}
}

// TestRepetitionOutOfOrder: on a slow connection a page repeats what it has asked for
// while the answer is under way. That does not undo what it has asked for since.
func TestRepetitionOutOfOrder(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, withLadder(), nil)
	joinBot(t, srv, "hare", protocol.Hello{Games: []protocol.Capability{{Game: "gomoku"}}})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	inTurn := func(requests ...message.Request) {
		t.Helper()
		for i := range requests {
			requests[i].ID = protocol.NewID()
			ann.want(requests[i])
		}
		for _, r := range requests[:len(requests)-1] {
			ann.put(r)
		}
		ann.want(message.Request{T: "cancel", What: "review"}) // which comes after them
	}
	inTurn(message.Request{T: "close", Game: g}, message.Request{T: "open", Game: g})
	ann.move(g, 0, "h8") // and sees it

	on, off := message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}, message.Request{T: "ladder"}
	inTurn(on, off)
	if s := gw.participant(human("ann"), "").seekingNow(); s != nil {
		t.Errorf("on the ladder after leaving it: %+v", s)
	}
	inTurn(off, on)
	if gw.participant(human("ann"), "").seekingNow() == nil {
		t.Error("off the ladder after joining it")
	}
}
