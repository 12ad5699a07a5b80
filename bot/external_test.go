package bot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/record"
)

// program returns the spec of an engine with the fault that mode names.
func program(t *testing.T, mode string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return playerspec.Spec{Outside: &external.Spec{Dialect: external.UCI, Path: self, Args: []string{"broken", mode}}}.String()
}

// A team's engine plays for the bot. If it crashes, it loses that game, with the
// reason in log and record, and the process continues.
func TestPlaysWithAnExternalEngine(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{faultyengine.Fine, faultyengine.CrashGo, faultyengine.Illegal} {
		t.Run(mode, func(t *testing.T) {
			p, f, records := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q}`, program(t, mode)))
			for n := range 2 { // the next game has a new process
				terms := small(t)
				terms.Rules = "amazons/10x10"
				o := offerOf(terms, protocol.GameID(fmt.Sprint("game", n)), game.First)
				m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
				p.finished(m)
				doc := records.find(t, uint64(n+1), string(o.Game))
				p.mu.Lock()
				resigned := slices.Contains(m.acts, string(protocol.ActResign)+" ")
				p.mu.Unlock()
				if mode == faultyengine.Fine {
					if resigned || doc.Text != "" || doc.Plies[0].Think == nil || doc.Plies[0].Think.Source != record.FromExternal {
						t.Errorf("resigned %v, text %q, first ply %+v", resigned, doc.Text, doc.Plies[0])
					}
					continue
				}
				if !resigned || len(doc.Plies) != 0 || doc.Result != game.SecondWins {
					t.Errorf("resigned %v, %d plies, result %s", resigned, len(doc.Plies), doc.Result)
				}
				if !strings.Contains(doc.Text, "engine fault") || !strings.Contains(doc.Text, "bestmove") && !strings.Contains(doc.Text, "exit status") {
					t.Errorf("the record says %q", doc.Text)
				}
				if !f.log.Has("the engine failed") {
					t.Errorf("log:\n%s", f.log)
				}
			}
			if f.log.Has("the engine does not start") {
				t.Error("the log has a failed start")
			}
		})
	}
}

// A program that crashes while it thinks is started again and plays on, with what
// happened in log and record. The one that does so too often loses, and the record of
// either side says that it crashed.
func TestEngineCrashesInMidGame(t *testing.T) {
	t.Parallel()
	p, f, records := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q}`, program(t, faultyengine.CrashSixth)))
	terms := small(t)
	terms.Rules = "amazons/10x10"
	o := offerOf(terms, "game", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	doc := records.find(t, 1, "game")
	crashes := 0
	for _, ply := range doc.Plies {
		if ply.Seat == game.First && strings.Contains(ply.Comment, "the engine crashed and was started again: engine fault (crash)") {
			crashes++
		}
	}
	if crashes != 3 || len(doc.Plies) != 2*4*5 { // a process plays five moves
		t.Errorf("%d crashes in %d plies of the record", crashes, len(doc.Plies))
	}
	if doc.Reason != protocol.ReasonCrash || doc.Result != game.SecondWins || !strings.Contains(doc.Text, "the engine of amazons-hare failed: engine fault (crash)") {
		t.Errorf("%s by %s: %q", doc.Result, doc.Reason, doc.Text)
	}
	if !f.log.Has("the engine misbehaved") || !f.log.Has("the engine failed") {
		t.Errorf("log:\n%s", f.log)
	}
}

// A program that crashes at one move several times is told once in the record, with how
// often it was.
func TestEngineCrashesAtOneMove(t *testing.T) {
	t.Parallel()
	spec := fmt.Sprintf("%s,dir=%s", program(t, faultyengine.CrashThrice), t.TempDir())
	p, _, records := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q}`, spec))
	terms := small(t)
	terms.Rules = "amazons/10x10"
	o := offerOf(terms, "game", game.First)
	p.finished(p.grant(o, p.offer(protocol.OwnPool(hare), o)))
	doc := records.find(t, 1, "game")
	if doc.Reason != game.NoMoves || len(doc.Plies) == 0 {
		t.Fatalf("ended by %s after %d plies", doc.Reason, len(doc.Plies))
	}
	for i, ply := range doc.Plies {
		want := 0
		if i == 0 {
			want = 1
		}
		if strings.Count(ply.Comment, "engine fault (crash)") != want {
			t.Errorf("ply %d: %q", i, ply.Comment)
		}
	}
	if text := doc.Plies[0].Comment; !strings.HasPrefix(text, "the engine crashed 3 times and was started again: ") {
		t.Errorf("noted %q", text)
	}
}

// A takeback in a casual game gives a program the position before it, whether it
// ponders then or thinks.
func TestEngineAfterTakebacks(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{faultyengine.Fine, faultyengine.EarlyMove} {
		t.Run(mode, func(t *testing.T) {
			p, f, records := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q, "play": {"takebacks": 3}}`, program(t, mode)))
			terms := small(t)
			terms.Rules, terms.Rated = "amazons/10x10", false
			o := offerOf(terms, "game", game.Second)
			m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
			for n := range 3 {
				p.seen("some moves", func() bool { return len(m.Moves) >= 5*(n+1) })
				p.askTakeback(m)
				p.seen("the answer", func() bool { return len(m.acts) > 0 })
			}
			p.finished(m)
			doc := records.find(t, 1, "game")
			if doc.Result == game.Undecided || doc.Reason != game.NoMoves || len(doc.Disputes) > 0 || doc.Text != "" {
				t.Errorf("%s by %s, text %q, disputes %v", doc.Result, doc.Reason, doc.Text, doc.Disputes)
			}
			without := 0 // plies whose thoughts a takeback has thrown away while the move was on its way
			for _, ply := range doc.Plies {
				if ply.Seat != game.Second {
					continue
				}
				if ply.Think == nil {
					without++
				} else if ply.Think.Source != record.FromExternal {
					t.Errorf("ply %+v is not the program's", ply)
				}
			}
			if without > 3 {
				t.Errorf("%d plies without the program's thoughts", without)
			}
			if f.log.Has("the engine failed") || f.log.Has("the search returned no move") {
				t.Errorf("log:\n%s", f.log)
			}
		})
	}
}

// UCI has no draws by agreement: the bot offers and answers them by the program's scores,
// which call every position about even here.
func TestDrawsByAnEnginesScores(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, manners string
		offered       bool // by the other player
		want          string
	}{
		{"accepts", `"draw_accept": 60, "draw_moves": 2`, true, "draw accept"},
		{"declines", `"draw_accept": 40, "draw_moves": 2`, true, "draw decline"},
		{"offers", `"draw_within": 10, "draw_moves": 3`, false, "draw offer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, f, _ := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q, "play": {%s}}`, program(t, faultyengine.Fine), c.manners))
			terms := small(t)
			terms.Rules = "amazons/10x10"
			o := offerOf(terms, "game", game.Second)
			m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
			if c.offered {
				p.seen("some moves", func() bool { return len(m.Moves) >= 4 })
				p.offerDraw(m)
			}
			p.seen(c.want, func() bool { return slices.Contains(m.acts, c.want) })
			p.finished(m)
			if c.offered && len(m.acts) != 1 || slices.ContainsFunc(m.acts, func(act string) bool { return act != c.want }) {
				t.Errorf("acts %v", m.acts)
			}
			if f.log.Has("the engine failed") {
				t.Errorf("log:\n%s", f.log)
			}
		})
	}
}

// The opponent of an engine that crashed is told so, in log and record.
func TestOpponentCrashes(t *testing.T) {
	t.Parallel()
	p, f, records := runProfile(t, `{"player": "amazons-hare", "games": ["amazons"]}`)
	o := offerOf(small(t), "game", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.mu.Lock()
	p.end(m, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonCrash})
	p.mu.Unlock()
	doc := records.find(t, 1, "game")
	const why = "the engine of script crashed"
	if doc.Reason != protocol.ReasonCrash || doc.Text != why || !f.log.Has(why) {
		t.Errorf("%s: %q; log:\n%s", doc.Reason, doc.Text, f.log)
	}
}

// A fault of a program that does not cost the game is logged as a warning, and is
// in the record beside the move.
func TestEngineMisbehaves(t *testing.T) {
	t.Parallel()
	spec := strings.Replace(program(t, faultyengine.ErrorLines), "uci:", "gomocup:", 1)
	logs := t.TempDir()
	p, f, records := runProfile(t, fmt.Sprintf(`{"player": "amazons-hare", "games": ["gomoku"], "engine": %q, "engineLog": %q}`, spec, logs))
	terms := small(t)
	terms.Rules, terms.Game = "gomoku/freestyle-15", "gomoku"
	o := offerOf(terms, "game", game.First)
	p.finished(p.grant(o, p.offer(protocol.OwnPool(hare), o)))
	doc := records.find(t, 1, "game")
	const said = "ERROR Unknown command: TIME_LEFT"
	if len(doc.Plies) == 0 || !strings.Contains(doc.Plies[0].Comment, said) || doc.Text != "" {
		t.Errorf("text %q, first ply %+v", doc.Text, doc.Plies)
	}
	if !f.log.Has("the engine misbehaved") || !f.log.Has(said) {
		t.Errorf("log:\n%s", f.log)
	}
	// All that was said is in the file of the game, and the record does not say where.
	kept, err := filepath.Glob(filepath.Join(logs, "game-*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("%q, %v", kept, err)
	}
	data, err := os.ReadFile(kept[0])
	if err != nil || !strings.Contains(string(data), " < "+said+"\n") || !strings.Contains(string(data), " > INFO time_left ") {
		t.Errorf("%v\n%s", err, data)
	}
	if s := doc.Source.Settings; s == nil || s.Spec != spec {
		t.Errorf("settings %+v", s)
	}
}

// A program that never answers is named when the game is lost on time.
func TestEngineIsSilent(t *testing.T) {
	t.Parallel()
	searching := make(chan struct{}, 1)
	hangs := fmt.Sprintf(`{"player": "amazons-hare", "games": ["amazons"], "engine": %q}`, program(t, faultyengine.HangGo))
	p, f, records := runProfile(t, hangs, func(_ *platform, d *Deps) {
		open := d.NewGame
		d.NewGame = func(spec string, o engine.GameOptions) (engine.Game, error) {
			g, err := open(spec, o)
			return announced{g, searching}, err
		}
	})
	terms := small(t)
	terms.Rules = "amazons/10x10"
	o := offerOf(terms, "game", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	<-searching
	p.mu.Lock()
	p.end(m, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonTime})
	p.mu.Unlock()
	doc := records.find(t, 1, "game")
	if !strings.Contains(doc.Text, "no answer after") || !f.log.Has("the engine failed") {
		t.Errorf("the record says %q; log:\n%s", doc.Text, f.log)
	}
}

// announced tells when a search has begun.
type announced struct {
	engine.Game
	searching chan<- struct{}
}

func (a announced) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	r, err := a.Game.Search(p, l, report)
	a.searching <- struct{}{}
	return r, err
}

// All faults of the engines in a file are reported together.
func TestEnginesAreChecked(t *testing.T) {
	profiles := filepath.Join(t.TempDir(), "bots.json")
	text := `{"players": [
		{"player": "a", "games": ["xiangqi"], "engine": "uci:no-such-program-anywhere"},
		{"player": "b", "games": ["gomoku"], "engine": "usi:x"},
		{"player": "c", "games": ["xiangqi"], "engine": "sau:` + os.Args[0] + `", "nodes": 5},
		{"player": "d", "games": ["xiangqi"], "engine": "self:level=5"},
		{"player": "e", "games": ["xiangqi"], "engineLog": "logs"}]}`
	if err := os.WriteFile(profiles, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Config{Profiles: profiles}.players()
	for _, s := range []string{"player a: engine: ", "no-such-program-anywhere", "player b: engine: ", `no kind "usi"`,
		"player c: engine: ", "sau engines don't play xiangqi; they play amazons, gomoku", "can't be limited by nodes: 5", "player e: engine: engineLog: "} {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("%v does not say %q", err, s)
		}
	}
	if err != nil && strings.Contains(err.Error(), "player d") {
		t.Errorf("a level is refused: %v", err)
	}
}

// A player whose engine does not start is offered no games, and none that it has
// already been promised is lost for that: the seat goes back. When the engine starts
// again, the player plays.
func TestEngineThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for _, promised := range []bool{false, true} {
		srv := service(t)
		p := newPlatform(t, connect(t, srv.Platform()))
		e := &greedy{winProb: 0.5}
		var broken atomic.Bool
		broken.Store(!promised)
		f := runBot(t, connect(t, srv.Player("bots")), Deps{Build: "test 1", RetryEngines: 50 * time.Millisecond,
			NewGame: func(spec string, o engine.GameOptions) (engine.Game, error) {
				if broken.Load() {
					return nil, errors.New("9000000 MiB of hash: too much")
				}
				return e.newGame(spec, o)
			}})
		o := offerOf(small(t), "game1", game.Second)
		if promised {
			ans := p.offer(protocol.OwnPool(hare), o)
			broken.Store(true)
			p.grant(o, ans)
			p.seen("the seat given back", func() bool {
				return slices.ContainsFunc(p.leaves, func(m protocol.Leave) bool { return slices.Contains(m.Games, o.Game) })
			})
		}
		p.seen("a hello without games", func() bool { return len(p.lastHello.Games) == 0 && p.hellos > 0 })
		gametest.Eventually(t, "the report", func() bool { return f.log.Has("the engine does not start") })
		o.Deadline = time.Now().Add(time.Second)
		if ans, err := p.server.Offer(t.Context(), protocol.OwnPool(hare), o); err == nil && ans.Answer == protocol.Accept {
			t.Errorf("promised %v: an offer without an engine was answered %+v", promised, ans)
		}
		broken.Store(false)
		p.seen("a hello with the game", func() bool { return len(p.lastHello.Games) == 1 })
		o.Game = "game2"
		m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
		p.finished(m)
		p.mu.Lock()
		if len(m.acts) != 0 {
			t.Errorf("promised %v: the bot did %v", promised, m.acts)
		}
		p.mu.Unlock()
	}
}
