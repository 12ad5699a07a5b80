package xboard

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the kind of a reply.
type Kind string

// The kinds of reply. The comment names the fields of Reply that are set.
const (
	FeatureReply Kind = "feature"      // Features
	MoveReply    Kind = "move"         // Move
	Pong         Kind = "pong"         // N
	Illegal      Kind = "illegal move" // Move, Text: the reason, if it is said
	Error        Kind = "error"        // Text: the kind, Move: the command
	Resign       Kind = "resign"       //
	OfferDraw    Kind = "offer draw"   //
	ResultClaim  Kind = "result"       // Result, Text
	Tell         Kind = "tell"         // Text: for the user
	Hint         Kind = "hint"         // Move
	Thinking     Kind = "thinking"     // Thought
	Chatter      Kind = ""             // Text: anything else, to be ignored
)

// Reply is a line from an engine.
type Reply struct {
	Kind     Kind
	Move     string
	N        int
	Result   string // 1-0, 0-1, 1/2-1/2
	Text     string
	Features []Feature
	Thought  Thought
}

// Feature is a name and a value, without quotation marks.
type Feature struct{ Name, Value string }

// Thought is a line of thinking output.
type Thought struct {
	Depth int
	Score int // centipawns from the engine's point of view; beyond 100000, mates
	Time  time.Duration
	Nodes uint64
	Line  string // the principal variation, in the engine's own notation
}

// Parse reads a line. The error wraps ErrSyntax.
func Parse(text string) (Reply, error) {
	text = strings.TrimSpace(text[:min(len(text), MaxLine)])
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	chatter := Reply{Kind: Chatter, Text: text}
	switch word {
	case "feature":
		f, err := parseFeatures(rest)
		return Reply{Kind: FeatureReply, Features: f}, err
	case "move":
		return moveReply(rest)
	case "pong":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return Reply{}, fmt.Errorf("%w: pong %.20q, want a number", ErrSyntax, rest)
		}
		return Reply{Kind: Pong, N: n}, nil
	case "resign":
		return Reply{Kind: Resign}, nil
	case "offer":
		if rest == "draw" {
			return Reply{Kind: OfferDraw}, nil
		}
	case "1-0", "0-1", "1/2-1/2":
		return Reply{Kind: ResultClaim, Result: word, Text: strings.Trim(rest, "{}")}, nil
	case "telluser", "tellusererror", "tellopponent", "tellall", "tellothers", "tellics", "tellicsnoalias", "askuser":
		return Reply{Kind: Tell, Text: rest}, nil
	case "Hint:":
		return Reply{Kind: Hint, Move: rest}, nil
	case "Illegal":
		return illegal(rest, chatter), nil
	case "Error":
		why, command, ok := strings.Cut(strings.TrimPrefix(rest, "("), "):")
		if ok {
			return Reply{Kind: Error, Text: why, Move: strings.TrimSpace(command)}, nil
		}
	}
	if strings.HasPrefix(rest, "... ") { // a move in version 1 of the protocol: 1. ... h2e2
		if _, err := strconv.Atoi(strings.TrimSuffix(word, ".")); err == nil {
			return moveReply(strings.TrimSpace(rest[4:]))
		}
	}
	if t, ok := parseThought(text); ok {
		return Reply{Kind: Thinking, Thought: t}, nil
	}
	return chatter, nil
}

func moveReply(text string) (Reply, error) {
	if text == "" || strings.ContainsAny(text, " \t") {
		return Reply{}, fmt.Errorf("%w: move %.40q, want one move", ErrSyntax, text)
	}
	return Reply{Kind: MoveReply, Move: text}, nil
}

// illegal reads "move: h2e2" and "move (reason): h2e2".
func illegal(rest string, chatter Reply) Reply {
	head, move, ok := strings.Cut(rest, ":")
	reason, isMove := strings.CutPrefix(head, "move")
	if !ok || !isMove {
		return chatter
	}
	return Reply{Kind: Illegal, Move: strings.TrimSpace(move), Text: strings.Trim(reason, " ()")}
}

// parseFeatures reads name=value and name="value with spaces".
func parseFeatures(text string) ([]Feature, error) {
	var list []Feature
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(text, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t\"") {
			return list, fmt.Errorf("%w: feature %.40q, want name=value", ErrSyntax, text)
		}
		var value string
		if quoted, is := strings.CutPrefix(rest, `"`); is {
			if value, text, ok = strings.Cut(quoted, `"`); !ok {
				return list, fmt.Errorf("%w: feature %.20q: no closing quotation mark", ErrSyntax, name)
			}
		} else {
			value, text, _ = strings.Cut(rest, " ")
		}
		list = append(list, Feature{name, value})
	}
	return list, nil
}

// parseThought reads depth, score, centiseconds and nodes, then the moves. There
// may be a mark right after the depth, and tabs between the numbers.
func parseThought(text string) (Thought, bool) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return Thought{}, false
	}
	depth, err1 := strconv.Atoi(strings.TrimRight(fields[0], "+-.&"))
	score, err2 := strconv.Atoi(fields[1])
	centi, err3 := strconv.ParseUint(fields[2], 10, 31)
	nodes, err4 := strconv.ParseUint(fields[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || depth < 0 {
		return Thought{}, false
	}
	return Thought{Depth: depth, Score: score, Time: time.Duration(centi) * 10 * time.Millisecond, Nodes: nodes,
		Line: strings.Join(fields[4:], " ")}, true
}

// Features are an engine's capabilities. Before it has sent any, DefaultFeatures
// hold, not the zero value.
type Features struct {
	Name     string
	Variants []string
	Ping     bool
	SetBoard bool
	Time     bool // wants Clocks
	UserMove bool // wants usermove before moves
	Memory   bool
	SMP      bool // knows Cores
	Reuse    bool // plays several games in a row
	Options  []string
	Done     bool // the list is complete
	Waiting  bool // done=0: completing it takes longer than two seconds
}

// DefaultFeatures returns those of an engine that sends none.
func DefaultFeatures() Features { return Features{Time: true, Reuse: true} }

// Set records a feature and returns the command that answers it: accepted or
// rejected, "" if none is due.
func (f *Features) Set(o Feature) string {
	on := o.Value == "1"
	switch o.Name {
	case "done":
		f.Done, f.Waiting = on, !on
		return ""
	case "myname":
		f.Name = o.Value
	case "variants":
		f.Variants = strings.FieldsFunc(o.Value, func(r rune) bool { return r == ',' || r == ' ' })
	case "option":
		f.Options = append(f.Options, o.Value)
	case "sigint", "sigterm", "colors", "analyze", "name", "playother", "ics", "pause", "nps", "highlight", "exclude", "setscore", "draw":
		// What they allow is never sent.
	case "debug":
		// Lines that begin with # are chatter, announced or not.
	case "ping":
		f.Ping = on
	case "setboard":
		f.SetBoard = on
	case "time":
		f.Time = on
	case "usermove":
		f.UserMove = on
	case "memory":
		f.Memory = on
	case "smp":
		f.SMP = on
	case "reuse":
		f.Reuse = on
	default:
		return line("rejected", o.Name) // among them san and egt: moves are coordinates here
	}
	return line("accepted", o.Name)
}
