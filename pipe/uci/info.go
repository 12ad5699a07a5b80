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

// Unit is the unit of a score.
type Unit uint8

// The units.
const (
	NoScore    Unit = iota
	Centipawns      // hundredths of a pawn, or what stands for one
	Mate            // moves to the mate; negative if the mover is mated, 0 if it is mate now
)

// Bound relates a score to the true one.
type Bound uint8

// The bounds.
const (
	Exact Bound = iota
	Lower       // the true score is at least this
	Upper       // at most
)

// Score is a score from the mover's point of view.
type Score struct {
	Unit  Unit
	Value int
	Bound Bound
}

// WDL is the chance of win, draw and loss in thousandths.
type WDL struct{ Win, Draw, Loss int }

// Info is the state of a search. A zero field was not given.
type Info struct {
	Depth, SelDepth int
	Line            int // "multipv": 1 is the best line
	Score           Score
	WDL             *WDL
	Nodes, NPS      uint64
	HashFull        int // thousandths
	TableHits       uint64
	Time            time.Duration
	CurrMove        string // being searched, the CurrNumber-th
	CurrNumber      int
	PV              []string
	Refutation      []string // a move, and the line that refutes it
	CurrLine        []string // being searched
	CPULoad         int      // thousandths
	Note            string   // "string": the rest of the line, for the user
}

// infoWords are the words that end a list of moves in an info line.
var infoWords = []string{"depth", "seldepth", "time", "nodes", "pv", "multipv", "score", "currmove", "currmovenumber",
	"hashfull", "nps", "tbhits", "sbhits", "cpuload", "string", "refutation", "currline", "wdl", "lowerbound", "upperbound"}

func parseInfo(l *tokens.Line) Reply {
	var i Info
	number := func(key string, into *int) {
		if n, ok := l.Number(key, math.MinInt32, math.MaxInt32); ok {
			*into = int(n)
		}
	}
	count := func(key string, into *uint64) {
		if n, ok := l.Number(key, 0, math.MaxInt64); ok {
			*into = uint64(n)
		}
	}
	moves := func() []string { return l.Until(func(w string) bool { return slices.Contains(infoWords, w) }) }
	for l.Peek() != "" {
		switch key := l.Next(); key {
		case "depth":
			number(key, &i.Depth)
		case "seldepth":
			number(key, &i.SelDepth)
		case "multipv":
			number(key, &i.Line)
		case "time":
			if d, ok := l.Millis(key); ok {
				i.Time = max(d, 0)
			}
		case "nodes":
			count(key, &i.Nodes)
		case "nps":
			count(key, &i.NPS)
		case "tbhits":
			count(key, &i.TableHits)
		case "hashfull":
			number(key, &i.HashFull)
		case "cpuload":
			number(key, &i.CPULoad)
		case "currmove":
			i.CurrMove = l.Next()
		case "currmovenumber":
			number(key, &i.CurrNumber)
		case "pv":
			i.PV = moves()
		case "refutation":
			i.Refutation = moves()
		case "currline":
			i.CurrLine = moves()
		case "score":
			parseScore(l, &i.Score)
		case "lowerbound":
			i.Score.Bound = Lower
		case "upperbound":
			i.Score.Bound = Upper
		case "wdl":
			i.WDL = parseWDL(l)
		case "string":
			i.Note = l.Rest()
		}
	}
	return i
}

// parseWDL returns nil unless there are three numbers. None is negative, so that their
// shares are probabilities.
func parseWDL(l *tokens.Line) *WDL {
	var n [3]int64
	valid := true
	for i := range n {
		var ok bool
		n[i], ok = l.Number("wdl", 0, math.MaxInt32)
		valid = valid && ok
	}
	if !valid {
		return nil
	}
	return &WDL{Win: int(n[0]), Draw: int(n[1]), Loss: int(n[2])}
}

func parseScore(l *tokens.Line, s *Score) {
	unit := Centipawns
	switch l.Peek() {
	case "cp":
		l.Next()
	case "mate":
		l.Next()
		unit = Mate
	}
	if n, ok := l.Number("score", math.MinInt32, math.MaxInt32); ok {
		s.Unit, s.Value = unit, int(n)
	}
}

func (i Info) String() string {
	var s strings.Builder
	s.WriteString("info")
	number := func(key string, n int64) {
		if n != 0 {
			s.WriteString(" " + key + " " + strconv.FormatInt(n, 10))
		}
	}
	number("depth", int64(i.Depth))
	number("seldepth", int64(i.SelDepth))
	number("multipv", int64(i.Line))
	switch i.Score.Unit {
	case Centipawns:
		fmt.Fprintf(&s, " score cp %d", i.Score.Value)
	case Mate:
		fmt.Fprintf(&s, " score mate %d", i.Score.Value)
	}
	switch i.Score.Bound {
	case Lower:
		s.WriteString(" lowerbound")
	case Upper:
		s.WriteString(" upperbound")
	}
	if i.WDL != nil {
		fmt.Fprintf(&s, " wdl %d %d %d", i.WDL.Win, i.WDL.Draw, i.WDL.Loss)
	}
	number("nodes", int64(min(i.Nodes, math.MaxInt64)))
	number("nps", int64(min(i.NPS, math.MaxInt64)))
	number("hashfull", int64(i.HashFull))
	number("tbhits", int64(min(i.TableHits, math.MaxInt64)))
	number("cpuload", int64(i.CPULoad))
	if i.Time > 0 || i.Nodes > 0 { // GUIs expect it there, even 0
		fmt.Fprintf(&s, " time %d", i.Time.Milliseconds())
	}
	if i.CurrMove != "" {
		s.WriteString(" currmove " + tokens.Text(i.CurrMove))
	}
	number("currmovenumber", int64(i.CurrNumber))
	s.WriteString(list(" refutation ", i.Refutation) + list(" currline ", i.CurrLine) + list(" pv ", i.PV))
	if i.Note != "" {
		s.WriteString(" string " + tokens.Text(i.Note))
	}
	return s.String()
}
