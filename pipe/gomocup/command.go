package gomocup

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/pipe/internal/tokens"
)

// Verb is the first word of a command, in capitals.
type Verb string

// The commands that a manager sends. The comment names the other fields of
// Command that are set.
const (
	Start      Verb = "START"      // Width, Height
	RectStart  Verb = "RECTSTART"  // Width, Height
	Restart    Verb = "RESTART"    //
	Begin      Verb = "BEGIN"      //
	Turn       Verb = "TURN"       // At
	Board      Verb = "BOARD"      // Stones; ends with DONE
	Swap2Board Verb = "SWAP2BOARD" // Stones, all of Side 0; ends with DONE
	TakeBack   Verb = "TAKEBACK"   // At
	Play       Verb = "PLAY"       // At
	Info       Verb = "INFO"       // Key, Value
	About      Verb = "ABOUT"      //
	End        Verb = "END"        //

	YXBoard      Verb = "YXBOARD"      // as BOARD, but without a search
	YXStop       Verb = "YXSTOP"       // move now
	Stop         Verb = "STOP"         // the same, in other managers
	YXNBest      Verb = "YXNBEST"      // N: search with this many principal variations
	YXShowForbid Verb = "YXSHOWFORBID" // list the forbidden points
	YXShowInfo   Verb = "YXSHOWINFO"   // the manager is Yixin-Board
	YXHashClear  Verb = "YXHASHCLEAR"  // clear the hash table
	YXBlock      Verb = "YXBLOCK"      // Stones, of Side 0, that must not be played; ends with DONE
	YXBlockUndo  Verb = "YXBLOCKUNDO"  // Stones, of Side 0, that may be played again; ends with DONE
	YXBlockReset Verb = "YXBLOCKRESET" // all may be played
	done         Verb = "DONE"         // ends the lists
)

// Keys of INFO, in small letters as the protocol has them. Times are in
// milliseconds, memory in bytes.
const (
	TimeoutTurn  = "timeout_turn"  // for each move; 0 is as fast as possible
	TimeoutMatch = "timeout_match" // for the whole match; 0 is no limit
	TimeLeft     = "time_left"     // of the match; may be negative, NoLimit is none
	MaxMemory    = "max_memory"    // 0 is no limit
	GameType     = "game_type"     // 0 human, 1 brain, 2 tournament, 3 network tournament
	RuleKey      = "rule"          // a Rule
	Evaluate     = "evaluate"      // the point under the mouse
	Folder       = "folder"        // where lasting files may be kept

	// Yixin-Board's.
	MaxDepth      = "max_depth"
	MaxNode       = "max_node"
	HashSize      = "hash_size" // KiB
	ThreadNum     = "thread_num"
	TimeIncrement = "time_increment" // for each move, milliseconds
	ShowDetail    = "show_detail"
)

// NoLimit is the value of INFO time_left for a match without a limit.
const NoLimit = 1<<31 - 1

// Side is the owner of a stone of BOARD.
type Side int

// The sides, from the point of view of the reader. Dead is a stone of a row that
// has been counted in a continuous game, or a point that is forbidden in Renju.
const (
	Own      Side = 1
	Opponent Side = 2
	Dead     Side = 3
)

// Stone is a line of BOARD. Side is 0 in a list of points only.
type Stone struct {
	Point
	Side Side
}

// Command is a command of a manager.
type Command struct {
	Verb          Verb // as the constants, or any other word in capitals: unknown
	Width, Height int
	At            Point
	Stones        []Stone
	Key, Value    string
	N             int
}

// lists are the commands that end with DONE, and whether their lines have a side.
var lists = map[Verb]bool{Board: true, YXBoard: true, Swap2Board: false, YXBlock: false, YXBlockUndo: false}

// known are the commands of one line.
var known = map[Verb]bool{Start: true, RectStart: true, Restart: true, Begin: true, Turn: true, TakeBack: true, Play: true,
	Info: true, About: true, End: true, YXStop: true, Stop: true, YXNBest: true, YXShowForbid: true, YXShowInfo: true,
	YXHashClear: true, YXBlockReset: true}

// Known reports whether the verb is one of this package's.
func (v Verb) Known() bool {
	_, list := lists[v]
	return list || known[v]
}

// String returns the command as it is sent, without the last newline: lists have
// several lines.
func (c Command) String() string {
	switch c.Verb {
	case Start:
		return fmt.Sprintf("START %d", c.Width)
	case RectStart:
		return fmt.Sprintf("RECTSTART %d,%d", c.Width, c.Height)
	case Turn, TakeBack, Play:
		return fmt.Sprintf("%s %s", c.Verb, c.At)
	case Info:
		return tokens.Text(fmt.Sprintf("INFO %s %s", c.Key, c.Value))
	case YXNBest:
		return fmt.Sprintf("YXNBEST %d", c.N)
	}
	sided, list := lists[c.Verb]
	if !list {
		return string(c.Verb)
	}
	var s strings.Builder
	s.WriteString(string(c.Verb) + "\n")
	for _, stone := range c.Stones {
		s.WriteString(stone.Point.String())
		if sided {
			fmt.Fprintf(&s, ",%d", stone.Side)
		}
		s.WriteByte('\n')
	}
	return s.String() + string(done)
}

// Int returns the value of an INFO as an integer.
func (c Command) Int() (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(c.Value), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: INFO %.40s %.40q, want an integer", ErrSyntax, c.Key, c.Value)
	}
	return n, nil
}

// Decoder reads commands line by line. The zero value is ready.
type Decoder struct {
	list  *Command // being read
	fault error    // the first error in it
}

// Line reads one line. Ok is false while there is no complete command: after an
// empty line, or within a list. A command with an error is complete too, but
// only its verb is valid; the error wraps ErrSyntax. END ends an open list.
func (d *Decoder) Line(line string) (c Command, ok bool, err error) {
	if len(line) > MaxLine {
		err = fmt.Errorf("%w: a line of %d bytes, at most %d are read", ErrSyntax, len(line), MaxLine)
	}
	line = tokens.Text(strings.ToValidUTF8(clean(line), "?"))
	word, rest, _ := strings.Cut(line, " ")
	verb, rest := Verb(strings.ToUpper(word)), strings.TrimSpace(rest)
	if d.list != nil && verb != End {
		return d.item(line, verb, err)
	}
	d.list = nil
	if verb == "" {
		return Command{}, false, nil
	}
	if _, list := lists[verb]; list {
		d.list, d.fault = &Command{Verb: verb}, err
		return Command{}, false, nil
	}
	c.Verb = verb
	if err == nil {
		err = c.parse(rest)
	}
	return c, true, err
}

// item reads a line of a list.
func (d *Decoder) item(line string, verb Verb, err error) (Command, bool, error) {
	if verb == done {
		c, fault := *d.list, d.fault
		d.list = nil
		return c, true, fault
	}
	if d.fault != nil || line == "" {
		return Command{}, false, nil // wait for DONE
	}
	if err == nil {
		err = d.list.item(line)
	}
	if err != nil {
		d.fault = fmt.Errorf("%s, line %d: %w", d.list.Verb, len(d.list.Stones)+1, err)
	}
	return Command{}, false, nil
}

func (c *Command) item(line string) error {
	sided := lists[c.Verb]
	count := 2
	if sided {
		count = 3
	}
	n, err := numbers(line, count)
	if err != nil {
		return err
	}
	stone := Stone{Point: Point{n[0], n[1]}}
	if sided {
		stone.Side = Side(n[2])
	}
	passed := sided && stone.Point == Pass
	switch {
	case !passed && (stone.X < 0 || stone.X > maxCoord || stone.Y < 0 || stone.Y > maxCoord):
		return fmt.Errorf("%w: point %s, want x,y with both from 0", ErrSyntax, stone.Point)
	case sided && (stone.Side < Own || stone.Side > Dead):
		return fmt.Errorf("%w: %d after the point, want 1 own, 2 opponent's or 3 dead", ErrSyntax, stone.Side)
	case len(c.Stones) >= MaxStones:
		return fmt.Errorf("%w: more than %d stones", ErrSyntax, MaxStones)
	}
	c.Stones = append(c.Stones, stone)
	return nil
}

// parse reads what follows the verb. Words after a command that takes none are
// ignored, as in the protocol's own example.
func (c *Command) parse(rest string) error {
	switch c.Verb {
	case Start:
		first, _, _ := strings.Cut(rest, " ")
		n, ok := number(first)
		if !ok {
			return fmt.Errorf("%w: START %.20q, want the size of the board", ErrSyntax, rest)
		}
		c.Width, c.Height = n, n
	case RectStart:
		n, err := numbers(rest, 2)
		if err != nil {
			return fmt.Errorf("RECTSTART: %w", err)
		}
		c.Width, c.Height = n[0], n[1]
	case Turn, TakeBack, Play:
		at, err := ParsePoint(rest)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Verb, err)
		}
		c.At = at
	case Info:
		key, value, _ := strings.Cut(rest, " ")
		c.Key, c.Value = strings.ToLower(key), strings.TrimSpace(value)
		if key == "" {
			return fmt.Errorf("%w: INFO without a key", ErrSyntax)
		}
	case YXNBest:
		n, ok := number(rest)
		if !ok || n < 1 || n > maxLines {
			return fmt.Errorf("%w: YXNBEST %.20q, want 1 to %d", ErrSyntax, rest, maxLines)
		}
		c.N = n
	}
	return nil
}
