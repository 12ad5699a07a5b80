package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/lab/texttable"
	"sparring/protocol"
)

// Scenarios of floods, of a broken network, and of a platform that is killed, paused or
// has no disk.

func platformSlowNetwork(ctx context.Context, r *platformRig) (string, error) {
	a, pa, err := r.joinProxied(ctx, ann, active)
	if err != nil {
		return "", err
	}
	b, pb, err := r.joinProxied(ctx, bob, active)
	if err != nil {
		return "", err
	}
	pa.Delay(jitter)
	pb.Delay(jitter)
	m, err := r.pair(ctx, a, b, r.terms)
	if err != nil {
		return "", err
	}
	return m.endsWell(ctx)
}

func platformFlood(ctx context.Context, r *platformRig) (string, error) {
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var list []string
	for i := range 240 {
		list = append(list, fmt.Sprintf(`"%032d"`, i))
	}
	const head = `{"v":1,"id":"e1","instance":"e1"`
	m, err := r.meet(ctx, r.terms, active, func(c *scripted.PlayerConfig) { c.Think = 20 * time.Millisecond })
	if err != nil {
		return "", err
	}
	floods := []struct{ subject, data string }{
		{r.subjects.Play(e.ID(), protocol.VerbAlive), head + `,"free":1,"games":[` + strings.Join(list, ",") + `]}`},
		{r.subjects.Play(e.ID(), protocol.VerbHello), head + `,"kind":"bot","slots":1,"games":[{"game":"amazons"}]}`},
		{r.subjects.Play(e.ID(), protocol.VerbLeave), head + `}`},
		{r.subjects.Play(e.ID(), "castle"), head + `}`},
		{r.subjects.Act(e.ID(), m.id, protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
		{r.subjects.Act(e.ID(), "nothing", protocol.ActMove), head + `,"epoch":1,"ply":0,"move":"a1a2/a1"}`},
	}
	const each = 2000
	for _, f := range floods {
		for range each {
			if err := e.Conn().PublishRequest(f.subject, e.Conn().NewRespInbox(), []byte(f.data)); err != nil && !errors.Is(err, nats.ErrReconnectBufExceeded) {
				return "", err
			}
		}
		// The server may have cut the stranger off, which is no fault of the platform.
		if err := e.Conn().FlushWithContext(ctx); err != nil {
			if err := protocol.Await(ctx, e.Conn()); err != nil {
				return "", err
			}
		}
	}
	seen, err := m.endsWell(ctx)
	if err != nil {
		return "", err
	}
	for seat, h := range m.state(m.ann).Holders {
		if h.Epoch != 1 {
			return "", broken("the %s seat was lost: it is in epoch %d", game.Seat(seat), h.Epoch)
		}
	}
	return fmt.Sprintf("%s, under %d messages of a stranger", seen, each*len(floods)), nil
}

// disturbed plays a fast game of active players, and disturbs the platform after some
// plies. Clocks are shorter than what is to be survived.
func (r *platformRig) disturbed(ctx context.Context, clock string, disturb func(m *match) error) (string, error) {
	m, err := r.meet(ctx, r.timed(clock), active, func(c *scripted.PlayerConfig) { c.Think = 30 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := m.both(ctx, "some moves", plies(4)); err != nil {
		return "", err
	}
	if err := disturb(m); err != nil {
		return "", err
	}
	return m.endsWell(ctx)
}

func platformCut(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, "60+1", func(*match) error {
		r.cfg.Proxy.Cut()
		return nil
	})
}

// longer is how long a disturbance lasts that no clock of disturbedClock survives.
const (
	disturbedClock = "3"
	longer         = 4 * time.Second
)

func platformHang(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error {
		r.cfg.Proxy.Stall(true)
		defer r.cfg.Proxy.Stall(false)
		return sleep(ctx, longer)
	})
}

func platformPause(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error {
		if err := r.cfg.Program.Signal(sigPause); err != nil {
			return err
		}
		return errors.Join(sleep(ctx, longer), r.cfg.Program.Signal(sigResume))
	})
}

// restart kills the platform and starts it again.
func (r *platformRig) restart(ctx context.Context, away time.Duration) error {
	if err := r.cfg.Program.Kill(); err != nil {
		return err
	}
	if err := sleep(ctx, away); err != nil {
		return err
	}
	return r.cfg.Program.Start()
}

func platformKill(ctx context.Context, r *platformRig) (string, error) {
	return r.disturbed(ctx, disturbedClock, func(*match) error { return r.restart(ctx, longer) })
}

func platformKillAtEnd(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meetAt(ctx, 4, r.terms)
	if err != nil {
		return "", err
	}
	st := m.state(m.bob)
	if _, err := m.bob.Resign(ctx, m.id, st.Holders[st.You].Epoch, len(st.Moves)); err != nil {
		return "", broken("a resignation: %v", err)
	}
	if _, err := m.ann.Until(ctx, m.id, "the end", finished); err != nil {
		return "", broken("%v", err)
	}
	if err := r.restart(ctx, 0); err != nil {
		return "", err
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if err := p.SayHello(ctx); err != nil {
			return "", broken("no answer after the restart: %v", err)
		}
	}
	if err := sleep(ctx, 3*time.Second); err != nil {
		return "", err
	}
	for _, p := range []*scripted.Player{m.ann, m.bob} {
		if err := p.SayHello(ctx); err != nil {
			return "", broken("%v", err)
		}
		if m.heldBy(p) || !finished(m.state(p)) {
			return "", broken("after the restart the game that had ended goes on")
		}
	}
	return "the end stands", nil
}

func platformFullDisk(ctx context.Context, r *platformRig) (string, error) {
	m, err := r.meet(ctx, r.terms, active, func(c *scripted.PlayerConfig) { c.Think = 100 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := m.both(ctx, "some moves", plies(2)); err != nil {
		return "", err
	}
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
			if err := r.cfg.Disk.Fill(); err != nil {
				filled <- err
				return
			}
		}
	}()
	more := 0
	err = sleep(ctx, 2*time.Second)
	more = len(m.state(m.ann).Moves) - at
	close(stop)
	if err := errors.Join(err, <-filled, r.cfg.Disk.Empty()); err != nil {
		return "", err
	}
	seen, err := m.endsWell(ctx)
	return fmt.Sprintf("%s while the disk was full; %s", texttable.Count(more, "move", "moves"), seen), err
}
