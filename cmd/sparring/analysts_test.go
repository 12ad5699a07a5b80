package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// killAnalyst kills one of two bot processes, each of which works on an analysis.
// The other one goes on with both.
func killAnalyst(t *testing.T, h *fleet) {
	_, url := h.startNATS(0)
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "platform", User: "platform", Password: password("platform"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	server := protocol.NewServer(nc, subjects, protocol.DefaultLimits, nil, zerolog.Nop())
	bots := []*process{h.startBot(url, "one", "SPARRING_ANALYSES=1"), h.startBot(url, "two", "SPARRING_ANALYSES=1")}

	// Each process has one place for a review, so two under way are one in each.
	var tasks [2]struct {
		accepted, deeper atomic.Int64 // answers without and with a depth
		cancel           context.CancelFunc
		ended            chan error
	}
	for i := range tasks {
		task := &tasks[i]
		var ctx context.Context
		ctx, task.cancel = context.WithCancel(h.ctx)
		defer task.cancel()
		task.ended = make(chan error, 1)
		go func() {
			for {
				_, err := server.Analyse(ctx, "xiangqi", protocol.AnalysisRequest{
					Rules: "xiangqi/simple", TimeMS: protocol.MaxAnalysis.Milliseconds(), Purpose: protocol.ForReview,
				}, func(a protocol.Analysis) {
					if a.Depth == 0 {
						task.accepted.Add(1)
					} else {
						task.deeper.Add(1)
					}
				})
				if errors.Is(err, nats.ErrNoResponders) && ctx.Err() == nil { // the bots are starting
					time.Sleep(20 * time.Millisecond)
					continue
				}
				task.ended <- err
				return
			}
		}()
	}
	h.wait("an analysis in each process", func() bool { return tasks[0].deeper.Load() > 0 && tasks[1].deeper.Load() > 0 })
	bots[0].kill()

	// The analysis of the killed process waits until the other one is done.
	before := [2]int64{tasks[0].accepted.Load(), tasks[1].accepted.Load()}
	silent := 0
	h.wait("the silence of one", func() bool {
		seen := [2]int64{tasks[0].deeper.Load(), tasks[1].deeper.Load()}
		time.Sleep(3 * protocol.AnalysisPulse)
		for i := range tasks {
			if tasks[i].deeper.Load() == seen[i] && tasks[1-i].deeper.Load() > seen[1-i] {
				silent = i
				return true
			}
		}
		return false
	})
	tasks[1-silent].cancel()
	h.wait("the other process at work", func() bool { return tasks[silent].accepted.Load() > before[silent] })
	tasks[silent].cancel()
	for i := range tasks {
		if err := <-tasks[i].ended; !errors.Is(err, context.Canceled) {
			t.Errorf("analysis %d: %v", i, err)
		}
	}
}
