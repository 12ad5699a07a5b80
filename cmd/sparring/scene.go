package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/arena"
	"sparring/bot/play"
	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/texttable"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// scene shows the events of `sparring up` on the screen.
type scene struct {
	screen *display
	arena  *arena.Arena

	mu    sync.Mutex
	last  arena.Round // the last round that ended
	ended []string    // recently ended games, at most maxEnded
}

// maxEnded is the number of ended games to remember: their last events may arrive
// late.
const maxEnded = 64

// start prints what runs and where. The first line begins with the page's address.
// Guest is the file with the login of the user guest; "" if that can't connect. Teams are
// the files of those that join from other machines.
func (s *scene) start(srv *embedded.Server, f upFlags, page *gateway, health, log, guest string, teams []string) {
	bots := "two bots of each game play the ladder"
	if f.levels > 0 {
		bots = "ten levels of each game wait for people; " + bots
	}
	if page != nil {
		s.screen.Say("%s   open this in a browser: play, watch, review", page.url)
		if page.operator {
			s.screen.Say("  reach    only this machine; --http :8080 admits phones and others in its network")
			s.screen.Say("  health   %s/healthz and /metrics", health)
		} else {
			s.screen.Say("  reach    this machine and all others that can connect to it")
			s.screen.Say("  health   %s/healthz and /metrics, on a port that only this machine reaches: they are not for visitors", health)
		}
	}
	switch {
	case f.team != nil:
		bots = fmt.Sprintf("the ten levels of %s", f.team.game)
	case f.ladder:
		bots = "two bots and the ten levels of each game play the ladder"
	}
	s.screen.Say("  bots     %s", bots)
	s.screen.Say("  clock    of the ladder %s", f.clock)
	s.screen.Say("  data     %s (records in %s, log in %s)", f.data, recordsDir(f.data), log)
	if f.ladder {
		data := ""
		if f.data != "data" {
			data = fmt.Sprintf(" --data %q", f.data)
		}
		s.screen.Say("  join     sparring ladder join%s --engine SPEC --game GAME, in other terminals of this machine; sparring ladder show%s", data, data)
	}
	if guest != "" {
		s.screen.Say("  join     %s as user guest, with the settings in %s", srv.URL(), guest)
	}
	for _, file := range teams {
		s.screen.Say("  team     copy %s to the team's machine; there: sparring ladder join --login %s --engine SPEC --game GAME", file, filepath.Base(file))
	}
	s.screen.Say("  program  %s: NATS with JetStream, platform and bots in one process", engine.Build())
	if f.team == nil {
		s.screen.Say("  Ctrl-C stops everything, the next start resumes")
	}
}

// event shows an event of a bot's game. If both players are bots, both report
// events: moves are shown for the mover, everything else for the first seat.
func (s *scene) event(e play.Event) {
	shown := game.First
	if e.Kind == play.MovePlayed {
		shown = e.Seat
	}
	if e.You != shown && e.Opponent.Kind != protocol.Human {
		return
	}
	id := string(e.Game)
	if s.over(id, e.Kind == play.GameEnded && e.Outcome.Reason != "") {
		return
	}
	switch e.Kind {
	case play.GameStarted:
		verb := "starts"
		if e.Ply > 0 {
			verb = fmt.Sprintf("resumes after %s", plies(e.Ply))
		}
		s.screen.Line(id, fmt.Sprintf("%s  %s", heading(e), verb))
	case play.MovePlayed:
		s.screen.Line(id, fmt.Sprintf("%s  %3d %-9s %s %s  %s", heading(e), e.Ply, e.Move,
			clockText(e.Clocks[game.First]), clockText(e.Clocks[game.Second]), evaluation(e.Think)))
	case play.GameEnded:
		if e.Outcome.Reason != "" {
			s.screen.End(id, fmt.Sprintf("%s  %3d plies, %s", heading(e), e.Ply, verdict(e.Outcome)))
		}
	}
}

// over reports whether the game has ended before; ending marks it as ended. The
// two bots of a game report its end independently.
func (s *scene) over(id string, ending bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.ended, id) {
		return true
	}
	if ending {
		s.ended = append(s.ended, id)
		s.ended = s.ended[max(len(s.ended)-maxEnded, 0):]
	}
	return false
}

// ladderEvery is how often the ladder is shown where it is not played in rounds.
const ladderEvery = time.Minute

// ladder shows the ladder again and again, if it has changed, until ctx ends.
func (s *scene) ladder(ctx context.Context) {
	tick := time.NewTicker(ladderEvery)
	defer tick.Stop()
	for shown := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if text := s.standings("ladder"); text != shown && strings.Count(text, "\n") > 3 {
			s.screen.Say("%s", text)
			shown = text
		}
	}
}

// round shows the ladder after a round.
func (s *scene) round(r arena.Round) {
	s.mu.Lock()
	s.last = r
	s.mu.Unlock()
	s.screen.Say("%s", s.standings(fmt.Sprintf("ladder after round %d", r.Number)))
}

// standings returns the ladder as a table under a heading.
func (s *scene) standings(heading string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", heading)
	t := texttable.Table{{"  game", "speed", "player", "rating", "+-", "games", "won", "drawn", "lost"}}
	for _, g := range catalog.Games() {
		for _, p := range s.arena.Standings(g.Name) {
			t.Add("  "+g.Name, p.Speed, p.Player, fmt.Sprintf("%.0f", p.Rating.Rating), fmt.Sprintf("%.0f", p.Error()), p.Games, p.Wins, p.Draws, p.Losses)
		}
	}
	t.Write(&b) // a strings.Builder never fails
	return b.String()
}

// finish prints the results of the last round if all rounds were played, and last
// the location of the records.
func (s *scene) finish(records string, played bool) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	if played {
		var b strings.Builder
		fmt.Fprintf(&b, "\nresults of round %d\n", last.Number)
		t := texttable.Table{{"  game", "first", "second", "result", "reason", "plies", "id"}}
		for _, p := range last.Pairings {
			t.Add("  "+p.Terms.Game, p.Players[game.First], p.Players[game.Second], p.Outcome.Result, p.Outcome.Reason, p.Plies, p.ID)
		}
		t.Write(&b)
		s.screen.Say("%s", b.String())
	}
	s.screen.Say("records: %s", records)
}
