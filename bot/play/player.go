package play

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/protocol"
	"sparring/record"
)

// Player is shared by the sessions of one player.
type Player struct {
	ID       protocol.PlayerID
	Settings Settings
	Client   *protocol.Client
	Clock    *ServerClock
	// NewGame opens a game with the player's engine. Its searches share the cores
	// of the pool.
	NewGame func(engine.GameOptions) (engine.Game, error)
	Pool    *engine.Pool
	Process Process
	Records Records     // may be nil
	Observe func(Event) // may be nil
	Tally   *Tally      // may be nil
	Log     zerolog.Logger
}

// Process is the process that sessions run in. Its methods return at once.
type Process interface {
	// RequestHello makes the player say hello soon. The platform then sends the
	// state of every game that the player holds.
	RequestHello()
	// GameBegan counts a game against an opponent.
	GameBegan(opponent protocol.PlayerID)
	// GiveBack returns the seat of a game to the platform.
	GiveBack(protocol.GameID)
	// EngineFailed reports that the player's engine for games of a name does not start.
	EngineFailed(gameName string, err error)
}

// Records keeps the records of games; a *record.Writer does.
type Records interface {
	Append(*record.Record) error
}

// Settings are a player's settings for its games.
type Settings struct {
	Engine   string // as a profile names it
	External bool   // Engine is a program: when it fails, the game is resigned
	Nodes    uint64 // of each search at most; 0: the clock alone limits it
	Threads  int    // of each search
	Ponder   bool
	// MoveTime is the longest time that a search for a move takes; 0: as timing.MoveLimit
	// says.
	MoveTime time.Duration
	// Reproducible: the moves of its games can be played again, see
	// engine.GameOptions. It does not ponder then.
	Reproducible bool
	Instance     protocol.InstanceID
	Build        string // of this program
	Manners      Manners
}

// Manners are a bot's settings for resignation, draws, takebacks and people. Winning
// chances are expected scores in percent: 0 is lost, 50 even, 100 won.
type Manners struct {
	ResignBelow float64       `split_words:"true" default:"0" desc:"resign after RESIGN_MOVES moves with a winning chance below this percentage; 0: never" json:"resign_below"`
	ResignMoves int           `split_words:"true" default:"5" desc:"own moves in a row for RESIGN_BELOW" json:"resign_moves"`
	DrawWithin  float64       `split_words:"true" default:"0" desc:"offer a draw after DRAW_MOVES moves with a winning chance within this many percent of 50; 0: never" json:"draw_within"`
	DrawMoves   int           `split_words:"true" default:"12" desc:"own moves in a row for DRAW_WITHIN and DRAW_ACCEPT" json:"draw_moves"`
	DrawAccept  float64       `split_words:"true" default:"50" desc:"accept a draw after DRAW_MOVES moves with a winning chance of at most this percentage; 0: never" json:"draw_accept"`
	Takebacks   int           `default:"3" desc:"takebacks granted per casual game" json:"takebacks"`
	Greet       string        `desc:"chat message to a human at the start of a game; empty: none" json:"greet"`
	Delay       time.Duration `default:"0s" desc:"shortest time for any move, if the clock allows" json:"-"`
	HumanDelay  time.Duration `split_words:"true" default:"600ms" desc:"shortest time for a move against a human, if the clock allows" json:"-"`
}

// Validate returns everything that is wrong with the settings; at is the prefix of
// their names.
func (m Manners) Validate(at string) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(at+format, args...)) }
	upTo := func(name string, v, most float64) {
		if !(v >= 0 && v <= most) { // also NaN
			bad("%s: %v: want 0 to %v", name, v, most)
		}
	}
	upTo("RESIGN_BELOW", m.ResignBelow, 50)
	upTo("DRAW_WITHIN", m.DrawWithin, 50)
	upTo("DRAW_ACCEPT", m.DrawAccept, 100)
	upTo("RESIGN_MOVES", float64(m.ResignMoves), 1000)
	upTo("DRAW_MOVES", float64(m.DrawMoves), 1000)
	upTo("TAKEBACKS", float64(m.Takebacks), 1000)
	if m.Delay < 0 {
		bad("DELAY: %v: want 0 or more", m.Delay)
	}
	if m.HumanDelay < 0 {
		bad("HUMAN_DELAY: %v: want 0 or more", m.HumanDelay)
	}
	if m.Greet != "" {
		hello := protocol.ChatRequest{Header: protocol.Header{ID: "greet"}, Instance: "greet", Text: m.Greet}
		if err := hello.Check(); err != nil { // the platform would refuse it, and the bot say nothing
			bad("GREET: %w", err)
		}
	}
	return errs
}
