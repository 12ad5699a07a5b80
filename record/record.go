// Package record has the structured record of games: one JSON document per game,
// written as a line that DuckDB and jq can read. The schema is
// docs/record.schema.json.
//
// The arena records what was played, on its own clocks; a player records what
// it thought. Both write the same [Record], and [Merge] joins those of a game.
// A [Writer] keeps records in a directory, [All] and [Find] read them back.
//
// Moves, positions and reasons are text, so that a record can be read without
// the game's rules.
//
// Compatibility: fields are added, never changed, within a Version; readers
// ignore fields that they do not know.
package record

import (
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// Version is the schema version that this package writes.
const Version = 1

// Record is a game as one writer knows it. Times are UTC, to the millisecond.
type Record struct {
	V        int    `json:"v"`
	ID       string `json:"id"`   // of the game: 1 to 32 of a-z 0-9 _ -
	Game     string `json:"game"` // "xiangqi"
	Rules    string `json:"rules"`
	Position string `json:"position,omitempty"` // start position, "" is the usual one
	// Given is how many of the first plies were played before this game began, as
	// in a game that continues another.
	Given  int        `json:"given,omitempty"`
	Clock  clock.Spec `json:"clock"`
	Rated  bool       `json:"rated"`
	Strict bool       `json:"strict,omitempty"` // no takebacks and no help
	// Private: shown by its link only, and listed nowhere.
	Private bool   `json:"private,omitempty"`
	Pool    string `json:"pool,omitempty"`
	Event   string `json:"event,omitempty"` // tournament or match, for people
	Place   string `json:"place,omitempty"`

	Seats [2]Seat   `json:"seats"` // by game.Seat
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`

	Result game.Result `json:"result"` // none: not finished, aborted or void
	Reason game.Reason `json:"reason,omitempty"`
	Text   string      `json:"text,omitempty"` // about the end, for people

	Source   Source    `json:"source"`
	Plies    []Ply     `json:"plies"`
	Disputes []Dispute `json:"disputes,omitempty"`
}

// ClockOf returns the clock of a seat.
func (r *Record) ClockOf(seat game.Seat) clock.Spec {
	if c := r.Seats[seat].Clock; c != nil {
		return *c
	}
	return r.Clock
}

// OpeningPlies returns how many of the first plies no player of this game chose: those of a game
// that it continues, and the opening that a match began with, also by a file of another format.
func (r *Record) OpeningPlies() int {
	n := min(r.Given, len(r.Plies))
	for (r.Source.By == ByMatch || r.Source.By == ByImport) && n < len(r.Plies) && r.Plies[n].Think != nil && r.Plies[n].Think.Source == FromBook {
		n++
	}
	return n
}

// Kind is the kind of player on a seat.
type Kind string

// The kinds of player.
const (
	Bot   Kind = "bot"
	Human Kind = "human"
)

// Seat is the player on a seat.
type Seat struct {
	Player  string `json:"player"`
	Display string `json:"display,omitempty"`
	Kind    Kind   `json:"kind,omitempty"`
	Build   string `json:"build,omitempty"` // engine and version, as the engine itself gives them
	// Clock is the seat's, if it is not that of the game (time odds).
	Clock  *clock.Spec `json:"clock,omitempty"`
	Before *Rating     `json:"before,omitempty"`
	After  *Rating     `json:"after,omitempty"`
	// Settings are the player's, in the record of a match, whose runner knows
	// those of both.
	Settings *Settings `json:"settings,omitempty"`
}

// Rating is a Glicko-2 rating on the usual scale (1500 is the middle).
type Rating struct {
	Rating    float64 `json:"rating"`
	Deviation float64 `json:"deviation"`
}

// Writer of a record.
const (
	ByArena  = "arena"
	ByPlayer = "player"
	ByImport = "import" // read from a file of another format
	ByMatch  = "match"  // a match runner, which refereed and knows what both thought
)

// Source is the writer of a record and, for a player's own record, what is needed
// to play its moves again.
type Source struct {
	By       string     `json:"by"`
	Player   string     `json:"player,omitempty"`
	Seat     *game.Seat `json:"seat,omitempty"`
	Instance string     `json:"instance,omitempty"`
	Build    string     `json:"build,omitempty"` // program and version that wrote this
	Seed     uint64     `json:"seed,omitempty,string"`
	Settings *Settings  `json:"settings,omitempty"`
}

// Settings say who played and how. Zero means the default, no limit, or unknown.
type Settings struct {
	Profile  string   `json:"profile,omitempty"` // of the bot that played
	Spec     string   `json:"spec,omitempty"`    // of the engine, as a match or a profile names it
	Name     string   `json:"name,omitempty"`    // of the engine, as it gives it itself
	Build    string   `json:"build,omitempty"`   // of the engine, if the name does not tell it
	Level    int      `json:"level,omitempty"`
	Elo      *float64 `json:"elo,omitempty"`   // measured strength of the level, relative to a scripted beginner
	Nodes    uint64   `json:"nodes,omitempty"` // limit of a search
	Depth    int      `json:"depth,omitempty"` // limit of a search
	HashMB   int      `json:"hash_mb,omitempty"`
	OwnTable bool     `json:"own_table,omitempty"` // the hash table was not shared with other games
	Threads  int      `json:"threads,omitempty"`
	Ponder   bool     `json:"ponder,omitempty"`
	Book     string   `json:"book,omitempty"`      // opening book
	TableMen int      `json:"table_men,omitempty"` // largest number of pieces in the endgame tables
	Eval     string   `json:"eval,omitempty"`      // evaluation; empty: the product's
	// Reproducible: one thread, limited by nodes, a hash table of the game's own
	// that is cleared before each search, no pondering. The moves can be replayed.
	Reproducible bool `json:"reproducible,omitempty"`
}

// SettingsOf returns the settings that an engine's description tells.
func SettingsOf(e protocol.Engine) *Settings {
	return &Settings{
		Spec: e.Spec, Name: e.Name, Build: e.Build, Level: e.Level, Elo: e.Elo, Nodes: e.Nodes, Depth: e.Depth, HashMB: e.HashMB,
		OwnTable: e.Reproducible, Threads: e.Threads, Book: e.Book, TableMen: e.TableMen, Eval: e.Eval, Reproducible: e.Reproducible,
	}
}

// Ply is one move. All fields but Seat and Move are optional: zero means zero or
// unknown, and is not written.
type Ply struct {
	Seat    game.Seat `json:"seat"`
	Move    string    `json:"move"`
	UsedMS  int64     `json:"used_ms,omitempty"` // by the writer's clock
	LeftMS  int64     `json:"left_ms,omitempty"` // after the move, increment included
	Periods int       `json:"periods,omitempty"` // byo-yomi periods left
	Receipt *Receipt  `json:"receipt,omitempty"`
	Key     string    `json:"key,omitempty"` // of the position after the move, 16 hex digits
	Think   *Think    `json:"think,omitempty"`
	Comment string    `json:"comment,omitempty"`
}

// Receipt says how the referee charged the clock for a move.
type Receipt struct {
	Received  time.Time `json:"received"`   // by the referee
	LagMS     int64     `json:"lag_ms"`     // credited for the network
	ChargedMS int64     `json:"charged_ms"` // taken off the clock
	LeftMS    int64     `json:"left_ms"`    // after the move, increment included
	Periods   int       `json:"periods,omitempty"`
	WaitedMS  int64     `json:"waited_ms,omitempty"` // in the referee, never charged
}

// ThinkSource says where a player's move comes from.
type ThinkSource string

// The sources of moves.
const (
	FromSearch    ThinkSource = "search"
	FromBook      ThinkSource = "book"
	FromTablebase ThinkSource = "tablebase"
	FromProver    ThinkSource = "prover"   // a search for a proof, of any kind
	FromOnly      ThinkSource = "only"     // the only legal move
	FromExternal  ThinkSource = "external" // an external engine
	FromPerson    ThinkSource = "person"
)

// SourceOf returns the source of a move of which an engine says where it comes from: of a proof
// it says what kind it is, such as "vcf".
func SourceOf(said string) ThinkSource {
	switch s := ThinkSource(said); s {
	case "", FromSearch, FromBook, FromTablebase, FromOnly, FromExternal:
		return s
	}
	return FromProver
}

// Think is what the player's engine found about its move.
type Think struct {
	Source        ThinkSource `json:"source,omitempty"`
	Depth         int         `json:"depth,omitempty"`
	SelDepth      int         `json:"seldepth,omitempty"`
	Score         int         `json:"score"`            // from the mover's side, in our engine's unit for the game, to which other programs' are converted; as in the file, of an imported game
	WinProb       float64     `json:"chance,omitempty"` // of winning for the mover, 0 to 1
	Nodes         uint64      `json:"nodes,omitempty"`
	TimeMS        int64       `json:"time_ms,omitempty"` // from the opponent's move to the answer
	PV            []string    `json:"pv,omitempty"`
	Ponder        string      `json:"ponder,omitempty"` // move that it had expected and thought on; "" where it had not pondered
	PonderHit     bool        `json:"ponder_hit,omitempty"`
	PonderSavedMS int64       `json:"ponder_saved_ms,omitempty"` // thought on the opponent's time
	TimedOut      bool        `json:"timed_out,omitempty"`       // the clock ended a search that was to be reproducible
}

// Dispute is a disagreement between a player and the referee about a position.
type Dispute struct {
	Ply     int        `json:"ply"` // plies played
	Seat    *game.Seat `json:"seat,omitempty"`
	Claimed string     `json:"claimed,omitempty"` // the player's key
	Ruled   string     `json:"ruled,omitempty"`   // the referee's key
	Text    string     `json:"text,omitempty"`
}
