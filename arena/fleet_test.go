package arena

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// operatorOf returns the operator of a platform.
func operatorOf(t *testing.T, srv platform, a *running) *protocol.Operator {
	t.Helper()
	return protocol.NewOperator(arenatest.Connect(t, srv.Platform()), a.server.Subjects())
}

// The operator's abort is an end like others: stored, told to the players and recorded,
// without a result. It takes effect once, and only in a running game.
func TestAbort(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	lines := &logLines{}
	one, two := prepareArenaLog(t, srv, steady(), zerolog.New(lines)), prepareArenaLog(t, srv, steady(), zerolog.New(lines))
	one.start()
	two.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	bob.set(func(p *player) { p.play = nil })
	terms := small(t, "60+1")
	terms.Rated = true
	g := ann.challenge("bob", terms, game.First)
	ann.until(g, "a move", plies(1))
	op := operatorOf(t, srv, one)
	ctx := gametest.Context(t)

	// A player can't, neither directly nor by an answer that names the subject.
	eve := arenatest.Connect(t, srv.Player("eve"))
	eve.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	subject := one.server.Subjects().FleetGame(g, protocol.FleetAbort)
	for _, request := range []string{`{"v":1,"id":"e1","to":"` + subject + `"}`, `{"v":1,"id":"e1","to":"` + subject + `","instance":"e1","kind":"bot","slots":1,"games":[]}`} {
		for _, to := range []string{subject, one.server.Subjects().Play("eve", protocol.VerbHello)} {
			if err := eve.PublishRequest(to, subject, []byte(request)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := eve.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	if st := ann.until(g, "another move", plies(1)); st.Status != protocol.Playing {
		t.Fatalf("a player ended the game: %+v", st.Outcome)
	}

	for range 2 { // the second is a repetition
		if err := op.Abort(ctx, g, "a cheat"); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*player{ann, bob} {
		if st := p.until(g, "the end", finished); st.Outcome != (game.Outcome{Reason: protocol.ReasonVoid}) {
			t.Errorf("told %+v", st.Outcome)
		}
	}
	gametest.Eventually(t, "the record", func() bool {
		rec, err := one.Record(ctx, g)
		if err != nil {
			return false
		}
		if rec.Result != game.Undecided || rec.Reason != protocol.ReasonVoid || rec.Text != "aborted by the operator: a cheat" {
			t.Errorf("recorded %v by %s: %q", rec.Result, rec.Reason, rec.Text)
		}
		return true
	})
	if lines.count(map[string]any{"message": "game ended", "level": "warn", "why": "aborted by the operator: a cheat"}) != 1 ||
		lines.count(map[string]any{"level": "error"}) != 0 {
		t.Error("the log does not warn of the abort, or calls it an error")
	}
	ends := 0
	for _, e := range whole(t, one.store, g) {
		if e.Kind == protocol.EventEnd {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("the game ended %d times", ends)
	}
	if err := op.Abort(ctx, "nothing", ""); !errors.Is(err, &protocol.Error{Code: protocol.NoGame}) {
		t.Errorf("no such game: %v", err)
	}
	other := bob.challenge("ann", small(t, "60+1"), game.Second) // bob does not move, ann does
	ann.until(other, "a move", plies(1))
	if _, err := ann.Resign(ctx, other, 1, 1); err != nil {
		t.Fatal(err)
	}
	ann.until(other, "the end", finished)
	if err := op.Abort(ctx, other, ""); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("a game that has ended: %v", err)
	}
	one.stop()
	two.stop()
}

// An arena lists an instance that stopped sending heartbeats, and one that does not
// answer the operator, but none that has left.
func TestArenaReport(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	cfg := steady()
	cfg.Name, cfg.Build, cfg.Linger = "main", "sparring test", time.Hour
	a := runArena(t, srv, cfg)
	ann := join(t, srv, "ann", "a1")
	bob := join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		slow(p, 300*time.Millisecond) // the game runs still when the operator asks
	}
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.until(g, "moves", plies(2))
	op := operatorOf(t, srv, a)
	ctx := gametest.Context(t)
	ask := func() (protocol.Report, map[protocol.InstanceID]protocol.KnownInstance) {
		t.Helper()
		all, err := op.Reports(ctx, func(r []protocol.Report) bool { return len(r) == 1 })
		if err != nil || len(all) != 1 || all[0].Arena == nil {
			t.Fatalf("%+v %v", all, err)
		}
		known := map[protocol.InstanceID]protocol.KnownInstance{}
		for _, in := range all[0].Arena.Instances {
			known[in.Instance] = in
		}
		return all[0], known
	}
	r, known := ask()
	if r.Instance != "main" || r.Build != "sparring test" || r.Arena.Refereed != 1 || r.Arena.Running != 1 || r.Arena.Moves < 2 {
		t.Errorf("report %+v %+v", r, r.Arena)
	}
	if in := known["a1"]; in.Player != "ann" || in.Players != 1 || in.Games != 1 || in.Fleet {
		t.Errorf("known %+v", in)
	}
	// Eve takes the id of ann's instance: two processes.
	eve, err := protocol.NewClient(arenatest.Connect(t, srv.Player("eve")), a.server.Subjects(), "eve", "a1", arenatest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eve.Hello(ctx, protocol.Hello{Kind: protocol.Bot, Slots: 1, Fleet: true}); err != nil {
		t.Fatal(err)
	}
	if r, _ := ask(); len(r.Arena.Instances) != 3 {
		t.Errorf("%d instances, want 3: %+v", len(r.Arena.Instances), r.Arena.Instances)
	}
	if _, err := eve.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "eve to have left", func() bool { r, _ := ask(); return len(r.Arena.Instances) == 2 })
	ann.until(g, "the end", finished)
	gametest.Eventually(t, "no game, although its referee still answers", func() bool {
		r, _ := ask()
		return r.Arena.Refereed == 0 && r.Arena.Running == 0 && len(a.refereed()) == 1
	})
}

// A player has room for so many instances that are there, and the hello of one more is
// refused. Those that are gone take no room, however fast they followed each other.
func TestTooManyInstances(t *testing.T) {
	t.Parallel()
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a.presence = newPresence(time.Second)
	start := time.Now()
	hello := func(i int, after time.Duration) protocol.Code {
		id := protocol.InstanceID(fmt.Sprintf("i%d", i))
		ans := a.hello(protocol.From{Player: "ann", Arrived: start.Add(after)}, protocol.Hello{Header: protocol.Header{ID: "h-" + string(id)}, Instance: id, Kind: protocol.Bot})
		if ans.Error != nil {
			return ans.Error.Code
		}
		return protocol.Accepted
	}
	for i := range maxInstances {
		if code := hello(i, time.Duration(i)); code != protocol.Accepted {
			t.Fatalf("instance %d: %s", i, code)
		}
	}
	if code := hello(maxInstances, 900*time.Millisecond); code != protocol.CodeBusy {
		t.Errorf("one too many: %s, want %s", code, protocol.CodeBusy)
	}
	if code := hello(0, 900*time.Millisecond); code != protocol.Accepted {
		t.Errorf("one that is known: %s", code)
	}
	if code := hello(maxInstances, 1100*time.Millisecond); code != protocol.Accepted || !a.presence.known("ann", "i64") {
		t.Errorf("when the others were gone: %s", code)
	}
	if !a.presence.known("ann", "i0") {
		t.Error("an instance that was there is forgotten")
	}
}

// An arena that was killed is reported by the others until one of that name is back, and one
// that has ended by itself is not.
func TestSilentArenas(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	named := func(name string) *running {
		cfg := quick()
		cfg.Name = name
		return runArena(t, srv, cfg)
	}
	watcher, killed, ended := named("watcher"), named("killed"), named("ended")
	gametest.Eventually(t, "the others to be known", func() bool {
		watcher.leases.mu.Lock()
		defer watcher.leases.mu.Unlock()
		return len(watcher.leases.names) == 3
	})
	ended.stop()
	killed.crash()
	gametest.Eventually(t, "the killed arena to be missed", func() bool { return len(watcher.report().Arena.SilentArenas) > 0 })
	if silent := watcher.report().Arena.SilentArenas; len(silent) != 1 || silent[0].Instance != "killed" || silent[0].HeardMS <= 0 {
		t.Errorf("silent arenas: %+v, want the one that was killed", silent)
	}
	named("killed")
	gametest.Eventually(t, "the arena to be back", func() bool { return len(watcher.report().Arena.SilentArenas) == 0 })
}

// Silent processes of the fleet are remembered for an hour, others for a minute, and
// neither keeps new ones out.
func TestSilentInstancesAreRemembered(t *testing.T) {
	p := newPresence(time.Second)
	start := time.Now()
	hello := func(id protocol.InstanceID, fleet bool, at time.Time) {
		m := protocol.Hello{Header: protocol.Header{ID: "h" + string(id)}, Instance: id, Kind: protocol.Bot, Fleet: fleet, Secret: string(id)}
		p.hello(protocol.From{Player: "ann", Arrived: at}, m)
	}
	hello("ours", true, start)
	hello("theirs", false, start)
	names := func(at time.Time) string {
		p.forget(at)
		known, _ := p.knownInstances(map[protocol.InstanceID]int{"ours": 2}, at)
		var all []string
		for _, k := range known {
			all = append(all, string(k.Instance))
		}
		return strings.Join(all, " ")
	}
	for after, want := range map[time.Duration]string{30 * time.Second: "ours theirs"} {
		if got := names(start.Add(after)); got != want {
			t.Errorf("after %v: %q, want %q", after, got, want)
		}
	}
	if got := names(start.Add(2 * time.Minute)); got != "ours" {
		t.Errorf("after two minutes: %q", got)
	}
	for i := range 2 * maxInstances { // a process that crashes again and again
		hello(protocol.InstanceID(protocol.NewID()), true, start.Add(2*time.Minute+time.Duration(i)*2*time.Minute/maxInstances))
	}
	last := protocol.InstanceID("last")
	at := start.Add(10 * time.Minute)
	hello(last, true, at)
	if !p.known("ann", last) {
		t.Error("no room for a new instance")
	}
	if got := names(at.Add(2 * time.Hour)); got != "" {
		t.Errorf("after two hours: %q", got)
	}
}
