package arena

import (
	"context"
	"slices"
	"time"

	"sparring/protocol"
)

func (a *Arena) hello(from protocol.From, m protocol.Hello) protocol.HelloAnswer {
	switch a.presence.hello(from, m) { // it may not have been observed yet
	case protocol.CodeBusy:
		return protocol.HelloAnswer{Answer: refusal(protocol.CodeBusy, "%d other instances of this player are there", maxInstances)}
	case protocol.Denied:
		return protocol.HelloAnswer{Answer: refusal(protocol.Denied, otherProcess)}
	}
	return protocol.HelloAnswer{
		HeartbeatMS: a.cfg.Heartbeat.Milliseconds(), Limits: a.cfg.Limits, Held: a.index.heldBy(from.Player, m.Instance),
		Waiting: a.waiting.list(from.Player, from.Arrived), Others: a.presence.others(from.Player, m.Instance, from.Arrived),
		Watch: true,
	}
}

// helloID tells hellos apart. A process that is started again may count its requests from the start.
type helloID struct{ secret, id string }

func idOf(m *protocol.Hello) helloID { return helloID{m.Secret, m.ID} }

// maxHellos bounds the remembered hellos of an instance: those that an arena may be about to
// answer when others have come already.
const maxHellos = 8

// hello notes the hello of an instance, to be answered. The code is CodeBusy if the player
// has too many others, and Denied if another process acts as this one; otherwise "".
func (p *presence) hello(from protocol.From, m protocol.Hello) protocol.Code {
	return p.noteHello(from, m, false)
}

// observeHello is hello for one that comes in its order among what the instance says. Another
// goroutine notes a hello to answer it: earlier, so that a leave may follow which the instance
// sent first and which the hello undoes, or later than the hellos that the instance has sent
// since.
func (p *presence) observeHello(from protocol.From, m protocol.Hello) { p.noteHello(from, m, true) }

func (p *presence) noteHello(from protocol.From, m protocol.Hello, inOrder bool) protocol.Code {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[from.Player][m.Instance]; in != nil && in.otherProcess(m.Secret) {
		switch {
		case in.mayStillRun(m.Secret, from.Arrived, p.lostAfter):
			if in.replaced.hello.ID != m.ID {
				in.replaced.hello = &m
				in.signOfLife(from.Arrived, p.lostAfter)
			}
			return ""
		case in.turnedAway == m.Secret && from.Arrived.Sub(in.seen) < p.lostAfter:
			return protocol.Denied
		}
		in.replaced = &replaced{hello: in.hello, at: from.Arrived}
		in.silent, in.leaves = false, nil // that was the other process
	}
	in := p.of(from.Player, m.Instance, from.Arrived)
	if in == nil {
		return protocol.CodeBusy
	}
	noted := in.hello != nil && idOf(in.hello) == idOf(&m)
	if slices.Contains(in.hellos, idOf(&m)) || noted && !inOrder {
		return "" // a repetition, or late: it must not undo what the instance said since
	}
	if inOrder {
		in.hellos = lastOf(maxHellos, append(in.hellos, idOf(&m)))
	}
	in.left = ""
	for i := range in.gave {
		in.gave[i].undone = true
	}
	if noted {
		return ""
	}
	in.hello, in.greeted = &m, from.Arrived
	in.free = freeSlots{m.Slots, m.Slots}
	in.pool = in.free
	close(p.greeted)
	p.greeted = make(chan struct{})
	return ""
}

// await waits until the instance has said hello; false when ctx ends first.
func (p *presence) await(ctx context.Context, player protocol.PlayerID, id protocol.InstanceID) bool {
	for {
		p.mu.Lock()
		greeted := p.greeted
		p.mu.Unlock()
		if p.known(player, id) {
			return true
		}
		select {
		case <-greeted:
		case <-ctx.Done():
			return false
		}
	}
}

// settleBeats is for how many heartbeats a process waits at most for the hellos of instances
// that it hears. Of three processes each answers one heartbeat in three, so that an instance is
// still unknown after ten in one case of sixty.
const settleBeats = 10

// settle waits, at the start of a process, for the hellos of the instances that it hears, but
// no longer than settleBeats, and until ctx ends. They play already, on another process or on
// the one before, and would accept offers that are no use as long as this one does not know
// them. Within a heartbeat all of them are heard, and those that this process answers say hello.
func (p *presence) settle(ctx context.Context, heartbeat time.Duration) {
	begun := time.Now()
	for sleep(ctx, heartbeat); ctx.Err() == nil && time.Since(begun) < settleBeats*heartbeat && p.unknownHeard(); {
		sleep(ctx, heartbeat/5)
	}
}

// unknownHeard reports whether an instance was heard that has not said hello.
func (p *presence) unknownHeard() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, all := range p.players {
		for _, in := range all {
			if in.hello == nil {
				return true
			}
		}
	}
	return false
}
