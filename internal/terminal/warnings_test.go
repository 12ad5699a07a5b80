package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestWarnings: a warning on the screen says what it is about, as the log does.
func TestWarnings(t *testing.T) {
	var out bytes.Buffer
	w := NewWarnings(NewDisplay(&out), "hidden")
	log := zerolog.New(w)
	log.Warn().Strs("variables", []string{"SPARRING_SLOT", "SPARRING_KEEP"}).Msg("unknown settings ignored")
	if out.Len() > 0 {
		t.Errorf("shown before the start: %q", out.String())
	}
	w.Show()
	log.Info().Msg("game starts")
	log.Warn().Msg("hidden")
	log.Warn().Str("why", "the flag had fallen").Str("player", "ann").Str("game", "g4kq").Msg("refused")
	log.Warn().Str("of", "disk data").Msg("space runs out")
	log.Warn().Int("of", 31).Msg("searches start late")
	log.Error().Err(errors.New("disk full")).Str("game", "g4kq").Msg("record not kept")
	log.Warn().Str("incident", "the engine ended:\n  panic "+strings.Repeat("x", 1000)).Str("game", "g4kq").Msg("the engine misbehaved")
	w.Mute()
	log.Error().Msg("too late")
	want := `warn: unknown settings ignored (SPARRING_SLOT, SPARRING_KEEP)
warn: refused: the flag had fallen (player ann, game g4kq)
warn: space runs out (disk data)
warn: searches start late
error: record not kept: disk full (game g4kq)
warn: the engine misbehaved: the engine ended: panic ` + strings.Repeat("x", maxIncident-28) + ` ... (game g4kq)
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
