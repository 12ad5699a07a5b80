//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An engine on the ladder that is killed in mid-game goes on in that game when it joins
// again, and one that is paused, as on a machine that sleeps, goes on by itself. Ctrl-C
// ends its game, takes it off the ladder, and sums up.
func TestLadderRejoined(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and plays games")
	}
	h := newFleet(t)
	data := filepath.Join(h.dir, "data")
	h.start("up", "sparring", "up", "--ladder", "--http", "", "--clock", "60+1", "--data", data).run()
	h.wait("the ladder", func() bool { _, ok, err := findDoor(data); return ok && err == nil })
	join := func() *process {
		p := h.start("join", "sparring", "ladder", "join", "--engine", "uci:broken-engine,arg=fine", "--game", "xiangqi", "--data", data, "--name", "team")
		p.run()
		return p
	}
	said := func(p *process, what string) func() bool {
		return func() bool { return strings.Contains(p.out.String(), what) }
	}
	p := join()
	for n := 1; ; n++ {
		h.wait("a game", said(p, "  starts"))
		p.kill()
		p = join()
		h.wait("a game after the kill", func() bool {
			return strings.Contains(p.out.String(), "  starts") || strings.Contains(p.out.String(), "  resumes after ")
		})
		if strings.Contains(p.out.String(), "  resumes after ") {
			break
		}
		if n == 10 { // the games were over before the kill
			t.Fatal("no game was resumed")
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // longer than a player may be silent
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	games := func() int { return strings.Count(p.out.String(), " against ") }
	before := games()
	h.wait("two games after the pause", func() bool { return games() >= before+2 })
	p.end(os.Interrupt)
	for _, want := range []string{"finishing the running game", " games of xiangqi team won ", "because the engine failed; the records are in " + recordsDir(data)} {
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, p.out)
		}
	}
	if strings.Contains(p.out.String(), "abandoned") {
		t.Errorf("a game was lost:\n%s", p.out)
	}
}
