package external

import (
	"fmt"
	"testing"

	"sparring/engine/search"
	"sparring/game/gametest"
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
	gametest.Eventually(t, "a child in a session of its own", func() bool {
		look()
		return child.pid != 0 && child.group == child.pid && child.resident > 0
	})
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
		gametest.Eventually(t, fmt.Sprintf("its child's state after suspend(%v)", on), func() bool {
			look()
			return (child.state == 'T') == on
		})
	}
}
