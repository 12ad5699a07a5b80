package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"sparring/arena"
	"sparring/bot/play"
	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol/embedded"
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

// start prints what runs and where.
func (s *scene) start(srv *embedded.Server, f upFlags, url, log string) {
	s.screen.say("%s: NATS with JetStream, platform, two bots per game", engine.Build())
	s.screen.say("  data     %s (records in %s, log in %s)", f.data, recordsDir(f.data), log)
	if url != "" {
		s.screen.say("  pages    %s", url)
	}
	if f.port != embedded.NoPort {
		s.screen.say("  join     %s as user guest, password %s", srv.URL(), srv.Password("guest"))
	}
	s.screen.say("  clock    %s; Ctrl-C stops, the next start resumes", f.clock)
}

// event shows an event of a bot's game. Both bots of a game report events: moves
// are shown for the mover, everything else for the first seat.
func (s *scene) event(e play.Event) {
	shown := game.First
	if e.Kind == play.MovePlayed {
		shown = e.Seat
	}
	if e.You != shown {
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
			verb = fmt.Sprintf("resumes after %d plies", e.Ply)
		}
		s.screen.game(id, fmt.Sprintf("%s  %s", heading(e), verb))
	case play.MovePlayed:
		s.screen.game(id, fmt.Sprintf("%s  %3d %-9s %s %s  %s", heading(e), e.Ply, e.Move,
			clockText(e.Clocks[game.First]), clockText(e.Clocks[game.Second]), evaluation(e.Analysis)))
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

func evaluation(a *play.Analysis) string {
	if a == nil {
		return ""
	}
	if a.Source == search.FromBook {
		return "  book"
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

// round shows the ladder after a round.
func (s *scene) round(r arena.Round) {
	s.mu.Lock()
	s.last = r
	s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "\nladder after round %d\n", r.Number)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  game\tspeed\tplayer\trating\t+-\tgames\twon\tdrawn\tlost")
	for _, g := range catalog.Games() {
		for _, p := range s.arena.Standings(g.Name) {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%.0f\t%.0f\t%d\t%d\t%d\t%d\n", g.Name, p.Speed, p.Player,
				p.Rating.Rating, 2*p.Deviation, p.Games, p.Wins, p.Draws, p.Losses)
		}
	}
	t.Flush() // a strings.Builder never fails
	s.screen.say("%s", b.String())
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
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  game\tfirst\tsecond\tresult\treason\tplies\tid")
		for _, p := range last.Pairings {
			fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%d\t%s\n", p.Terms.Game, p.Players[game.First], p.Players[game.Second],
				p.Outcome.Result, p.Outcome.Reason, p.Plies, p.ID)
		}
		t.Flush()
		s.screen.say("%s", b.String())
	}
	s.screen.say("records: %s", records)
}

// warnings shows log entries of level warn and above on the display until it is
// muted at shutdown; after that they go to the log file only.
type warnings struct {
	screen *display
	muted  atomic.Bool
}

// Write shows one entry of zerolog's JSON.
func (w *warnings) Write(line []byte) (int, error) {
	var entry struct{ Level, Message, Error string }
	if !w.muted.Load() && json.Unmarshal(line, &entry) == nil && (entry.Level == "warn" || entry.Level == "error") {
		text := entry.Level + ": " + entry.Message
		if entry.Error != "" {
			text += ": " + entry.Error
		}
		w.screen.say("%s", text)
	}
	return len(line), nil
}
