package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// The end of the terminal ends a command as Ctrl-C does, unless nohup has started it. A bot
// process reads its players again.
func TestHangUp(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays games")
	}
	ignored := make(chan os.Signal, 1) // by the tests, so that their processes don't inherit that nohup began them
	signal.Notify(ignored, syscall.SIGHUP)
	defer signal.Stop(ignored)
	h := newFleet(t)
	_, url := h.startNATS(0)
	a, b := h.startArena(url), h.startBot(url, "b1")
	join := h.start("team", "sparring", "ladder", "join", "--engine", "self:level=1", "--game", "gomoku", "--http", "", "--data", t.TempDir())
	join.run()
	up := h.start("up", "sh", "-c", "trap '' HUP; exec sparring up --http '' --levels 0 --data '"+t.TempDir()+"'")
	up.run()
	h.wait("the games", func() bool {
		for p, says := range map[*process]string{a: "game starts", join: "  starts", up: "  starts"} {
			if !strings.Contains(p.out.String(), says) {
				return false
			}
		}
		return true
	})
	for _, p := range []*process{b, up} {
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	h.wait("the bot's word", func() bool { return strings.Contains(b.out.String(), "players read again") })
	b.kill()
	for p, says := range map[*process]string{a: "arena stops: ", join: " of gomoku level=1 won "} {
		if p.end(syscall.SIGHUP); !strings.Contains(p.out.String(), says) {
			t.Errorf("%s does not say %q:\n%s", p.name, says, p.out)
		}
	}
	lines := func() int { return strings.Count(up.out.String(), "\n") }
	before := lines()
	h.wait("more moves after the end of the terminal", func() bool { return lines() > before+10 })
	up.end(os.Interrupt)
}
