// Package xboard is a codec for the chess engine communication protocol of XBoard
// and WinBoard, version 2, for programs that drive an engine such as HoiXiangqi:
// the commands to send, each a constant or a function ([Hello], [New], [Move]),
// and the replies to read ([Parse]).
//
// Source: "Chess Engine Communication Protocol" by Tim Mann and H.G. Muller,
// gnu.org/software/xboard/engine-intf.html.
//
// # Moves and positions
//
// A Xiangqi move is written as ours, h2e2, with ranks from 0, as XBoard does on
// boards of ten ranks. Some engines count from 1; their first move shows it.
//
// # Sending
//
// In answer to protover an engine says which commands it knows ([Features]). No
// others may be sent: HoiXiangqi exits on an unknown command, and on an illegal
// move or position.
package xboard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/pipe/internal/tokens"
)

// ErrSyntax is wrapped by the error of a reply that is known by its first word
// and malformed.
var ErrSyntax = errors.New("xboard syntax")

// MaxLine is how much of a line is read, in bytes. HoiXiangqi sends all its
// features on one line of 1,800.
const MaxLine = 8192

// Hello begins a conversation. The engine answers with features until done=1; one
// that has sent none after two seconds will send none.
const Hello = "xboard\nprotover 2"

// Commands without arguments. To set up a game: New, Variant, Force, then moves;
// Go has the engine play the side to move. Force stops it from playing and
// thinking, Now makes it move at once.
const (
	New   = "new"
	Force = "force"
	Go    = "go"
	Now   = "?"
	Easy  = "easy" // no pondering
	Post  = "post" // show thinking
	Quit  = "quit"
)

// Variant selects a game by XBoard's name for it.
func Variant(name string) string { return line("variant", name) }

// Move sends a move, after the word usermove if the engine wants it.
func Move(f Features, move string) string {
	if f.UserMove {
		return line("usermove", move)
	}
	return line(move)
}

// Ping asks for pong n, which comes after all earlier commands are done.
func Ping(n int) string { return line("ping", strconv.Itoa(n)) }

// SetBoard sets up a position.
func SetBoard(fen string) string { return line("setboard", fen) }

// Depth limits the search.
func Depth(plies int) string { return line("sd", strconv.Itoa(plies)) }

// Memory limits the hash tables, in MiB. Features tell whether the engine knows
// it.
func Memory(mib int) string { return line("memory", strconv.Itoa(mib)) }

// Cores limits the number of processors. Features tell whether the engine knows
// it.
func Cores(n int) string { return line("cores", strconv.Itoa(n)) }

// Option sets one of the options in Features. A button has no value.
func Option(name, value string) string {
	if value == "" {
		return line("option", name)
	}
	return line("option", name+"="+value)
}

// Level returns the time control: the number of moves in the base time (0 is the
// whole game), and the increment for each move in whole seconds.
func Level(moves int, base, increment time.Duration) string {
	s := seconds(base)
	text := strconv.FormatInt(s/60, 10)
	if s%60 != 0 {
		text += fmt.Sprintf(":%02d", s%60)
	}
	return line("level", strconv.Itoa(moves), text, strconv.FormatInt(seconds(increment), 10))
}

// Clocks sets both clocks, the engine's first. It is sent before Go and before
// each move, if the engine wants it.
func Clocks(mine, theirs time.Duration) string {
	centi := func(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds()/10, 0), 10) }
	return line("time", centi(mine)) + "\n" + line("otim", centi(theirs))
}

func seconds(d time.Duration) int64 { return max(int64(d/time.Second), 0) }

// line joins words, and replaces what would end the line.
func line(words ...string) string { return tokens.Text(strings.Join(words, " ")) }

// FEN converts one of our Xiangqi positions for SetBoard: horses are h and
// elephants e, and the fields between the side to move and the move counters are
// left out. The error wraps ErrSyntax.
func FEN(ours string) (string, error) {
	fields := strings.Fields(ours)
	if len(fields) != 6 {
		return "", fmt.Errorf("%w: position %.100q, want six fields", ErrSyntax, ours)
	}
	rows := strings.NewReplacer("n", "h", "N", "H", "b", "e", "B", "E").Replace(fields[0])
	return line(rows, fields[1], fields[4], fields[5]), nil
}
