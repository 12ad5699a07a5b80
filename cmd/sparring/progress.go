package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sparring/lab/match"
	"sparring/lab/match/elo"
)

// progress shows the progress of a match: a bar with the score on a terminal,
// otherwise a line now and then.
type progress struct {
	screen *display
	test   *elo.SPRT // that may end the match early; nil: none
	total  int       // games, with those that the file has beyond --games
	every  int       // games between lines without a terminal
	begin  time.Time
	before int // games of earlier runs; -1: not known yet
}

func newProgress(out io.Writer, p *match.Plan) *progress {
	total := p.Games * len(p.Terms.Pairings())
	return &progress{screen: newDisplay(out), test: p.SPRT, total: total, every: max(total/maxLines, 1), begin: time.Now(), before: -1}
}

// game counts a finished game. It is not called concurrently.
func (p *progress) game(s *match.Standing, g *match.Game) {
	if text := g.StallText(); text != "" {
		p.screen.Say("%s", text)
	}
	if p.before < 0 {
		p.before = s.Games - 1
	}
	if !p.screen.Live() && s.Games%p.every != 0 {
		return
	}
	p.total = max(p.total, s.Games)
	const width = 20
	full := width * s.Games / max(p.total, 1)
	left := timeLeft(p.begin, s.Games-p.before, p.total-p.before)
	if p.test != nil {
		left = "at most " + left
	}
	done := fmt.Sprintf("[%s%s] %d/%d games, %d/%d pairs", strings.Repeat("#", full), strings.Repeat("-", width-full), s.Games, p.total, s.Pairs(), p.total/2)
	if p.screen.Live() { // on a line of its own the score is not cut off
		p.screen.Set(done+", "+left, s.Line(p.test))
		return
	}
	p.screen.Line("match", done+": "+s.Line(p.test)+", "+left)
}

// end removes the bar.
func (p *progress) end() { p.screen.Clear() }
