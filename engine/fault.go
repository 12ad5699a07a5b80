package engine

import "fmt"

// Fault is the failure of an external engine, which loses the game. Get it from
// Result.Err with errors.As.
type Fault struct {
	Kind FaultKind
	Text string // what happened, with what was sent and what came back
}

// FaultKind classifies faults, for statistics.
type FaultKind string

// The kinds of fault.
const (
	FaultStart      FaultKind = "start"      // it could not be started, or did not report that it was ready
	FaultTime       FaultKind = "time"       // it exceeded its time
	FaultHang       FaultKind = "hang"       // no answer long after one was due
	FaultIllegal    FaultKind = "illegal"    // an illegal move, or none
	FaultCrash      FaultKind = "crash"      // its process ended
	FaultFlood      FaultKind = "flood"      // it wrote too much
	FaultMemory     FaultKind = "memory"     // it used more memory than allowed
	FaultDisconnect FaultKind = "disconnect" // its player left the platform
)

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("engine fault (%s): %s", f.Kind, f.Text) }

// Words says what an engine with such a fault did: "crashed".
func (k FaultKind) Words() string {
	switch k {
	case FaultStart:
		return "did not start"
	case FaultTime:
		return "exceeded its time"
	case FaultHang:
		return "did not answer"
	case FaultIllegal:
		return "gave no legal move"
	case FaultCrash:
		return "crashed"
	case FaultFlood:
		return "wrote too much"
	case FaultMemory:
		return "used too much memory"
	case FaultDisconnect:
		return "left the platform"
	}
	return "failed"
}
