package ucci

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/pipe/internal/tokens"
	"sparring/pipe/uci"
)

// Reply is a line from an engine to a GUI: one of the types below, or [Info]. String
// returns the line.
type Reply = uci.Reply

// The replies that are as in UCI.
type (
	ID      = uci.ID // Key may be "copyright" or "user" too
	ReadyOK = uci.ReadyOK
	Chatter = uci.Chatter
)

// The others.
type (
	// Option is an option that the engine has; its name is one word.
	Option struct{ uci.Option }
	// OK is "ucciok", the end of the handshake.
	OK struct{}
	// BestMove ends a search. Ponder is the expected reply, "" if none is known.
	// Draw offers a draw, or accepts the one offered.
	BestMove struct {
		Move, Ponder string
		Draw, Resign bool
	}
	// NoBestMove ends a search without a move.
	NoBestMove struct{}
	// PopHash answers Probe. All fields are zero if the table has no entry.
	PopHash struct {
		BestMove     string
		Lower, Upper *Bound
	}
	// Bye answers Quit.
	Bye struct{}
)

// Bound is a score in the hash table, and the depth it was searched to.
type Bound struct{ Score, Depth int }

// Info is the state of a search. A zero field was not given.
type Info struct {
	Depth    int
	Score    *int // a minor piece is about 100, as a rule
	Nodes    uint64
	Time     time.Duration
	CurrMove string // being searched
	PV       []string
	Message  string // the rest of the line, for the user
}

// ParseReply reads a line from an engine. The reply is never nil; the error
// tells what could not be read.
func ParseReply(line string) (Reply, error) {
	l := tokens.Read(line)
	whole := *l
	r := parseReply(l)
	if r == nil {
		r = Chatter{Text: whole.Rest()}
	}
	return r, l.Err()
}

func parseReply(l *tokens.Line) Reply {
	switch l.Next() {
	case "id":
		return ID{Key: l.Next(), Value: l.Rest()}
	case "option":
		if l.Peek() == "name" { // some engines speak half UCI
			l.Next()
		}
		return Option{uci.ParseOption(l)}
	case "ucciok":
		return OK{}
	case "readyok":
		return ReadyOK{}
	case "bestmove":
		return parseBestMove(l)
	case "nobestmove":
		return NoBestMove{}
	case "pophash":
		return parsePopHash(l)
	case "bye":
		return Bye{}
	case "info":
		return parseInfo(l)
	}
	return nil
}

func parseBestMove(l *tokens.Line) Reply {
	b := BestMove{Move: l.Next()}
	if b.Move == "" {
		l.Bad("bestmove: nothing follows")
	}
	if slices.Contains(uci.NoMoves, b.Move) {
		return NoBestMove{}
	}
	for l.Peek() != "" {
		switch l.Next() {
		case "ponder":
			b.Ponder = l.Next()
		case "draw":
			b.Draw = true
		case "resign":
			b.Resign = true
		}
	}
	return b
}

func parsePopHash(l *tokens.Line) Reply {
	var p PopHash
	bound := func(key string) *Bound {
		score, _ := l.Number(key, math.MinInt32, math.MaxInt32)
		b := &Bound{Score: int(score)}
		if l.Peek() == "depth" {
			l.Next()
			depth, _ := l.Number("depth", 0, math.MaxInt32)
			b.Depth = int(depth)
		}
		return b
	}
	for l.Peek() != "" {
		switch key := l.Next(); key {
		case "bestmove":
			p.BestMove = l.Next()
		case "lowerbound":
			p.Lower = bound(key)
		case "upperbound":
			p.Upper = bound(key)
		}
	}
	return p
}

// infoWords are the words that end the moves of a pv.
var infoWords = []string{"depth", "seldepth", "multipv", "time", "nodes", "nps", "hashfull", "tbhits", "pv", "score", "currmove", "message", "string"}

func parseInfo(l *tokens.Line) Reply {
	var i Info
	for l.Peek() != "" {
		switch key := l.Next(); key {
		case "depth":
			n, _ := l.Number(key, 0, math.MaxInt32)
			i.Depth = int(n)
		case "score":
			if l.Peek() == "cp" { // as in UCI
				l.Next()
			}
			if n, ok := l.Number(key, math.MinInt32, math.MaxInt32); ok {
				score := int(n)
				i.Score = &score
			}
		case "nodes":
			n, _ := l.Number(key, 0, math.MaxInt64)
			i.Nodes = uint64(n)
		case "time":
			d, _ := l.Millis(key)
			i.Time = max(d, 0)
		case "currmove":
			i.CurrMove = l.Next()
		case "pv":
			i.PV = l.Until(func(w string) bool { return slices.Contains(infoWords, w) })
		case "message", "string":
			i.Message = l.Rest()
		}
	}
	return i
}

func (r BestMove) String() string {
	s := "bestmove " + tokens.Text(r.Move)
	if r.Ponder != "" {
		s += " ponder " + tokens.Text(r.Ponder)
	}
	switch {
	case r.Resign:
		s += " resign"
	case r.Draw:
		s += " draw"
	}
	return s
}

func (r PopHash) String() string {
	s := "pophash"
	if r.BestMove != "" {
		s += " bestmove " + tokens.Text(r.BestMove)
	}
	if r.Lower != nil {
		s += fmt.Sprintf(" lowerbound %d depth %d", r.Lower.Score, r.Lower.Depth)
	}
	if r.Upper != nil {
		s += fmt.Sprintf(" upperbound %d depth %d", r.Upper.Score, r.Upper.Depth)
	}
	return s
}

func (i Info) String() string {
	s := "info"
	if i.Time > 0 || i.Nodes > 0 { // the two go together
		s += " time " + strconv.FormatInt(i.Time.Milliseconds(), 10)
	}
	if i.Nodes > 0 {
		s += " nodes " + strconv.FormatUint(i.Nodes, 10)
	}
	if i.Depth > 0 {
		s += " depth " + strconv.Itoa(i.Depth)
	}
	if i.Score != nil {
		s += " score " + strconv.Itoa(*i.Score)
	}
	if i.CurrMove != "" {
		s += " currmove " + tokens.Text(i.CurrMove)
	}
	if len(i.PV) > 0 {
		s += " pv " + tokens.Text(strings.Join(i.PV, " "))
	}
	if i.Message != "" {
		s += " message " + tokens.Text(i.Message)
	}
	return s
}

func (OK) String() string         { return "ucciok" }
func (NoBestMove) String() string { return "nobestmove" }
func (Bye) String() string        { return "bye" }
func (r Option) String() string   { return "option " + tokens.Text(r.Name) + " " + r.Tail() }
