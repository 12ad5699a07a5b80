package embedded

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestRoutineWarnings: what the server reports after every kill is no warning;
// damage is.
func TestRoutineWarnings(t *testing.T) {
	for text, level := range map[string]string{
		"Filestore [queue] Stream state detected prior state, could not locate msg block 10":              "info",
		"Filestore [records] Stream state detected prior state, could not locate msg block 10":            "warn",
		"Filestore [records] Stream state outdated, last block has additional entries, will rebuild":      "info",
		"Filestore [records] TTL state is outdated; attempting to recover using linear scan (seq 1 to 2)": "info",
		"Filestore [records] Recovering stream state from index errored: prior state file":                "info",
		"Filestore [records] Recovering stream state from index errored: corrupt state file":              "warn",
		"Filestore [records] Stream state checksum did not match":                                         "warn",
		"Filestore [records] loadBlock error: no such file":                                               "warn",
		"Error recreating stream \"records\": no such file":                                               "warn",
	} {
		var out strings.Builder
		l := newServerLog(zerolog.New(&out), []storedStream{{name: "queue"}, {name: "records", keeps: true}})
		l.Warnf("%s", text)
		if !strings.Contains(out.String(), `"level":"`+level+`"`) {
			t.Errorf("%s: logged as %s, want %s", text, out.String(), level)
		}
	}
}
