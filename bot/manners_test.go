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
		want   string
	}{{"accepts", 50, "draw accept"}, {"declines", 49, "draw decline"}, {"never", 0, "draw decline"}} {
		t.Run(c.name, func(t *testing.T) {
			p, m, f := playing(t, nil, func(cfg *Config) { cfg.Play.DrawAccept = c.accept })
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
		if f.log.has(`"level":"error"`) {
			t.Errorf("log:\n%s", f.log)
		}
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
