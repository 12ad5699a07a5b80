package faultyengine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/gomocup"
	"sparring/pipe/ucci"
)

// handleUCCI handles a UCCI command; false ends the program.
func (e *engine) handleUCCI(line string) bool {
	best := func() { e.say(ucci.BestMove{Move: e.pos.Format(e.pos.Legal(nil)[0])}) }
	c, _ := ucci.Parse(line)
	switch c := c.(type) {
	case ucci.Hello:
		e.say("option newgame type button")
		e.say(ucci.OK{})
	case ucci.IsReady:
		e.say(ucci.ReadyOK{})
	case ucci.Position:
		e.play(c.FEN, c.Moves)
	case ucci.Go:
		switch {
		case strings.HasSuffix(line, "depth infinite"):
			e.say(ucci.NoBestMove{})
		case c.Infinite:
			e.thinking = true
		default:
			best()
		}
	case ucci.Stop:
		if e.thinking {
			best()
		}
		e.thinking = false
		if e.mode == StopCrosses {
			time.Sleep(20 * time.Millisecond) // its move has been read
			e.say(ucci.NoBestMove{})
		}
	case ucci.Quit:
		e.say(ucci.Bye{})
		return false
	}
	return true
}

// gomocupEngine speaks the Gomocup protocol, on a board of 15.
type gomocupEngine struct {
	*engine
	decoder gomocup.Decoder
	unknown []string  // keys of INFO since its last move
	moved   time.Time // when it last moved
	rules   string    // "" is freestyle
}

// listensAfter is the time after a move in which LosesWord loses words.
const listensAfter = 50 * time.Millisecond

// handle handles a line; false ends the program.
func (e *gomocupEngine) handle(line string) bool {
	if e.mode == LosesWord && time.Since(e.moved) < listensAfter {
		_, line, _ = strings.Cut(line, " ")
	}
	c, ok, err := e.decoder.Line(line)
	if !ok || err != nil {
		return true
	}
	if e.mode == NoRestart && c.Verb == gomocup.Restart {
		return true
	}
	switch c.Verb {
	case gomocup.Start, gomocup.Restart:
		e.pos, _ = catalog.Setup("gomoku", e.rules, "")
		e.say("OK")
	case gomocup.Info:
		if e.mode == ErrorLines {
			e.unknown = append(e.unknown, c.Key)
		}
		if rule, err := strconv.Atoi(c.Value); c.Key == gomocup.RuleKey && err == nil {
			e.rules, _ = gomocup.Rule(rule).RuleSet(15)
			if e.pos != nil && e.pos.Ply() == 0 {
				e.pos, _ = catalog.Setup("gomoku", e.rules, "")
			}
		}
	case gomocup.Board:
		if e.mode == OpenBoard && e.pos.Ply() > 0 {
			fmt.Fprintln(os.Stderr, "check() failed")
			e.exit = 3
			return false
		}
		e.place(c.Stones)
		e.move()
	case gomocup.Begin:
		if e.pos.Ply() > 0 {
			e.say(gomocup.Answer{Kind: gomocup.Error, Text: "there are stones on the board"})
			break
		}
		e.move()
	case gomocup.Turn:
		e.put(c.At)
		e.move()
	case gomocup.Play:
		e.play(c.At)
	case gomocup.End:
		return false
	default:
		e.say(gomocup.Answer{Kind: gomocup.Error, Text: fmt.Sprintf("Unknown command: %s", c.Verb)})
	}
	return true
}

// place sets up a board. Whoever has as many stones as the opponent, and moves, is Black.
func (e *gomocupEngine) place(stones []gomocup.Stone) {
	const size = 15
	rows := make([][]byte, size)
	for i := range rows {
		rows[i] = make([]byte, size)
	}
	own := 0
	for _, s := range stones {
		if s.Side == gomocup.Own {
			own++
		}
	}
	letters, side := "xo", "b"
	if 2*own < len(stones) {
		letters, side = "ox", "w"
	}
	for _, s := range stones {
		mark := letters[0]
		if s.Side != gomocup.Own {
			mark = letters[1]
		}
		row, _ := strconv.Atoi(s.Point.Move(size)[1:])
		rows[size-row][s.Point.Move(size)[0]-'a'] = mark
	}
	if p, err := catalog.Setup("gomoku", e.rules, BoardText(rows)+" "+side); err == nil {
		e.pos = p // otherwise its next answer is illegal
	}
}

func (e *gomocupEngine) put(at gomocup.Point) {
	if m, err := e.pos.Parse(at.Move(15)); err == nil {
		e.pos.Play(m) // otherwise its next answer is illegal
	}
}

func (e *gomocupEngine) move() {
	for _, key := range e.unknown {
		e.say(gomocup.Answer{Kind: gomocup.Error, Text: "Unknown command: " + strings.ToUpper(key)})
	}
	e.unknown = nil
	at, err := gomocup.PointOf(e.choose(), 15)
	if err != nil {
		return
	}
	if e.mode == Suggests {
		e.say(gomocup.Answer{Kind: gomocup.Suggest, Points: []gomocup.Point{at}})
		return
	}
	e.play(at)
}

// choose returns the first legal move that does not lose at once, or with Forbidden one
// that does.
func (e *gomocupEngine) choose() string {
	var forbidden []string
	if f, ok := e.pos.(game.Forbidder); ok {
		for _, at := range f.Forbidden() {
			forbidden = append(forbidden, at.Point)
		}
	}
	if e.mode == Forbidden && len(forbidden) > 0 {
		return forbidden[0]
	}
	for _, m := range e.pos.Legal(nil) {
		if text := e.pos.Format(m); !slices.Contains(forbidden, text) {
			return text
		}
	}
	return e.pos.Format(firstOf(e.pos))
}

func (e *gomocupEngine) play(at gomocup.Point) {
	e.put(at)
	e.moved = time.Now()
	e.say(at)
}
