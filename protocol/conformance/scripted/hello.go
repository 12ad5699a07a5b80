package scripted

import (
	"context"
	"errors"
	"slices"
	"time"

	"sparring/protocol"
)

// SayHello says hello once and resumes what the platform says we hold.
func (p *Player) SayHello(ctx context.Context) error {
	ans, err := p.Hello(ctx, protocol.Hello{
		Kind: p.cfg.Kind, Display: p.cfg.Display, Build: "scripted player", Slots: p.cfg.Slots, Games: p.cfg.Games, Pools: p.cfg.Pools,
	})
	if err != nil {
		return err
	}
	p.Do(func() {
		p.greeting, p.heard = ans, time.Now()
		if ans.HeartbeatMS > 0 {
			p.heartbeat = time.Duration(ans.HeartbeatMS) * time.Millisecond
		}
		p.held(ans.Held, true)
		p.broadcast()
	})
	return nil
}

// needHello makes the player say hello soon.
func (p *Player) needHello() {
	select {
	case p.helloDue <- struct{}{}:
	default:
	}
}

func (p *Player) helloLoop() {
	for {
		select {
		case <-p.life.Done():
			return
		case <-p.helloDue:
		}
		quiet := false
		p.Do(func() { quiet = p.quiet })
		if !quiet {
			ctx, cancel := context.WithTimeout(p.life, 3*time.Second)
			if err := p.SayHello(ctx); err != nil {
				p.needHello()
			}
			cancel()
		}
		select {
		case <-p.life.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// beat sends heartbeats, and reconnects when nobody answers them.
func (p *Player) beat() {
	for {
		var every time.Duration
		p.Do(func() { every = p.heartbeat })
		select {
		case <-p.life.Done():
			return
		case <-time.After(every):
		}
		p.Beat(every)
	}
}

// Beat sends one heartbeat, unless the player is quiet.
func (p *Player) Beat(wait time.Duration) {
	p.beating.Lock()
	defer p.beating.Unlock()
	var quiet, silent bool
	var games []protocol.GameID
	var free int
	p.Do(func() {
		quiet, free, games = p.quiet, max(p.cfg.Slots-len(p.seats), 0), p.playing()
		silent = time.Since(p.heard) > 3*time.Second && !p.patient
	})
	if quiet {
		return
	}
	if silent && p.nc.IsConnected() {
		p.Do(func() { p.heard = time.Now() }) // the next try has as long
		if err := p.nc.FlushTimeout(time.Second); err != nil && p.life.Err() == nil {
			p.nc.ForceReconnect() // it fails only on a closed connection
		}
		p.needHello()
	}
	ctx, cancel := context.WithTimeout(p.life, max(wait, 100*time.Millisecond))
	defer cancel()
	ans, err := p.Alive(ctx, protocol.Alive{Free: free, Games: games})
	if err == nil || ans.Error != nil {
		p.Do(func() { p.heard = time.Now() })
	}
	switch {
	case errors.Is(err, &protocol.Error{Code: protocol.UnknownPeer}):
		p.needHello()
	case err == nil:
		p.Do(func() { p.held(ans.Held, false) })
	}
}

// playing lists the games that were granted; p.mu is held.
func (p *Player) playing() (games []protocol.GameID) {
	for id, s := range p.seats {
		if s.Granted {
			games = append(games, id)
		}
	}
	slices.Sort(games)
	return games
}

// held compares our games with those that the platform lists; p.mu is held.
func (p *Player) held(list []protocol.GameID, hello bool) {
	if h := p.hooks.Held; h != nil {
		list = h(list)
	}
	for _, id := range list {
		s := p.seats[id]
		if s == nil {
			if s = p.take(id, resumeFor); s != nil {
				p.needHello() // for its state, now that we are subscribed
			}
		} else if !s.Granted && !hello {
			p.needHello() // its first state was lost
		}
	}
	for id, s := range p.seats {
		switch {
		case !s.Granted, slices.Contains(list, id):
			s.missing = time.Time{}
		case s.missing.IsZero():
			s.missing = time.Now()
			p.needHello()
		case time.Since(s.missing) > p.cfg.Unlisted:
			p.drop(s)
		}
	}
}

// resumeFor is how long a game that the platform says we hold may be without a state.
const resumeFor = 5 * time.Second
