package weakness

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/lab/study/analysis"
	"sparring/pipe/playerspec"
)

// plant is a weakness that a player is given: in some positions it searches no more than a
// few nodes.
type plant struct {
	game  string
	group string // that the table is to call weak, as Group.Title
	// is reports whether the player is weak in a position. Pairs of games of a match are numbered from 1.
	is    func(p game.Position, pair int) bool
	nodes uint64
}

// table says how the games of a table are played: by copies of one engine, that differ in
// nothing but the nodes that they search. The first is the player.
type table struct {
	game     string
	nodes    []uint64
	games    int // against each opponent
	seed     uint64
	openings int // how many there are; 0: another for each pair of games
	plant    *plant
}

func (s *table) name() string {
	name := fmt.Sprintf("%s-%d-%d", s.game, s.games, s.seed)
	for _, n := range s.nodes {
		name += fmt.Sprint("-", n)
	}
	if s.plant != nil {
		name += "-" + strings.ReplaceAll(s.plant.group, " ", "-")
	}
	return name
}

// play plays the games, unless -weakness.folder has them.
func (s *table) play(t *testing.T) []*match.Game {
	t.Helper()
	rules, err := catalog.Rules(s.game)
	if err != nil {
		t.Fatal(err)
	}
	limit, err := match.ParseLimit("unlimited")
	if err != nil {
		t.Fatal(err)
	}
	p := match.Plan{Games: s.games, Concurrency: 1, Openings: s.maker(t, rules)}
	p.Terms = match.Terms{V: match.FileVersion, ID: match.NewID(), Game: rules.Game, Rules: rules.Name, Kind: match.Gauntlet, Limit: limit,
		Openings: fmt.Sprint("made ", s.openings), Seed: s.seed, MarginMS: 50, PatienceMS: 600_000, HashMB: 1, Threads: 1, Build: "test", Resign: &match.Resign{Chance: 0.02, Moves: 3}}
	for i := range s.nodes {
		p.Terms.Players = append(p.Terms.Players, fmt.Sprint("player-", i))
	}
	p.Backend = &match.Local{Open: s.open}
	if *playedFolder != "" {
		if p.File, err = match.OpenFile(filepath.Join(*playedFolder, s.name()+".jsonl"), &p.Terms); err != nil {
			t.Fatal(err)
		}
		defer p.File.Close()
	}
	var games []*match.Game
	if p.File != nil {
		games = p.File.Games()
	}
	p.Watch = func(_ *match.Standing, g *match.Game) { games = append(games, g) }
	if _, err := match.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return games
}

// maker makes openings that are about even.
func (s *table) maker(t *testing.T, rules *game.Rules) openings.Source {
	t.Helper()
	recipe, err := openings.Usual(rules)
	if err != nil {
		t.Fatal(err)
	}
	recipe.Seed = s.seed
	e, err := engine.New(s.game, engine.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := e.NewGame(engine.GameOptions{OwnTable: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := openings.NewMaker([]*game.Rules{rules}, []openings.Judge{openings.Searching(judge, search.Limits{Nodes: 500})}, recipe)
	if err != nil {
		t.Fatal(err)
	}
	if s.openings == 0 {
		return m
	}
	var few openings.List
	for n := range s.openings {
		o, err := m.Opening(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		few = append(few, o)
	}
	return openings.Shuffle(few, s.seed)
}

// open makes a player, by its name.
func (s *table) open(name string) (engine.Searcher, error) {
	var i int
	if _, err := fmt.Sscanf(name, "player-%d", &i); err != nil {
		return nil, err
	}
	e, err := engine.New(s.game, engine.Options{HashBytes: 1 << 20, Variety: 3, VarietySeed: uint64(i)})
	limited := &limitedEngine{Engine: e, nodes: s.nodes[i]}
	if i == 0 {
		limited.plant = s.plant
	}
	return limited, err
}

// limitedEngine searches so many nodes a move.
type limitedEngine struct {
	*engine.Engine
	nodes uint64
	plant *plant
}

func (e *limitedEngine) NewGame(o engine.GameOptions) (engine.Game, error) {
	g, err := e.Engine.NewGame(o)
	if err != nil {
		return nil, err
	}
	_, pair, _, _ := match.ParseGameID(o.ID)
	return limitedGame{g, e, pair}, nil
}

type limitedGame struct {
	engine.Game
	by   *limitedEngine
	pair int
}

func (g limitedGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	l.Nodes = g.by.nodes
	if weak := g.by.plant; weak != nil && weak.is(p, g.pair) {
		l.Nodes = weak.nodes
	}
	return g.Game.Search(p, l, report)
}

// judged plays the games and returns them as those of a player, by its number, with their
// moves judged by a search.
func (s *table) judged(t *testing.T, player int) (games []*Game) {
	t.Helper()
	rules, err := catalog.Rules(s.game)
	if err != nil {
		t.Fatal(err)
	}
	judge, err := analysis.New(rules.Game, "self", 1, search.Limits{Nodes: judgeNodes}, playerspec.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer judge.Close()
	var cache *analysis.Cache
	if *playedFolder != "" {
		if cache, err = analysis.OpenCache(filepath.Join(*playedFolder, s.name()+"-judged.jsonl"), judge, 1, 1); err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
	}
	for _, m := range s.play(t) {
		// A session learns: the judgement of a game is to depend on no other game.
		session, err := judge.Open(t.Context(), "judge", rules)
		if err != nil {
			t.Fatal(err)
		}
		g := &Game{Record: &m.Record}
		if m.Match.Players[game.Second] == player {
			g.Seat = game.Second
		}
		g.Report, err = session.Review(t.Context(), g.Record, cache, nil)
		session.Close()
		if err != nil {
			t.Fatal(err)
		}
		games = append(games, g)
	}
	return games
}

// isPlanted reports whether an opening of the table is that of the plant, or leads to it.
func (s *table) isPlanted(t *testing.T, name string) bool {
	t.Helper()
	rules, err := catalog.Rules(s.game)
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.maker(t, rules).Opening(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	planted := strings.Join(o.Moves, " ")
	return strings.HasPrefix(planted, name) || strings.HasPrefix(name, planted)
}
