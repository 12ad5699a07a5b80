package doctor

import (
	"cmp"
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
	"sparring/internal/texttable"
	"sparring/lab/match"
	"sparring/lab/match/overnats"
	"sparring/natsserver/embedded"
	"sparring/pipe/external"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// lostAfter is how long the bots of a deep check may be silent: it is about the engine,
// not about this machine.
const lostAfter = 15 * time.Second

// The players of the games. A plan's players have these names.
const (
	Checked  protocol.PlayerID = "checked"
	Opponent protocol.PlayerID = "opponent"
)

// Games are games with a program as a bot plays them on the ladder: on a platform in this
// process, with pondering, by a bot's code, against Sparring's engine.
type Games struct {
	Spec     external.Spec
	Plan     match.Plan                   // over NATS, between Checked and Opponent
	Progress func(moves int, line string) // is called after each move of the program; nil: not

	rival string // spec of the opponent's engine; "": one that thinks long enough to be pondered on
	moves int    // of the opponent, which then resigns; 0: a dozen
	dir   string // for the data of the platform and the bots; removed afterwards

	mu    sync.Mutex
	games map[string]*deepGame
	count int      // moves of the program
	said  []string // warnings of the bot that belong to no game
}

// MovesOfGames is how many moves of the program Games.Run waits for, at most.
const MovesOfGames = 2 * opponentMoves

// opponentMoves is how many moves the opponent makes.
const opponentMoves = 12

// deepGame is what a game has shown.
type deepGame struct {
	moves, pondered, hits int
	slowest               time.Duration
	incidents             []string // of the engine, as the bot logs them
	remarks               []string // warnings of the bot about anything else
}

// of returns what is known of a game. The caller holds mu.
func (d *Games) of(id string) *deepGame {
	if d.games[id] == nil {
		d.games[id] = &deepGame{}
	}
	return d.games[id]
}

// Run plays the games and reports a finding for each.
func (d *Games) Run(ctx context.Context, report func(Finding)) error {
	d.games, d.rival, d.moves = map[string]*deepGame{}, cmp.Or(d.rival, "self:nodes=200000"), cmp.Or(d.moves, opponentMoves)
	var err error
	if d.dir, err = os.MkdirTemp("", "sparring-check-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	srv, err := embedded.Start(embedded.Config{Log: zerolog.Nop(), Players: []protocol.PlayerID{Checked, Opponent}})
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
	plan := d.Plan
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
		d.report(n, g, report)
	}
	if _, err = match.Run(life, plan); err != nil && len(d.said) > 0 && ctx.Err() == nil {
		report(Finding{Check: "games", Verdict: Bad, Text: strings.Join(d.said, "; ")})
		err = nil
	}
	return err
}

// settings returns those of a bot with one player.
func (d *Games) settings(player protocol.PlayerID, spec string) (bot.Config, error) {
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		return cfg, err
	}
	profiles, err := json.Marshal(map[string]any{"players": []bot.Profile{{Player: player, Games: []string{d.Plan.Terms.Game}, Engine: spec}}})
	if err != nil {
		return cfg, err
	}
	cfg.Instance, cfg.Data = protocol.InstanceID(player), filepath.Join(d.dir, string(player))
	cfg.Profiles = cfg.Data + ".json"
	return cfg, os.WriteFile(cfg.Profiles, profiles, 0o600)
}

// checked returns the bot with the program.
func (d *Games) checked(srv *embedded.Server) (*bot.Bot, func(), error) {
	return d.open(srv, Checked, playerspec.Spec{Outside: &d.Spec}.String(), true, bot.Deps{
		Log: zerolog.New(d).Level(zerolog.WarnLevel), Observe: d.observe})
}

// opponent returns the bot with our engine, which resigns after some moves. It does not
// ponder: the core is the program's.
func (d *Games) opponent(srv *embedded.Server) (*bot.Bot, func(), error) {
	return d.open(srv, Opponent, d.rival, false, bot.Deps{Log: zerolog.Nop()})
}

// open returns a bot with one player. Call done after its end.
func (d *Games) open(srv *embedded.Server, player protocol.PlayerID, spec string, ponders bool, deps bot.Deps) (b *bot.Bot, done func(), err error) {
	cfg, err := d.settings(player, spec)
	if err != nil {
		return nil, nil, err
	}
	cfg.Ponder = cfg.Ponder && ponders
	nc, err := protocol.Connect(srv.Player(string(player)))
	if err != nil {
		return nil, nil, err
	}
	const hash = 16 << 20
	engines, pool := playerspec.NewEngines(playerspec.Options{HashBytes: hash, Threads: 1}), engine.NewPool(cfg.Cores)
	done = func() {
		pool.Close()
		engines.Close() // the error does not matter at the end
		nc.Close()
	}
	deps.Pool, deps.Build, deps.KeepEngines, deps.NewGame = pool, engine.Build(), engines.Keep, engines.NewGame
	if player == Opponent {
		deps.NewGame = func(spec string, o engine.GameOptions) (engine.Game, error) {
			g, err := engines.NewGame(spec, o)
			return &shortGame{Game: g, left: d.moves}, err
		}
	}
	if b, err = bot.New(nc, cfg, deps); err != nil {
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
func (d *Games) observe(e play.Event) {
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
	if d.count++; d.Progress != nil {
		d.Progress(d.count, fmt.Sprintf("game %d of %d: %s, clocks %v %v", len(d.games), d.Plan.Games, plies(e.Ply),
			e.Clocks[game.First].Round(time.Second/10), e.Clocks[game.Second].Round(time.Second/10)))
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
func (d *Games) Write(line []byte) (int, error) {
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
func (d *Games) report(n int, g *match.Game, report func(Finding)) {
	seat := game.First
	if g.Seats[game.First].Player != string(Checked) {
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
	text := fmt.Sprintf("as %s player: %s (%s) after %s; slowest move %v",
		seat, result, g.Reason, plies(len(g.Plies)), seen.slowest.Round(time.Millisecond))
	switch {
	case seen.pondered > 0:
		text += fmt.Sprintf("; pondered on %d of %s, %s",
			seen.pondered, texttable.Count(seen.moves, "move", "moves"), texttable.Count(seen.hits, "hit", "hits"))
	case !d.Spec.Dialect.Ponders():
		text += "; " + string(d.Spec.Dialect) + " engines do not ponder"
	case seen.moves > 0:
		text += "; no pondering: it names no reply that it expects"
	}
	if len(seen.remarks) > 0 {
		text += "; not conclusive, because this machine was too busy for the bot: " + strings.Join(slices.Compact(seen.remarks), "; ")
	}
	verdict := Good
	switch fault := g.Match.Fault; {
	case slices.ContainsFunc(seen.incidents, func(s string) bool { return !external.WorkedAround(s) }),
		fault != nil && fault.Seat == seat && len(seen.remarks) == 0:
		verdict = Bad
	case len(seen.incidents)+len(seen.remarks) > 0:
		verdict = Warn
	}
	report(Finding{Check: fmt.Sprintf("game %d", n), Verdict: verdict, Text: strings.Join(append(seen.incidents, text), "; ")})
}

func plies(n int) string { return texttable.Count(n, "ply", "plies") }
