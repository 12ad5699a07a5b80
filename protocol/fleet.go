package protocol

import (
	"errors"
	"time"
)

// FleetVerb is what the operator asks of the processes of its fleet. It is the last
// token of the subject.
type FleetVerb string

// The verbs of the operator.
const (
	FleetReport FleetVerb = "report" // every process says how it is
	FleetPause  FleetVerb = "pause"  // a bot process takes no new games until it is resumed
	FleetDrain  FleetVerb = "drain"  // a bot process takes no new games, and ends when its games have
	FleetResume FleetVerb = "resume" // a bot process takes games again
	FleetAbort  FleetVerb = "abort"  // the platform ends a game without a result
)

// FleetRequest is a request of the operator. Only the platform's account may send it.
type FleetRequest struct {
	Header
	To   string `json:"to"`             // the subject of this message, as in State
	Text string `json:"text,omitempty"` // why, up to 500 runes
	// Started, in a request to one process, is that of its report: another process that was
	// started since with the same instance id refuses the request as stale.
	Started time.Time `json:"started,omitzero"`
}

// ProcessKind tells the kinds of process of a fleet apart.
type ProcessKind string

// The kinds of process.
const (
	BotProcess   ProcessKind = "bot"
	ArenaProcess ProcessKind = "arena"
)

// Mode says whether a process takes new games.
type Mode string

// The modes.
const (
	ModeRunning  Mode = "running"  // it takes new games
	ModePaused   Mode = "paused"   // it takes none, until it is resumed
	ModeDraining Mode = "draining" // it takes none, and ends when its games have
)

// Report is what a process of the fleet says about itself. It answers every verb of
// the operator but abort.
type Report struct {
	Answer
	Process  ProcessKind `json:"process"`
	Instance InstanceID  `json:"instance"` // of an arena its name
	Build    string      `json:"build,omitempty"`
	Host     string      `json:"host,omitempty"`
	PID      int         `json:"pid,omitempty"`
	Started  time.Time   `json:"started"`
	Mode     Mode        `json:"mode"`
	Text     string      `json:"text,omitempty"` // why it is in this mode
	// Space is how full the disks and stores are that the process knows.
	Space []Space      `json:"space,omitempty"`
	Bot   *BotReport   `json:"bot,omitempty"`
	Arena *ArenaReport `json:"arena,omitempty"`
}

// Space is how full a disk or a store is.
type Space struct {
	Of       string `json:"of"`                   // such as "disk /data"
	Used     int64  `json:"used"`                 // bytes
	Most     int64  `json:"most"`                 // bytes
	FullInMS int64  `json:"full_in_ms,omitempty"` // if it goes on growing so; 0: not known, or it does not grow
	Low      bool   `json:"low,omitempty"`        // the operator should act
}

// maxSpace is how many stores a report may have.
const maxSpace = 64

// BotReport is the part of a report that only bot processes have. Counters count
// since the start of the process.
type BotReport struct {
	Players     []PlayerID `json:"players,omitempty"` // up to 256 of them, without the levels
	PlayerCount int        `json:"player_count"`      // with the levels
	Slots       int        `json:"slots"`             // games at once
	Games       int        `json:"games"`             // slots in use, by games or for promised ones
	// Offered is how many of the slots are offered because searches start late; absent:
	// all.
	Offered    *int `json:"offered,omitempty"`
	LevelSlots int  `json:"level_slots,omitempty"`
	LevelGames int  `json:"level_games,omitempty"`

	Cores     int     `json:"cores"`     // for searches
	Load      float64 `json:"load"`      // share of them that searched for moves, over the last minute, 0 to 1
	Thinking  int     `json:"thinking"`  // threads that search for moves now
	Waiting   int     `json:"waiting"`   // searches for moves that wait for a core now
	Pondering int     `json:"pondering"` // searches on the opponents' time that run now
	Analyses  int     `json:"analyses"`  // under way
	// Started counts searches for moves, and StartedLate those that had to wait for a
	// quarter of the time planned for the move.
	Started     int64 `json:"started_searches,omitempty"`
	StartedLate int64 `json:"late_searches,omitempty"`

	Overhead   Overhead `json:"overhead"`
	Moves      int64    `json:"moves"` // played
	Ended      int64    `json:"ended"` // games, also those that another process took over
	LostOnTime int64    `json:"lost_on_time"`
	SeatsLost  int64    `json:"seats_lost"` // of running games, since the platform gave them to another process, or vacated them and did not give them back
	Faults     int64    `json:"faults"`     // of engines, and disagreements with the platform
	LastFault  string   `json:"last_fault,omitempty"`
}

// Overhead is what moves cost on the clock beyond thinking: percentiles of the last
// 1000 moves.
type Overhead struct {
	Moves int   `json:"moves"` // measured; 0: none yet
	P50MS int64 `json:"p50_ms"`
	P95MS int64 `json:"p95_ms"`
	P99MS int64 `json:"p99_ms"`
}

// ArenaReport is the part of a report that only arenas have. Counters count since the
// start of the process.
type ArenaReport struct {
	Refereed    int   `json:"refereed"` // running games of this process
	Running     int   `json:"running"`  // games of the platform
	Moves       int64 `json:"moves"`
	Ended       int64 `json:"ended"`
	SeatChanges int64 `json:"seat_changes"` // seats vacated or taken in running games
	Takeovers   int64 `json:"takeovers"`    // games taken over from another arena
	Dropped     int64 `json:"dropped"`      // requests of players who had sent too many
	Unkept      int64 `json:"unkept"`       // games that go on without their logs now
	Faults      int64 `json:"faults"`       // disputes, and logs that can't be read
	// Vacant is how many seats have no holder in the running games of this process.
	Vacant int `json:"vacant_seats,omitempty"`
	// Survives is how many bot processes can be lost at once, whichever they are, with a
	// free slot elsewhere for each of their seats; absent: no bot process of the fleet is present.
	Survives *int `json:"survives_losses,omitempty"`
	// Instances are those of bots that the arena has heard of lately, also those that
	// are silent now, the longest known silence last.
	Instances []KnownInstance `json:"instances,omitempty"`
	Omitted   int             `json:"omitted,omitempty"` // how many instances the list leaves out
	// SilentArenas are the other arenas whose leases have expired within the last hour, but
	// that have not ended by themselves.
	SilentArenas []SilentArena `json:"silent_arenas,omitempty"`
}

// SilentArena is an arena that was killed, hangs, or is cut off.
type SilentArena struct {
	Instance InstanceID `json:"instance"`
	HeardMS  int64      `json:"heard_ms"` // since its lease was renewed last
}

// KnownInstance is a process of bots as an arena knows it.
type KnownInstance struct {
	Instance InstanceID `json:"instance"`
	Player   PlayerID   `json:"player"`  // one of those that it acts for
	Players  int        `json:"players"` // how many
	Build    string     `json:"build,omitempty"`
	Fleet    bool       `json:"fleet,omitempty"` // it answers the operator, by its hello
	Games    int        `json:"games"`           // seats that it holds in running games
	HeardMS  int64      `json:"heard_ms"`        // since its last message
	// KnownMS is since its first message; absent: unknown.
	KnownMS int64 `json:"known_ms,omitempty"`
}

// MaxKnownInstances is the length of the longest list of instances in a report.
const MaxKnownInstances = 1000

// MaxSilentArenas is the length of the longest list of silent arenas in a report.
const MaxSilentArenas = 100

// Limits of single fields of a report.
const (
	maxBuild = 128
	maxHost  = 256
)

// Check implements Checker.
func (m *FleetRequest) Check() error {
	errs := []error{m.Header.Check(), text("to", m.To, maxPlace), text("text", m.Text, maxText)}
	if m.To == "" {
		errs = append(errs, errors.New("to: missing"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *Report) Check() error {
	errs := []error{m.Header.Check(), text("code", string(m.Code), maxWord)}
	if m.Error != nil { // a refusal has no report
		return first(append(errs, text("text", m.Error.Text, maxText))...)
	}
	errs = append(errs, instance(m.Instance), text("process", string(m.Process), maxWord), text("mode", string(m.Mode), maxWord),
		text("build", m.Build, maxBuild), text("host", m.Host, maxHost), text("text", m.Text, maxText))
	if m.Process == "" || m.Mode == "" {
		errs = append(errs, errors.New("want process and mode"))
	}
	errs = append(errs, within("space", len(m.Space), maxSpace))
	for _, s := range m.Space {
		errs = append(errs, text("of", s.Of, maxText))
	}
	if b := m.Bot; b != nil {
		errs = append(errs, ids("players", b.Players), text("last_fault", b.LastFault, maxText))
	}
	if a := m.Arena; a != nil {
		errs = append(errs, within("instances", len(a.Instances), MaxKnownInstances))
		for _, in := range a.Instances {
			errs = append(errs, instance(in.Instance), ids("player", []PlayerID{in.Player}), text("build", in.Build, maxDisplay))
		}
		errs = append(errs, within("silent_arenas", len(a.SilentArenas), MaxSilentArenas))
		for _, s := range a.SilentArenas {
			errs = append(errs, instance(s.Instance))
		}
	}
	return first(errs...)
}
