package tablebase

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseSet(t *testing.T) {
	for _, c := range []struct{ name, want, canonical string }{
		{"KRkaa", "KRkaa", "KRkaa"},
		{"aakRK", "KRkaa", "KRkaa"},
		{"Kkr", "Kkr", "KRk"},
		{"KHEkeh", "KNBknb", "KNBknb"},
		{"KAkc", "KAkc", "KCka"},
		{"KPkab", "KPkab", "KPkab"},
		{"Kk", "Kk", "Kk"},
	} {
		s, err := ParseSet(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		canonical, _ := s.Canonical()
		if s.String() != c.want || canonical.String() != c.canonical {
			t.Errorf("%s is %s, canonical %s; want %s, %s", c.name, s, canonical, c.want, c.canonical)
		}
	}
	for name, want := range map[string]string{
		"":                        "no K",
		"KRR":                     "no k",
		"KKk":                     "more than 1 of K",
		"KRRRk":                   "more than 2 of R",
		"KXk":                     "'X' is not a piece",
		"KR k":                    "' ' is not a piece",
		"KRRCCNNk":                "",
		"KRRCCNNAk":               "9 men, at most 8",
		"KPPPPPPk":                "more than 5 of P",
		"K\xffk":                  "is not a piece",
		"車":                       "is not a piece",
		strings.Repeat("K", 5000): "more than 1 of K",
	} {
		_, err := ParseSet(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", name, err, want)
		}
	}
}

// TestSetsUpTo checks the number of sets against a count by hand: 6 with one man
// besides the kings; with two men, 21 with both on one side and 21 with one each.
func TestSetsUpTo(t *testing.T) {
	for men, want := range map[int]int{2: 1, 3: 1 + 6, 4: 1 + 6 + 21 + 21} {
		if sets := UpTo(men); len(sets) != want {
			t.Errorf("up to %d men: %d sets %v, want %d", men, len(sets), sets, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	got := fmt.Sprint(set(t, "KRkab").Needs())
	if want := "[Kk KAk KBk KABk KRk KRkb KRka]"; len(got) != len(want) {
		t.Errorf("needs of KRkab: %s, want those of %s", got, want)
	}
	seen := map[Set]bool{}
	for _, s := range append(set(t, "KRkab").Needs(), set(t, "KRkab")) {
		for _, sub := range s.Needs() {
			if !seen[sub] {
				t.Errorf("%s comes before %s, which it needs", s, sub)
			}
		}
		seen[s] = true
	}
}

// A set that is too large to solve is refused at once.
func TestTooLarge(t *testing.T) {
	err := Build(t.Context(), t.TempDir(), []Set{set(t, "KRRCCkrr")}, Options{})
	if err == nil || !strings.Contains(err.Error(), "too many to solve") {
		t.Errorf("%v", err)
	}
}
