// Package faultyengine is an engine that is broken on purpose, in one way at a time:
// what drives engines is tested with it. Apart from that it speaks UCI, or
// another protocol where its mode says so, and plays the first legal move.
package faultyengine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/uci"
)

// The ways to be broken, by the program's first argument.
const (
	Fine        = "fine"
	HangStart   = "hang-start"   // says nothing
	SlowStart   = "slow-start"   // takes a second to say anything
	CrashStart  = "crash-start"  // ends at once, with a word on stderr
	HangGo      = "hang-go"      // never answers go
	CrashGo     = "crash-go"     // ends when asked to move
	IgnoreStop  = "ignore-stop"  // thinks for ever where it is not told how long
	IgnoreClock = "ignore-clock" // takes four times as long as it is told
	OnlyStop    = "only-stop"    // thinks until it is told to stop, whatever its limits
	Flood       = "flood"        // writes lines without end when asked to move
	EndlessLine = "endless-line" // writes one line without end
	Unflushed   = "unflushed"    // what it writes goes out when it ends
	Illegal     = "illegal"      // plays a move that no piece can make
	Null        = "null"         // plays no move
	Opponent    = "opponent"     // plays a move for the other side
	Twice       = "twice"        // answers every stop once more
	Ranks       = "ranks"        // counts ranks from 0 where it said from 1
	Fork        = "fork"         // leaves a child behind, in a session of its own
	Zombie      = "zombie"       // never asks how its child ended
	Memory      = "memory"       // takes more and more
	Chatter     = "chatter"      // talks to itself in between
	CloseInput  = "close-input"  // stops listening
	Deaf        = "deaf"         // never reads what it is sent
	IgnoreQuit  = "ignore-quit"  // goes on after quit and at the end of its input
	CrashPonder = "crash-ponder" // ends when it is to search without an end
	EarlyMove   = "early-move"   // answers a search without an end at once, with a move
	EarlyNull   = "early-null"   // the same with no move
	NullAtStop  = "null-at-stop" // answers with no move when it is told to stop

	// In UCCI. As ElephantEye: "go depth infinite" is a search of no depth, which
	// finds nothing; "go infinite" is understood.
	DepthInfinite = "ucci-depth-infinite"

	// In the Gomocup protocol.
	ErrorLines = "gomocup-error-lines" // answers every INFO with an error, just before its next move
	LosesWord  = "gomocup-loses-word"  // as Rapfi, loses the first word of a line that comes right after its move

	child = "child" // what Fork and Zombie start
)

// Modes are all the ways.
var Modes = []string{Fine, HangStart, SlowStart, CrashStart, HangGo, CrashGo, IgnoreStop, IgnoreClock, OnlyStop, Flood, EndlessLine, Unflushed,
	Illegal, Null, Opponent, Twice, Ranks, Fork, Zombie, Memory, Chatter, CloseInput, Deaf, IgnoreQuit, CrashPonder, EarlyMove, EarlyNull, NullAtStop,
	DepthInfinite, ErrorLines, LosesWord}

// Main is the program; the test binaries that stand in for it call it.
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
	case CrashStart:
		fmt.Fprintln(os.Stderr, "no network file")
		return 3
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	e := &engine{mode: mode, out: out, game: "xiangqi"}
	e.setUp(uci.Position{})
	obey := e.obeyUCI
	switch mode {
	case DepthInfinite:
		obey = e.obeyUCCI
	case ErrorLines, LosesWord:
		obey = (&gomocupEngine{engine: e}).obey
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, uci.MaxLine)
	for in.Scan() && obey(in.Text()) {
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

	thinking bool // without an end
}

func (e *engine) say(line any) {
	fmt.Fprintln(e.out, line)
	if e.mode != Unflushed {
		e.out.Flush()
	}
}

// obeyUCI does what it is told; false ends the program.
func (e *engine) obeyUCI(line string) bool {
	c, _ := uci.Parse(line)
	if e.mode == Chatter {
		e.say("DEBUG: got " + c.String())
		e.say("{\"depth\": 1}")
	}
	switch c := c.(type) {
	case uci.Hello:
		e.say(uci.ID{Key: "name", Value: "broken: " + e.mode})
		e.say(uci.Option{Name: "UCI_Variant", Kind: uci.Combo, Default: "xiangqi", Vars: []string{"xiangqi", "gomoku", "amazons"}})
		e.say(uci.Option{Name: "Hash", Kind: uci.Spin, Default: "16", Min: 1, Max: 64})
		e.say(uci.OK{})
		if e.mode == CloseInput {
			os.Stdin.Close()
			time.Sleep(time.Minute)
		}
	case uci.IsReady:
		e.say(uci.ReadyOK{})
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
	e.play(d.OurPosition(c.FEN), moves)
}

// play sets up a position, and leaves the old one where that can't be.
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

// think does what its mode says; false ends the program.
func (e *engine) think(g uci.Go) bool {
	switch {
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
	case CrashGo:
		fmt.Fprintln(os.Stderr, "assertion failed: depth > 0")
		e.exit = 134
		return false
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

// grow takes a GiB, and uses it.
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

// answer plays the first legal move, or what else its mode has for one.
func (e *engine) answer() {
	moves := e.pos.Legal(nil)
	if len(moves) == 0 {
		e.say(uci.BestMove{Move: uci.NoMoves[0]})
		return
	}
	text := e.form().Theirs(e.pos.Format(moves[0]))
	switch e.mode {
	case Null:
		text = "0000"
	case Illegal:
		text = "a1i10"
	case Opponent:
		if p := e.pos.Clone(); p.Play(moves[0]) == nil {
			if replies := p.Legal(nil); len(replies) > 0 {
				text = e.form().Theirs(p.Format(replies[len(replies)-1]))
			}
		}
	}
	e.say(uci.Info{Depth: 1, Score: uci.Score{Unit: uci.Centipawns, Value: 12}, Nodes: uint64(len(moves)), PV: []string{text}})
	e.say(uci.BestMove{Move: text})
}
