package web

import (
	"slices"
	"testing"
	"time"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// TestMostUrgent: of the games that wait for a person the one comes first whose clock has the
// least time left now, whatever it had when the turn began, and one without a clock last.
func TestMostUrgent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	list := []message.Mine{
		{Game: "theirs", LeftMS: ms(time.Second)},
		{Game: "unlimited", MyTurn: true, Since: now.Add(-time.Hour)},
		{Game: "begun", MyTurn: true, LeftMS: ms(24 * time.Hour), Since: now, Running: true},
		{Game: "stopped", MyTurn: true, LeftMS: ms(2 * time.Hour), Since: now.Add(-48 * time.Hour)},
		{Game: "late", MyTurn: true, LeftMS: ms(72 * time.Hour), Since: now.Add(-71 * time.Hour), Running: true},
	}
	slices.SortStableFunc(list, byUrgency(now))
	var got []protocol.GameID
	for _, m := range list {
		got = append(got, m.Game)
	}
	if want := []protocol.GameID{"late", "stopped", "begun", "unlimited", "theirs"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
