//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game/gametest"
	"sparring/protocol"
)

// visitor is a person with an open page, which connects again as the page's script does.
type visitor struct {
	h      *fleet
	name   string
	at     string // address of the page
	cookie string

	mu      sync.Mutex
	conn    *websocket.Conn // nil: not connected
	wish    *protocol.Terms // what it asked the ladder for
	since   time.Time       // since when the gateway says that it waits
	known   bool            // this socket's gateway knows of the wish
	started []protocol.GameID
	states  map[protocol.GameID]message.State
	answers map[string]message.Answer
	n       int
}

// visit opens the page.
func (h *fleet) visit(name, at string) *visitor {
	h.t.Helper()
	v := &visitor{h: h, name: name, at: at, states: map[protocol.GameID]message.State{}, answers: map[string]message.Answer{}}
	res, err := http.Post("http://"+at+"/api/session", "application/json", strings.NewReader("{}"))
	if err != nil {
		h.t.Fatal(err)
	}
	res.Body.Close()
	if len(res.Cookies()) == 0 {
		h.t.Fatalf("no session: %s", res.Status)
	}
	v.cookie = res.Cookies()[0].Name + "=" + res.Cookies()[0].Value
	ctx, cancel := context.WithCancel(h.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			v.connected(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	h.t.Cleanup(func() { cancel(); running.Wait() })
	return v
}

// connected serves one socket until it fails or is silent.
func (v *visitor) connected(ctx context.Context) {
	dial, cancel := context.WithTimeout(ctx, 5*time.Second)
	conn, _, err := websocket.Dial(dial, "ws://"+v.at+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Cookie": {v.cookie}, "Origin": {"http://" + v.at}}})
	cancel()
	if err != nil {
		return
	}
	conn.SetReadLimit(-1)
	defer conn.CloseNow()
	heard := make(chan struct{}, 1)
	live, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		ping := time.NewTicker(time.Second)
		defer ping.Stop()
		last := time.Now()
		for {
			select {
			case <-live.Done():
				return
			case <-heard:
				last = time.Now()
			case <-ping.C:
				if time.Since(last) > 2100*time.Millisecond {
					stop()
					return
				}
				v.write(conn, message.Request{T: "ping", N: 1})
			}
		}
	}()
	defer func() {
		v.mu.Lock()
		v.conn = nil
		v.mu.Unlock()
	}()
	for {
		_, data, err := conn.Read(live)
		if err != nil {
			return
		}
		select {
		case heard <- struct{}{}:
		default:
		}
		v.take(conn, data)
	}
}

func (v *visitor) write(conn *websocket.Conn, r message.Request) {
	data, _ := json.Marshal(r)
	ctx, cancel := context.WithTimeout(v.h.ctx, 5*time.Second)
	defer cancel()
	conn.Write(ctx, websocket.MessageText, data)
}

func (v *visitor) take(conn *websocket.Conn, data []byte) {
	var kind struct{ T string }
	json.Unmarshal(data, &kind)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch kind.T {
	case "welcome":
		v.conn, v.known = conn, false
		if v.wish != nil {
			v.n++
			go v.write(conn, message.Request{T: "ladder", ID: fmt.Sprint("l", v.n), On: true, Terms: v.wish, Since: v.since})
		}
		for _, g := range v.started {
			go v.write(conn, message.Request{T: "open", ID: "o" + string(g), Game: g})
		}
	case "turns":
		var m message.Turns
		json.Unmarshal(data, &m)
		if m.Seeking != nil {
			v.since = m.Seeking.Since
		} else if v.wish != nil && v.known {
			v.h.t.Errorf("%s waits no more", v.name)
		}
	case "notice":
		var m message.Notice
		json.Unmarshal(data, &m)
		if m.Kind == "started" && m.Ladder {
			v.begun(conn, m.Game)
		}
	case "answer":
		var m message.Answer
		json.Unmarshal(data, &m)
		v.answers[m.ID] = m
		if strings.HasPrefix(m.ID, "l") {
			if m.Game != "" {
				v.begun(conn, m.Game)
			} else if m.Code != protocol.Accepted && m.Code != protocol.Duplicate {
				v.h.t.Errorf("%s asks for the ladder: %+v", v.name, m)
			} else {
				v.known = true
			}
		}
	case "state":
		var m message.State
		json.Unmarshal(data, &m)
		if old := v.states[m.Game]; m.Seq >= old.Seq {
			v.states[m.Game] = m
		}
	}
}

// begun notes that a game of the ladder has begun, and opens it.
func (v *visitor) begun(conn *websocket.Conn, g protocol.GameID) {
	v.wish, v.since = nil, time.Time{}
	if !slices.Contains(v.started, g) {
		v.started = append(v.started, g)
		go v.write(conn, message.Request{T: "open", ID: "o" + string(g), Game: g})
	}
}

// ask sends a request until it is answered.
func (v *visitor) ask(r message.Request) (a message.Answer) {
	v.h.t.Helper()
	v.mu.Lock()
	v.n++
	r.ID = fmt.Sprint("r", v.n)
	v.mu.Unlock()
	var sent time.Time
	v.h.wait(v.name+"'s "+r.T, func() (ok bool) {
		v.mu.Lock()
		defer v.mu.Unlock()
		if a, ok = v.answers[r.ID]; ok {
			return true
		}
		if v.conn != nil && time.Since(sent) > time.Second {
			sent = time.Now()
			go v.write(v.conn, r)
		}
		return false
	})
	return a
}

// seek asks for a game of the ladder.
func (v *visitor) seek(terms protocol.Terms) {
	v.h.t.Helper()
	v.mu.Lock()
	v.wish, v.since = &terms, time.Time{}
	v.mu.Unlock()
	if a := v.ask(message.Request{T: "ladder", On: true, Terms: &terms}); a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
		v.h.t.Fatalf("%s: %+v", v.name, a)
	}
}

// is returns a condition on what the visitor knows.
func (v *visitor) is(ok func(*visitor) bool) func() bool {
	return func() bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		return ok(v)
	}
}

// TestWaitingOnLadder: two people wait on the ladder by their browsers while the arena or
// the NATS server is stopped for some seconds, or the arena is killed and started again.
// Somebody who waited alone still does, since the same moment. Two who were about to be
// paired are, and play a game in which nobody has lost the seat.
func TestWaitingOnLadder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and stops them for a minute")
	}
	const stopped = 8 * time.Second // longer than a lease, and than pages wait for an answer
	terms := protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15", Clock: mustClock(t, "60+1")}
	for _, fault := range []string{"arena stopped", "server stopped", "arena killed"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			h := newFleet(t)
			server, url := h.startNATS(0)
			at := fmt.Sprintf("127.0.0.1:%d", gametest.FreePort(t))
			start := func() *process {
				return h.startArena(url, "SPARRING_LADDER_ROUNDS=0", "SPARRING_LADDER_RULES=gomoku:"+terms.Rules, "SPARRING_WEB_ADDRESS="+at)
			}
			arena := start()
			happen := func() {
				t.Helper()
				p := arena
				switch fault {
				case "arena killed":
					arena.kill()
					arena = start()
					return
				case "server stopped":
					p = server
				}
				arenatest.Pause(t, p.cmd.Process)
				time.Sleep(stopped)
				arenatest.Continue(t, p.cmd.Process)
			}
			h.wait("the page", func() bool {
				res, err := http.Get("http://" + at + "/")
				if err == nil {
					res.Body.Close()
				}
				return err == nil
			})
			ann, ben := h.visit("ann", at), h.visit("ben", at)
			ann.seek(terms)
			var since time.Time
			waits := ann.is(func(v *visitor) bool { since = v.since; return v.conn != nil && !since.IsZero() })
			h.wait("ann waits", waits)
			before := since
			happen()
			if h.wait("ann still waits", waits); !since.Equal(before) {
				t.Errorf("ann waits since %v, before since %v", since, before)
			}
			ben.seek(terms)
			happen()
			var id protocol.GameID
			begun := func(v *visitor) bool {
				if len(v.started) == 0 {
					return false
				}
				id = v.started[0]
				return v.states[id].You != nil
			}
			h.wait("ben's game", ben.is(begun))
			his := id
			if h.wait("ann's game", ann.is(begun)); id != his {
				t.Fatalf("ann plays in %s, ben in %s", id, his)
			}
			for ply, m := range []string{"h8", "a1"} {
				mover, at := ann, ann.is(func(v *visitor) bool { return len(v.states[id].Moves) == ply })
				h.wait("the position", at)
				if ann.is(func(v *visitor) bool { return *v.states[id].You != v.states[id].Turn })() {
					mover = ben
				}
				if a := mover.ask(message.Request{T: "move", Game: id, Ply: ply, Move: m}); a.Code != protocol.Accepted && a.Code != protocol.Duplicate {
					t.Fatalf("%s's move: %+v", mover.name, a)
				}
			}
			var st message.State
			h.wait("both moves", ann.is(func(v *visitor) bool { st = v.states[id]; return len(st.Moves) == 2 }))
			t.Logf("clocks %+v", st.Clocks.Seats)
			if st.Status != protocol.Playing {
				t.Errorf("the game has ended: %+v", st.Outcome)
			}
		})
	}
}
