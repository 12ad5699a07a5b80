package fleetbench

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// Part is one of the processes.
type Part string

// The processes.
const (
	NATSPart  Part = "nats"
	ArenaPart Part = "arena"
	BotPart   Part = "bot"
)

// Parts are all processes.
var Parts = []Part{NATSPart, ArenaPart, BotPart}

// User is a user of the NATS server.
type User string

// The users.
const (
	Platform User = "platform"
	Owner    User = "owner" // who may act for every player
)

// Fleet are the running processes.
type Fleet interface {
	// Connection returns how a user connects to the server.
	Connection(u User, log zerolog.Logger) protocol.Connection
	// Stats returns the figures of a process, with collect after a garbage collection.
	Stats(ctx context.Context, p Part, collect bool) (Stats, error)
	// Profile makes a process write its CPU profile of the next d and a heap profile
	// after it, to files whose names begin with a path. It does not wait.
	Profile(ctx context.Context, p Part, path string, d time.Duration) error
	// Close ends all processes.
	Close() error
}

// BareSubject is where the arena's process answers requests with the same bytes.
const BareSubject = protocol.DefaultPrefix + ".play.bench.bare.request"

// Stats are the figures of a process.
type Stats struct {
	CPU      time.Duration `json:"cpu"`      // since its start
	Resident int64         `json:"resident"` // bytes of memory
	Live     int64         `json:"live"`     // bytes of heap and stacks in use

	// Of an arena:
	Players int   `json:"players,omitempty"` // of the bot process that it knows
	Games   int   `json:"games,omitempty"`   // running
	Started int64 `json:"started,omitempty"`
	Moves   int64 `json:"moves,omitempty"`

	// Of a bot process:
	Overhead Overhead `json:"overhead"`
	Offered  int      `json:"offered,omitempty"` // seats that it takes because searches start late; 0: all
}
