package bot

import (
	"slices"
	"testing"
	"time"

	"sparring/bot/play"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

func TestResignsWhenHopeless(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Play.ResignBelow, c.Play.ResignMoves = 40, 3
	})
	f.engine.setWinProb(0.3)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	if m.Outcome != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}) || len(m.Moves) != 5 {
		t.Errorf("%+v after %d moves, want resignation instead of the third own move", m.Outcome, len(m.Moves))
	}
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
}

func TestAnswersDrawOffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		accept float64 // the engine claims 50 %
		moves  int     // of which two have been made
		want   string
	}{{"accepts", 50, 2, "draw accept"}, {"declines", 49, 2, "draw decline"}, {"early", 50, 20, "draw decline"}, {"never", 0, 2, "draw decline"}} {
		t.Run(c.name, func(t *testing.T) {
			p, m, f := playing(t, nil, func(cfg *Config) { cfg.Play.DrawAccept, cfg.Play.DrawMoves = c.accept, c.moves })
			f.engine.setPause(10 * time.Millisecond)
			p.seen("some moves", func() bool { return len(m.Moves) >= 4 })
			p.offerDraw(m)
			p.seen("an answer", func() bool { return slices.Contains(m.acts, c.want) })
			p.finished(m)
			if n := len(m.acts); n != 1 {
				t.Errorf("acts %v, want one answer", m.acts)
			}
		})
	}
}

func TestOffersDraws(t *testing.T) {
	p, m, _ := playing(t, nil, func(c *Config) { c.Play.DrawWithin, c.Play.DrawMoves = 10, 3 })
	p.finished(m)
	if n := len(m.Moves) / 2 / 3; len(m.acts) == 0 || len(m.acts) > n || m.acts[0] != "draw offer" {
		t.Errorf("acts %v in %d moves, want a draw offer every third own move", m.acts, len(m.Moves))
	}
}

// offerDraw offers a draw as the first player.
func (p *platform) offerDraw(m *scriptedGame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	by := game.First
	m.DrawBy = &by
	p.advance(m)
}

// askTakeback asks for a takeback as the first player.
func (p *platform) askTakeback(m *scriptedGame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.acts = nil
	by := game.First
	m.TakebackBy = &by
	p.advance(m)
}

func TestAnswersTakebacks(t *testing.T) {
	for _, rated := range []bool{true, false} {
		srv := service(t)
		p := newPlatform(t, connect(t, srv.Platform()))
		f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Play.Takebacks = 1 })
		f.engine.setPause(10 * time.Millisecond)
		o := offerOf(small(t), "game1", game.Second)
		o.Terms.Rated = rated
		m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
		ask := func(moves int, want string) {
			t.Helper()
			p.seen("some moves", func() bool { return len(m.Moves) >= moves })
			p.askTakeback(m)
			p.seen(want, func() bool { return slices.Contains(m.acts, want) })
			p.mu.Lock()
			if m.TakebackBy != nil {
				m.TakebackBy = nil
				p.advance(m)
			}
			p.mu.Unlock()
		}
		if rated {
			ask(4, "takeback decline")
		} else {
			ask(4, "takeback accept")
			ask(6, "takeback decline") // one was granted, and one is what the settings allow
		}
		p.finished(m)
		gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
		if f.log.Has(`"level":"error"`) {
			t.Errorf("log:\n%s", f.log)
		}
	}
}

// An opponent who offers and withdraws all the time gets one answer at a ply. Otherwise
// the answers would use up what the platform lets the player send in all its games.
func TestAnswersOneOfferAtAPly(t *testing.T) {
	for _, c := range []struct {
		want string
		open func(*scriptedGame) **game.Seat
	}{
		{"takeback decline", func(m *scriptedGame) **game.Seat { return &m.TakebackBy }},
		{"draw decline", func(m *scriptedGame) **game.Seat { return &m.DrawBy }},
	} {
		t.Run(c.want, func(t *testing.T) {
			const ply = 2 // from here on the script moves only when the test says so
			prepare := func(p *platform) {
				p.tell = func(_ *platform, m *scriptedGame, st protocol.State, send func(protocol.State)) {
					if len(st.Moves) >= ply {
						m.think = time.Hour
					}
					send(st)
				}
			}
			p, m, _ := playing(t, prepare, func(cfg *Config) { cfg.Play.Takebacks, cfg.Play.DrawAccept = 0, 0 })
			offer := func(by *game.Seat) {
				*c.open(m) = by
				p.advance(m)
			}
			p.seen("the first moves", func() bool { return len(m.Moves) == ply })
			first := game.First
			for range 40 {
				for _, by := range []*game.Seat{&first, nil} {
					p.mu.Lock()
					offer(by)
					p.mu.Unlock()
					time.Sleep(5 * time.Millisecond) // else the bot might skip this state
				}
			}
			p.seen("an answer", func() bool { return len(m.acts) > 0 })
			p.mu.Lock()
			p.play(m, m.pos.Legal(nil)[0])
			p.mu.Unlock()
			p.seen("the bot's move, after all these states", func() bool { return len(m.Moves) == ply+2 })
			p.mu.Lock()
			if !slices.Equal(m.acts, []string{c.want}) {
				t.Errorf("%d answers, want one: %q", len(m.acts), m.acts)
			}
			m.acts = nil
			offer(&first)
			p.mu.Unlock()
			p.seen("the answer at the next ply", func() bool { return slices.Equal(m.acts, []string{c.want}) })
		})
	}
}

func TestWithPeople(t *testing.T) {
	const delay = 30 * time.Millisecond
	p, m, f := playing(t, nil, func(c *Config) { c.Play.Greet, c.Play.HumanDelay = "你好", delay })
	p.finished(m)
	p.mu.Lock()
	if own, took := time.Duration(len(m.Moves)/2), time.Since(m.Started); took < own*delay {
		t.Errorf("%d own moves in %v: replies within %v", own, took, delay)
	}
	p.mu.Unlock()
	p.seen("the greeting, once", func() bool { return slices.Equal(m.chats, []string{"你好"}) })
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 })
}

// What people write to each other is in no log, whatever its level.
func TestChatIsNotLogged(t *testing.T) {
	p, _, f := playing(t, nil)
	gametest.Eventually(t, "the notice in the log", func() bool {
		p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeChat, ID: "t1", Game: "game1", From: "ann", Text: "between us"})
		return f.log.Has(`"notice":"chat"`)
	})
	if f.log.Has("between us") {
		t.Error("the log has what the opponent wrote")
	}
}
