package record

import "testing"

// Names are replaced in texts as whole words, in scripts with spaces and without.
func TestPseudonymize(t *testing.T) {
	for _, test := range []struct{ id, display, text, want string }{
		{"human-a1", "A", "A was late after a4-a5 (A, not Anna); human-a1 left", "x was late after a4-a5 (x, not Anna); x left"},
		{"human-a1", "", "human-a12 and human-a1-b stay, human-a1: goes", "human-a12 and human-a1-b stay, x: goes"},
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
