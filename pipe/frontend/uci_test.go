package frontend_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/frontend"
	"sparring/pipe/uci"
)

// untilMove returns the lines with a principal variation, or with nodes, up to the move.
func (c *conversation) untilMove() (infos []*uci.Info, move string) {
	c.t.Helper()
	for {
		reply, err := uci.ParseReply(c.next())
		if err != nil {
			c.fail(err.Error())
		}
		switch r := reply.(type) {
		case uci.Info:
			if r.Note == "" {
				infos = append(infos, &r)
			}
		case uci.BestMove:
			return infos, r.Move
		}
	}
}

// TestSeveralLines: the lines of a depth come together, best first, also those of a search that
// was cut short, and the move is that of the best.
func TestSeveralLines(t *testing.T) {
	t.Parallel()
	c := &conversation{t: t, where: "MultiPV"}
	const lines = 3
	c.send(fmt.Sprintf("uci\nsetoption name MultiPV value %d", lines))
	for nodes := 100; nodes < 4000; nodes += 150 {
		c.send(fmt.Sprintf("ucinewgame\nposition startpos moves h2e2 h9g7\ngo nodes %d", nodes))
		infos, move := c.untilMove()
		var best, before *uci.Info
		sent := 0
		for _, l := range infos {
			switch {
			case l.Line == 0: // only nodes and time
				continue
			case l.Line == 1:
				best = l
				sent++
			case l.Line != before.Line+1 || l.Nodes != best.Nodes || l.Time != best.Time:
				t.Errorf("%d nodes: %+v behind %+v", nodes, l, before)
			// What is behind the best may be of the iteration before.
			case l.Depth == before.Depth && l.Score.Value > before.Score.Value && l.Line > 2:
				t.Errorf("%d nodes: %+v behind a worse one, %+v", nodes, l, before)
			}
			before = l
		}
		if nodes > 1000 && (sent < 4 || before.Line != lines) {
			t.Errorf("%d nodes: %d lines, and those %d times", nodes, before.Line, sent)
		}
		if best == nil || best.PV[0] != move {
			t.Errorf("%d nodes: %s is played, but the best line is %+v", nodes, move, best)
		}
	}
}

// TestMoveOfLines: of lines of one depth the better is played that was found later, but a level
// plays what it has chosen. What is played is the first line.
func TestMoveOfLines(t *testing.T) {
	p, err := catalog.Setup("xiangqi", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var moves []game.Move
	for _, text := range []string{"h2e2", "b2e2"} {
		m, err := p.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		moves = append(moves, m)
	}
	first, second := moves[0], moves[1]
	w := &witness{
		result: search.Result{Move: first, PV: []game.Move{first}, Score: 10, Depth: 1},
		infos: []search.Info{
			{Line: 1, Depth: 1, Score: 10, Bound: search.Exact, WinProb: 0.5, PV: []game.Move{first}},
			{Line: 2, Depth: 1, Score: 20, Bound: search.Exact, WinProb: 0.6, PV: []game.Move{second}},
		},
	}
	for level, want := range map[int]string{0: "b2e2", 5: "h2e2"} {
		var out strings.Builder
		err := frontend.Serve(t.Context(), strings.NewReader("uci\nsetoption name MultiPV value 2\nposition startpos\ngo depth 1\n"), &out, frontend.Options{
			Setup: frontend.Setup{Level: level}, Open: func(string, frontend.Setup) (engine.Searcher, error) { return w, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		all := out.String()
		if first := strings.LastIndex(all, "multipv 1"); first < 0 || !strings.Contains(all[first:], " pv "+want+"\n") || !strings.HasSuffix(all, "bestmove "+want+"\n") {
			t.Errorf("level %d: want %s\n%s", level, want, all)
		}
	}
}

// TestTimeOfPondering: the time of a search counts from its beginning, as its nodes do,
// also after a ponder hit.
func TestTimeOfPondering(t *testing.T) {
	t.Parallel()
	c := &conversation{t: t, where: "ponder"}
	c.send("uci\nposition startpos moves h2e2 h9g7\ngo ponder wtime 60000 btime 60000 nodes 3000")
	for !strings.Contains(c.next(), " pv ") {
	}
	began := time.Now()
	time.Sleep(100 * time.Millisecond)
	pondered := time.Since(began).Truncate(time.Millisecond)
	c.send("ponderhit")
	infos, _ := c.untilMove()
	if last := infos[len(infos)-1]; last.Time < pondered {
		t.Errorf("%v after %v of pondering", last.Time, pondered)
	}
}
