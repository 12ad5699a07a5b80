package weakness

import (
	"flag"
	"testing"

	"sparring/game"
)

var (
	playedTables = flag.Int("weakness.tables", 0, "tables of each game and class of TestPlayedTables, and of each weakness of TestPlantedWeaknesses; 0 skips them")
	playedFolder = flag.String("weakness.folder", "", "folder that keeps the games and the searches of played tables, so that a run goes on where it was")
)

// judgeNodes is how much the search that judges the moves of played tables searches.
const judgeNodes = 1500

// TestPlayedTables: in games of copies of our engine, in at most 5 % of the tables something is called
// weak, among equal, stronger and weaker players.
func TestPlayedTables(t *testing.T) {
	if *playedTables == 0 {
		t.Skip("takes a minute of a core a table; set -weakness.tables")
	}
	tables, found := map[string]int{}, map[string]int{}
	count := func(class string, games []*Game) {
		r, err := Find(games)
		if err != nil {
			t.Fatal(err)
		}
		tables[class]++
		weak := r.Weak()
		if len(weak) > 0 {
			found[class]++
		}
		t.Logf("%s: score %2.0f %%, %d groups tested, weak: %+v", class, 100*r.Score, r.Tested(), weak)
	}
	for n := range *playedTables {
		for _, name := range []string{"gomoku", "xiangqi", "amazons"} {
			unequal := table{game: name, nodes: []uint64{600, 200}, games: 40, seed: uint64(n + 1)}
			count("stronger", unequal.judged(t, 0))
			count("weaker", unequal.judged(t, 1))
			equal := table{game: name, nodes: []uint64{400, 400}, games: 40, seed: uint64(n + 1)}
			count("equal", equal.judged(t, n%2))
		}
	}
	for class, n := range tables {
		t.Logf("%s: %d of %d tables find something", class, found[class], n)
		if found[class] > max(1, n/20) {
			t.Errorf("%s: %d of %d, want at most 5 %%", class, found[class], n)
		}
	}
}

// plants are weaknesses of one kind for each game.
var plants = []struct {
	plant
	openings int
}{
	{plant{"xiangqi", "phase plies 31 to 60", func(p game.Position, _ int) bool { return p.Ply() >= 30 && p.Ply() < 60 }, 8}, 0},
	{plant{"gomoku", "opening", func(_ game.Position, pair int) bool { return pair%plantedOpenings == 1 }, 8}, plantedOpenings},
	{plant{"amazons", "phase plies 27 to 52", func(p game.Position, _ int) bool { return p.Ply() >= 26 && p.Ply() < 52 }, 4}, 0},
}

// plantedOpenings is how many openings are played where one is a weakness.
const plantedOpenings = 8

// TestPlantedWeaknesses: a weakness that a player is given is found in at least 80 % of the
// tables of 200 games.
func TestPlantedWeaknesses(t *testing.T) {
	if *playedTables == 0 {
		t.Skip("takes minutes of a core a table; set -weakness.tables")
	}
	tables, found := 0, 0
	for n := range *playedTables {
		for i := range plants {
			p := &plants[i]
			s := table{game: p.game, nodes: []uint64{400, 400}, games: 200, seed: uint64(n + 1), openings: p.openings, plant: &p.plant}
			r, err := Find(s.judged(t, 0))
			if err != nil {
				t.Fatal(err)
			}
			tables++
			is := false
			for _, g := range r.Weak() {
				is = is || g.Title() == p.group || p.openings > 0 && g.By == Opening && s.isPlanted(t, g.Name)
			}
			if is {
				found++
			}
			t.Logf("%s %s: score %2.0f %%, found %t; weak: %+v", p.game, p.group, 100*r.Score, is, r.Weak())
		}
	}
	t.Logf("found in %d of %d tables", found, tables)
	if 5*found < 4*tables {
		t.Errorf("found in %d of %d tables, want 80 %%", found, tables)
	}
}
