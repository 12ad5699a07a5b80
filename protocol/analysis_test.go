package protocol_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game/gametest"
	"sparring/protocol"
)

var hint = protocol.AnalysisRequest{Rules: "gomoku/freestyle-15", Moves: []string{"h8"}, TimeMS: 10_000, Lines: 2, Purpose: protocol.ForHint}

// analyst subscribes as the user of the fleet.
func (w *wire) analyst(log io.Writer, take func(*protocol.AnalysisTask)) {
	w.t.Helper()
	nc := w.connect(w.Player("bots"))
	_, err := w.clientOver(nc, "gomoku-hare", log).Analyst("gomoku", take)
	w.must(err, nc)
}

// depth is an answer of this depth.
func depth(n int) protocol.Analysis {
	half := 0.5
	return protocol.Analysis{Depth: n, Nodes: int64(n * 100), Chance: &half, Lines: []protocol.AnalysisLine{{Score: n, Chance: &half, Moves: []string{"h9"}}}}
}

// Answers reach the platform across the accounts, in order, and the last one ends
// the analysis.
func TestAnalysis(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	const answers = 200 // more than one answer a request needs a permission
	w.analyst(io.Discard, func(task *protocol.AnalysisTask) {
		if task.Rules != hint.Rules || len(task.Moves) != 1 || task.Lines != 2 || task.Purpose != protocol.ForHint {
			task.Refuse(protocol.Refuse(protocol.Malformed, "another request"))
			return
		}
		if _, err := task.Accept(w.ctx); err != nil {
			t.Error(err)
		}
		for n := range answers {
			task.Update(depth(n + 1))
		}
		task.Finish(depth(answers + 1))
		task.Update(depth(1000)) // too late
		task.Refuse(protocol.Refuse(protocol.Unavailable, "too late, too"))
	})
	var depths []int
	a, err := s.Analyse(w.ctx, "gomoku", hint, func(a protocol.Analysis) { depths = append(depths, a.Depth) })
	if err != nil || !a.Final || a.Depth != answers+1 || a.Code != protocol.Accepted || len(a.Lines) != 1 || *a.Lines[0].Chance != 0.5 {
		t.Errorf("last answer %+v %v", a, err)
	}
	if len(depths) != answers+1 {
		t.Fatalf("%d answers before the last one", len(depths))
	}
	for i, d := range depths {
		if d != i {
			t.Fatalf("answer %d has depth %d", i, d)
		}
	}
}

// Nobody analyses this game: that is known at once, not after a timeout.
func TestAnalysisWithoutAnalysts(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	if _, err := s.Analyse(w.ctx, "gomoku", hint, nil); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("%v, want no responders", err)
	}
	if _, err := s.Analyse(w.ctx, "a.>", hint, nil); err == nil {
		t.Error("a wildcard was accepted")
	}
	bad := hint
	bad.TimeMS = protocol.MaxAnalysis.Milliseconds() + 1
	if _, err := s.Analyse(w.ctx, "gomoku", bad, nil); err == nil || errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a budget above the limit: %v", err)
	}
}

// A cancelled analysis ends the analyst's work, also when it is cancelled before
// the first answer.
func TestAnalysisCancelled(t *testing.T) {
	for name, early := range map[string]bool{"before the first answer": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t)
			s := w.server(io.Discard, protocol.DefaultLimits)
			ctx, cancel := context.WithCancelCause(w.ctx)
			why := errors.New("nobody looks any more")
			ended := make(chan error, 1)
			w.analyst(io.Discard, func(task *protocol.AnalysisTask) {
				if early {
					cancel(why)
				}
				work, err := task.Accept(w.ctx)
				if err != nil {
					t.Error(err)
				}
				go func() {
					<-work.Done()
					task.Finish(depth(3))
					ended <- w.ctx.Err()
				}()
			})
			_, err := s.Analyse(ctx, "gomoku", hint, func(protocol.Analysis) { cancel(why) })
			if !errors.Is(err, why) {
				t.Errorf("%v, want the cause", err)
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("ended by the test's end: %v", err)
				}
			case <-w.ctx.Done():
				t.Error("the analyst works on")
			}
		})
	}
}

// An analyst that falls silent, floods, is busy, or shuts down is replaced.
func TestAnalysisAsksAnother(t *testing.T) {
	for name, fail := range map[string]func(context.Context, *protocol.AnalysisTask){
		"silent at once": func(context.Context, *protocol.AnalysisTask) {},
		"silent later": func(ctx context.Context, task *protocol.AnalysisTask) {
			task.Accept(ctx)
			task.Update(depth(1))
		},
		"busy": func(_ context.Context, task *protocol.AnalysisTask) {
			task.Refuse(protocol.Refuse(protocol.CodeBusy, "two analyses are under way"))
		},
		"shutting down": func(ctx context.Context, task *protocol.AnalysisTask) {
			task.Accept(ctx)
			task.Refuse(protocol.Refuse(protocol.Unavailable, "shutting down"))
		},
		"noise": func(_ context.Context, task *protocol.AnalysisTask) {
			task.Update(protocol.Analysis{Depth: -1})
			two := 2.0
			task.Update(protocol.Analysis{Chance: &two})
			task.Update(protocol.Analysis{Lines: make([]protocol.AnalysisLine, 1)})
			task.Finish(protocol.Analysis{Engine: strings.Repeat("x", 65)})
		},
		"flood": func(ctx context.Context, task *protocol.AnalysisTask) {
			work, err := task.Accept(ctx)
			if err != nil {
				return
			}
			go func() {
				for n := 0; n < 1<<14 && work.Err() == nil; n++ { // not for ever: others answer on this connection
					task.Update(depth(1))
				}
				<-work.Done()
				task.Finish(depth(1))
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			s := w.server(io.Discard, protocol.DefaultLimits)
			var asked atomic.Int64
			w.analyst(io.Discard, func(task *protocol.AnalysisTask) {
				if asked.Add(1) == 1 {
					fail(w.ctx, task)
					return
				}
				task.Finish(depth(7))
			})
			a, err := s.Analyse(w.ctx, "gomoku", hint, nil)
			// On a busy machine one that answers may seem silent, too.
			if n := asked.Load(); err != nil || a.Depth != 7 || n < 2 || n > 3 {
				t.Errorf("asked %d times: %+v %v", n, a, err)
			}
		})
	}
}

// The only analyst loses its connection in the middle of an analysis. It is asked
// again once it has connected again.
func TestAnalysisWaitsForAnAnalyst(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("bots"))
	_, err := w.clientOver(nc, "gomoku-hare", io.Discard).Analyst("gomoku", func(*protocol.AnalysisTask) { nc.Close() })
	w.must(err, nc)
	silent := make(chan struct{})
	s := w.server(onLine{"fell silent", sync.OnceFunc(func() { close(silent) })}, protocol.DefaultLimits)
	back := w.clientOver(w.connect(w.Player("bots")), "gomoku-hare", io.Discard)
	go func() {
		<-silent
		time.Sleep(time.Second) // the platform asks before, and nobody is there
		if _, err := back.Analyst("gomoku", func(task *protocol.AnalysisTask) { task.Finish(depth(7)) }); err != nil {
			t.Error(err)
		}
	}()
	a, err := s.Analyse(w.ctx, "gomoku", hint, nil)
	if err != nil || a.Depth != 7 {
		t.Errorf("%+v %v", a, err)
	}
}

// onLine calls seen for every line of a log that contains a text.
type onLine struct {
	text string
	seen func()
}

func (o onLine) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(o.text)) {
		o.seen()
	}
	return len(line), nil
}

// A refusal for a reason that another analyst would share is returned.
func TestAnalysisRefused(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	w.analyst(io.Discard, func(task *protocol.AnalysisTask) { task.Refuse(protocol.Refuse(protocol.Over, "the game has ended")) })
	if _, err := s.Analyse(w.ctx, "gomoku", hint, nil); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("%v, want over", err)
	}
}

// What an analyst gets from the platform's account is checked, too.
func TestAnalystRefusesBadRequests(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	reached := make(chan string, 10)
	w.analyst(&log, func(task *protocol.AnalysisTask) {
		reached <- task.ID
		task.Finish(depth(1))
	})
	platform := w.connect(w.Platform())
	for _, c := range []struct {
		data string
		code protocol.Code
	}{
		{"hello?", protocol.Malformed},
		{strings.Repeat("[", 100), protocol.TooLarge},
		{`{"v":9}`, protocol.BadVersion},
		{strings.Replace(sound["analysis request"], `"time_ms":1000`, `"time_ms":-1`, 1), protocol.Malformed},
	} {
		msg, err := platform.RequestWithContext(w.ctx, w.subjects.Analyse("gomoku"), []byte(c.data))
		w.must(err)
		var a protocol.Analysis
		w.must(json.Unmarshal(msg.Data, &a))
		if a.Code != c.code || a.Error == nil || !a.Final {
			t.Errorf("%.40q: %s, want %s", c.data, msg.Data, c.code)
		}
	}
	if len(reached) != 0 {
		t.Errorf("bad requests reached the analyst: %s", <-reached)
	}
	if _, err := platform.RequestWithContext(w.ctx, w.subjects.Analyse("gomoku"), []byte(sound["analysis request"])); err != nil {
		t.Errorf("a good request afterwards: %v", err)
	}
	if n := log.Count("invalid request"); n != 1 {
		t.Errorf("the same fault was logged %d times", n)
	}
}

// Requests are shared by the analysts.
func TestAnalystsShare(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	var taken [2]atomic.Int64
	for i := range taken {
		w.analyst(io.Discard, func(task *protocol.AnalysisTask) {
			taken[i].Add(1)
			task.Finish(depth(1))
		})
	}
	for n := 0; taken[0].Load() == 0 || taken[1].Load() == 0; n++ {
		if _, err := s.Analyse(w.ctx, "gomoku", hint, nil); err != nil {
			t.Fatal(fmt.Errorf("request %d: %w", n, err))
		}
	}
}
