//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/bot"
)

// An engine on the ladder that is killed in mid-game goes on in that game when it joins
// again, and one that is paused, as on a machine that sleeps, goes on by itself. Ctrl-C
// ends its game, takes it off the ladder, and sums up.
func TestLadderRejoined(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays games")
	}
	h := newFleet(t)
	data := filepath.Join(h.dir, "data")
	h.start("up", "sparring", "up", "--ladder", "--http", "", "--clock", "60+1", "--data", data).run()
	h.wait("the ladder", func() bool { _, ok, err := readEndpoint(data); return ok && err == nil })
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
	arenatest.Pause(t, p.cmd.Process)
	time.Sleep(3 * time.Second) // longer than a player may be silent
	arenatest.Continue(t, p.cmd.Process)
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

// The ladder that a process hosts ends with the games of others: at Ctrl-C nobody is
// paired any more, and the running ones are played to their ends. Ctrl-C again ends it at
// once and says whose games it cuts off. The programs that play there notice, and end.
func TestLadderHostLeaves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays games")
	}
	h := newFleet(t)
	data := filepath.Join(h.dir, "data")
	// A second engine, in a game with a level that lasts some seconds.
	begin := func() (host, guest *process) {
		host = h.start("host", "sparring", "ladder", "join", "--engine", "uci:broken-engine,arg=fine", "--game", "amazons", "--clock", "5+0.1", "--http", "", "--data", data, "--name", "host")
		host.run()
		h.wait("the ladder", func() bool { _, ok, err := readEndpoint(data); return ok && err == nil })
		guest = h.start("guest", "sparring", "ladder", "join", "--engine", "self", "--game", "amazons", "--data", data, "--name", "guest")
		guest.run()
		h.wait("a game of the second engine with a level", func() bool {
			lines := strings.Split(strings.TrimSpace(guest.out.String()), "\n")
			last := lines[len(lines)-1]
			return strings.HasSuffix(last, "  starts") && strings.Contains(last, "amazons-level-")
		})
		return host, guest
	}
	gone := func(guest *process) {
		t.Helper()
		guest.slain = true // its exit code is no fault
		select {
		case <-guest.done:
		case <-time.After(patience):
			t.Fatal("the other engine's process does not end")
		}
		if code := guest.cmd.ProcessState.ExitCode(); code != exitFailed {
			t.Errorf("the other engine's process ends with exit code %d, want %d", code, exitFailed)
		}
		if out := guest.out.String(); strings.Count(out, "has ended\n") != 1 || !strings.Contains(out, "sparring: the ladder at nats://127.0.0.1:") {
			t.Errorf("it does not say that the ladder has ended:\n%s", out)
		}
	}

	for tries, waits := 1, false; !waits; tries++ { // unless the host's own game ended last
		host, guest := begin()
		starts := strings.Count(guest.out.String(), "  starts")
		host.end(os.Interrupt)
		out := host.out.String()
		waits = strings.Contains(out, "others still play on this ladder, which ends with their games: ")
		if tries == 4 && !waits || strings.Contains(out, "cut off") {
			t.Fatalf("the host does not wait for the game of the other:\n%s", out)
		}
		gone(guest)
		out = guest.out.String()
		if n := strings.Count(out, " against "); n < starts || strings.Count(out, "  starts") != n || strings.Contains(out, "no result") {
			t.Errorf("%d games began before Ctrl-C, and %d have ended:\n%s", starts, n, out)
		}
	}

	host, guest := begin()
	if err := host.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	h.wait("the host's answer to Ctrl-C", func() bool { return strings.Contains(host.out.String(), "Ctrl-C again ends it at once") })
	host.end(os.Interrupt)
	if out := host.out.String(); !strings.Contains(out, "cut off: ") || !strings.Contains(out, "guest") {
		t.Errorf("the host does not say whose game it cuts off:\n%s", out)
	}
	gone(guest)
}

// A team that joins from two machines with one login is refused the second time, if it is
// with another engine: the line names the first machine. The same engine is one player
// with the first.
func TestLadderFromTwoMachines(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays games")
	}
	h := newFleet(t)
	data := filepath.Join(h.dir, "data")
	h.start("up", "sparring", "up", "--ladder", "--teams", "red", "--port", "-1", "--http", "", "--data", data).run()
	login := filepath.Join(data, "teams", "red.env")
	h.wait("the ladder", func() bool { _, err := readLogin(login); return err == nil })
	join := func(machine, engine string) *process {
		p := h.start(machine, "sparring", "ladder", "join", "--login", login, "--engine", engine, "--game", "xiangqi", "--data", filepath.Join(h.dir, machine))
		p.run()
		return p
	}
	said := func(p *process, what string) func() bool {
		return func() bool { return strings.Contains(p.out.String(), what) }
	}
	first := join("first", "uci:broken-engine,arg=fine")
	h.wait("a game", said(first, "  starts"))
	here := "red plays xiangqi here already, from " + bot.Host() + " since "

	other := join("second", "self:level=1")
	other.slain = true // its exit code is no fault
	select {
	case <-other.done:
	case <-time.After(patience):
		t.Fatal("another engine is not refused")
	}
	out := other.out.String()
	if other.cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(out, here) || !strings.Contains(out, "with another engine, faulty: fine; end that one, or give this one a user of its own") {
		t.Errorf("exit code %d:\n%s", other.cmd.ProcessState.ExitCode(), out)
	}

	same := join("third", "uci:broken-engine,arg=fine")
	h.wait("the same engine", said(same, "note: "+here))
	first.kill()
	h.wait("its game, when the first is gone", func() bool {
		return strings.Contains(same.out.String(), "  starts") || strings.Contains(same.out.String(), "  resumes after ")
	})
	if !strings.Contains(same.out.String(), "with the same engine: they share its games and its rating") {
		t.Errorf("it says:\n%s", same.out)
	}
	same.end(os.Interrupt)
}
