package external

import (
	"fmt"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/pipe/uci"
)

// dialect speaks a protocol with one process. Errors are faults of the process, or
// say what the protocol can't express.
type dialect interface {
	// handshake makes the program ready and sets its options.
	handshake(p *program) error
	// setUp sets the position of a search. The game so far is in p.board; nil is a
	// new game.
	setUp(p *program, q *query) error
	// startSearch starts a search of that position.
	startSearch(p *program, q *query, a searchLimits) error
	// parseLine reads a line from the program. The answer is nil until the search
	// has ended; info may be nil. Moves are in our notation.
	parseLine(q *query, line string) (a *answer, i *uci.Info)
	// isError reports whether a line is an error message, such as one about an
	// unknown command. It is not an answer to a search.
	isError(line string) bool
	// alternateInfinite switches to another command for a search without limits,
	// after an early answer to the current one. It returns false if there is none.
	alternateInfinite() bool
	// unknownLine reports whether a line does not belong to the protocol.
	unknownLine(line string) bool
	// stopCommand returns the line that makes it answer at once; "" if there is none.
	stopCommand() string
	// quitCommand returns the line that ends the program.
	quitCommand() string
}

// answer ends a search.
type answer struct {
	line         string // as received
	move, ponder string // in our notation; unreadable moves are left as received
	resign, draw bool   // resigns, or offers a draw with the move
	claim        bool   // claims a result, and does not end the search: the move may still come
	reply        string // the program asks for this line, and moves after it
	invalid      string // why it is not a move, if so: "no move"
}

// searchLimits are the limits of a search as the program is told them.
type searchLimits struct {
	clocked        bool // clocks run; otherwise move applies
	mine, theirs   time.Duration
	initial        time.Duration // of its own clock
	increment      time.Duration // of its own clock
	theirIncrement time.Duration
	move           time.Duration // for this move; 0 is no limit
	infinite       bool          // until it is stopped, whatever the other limits
	limits         search.Limits // depth, nodes, lines and moves
}

// await reads lines until f returns true. If that takes longer than within, the
// program is killed with a fault of that kind.
func (p *program) await(within time.Duration, kind engine.FaultKind, what string, f func(line string) bool) error {
	ok, err := p.listen(within, f)
	if ok || err != nil {
		return err
	}
	p.fail(kind, "no %s within %v", what, within)
	<-p.gone
	return p.fault()
}

// listen reads lines until f returns true; ok is false if that takes longer than
// within. The error is the fault of a program that has ended.
func (p *program) listen(within time.Duration, f func(line string) bool) (ok bool, err error) {
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		ended := isClosed(p.gone)
		for _, line := range p.inbox.take() {
			if f(line) {
				return true, nil
			}
		}
		if ended {
			return false, p.fault()
		}
		select {
		case <-p.inbox.changed:
		case <-late.C:
			return false, nil
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// refuse ends a program that can't be used, for a reason.
func (p *program) refuse(format string, args ...any) error {
	p.fail(engine.FaultStart, "%s", fmt.Errorf(format, args...).Error())
	<-p.gone
	return p.fault()
}

// waitReady waits until a program of UCI or UCCI has handled all commands.
func waitReady(p *program, kind engine.FaultKind) error {
	if err := p.send(uci.IsReady{}.String()); err != nil {
		return err
	}
	return p.await(p.times.start, kind, "readyok", func(line string) bool {
		reply, _ := uci.ParseReply(line)
		return reply == uci.ReadyOK{}
	})
}

// mapMoves converts the notation of moves.
func mapMoves(moves []string, convert func(string) string) (out []string) {
	for _, m := range moves {
		out = append(out, convert(m))
	}
	return out
}
