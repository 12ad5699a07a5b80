package game_test

import (
	"encoding/json"
	"errors"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
)

// TestZobristIsSplitMix64 compares the formula with the published generator's
// first outputs for seed 1234567 (Rosetta Code's check values).
func TestZobristIsSplitMix64(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := game.Zobrist(1234567, uint64(i)); got != want {
			t.Errorf("entry %d is %d, want %d", i, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	type both struct {
		Seat   game.Seat
		Result game.Result
	}
	for _, v := range []both{{game.First, game.Undecided}, {game.Second, game.FirstWins}, {game.First, game.SecondWins}, {game.Second, game.Draw}} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back both
		if err := json.Unmarshal(data, &back); err != nil || back != v {
			t.Errorf("%+v is %s, which is %+v, %v", v, data, back, err)
		}
	}
	for _, text := range []string{`{"Seat":"third"}`, `{"Seat":""}`, `{"Result":"lost"}`, `{"Seat":1}`} {
		if err := json.Unmarshal([]byte(text), new(both)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if game.WonBy(game.First) != game.FirstWins || game.WonBy(game.Second) != game.SecondWins || game.First.Other() != game.Second {
		t.Error("seats and results do not fit")
	}
}

func TestReplayNamesThePly(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(rules, "", []string{"h8", "i9", "h8", "a1"})
	if !errors.Is(err, game.ErrIllegal) || p == nil || p.Ply() != 2 {
		t.Errorf("occupied point: %v", err)
	}
	if want := "ply 3: "; err == nil || err.Error()[:len(want)] != want {
		t.Errorf("error %v does not begin with %q", err, want)
	}
	if _, err := game.Replay(rules, "no position", nil); err == nil {
		t.Error("a wrong position is taken")
	}
	moves := []string{"a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1", "e2"}
	if _, err := game.Replay(rules, "", moves); !errors.Is(err, game.ErrOver) && !errors.Is(err, game.ErrIllegal) {
		t.Errorf("a move after the end: %v", err)
	}
}
