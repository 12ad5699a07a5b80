package bot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/bot/play"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

const instance1 = protocol.InstanceID("instance1")

// fleet is a platform with a bot process of a known instance, and its operator.
type fleet struct {
	*platform
	t   *testing.T
	srv *embedded.Server
	dir string // data of the bot
	op  *protocol.Operator
	bot *fixture
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	srv := service(t)
	nc := connect(t, srv.Platform())
	p := newPlatform(t, nc)
	f := &fleet{platform: p, t: t, srv: srv, dir: t.TempDir(), op: protocol.NewOperator(nc, p.server.Subjects())}
	f.start()
	return f
}

// start starts the bot process, or the next one of its instance.
func (f *fleet) start() {
	f.t.Helper()
	f.bot = startBot(f.t, connect(f.t, f.srv.Player("bots")), func(c *Config) { c.Instance, c.Data = instance1, f.dir })
	gametest.Eventually(f.t, "it answers the operator", func() bool { return f.bot.answersFleet.Load() })
}

// tell sends the operator's verb.
func (f *fleet) tell(v protocol.FleetVerb, why string) (protocol.Report, error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), waitFor)
	defer cancel()
	return f.op.Control(ctx, instance1, v, why)
}

// told sends the operator's verb, and expects a mode.
func (f *fleet) told(v protocol.FleetVerb, why string, want protocol.Mode) protocol.Report {
	f.t.Helper()
	r, err := f.tell(v, why)
	if err != nil || r.Mode != want || r.Text != why {
		f.t.Fatalf("%s: mode %q, text %q, error %v", v, r.Mode, r.Text, err)
	}
	return r
}

// nobodyIn waits until nobody takes offers in a pool.
func (f *fleet) nobodyIn(pool protocol.Pool) {
	f.t.Helper()
	gametest.Eventually(f.t, "nobody in pool "+string(pool), func() bool {
		_, err := f.server.Offer(f.t.Context(), pool, probe(f.t))
		return errors.Is(err, nats.ErrNoResponders)
	})
}

// A paused process finishes its games and takes vacant seats of running ones, but no new
// games. It is still paused after a restart.
func TestPause(t *testing.T) {
	f := newFleet(t)
	f.bot.engine.setPause(50 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := f.grant(o, f.offer(protocol.OwnPool(hare), o))
	r := f.told(protocol.FleetPause, "new disk", protocol.ModePaused)
	if r.Bot == nil || r.Bot.Games != 1 || r.Bot.Slots == 0 || fmt.Sprint(r.Bot.Players) != "["+string(hare)+"]" {
		t.Errorf("report %+v", r.Bot)
	}
	f.nobodyIn("amazons.bullet")
	other := offerOf(small(t), "game2", game.Second)
	if ans := f.offer(protocol.OwnPool(hare), other); ans.Answer != protocol.Decline || ans.Reason != protocol.DeclineDraining {
		t.Errorf("a new game while paused: %+v", ans)
	}
	f.finished(m)

	// A restart does not undo the pause.
	f.bot.stop(t)
	f.start()
	if now, why, _ := f.bot.mode.current(); now != protocol.ModePaused || why != "new disk" {
		t.Errorf("after a restart: %s %q", now, why)
	}
	vacant := offerOf(small(t), "game3", game.Second)
	vacant.Kind, vacant.Player = protocol.OfferSeat, hare
	m = f.grant(vacant, f.offer(protocol.OwnPool(hare), vacant))
	f.finished(m)

	f.told(protocol.FleetResume, "", protocol.ModeRunning)
	again := offerOf(small(t), "game4", game.Second)
	m = f.grant(again, f.offer("amazons.bullet", again))
	f.finished(m)
	if files, _ := filepath.Glob(filepath.Join(f.dir, "*.paused")); len(files) > 0 {
		t.Errorf("files left: %v", files)
	}
	f.bot.stop(t)
	f.start()
	if now, _, _ := f.bot.mode.current(); now != protocol.ModeRunning {
		t.Errorf("after another restart: %s", now)
	}
}

// A pause holds even if it can't be stored, and the report says so.
func TestPauseWithoutADisk(t *testing.T) {
	f := newFleet(t)
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.dir, nil, 0o600); err != nil { // no directory can be made there
		t.Fatal(err)
	}
	r, err := f.tell(protocol.FleetPause, "full")
	if err != nil || r.Mode != protocol.ModePaused || !strings.HasPrefix(r.Text, "full (can't be stored") || strings.Contains(r.Text, f.dir) {
		t.Errorf("mode %q, text %q, error %v", r.Mode, r.Text, err)
	}
	f.nobodyIn("amazons.bullet")
}

// TestResumeOfARunningProcess: it withdraws no challenge.
func TestResumeOfARunningProcess(t *testing.T) {
	m, err := newMode(t.TempDir(), instance1)
	if err != nil {
		t.Fatal(err)
	}
	taking := m.whileTaking()
	set := func(to protocol.Mode) {
		t.Helper()
		if _, e := m.set(to, "", false); e != nil {
			t.Fatal(e)
		}
	}
	set(protocol.ModeRunning)
	if taking.Err() != nil {
		t.Error("it took no games for a while")
	}
	set(protocol.ModePaused)
	if taking.Err() == nil || m.whileTaking().Err() == nil {
		t.Error("it takes games while it is paused")
	}
	set(protocol.ModeRunning)
	if m.whileTaking().Err() != nil {
		t.Error("it takes no games after a pause")
	}
}

// A drain can be undone until the process ends; one by a signal can't.
func TestDrainByTheOperator(t *testing.T) {
	f := newFleet(t)
	f.bot.engine.setPause(time.Hour)
	o := offerOf(small(t), "game1", game.Second)
	m := f.grant(o, f.offer(protocol.OwnPool(hare), o))
	for range 3 { // who waits for the end of the process repeats it
		f.told(protocol.FleetDrain, "upgrade", protocol.ModeDraining)
	}
	if n := f.bot.log.Count("mode changed"); n != 1 {
		t.Errorf("a drain that was told three times is logged %d times", n)
	}
	f.nobodyIn(protocol.OwnPool(hare))
	f.told(protocol.FleetResume, "", protocol.ModeRunning)
	if ans := f.offer("amazons.bullet", offerOf(small(t), "game2", game.Second)); ans.Answer != protocol.Accept {
		t.Errorf("after the drain was undone: %+v", ans)
	}
	f.bot.Drain()
	for _, v := range []protocol.FleetVerb{protocol.FleetResume, protocol.FleetPause} {
		if _, err := f.tell(v, ""); !errors.Is(err, &protocol.Error{Code: protocol.Denied}) {
			t.Errorf("%s after a signal: %v", v, err)
		}
	}
	f.mu.Lock()
	f.end(m, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
	f.mu.Unlock()
	gametest.Eventually(t, "the first game to end", func() bool { return f.bot.count(play.GameEnded) == 1 })
}

// What a process played is in its report.
func TestReport(t *testing.T) {
	f := newFleet(t)
	o := offerOf(small(t), "game1", game.Second)
	m := f.grant(o, f.offer(protocol.OwnPool(hare), o))
	f.finished(m)
	gametest.Eventually(t, "the end event", func() bool { return f.bot.count(play.GameEnded) == 1 })
	r := f.told(protocol.FleetResume, "", protocol.ModeRunning) // it runs already
	b := r.Bot
	if b.Ended != 1 || b.Moves == 0 || b.Overhead.Moves == 0 || b.Overhead.P99MS < b.Overhead.P50MS || b.LostOnTime+b.SeatsLost+b.Faults != 0 {
		t.Errorf("report %+v", b)
	}
	if r.Build != "test 1" || r.Instance != instance1 || r.Process != protocol.BotProcess {
		t.Errorf("report %+v", r)
	}
	f.seen("a hello that says so", func() bool { return f.lastHello.Fleet })
}

func TestBusyMeter(t *testing.T) {
	var m busyMeter
	if m.share(2) != 0 {
		t.Error("a share of nothing")
	}
	at, busy := time.Now(), time.Duration(0)
	mark := func(seconds int, of time.Duration) {
		for range seconds {
			at, busy = at.Add(time.Second), busy+of
			m.mark(at, busy)
		}
	}
	mark(100, time.Second)
	if got := m.share(2); got != 0.5 {
		t.Errorf("one of two cores: %v", got)
	}
	mark(60, 0)
	if got := m.share(2); got != 0 {
		t.Errorf("a minute later: %v", got)
	}
}
