package bot

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sparring/engine"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/lab/study/replay"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/record"
)

// real returns the engines that specs name, with small hash tables.
func real(t *testing.T) func(string, engine.GameOptions) (engine.Game, error) {
	t.Helper()
	engines := playerspec.NewEngines(playerspec.Options{HashBytes: 1 << 20})
	t.Cleanup(func() {
		if err := engines.Close(); err != nil {
			t.Error(err)
		}
	})
	return engines.NewGame
}

// storage is a folder with the records that a bot writes.
type storage struct {
	*record.Writer
	dir string
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	dir := t.TempDir()
	w, err := record.NewWriter(dir, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &storage{w, dir}
}

// find waits until n records are written, and returns one of them.
func (s *storage) find(t *testing.T, n uint64, id string) *record.Record {
	t.Helper()
	gametest.Eventually(t, "the record", func() bool { kept, _ := s.Counts(); return kept == n })
	r, err := record.Find(t.Context(), s.dir, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// runProfile starts a platform and a bot with a single player, which has a real engine.
// Change is called before the bot starts.
func runProfile(t *testing.T, profile string, change ...func(*platform, *Deps)) (*platform, *fixture, *storage) {
	t.Helper()
	records := newStorage(t)
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	path, deps := profiles(t, profile), Deps{NewGame: real(t), Build: "test 1", Records: records}
	for _, f := range change {
		f(p, &deps)
	}
	f := runBot(t, connect(t, srv.Player("bots")), deps, func(c *Config) { c.Profiles = path })
	return p, f, records
}

// profiles writes a file with one player and returns its path.
func profiles(t *testing.T, profile string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bots.json")
	if err := os.WriteFile(path, []byte(`{"players": [`+profile+`]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The real engine plays a game: every own move is searched, and the record has the
// analysis.
func TestPlaysWithTheEngine(t *testing.T) {
	t.Parallel()
	p, f, records := runProfile(t, `{"player": "amazons-hare", "games": ["amazons"], "nodes": 1000}`)
	terms := small(t)
	terms.Strict, terms.Private = true, true
	o := offerOf(terms, "game1", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	doc := records.find(t, 1, "game1")
	if doc.Rated != terms.Rated || !doc.Strict || !doc.Private {
		t.Errorf("rated %v, strict %v, private %v; want those of the terms", doc.Rated, doc.Strict, doc.Private)
	}
	if !slices.EqualFunc(doc.Plies, m.Moves, func(p record.Ply, move string) bool { return p.Move == move }) {
		t.Errorf("the record has different moves")
	}
	for i, ply := range doc.Plies {
		if ply.Seat == game.First && (ply.Think == nil || ply.Think.Source == "" || ply.Think.Nodes > 1000 || len(ply.Think.PV) == 0) {
			t.Errorf("ply %d: thinking %+v", i+1, ply.Think)
		}
	}
	if f.log.Has(`"level":"error"`) {
		t.Errorf("log:\n%s", f.log)
	}
}

// The platform plays on after a repetition and after the move limit. The bot does so
// too, with legal moves, and a replay of its record reproduces them: with the history
// and under the rules that the bot had.
func TestReplayOfAGameThatWasPlayedOn(t *testing.T) {
	t.Parallel()
	p, f, records := runProfile(t, `{"player": "xiangqi-hare", "games": ["xiangqi"], "nodes": 500, "reproducible": true}`, func(p *platform, _ *Deps) {
		p.played, p.playsOn = slices.Repeat([]string{"d0d1", "f9f8", "d1d0", "f8f9"}, 2), 32
	})
	terms := protocol.Terms{Game: "xiangqi", Rules: "xiangqi/wxf+limit=10", Position: "5k3/9/9/8p/9/9/P8/9/9/3K5 w - - 0 1", Clock: spec(t, "600+1")}
	o := offerOf(terms, "game1", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool("xiangqi-hare"), o))
	p.finished(m)
	doc := records.find(t, 1, "game1")
	if len(doc.Disputes) != 2 || doc.Disputes[0].Ply != 8 || doc.Disputes[1].Ply != 20 || len(m.refused) > 0 {
		t.Errorf("disputes %+v, refused moves %v", doc.Disputes, m.refused)
	}
	players, err := replay.Players(doc)
	if err != nil {
		t.Fatal(err)
	}
	pool := engine.NewPool(1)
	defer pool.Close()
	rep, err := players[0].Run(t.Context(), pool, f.deps.NewGame)
	if unknown := players[0].Unknown(engine.Build()); err != nil || rep.Moves < 8 || rep.Exact != rep.Moves || len(unknown) > 0 {
		t.Errorf("replay %+v, %v, unknown %q", rep, err, unknown)
	}
}
