package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sparring/lab/match"
)

// progress shows the progress of a match: a bar with the score on a terminal,
// otherwise a line now and then.
type progress struct {
	screen *display
	total  int
	every  int // games between lines without a terminal
	begin  time.Time
	before int // games of earlier runs; -1: not known yet
}

// maxLines is the number of progress lines of a match without a terminal.
const maxLines = 20

func newProgress(out io.Writer, p *match.Plan) *progress {
	total := p.Games * len(p.Terms.Pairings())
	return &progress{screen: newDisplay(out), total: total, every: max(total/maxLines, 1), begin: time.Now(), before: -1}
}

// game counts a finished game. It is not called concurrently.
func (p *progress) game(s *match.Standing, _ *match.Game) {
	if p.before < 0 {
		p.before = s.Games - 1
	}
	if !p.screen.live() && s.Games%p.every != 0 {
		return
	}
	const width = 20
	full := width * s.Games / max(p.total, 1)
	left := time.Duration(float64(time.Since(p.begin)) / float64(s.Games-p.before) * float64(p.total-s.Games))
	p.screen.game("match", fmt.Sprintf("[%s%s] %d/%d %s, %v left", strings.Repeat("#", full), strings.Repeat("-", width-full),
		s.Games, p.total, s.Line(), left.Round(time.Second)))
}

// end removes the bar.
func (p *progress) end() { p.screen.clear() }
