package protocol

import (
	"encoding/json"
	"testing"
	"time"

	"sparring/game"
)

// A state in two parts is encoded as it would be in one.
func TestStateInParts(t *testing.T) {
	now := time.Now().UTC()
	full := State{V: Version, To: "sparring.to.a.game.g", Seq: 3, Unkept: 2, ServerTime: now, You: game.Second,
		Snapshot: Snapshot{Game: "g", Started: now, Moves: []string{"a1", "b2"}, Key: "0123456789abcdef", Status: Playing},
		Receipt:  &Receipt{Ply: 2, Received: now}}
	for _, st := range []State{full, {}} {
		want, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		body, err := st.body()
		if err != nil {
			t.Fatal(err)
		}
		got, err := st.encode(body)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
