package faultyengine

import (
	"fmt"
	"os"
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
		e.pos, _ = catalog.Setup("gomoku", "gomoku/freestyle-15", "")
		e.say("OK")
	case gomocup.Info:
		if e.mode == ErrorLines {
			e.unknown = append(e.unknown, c.Key)
		}
	case gomocup.Board:
		if e.mode == OpenBoard && e.pos.Ply() > 0 {
			fmt.Fprintln(os.Stderr, "check() failed")
			e.exit = 3
			return false
		}
		e.pos, _ = catalog.Setup("gomoku", "gomoku/freestyle-15", "")
		for _, s := range c.Stones {
			e.put(s.Point)
		}
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
	m := game.NoMove
	if legal := e.pos.Legal(nil); len(legal) > 0 {
		m = legal[0]
	}
	at, err := gomocup.PointOf(e.pos.Format(m), 15)
	if err != nil {
		return
	}
	if e.mode == Suggests {
		e.say(gomocup.Answer{Kind: gomocup.Suggest, Points: []gomocup.Point{at}})
		return
	}
	e.play(at)
}

func (e *gomocupEngine) play(at gomocup.Point) {
	e.put(at)
	e.moved = time.Now()
	e.say(at)
}
