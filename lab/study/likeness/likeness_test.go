package likeness

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"sparring/engine/book"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
	"sparring/record/format"
)

// played is a game of Xiangqi with these first moves.
func played(n int, first, second string, levels [2]int, result game.Result, moves ...string) *record.Record {
	r := &record.Record{ID: fmt.Sprint("g", n), Game: "xiangqi", Rules: "xiangqi/wxf", Result: result}
	for seat, name := range []string{first, second} {
		r.Seats[seat] = record.Seat{Player: name}
		if levels[seat] > 0 {
			r.Seats[seat].Settings = &record.Settings{Level: levels[seat]}
		}
	}
	for i, m := range moves {
		r.Plies = append(r.Plies, record.Ply{Seat: game.Seat(i % 2), Move: m})
	}
	return r
}

// scale has levels 100 Elo apart.
func scale(_ string, level int) (float64, float64, bool) { return 100 * float64(level), 10, true }

// TestStrength: a player that scores three in four against level 5 is 191 Elo above it,
// also where another player stands between, and errors grow with the distance.
func TestStrength(t *testing.T) {
	var direct, between []*record.Record
	for n := range 400 {
		result := game.FirstWins
		if n%4 == 0 {
			result = game.SecondWins
		}
		direct = append(direct, played(n, "a", "level", [2]int{0, 5}, result, "h2e2", "h9g7"))
		between = append(between, played(n, "b", "level", [2]int{0, 5}, game.Draw, "h2e2", "h9g7"), played(1000+n, "a", "b", [2]int{}, result, "h2e2", "h9g7"))
	}
	for name, games := range map[string][]*record.Record{"direct": direct, "between": between} {
		l, err := Of(games, "xiangqi", "a", scale, 10)
		if err != nil {
			t.Fatal(err)
		}
		if want := 500 + 400*math.Log10(3); !l.Rated || math.Abs(l.Elo-want) > 10 || l.Error < 20 || l.Error > 60 || l.Level != 7 {
			t.Errorf("%s: %+v, want Elo %.0f", name, l, want)
		}
	}
	l, err := Of(between[1:2], "xiangqi", "a", scale, 10)
	if err != nil || l.Rated || l.Level != 0 || l.Games != 1 {
		t.Errorf("without a level: %+v, %v", l, err)
	}
	if _, err := Of(direct, "xiangqi", "nobody", scale, 10); !errors.Is(err, ErrNoGames) {
		t.Errorf("no games: %v", err)
	}
	if l, err := Of(direct, "xiangqi", "level", scale, 10); err != nil || l.Level != 5 || l.Error != 0 {
		t.Errorf("a level: %+v, %v", l, err)
	}
}

// TestStrengthFromSeveralSources: games of a match connect a player with a level, also where
// the others are from files of other programs, whose readers make an id of its name.
func TestStrengthFromSeveralSources(t *testing.T) {
	var games []*record.Record
	for n := range 20 {
		games = append(games, played(n, "Fairy 11", "level", [2]int{0, 5}, game.Draw, "h2e2", "h9g7"))
	}
	for n := range 20 {
		r := played(100+n, "", "other", [2]int{}, game.Draw, "h2e2", "h9g7")
		format.SetName(&r.Seats[game.First], "Fairy 11", "")
		games = append(games, r)
	}
	for _, player := range []string{"Fairy 11", "other"} {
		l, err := Of(games, "xiangqi", player, scale, 10)
		if err != nil || !l.Rated || math.Abs(l.Elo-500) > 1 {
			t.Errorf("%s: %+v, %v; want Elo 500", player, l, err)
		}
	}
}

// TestWeakenedLevel: a level with a tighter limit than its own has not the strength that was
// measured, and is no place on the scale.
func TestWeakenedLevel(t *testing.T) {
	for elo, rated := range map[*float64]bool{nil: false, new(float64): true} {
		var games []*record.Record
		for n := range 10 {
			r := played(n, "a", "level", [2]int{0, 5}, game.FirstWins, "h2e2", "h9g7")
			r.Seats[1].Settings.Nodes, r.Seats[1].Settings.Elo = 100, elo
			games = append(games, r)
		}
		if l, err := Of(games, "xiangqi", "a", scale, 10); err != nil || l.Rated != rated {
			t.Errorf("rated %t, want %t (%v)", l.Rated, rated, err)
		}
	}
}

// TestOpenings: the openings are the player's own moves, as often as it played them,
// lost games included, and without those with which a match began.
func TestOpenings(t *testing.T) {
	var games []*record.Record
	for n := range 8 {
		move := "h2e2"
		if n%4 == 0 {
			move = "b0c2"
		}
		games = append(games, played(n, "a", "b", [2]int{}, game.SecondWins, move, "h9g7"))
	}
	given := played(20, "a", "b", [2]int{}, game.FirstWins, "a3a4", "h9g7", "h2e2")
	given.Source.By = record.ByMatch
	given.Plies[0].Think = &record.Think{Source: record.FromBook}
	l, err := Of(append(games, given), "xiangqi", "a", scale, 10)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := catalog.Rules("xiangqi/wxf")
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	o := book.Options{MinGames: 1, Imitate: true}
	counts := map[string]int{}
	for seed := range uint64(400) {
		m, _, ok := l.Openings.Choose(p, o, seed, nil)
		if !ok {
			t.Fatal("no move")
		}
		counts[p.Format(m)]++
	}
	// Mirror images are one move of the book.
	if a, b := counts["h2e2"]+counts["b2e2"], counts["b0c2"]+counts["h0g2"]; a+b != 400 || b < 70 || b > 130 {
		t.Errorf("played %v, want the second in one game of four", counts)
	}
	if l.Moves != 3 {
		t.Errorf("%d moves, want 3: two first moves, and one after the opening of a match", l.Moves)
	}
}
