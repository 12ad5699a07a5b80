package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// TestTeamsOfALadder: each team of --teams gets a file with which it plays as itself
// alone, from another machine, and which holds after a restart.
func TestTeamsOfALadder(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	f := quickUp(t)
	f.ladder, f.levels, f.port, f.teams = true, 1, embedded.RandomPort, []string{"red", "blue"}
	var passwords []string
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		screen, ended := newPage(), make(chan error, 1)
		go func() { ended <- up(ctx, screen, f, mustClock(t, f.clock)) }()
		said := screen.await(t, `copy (.*red\.env) to the team's machine; there: sparring ladder join --login red\.env `, `no such text`)
		l, err := readLogin(said[1])
		if err != nil {
			t.Fatal(err)
		}
		passwords = append(passwords, l.password)
		if l.user != "red" || strings.Contains(l.url, "127.0.0.1") || strings.Contains(screen.String(), l.password) {
			t.Errorf("user %s at %s; on the screen:\n%s", l.user, l.url, screen)
		}

		join := joinFlags{ladderFlags: &ladderFlags{as: l}, engine: "self", game: "amazons", name: "Team Red"}
		command := &cobra.Command{}
		command.SetContext(t.Context())
		if team, err := join.team(command); err != nil || team.id != "red" || team.display != "Team Red" {
			t.Errorf("%+v %v", team, err)
		}
		nc, subjects, as, err := join.reach(t.Context(), "", "test", zerolog.Nop())
		if err != nil || as != "red" {
			t.Fatalf("%s %v", as, err)
		}
		if _, err := standingsOf(t.Context(), nc, subjects, "red", "amazons"); err != nil {
			t.Error(err)
		}
		if err := nc.Publish(subjects.Play("blue", protocol.VerbHello), nil); err != nil {
			t.Fatal(err)
		}
		if err := nc.FlushTimeout(5 * time.Second); err != nil || nc.LastError() == nil {
			t.Errorf("red may act for blue: %v", err)
		}
		nc.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if passwords[0] != passwords[1] {
		t.Error("the file of the first start is of no use after the second")
	}
}

func TestCheckTeams(t *testing.T) {
	for names, says := range map[string]string{
		"red,blue": "", "red,red": "named twice", "Red": "want a-z", "xiangqi-hare": "is taken", "owner": "is taken", "xiangqi-level-3": "is one of our levels", "human-red": "those of people",
	} {
		f := upFlags{ladder: true, teams: strings.Split(names, ",")}
		err := f.checkTeams(false)
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", names, err, says)
		}
		if err == nil && f.port != teamsPort {
			t.Errorf("port %d", f.port)
		}
	}
	if err := (&upFlags{teams: []string{"red"}}).checkTeams(false); err == nil {
		t.Error("teams without a ladder")
	}
}
