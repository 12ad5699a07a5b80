package engine

import "fmt"

// Fault is the reason why a searcher that is not ours lost its game: in
// Result.Err, found by errors.As.
type Fault struct {
	Kind FaultKind
	Text string // what happened, with what was sent and what came back
}

// FaultKind tells faults apart, for counting.
type FaultKind string

// The kinds of fault.
const (
	FaultStart      FaultKind = "start"      // it could not be started, or did not say that it was ready
	FaultTime       FaultKind = "time"       // its flag fell
	FaultHang       FaultKind = "hang"       // no answer long after one was due
	FaultIllegal    FaultKind = "illegal"    // a move that is not legal, or none at all
	FaultCrash      FaultKind = "crash"      // its process ended
	FaultFlood      FaultKind = "flood"      // it wrote more than anyone can mean
	FaultMemory     FaultKind = "memory"     // it took more memory than it was given
	FaultDisconnect FaultKind = "disconnect" // its player left the platform
)

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("engine fault (%s): %s", f.Kind, f.Text) }
