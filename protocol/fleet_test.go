package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/protocol"
)

// fakeProcess is a process of a fleet.
type fakeProcess struct {
	referees bool // the game "mine"

	mu    sync.Mutex
	mode  protocol.Mode
	told  []string // verbs and reasons
	asked int      // for reports
}

func (f *fakeProcess) report() protocol.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	return protocol.Report{Mode: f.mode}
}

func (f *fakeProcess) control(v protocol.FleetVerb, why string) *protocol.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = append(f.told, string(v)+" "+why)
	if v == protocol.FleetResume {
		return protocol.Refuse(protocol.Unavailable, "the process ends")
	}
	f.mode = protocol.ModePaused
	return nil
}

func (f *fakeProcess) abort(g protocol.GameID, why string) protocol.Answer {
	switch {
	case g == "mine" && f.referees:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.told = append(f.told, "abort "+why)
		return protocol.Answer{}
	case g == "mine", g == "others":
		return protocol.Answer{Code: protocol.Unanswered}
	}
	return protocol.Answer{Error: protocol.Refuse(protocol.NoGame, "no such game")}
}

func (f *fakeProcess) heard() (told []string, asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told), f.asked
}

// bot answers the operator as a process of the user bots.
func (w *wire) bot(id protocol.InstanceID) *fakeProcess {
	w.t.Helper()
	f, stop := w.startBot(id)
	w.t.Cleanup(stop)
	return f
}

func (w *wire) startBot(id protocol.InstanceID) (f *fakeProcess, stop func()) {
	w.t.Helper()
	f = &fakeProcess{mode: protocol.ModeRunning}
	stop, err := protocol.ServeFleet(w.ctx, w.connect(w.Player("bots")), w.subjects, protocol.FleetProcess{
		Process: protocol.BotProcess, Instance: id, Build: "test 1", Report: f.report, Control: f.control,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return f, stop
}

// arena answers the operator as an arena.
func (w *wire) arena(id protocol.InstanceID) *fakeProcess {
	w.t.Helper()
	f := &fakeProcess{mode: protocol.ModeRunning, referees: id == "main"}
	stop, err := protocol.ServeFleet(w.ctx, w.connect(w.Platform()), w.subjects, protocol.FleetProcess{
		Process: protocol.ArenaProcess, Instance: id, Build: "test 1", Report: f.report, Abort: f.abort,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(stop)
	return f
}

func (w *wire) operator() *protocol.Operator {
	return protocol.NewOperator(w.connect(w.Platform()), w.subjects)
}

// The operator reaches all processes at once, each bot process by its id, and the arena
// of a game.
func TestFleet(t *testing.T) {
	w := newWire(t)
	one, two := w.bot("one"), w.bot("two")
	a := w.arena("main")
	w.arena("other")
	o := w.operator()
	all, err := o.Reports(w.ctx, func(r []protocol.Report) bool { return len(r) == 4 })
	if err != nil || len(all) != 4 {
		t.Fatalf("%d reports: %v", len(all), err)
	}
	var names []string
	for _, r := range all {
		names = append(names, fmt.Sprintf("%s %s %s %s", r.Process, r.Instance, r.Build, r.Mode))
		if r.Host == "" || r.PID == 0 || r.Started.IsZero() || r.ServerTime.IsZero() {
			t.Errorf("incomplete: %+v", r)
		}
	}
	slices.Sort(names)
	if want := "[arena main test 1 running arena other test 1 running bot one test 1 running bot two test 1 running]"; fmt.Sprint(names) != want {
		t.Errorf("reports of %v", names)
	}

	r, err := o.Control(w.ctx, "one", protocol.FleetPause, "new disk")
	if err != nil || r.Mode != protocol.ModePaused || r.Instance != "one" {
		t.Errorf("pause: %+v %v", r, err)
	}
	if _, err := o.Control(w.ctx, "one", protocol.FleetResume, ""); !errors.Is(err, &protocol.Error{Code: protocol.Unavailable}) {
		t.Errorf("a refusal: %v", err)
	}
	if told, _ := one.heard(); fmt.Sprint(told) != "[pause new disk resume ]" {
		t.Errorf("one was told %q", told)
	}
	if told, _ := two.heard(); len(told) != 0 {
		t.Errorf("two was told %q", told)
	}
	short, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
	defer cancel()
	if _, err := o.Control(short, "three", protocol.FleetPause, ""); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a process that is not there: %v", err)
	}
	if _, err := o.Control(w.ctx, "*", protocol.FleetPause, ""); err == nil {
		t.Error("a wildcard was accepted")
	}

	if err := o.Abort(w.ctx, "mine", "cheating"); err != nil {
		t.Error(err)
	}
	if told, _ := a.heard(); fmt.Sprint(told) != "[abort cheating]" {
		t.Errorf("the arena was told %q", told)
	}
	if err := o.Abort(w.ctx, "unknown", ""); !errors.Is(err, &protocol.Error{Code: protocol.NoGame}) {
		t.Errorf("abort of an unknown game: %v", err)
	}
	late, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
	defer cancel()
	if err := o.Abort(late, "others", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a game whose arena does not answer: %v", err)
	}
}

// NATS micro discovery finds the processes of both accounts from the platform's.
func TestFleetDiscovery(t *testing.T) {
	w := newWire(t)
	w.bot("one")
	w.arena("main")
	nc := w.connect(w.Platform())
	for verb, want := range map[micro.Verb]string{micro.PingVerb: "io.nats.micro.v1.ping_response", micro.InfoVerb: `"subject":"sparring.fleet.report"`, micro.StatsVerb: `"mode":"running"`} {
		subject, err := micro.ControlSubject(verb, "", "")
		if err != nil {
			t.Fatal(err)
		}
		inbox := nc.NewInbox()
		sub, err := nc.SubscribeSync(inbox)
		w.must(err, nc)
		w.must(nc.PublishRequest(subject, inbox, nil), nc)
		found := map[string]bool{}
		for len(found) < 2 {
			msg, err := sub.NextMsgWithContext(w.ctx)
			if errors.Is(err, nats.ErrNoResponders) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v after %v", subject, err, found)
			}
			for _, name := range []string{"sparring-bot", "sparring-arena"} {
				if strings.Contains(string(msg.Data), `"name":"`+name+`"`) {
					found[name] = true
				}
			}
			if !strings.Contains(string(msg.Data), want) {
				t.Errorf("%s: %s lacks %s", subject, msg.Data, want)
			}
		}
	}
}

// A player can neither use the operator's verbs, nor answer for a process, nor make
// one do or say anything by naming its subjects as the reply subject of a request.
func TestFleetAgainstPlayers(t *testing.T) {
	w := newWire(t)
	one, a := w.bot("one"), w.arena("main")
	s := w.server(io.Discard, protocol.DefaultLimits)
	stop, err := s.ServeVerbs(protocol.Verbs{Hello: func(protocol.From, protocol.Hello) protocol.HelloAnswer { return protocol.HelloAnswer{} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	nc := w.connect(w.Player("alice"))
	nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // refusals
	listener := w.connect(w.Player("alice"))
	listener.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	overheard := make(chan *nats.Msg, 1000)
	for _, subject := range []string{"sparring.fleet.>", "$SRV.>", "_INBOX_platform.>", "_R_.>"} {
		if _, err := listener.ChanSubscribe(subject, overheard); err != nil {
			t.Fatal(err)
		}
	}
	w.must(listener.Flush(), listener)

	subjects := []string{
		w.subjects.FleetAll(), w.subjects.FleetBot("one", protocol.FleetPause), w.subjects.FleetBot("one", protocol.FleetDrain),
		w.subjects.FleetGame("mine", protocol.FleetAbort), "$SRV.PING", "$SRV.STATS.sparring-bot", "$SRV.INFO",
	}
	const each = 200
	began := time.Now()
	for _, subject := range subjects {
		good := fmt.Appendf(nil, `{"v":1,"id":"x1","to":%q}`, subject)
		hello := fmt.Appendf(nil, `{"v":1,"id":"x1","to":%q,"instance":"a1","kind":"bot","slots":1,"games":[]}`, subject)
		for range each {
			w.must(nc.PublishRequest(subject, nc.NewRespInbox(), good), nc)                             // refused by the server
			w.must(nc.PublishRequest(w.subjects.Play("alice", protocol.VerbHello), subject, hello), nc) // answered to that subject
		}
	}
	w.must(nc.FlushTimeout(gametest.Patience), nc)
	o := w.operator()
	all, err := o.Reports(w.ctx, func(r []protocol.Report) bool { return len(r) == 2 })
	if err != nil || len(all) != 2 {
		t.Fatalf("%d reports: %v", len(all), err)
	}
	for name, p := range map[string]*fakeProcess{"bot": one, "arena": a} {
		told, asked := p.heard()
		if len(told) != 0 {
			t.Errorf("%s was told %q", name, told)
		}
		// Answers of the platform, and its refusals, reach the subjects of discovery at
		// the rates that it allows a player.
		if most := 1 + 2*protocol.DefaultLimits.PerSecond*(3+int(time.Since(began).Seconds())); asked > most {
			t.Errorf("%s made %d reports, at most %d were expected", name, asked, most)
		}
	}
	w.must(listener.FlushTimeout(gametest.Patience), listener)
	if n := len(overheard); n > 0 {
		t.Errorf("a player overheard %d messages, first %s", n, (<-overheard).Subject)
	}
}

// While a service starts and ends, a process may ask over a connection of its own what its user
// may do. The race detector watches the options that both look at.
func TestPermissionsAskedWhileAServiceStarts(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("bots"))
	var asking sync.WaitGroup
	defer asking.Wait()
	ended := make(chan struct{})
	defer close(ended)
	asking.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
			}
			if may, err := protocol.MaySubscribe(w.ctx, nc, "", w.subjects.FleetAll()); err != nil || len(may) != 1 {
				t.Errorf("may subscribe to %q: %v", may, err)
				return
			}
		}
	})
	f := &fakeProcess{mode: protocol.ModeRunning}
	for range 20 {
		stop, err := protocol.ServeFleet(w.ctx, nc, w.subjects, protocol.FleetProcess{Process: protocol.BotProcess, Instance: "a1", Report: f.report, Control: f.control})
		if err != nil {
			t.Fatal(err)
		}
		stop()
	}
}

// A process whose user may not answer the operator is told so, and nothing is refused on its
// connection, where that would be logged.
func TestFleetNotPermitted(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	refusals := make(chan error, 100)
	nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refusals <- err })
	f := &fakeProcess{}
	_, err := protocol.ServeFleet(w.ctx, nc, w.subjects, protocol.FleetProcess{Process: protocol.BotProcess, Instance: "a1", Report: f.report, Control: f.control})
	if !errors.Is(err, protocol.ErrNoFleet) {
		t.Fatalf("%v, want ErrNoFleet", err)
	}
	w.must(nc.FlushTimeout(gametest.Patience), nc)
	if n := len(refusals); n > 0 {
		t.Errorf("%d subjects were refused, want none", n)
	}
}

// A process that ends while it starts to answer the operator does end, though its
// connection is still up.
func TestFleetEndsWhileItStarts(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Platform())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		protocol.RunFleet(ctx, nc, w.subjects, protocol.FleetProcess{Process: protocol.ArenaProcess, Instance: "a1"}, zerolog.Nop(), nil)
	}()
	select {
	case <-ended:
	case <-time.After(gametest.Patience):
		t.Fatal("it goes on")
	}
}

// A verb that is repeated for a process does not reach the next one with its instance id,
// which something may have started as soon as the first had ended.
func TestControlAgain(t *testing.T) {
	w := newWire(t)
	o := w.operator()
	first, stop := w.startBot("one")
	r, err := o.Control(w.ctx, "one", protocol.FleetDrain, "upgrade")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.ControlAgain(w.ctx, r, protocol.FleetDrain, "upgrade"); err != nil {
		t.Errorf("the same process: %v", err)
	}
	if told, _ := first.heard(); len(told) != 2 {
		t.Errorf("the first process was told %q, want two verbs", told)
	}
	stop()
	next := w.bot("one")
	gametest.Eventually(t, "the next process to answer", func() bool {
		all, err := o.Reports(w.ctx, func(all []protocol.Report) bool { return len(all) > 0 })
		return err == nil && len(all) == 1 && !all[0].Started.Equal(r.Started)
	})
	if _, err := o.ControlAgain(w.ctx, r, protocol.FleetDrain, "upgrade"); !errors.Is(err, &protocol.Error{Code: protocol.Stale}) {
		t.Errorf("the next process: %v, want stale", err)
	}
	if told, _ := next.heard(); len(told) != 0 {
		t.Errorf("the next process was told %q", told)
	}
}
