// Package xboard is the text of the chess engine communication protocol of
// XBoard and WinBoard, version 2, as far as a program needs it that drives an
// engine, such as HoiXiangqi: the commands to send, each a constant or a function
// ([Hello], [New], [Move]), and the replies to read ([Parse]).
//
// Source: "Chess Engine Communication Protocol" by Tim Mann and H.G. Muller,
// gnu.org/software/xboard/engine-intf.html.
//
// # Moves and positions
//
// A Xiangqi move is written as ours is, h2e2, with ranks from 0 (XBoard counts
// them so on boards of ten ranks). Engines that count from 1 exist; what an
// engine means shows in its first move.
//
// # Sending
//
// An engine says at first, in answer to protover, which commands it knows
// ([Features]). What it has not named must not be sent: HoiXiangqi ends itself
// on any command that it does not know, and on an illegal move or position.
package xboard

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/pipe/internal/tokens"
)

// ErrSyntax: a reply that is known by its first word and wrong.
var ErrSyntax = errors.New("xboard syntax")

// MaxLine is how much of a line is looked at, in bytes. HoiXiangqi says all
// its features on one line of 1,800.
const MaxLine = 8192

// Hello begins a conversation; features follow, until done=1 or, from old
// engines, none for two seconds.
const Hello = "xboard\nprotover 2"

// Commands without arguments. To set up a game: New, Variant, Force, then
// moves; Go lets the engine play the side to move. Force makes it stop playing
// (and thinking), Now makes it move at once.
const (
	New   = "new"
	Force = "force"
	Go    = "go"
	Now   = "?"
	Easy  = "easy" // do not think on the opponent's time
	Post  = "post" // show thinking
	Quit  = "quit"
)

// Variant chooses a game, by XBoard's name of it.
func Variant(name string) string { return line("variant", name) }

// Move passes a move on; not all engines want the word usermove before it.
func Move(f Features, move string) string {
	if f.UserMove {
		return line("usermove", move)
	}
	return line(move)
}

// Ping asks for pong n, which comes when all before it is done.
func Ping(n int) string { return line("ping", strconv.Itoa(n)) }

// SetBoard sets up a position.
func SetBoard(fen string) string { return line("setboard", fen) }

// Depth limits the search.
func Depth(plies int) string { return line("sd", strconv.Itoa(plies)) }

// Memory limits the hash tables, in MiB; Cores the threads. Features say
// whether the engine knows them.
func Memory(mib int) string { return line("memory", strconv.Itoa(mib)) }

// Cores is how many processors the engine may use.
func Cores(n int) string { return line("cores", strconv.Itoa(n)) }

// Option sets one of the engine's own options; Features list them. A button
// has no value.
func Option(name, value string) string {
	if value == "" {
		return line("option", name)
	}
	return line("option", name+"="+value)
}

// Level is the time control: so many moves in the base time (0: all of them),
// and the increment for each move in whole seconds.
func Level(moves int, base, increment time.Duration) string {
	s := seconds(base)
	text := strconv.FormatInt(s/60, 10)
	if s%60 != 0 {
		text += fmt.Sprintf(":%02d", s%60)
	}
	return line("level", strconv.Itoa(moves), text, strconv.FormatInt(seconds(increment), 10))
}

// Clocks tells both clocks, the engine's first; to be sent before Go and before
// each move, if the engine wants it.
func Clocks(mine, theirs time.Duration) string {
	centi := func(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds()/10, 0), 10) }
	return line("time", centi(mine)) + "\n" + line("otim", centi(theirs))
}

func seconds(d time.Duration) int64 { return max(int64(d/time.Second), 0) }

// line joins words, without what would end the line.
func line(words ...string) string { return tokens.Text(strings.Join(words, " ")) }

// FEN is a Xiangqi position as SetBoard takes it, made from one of ours: horses
// are h and elephants e, and there is nothing between the side to move and the
// counters of moves. The error wraps ErrSyntax.
func FEN(ours string) (string, error) {
	fields := strings.Fields(ours)
	if len(fields) != 6 {
		return "", fmt.Errorf("%w: position %.100q, want six fields", ErrSyntax, ours)
	}
	rows := strings.NewReplacer("n", "h", "N", "H", "b", "e", "B", "E").Replace(fields[0])
	return line(rows, fields[1], fields[4], fields[5]), nil
}
