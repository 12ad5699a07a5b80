package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sparring/game/gametest"
	"sparring/lab/load/fleetbench"
)

// bench prepares "bench fleet" with a few fast games.
func (h *fleet) bench(args ...string) (p *process, out *bytes.Buffer) {
	p = h.start("bench fleet", "sparring", append([]string{"bench", "fleet", "--quick", "--p99", "1m"}, args...)...)
	out = new(bytes.Buffer)
	p.cmd.Stdout = out // and p.out has the progress
	return p, out
}

// The command plays games in processes of its own, of which two have bots, prints what
// they cost, draws it, and leaves nothing behind in its temporary folder.
func TestBenchFleet(t *testing.T) {
	t.Parallel()
	h := newFleet(t)
	drawing, tmp := filepath.Join(h.dir, "fleet.svg"), filepath.Join(h.dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	p, out := h.bench("--json", "--plot", drawing, "--profile", h.dir, "--bots", "1,2")
	p.with("TMPDIR=" + tmp).run()
	<-p.done
	var r fleetbench.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || p.err != nil || len(r.Steps) != 1 {
		t.Fatalf("%v, %v: %s\n%s", p.err, err, out, p.out)
	}
	s := r.Steps[0]
	if s.Running < 1 || s.Moves <= int64(s.Relay.Samples) || s.CPU.NATS <= 0 || s.CPU.Arena <= 0 || s.CPU.Bot <= 0 ||
		r.Alone.P50 <= 0 || s.Relay.P99 < s.Relay.P50 || s.Bare.P50 <= 0 || len(s.Faults) > 0 {
		t.Errorf("%+v", r)
	}
	if seats := s.Seats; len(seats) != 2 || seats[0].Most != 3 || seats[1].Most != 6 || seats[0].Taken+seats[1].Taken == 0 ||
		seats[0].Taken > 3 || seats[1].Taken > 6 {
		t.Errorf("the seats of the two bot processes: %+v", seats)
	}
	for _, name := range []string{drawing, filepath.Join(h.dir, "bot-4.cpu.pprof"), filepath.Join(h.dir, "arena-4.heap.pprof")} {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Ctrl-C ends the processes and prints what was measured so far.
func TestBenchFleetInterrupted(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	h := newFleet(t)
	p, out := h.bench("--games", "2,4", "--window", "1s", "--limit", "1h")
	p.run()
	h.wait("the second step", func() bool { return strings.Contains(p.out.String(), "4 games: ") })
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.done
	if p.cmd.ProcessState.ExitCode() != exitFailed || !strings.Contains(p.out.String(), "interrupted") {
		t.Errorf("exit code %d: %s", p.cmd.ProcessState.ExitCode(), p.out)
	}
	if lines := strings.Split(out.String(), "\n"); !strings.HasPrefix(lines[0], "GAMES") || len(lines) < 3 {
		t.Errorf("the table: %s", out)
	}
}

// Variables of the environment reach the processes of the kind that they are for.
func TestBenchFleetEnvironment(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	h := newFleet(t)
	data := filepath.Join(h.dir, "data")
	p, _ := h.bench("--data", data, "--env", "arena:GODEBUG=gctrace=1") // writes a line for each garbage collection
	p.run()
	<-p.done
	for part, want := range map[fleetbench.Part]bool{fleetbench.NATSPart: false, fleetbench.ArenaPart: true, fleetbench.BotPart: false} {
		logs, _ := filepath.Glob(filepath.Join(data, "*", string(part)+"-0.log"))
		if len(logs) != 1 {
			t.Fatalf("the logs of %s: %v\n%s", part, logs, p.out)
		}
		if log, err := os.ReadFile(logs[0]); err != nil || bytes.Contains(log, []byte("gc 1 @")) != want {
			t.Errorf("%s has the variable: want %v, %v\n%s", part, want, err, log)
		}
	}
	for _, wrong := range []string{"GOMAXPROCS=1", "server:GOMAXPROCS=1", "arena:GOMAXPROCS", "arena:=1"} {
		if code, _, message := capture("bench", "fleet", "--env", wrong); code != exitUsage || !strings.Contains(message, "--env: ") {
			t.Errorf("--env %s: exit code %d, %s", wrong, code, message)
		}
	}
}

var lossesGames = flag.Int("losses.games", 3, "games of TestBenchLosses")

// A fleet whose slots are all taken loses no game to the kill of a process, since the others
// take its seats beyond their slots.
func TestBenchLosses(t *testing.T) {
	t.Parallel()
	h := newFleet(t)
	p := h.start("bench losses", "sparring", "bench", "losses", "--processes", "2", "--slots", "2", "--room", "100", "--games", fmt.Sprint(*lossesGames),
		"--clock", "20+0.2", "--game", "amazons/6x6", "--away", "2s", "--every", "100ms", "--json")
	out := new(bytes.Buffer)
	p.cmd.Stdout = out // and p.out has the progress
	p.run()
	<-p.done
	var r fleetbench.LossResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || p.err != nil {
		t.Fatalf("%v, %v: %s\n%s", p.err, err, out, p.out)
	}
	if r.Ended < *lossesGames || r.Losses < 1 || r.Announced != r.Losses || r.Seats < 1 || r.AtOnce != 2 || len(r.Lost) > 0 {
		t.Errorf("%+v", r)
	}
	for _, wrong := range [][]string{{"--processes", "0"}, {"--room", "101"}, {"--by", "fire"}, {"--away", "0s"}, {"--clock", "unlimited"}, {"--game", "chess"}} {
		if code, _, message := capture(append([]string{"bench", "losses"}, wrong...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", wrong, code, message)
		}
	}
}
