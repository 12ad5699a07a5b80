package uci

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sparring/pipe/internal/tokens"
)

// Reply is a line from an engine to a GUI: one of the types below, [Option] or
// [Info]. String returns the line.
type Reply interface{ fmt.Stringer }

// The replies.
type (
	// ID is "id": Key is "name" or "author".
	ID struct{ Key, Value string }
	// OK is "uciok", the end of the handshake.
	OK struct{}
	// ReadyOK answers IsReady.
	ReadyOK struct{}
	// BestMove ends a search. Move is one of NoMoves if there is no legal move;
	// Ponder is the expected reply, "" if none is known.
	BestMove struct{ Move, Ponder string }
	// State is "copyprotection" or "registration" with its state: "checking",
	// "ok" or "error".
	State struct{ Key, Value string }
	// Chatter is a line outside of the protocol.
	Chatter struct{ Text string }
)

// NoMoves are the texts that engines write for "no move". The first is ours.
var NoMoves = []string{"(none)", "0000", "none", "NULL"}

// None reports whether there is no legal move.
func (b BestMove) None() bool { return b.Move == "" || slices.Contains(NoMoves, b.Move) }

// ParseReply reads a line from an engine. The reply is never nil; the error
// tells what could not be read.
func ParseReply(line string) (Reply, error) {
	l := tokens.Read(line)
	whole := *l
	r := parseReply(l)
	if r == nil {
		r = Chatter{whole.Rest()}
	}
	return r, l.Err()
}

func parseReply(l *tokens.Line) Reply {
	switch word := l.Next(); word {
	case "id":
		return ID{l.Next(), l.Rest()}
	case "uciok":
		return OK{}
	case "readyok":
		return ReadyOK{}
	case "copyprotection", "registration":
		return State{word, l.Next()}
	case "bestmove":
		b := BestMove{Move: l.Next()}
		if b.Move == "" {
			l.Bad("bestmove: nothing follows")
		}
		l.Until(func(w string) bool { return w == "ponder" })
		l.Next()
		b.Ponder = l.Next()
		return b
	case "option":
		if l.Peek() == "name" {
			l.Next()
		}
		return ParseOption(l)
	case "info":
		return parseInfo(l)
	}
	return nil
}

func (r BestMove) String() string {
	if r.Ponder == "" {
		return "bestmove " + tokens.Text(r.Move)
	}
	return "bestmove " + tokens.Text(r.Move) + " ponder " + tokens.Text(r.Ponder)
}

func (OK) String() string        { return "uciok" }
func (ReadyOK) String() string   { return "readyok" }
func (r ID) String() string      { return "id " + r.Key + " " + tokens.Text(r.Value) }
func (r State) String() string   { return r.Key + " " + tokens.Text(r.Value) }
func (r Chatter) String() string { return tokens.Text(r.Text) }

// Kind is the type of an option.
type Kind string

// The types of option.
const (
	Check  Kind = "check"  // "true" or "false"
	Spin   Kind = "spin"   // a whole number within Min and Max
	Combo  Kind = "combo"  // one of Vars
	Button Kind = "button" // an action
	Text   Kind = "string" // any text
	Label  Kind = "label"  // read only (UCCI)
)

// Option is an option that an engine has.
type Option struct {
	Name     string
	Kind     Kind
	Default  string // "" if not given
	Min, Max int    // of a Spin
	Vars     []string
}

// ParseOption reads an option's line from its name on, which is the same in UCCI.
func ParseOption(l *tokens.Line) Option {
	keys := []string{"type", "default", "min", "max", "var"}
	key := func(w string) bool { return slices.Contains(keys, w) }
	o := Option{Name: strings.Join(l.Until(func(w string) bool { return w == "type" }), " ")}
	if o.Name == "" {
		l.Bad("option: no name")
	}
	for l.Peek() != "" {
		switch w := l.Next(); w {
		case "type":
			o.Kind = Kind(l.Next())
		case "default":
			o.Default = strings.Join(l.Until(key), " ")
			if o.Default == "<empty>" {
				o.Default = ""
			}
		case "min", "max":
			n, _ := l.Number(w, math.MinInt32, math.MaxInt32)
			if w == "min" {
				o.Min = int(n)
			} else {
				o.Max = int(n)
			}
		case "var":
			o.Vars = append(o.Vars, strings.Join(l.Until(key), " "))
		}
	}
	return o
}

// Tail returns the option's line from its type on.
func (o Option) Tail() string {
	s := "type " + tokens.Text(string(o.Kind))
	switch {
	case o.Kind == Button || o.Kind == Label:
	case o.Kind == Text && o.Default == "":
		s += " default <empty>"
	case o.Default != "":
		s += " default " + tokens.Text(o.Default)
	}
	if o.Kind == Spin {
		s += " min " + strconv.Itoa(o.Min) + " max " + strconv.Itoa(o.Max)
	}
	for _, v := range o.Vars {
		s += " var " + tokens.Text(v)
	}
	return s
}

func (o Option) String() string { return "option name " + tokens.Text(o.Name) + " " + o.Tail() }
