package arena

import (
	"time"

	"sparring/protocol"
)

// replaced is a process whose instance another one acts as since a time: it was killed and
// started again, as a rule.
type replaced struct {
	hello *protocol.Hello
	at    time.Time
	signs int       // messages of it since then
	last  time.Time // when one of these came
}

// signsOfLife is how many messages prove that a process still runs: the last one before its
// end may be late. Those that come together count once: they had to wait, for us as well,
// and its end may have come meanwhile.
const signsOfLife = 2

// otherProcess reports whether a message comes from another process than the one that acts
// as the instance, by its secret. Without secrets they are not told apart.
func (in *instance) otherProcess(secret string) bool {
	return in.hello != nil && in.hello.Secret != "" && secret != "" && secret != in.hello.Secret
}

// mayStillRun reports whether a secret is that of the process that was replaced just now. One
// that was silent for longer, as on a machine that slept, has lost its place.
func (in *instance) mayStillRun(secret string, now time.Time, lostAfter time.Duration) bool {
	r := in.replaced
	return r != nil && r.hello.Secret == secret && now.Sub(r.at) < lostAfter
}

// signOfLife notes a message of the process that was replaced. If it still runs, it acts as
// the instance again, since it has the games, and the one that came later has to make way.
func (in *instance) signOfLife(now time.Time, lostAfter time.Duration) {
	r := in.replaced
	if now.Sub(r.last) < lostAfter/6 { // heartbeats are a third of it apart
		return
	}
	r.last = now
	if r.signs++; r.signs >= signsOfLife {
		in.turnedAway, in.hello, in.replaced, in.seen = in.hello.Secret, in.replaced.hello, nil, now
	}
}

// listens returns "" if messages with a secret count as those of the instance, and
// otherwise how to refuse them: Denied while another process acts as the instance, and
// UnknownPeer before a hello, or if that one has been silent for long.
func (p *presence) listens(player protocol.PlayerID, id protocol.InstanceID, secret string, now time.Time) protocol.Code {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][id]
	switch {
	case in == nil || in.hello == nil:
		return protocol.UnknownPeer
	case !in.otherProcess(secret) || in.mayStillRun(secret, now, p.lostAfter):
		return ""
	case now.Sub(in.seen) < p.lostAfter:
		return protocol.Denied
	}
	return protocol.UnknownPeer
}
