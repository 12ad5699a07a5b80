// Package faultyengine is an engine with one fault at a time, for tests of programs
// that drive engines. Otherwise it plays the first legal move. It speaks UCI, except
// in the modes for other protocols.
package faultyengine

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/uci"
)

// The modes, by the program's last argument.
const (
	Fine        = "fine"
	HangStart   = "hang-start"   // says nothing
	SlowStart   = "slow-start"   // says nothing for a second
	CrashStart  = "crash-start"  // ends at once, with an error on stderr
	HangGo      = "hang-go"      // never answers go
	CrashGo     = "crash-go"     // ends when asked to move
	CrashSixth  = "crash-sixth"  // ends when asked to move for the sixth time
	CrashThrice = "crash-thrice" // ends when asked to move, as three processes do in its folder
	IgnoreStop  = "ignore-stop"  // never ends a search without limits
	IgnoreClock = "ignore-clock" // takes four times its limit
	OnlyStop    = "only-stop"    // ignores its limits, searches until stop
	Flood       = "flood"        // writes endless lines when asked to move
	EndlessLine = "endless-line" // writes one endless line
	Unflushed   = "unflushed"    // its output comes only at its end
	NoLineEnd   = "no-line-end"  // writes its moves without a line end
	Illegal     = "illegal"      // plays an illegal move
	Null        = "null"         // plays no move
	Opponent    = "opponent"     // plays a move for the other side
	Twice       = "twice"        // answers every stop twice
	Repeats     = "repeats"      // answers every search twice, in one breath
	Ranks       = "ranks"        // writes ranks from 0 instead of 1
	Fork        = "fork"         // leaves a child behind, in its own session
	Zombie      = "zombie"       // does not wait for its child
	Memory      = "memory"       // allocates more and more memory
	Chatter     = "chatter"      // writes debug output between its answers
	CloseInput  = "close-input"  // closes its input
	EndSlowly   = "end-slowly"   // closes its input, and ends half a second later with an error
	Deaf        = "deaf"         // never reads its input
	IgnoreQuit  = "ignore-quit"  // keeps running after quit and the end of its input
	CrashPonder = "crash-ponder" // ends when asked to search without limits
	EarlyMove   = "early-move"   // answers a search without limits at once, with a move
	EarlyNull   = "early-null"   // the same, without a move
	NullAtStop  = "null-at-stop" // answers stop without a move
	SlowStop    = "slow-stop"    // answers stop after StopDelay
	HangOnce    = "hang-once"    // never answers the move that it is asked for as number HangsAt
	DiesIdle    = "dies-idle"    // ends at the next game, without a word
	LeaksMove   = "leaks-move"   // answers a new game with its last move
	KeepsBoard  = "keeps-board"  // ignores a position with fewer moves than it has on its board
	Counts      = "counts"       // counts moves by "go perft", as many engines do
	CountsWrong = "counts-wrong" // the same, with the moves of horses with a blocked leg

	// In UCCI: treats "go depth infinite" as a search to depth 0 and answers without
	// a move, as ElephantEye does; understands "go infinite".
	DepthInfinite = "ucci-depth-infinite"
	// In UCCI: ends a search by itself right when it is told to stop, and then answers
	// the stop, too, without a move, as ElephantEye does; understands "go infinite".
	StopCrosses = "ucci-stop-crosses"

	// In the Gomocup protocol:
	ErrorLines = "gomocup-error-lines" // answers every INFO with an error, right before its next move
	LosesWord  = "gomocup-loses-word"  // loses the first word of a line right after its move, as Rapfi does
	OpenBoard  = "gomocup-open-board"  // ends when it gets a BOARD while there are stones, as Carbon does
	NoRestart  = "gomocup-no-restart"  // does not answer RESTART, which is optional
	Suggests   = "gomocup-suggests"    // suggests its moves, and waits for PLAY
	PlaysWell  = "gomocup-fine"        // has no fault, and knows Renju
	Forbidden  = "gomocup-forbidden"   // plays Renju's forbidden points

	child = "child" // what Fork and Zombie start
)

// Modes are all modes but those of Breaks.
var Modes = []string{Fine, HangStart, SlowStart, CrashStart, HangGo, CrashGo, CrashSixth, CrashThrice, IgnoreStop, IgnoreClock, OnlyStop,
	Flood, EndlessLine, Unflushed, NoLineEnd,
	Illegal, Null, Opponent, Twice, Repeats, Ranks, Fork, Zombie, Memory, Chatter, CloseInput, EndSlowly,
	Deaf, IgnoreQuit, CrashPonder, EarlyMove, EarlyNull, NullAtStop, SlowStop,
	HangOnce, DiesIdle, LeaksMove, KeepsBoard, Counts, CountsWrong,
	DepthInfinite, StopCrosses, ErrorLines, LosesWord, OpenBoard, NoRestart, Suggests, PlaysWell, Forbidden}

// HangsAt is the number of the move at which HangOnce hangs.
const HangsAt = 60

// StopDelay is how late SlowStop answers.
const StopDelay = 300 * time.Millisecond

// Main is the main function, called by test binaries that run as the engine.
func Main() {
	mode := Fine
	if len(os.Args) > 1 {
		mode = os.Args[len(os.Args)-1]
	}
	os.Exit(run(mode))
}

func run(mode string) int {
	switch mode {
	case child:
		time.Sleep(time.Minute)
		return 0
	case HangStart, Deaf:
		time.Sleep(time.Minute)
		return 0
	case SlowStart:
		time.Sleep(time.Second)
	case EndSlowly:
		os.Stdin.Close()
		time.Sleep(500 * time.Millisecond)
		return 3
	case CrashStart:
		fmt.Fprintln(os.Stderr, "no network file")
		return 3
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	e := &engine{mode: mode, out: out, game: "xiangqi"}
	e.setUp(uci.Position{})
	handle := e.handleUCI
	switch mode {
	case DepthInfinite, StopCrosses:
		handle = e.handleUCCI
	case ErrorLines, LosesWord, OpenBoard, NoRestart, Suggests, PlaysWell, Forbidden:
		handle = (&gomocupEngine{engine: e}).handle
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, uci.MaxLine)
	for in.Scan() && handle(in.Text()) {
	}
	if mode == IgnoreQuit {
		time.Sleep(time.Minute)
	}
	return e.exit
}

type engine struct {
	mode string
	out  *bufio.Writer
	game string
	pos  game.Position
	kids []*exec.Cmd
	hog  [][]byte
	exit int

	asked int    // for moves
	said  string // its last answer
	rng   *rand.Rand

	thinking bool // without limits
}

func (e *engine) say(line any) {
	fmt.Fprintln(e.out, line)
	if e.mode != Unflushed {
		e.out.Flush()
	}
}

// handleUCI handles a UCI command; false ends the program.
func (e *engine) handleUCI(line string) bool {
	c, _ := uci.Parse(line)
	if e.mode == Chatter {
		e.say("DEBUG: got " + c.String())
		e.say("{\"depth\": 1}")
	}
	switch c := c.(type) {
	case uci.Hello:
		e.say(uci.ID{Key: "name", Value: "faulty: " + e.mode})
		e.say(uci.Option{Name: "UCI_Variant", Kind: uci.Combo, Default: "xiangqi", Vars: []string{"xiangqi", "gomoku", "amazons"}})
		e.say(uci.Option{Name: "Hash", Kind: uci.Spin, Default: "16", Min: 1, Max: 64})
		e.say(uci.OK{})
		if e.mode == CloseInput {
			os.Stdin.Close()
			time.Sleep(time.Minute)
		}
	case uci.IsReady:
		e.say(uci.ReadyOK{})
	case uci.NewGame:
		if e.said == "" {
			break
		}
		switch e.mode {
		case DiesIdle:
			return false
		case LeaksMove:
			e.say(e.said)
		}
	case uci.SetOption:
		if c.Name == "UCI_Variant" {
			e.game = c.Value
			e.setUp(uci.Position{})
		}
	case uci.Position:
		e.setUp(c)
	case uci.Go:
		return e.think(c)
	case uci.Stop:
		if e.mode == SlowStop {
			time.Sleep(StopDelay)
		}
		switch {
		case e.thinking && e.mode == NullAtStop:
			e.say(uci.BestMove{Move: uci.NoMoves[0]})
		case e.thinking && e.mode != IgnoreStop:
			e.answer()
		}
		if e.mode == Twice {
			e.answer()
		}
		e.thinking = false
	case uci.Quit:
		return false
	}
	return true
}

func (e *engine) form() uci.Dialect {
	d := uci.Dialect{Game: e.game, Ranks: 1}
	if e.mode == Ranks {
		d.Ranks = 0
	}
	return d
}

func (e *engine) setUp(c uci.Position) {
	d := uci.Dialect{Game: e.game, Ranks: 1}
	var moves []string
	for _, m := range c.Moves {
		moves = append(moves, d.Ours(m))
	}
	if e.mode == KeepsBoard && e.pos != nil && len(moves) < e.pos.Ply() {
		return
	}
	e.play(d.OurPosition(c.FEN), moves)
}

// play sets up a position, or leaves the old one if that fails.
func (e *engine) play(position string, moves []string) {
	p, err := catalog.Setup(e.game, "", position)
	if err != nil {
		return
	}
	for _, text := range moves {
		if _, err := game.PlayText(p, text); err != nil {
			return
		}
	}
	e.pos = p
}

// think searches, or shows the fault of its mode; false ends the program.
func (e *engine) think(g uci.Go) bool {
	switch {
	case g.Perft > 0 && (e.mode == Counts || e.mode == CountsWrong):
		e.divide(g.Perft)
		return true
	case g.Infinite && e.mode == CrashPonder:
		e.exit = 1
		return false
	case g.Infinite && e.mode == EarlyNull:
		e.say(uci.BestMove{Move: uci.NoMoves[0]})
		return true
	}
	switch e.mode {
	case HangGo:
		time.Sleep(time.Minute)
	case HangOnce:
		if e.asked++; e.asked == HangsAt {
			time.Sleep(time.Minute)
		}
	case CrashGo:
		fmt.Fprintln(os.Stderr, "assertion failed: depth > 0")
		e.exit = 134
		return false
	case CrashSixth:
		if g.Infinite {
			break
		}
		if e.asked++; e.asked == 6 {
			e.exit = 134
			return false
		}
	case CrashThrice:
		if n, err := ended(); err != nil || n < 3 {
			e.exit = 134
			return false
		}
	case Flood:
		for {
			e.say("info string " + strings.Repeat("and on ", 20))
		}
	case EndlessLine:
		for {
			if _, err := io.WriteString(os.Stdout, "info string and on "); err != nil {
				return false
			}
		}
	case Fork, Zombie:
		e.startChild()
	case Memory:
		e.grow()
	case IgnoreClock:
		wait := 4 * g.MoveTime
		if g.Clocks != nil {
			wait = 4 * max(g.Clocks.White, g.Clocks.Black)
		}
		time.Sleep(wait)
	case IgnoreStop:
		if g.Infinite {
			return true
		}
	}
	if e.thinking = g.Infinite && e.mode != EarlyMove || e.mode == OnlyStop; !e.thinking {
		e.answer()
	}
	return true
}

// ended returns how many processes have ended in this folder before, and counts this one.
func ended() (n int, err error) {
	f, err := os.OpenFile("ended", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		n = int(info.Size())
		_, err = f.WriteString(".")
	}
	return n, err
}

// grow allocates and touches a GiB.
func (e *engine) grow() {
	for range 64 {
		block := make([]byte, 16<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		e.hog = append(e.hog, block)
		time.Sleep(20 * time.Millisecond)
	}
}

func (e *engine) startChild() {
	if len(e.kids) > 0 {
		return
	}
	args := append(os.Args[1:len(os.Args)-1:len(os.Args)-1], child)
	c := exec.Command(os.Args[0], args...)
	if e.mode == Zombie {
		c = exec.Command("true")
	}
	ownSession(c)
	if c.Start() == nil {
		e.kids = append(e.kids, c)
	}
	if e.mode == Zombie {
		time.Sleep(100 * time.Millisecond)
	}
}

// answer sends the first legal move, or the answer of its mode.
func (e *engine) answer() {
	moves := e.pos.Legal(nil)
	if len(moves) == 0 {
		e.say(uci.BestMove{Move: uci.NoMoves[0]})
		return
	}
	text, reply := e.form().Theirs(e.pos.Format(moves[0])), ""
	switch {
	default:
		reply = e.reply(moves[0])
	case strings.HasPrefix(e.mode, breaks):
		text = e.form().Theirs(e.greedy())
	case e.mode == Null:
		text = "0000"
	case e.mode == Illegal:
		text = "a1i10"
	case e.mode == Opponent:
		if p := e.pos.Clone(); p.Play(moves[0]) == nil {
			if replies := p.Legal(nil); len(replies) > 0 {
				text = e.form().Theirs(p.Format(replies[len(replies)-1]))
			}
		}
	}
	e.say(uci.Info{Depth: 1, Score: uci.Score{Unit: uci.Centipawns, Value: 12}, Nodes: uint64(len(moves)), PV: []string{text}})
	best := uci.BestMove{Move: text, Ponder: reply}.String()
	e.said = best
	if e.mode == Repeats {
		best += "\n" + best
	}
	if e.mode == NoLineEnd {
		fmt.Fprint(e.out, best)
		e.out.Flush()
		return
	}
	e.say(best)
}

// reply returns the first legal reply to a move, which it expects; "" if there is none.
func (e *engine) reply(m game.Move) string {
	p := e.pos.Clone()
	if p.Play(m) != nil {
		return ""
	}
	replies := p.Legal(nil)
	if len(replies) == 0 {
		return ""
	}
	return e.form().Theirs(p.Format(replies[0]))
}
