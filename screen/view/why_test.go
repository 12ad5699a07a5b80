package view_test

import (
	"errors"
	"strings"
	"testing"

	"sparring/game"
	"sparring/screen/view"
)

// TestWhy: the key of a sentence, however the points are given.
func TestWhy(t *testing.T) {
	xiangqi, amazons := replay(t, "xiangqi/wxf", ""), replay(t, "amazons/10x10", "")
	for _, c := range []struct {
		p       game.Position
		touched []string
		want    string
	}{
		{xiangqi, []string{"b0", "d1"}, "illegal.leg"},
		{xiangqi, []string{"B0D1", ""}, "illegal.leg"},
		{xiangqi, []string{"b0", ""}, ""},
		{xiangqi, []string{"b0", "c2"}, ""},
		{replay(t, "gomoku/freestyle-15", "", "h8"), []string{"", "h8"}, "illegal.occupied"},
		{replay(t, "gomoku/renju-15+rif", "", "h8", "h9", "h10", "stay", "h7", "offer:g8"), []string{"offer:i8"}, "illegal.symmetric-offer"},
		{amazons, []string{"d1", "d7/e9"}, "illegal.shot"},
		{amazons, []string{"d1d7", "e9"}, "illegal.shot"},
	} {
		if why, err := view.Why(c.p, c.touched...); why != c.want || err != nil {
			t.Errorf("%s: %v: %q, %v; want %q", c.p, c.touched, why, err, c.want)
		}
	}
	for _, bad := range [][]string{nil, {"", ""}, {"h8", "i9", "j10"}, {strings.Repeat("b0", 1000)}, {"<b>"}} {
		if why, err := view.Why(xiangqi, bad...); !errors.Is(err, game.ErrSyntax) || len(err.Error()) > 120 {
			t.Errorf("%.20v: %q, %v; want a short ErrSyntax", bad, why, err)
		}
	}
	if _, err := view.Why(blind{xiangqi}, "b0"); !errors.Is(err, view.ErrNoPicture) {
		t.Errorf("a game without reasons: %v", err)
	}
}
