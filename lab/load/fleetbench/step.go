package fleetbench

import (
	"fmt"
	"time"

	"sparring/internal/texttable"
	"sparring/protocol"
)

// Step is what was measured with a number of games at once.
type Step struct {
	Games   int     `json:"games"`   // wanted
	Running int     `json:"running"` // at the end of the window
	Players int     `json:"players"`
	Seats   []Seats `json:"seats"`   // of each bot process, at the end of the window
	Seconds float64 `json:"seconds"` // length of the window
	Moves   int64   `json:"moves"`   // in the window, with those of the relay
	Ended   int     `json:"ended"`   // games that ended in the window

	MovesPerSecond  float64 `json:"moves_per_second"`
	StartsPerSecond float64 `json:"starts_per_second"` // while the games were started

	// CPU is the processor time a move, in milliseconds, by part: of the bot processes a
	// move of their own. Cores is what all of them used. This program, with its two
	// players, is not counted.
	CPU   ByProcess `json:"cpu_ms_per_move"`
	Cores float64   `json:"cores"`
	// LiveKB is the memory a game after a collection, heap and stacks, in KB of 1000
	// bytes; ResidentMB what the processes have of the machine's memory.
	LiveKB     ByProcess `json:"live_kb_per_game"`
	ResidentMB ByProcess `json:"resident_mb"`

	// Relay is the time from sending a move until the opponent's instance is informed,
	// and Bare that of a request to a process of the same server that does nothing,
	// in turn with the moves; Overhead is what the bot process measured itself, from
	// sending a move to its answer, over its last 1000 moves: of several the longest.
	Relay    Latency  `json:"relay"`
	Bare     Latency  `json:"bare"`
	Overhead Overhead `json:"overhead"`

	LostOnTime int            `json:"lost_on_time"`
	Faults     map[string]int `json:"faults,omitempty"` // games that did not end by their own moves, by reason
	// Stop is why no further step was made; "" if there was no reason.
	Stop string `json:"stop,omitempty"`
}

// ByProcess is a figure for each part.
type ByProcess struct {
	NATS  float64 `json:"nats"`
	Arena float64 `json:"arena"`
	Bot   float64 `json:"bot"`
}

// Sum returns the figure of all processes together.
func (b ByProcess) Sum() float64 { return b.NATS + b.Arena + b.Bot }

// Overhead are percentiles in milliseconds.
type Overhead struct {
	P50 int64 `json:"p50_ms"`
	P99 int64 `json:"p99_ms"`
}

// fill computes the figures of the processes.
func (t *Step) fill(base, before, after, live allStats) {
	arena := after.part[ArenaPart]
	t.Seconds = after.at.Sub(before.at).Seconds()
	t.Moves = arena.Moves - before.part[ArenaPart].Moves
	t.Running = arena.Games - 1 // without the relay's
	t.MovesPerSecond = float64(t.Moves) / t.Seconds
	t.Overhead, t.Seats = after.part[BotPart].Overhead, after.part[BotPart].Seats
	var used time.Duration
	for _, part := range Parts {
		cpu := after.part[part].CPU - before.part[part].CPU
		used += cpu
		moves := t.Moves
		if part == BotPart {
			moves -= int64(t.Relay.Samples)
		}
		if moves > 0 {
			*t.CPU.of(part) = float64(cpu.Microseconds()) / 1000 / float64(moves)
		}
		*t.LiveKB.of(part) = float64(live.part[part].Live-base.part[part].Live) / 1000 / float64(max(t.Running, 1))
		*t.ResidentMB.of(part) = float64(after.part[part].Resident) / 1e6
	}
	t.Cores = used.Seconds() / t.Seconds
}

func (b *ByProcess) of(p Part) *float64 {
	switch p {
	case NATSPart:
		return &b.NATS
	case ArenaPart:
		return &b.Arena
	}
	return &b.Bot
}

// count counts the games that ended between two tallies, and all faults until then.
func (t *Step) count(before, after tally) {
	t.Ended = after.ended - before.ended
	t.LostOnTime = after.faults[protocol.ReasonTime]
	for why, n := range after.faults {
		if t.Faults == nil {
			t.Faults = make(map[string]int)
		}
		t.Faults[string(why)] = n
	}
}

// stop returns why there is no next step; "" if there is no reason.
func (t *Step) stop(maxP99 time.Duration) string {
	switch {
	case t.LostOnTime > 0:
		return texttable.Count(t.LostOnTime, "game", "games") + " lost on time"
	case len(t.Faults) > 0:
		return fmt.Sprintf("games ended by faults: %v", t.Faults)
	case t.Relay.Samples == 0:
		return "no move of the timed game arrived"
	case t.Relay.P99 > ms(maxP99):
		return fmt.Sprintf("p99 of the relay above %v", maxP99)
	}
	return ""
}
