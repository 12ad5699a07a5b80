package scripted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// receive acts on a state.
func (p *Player) receive(s *Seat, st protocol.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seats[s.Game] != s {
		return
	}
	if h := p.hooks.State; h != nil && !h(s, st) {
		return
	}
	p.check(s, st)
	mine := st.Holders[st.You]
	ours := mine.Player == p.cfg.Player && mine.Instance == p.cfg.Instance
	if !ours && !s.Granted && st.Status != protocol.Finished {
		return // not for us
	}
	if ours {
		s.Granted = true
	}
	if len(st.Moves) < len(s.State.Moves) {
		s.sent = nil // taken back
	}
	s.State, s.Epoch, s.Heard = st, mine.Epoch, time.Now()
	switch {
	case st.Status == protocol.Finished:
		p.drop(s)
	case !ours && mine.Instance != "":
		p.drop(s)
	case !ours:
		s.sent = nil // vacant: it may come back to us
	}
	p.broadcast()
	if st.Status == protocol.Playing && ours && !p.cfg.Idle && st.Turn == st.You {
		p.move(s, st)
	}
}

// move sends a random legal move; p.mu is held.
func (p *Player) move(s *Seat, st protocol.State) {
	if s.sent != nil && s.sent.Ply == len(st.Moves) && s.sent.Epoch == s.Epoch {
		if !s.waiting { // it was refused, or is not in the state yet
			p.send(s, st, *s.sent, p.cfg.Think)
		}
		return
	}
	m, err := p.Choose(st)
	if err != nil {
		p.fault("%v", err)
		return
	}
	s.sent = &m
	p.send(s, st, m, p.cfg.Think)
}

// Choose returns a random legal move in a state. It does not need the lock of another
// goroutine: call it under the lock.
func (p *Player) Choose(st protocol.State) (m protocol.MoveRequest, err error) {
	pos, err := Position(st.Snapshot)
	if err != nil {
		return m, err
	}
	legal := pos.Legal(nil)
	if len(legal) == 0 {
		return m, fmt.Errorf("game %s: no legal move after %d plies, but the game is %s", st.Game, len(st.Moves), st.Status)
	}
	move := legal[p.rng.IntN(len(legal))]
	text := pos.Format(move)
	if err := pos.Play(move); err != nil {
		return m, err
	}
	return protocol.MoveRequest{
		Header: protocol.Header{ID: protocol.NewID()}, Epoch: st.Holders[st.You].Epoch, Ply: len(st.Moves), Move: text, Key: game.KeyText(pos.Key()),
		Watching: p.Watching(st.Game),
	}, nil
}

// Position sets up the position of a snapshot.
func Position(s protocol.Snapshot) (game.Position, error) {
	rules, err := catalog.Rules(s.Terms.Rules)
	if err != nil {
		return nil, err
	}
	pos, err := game.Replay(rules, s.Terms.Position, s.Moves)
	if err != nil {
		return nil, fmt.Errorf("game %s: the state's moves: %w", s.Game, err)
	}
	return pos, nil
}

// send sends a move in a goroutine; p.mu is held.
func (p *Player) send(s *Seat, st protocol.State, m protocol.MoveRequest, after time.Duration) {
	s.waiting = true
	hook := p.hooks.Move
	p.spawn(func() {
		select {
		case <-time.After(after):
		case <-p.life.Done():
			return
		}
		stale := false
		p.Do(func() {
			stale = p.seats[s.Game] != s || s.sent == nil || s.sent.ID != m.ID || s.State.Status != protocol.Playing
			s.waiting = !stale
		})
		if stale {
			return
		}
		if hook != nil {
			hook(s, st, m, func(m protocol.MoveRequest) { p.deliver(s, m) })
		} else {
			p.deliver(s, m)
		}
	})
}

// deliver sends a move until it is answered.
func (p *Player) deliver(s *Seat, m protocol.MoveRequest) {
	ctx, cancel := context.WithTimeout(p.life, 20*time.Second)
	defer cancel()
	_, err := p.SendMove(ctx, s.Game, m)
	p.mu.Lock()
	defer p.mu.Unlock()
	s.waiting = false
	p.broadcast()
	refusal, refused := errors.AsType[*protocol.Error](err)
	if !refused {
		if err != nil && p.life.Err() == nil {
			p.needHello()
		}
		return
	}
	if h := p.hooks.Refused; h != nil && h(s, m, refusal) {
		return
	}
	switch refusal.Code {
	case protocol.Unavailable, protocol.RateLimited:
		p.send(s, s.State, m, 200*time.Millisecond)
	case protocol.Illegal, protocol.Malformed:
		p.spawn(func() {
			ctx, cancel := context.WithTimeout(p.life, 5*time.Second)
			defer cancel()
			p.Resign(ctx, s.Game, m.Epoch, m.Ply) // the next state shows whether it worked
		})
	default:
		p.needHello()
	}
}
