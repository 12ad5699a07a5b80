package fleetbench

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// Part is a kind of process. There is one of each, and of bots as many as are wanted.
type Part string

// The processes.
const (
	NATSPart  Part = "nats"
	ArenaPart Part = "arena"
	BotPart   Part = "bot"
)

// Parts are all kinds.
var Parts = []Part{NATSPart, ArenaPart, BotPart}

// User is a user of the NATS server.
type User string

// The users.
const (
	Platform User = "platform"
	Owner    User = "owner" // who may act for every player
	Bots     User = "bots"  // the operator's bot processes
)

// Fleet are the running processes.
type Fleet interface {
	// Connection returns how a user connects to the server.
	Connection(u User, log zerolog.Logger) protocol.Connection
	// Stats returns the figures of a part, with collect after a garbage collection: of
	// several processes the sums, and the longest times.
	Stats(ctx context.Context, p Part, collect bool) (Stats, error)
	// Profile makes a part write its CPU profile of the next d and a heap profile after
	// it, to files whose names begin with a path. Of several processes the first does. It
	// does not wait.
	Profile(ctx context.Context, p Part, path string, d time.Duration) error
	// Close ends all processes.
	Close() error
}

// BareSubject is where the arena's process answers requests with the same bytes.
const BareSubject = protocol.DefaultPrefix + ".play.bench.bare.request"

// Stats are the figures of a part.
type Stats struct {
	CPU      time.Duration `json:"cpu"`      // since its start
	Resident int64         `json:"resident"` // bytes of memory
	Live     int64         `json:"live"`     // bytes of heap and stacks in use

	// Of an arena:
	Present  int   `json:"present,omitempty"`  // instances of the bot processes' players that it knows
	Fleet    int   `json:"fleet,omitempty"`    // of these, those that answer the operator
	Survives int   `json:"survives,omitempty"` // losses of bot processes, by its metric
	Games    int   `json:"games,omitempty"`    // running
	Started  int64 `json:"started,omitempty"`
	Moves    int64 `json:"moves,omitempty"`

	// Of bot processes:
	Overhead Overhead `json:"overhead"`
	Offered  int      `json:"offered,omitempty"` // seats that they take because searches start late; 0: all
	Seats    []Seats  `json:"seats,omitempty"`   // of each process
}

// Add adds the figures of another process.
func (s *Stats) Add(t Stats) {
	s.CPU, s.Resident, s.Live = s.CPU+t.CPU, s.Resident+t.Resident, s.Live+t.Live
	s.Present, s.Games, s.Started, s.Moves = s.Present+t.Present, s.Games+t.Games, s.Started+t.Started, s.Moves+t.Moves
	s.Fleet, s.Survives = s.Fleet+t.Fleet, s.Survives+t.Survives
	s.Overhead = Overhead{P50: max(s.Overhead.P50, t.Overhead.P50), P99: max(s.Overhead.P99, t.Overhead.P99)}
	s.Offered, s.Seats = s.Offered+t.Offered, append(s.Seats, t.Seats...)
}

// Seats are those of a bot process: a game between two players of one process has two.
type Seats struct {
	Taken int `json:"taken"`
	Most  int `json:"most"` // its capacity
}
