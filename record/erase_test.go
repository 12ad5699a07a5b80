package record

import (
	"bytes"
	"testing"
)

// Names are replaced in texts as whole words, in scripts with spaces and without.
func TestPseudonymize(t *testing.T) {
	for _, test := range []struct{ id, display, text, want string }{
		{"human-a1", "A", "A was late after a4-a5 (A, not Anna); human-a1 left", "x was late after a4-a5 (x, not Anna); x left"},
		{"human-a1", "", "human-a10, human-a19, human-a1a, human-a1z, human-a1-b and human-a1_c stay, human-a1: goes", "human-a10, human-a19, human-a1a, human-a1z, human-a1-b and human-a1_c stay, x: goes"},
		{"human-a1", "Ann Example", "Ann Example's move; Ann Examples; Ann", "x's move; Ann Examples; Ann"},
		{"human-a1", "Zoë", "Zoë resigned. Zoën did not. «Zoë»", "x resigned. Zoën did not. «x»"},
		{"human-a1", "天津理工大学", "天津理工大学认输", "x认输"},
		{"human-a1", "王", "王 认输，国王没有", "x 认输，国王没有"},
		{"human-a1", "Ann", "Ann认输, 而Anna没有", "x认输, 而Anna没有"},
		{"human-a1", "aa", "aaa aa", "aaa x"},
		{"ann", "!", "! and !! by ann", "x and xx by x"},
	} {
		r := &Record{Text: test.text, Plies: []Ply{{Comment: test.text}}, Disputes: []Dispute{{Text: test.text}}}
		r.Seats[1] = Seat{Player: test.id, Display: test.display}
		if !Pseudonymize(r, test.id, "x") || r.Seats[1] != (Seat{Player: "x"}) {
			t.Errorf("%s: seats %+v", test.id, r.Seats)
		}
		for _, text := range []string{r.Text, r.Plies[0].Comment, r.Disputes[0].Text} {
			if text != test.want {
				t.Errorf("%s, %q: %q, want %q", test.id, test.display, text, test.want)
			}
		}
		if Pseudonymize(r, test.id, "x") {
			t.Errorf("%s is still there", test.id)
		}
	}
}

// The id is in no field of a record that the player's own bot has written.
func TestPseudonymizeOwnRecord(t *testing.T) {
	r := &Record{V: Version, ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15", Pool: "player.team-red", Plies: []Ply{},
		Source: Source{By: ByPlayer, Player: "team-red", Instance: "team-red-1", Settings: &Settings{Profile: "team-red"}}}
	r.Seats[0], r.Seats[1] = Seat{Player: "team-red"}, Seat{Player: "ann"}
	if !Pseudonymize(r, "team-red", "x") {
		t.Fatal("not changed")
	}
	data, err := Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("team-red")) {
		t.Errorf("%s", data)
	}
	if r.Pool != "player.x" || r.Source.Settings.Profile != "x" {
		t.Errorf("pool %s, profile %s", r.Pool, r.Source.Settings.Profile)
	}
}

// A match names its players by specs, which may have their names.
func TestPseudonymizeSpec(t *testing.T) {
	for _, test := range []struct{ player, spec, want string }{
		{"Ann", "uci:./engine,name=Ann", "uci:./engine,name=x"},
		{"Ann", "self:name=Ann,nodes=5", "self:name=x,nodes=5"},
		{"Ann", "self:nodes=5,name=Anna", "self:nodes=5,name=Anna"},
		{"Ann, Bob", `self:name=Ann\, Bob,nodes=5`, "self:name=x,nodes=5"},
		{"Ann", "uci:./name=Ann", "uci:./name=Ann"},
		{"self:nodes=5", "self:nodes=5", "x"},
		{"self", "self:nodes=5", "self:nodes=5"},
	} {
		if got := PseudonymizeSpec(test.spec, test.player, "x"); got != test.want {
			t.Errorf("%s in %s: %s, want %s", test.player, test.spec, got, test.want)
		}
	}
	r := &Record{Source: Source{Settings: &Settings{}}}
	r.Seats[0] = Seat{Player: "Ann", Settings: &Settings{Spec: "uci:./engine,name=Ann"}}
	if !Pseudonymize(r, "Ann", "x") || r.Seats[0].Settings.Spec != "uci:./engine,name=x" {
		t.Errorf("%+v", r.Seats[0].Settings)
	}
}
