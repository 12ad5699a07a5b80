package gametest

import (
	"testing"
	"time"
)

// Patience is how long tests wait for what usually takes a moment. Machines may be ten
// times slower than usual, and busy with ten other things.
const Patience = 3 * time.Minute

// Eventually waits until ok returns true. It fails the test after [Patience], and in
// any case before go test's limit ends the program: what was waited for is said then.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	begun, patience := time.Now(), Patience
	if limited, is := t.(interface{ Deadline() (time.Time, bool) }); is {
		if end, set := limited.Deadline(); set {
			patience = min(patience, time.Until(end)*9/10)
		}
	}
	for pause := time.Millisecond; !ok(); pause = min(2*pause, 20*time.Millisecond) {
		if waited := time.Since(begun); waited > patience {
			t.Fatalf("waited %v in vain: %s", waited.Round(time.Second), what)
		}
		time.Sleep(pause)
	}
}
