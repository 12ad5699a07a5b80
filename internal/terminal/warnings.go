package terminal

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mattn/go-runewidth"
)

// Warnings shows log entries of level warn and above on the display, once the start
// has been shown, until shutdown. After that they go to the log file only.
type Warnings struct {
	screen  *Display
	without []string // messages that are in the log file alone

	mu    sync.Mutex
	early []string // before show
	shown bool
	muted bool
}

// NewWarnings returns warnings that hold back what they get until Show. The messages of
// without are not shown at all.
func NewWarnings(screen *Display, without ...string) *Warnings {
	return &Warnings{screen: screen, without: without}
}

// maxIncident is how many columns of an engine's incident the display shows. The log has all.
const maxIncident = 320

// Show shows what has been held back, and from now on every entry.
func (w *Warnings) Show() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.early {
		w.screen.Say("%s", text)
	}
	w.early, w.shown = nil, true
}

// Mute ends the showing.
func (w *Warnings) Mute() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = true
}

// Write shows one entry of zerolog's JSON.
func (w *Warnings) Write(line []byte) (int, error) {
	var entry map[string]any
	if json.Unmarshal(line, &entry) != nil {
		return len(line), nil
	}
	field := func(name string) string { text, _ := entry[name].(string); return text }
	level, message := field("level"), field("message")
	if level != "warn" && level != "error" || slices.Contains(w.without, message) {
		return len(line), nil
	}
	text := level + ": " + message
	for _, name := range []string{"why", "error"} {
		if reason := field(name); reason != "" {
			text += ": " + reason
		}
	}
	if said := strings.Fields(field("incident")); len(said) > 0 { // may have lines that an engine printed
		text += ": " + runewidth.Truncate(strings.Join(said, " "), maxIncident, " ...")
	}
	var what []string // it is about
	if names, ok := entry["variables"].([]any); ok {
		for _, name := range names {
			what = append(what, fmt.Sprint(name))
		}
	}
	if of := field("of"); of != "" { // the disk, say, that is almost full
		what = append(what, of)
	}
	for _, name := range []string{"player", "game"} {
		if id := field(name); id != "" {
			what = append(what, name+" "+id)
		}
	}
	if len(what) > 0 {
		text += " (" + strings.Join(what, ", ") + ")"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.muted:
	case w.shown:
		w.screen.Say("%s", text)
	default:
		w.early = append(w.early, text)
	}
	return len(line), nil
}
