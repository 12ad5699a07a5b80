package uci

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/pipe/internal/tokens"
)

// Command is a line from a GUI to an engine: one of the types below. String returns
// the line.
type Command interface{ fmt.Stringer }

// The commands.
type (
	// Hello is "uci", or "ucicyclone": give your name and options, then uciok.
	Hello struct{ Cyclone bool }
	// Debug is "debug on" or "debug off".
	Debug struct{ On bool }
	// IsReady asks for readyok, at any time.
	IsReady struct{}
	// SetOption sets an option, or presses a button.
	SetOption struct{ Name, Value string }
	// Register is "register", with what follows.
	Register struct{ Text string }
	// NewGame is "ucinewgame": the next position is of another game.
	NewGame struct{}
	// Position is the position to search: FEN, or the usual start if it is "",
	// and the moves played from there.
	Position struct {
		FEN     string
		Moves   []string
		Cyclone bool // without the word "position", as GUIs of that dialect write it
	}
	// Go starts a search. A zero field was not given.
	Go struct {
		Moves    []string // "searchmoves": search only these
		Ponder   bool
		Infinite bool
		Clocks   *Clocks // nil if no clock runs
		MoveTime time.Duration
		Depth    int
		Nodes    uint64
		Mate     int // search for a win in this many moves
		Perft    int // count the leaf nodes instead
	}
	// Stop ends the search.
	Stop struct{}
	// PonderHit: the expected move was played.
	PonderHit struct{}
	// Quit ends the engine.
	Quit struct{}
	// Show is "d": print the position. It is not in the protocol, but every
	// engine has it.
	Show struct{}
	// Unknown is an empty line, or one without a known command.
	Unknown struct{ Text string }
)

// Clocks are the times left. White is the side that moves first in a game. Times
// may be negative.
type Clocks struct {
	White, Black                   time.Duration
	WhiteIncrement, BlackIncrement time.Duration
	MovesToGo                      int // to the next time control; 0 is the whole game
}

// Parse reads a line from a GUI. Words before the first known command are
// skipped. The command is never nil; the error tells what could not be read.
func Parse(line string) (Command, error) {
	l := tokens.Read(line)
	whole := *l
	for l.Peek() != "" {
		if c := parse(l); c != nil {
			return c, l.Err()
		}
		l.Next()
	}
	return Unknown{whole.Rest()}, l.Err()
}

// parse reads a command at the start of the line; nil if there is none.
func parse(l *tokens.Line) Command {
	word := l.Peek()
	if word == "fen" || word == "startpos" {
		fen, moves := l.Position()
		return Position{fen, moves, true}
	}
	rest := *l
	rest.Next()
	var c Command
	switch word {
	case "uci", "ucicyclone":
		c = Hello{word == "ucicyclone"}
	case "debug":
		c = Debug{rest.Next() != "off"}
	case "isready":
		c = IsReady{}
	case "setoption":
		c = parseSetOption(&rest)
	case "register":
		c = Register{rest.Rest()}
	case "ucinewgame":
		c = NewGame{}
	case "position":
		fen, moves := rest.Position()
		c = Position{FEN: fen, Moves: moves}
	case "go":
		c = parseGo(&rest)
	case "stop":
		c = Stop{}
	case "ponderhit":
		c = PonderHit{}
	case "quit":
		c = Quit{}
	case "d":
		c = Show{}
	default:
		return nil
	}
	*l = rest
	return c
}

// parseSetOption reads "name NAME [value VALUE]"; both may contain spaces.
func parseSetOption(l *tokens.Line) Command {
	if l.Peek() == "name" {
		l.Next()
	} else {
		l.Bad("setoption %.40q: want name", l.Peek())
	}
	name := l.Until(func(w string) bool { return w == "value" })
	l.Next()
	return SetOption{strings.Join(name, " "), l.Rest()}
}

// goWords are the words that may follow "go". Each ends the list of moves after
// searchmoves.
var goWords = []string{"searchmoves", "ponder", "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate",
	"movetime", "infinite", "perft"}

func parseGo(l *tokens.Line) Command {
	var g Go
	clocks := func() *Clocks {
		if g.Clocks == nil {
			g.Clocks = &Clocks{}
		}
		return g.Clocks
	}
	millis := func(key string, into func() *time.Duration) {
		if d, ok := l.Millis(key); ok {
			*into() = d
		}
	}
	number := func(key string, into *int) {
		if n, ok := l.Number(key, 0, math.MaxInt32); ok {
			*into = int(n)
		}
	}
	for l.Peek() != "" {
		switch key := l.Next(); key {
		case "searchmoves":
			g.Moves = l.Until(func(w string) bool { return slices.Contains(goWords, w) })
		case "ponder":
			g.Ponder = true
		case "infinite":
			g.Infinite = true
		case "wtime":
			millis(key, func() *time.Duration { return &clocks().White })
		case "btime":
			millis(key, func() *time.Duration { return &clocks().Black })
		case "winc":
			millis(key, func() *time.Duration { return &clocks().WhiteIncrement })
		case "binc":
			millis(key, func() *time.Duration { return &clocks().BlackIncrement })
		case "movestogo":
			number(key, &clocks().MovesToGo)
		case "movetime":
			millis(key, func() *time.Duration { return &g.MoveTime })
			g.MoveTime = max(g.MoveTime, time.Millisecond) // 0 would be no limit
		case "depth":
			number(key, &g.Depth)
		case "mate":
			number(key, &g.Mate)
		case "perft":
			number(key, &g.Perft)
		case "nodes":
			if n, ok := l.Number(key, 0, math.MaxInt64); ok {
				g.Nodes = uint64(n)
			}
		}
	}
	return g
}

func (c Hello) String() string {
	if c.Cyclone {
		return "ucicyclone"
	}
	return "uci"
}

func (c Debug) String() string {
	if c.On {
		return "debug on"
	}
	return "debug off"
}

func (c SetOption) String() string {
	if c.Value == "" {
		return "setoption name " + tokens.Text(c.Name)
	}
	return "setoption name " + tokens.Text(c.Name) + " value " + tokens.Text(c.Value)
}

func (c Position) String() string {
	text := "startpos"
	if c.FEN != "" {
		text = "fen " + tokens.Text(c.FEN)
	}
	if !c.Cyclone {
		text = "position " + text
	}
	return text + list(" moves ", c.Moves)
}

// list returns the head and the words; "" if there are no words.
func list(head string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	return head + tokens.Text(strings.Join(words, " "))
}

func (c Go) String() string {
	s := "go"
	number := func(key string, n int64, always bool) {
		if n != 0 || always {
			s += " " + key + " " + strconv.FormatInt(n, 10)
		}
	}
	if c.Ponder {
		s += " ponder"
	}
	if t := c.Clocks; t != nil {
		number("wtime", t.White.Milliseconds(), true)
		number("btime", t.Black.Milliseconds(), true)
		number("winc", t.WhiteIncrement.Milliseconds(), false)
		number("binc", t.BlackIncrement.Milliseconds(), false)
		number("movestogo", int64(t.MovesToGo), false)
	}
	number("movetime", c.MoveTime.Milliseconds(), false)
	number("depth", int64(c.Depth), false)
	number("nodes", int64(min(c.Nodes, math.MaxInt64)), false)
	number("mate", int64(c.Mate), false)
	number("perft", int64(c.Perft), false)
	if c.Infinite {
		s += " infinite"
	}
	return s + list(" searchmoves ", c.Moves)
}

func (IsReady) String() string    { return "isready" }
func (NewGame) String() string    { return "ucinewgame" }
func (Stop) String() string       { return "stop" }
func (PonderHit) String() string  { return "ponderhit" }
func (Quit) String() string       { return "quit" }
func (Show) String() string       { return "d" }
func (c Register) String() string { return strings.TrimSpace("register " + tokens.Text(c.Text)) }
func (c Unknown) String() string  { return tokens.Text(c.Text) }
