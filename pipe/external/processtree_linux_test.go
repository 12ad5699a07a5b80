package external

import (
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/pipe/external/faultyengine"
)

// TestProcessTree: the memory of a child in its own session counts as the program's,
// and it is suspended with it.
func TestProcessTree(t *testing.T) {
	e := openFaulty(t, faultyengine.Fork)
	g := play(t, e)
	if r := find(t, g, newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1}); r.Err != nil {
		t.Fatal(r.Err)
	}
	p := g.current().program
	leader := p.cmd.Process.Pid
	child := status{}
	look := func() {
		eachProcess(func(s status) {
			if s.parent == leader {
				child = s
			}
		})
	}
	for end := time.Now().Add(20 * time.Second); child.group != child.pid || child.resident == 0; look() {
		if time.Now().After(end) {
			t.Fatalf("no child in a session of its own: %+v", child)
		}
		time.Sleep(time.Millisecond)
	}
	var alone int64
	eachProcess(func(s status) {
		if s.group == leader {
			alone += s.resident
		}
	})
	if used := treeMemory(leader, p.mark); used <= alone {
		t.Errorf("%d bytes, of which the program has %d and its child %d", used, alone, child.resident)
	}
	for _, on := range []bool{true, false} {
		p.suspend(on)
		for end := time.Now().Add(20 * time.Second); (child.state == 'T') != on; look() {
			if time.Now().After(end) {
				t.Fatalf("suspended %v: its child's state is %c", on, child.state)
			}
			time.Sleep(time.Millisecond)
		}
	}
}
