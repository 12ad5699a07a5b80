package web

import (
	"testing"
	"time"

	"sparring/arena"
	"sparring/protocol"
)

// TestRestingLevels: a level whose process is silent stays in the picker for a while, as one that
// rests; another program, or a level that does not come back, is not kept.
func TestRestingLevels(t *testing.T) {
	instance := func(p protocol.PlayerID, level int) arena.Instance {
		return arena.Instance{Player: p, Free: 5, Hello: protocol.Hello{Kind: protocol.Bot, Games: []protocol.Capability{{Game: "gomoku", Engine: &protocol.Engine{Level: level}}}}}
	}
	third, fourth, hare := instance("gomoku-level-3", 3), instance("gomoku-level-4", 4), instance("hare", 0)
	r, begin := newRestingLevels(), time.Now()
	for _, c := range []struct {
		after   time.Duration
		present []arena.Instance
		want    map[protocol.PlayerID]bool // whether it rests, by player
	}{
		{0, []arena.Instance{third, fourth, hare}, map[protocol.PlayerID]bool{"gomoku-level-3": false, "gomoku-level-4": false, "hare": false}},
		{time.Second, []arena.Instance{fourth}, map[protocol.PlayerID]bool{"gomoku-level-3": true, "gomoku-level-4": false}},
		{restsFor, []arena.Instance{third}, map[protocol.PlayerID]bool{"gomoku-level-3": false, "gomoku-level-4": true}},
		{restsFor + 2*time.Second, []arena.Instance{third}, map[protocol.PlayerID]bool{"gomoku-level-3": false}},
	} {
		got := make(map[protocol.PlayerID]bool)
		all, resting := r.with(c.present, begin.Add(c.after))
		for _, o := range opponents(all, resting, nil) {
			got[o.Player] = o.Resting
			if o.Resting && !o.Busy {
				t.Errorf("after %v: %s rests, and is free", c.after, o.Player)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("after %v: %v, want %v", c.after, got, c.want)
		}
		for id, want := range c.want {
			if is, ok := got[id]; !ok || is != want {
				t.Errorf("after %v: %s rests: %v, there: %v; want %v", c.after, id, is, ok, want)
			}
		}
	}
}
