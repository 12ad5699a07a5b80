package gomoku

import (
	"slices"
	"strings"
	"testing"

	"sparring/game/gomoku"
)

// TestCodes checks every row of four kinds: those with the same kinds, in any order,
// have one code, others another.
func TestCodes(t *testing.T) {
	if codes != 3060 {
		t.Fatalf("%d codes, want 3060: the multisets of 4 of 15 kinds", codes)
	}
	table, kinds := codeOfRows(), kindsOfCode()
	used := map[code]bool{}
	for a := range gomoku.Kinds {
		for b := range gomoku.Kinds {
			for c := range gomoku.Kinds {
				for d := range gomoku.Kinds {
					want := [gomoku.Directions]gomoku.Kind{a, b, c, d}
					var r rows
					for at, k := range want {
						r = r.with(gomoku.Direction(at), k)
					}
					for at, k := range want {
						if r.kind(gomoku.Direction(at)) != k {
							t.Fatalf("rows %04x: kind %d is %s, want %s", r, at, r.kind(gomoku.Direction(at)), k)
						}
					}
					slices.Sort(want[:])
					slices.Reverse(want[:])
					if got := kinds[table[r]]; got != want {
						t.Fatalf("rows %04x: the code's kinds are %v, want %v", r, got, want)
					}
					used[table[r]] = true
				}
			}
		}
	}
	if len(used) != codes {
		t.Errorf("%d of %d codes occur", len(used), codes)
	}
	if kinds[0] != [gomoku.Directions]gomoku.Kind{} {
		t.Errorf("code 0 is %v, want four dead rows", kinds[0])
	}
}

// codeNamed reads a code's name.
func codeNamed(t *testing.T, name string) code {
	t.Helper()
	var r rows
	for d, kind := range strings.Split(name, "+") {
		k := gomoku.Kind(0)
		for k < gomoku.Kinds && k.String() != kind {
			k++
		}
		if k == gomoku.Kinds || d == gomoku.Directions {
			t.Fatalf("%q is not the name of a code", name)
		}
		r = r.with(gomoku.Direction(d), k)
	}
	return codeOfRows()[r]
}

func TestCodeNames(t *testing.T) {
	for i := range codes {
		if c := code(i); codeNamed(t, c.String()) != c {
			t.Fatalf("code %d is named %q, which names code %d", c, c, codeNamed(t, c.String()))
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		code   string
		threat threat
		level  level
		renju  threat // the same under Renju's rules for Black
		foul   foul
	}{
		{"dead", noThreat, noLevel, noThreat, noFoul},
		{"three+open-two-4+two", noThreat, noLevel, noThreat, noFoul},
		{"open-three", makesThree, open3, makesThree, noFoul},
		{"open-three-2+two+one", makesThree, open3, makesThree, noFoul},
		{"open-three+open-two", makesThreeMore, open3, makesThreeMore, noFoul},
		{"open-three-2+open-three", makesThreeMore, open3, makesThreeMore, suspect},
		{"four", makesFour, four, makesFour, noFoul},
		{"four+three+two", makesFour, four, makesFour, noFoul},
		{"four+open-two-3", makesFourMore, four, makesFourMore, noFoul},
		{"four+open-three", makesFourMore, four, makesFourMore, noFoul},
		{"four+open-three+open-three-2", makesFourMore, four, makesFourMore, suspect},
		{"four+four", makesTwo4s, two4s, noThreat, certain},
		{"double-four", makesTwo4s, two4s, noThreat, certain},
		{"straight-four", makesTwo4s, two4s, makesTwo4s, noFoul},
		{"straight-four+four", makesTwo4s, two4s, noThreat, certain},
		{"straight-four+open-three+open-three", makesTwo4s, two4s, makesTwo4s, suspect},
		{"overline", noThreat, noLevel, noThreat, certain},
		{"overline+straight-four", makesTwo4s, two4s, noThreat, certain},
		{"five", makesFive, five, makesFive, noFoul},
		{"five+overline+four+four", makesFive, five, makesFive, noFoul},
		{"five+open-three+open-three", makesFive, five, makesFive, noFoul},
	} {
		kinds := kindsOfCode()[codeNamed(t, tt.code)]
		if threat, foul := classify(kinds, false); threat != tt.threat || foul != noFoul || levelOf[threat] != tt.level {
			t.Errorf("%s: threat %d of level %d, foul %d; want %d of %d, %d", tt.code, threat, levelOf[threat], foul, tt.threat, tt.level, noFoul)
		}
		if threat, foul := classify(kinds, true); threat != tt.renju || foul != tt.foul {
			t.Errorf("%s in Renju: threat %d, foul %d; want %d, %d", tt.code, threat, foul, tt.renju, tt.foul)
		}
	}
}

// TestLineTable compares the kinds of every window with those of the rules.
func TestLineTable(t *testing.T) {
	for _, lines := range [][2]gomoku.Line{
		{gomoku.FiveOrMore, gomoku.FiveOrMore},
		{gomoku.ExactFive, gomoku.ExactFive},
		{gomoku.ExactFive, gomoku.FiveOrMore}, // Renju
		{gomoku.Caro, gomoku.Caro},
		{gomoku.ExactCaro, gomoku.ExactCaro},
	} {
		table := lineTableOf(lines)
		for i := range uint32(1 << 20) {
			window := i&0x3ff | i>>10<<12
			for c := range gomoku.Colour(2) {
				if got, want := table.pair(window).of(c), gomoku.TableOf(lines[c]).Kind(window, c); got != want {
					t.Fatalf("lines %v, window %06x, %v: %v, want %v", lines, window, c, got, want)
				}
			}
		}
	}
}
