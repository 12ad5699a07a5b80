package terminal

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
)

// TestDumbTerminal: nothing is redrawn in place on a terminal that can't move its cursor.
func TestDumbTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	defer master.Close()
	defer tty.Close()
	for name, want := range map[string]bool{"xterm-256color": true, "dumb": false} {
		t.Setenv("TERM", name)
		if NewDisplay(tty).Live() != want {
			t.Errorf("TERM=%s: redrawn in place: %t", name, !want)
		}
	}
}

// TestPace: without a terminal a line comes after each part of the work, and every
// ten seconds while nothing gets done.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(NewDisplay(&bytes.Buffer{}), 10*MaxLines)
		begin := time.Now()
		said := ""
		for _, step := range []struct {
			after time.Duration
			done  int
		}{{1, 0}, {1, 3}, {1, 9}, {1, 10}, {1, 11}, {8, 12}, {1, 12}, {1, 19}, {4, 19}, {1, 22}, {1, 40}} {
			time.Sleep(step.after * time.Second)
			if p.Due(step.done) {
				said += fmt.Sprintf("%v: %d, %s\n", time.Since(begin), step.done, TimeLeft(begin, step.done, 200))
			}
		}
		const want = "4s: 10, 1m16s left\n14s: 12, 3m39s left\n20s: 22, 2m42s left\n21s: 40, 1m24s left\n"
		if said != want {
			t.Errorf("got\n%swant\n%s", said, want)
		}
	})
}

// TestDisplaySet: lines are redrawn in place on a terminal, cut to its size also where
// characters have two columns, and nothing is written elsewhere.
func TestDisplaySet(t *testing.T) {
	var out bytes.Buffer
	d := NewDisplay(&out)
	d.Set("depth 1", "line")
	d.Clear()
	if out.Len() > 0 || d.Live() {
		t.Errorf("without a terminal: %q", out.String())
	}
	d.width, d.height = 8, 4
	d.Set("depth 1", "炮二平五 马8进7")
	d.Set("depth 2")
	d.Set("a", "b", "c", "d", "e")
	d.Clear()
	const want = "depth 1\n炮二平\n\x1b[2A\x1b[Jdepth 2\n\x1b[1A\x1b[Ja\nb\ne\n\x1b[3A\x1b[J"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
