package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/internal/texttable"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of floods, of a broken network, and of a platform that is killed, paused or
// has no disk.

func platformSlowNetwork(t platformTrial) string {
	a, pa := t.joinThroughProxy(ann, active)
	b, pb := t.joinThroughProxy(bob, active)
	pa.Delay(jitter)
	pb.Delay(jitter)
	m := t.pair(a, b, t.terms)
	return m.expectEndByRules()
}

func platformFlood(t platformTrial) string {
	e := t.joinPlayer(eve)
	var list []string
	for i := range 240 {
		list = append(list, fmt.Sprintf(`"%032d"`, i))
	}
	const head = `{"v":1,"id":"e1","instance":"e1"`
	m := t.meet(t.terms, active, func(c *scripted.PlayerConfig) { c.Think = 20 * time.Millisecond })
	floods := []struct{ subject, data string }{
		{t.subjects.Play(e.ID(), protocol.VerbAlive), head + `,"free":1,"games":[` + strings.Join(list, ",") + `]}`},
		{t.subjects.Play(e.ID(), protocol.VerbHello), head + `,"kind":"bot","slots":1,"games":[{"game":"amazons"}]}`},
		{t.subjects.Play(e.ID(), protocol.VerbLeave), head + `}`},
		{t.subjects.Play(e.ID(), "castle"), head + `}`},
		{t.subjects.Act(e.ID(), m.id, protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
		{t.subjects.Act(e.ID(), "nothing", protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
	}
	const each = 2000
	for _, f := range floods {
		for range each {
			if err := e.Conn().PublishRequest(f.subject, e.Conn().NewRespInbox(), []byte(f.data)); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
				t.must(err)
			}
		}
		// The server may have cut the stranger off, which is no fault of the platform.
		if err := e.Conn().FlushWithContext(t.ctx); err != nil {
			t.must(protocol.Await(t.ctx, e.Conn()))
		}
	}
	seen := m.expectEndByRules()
	for seat, h := range m.state(m.ann).Holders {
		if h.Epoch != 1 {
			t.failf("the %s seat was lost: it is in epoch %d", game.Seat(seat), h.Epoch)
		}
	}
	return fmt.Sprintf("%s, under %d messages of a stranger", seen, each*len(floods))
}

// disturbed plays a fast game of active players, and disturbs the platform after some
// plies. Clocks are shorter than what is to be survived.
func (t platformTrial) disturbed(clock string, disturb func()) string {
	m := t.meet(t.timed(clock), active, func(c *scripted.PlayerConfig) { c.Think = 30 * time.Millisecond })
	m.both("some moves", plies(4))
	disturb()
	return m.expectEndByRules()
}

func platformCut(t platformTrial) string { return t.disturbed("60+1", t.cfg.Proxy.Cut) }

// longer is how long a disturbance lasts that no clock of disturbedClock survives.
const (
	disturbedClock = "3"
	longer         = 4 * time.Second
)

func platformHang(t platformTrial) string {
	return t.disturbed(disturbedClock, func() {
		t.cfg.Proxy.Stall(true)
		defer t.cfg.Proxy.Stall(false)
		t.sleep(longer)
	})
}

func platformPause(t platformTrial) string {
	return t.disturbed(disturbedClock, func() {
		t.must(t.cfg.Program.Signal(sigPause))
		err := sleep(t.ctx, longer)
		t.must(errors.Join(err, t.cfg.Program.Signal(sigResume)))
	})
}

func platformKill(t platformTrial) string {
	return t.disturbed(disturbedClock, func() { t.must(t.restart(t.ctx, longer)) })
}

func platformKillAtEnd(t platformTrial) string {
	m := t.meetAt(4, t.terms)
	m.resign(m.bob)
	t.await(m.ann, m.id, "the end", finished)
	t.must(t.restart(t.ctx, 0))
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		t.mustf(p.SayHello(t.ctx), "no answer after the restart")
	}
	t.sleep(3 * time.Second)
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		t.must(p.SayHello(t.ctx))
		if m.heldBy(p) || !finished(m.state(p)) {
			t.failf("after the restart the game that had ended goes on")
		}
	}
	return "the end stands"
}

func platformFullDisk(t platformTrial) string {
	m := t.meet(t.terms, active, func(c *scripted.PlayerConfig) { c.Think = 100 * time.Millisecond })
	m.both("some moves", plies(2))
	at := len(m.state(m.ann).Moves)
	filled := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				filled <- nil
				return
			case <-time.After(50 * time.Millisecond):
			}
			if err := t.cfg.Disk.Fill(); err != nil {
				filled <- err
				return
			}
		}
	}()
	err := sleep(t.ctx, 2*time.Second)
	more := len(m.state(m.ann).Moves) - at
	close(stop)
	t.must(errors.Join(err, <-filled, t.cfg.Disk.Empty()))
	seen := m.expectEndByRules()
	return fmt.Sprintf("%s while the disk was full; %s", texttable.Count(more, "move", "moves"), seen)
}
