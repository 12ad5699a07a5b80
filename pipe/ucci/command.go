package ucci

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sparring/pipe/internal/tokens"
	"sparring/pipe/uci"
)

// Command is a line from a GUI to an engine: one of the types below. String returns
// the line.
type Command = uci.Command

// The commands that are as in UCI. A Position here is never Cyclone's.
type (
	IsReady  = uci.IsReady
	Position = uci.Position
	Stop     = uci.Stop
	Quit     = uci.Quit // the engine says Bye
	Unknown  = uci.Unknown
)

// The others.
type (
	// Hello is "ucci": give your name and options, then ucciok.
	Hello struct{}
	// SetOption sets an option of one word, or presses a button.
	SetOption struct{ Name, Value string }
	// BanMoves excludes moves from the search, until the next Position.
	BanMoves struct{ Moves []string }
	// Go starts a search. A zero field was not given.
	Go struct {
		Ponder   bool // on the opponent's time
		Draw     bool // the opponent offers a draw
		Infinite bool // "depth infinite"
		Static   bool // "depth 0": only the static evaluation
		Depth    int
		Nodes    uint64
		Clock    *Clock // nil if no clock runs
	}
	// PonderHit: the expected move was played, with or without the offer of a
	// draw.
	PonderHit struct{ Draw bool }
	// Probe asks for the hash entry of a position: for debugging.
	Probe struct{ Position Position }
)

// Clock is the times left, as numbers in the unit that the GUI has chosen.
type Clock struct {
	Time, Increment       int // the mover's; Increment for each move
	MovesToGo             int // to the next time control; 0 if there is none
	OppTime, OppIncrement int
	OppMovesToGo          int
}

// Unit returns the unit of Clock's numbers: seconds, unless the option usemillisec is
// on.
func Unit(usemillisec bool) time.Duration {
	if usemillisec {
		return time.Millisecond
	}
	return time.Second
}

// Parse reads a line from a GUI. The command is never nil; the error tells what
// could not be read.
func Parse(line string) (Command, error) {
	l := tokens.Read(line)
	whole := *l
	c := parse(l)
	if c == nil {
		c = Unknown{Text: whole.Rest()}
	}
	return c, l.Err()
}

func parse(l *tokens.Line) Command {
	switch l.Next() {
	case "ucci":
		return Hello{}
	case "isready":
		return IsReady{}
	case "setoption":
		o := SetOption{l.Next(), l.Rest()}
		if o.Name == "" {
			l.Bad("setoption: no name")
		}
		return o
	case "position":
		return parsePosition(l)
	case "banmoves":
		return BanMoves{l.Words()}
	case "go":
		return parseGo(l)
	case "ponderhit":
		return PonderHit{l.Next() == "draw"}
	case "stop":
		return Stop{}
	case "probe":
		return Probe{parsePosition(l)}
	case "quit":
		return Quit{}
	}
	return nil
}

func parsePosition(l *tokens.Line) Position {
	fen, moves := l.Position()
	return Position{FEN: fen, Moves: moves}
}

func parseGo(l *tokens.Line) Command {
	var g Go
	number := func(key string) int {
		n, _ := l.Number(key, math.MinInt32, math.MaxInt32)
		return int(n)
	}
	clock := func() *Clock {
		if g.Clock == nil {
			g.Clock = &Clock{}
		}
		return g.Clock
	}
	for l.Peek() != "" {
		switch key := l.Next(); key {
		case "ponder":
			g.Ponder = true
		case "draw":
			g.Draw = true
		case "infinite": // as UCI has it, though UCCI says "depth infinite"
			g.Infinite = true
		case "depth":
			if l.Peek() == "infinite" {
				l.Next()
				g.Infinite = true
			} else if n, ok := l.Number(key, 0, math.MaxInt32); ok {
				g.Depth, g.Static = int(n), n == 0
			}
		case "nodes":
			if n, ok := l.Number(key, 0, math.MaxInt64); ok {
				g.Nodes = uint64(n)
			}
		case "time":
			clock().Time = number(key)
		case "increment":
			clock().Increment = number(key)
		case "movestogo":
			clock().MovesToGo = number(key)
		case "opptime":
			clock().OppTime = number(key)
		case "oppincrement":
			clock().OppIncrement = number(key)
		case "oppmovestogo":
			clock().OppMovesToGo = number(key)
		}
	}
	return g
}

func (c Go) String() string {
	s := "go"
	if c.Ponder {
		s += " ponder"
	}
	if c.Draw {
		s += " draw"
	}
	number := func(key string, n int, always bool) {
		if n != 0 || always {
			s += " " + key + " " + strconv.Itoa(n)
		}
	}
	if t := c.Clock; t != nil {
		number("time", t.Time, true)
		number("movestogo", t.MovesToGo, false)
		number("increment", t.Increment, t.MovesToGo == 0)
		if t.OppTime != 0 || t.OppIncrement != 0 || t.OppMovesToGo != 0 {
			number("opptime", t.OppTime, true)
			number("oppmovestogo", t.OppMovesToGo, false)
			number("oppincrement", t.OppIncrement, t.OppMovesToGo == 0)
		}
	}
	number("depth", c.Depth, c.Static)
	if c.Nodes > 0 {
		s += " nodes " + strconv.FormatUint(c.Nodes, 10)
	}
	if c.Infinite {
		s += " depth infinite"
	}
	return s
}

func (c PonderHit) String() string {
	if c.Draw {
		return "ponderhit draw"
	}
	return "ponderhit"
}

func (c Probe) String() string {
	c.Position.Cyclone = true // without the word "position"
	return "probe " + c.Position.String()
}

func (Hello) String() string { return "ucci" }

func (c SetOption) String() string {
	return strings.TrimSpace("setoption " + tokens.Text(c.Name) + " " + tokens.Text(c.Value))
}

func (c BanMoves) String() string {
	return strings.TrimSpace("banmoves " + tokens.Text(strings.Join(c.Moves, " ")))
}
