package otb

import (
	"fmt"
	"sync"

	"sparring/record"
)

// exporter keeps records in the background: to name one takes a look at all others.
// The table's mu guards it.
type exporter struct {
	next   *record.Record // to keep when the one before is kept
	busy   bool
	failed error // of the last one
	work   sync.WaitGroup
}

// keep has a record kept. One that waits is replaced: it is an older one of the game.
func (x *exporter) keep(t *Table, r *record.Record) {
	x.next = r
	if x.busy {
		return
	}
	x.busy = true
	x.work.Go(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for x.next != nil {
			r, x.next = x.next, nil
			t.mu.Unlock()
			files, err := t.o.Keep(r)
			t.mu.Lock()
			for _, f := range files {
				t.say("Written: %s", f)
			}
			if x.failed = nil; err != nil {
				x.failed = fmt.Errorf("the record was not written: %w", err)
				t.alert("The record was not written: %v (export tries again; the journal has the game)", err)
			}
		}
		x.busy = false
	})
}

// Exported waits until the record is kept that was asked for last. The error says why
// it is not.
func (t *Table) Exported() error {
	t.exports.work.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.exports.failed
}
