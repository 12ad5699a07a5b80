package external

import (
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/pipe/uci"
)

// dialect is how a protocol is spoken with one process. Errors are faults of
// the process, or say what it can't be told.
type dialect interface {
	// greet makes the program ready, its options set.
	handshake(p *program) error
	// setUp brings it to the position of a search. What it has of the game is
	// in p.board; nil is a new game.
	setUp(p *program, q *query) error
	// ask starts a search of that position.
	startSearch(p *program, q *query, a searchLimits) error
	// hear reads a line that came meanwhile. Answer is nil for all but the
	// last one; info may be nil. Moves are in our own text.
	parseLine(q *query, line string) (a *answer, i *uci.Info)
	// objects reports whether a line says that something sent was not
	// understood. It is no answer to a move request.
	isError(line string) bool
	// alternateInfinite changes the command for a search without an end, after an
	// odd answer to the one used so far; false is that there is no other.
	alternateInfinite() bool
	// foreign reports whether a line is none that the protocol knows.
	unknownLine(line string) bool
	// hush is the line that makes it answer at once; "" where there is none.
	stopCommand() string
	// farewell is the line that ends it.
	quitCommand() string
}

// answer is what ends a search.
type answer struct {
	line         string // as it came
	move, ponder string // in our own text; what can't be read stays as it came
	resign, draw bool   // it gives the game up, or offers a draw with its move
	invalid      string // what else it is, if it is no move: "no move", a claim
}

// searchLimits is what a search is told of its limits.
type searchLimits struct {
	clocked      bool // clocks run; or else move holds
	mine, theirs time.Duration
	initial      time.Duration // of each clock
	increment    time.Duration // of both
	move         time.Duration // for this move; 0 is no such limit
	infinite     bool          // until forcedStop, whatever else is said
	limits       search.Limits // depth, nodes, lines and moves
}

// await reads lines until f has what it waits for. A program that does not say
// it in time is at fault.
func (p *program) await(within time.Duration, kind engine.FaultKind, what string, f func(line string) bool) error {
	ok, err := p.listen(within, f)
	if ok || err != nil {
		return err
	}
	p.fail(kind, "no %s within %v", what, within)
	<-p.gone
	return p.fault()
}

// listen reads lines until f has what it waits for; ok is false where it has
// not come in time. The error is the fault of a program that has ended.
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
