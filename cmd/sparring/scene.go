package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"

	"sparring/arena"
	"sparring/bot/play"
	"sparring/engine"
	"sparring/engine/search"
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
		s.screen.say("%s   open this in a browser: play, watch, review", page.url)
		if page.operator {
			s.screen.say("  reach    only this machine; --http :8080 admits phones and others in its network")
			s.screen.say("  health   %s/healthz and /metrics", health)
		} else {
			s.screen.say("  reach    this machine and all others that can connect to it")
			s.screen.say("  health   %s/healthz and /metrics, on a port that only this machine reaches: they are not for visitors", health)
		}
	}
	switch {
	case f.team != nil:
		bots = fmt.Sprintf("the ten levels of %s", f.team.game)
	case f.ladder:
		bots = "two bots and the ten levels of each game play the ladder"
	}
	s.screen.say("  bots     %s", bots)
	s.screen.say("  clock    of the ladder %s", f.clock)
	s.screen.say("  data     %s (records in %s, log in %s)", f.data, recordsDir(f.data), log)
	if f.ladder {
		data := ""
		if f.data != "data" {
			data = fmt.Sprintf(" --data %q", f.data)
		}
		s.screen.say("  join     sparring ladder join%s --engine SPEC --game GAME, in other terminals of this machine; sparring ladder show%s", data, data)
	}
	if guest != "" {
		s.screen.say("  join     %s as user guest, with the settings in %s", srv.URL(), guest)
	}
	for _, file := range teams {
		s.screen.say("  team     copy %s to the team's machine; there: sparring ladder join --login %s --engine SPEC --game GAME", file, filepath.Base(file))
	}
	s.screen.say("  program  %s: NATS with JetStream, platform and bots in one process", engine.Build())
	if f.team == nil {
		s.screen.say("  Ctrl-C stops everything, the next start resumes")
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
		s.screen.game(id, fmt.Sprintf("%s  %s", heading(e), verb))
	case play.MovePlayed:
		s.screen.game(id, fmt.Sprintf("%s  %3d %-9s %s %s  %s", heading(e), e.Ply, e.Move,
			clockText(e.Clocks[game.First]), clockText(e.Clocks[game.Second]), evaluation(e.Think)))
	case play.GameEnded:
		if e.Outcome.Reason != "" {
			s.screen.end(id, fmt.Sprintf("%s  %3d plies, %s", heading(e), e.Ply, verdict(e.Outcome)))
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

// heading names a game by its players, first seat first.
func heading(e play.Event) string {
	first, second := string(e.Player), string(e.Opponent.Player)
	if e.You == game.Second {
		first, second = second, first
	}
	return fmt.Sprintf("%-8s %s - %s", e.Terms.Game, first, second)
}

func plies(n int) string { return count(n, "ply", "plies") }

func evaluation(a *play.Think) string {
	if a == nil {
		return ""
	}
	if a.Source == search.FromBook {
		return "  book"
	}
	if a.Depth == 0 && a.Score == 0 && a.WinProb == 0 {
		return "  no depth was finished"
	}
	text := fmt.Sprintf("%+6d %3.0f%%  depth %2d", a.Score, 100*a.WinProb, a.Depth)
	if a.PonderHit {
		text += fmt.Sprintf("  ponder hit, saved %.1f s", a.PonderSaved.Seconds())
	}
	return text
}

func verdict(o game.Outcome) string {
	switch o.Result {
	case game.FirstWins, game.SecondWins:
		return fmt.Sprintf("%s wins by %s", o.Result, o.Reason)
	case game.Draw:
		return fmt.Sprintf("draw by %s", o.Reason)
	}
	return fmt.Sprintf("no result: %s", o.Reason)
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
			s.screen.say("%s", text)
			shown = text
		}
	}
}

// round shows the ladder after a round.
func (s *scene) round(r arena.Round) {
	s.mu.Lock()
	s.last = r
	s.mu.Unlock()
	s.screen.say("%s", s.standings(fmt.Sprintf("ladder after round %d", r.Number)))
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
		s.screen.say("%s", b.String())
	}
	s.screen.say("records: %s", records)
}

// warnings shows log entries of level warn and above on the display, once the start
// has been shown, until shutdown. After that they go to the log file only.
type warnings struct {
	screen  *display
	without []string // messages that are in the log file alone

	mu    sync.Mutex
	early []string // before show
	shown bool
	muted bool
}

// maxIncident is how many columns of an engine's incident the display shows. The log has all.
const maxIncident = 320

// show shows what has been held back, and from now on every entry.
func (w *warnings) show() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range w.early {
		w.screen.say("%s", text)
	}
	w.early, w.shown = nil, true
}

// mute ends the showing.
func (w *warnings) mute() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.muted = true
}

// Write shows one entry of zerolog's JSON.
func (w *warnings) Write(line []byte) (int, error) {
	var entry map[string]any
	if json.Unmarshal(line, &entry) != nil {
		return len(line), nil
	}
	field := func(name string) string { text, _ := entry[name].(string); return text }
	level, message := field("level"), field("message")
	if level != "warn" && level != "error" || slices.Contains(w.without, message) {
		return len(line), nil
	}
	text := level + ": " + message
	for _, name := range []string{"why", "error"} {
		if reason := field(name); reason != "" {
			text += ": " + reason
		}
	}
	if said := strings.Fields(field("incident")); len(said) > 0 { // may have lines that an engine printed
		text += ": " + runewidth.Truncate(strings.Join(said, " "), maxIncident, " ...")
	}
	var what []string // it is about
	if names, ok := entry["variables"].([]any); ok {
		for _, name := range names {
			what = append(what, fmt.Sprint(name))
		}
	}
	if of := field("of"); of != "" { // the disk, say, that is almost full
		what = append(what, of)
	}
	for _, name := range []string{"player", "game"} {
		if id := field(name); id != "" {
			what = append(what, name+" "+id)
		}
	}
	if len(what) > 0 {
		text += " (" + strings.Join(what, ", ") + ")"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.muted:
	case w.shown:
		w.screen.say("%s", text)
	default:
		w.early = append(w.early, text)
	}
	return len(line), nil
}
