package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot"
	"sparring/bot/play"
	"sparring/configs"
	"sparring/game"
	"sparring/game/clock"
	"sparring/internal/atomicfile"
	"sparring/protocol"
)

// team is somebody's engine on a ladder.
type team struct {
	id      protocol.PlayerID
	display string // "": the id
	game    string
	engine  string          // spec
	program string          // how the program calls itself; "": unknown
	public  protocol.Engine // the engine as other machines see it
	log     string          // folder for conversations; "": none
	data    string
	games   int // to play; 0: until interrupted
	ponder  bool
	hosts   string // flags for a ladder that is started here, and that were given

	hosting bool        // the ladder runs in this process
	left    func() bool // whether the ladder of another process on this machine has ended; nil: it is elsewhere

	screen      *display
	interrupted <-chan struct{} // by Ctrl-C

	subjects protocol.Subjects
	nc       *nats.Conn
	ended    chan play.Event // games that were played

	mu    sync.Mutex
	bot   *bot.Bot
	score [3]int // games won, drawn, lost
	ends  map[game.Reason]int

	speed clock.Speed         // of the last game; of the reports alone, as is due
	due   map[clock.Speed]int // games that the rating has when all of them are rated
}

// playerOf returns the id of the player with a name in any script.
func playerOf(name string) (protocol.PlayerID, error) {
	var b strings.Builder
	foreign := false
	for _, r := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		case r < 0x80:
			b.WriteByte('-')
		default:
			foreign = true
		}
	}
	id := strings.Trim(b.String(), "-")
	if foreign || id == "" {
		id = cmp.Or(id[:min(len(id), 20)], "team")
		id = fmt.Sprintf("%s-%x", id, sha256.Sum256([]byte(name)))[:len(id)+9]
	}
	p := protocol.PlayerID(id[:min(len(id), 32)])
	if p.Person() {
		return "", fmt.Errorf("%s: names that begin with %s are those of people", p, protocol.PeoplePrefix)
	}
	for _, g := range []string{"xiangqi", "gomoku", "amazons"} {
		if strings.HasPrefix(id, g+"-level-") {
			return "", fmt.Errorf("%s: is one of our levels", p)
		}
	}
	return p, protocol.CheckID("player", p)
}

// profile is the file of the team's profile, which "sparring bot" understands too.
func (t *team) profile() string {
	return filepath.Join(t.data, fmt.Sprintf("ladder-%s-%s.json", t.id, t.game))
}

// claim writes the profile, and keeps processes with other engines from playing the game
// as the same player until release is called. Before is another engine that did so until
// now; "": none.
func (t *team) claim() (before string, release func(), err error) {
	lock := flock.New(t.profile() + ".lock")
	// Who has the lock alone has it for a moment, and writes then; who plays has it with
	// others. The profile is of the engine of those who play.
	for playing := ""; err == nil && playing != t.engine; {
		var alone bool
		if alone, err = lock.TryLock(); alone {
			before = t.lastEngine()
			err = errors.Join(t.writeProfile(), lock.Unlock())
		}
		if err == nil {
			err = lock.RLock()
		}
		if err != nil {
			break
		}
		if playing = t.lastEngine(); playing == t.engine {
			if !alone { // the log or the name may be others
				err = t.writeProfile()
			}
		} else if alone { // another process was faster in between
			err = lock.Unlock()
		} else {
			lock.Close()
			return "", nil, fmt.Errorf("another engine plays %s as %s already: %s; give this one another --name", t.game, t.name(), playing)
		}
	}
	if err != nil {
		lock.Close()
		return "", nil, dataError(t.data, "profile", err)
	}
	if before == t.engine {
		before = ""
	}
	return before, func() { lock.Close() }, nil
}

// lastEngine returns the engine that played last as this player; "" if none did.
func (t *team) lastEngine() string {
	var file struct{ Players []struct{ Engine string } }
	data, err := os.ReadFile(t.profile())
	if err != nil || json.Unmarshal(data, &file) != nil || len(file.Players) != 1 {
		return ""
	}
	return file.Players[0].Engine
}

func (t *team) writeProfile() error {
	player := map[string]any{"player": t.id, "games": []string{t.game}, "engine": t.engine, "policy": map[string]string{"rated": "rated"}}
	if t.display != "" {
		player["display"] = t.display
	}
	if t.log != "" {
		player["engineLog"] = t.log
	}
	text, err := json.MarshalIndent(map[string]any{"players": []any{player}}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(t.profile(), append(text, '\n')) // others read it meanwhile
}

// settings returns those of the team's bot, with its profile.
func (t *team) settings() (cfg bot.Config, err error) {
	if err := configs.FromEnv(configs.Prefix, &cfg); err != nil {
		return cfg, usagef("settings:\n%w", err)
	}
	cfg.Profiles = t.profile()
	cfg.Instance, cfg.Data = protocol.InstanceID("ladder-"+protocol.NewID()[:8]), t.data
	cfg.Slots, cfg.HumanSlots, cfg.Levels, cfg.Analyses, cfg.Ponder, cfg.Match.On = 1, 0, 0, 0, t.ponder, false
	if err := cfg.Validate(); err != nil {
		return cfg, usagef("settings:\n%w", err)
	}
	return cfg, nil
}

// play connects to a ladder and plays on it.
func (t *team) play(ctx context.Context, to protocol.Connection, log zerolog.Logger) error {
	to.Name, to.Log = "sparring ladder join", log
	nc, err := protocol.Connect(to)
	if err != nil {
		return err
	}
	defer nc.Close()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		return err
	}
	return t.playOn(ctx, nc, subjects, log)
}

// playOn plays on the ladder that a connection leads to, until the games are played or
// Ctrl-C, and then sums up.
func (t *team) playOn(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects, log zerolog.Logger) error {
	t.nc, t.subjects, t.ended, t.ends = nc, subjects, make(chan play.Event, 256), map[game.Reason]int{}
	before, release, err := t.claim()
	if err != nil {
		return err
	}
	defer release()
	cfg, err := t.settings()
	if err != nil {
		return err
	}
	all, err := standingsOf(ctx, nc, subjects, t.id, t.game) // also: does a platform answer?
	if err != nil {
		return err
	}
	last := t.standingBefore(all)
	if err := t.meetOthers(ctx, cfg.Instance, log); err != nil {
		return err
	}
	b, done, err := newBotWith(nc, cfg, bot.Deps{Guest: true, Log: log, Observe: t.observe})
	if err != nil {
		return err
	}
	defer done()
	t.mu.Lock()
	t.bot = b
	t.mu.Unlock()
	t.introduce(last)
	if before != "" && last.Games > 0 {
		t.screen.Say("note: those games were another engine's, %s, whose rating goes on with this one; another --name begins with a new one", before)
	}
	life, end := context.WithCancel(ctx)
	defer end()
	defer obeySignals(t.interrupted, b, end, false, log)()
	over := make(chan struct{})
	var reporting sync.WaitGroup
	reporting.Go(func() { t.sayInterrupted(over) })
	var gone error
	if !t.hosting {
		reporting.Go(func() {
			if gone = awaitGone(life, b.Silence, nc.ConnectedUrlRedacted(), t.left); gone != nil {
				end()
			}
		})
	}
	reporting.Go(func() { t.reportUntil(ctx, over) })
	err = b.Run(life)
	end()
	close(over) // and not t.ended: a game that did not stop in time may end yet
	reporting.Wait()
	t.screen.Clear()
	if gone != nil { // nobody says what the rating is
		ended, cancel := context.WithCancel(ctx)
		cancel()
		t.sumUp(ended)
		return gone
	}
	t.sumUp(ctx)
	return err
}

// standingBefore returns the standing at the speed of most games so far, and notes how many
// games the ratings have.
func (t *team) standingBefore(all []protocol.Standing) (most protocol.Standing) {
	t.due = map[clock.Speed]int{}
	for _, s := range all {
		if s.Player != t.id {
			continue
		}
		if t.due[s.Speed] = s.Games; s.Games > most.Games {
			most, t.speed = s, s.Speed
		}
	}
	return most
}

// sayInterrupted answers Ctrl-C, until over is closed.
func (t *team) sayInterrupted(over <-chan struct{}) {
	select {
	case <-t.interrupted:
		if t.hosting {
			t.screen.Say("finishing the running games; no more are started on this ladder, which ends with them; Ctrl-C again ends it at once")
		} else {
			t.screen.Say("finishing the running game, then leaving the ladder; Ctrl-C again leaves at once")
		}
	case <-over:
	}
}

// introduce says who plays where.
func (t *team) introduce(last protocol.Standing) {
	who := t.name()
	if t.program != "" {
		who += " (" + t.program + ")"
	}
	rated := "has no rating yet"
	if last.Games > 0 {
		rated = fmt.Sprintf("is rated %s after %s", ratingText(last), count(last.Games, "game", "games"))
	}
	until := "until Ctrl-C"
	if t.games > 0 {
		until = "for " + count(t.games, "game", "games")
	}
	t.screen.Say("%s %s and plays %s on the ladder at %s, %s", who, rated, t.game, t.nc.ConnectedUrlRedacted(), until)
}

func (t *team) name() string { return cmp.Or(t.display, string(t.id)) }

// observe follows the games. Games wait for it.
func (t *team) observe(e play.Event) {
	line := heading(e)
	switch e.Kind {
	case play.GameStarted:
		began := "starts"
		if e.Ply > 0 {
			began = "resumes after " + plies(e.Ply)
		}
		t.screen.Line(string(e.Game), line+"  "+began)
	case play.MovePlayed:
		if t.screen.Live() {
			t.screen.Line(string(e.Game), fmt.Sprintf("%s  %3d %-9s %s %s  %s", line, e.Ply, e.Move, clockText(e.Clocks[game.First]), clockText(e.Clocks[game.Second]), evaluation(e.Think)))
		}
	case play.GameEnded:
		t.screen.Remove(string(e.Game))
		if e.Outcome.Reason == "" {
			return // another instance has the seat
		}
		t.mu.Lock()
		if k := scoreOf(e); k >= 0 {
			t.score[k]++
			if k == lost {
				t.ends[e.Outcome.Reason]++
			}
			if played := t.score[won] + t.score[drawn] + t.score[lost]; played == t.games {
				t.bot.Drain() // before its slot is free again
			}
		}
		t.mu.Unlock()
		select {
		case t.ended <- e:
		default: // a report less is better than a game that waits
		}
	}
}

// Indices of team.score.
const (
	won = iota
	drawn
	lost
)

// scoreOf returns the index of a game's result; -1 if it has none.
func scoreOf(e play.Event) int {
	switch e.Outcome.Result {
	case game.WonBy(e.You):
		return won
	case game.WonBy(e.You.Other()):
		return lost
	case game.Draw:
		return drawn
	}
	return -1
}

// reportUntil reports the games that end, until over is closed and none is left.
func (t *team) reportUntil(ctx context.Context, over <-chan struct{}) {
	for {
		select {
		case e := <-t.ended:
			t.report(ctx, e)
			continue
		default:
		}
		select {
		case e := <-t.ended:
			t.report(ctx, e)
		case <-over:
			return
		}
	}
}

// report says how a game ended, and what the rating is now.
func (t *team) report(ctx context.Context, e play.Event) {
	k := scoreOf(e)
	t.speed = e.Terms.Clock.Speed()
	if k >= 0 {
		t.due[t.speed]++
	}
	s, err := t.rated(ctx)
	result := "no result"
	if k >= 0 {
		result = [...]string{"won", "drew", "lost"}[k]
	}
	against := cmp.Or(e.Opponent.Display, string(e.Opponent.Player))
	if r := e.Opponent.Rating; r > 0 {
		against += fmt.Sprintf(" (%d)", r)
	}
	why := string(e.Outcome.Reason)
	loser := e.Opponent.Player
	if k == lost {
		loser = t.id
	}
	if text := protocol.FaultText(e.Outcome.Reason, loser); text != "" {
		why = text
	}
	now := "rating not known yet"
	if err == nil && s.Games > 0 {
		now = "rating " + ratingText(s)
	}
	t.screen.Say("%-9s against %s, %s, %s; %s", result, against, why, plies(e.Ply), now)
}

// ratedWithin is how long the platform may take to rate a game.
const ratedWithin = 5 * time.Second

// rated returns the team's standing at the speed of its last game, once all its games
// are rated, or as it is in the end.
func (t *team) rated(ctx context.Context) (protocol.Standing, error) {
	for until := time.Now().Add(ratedWithin); ; time.Sleep(500 * time.Millisecond) {
		all, err := standingsOf(ctx, t.nc, t.subjects, t.id, t.game)
		if err != nil {
			return protocol.Standing{}, err
		}
		i := slices.IndexFunc(all, t.isMe)
		if i >= 0 && (all[i].Games >= t.due[t.speed] || time.Now().After(until)) {
			return all[i], nil
		}
		if time.Now().After(until) {
			return protocol.Standing{}, nil
		}
	}
}

// isMe reports whether a standing is the team's at the speed of its last game.
func (t *team) isMe(s protocol.Standing) bool { return s.Player == t.id && s.Speed == t.speed }

// ratingText writes a rating with its error.
func ratingText(s protocol.Standing) string { return fmt.Sprintf("%.0f +- %.0f", s.Rating, s.Error) }

// sumUp says in two sentences what the team did.
func (t *team) sumUp(ctx context.Context) {
	t.mu.Lock()
	score, ends := t.score, maps.Clone(t.ends)
	t.mu.Unlock()
	played := score[won] + score[drawn] + score[lost]
	if played == 0 {
		t.screen.Say("%s has left the ladder without a finished game.", t.name())
		return
	}
	text := fmt.Sprintf("In %s of %s %s won %d, drew %d and lost %d", count(played, "game", "games"), t.game, t.name(), score[won], score[drawn], score[lost])
	all, err := standingsOf(ctx, t.nc, t.subjects, t.id, t.game)
	if i := slices.IndexFunc(all, t.isMe); err == nil && i >= 0 {
		s := all[i]
		text += fmt.Sprintf(", and is rated %s (%s, 95 %%)%s", ratingText(s), s.Speed, nearest(s, all))
	}
	faults := 0
	for reason, n := range ends {
		if protocol.FaultText(reason, "") != "" {
			faults += n
		}
	}
	t.screen.Say("%s. It lost %s on time and %s because the engine failed; the records are in %s.",
		text, count(ends[protocol.ReasonTime], "game", "games"), count(faults, "game", "games"), recordsDir(t.data))
}

// nearest says between which levels a rating lies.
func nearest(s protocol.Standing, all []protocol.Standing) string {
	var below, above *protocol.Standing
	for i, o := range all {
		switch {
		case !o.Fixed || o.Speed != s.Speed:
		case o.Rating <= s.Rating && (below == nil || o.Rating > below.Rating):
			below = &all[i]
		case o.Rating > s.Rating && (above == nil || o.Rating < above.Rating):
			above = &all[i]
		}
	}
	name := func(o *protocol.Standing) string { return fmt.Sprintf("%s (%.0f)", o.Player, o.Rating) }
	switch {
	case below != nil && above != nil:
		return fmt.Sprintf(", between %s and %s", name(below), name(above))
	case below != nil:
		return ", above " + name(below) + ", the strongest level that has played there"
	case above != nil:
		return ", below " + name(above) + ", the weakest level that has played there"
	}
	return ""
}
