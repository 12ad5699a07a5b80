package arena

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
)

// logLines collects a log.
type logLines struct {
	mu    sync.Mutex
	lines []map[string]any
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var line map[string]any
	if err := json.Unmarshal(b, &line); err != nil {
		return 0, err
	}
	l.lines = append(l.lines, line)
	return len(b), nil
}

// count counts the lines in which the fields have these values.
func (l *logLines) count(fields map[string]any) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, line := range l.lines {
		matches := true
		for k, v := range fields {
			if fmt.Sprint(line[k]) != fmt.Sprint(v) {
				matches = false
			}
		}
		if matches {
			n++
		}
	}
	return n
}

// Every invalid request to a running game is refused with its code and logged once;
// the game's log and state stay unchanged.
func TestBadInput(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	lines := &logLines{}
	cfg := steady()
	cfg.Limits = protocol.DefaultLimits
	cfg.Limits.PerSecond, cfg.Limits.ChallengesPerSecond = 10000, 10000
	a := prepareArenaLog(t, srv, cfg, zerolog.New(lines))
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	eve := join(t, srv, "eve", "e1")
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	terms := small(t, "600")
	terms.Rated = true
	g := ann.challenge("bob", terms, game.First)
	st := ann.until(g, "the start", plies(0))
	text := position(t, st.Snapshot).Format(position(t, st.Snapshot).Legal(nil)[0])
	ctx := gametest.Context(t)
	if _, err := ann.Move(ctx, g, 1, 0, text, ""); err != nil {
		t.Fatal(err)
	}
	st = bob.until(g, "the first move", plies(1))
	pos := position(t, st.Snapshot)
	reply := pos.Format(pos.Legal(nil)[0])

	subjects := a.server.Subjects()
	act := func(p protocol.PlayerID, action protocol.Action) string { return subjects.Act(p, g, action) }
	move := func(change func(m map[string]any)) string {
		m := map[string]any{"v": 1, "id": protocol.NewID(), "instance": "b1", "epoch": 1, "ply": 1, "move": reply}
		change(m)
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	same := func(map[string]any) {}
	set := func(k string, v any) func(map[string]any) { return func(m map[string]any) { m[k] = v } }
	state := func() string {
		e, seq, err := a.store.lastEvent(ctx, g)
		if err != nil {
			t.Fatal(err)
		}
		var now protocol.Snapshot
		a.visit(g, func(r *referee) { now = r.game.Snapshot(st.Started) })
		return fmt.Sprintf("%d %s %+v %+v %s %v %v", seq, e.Kind, now.Moves, now.Holders, now.Key, now.Status, now.Outcome)
	}
	before := state()
	for _, c := range []struct {
		name, subject, data string
		from                *nats.Conn
		want                protocol.Code
	}{
		{"nothing", act("bob", protocol.ActMove), "", bob.nc, protocol.Malformed},
		{"no JSON", act("bob", protocol.ActMove), "move h2e2", bob.nc, protocol.Malformed},
		{"half a JSON", act("bob", protocol.ActMove), move(same)[:30], bob.nc, protocol.Malformed},
		{"an array", act("bob", protocol.ActMove), "[1,2]", bob.nc, protocol.Malformed},
		{"not UTF-8", act("bob", protocol.ActMove), "{\"v\":1,\"id\":\"\xff\"}", bob.nc, protocol.Malformed},
		{"no version", act("bob", protocol.ActMove), move(set("v", 0)), bob.nc, protocol.BadVersion},
		{"a version to come", act("bob", protocol.ActMove), move(set("v", 2)), bob.nc, protocol.BadVersion},
		{"a malformed id", act("bob", protocol.ActMove), move(set("id", "a.b")), bob.nc, protocol.Malformed},
		{"a negative ply", act("bob", protocol.ActMove), move(set("ply", -1)), bob.nc, protocol.Malformed},
		{"a ply of the wrong kind", act("bob", protocol.ActMove), move(set("ply", "1")), bob.nc, protocol.Malformed},
		{"oversized", act("bob", protocol.ActMove), move(set("pad", strings.Repeat("x", 20_000))), bob.nc, protocol.TooLarge},
		{"deeply nested", act("bob", protocol.ActMove), `{"v":1,"pad":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", bob.nc, protocol.TooLarge},
		{"illegal", act("bob", protocol.ActMove), move(set("move", "a1a1/a1")), bob.nc, protocol.Illegal},
		{"nonsense", act("bob", protocol.ActMove), move(set("move", "<script>")), bob.nc, protocol.Illegal},
		{"late", act("bob", protocol.ActMove), move(set("ply", 0)), bob.nc, protocol.Stale},
		{"an old epoch", act("bob", protocol.ActMove), move(set("epoch", 0)), bob.nc, protocol.Stale},
		{"another instance", act("bob", protocol.ActMove), move(set("instance", "b2")), bob.nc, protocol.Stale},
		{"out of turn", act("ann", protocol.ActMove), move(set("instance", "a1")), ann.nc, protocol.NotYourTurn},
		{"a stranger", act("eve", protocol.ActMove), move(set("instance", "e1")), eve.nc, protocol.Denied},
		{"an unknown action", act("bob", "explode"), move(same), bob.nc, protocol.UnknownVerb},
		{"an unknown game", subjects.Act("bob", "nosuchgame", protocol.ActMove), move(same), bob.nc, protocol.NoGame},
		{"an unknown verb", subjects.Play("bob", "explode"), move(same), bob.nc, protocol.UnknownVerb},
		{"a draw without an offer", act("bob", protocol.ActDraw), move(set("step", "accept")), bob.nc, protocol.NotOffered},
		{"an unknown step", act("bob", protocol.ActDraw), move(set("step", "maybe")), bob.nc, protocol.Malformed},
		{"a takeback in a rated game", act("ann", protocol.ActTakeback), move(func(m map[string]any) { m["instance"] = "a1"; m["step"] = "offer" }), ann.nc, protocol.Illegal},
		{"chat of control characters", act("bob", protocol.ActChat), move(set("text", "a\nb")), bob.nc, protocol.Malformed},
	} {
		var ans protocol.Answer
		msg, err := c.from.RequestWithContext(ctx, c.subject, []byte(c.data))
		if err == nil {
			err = json.Unmarshal(msg.Data, &ans)
		}
		if err != nil || ans.Error == nil || ans.Error.Code != c.want {
			t.Errorf("%s: answered %+v (%v), want %s", c.name, ans, err, c.want)
			continue
		}
		if strings.Contains(ans.Error.Text, "script") || len(ans.Error.Text) > 200 {
			t.Errorf("%s: the refusal repeats what was sent: %q", c.name, ans.Error.Text)
		}
	}
	if after := state(); after != before {
		t.Errorf("the game changed:\n%s\n%s", before, after)
	}
	for _, c := range []struct {
		player string
		code   protocol.Code
	}{{"bob", protocol.Malformed}, {"bob", protocol.Illegal}, {"bob", protocol.TooLarge}, {"eve", protocol.Denied}} {
		if n := lines.count(map[string]any{"message": "refused", "player": c.player, "code": c.code}); n != 1 {
			t.Errorf("%d lines for %s of %s, want 1", n, c.code, c.player)
		}
	}
	for _, line := range lines.lines {
		if strings.Contains(fmt.Sprint(line), "script") {
			t.Errorf("what was sent is in the log: %v", line)
		}
	}

	// The server does not let a player act for another.
	if err := eve.nc.Publish(act("bob", protocol.ActMove), []byte(move(same))); err != nil {
		t.Fatal(err)
	}
	if err := eve.nc.Flush(); err != nil || !errors.Is(eve.nc.LastError(), nats.ErrPermissionViolation) {
		t.Errorf("a player speaks for another: %v (%v), want %v", eve.nc.LastError(), err, nats.ErrPermissionViolation)
	}
	// A reply subject that names the log writes nothing there, from a player's
	// account or from the platform's own.
	for _, nc := range []*nats.Conn{bob.nc, a.nc} {
		err := nc.PublishMsg(&nats.Msg{Subject: act("bob", protocol.ActMove), Reply: subjects.Log(g), Data: []byte(move(set("move", "a1a1/a1")))})
		if err != nil {
			t.Fatal(err)
		}
		nc.Flush()
	}
	gametest.Eventually(t, "the refusal of the spoofed reply", func() bool {
		return lines.count(map[string]any{"message": "refused", "code": protocol.BadReply}) == 1
	})
	if after := state(); after != before {
		t.Errorf("the game changed:\n%s\n%s", before, after)
	}

	// And the game continues.
	if _, err := bob.Move(ctx, g, 1, 1, reply, ""); err != nil {
		t.Errorf("a proper move: %v", err)
	}
}

// Challenges that cannot become a game are refused at once.
func TestBadChallenges(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ctx := gametest.Context(t)
	for _, c := range []struct {
		name   string
		change func(m *protocol.ChallengeRequest)
		want   protocol.Code
	}{
		{"an unknown game", func(m *protocol.ChallengeRequest) { m.Game = "go" }, protocol.UnknownGame},
		{"unknown rules", func(m *protocol.ChallengeRequest) { m.Rules = "amazons/7x7x7" }, protocol.UnknownGame},
		{"another game's rules", func(m *protocol.ChallengeRequest) { m.Rules = "gomoku/freestyle-15" }, protocol.UnknownGame},
		{"a bad position", func(m *protocol.ChallengeRequest) { m.Position = "QQQ" }, protocol.UnknownGame},
		{"rated from an unusual position", func(m *protocol.ChallengeRequest) { m.Rated, m.Position = true, "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w" }, protocol.Malformed},
		{"rated without a clock", func(m *protocol.ChallengeRequest) { m.Rated, m.Clock = true, clock.Spec{} }, protocol.Malformed},
		{"no time for the first move", func(m *protocol.ChallengeRequest) {
			m.Clock = clock.Spec{Kind: clock.Fischer, Increment: time.Second}
		}, protocol.Malformed},
		{"itself", func(m *protocol.ChallengeRequest) { m.Opponent = "ann" }, protocol.Malformed},
		{"its own pool", func(m *protocol.ChallengeRequest) { m.Opponent, m.Pool = "", "player.ann" }, protocol.Malformed},
		{"nobody", func(m *protocol.ChallengeRequest) { m.Opponent = "" }, protocol.Malformed},
		{"the ladder's pool", func(m *protocol.ChallengeRequest) { m.Opponent, m.Pool = "", "ladder.amazons" }, protocol.Malformed},
		{"a wildcard", func(m *protocol.ChallengeRequest) { m.Opponent = "*" }, protocol.Malformed},
		{"a pool with a wildcard", func(m *protocol.ChallengeRequest) { m.Opponent, m.Pool = "", "amazons.>" }, protocol.Malformed},
	} {
		m := protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "bob"}
		c.change(&m)
		if _, err := ann.Challenge(ctx, m); !errors.Is(err, &protocol.Error{Code: c.want}) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	clockless := `{"v":1,"id":"c1","instance":"a1","game":"amazons","rules":"amazons/6x6","clock":"5 minutes","opponent":"bob"}`
	msg, err := ann.nc.RequestWithContext(ctx, a.server.Subjects().Play("ann", protocol.VerbChallenge), []byte(clockless))
	if err != nil || !bytes.Contains(msg.Data, []byte(`"malformed"`)) {
		t.Errorf("a bad clock: %s (%v), want malformed", msg.Data, err)
	}
	info, err := a.store.challenges.Info(ctx)
	if err != nil || info.State.LastSeq != 0 {
		t.Errorf("%d challenges were stored (%v), want none", info.State.LastSeq, err)
	}
}
