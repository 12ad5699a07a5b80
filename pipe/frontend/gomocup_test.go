package frontend

import (
	"testing"
	"time"

	"sparring/game/gomoku"
	"sparring/pipe/gomocup"
)

// TestGomocupTime checks the time limits of a move for the time commands of a manager:
// never more than the turn, or than the rest of the match.
func TestGomocupTime(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name         string
		time         gomocupTime
		least, most  time.Duration // of the hard limit
		instantDepth bool
	}{
		{"nothing told", gomocupTime{turn: defaultTurn}, 4900 * ms, defaultTurn, false},
		{"at once", gomocupTime{turn: 0, match: time.Hour}, instantTime, instantTime, true},
		{"turn alone", gomocupTime{turn: 1000 * ms}, 900 * ms, 990 * ms, false},
		{"no limit to the match", gomocupTime{turn: 1000 * ms, match: 5000 * ms, left: gomocup.NoLimit * ms, told: true}, 900 * ms, 990 * ms, false},
		{"plenty left", gomocupTime{turn: 1000 * ms, match: time.Hour, left: time.Hour, told: true}, 900 * ms, 990 * ms, false},
		{"little left", gomocupTime{turn: 30 * time.Second, match: 180 * time.Second, left: 10 * time.Second, told: true}, 100 * ms, 5000 * ms, false},
		{"nothing left", gomocupTime{turn: 30 * time.Second, match: 180 * time.Second, left: -50 * ms, told: true}, ms, ms, false},
		{"by our own count", gomocupTime{turn: 30 * time.Second, match: 180 * time.Second, used: 170 * time.Second}, 100 * ms, 5000 * ms, false},
		{"a short turn", gomocupTime{turn: 100 * ms}, 96 * ms, 98 * ms, false},
		{"late of late", gomocupTime{turn: 1000 * ms, late: 300 * ms}, 600 * ms, 680 * ms, false},
		{"hopelessly late", gomocupTime{turn: 1000 * ms, late: time.Hour}, 400 * ms, 480 * ms, false},
	} {
		var o Options
		o.fill()
		g := gomocupHandler{s: &session{o: o}, time: c.time}
		l := g.limits(1, time.Unix(0, 0))
		if l.Hard < c.least || l.Hard > c.most || l.Soft > l.Hard || (l.Depth == instantDepth) != c.instantDepth {
			t.Errorf("%s: soft %v hard %v depth %d, want hard from %v to %v", c.name, l.Soft, l.Hard, l.Depth, c.least, c.most)
		}
		if half := g.limits(2, time.Unix(0, 0)); !c.instantDepth && half.Hard > max(l.Hard/2, ms) {
			t.Errorf("%s: %v for one of two searches, and %v for one alone", c.name, half.Hard, l.Hard)
		}
	}
	late := gomocupTime{due: 100 * ms}
	late.spend(190 * ms)
	if late.late != 0 || late.used != 190*ms {
		t.Errorf("within the tolerance: %+v", late)
	}
	late.spend(260 * ms)
	if late.late != 160*ms || late.used != 450*ms {
		t.Errorf("160 ms late: %+v", late)
	}
	late.spend(50 * ms)
	if late.late != 140*ms {
		t.Errorf("in time after that: %+v", late)
	}
}

// TestOwnColour checks which side is Black, if a list of stones only has own and
// other stones.
func TestOwnColour(t *testing.T) {
	for _, c := range []struct {
		name    string
		sides   []gomocup.Side
		ordered bool
		want    gomoku.Colour
	}{
		{"empty", nil, false, gomoku.Black},
		{"as many, ours first", []gomocup.Side{1, 2}, false, gomoku.Black},
		{"as many, theirs first", []gomocup.Side{2, 1}, false, gomoku.Black},
		{"one more of theirs", []gomocup.Side{1, 2, 2}, false, gomoku.White},
		{"none of ours", []gomocup.Side{2}, false, gomoku.White},
		{"stones missing, ours first", []gomocup.Side{1, 1, 1}, false, gomoku.Black},
		{"stones missing, theirs first", []gomocup.Side{2, 2, 2, 1}, false, gomoku.White},
		{"dead ones first", []gomocup.Side{3, 3, 2, 2, 2}, false, gomoku.White},
		{"in order, theirs first, one missing", []gomocup.Side{2, 1}, true, gomoku.White},
		{"in order, ours first", []gomocup.Side{1, 2}, true, gomoku.Black},
	} {
		var list []gomocup.Stone
		for i, s := range c.sides {
			list = append(list, gomocup.Stone{Point: gomocup.Point{X: i}, Side: s})
		}
		if got := ownColour(list, c.ordered); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
