package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/bot"
	"sparring/bot/play"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/lab/match"
	"sparring/lab/overnats"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// ladderClock is the default clock of the ladder.
const ladderClock = "60+1"

// lostAfter is how long the bots of a deep check may be silent: it is about the engine,
// not about this machine.
const lostAfter = 15 * time.Second

// The players of a deep check.
const (
	deepChecked  protocol.PlayerID = "checked"
	deepOpponent protocol.PlayerID = "opponent"
)

// deepCheck plays two games with a program as a bot plays them on the ladder: on a
// platform, with pondering, by its code. Opponent is another bot, with our engine.
type deepCheck struct {
	spec  external.Spec
	game  string
	clock string
	rival string // spec of the opponent's engine
	moves int    // of the opponent, which then resigns
	dir   string // for the data of the platform and the bots; removed afterwards
	show  *display
	pace  *pace

	mu    sync.Mutex
	games map[string]*deepGame
	count int      // moves of the program
	said  []string // warnings of the bot that belong to no game
}

// deepGame is what a game has shown.
type deepGame struct {
	moves, pondered, hits int
	slowest               time.Duration
	incidents             []string // of the engine, as the bot logs them
	remarks               []string // warnings of the bot about anything else
}

// of returns what is known of a game. The caller holds mu.
func (d *deepCheck) of(id string) *deepGame {
	if d.games[id] == nil {
		d.games[id] = &deepGame{}
	}
	return d.games[id]
}

// newDeepCheck returns a check whose opponent thinks long enough to be pondered on, and
// gives up after a dozen moves.
func newDeepCheck(spec external.Spec, gameName, clockText string, show *display) *deepCheck {
	const moves = 12
	return &deepCheck{spec: spec, game: gameName, clock: clockText, rival: "self:nodes=200000", moves: moves,
		show: show, pace: newPace(show, 2*moves), games: map[string]*deepGame{}}
}

// run plays the games and reports a finding for each.
func (d *deepCheck) run(ctx context.Context, report func(external.Finding)) error {
	plan, err := d.plan()
	if err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "sparring-check-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	srv, err := embedded.Start(embedded.Config{Log: zerolog.Nop(), Players: []protocol.PlayerID{deepChecked, deepOpponent}})
	if err != nil {
		return err
	}
	defer srv.Close()
	platform, err := protocol.Connect(srv.Platform())
	if err != nil {
		return err
	}
	defer platform.Close()
	cfg := arena.Defaults()
	cfg.Ladder.On = false
	cfg.LostAfter = lostAfter
	a, err := arena.New(ctx, platform, cfg, zerolog.Nop())
	if err != nil {
		return err
	}
	js, err := jetstream.New(platform)
	if err != nil {
		return err
	}
	plan.Backend = overnats.New(js, a.Subjects(), time.Minute)

	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	var running sync.WaitGroup
	defer running.Wait()
	defer end(nil)
	start := func(run func(context.Context) error) {
		running.Go(func() {
			if err := run(life); err != nil {
				end(err)
			}
		})
	}
	start(a.Run)
	for _, open := range []func(*embedded.Server) (*bot.Bot, func(), error){d.checked, d.opponent} {
		b, done, err := open(srv)
		if err != nil {
			return err
		}
		defer func() {
			end(nil)
			running.Wait() // before its engines are closed
			done()
		}()
		start(b.Run)
	}
	n := 0
	plan.Watch = func(_ *match.Standing, g *match.Game) {
		n++
		d.show.clear()
		d.report(n, g, report)
	}
	if _, err = match.Run(life, *plan); err != nil && len(d.said) > 0 && ctx.Err() == nil {
		report(external.Finding{Check: "games", Verdict: external.Bad, Text: strings.Join(d.said, "; ")})
		err = nil
	}
	d.show.clear()
	return err
}

// plan returns the match of the two games.
func (d *deepCheck) plan() (*match.Plan, error) {
	f := matchFlags{game: d.game, rules: d.spec.Dialect.Rules(d.game), a: string(deepChecked), b: string(deepOpponent), tournament: string(match.RoundRobin), games: 2, clock: d.clock,
		seed: 1, concurrency: 1, margin: 50 * time.Millisecond, patience: time.Minute, hash: 1, threads: 1, over: overNATS}
	if !d.spec.Dialect.SetsUp() || d.spec.Dialect.UsualStart() { // an opening is a position there
		f.openings = noOpenings
	}
	return f.plan()
}

// settings returns those of a bot with one player.
func (d *deepCheck) settings(player protocol.PlayerID, spec string) (bot.Config, error) {
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		return cfg, err
	}
	profiles, err := json.Marshal(map[string]any{"players": []bot.Profile{{Player: player, Games: []string{d.game}, Engine: spec}}})
	if err != nil {
		return cfg, err
	}
	cfg.Instance, cfg.Data = protocol.InstanceID(player), filepath.Join(d.dir, string(player))
	cfg.Profiles = cfg.Data + ".json"
	return cfg, os.WriteFile(cfg.Profiles, profiles, 0o600)
}

// checked returns the bot with the program.
func (d *deepCheck) checked(srv *embedded.Server) (*bot.Bot, func(), error) {
	cfg, err := d.settings(deepChecked, playerspec.Spec{Outside: &d.spec}.String())
	if err != nil {
		return nil, nil, err
	}
	nc, err := protocol.Connect(srv.Player(string(deepChecked)))
	if err != nil {
		return nil, nil, err
	}
	b, done, err := newBot(nc, cfg, newLog(d, "warn"), d.observe)
	if err != nil {
		nc.Close()
		return nil, nil, err
	}
	return b, func() { done(); nc.Close() }, nil
}

// opponent returns the bot with our engine, which resigns after some moves.
func (d *deepCheck) opponent(srv *embedded.Server) (*bot.Bot, func(), error) {
	cfg, err := d.settings(deepOpponent, d.rival)
	if err != nil {
		return nil, nil, err
	}
	cfg.Ponder = false // the core is the program's
	nc, err := protocol.Connect(srv.Player(string(deepOpponent)))
	if err != nil {
		return nil, nil, err
	}
	engines, pool := playerspec.NewEngines(playerspec.Options{HashBytes: 16 << 20, Threads: 1}), engine.NewPool(1)
	done := func() {
		pool.Close()
		engines.Close() // the error does not matter at the end
		nc.Close()
	}
	b, err := bot.New(nc, cfg, bot.Deps{Pool: pool, Build: engine.Build(), Log: zerolog.Nop(), NewGame: func(spec string, o engine.GameOptions) (engine.Game, error) {
		g, err := engines.NewGame(spec, o)
		return &shortGame{Game: g, left: d.moves}, err
	}})
	if err != nil {
		done()
		return nil, nil, err
	}
	return b, done, nil
}

// shortGame is a game that its player resigns after some moves.
type shortGame struct {
	engine.Game
	left int // moves before that
}

// Search implements engine.Game.
func (g *shortGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	run, err := g.Game.Search(p, l, report)
	if g.left--; err == nil && g.left < 0 {
		run = resigning{run}
	}
	return run, err
}

// resigning is a search that ends in resignation.
type resigning struct{ engine.Running }

// Wait implements engine.Running.
func (r resigning) Wait() search.Result {
	result := r.Running.Wait()
	result.Resign = true
	return result
}

// observe counts the moves of the program.
func (d *deepCheck) observe(e play.Event) {
	if e.Kind != play.MovePlayed {
		return
	}
	if e.Seat != e.You || e.Think == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	g := d.of(string(e.Game))
	g.moves++
	if d.count++; d.pace.due(d.count) {
		d.show.game("check", fmt.Sprintf("game %d of 2: %s, clocks %s %s", len(d.games), plies(e.Ply), clockText(e.Clocks[game.First]), clockText(e.Clocks[game.Second])))
	}
	if e.Think.Expected != "" {
		g.pondered++
	}
	if e.Think.PonderHit {
		g.hits++
	}
	g.slowest = max(g.slowest, e.Think.Spent)
}

// Write implements io.Writer for the bot's log. Its warnings say what went wrong with
// the engine: all that does not end the game is nowhere else.
func (d *deepCheck) Write(line []byte) (int, error) {
	var entry struct{ Game, Message, Engine, Incident, Error string }
	if err := json.Unmarshal(line, &entry); err != nil {
		return 0, err
	}
	text := strings.TrimSuffix(entry.Message+": "+entry.Incident+entry.Error, ": ")
	if entry.Incident != "" {
		text = entry.Incident
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if entry.Game == "" {
		d.said = append(d.said, text)
		return len(line), nil
	}
	g := d.of(entry.Game)
	if entry.Engine != "" {
		g.incidents = append(g.incidents, text)
	} else {
		g.remarks = append(g.remarks, text)
	}
	return len(line), nil
}

// report tells how a game went.
func (d *deepCheck) report(n int, g *match.Game, report func(external.Finding)) {
	seat := game.First
	if g.Seats[game.First].Player != string(deepChecked) {
		seat = game.Second
	}
	d.mu.Lock()
	seen := *d.of(g.ID)
	d.mu.Unlock()
	result := "lost"
	switch g.Result {
	case game.WonBy(seat):
		result = "won"
	case game.Draw:
		result = "drawn"
	}
	text := fmt.Sprintf("as %s player: %s (%s) after %s; slowest move %v", seat, result, g.Reason, plies(len(g.Plies)), seen.slowest.Round(time.Millisecond))
	switch {
	case seen.pondered > 0:
		text += fmt.Sprintf("; pondered on %d of %s, %s", seen.pondered, count(seen.moves, "move", "moves"), count(seen.hits, "hit", "hits"))
	case !d.spec.Dialect.Ponders():
		text += "; " + string(d.spec.Dialect) + " engines do not ponder"
	case seen.moves > 0:
		text += "; no pondering: it names no reply that it expects"
	}
	if len(seen.remarks) > 0 {
		text += "; not conclusive, because this machine was too busy for the bot: " + strings.Join(slices.Compact(seen.remarks), "; ")
	}
	verdict := external.Good
	switch fault := g.Match.Fault; {
	case slices.ContainsFunc(seen.incidents, func(s string) bool { return !external.WorkedAround(s) }),
		fault != nil && fault.Seat == seat && len(seen.remarks) == 0:
		verdict = external.Bad
	case len(seen.incidents)+len(seen.remarks) > 0:
		verdict = external.Warn
	}
	report(external.Finding{Check: fmt.Sprintf("game %d", n), Verdict: verdict, Text: strings.Join(append(seen.incidents, text), "; ")})
}
