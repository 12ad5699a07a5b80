package gametest

import "testing"

// SkipShort skips a test under go test -short: another test of the package checks its promise
// in a shorter way, or a promise near it.
func SkipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
}
