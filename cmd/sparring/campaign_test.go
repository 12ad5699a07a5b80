//go:build unix

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
)

// night is a campaign of a test, of two players of Amazons.
type night struct {
	*fleet
	file, folder string
}

// newNight writes the file of a campaign with a match of so many games under a limit.
func newNight(t *testing.T, games int, limit string) *night {
	t.Helper()
	n := &night{fleet: newFleet(t)}
	n.file, n.folder = filepath.Join(n.dir, "night.yaml"), filepath.Join(n.dir, "night.campaign")
	n.write(fmt.Sprintf(`concurrency: 2
players:
  a: self:hash=1
  b: self:hash=1
matches:
  six:
    game: amazons
    rules: 6x6
    openings: shipped
    clock: %s
    margin: 1s
    games: %d
`, limit, games))
	return n
}

func (n *night) write(text string) {
	n.t.Helper()
	if err := os.WriteFile(n.file, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// run starts the campaign.
func (n *night) run(args ...string) *process {
	n.t.Helper()
	p := n.start("campaign", "sparring", append([]string{"campaign", n.file, "--dir", n.folder}, args...)...)
	p.run()
	return p
}

// ends waits for the end of a process and checks its exit status.
func (p *process) ends(status int) {
	p.h.t.Helper()
	select {
	case <-p.done:
		if got := p.cmd.ProcessState.ExitCode(); got != status {
			p.h.t.Fatalf("%s ended with %d, want %d", p.name, got, status)
		}
	case <-time.After(patience):
		p.h.t.Fatalf("%s does not end", p.name)
	}
}

// games returns what is saved: each game once, by its id without that of the match.
func (n *night) games() map[string]*match.Game {
	n.t.Helper()
	files, err := filepath.Glob(filepath.Join(n.folder, "games", "*.jsonl"))
	if err != nil {
		n.t.Fatal(err)
	}
	all := map[string]*match.Game{}
	for _, f := range files {
		_, games, err := match.ReadFile(f)
		if err != nil {
			n.t.Fatal(err)
		}
		for _, g := range games {
			_, place, _ := strings.Cut(g.ID, "-")
			key := fmt.Sprint(filepath.Base(f), place)
			if len(files) == 1 {
				key = place
			}
			if all[key] != nil {
				n.t.Errorf("game %s is saved twice", g.ID)
			}
			all[key] = g
		}
	}
	return all
}

// awaitGames waits until so many games are saved.
func (n *night) awaitGames(least int) {
	n.t.Helper()
	for late := time.After(patience); len(n.games()) < least; {
		select {
		case <-late:
			n.t.Fatalf("%d games, want %d", len(n.games()), least)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func movesOf(g *match.Game) (text string) {
	for _, p := range g.Plies {
		text += p.Move + " "
	}
	return text
}

// TestCampaignKilled: however often a campaign is killed in a game, it ends with the
// games of one that was not.
func TestCampaignKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	n := newNight(t, 16, "nodes=300")
	for least := 1; least < 12; least += 4 {
		p := n.run()
		n.awaitGames(least)
		p.kill()
	}
	n.run().ends(exitOK)
	got := n.games()
	whole := newNight(t, 16, "nodes=300")
	whole.run().ends(exitOK)
	want := whole.games()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) || len(got) != 16 {
		t.Fatalf("games %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for key, g := range want {
		if movesOf(got[key]) != movesOf(g) || got[key].Result != g.Result {
			t.Errorf("game %s: %s %s, want %s %s", key, got[key].Result, movesOf(got[key]), g.Result, movesOf(g))
		}
	}
}

// TestCampaignPaused: nobody loses on time because the campaign was stopped for a while,
// and the games that were played again for that say so.
func TestCampaignPaused(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	n := newNight(t, 8, "movetime=50ms")
	p := n.run()
	for least := range 3 {
		n.awaitGames(least + 1)
		arenatest.Pause(t, p.cmd.Process)
		time.Sleep(1500 * time.Millisecond)
		arenatest.Continue(t, p.cmd.Process)
	}
	p.ends(exitOK)
	all := n.games()
	if len(all) != 8 {
		t.Errorf("%d games, want 8", len(all))
	}
	again := 0
	for key, g := range all {
		again += len(g.Match.Discarded)
		if g.Match.Fault != nil && strings.Contains(g.Match.Fault.Text, "took 1.") {
			t.Errorf("game %s: %s", key, g.Match.Fault.Text)
		}
	}
	if said := strings.Contains(p.out.String(), "the game was played"); again == 0 || !said {
		t.Errorf("%d attempts at games are kept as discarded; it was said: %t", again, said)
	}
}

// TestCampaignInterrupted: Ctrl-C ends a campaign, which says so and how to go on.
func TestCampaignInterrupted(t *testing.T) {
	t.Parallel()
	n := newNight(t, 1000, "nodes=100")
	p := n.run()
	n.awaitGames(2)
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	p.ends(exitFailed)
	text := p.out.String()
	for _, want := range []string{"Interrupted: ", "the same command goes on", "page: "} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// TestCampaignOnAFullDisk: results wait for room, none is lost and none counts twice.
func TestCampaignOnAFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	n := newNight(t, 60, "nodes=100")
	disk := arenatest.NewSmallDisk(t, "2m")
	n.folder = filepath.Join(disk.Dir, "night.campaign")
	p := n.run()
	n.awaitGames(2)
	disk.Fill()
	p.out.await(t, "results can't be written, the campaign waits for room: .*no space left", "page: ")
	saved := len(n.games())
	disk.Empty()
	p.out.await(t, "results are written again", "page: ")
	p.ends(exitOK)
	if all := n.games(); len(all) != 60 || saved >= 60 {
		t.Errorf("%d games, %d of them before the disk had room again; want 60", len(all), saved)
	}

	// One that ends while the disk is full says what becomes of its games.
	n.write(strings.Replace(n.text(), "games: 60", "games: 400", 1))
	p = n.run()
	n.awaitGames(62)
	disk.Fill()
	p.out.await(t, "the campaign waits for room", "page: ")
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	p.ends(exitFailed)
	if text := p.out.String(); !strings.Contains(text, "it will be played again") && !strings.Contains(text, "not written") {
		t.Error("it does not say that a game is not saved")
	}
	disk.Empty()
	pairs := 0 // up to the last of which a game is saved, which need not be all before it
	for _, g := range n.games() {
		pairs = max(pairs, g.Match.Pair)
	}
	n.write(strings.Replace(n.text(), "games: 400", fmt.Sprint("games: ", 2*pairs), 1))
	n.run().ends(exitOK)
	if got := len(n.games()); got != 2*pairs {
		t.Errorf("%d games, want %d whole pairs", got, pairs)
	}
}

func (n *night) text() string {
	n.t.Helper()
	data, err := os.ReadFile(n.file)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(data)
}

// TestCampaignOverNATS: machines play the pairs of a campaign, which come and go, as
// the server does, and the campaign itself. The games are those of one machine.
func TestCampaignOverNATS(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	n := newNight(t, 12, "nodes=300")
	port := gametest.FreePort(t)
	nats, url := n.startNATS(port)
	env := []string{"SPARRING_NATS_URL=" + url, "SPARRING_NATS_USER=platform", "SPARRING_NATS_PASSWORD=" + password("platform")}
	machine := func(name string) *process {
		p := n.start(name, "sparring", "campaign", "work", n.file, "--concurrency", "1").with(env...)
		p.run()
		return p
	}
	owner := func() *process {
		p := n.start("owner", "sparring", "campaign", n.file, "--dir", n.folder, "--over", "nats", "--concurrency", "2").with(env...)
		p.run()
		return p
	}
	first := owner()
	one := machine("machine one")
	n.awaitGames(2)
	first.kill()
	second := owner()
	two := machine("machine two")
	second.out.await(t, "of 12 games are played", "page: ") // it has connected
	two.out.await(t, "this machine plays", "played here")
	one.end(syscall.SIGINT)
	nats.kill()
	n.startNATS(port)
	second.ends(exitOK)
	two.end(syscall.SIGINT)
	whole := newNight(t, 12, "nodes=300")
	whole.run().ends(exitOK)
	got := n.games()
	for key, g := range whole.games() {
		if got[key] == nil || movesOf(got[key]) != movesOf(g) {
			t.Errorf("game %s is not that of one machine", key)
		}
	}
	if len(got) != 12 {
		t.Errorf("%d games, want 12", len(got))
	}
}

// TestCampaignOfAnUntimedPlayer: a program that can't be told to be quick may take its time
// while it is tried.
func TestCampaignOfAnUntimedPlayer(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	const script = `while read -r word rest; do case "$word $rest" in
		"name? ") echo name slow ;;
		"new black") sleep 5; echo move DJDDID ;;
		move*) echo move GAGGBG ;;
		"quit ") exit ;;
		esac; done`
	path := filepath.Join(t.TempDir(), "night.yaml")
	text := fmt.Sprintf("players:\n  slow: 'sau:%s,arg=-c,arg=%s'\n  quick: self:nodes=5\nmatches:\n  m:\n    game: amazons\n    clock: 900\n    openings: none\n    games: 2\n",
		sh, strings.Join(strings.Fields(script), " "))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs strings.Builder
	code := run([]string{"campaign", path, "--check", "--dir", filepath.Join(t.TempDir(), "night")}, strings.NewReader(""), &out, &errs)
	if code != exitOK || strings.Count(errs.String(), "slow is not told its clock, 900") != 1 {
		t.Errorf("code %d, %s%s", code, out.String(), errs.String())
	}
}

// An interruption while the players are tried is none of the file's faults.
func TestCampaignTrialInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan := &campaign.Plan{Matches: []campaign.Match{{Terms: match.Terms{Game: "amazons", Rules: "amazons/6x6", Players: []string{"uci:no-such-program"}}}}}
	file := &campaign.File{Matches: []campaign.Entry{{Players: []campaign.Player{{Name: "a", Line: 3}}}}}
	if err := tryAll(ctx, "night.yaml", plan, file, nil); err != context.Canceled {
		t.Errorf("%v", err)
	}
}
