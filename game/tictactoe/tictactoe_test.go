// Package tictactoe adds a fourth game to the product, in tests. It consists of the
// rules (rules_test.go), an adapter for the engine (engine_test.go), and the two
// calls of Register in this file. docs/adding-a-game.md explains them.
package tictactoe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/bot"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/adapter"
	"sparring/engine/level"
	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/lab/load/bench"
	"sparring/lab/match/openings"
	"sparring/natsserver/embedded"
	"sparring/pipe/external"
	"sparring/pipe/frontend"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/interchange"
)

// The product's games are two lists, in game/catalog/catalog.go and
// engine/adapters.go. A game that lives elsewhere is added at the start.
func TestMain(m *testing.M) {
	if err := errors.Join(catalog.Register(Game()), engine.Register(Adapter())); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// setUp sets a position up by the catalog, as every command does.
func setUp(t *testing.T, position string) game.Position {
	t.Helper()
	p, err := catalog.Setup(Name, "", position)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRules: the rules fulfil the contract of package game.
func TestRules(t *testing.T) {
	gametest.Conform(t, Game())
	if n := game.Perft(setUp(t, ""), 9); n != 127872 { // of the 255168 games, those with nine moves
		t.Errorf("%d games fill the board, want 127872", n)
	}
}

// TestKernel: the adapter fulfils the kernel's contract, and the kernel agrees with
// minimax.
func TestKernel(t *testing.T) {
	start := setUp(t, "")
	searchtest.Conform(t, searchtest.Subject{New: adapt, Params: params(), Starts: []game.Position{start}, Seed: 1})
	p, err := adapt(setUp(t, "x.o/.../..x o"))
	if err != nil {
		t.Fatal(err)
	}
	searchtest.Against(t, p, params(), 6, searchtest.Exact)
}

// TestBench: bench measures the game, and its signature includes the game's nodes.
func TestBench(t *testing.T) {
	var out strings.Builder
	if _, err := bench.Run(&out); err != nil || !strings.Contains(out.String(), "\ntictactoe  2 positions, depth 9:") {
		t.Errorf("%v, %s", err, &out)
	}
}

// TestLevels: level 10 never loses to the beginner, level 1 does. Matches have
// openings.
func TestLevels(t *testing.T) {
	beginner, err := level.NewBeginner(Name)
	if err != nil {
		t.Fatal(err)
	}
	lost := map[int]int{}
	for _, n := range []int{level.Weakest, level.Strongest} {
		s, err := level.New(Name, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			seat := game.Seat(seed % 2)
			var seats [2]engine.Searcher
			seats[seat], seats[seat.Other()] = s, beginner
			p := setUp(t, "")
			for !p.Outcome().Over() {
				if err := p.Play(move(t, seats[p.Turn()], seed, p)); err != nil {
					t.Fatal(err)
				}
			}
			if p.Outcome().Result == game.WonBy(seat.Other()) {
				lost[n]++
			}
		}
	}
	if lost[level.Weakest] == 0 || lost[level.Strongest] > 0 {
		t.Errorf("of 20 games against the beginner, the levels lose %v", lost)
	}
	if recipe, err := openings.Usual(rules); err != nil || recipe.Plies != 1 {
		t.Errorf("%+v, %v", recipe, err)
	}
}

// TestDocument: docs/adding-a-game.md names every file here, and every field of the
// two rows.
func TestDocument(t *testing.T) {
	page, err := os.ReadFile("../../docs/adding-a-game.md")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []reflect.Type{reflect.TypeFor[game.Game](), reflect.TypeFor[adapter.Adapter]()} {
		for _, f := range reflect.VisibleFields(row) {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/adding-a-game.md does not name %s", name)
		}
	}
}

// move returns a searcher's move.
func move(t *testing.T, s engine.Searcher, seed uint64, p game.Position) game.Move {
	t.Helper()
	g, err := s.NewGame(engine.GameOptions{Rules: p.Rules(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	run, err := g.Search(p, search.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run.Wait().Move
}

// TestUCI: the game is a variant of UCI, for GUIs and for external engines.
func TestUCI(t *testing.T) {
	in, write := io.Pipe()
	read, out := io.Pipe()
	var serving sync.WaitGroup
	defer serving.Wait()
	defer write.Close()
	serving.Go(func() {
		defer out.Close()
		if err := frontend.Serve(t.Context(), in, out, frontend.Options{}); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(read)
	for _, step := range []struct{ send, want, last string }{
		{"uci", "var " + Name, "uciok"},
		{"setoption name UCI_Variant value " + Name, "", ""},
		{"position startpos moves a1 b1 a2 b2\ngo depth 3", "bestmove a3", "bestmove"},
		{"quit", "", ""},
	} {
		if _, err := fmt.Fprintln(write, step.send); err != nil {
			t.Fatal(err)
		}
		said := ""
		for step.last != "" && !strings.HasPrefix(lines.Text(), step.last) && lines.Scan() {
			said += lines.Text() + "\n"
		}
		if !strings.Contains(said, step.want) {
			t.Errorf("after %q no %q but:\n%s", step.send, step.want, said)
		}
	}
	if !slices.Contains(external.UCI.Games(), Name) {
		t.Errorf("programs with UCI play %v", external.UCI.Games())
	}
}

// TestArena: two bots, each with its own pool, play a round over NATS. The arena and
// both bots write valid records; the formats of other programs refuse the game.
func TestArena(t *testing.T) {
	names := []protocol.PlayerID{"crosses", "noughts"}
	srv, err := embedded.Start(embedded.Config{Players: names, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	platform, err := protocol.Connect(srv.Platform())
	if err != nil {
		t.Fatal(err)
	}
	defer platform.Close()
	cfg := arena.Defaults()
	cfg.Ladder.On, cfg.Ladder.Rounds = true, 1
	cfg.Ladder.Clocks = []clock.Spec{{Kind: clock.Fischer, Initial: 10 * time.Minute, Increment: time.Second}}
	a, err := arena.New(t.Context(), platform, cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	running.Go(func() {
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		running.Go(func() { runBot(ctx, t, srv, name, dir) })
	}
	select {
	case <-a.RoundsDone():
	case <-time.After(gametest.Patience):
		t.Fatal("the round does not end")
	}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	var games []*record.Record
	for r, err := range arena.Records(t.Context(), platform, subjects) {
		if err != nil {
			t.Fatal(err)
		}
		games = append(games, r)
	}
	end()
	running.Wait()
	for r, err := range record.All(dir) {
		if err != nil {
			t.Fatal(err)
		}
		games = append(games, r)
	}
	if len(games) != 3 {
		t.Fatalf("%d records, want the arena's and each bot's", len(games))
	}
	for _, r := range games {
		end, err := format.Played(r, func(int, game.Position, game.Move) error { return nil })
		if err != nil || r.ID != games[0].ID || r.Rules != rules.Name || end.Outcome() != (game.Outcome{Result: r.Result, Reason: r.Reason}) || r.Result != game.Draw {
			t.Errorf("%v: game %s of %s, %s by %s", err, r.ID, r.Rules, r.Result, r.Reason)
		}
		for _, f := range interchange.Formats() {
			if _, err := f.Write([]*record.Record{r}, format.WriteOptions{}); !errors.Is(err, format.ErrCannot) {
				t.Errorf("%s writes it: %v", f.Name, err)
			}
		}
	}
}

// runBot runs a bot process with one player, whose records go to a directory.
func runBot(ctx context.Context, t *testing.T, srv *embedded.Server, name protocol.PlayerID, dir string) {
	nc, err := protocol.Connect(srv.Player(string(name)))
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		t.Error(err)
		return
	}
	cfg.Profiles = filepath.Join(t.TempDir(), "players.json")
	profile := fmt.Sprintf(`{"players": [{"player": %q, "games": [%q], "pools": ["player.%s"]}]}`, name, Name, name)
	if err := os.WriteFile(cfg.Profiles, []byte(profile), 0o644); err != nil {
		t.Error(err)
		return
	}
	records, err := record.NewWriter(dir, string(name), 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer records.Close()
	engines, pool := playerspec.NewEngines(playerspec.Options{HashBytes: 1 << 20}), engine.NewPool(1)
	defer engines.Close()
	defer pool.Close()
	b, err := bot.New(nc, cfg, bot.Deps{NewGame: engines.NewGame, Pool: pool, Build: engine.Build(), Records: records, Log: zerolog.Nop()})
	if err == nil {
		err = b.Run(ctx)
	}
	if err != nil {
		t.Error(err)
	}
}
