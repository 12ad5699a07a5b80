package chart

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strings"
	"testing"
)

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{"x.svg": SVG, "a/b.PNG": PNG, "x.gif": "", "svg": ""} {
		if f, err := FormatOf(path); f != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", path, f, err)
		}
	}
}

// TestRound: ticks are inside the range, at multiples of one step, and few.
func TestRound(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        string
	}{
		{0, 3, "0 1 2 3"},
		{0, 52, "0 5 10 15 20 25 30 35 40 45 50"},
		{-519, 990, "-500 -400 -300 -200 -100 0 100 200 300 400 500 600 700 800 900"},
		{0, 100000, "0 5000 10000 15000 20000 25000 30000 35000 40000 45000 50000 55000 60000 65000 70000 75000 80000 85000 90000 95000 100000"},
		{0, math.Inf(1), ""},
		{math.NaN(), 1, ""},
	} {
		var got []string
		for _, tick := range (Round{}).Ticks(c.least, c.most) {
			if tick.Label != fmt.Sprint(tick.Value) && tick.Value < 1e5 {
				t.Errorf("tick %v is labelled %s", tick.Value, tick.Label)
			}
			got = append(got, tick.Label)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%g to %g: %s, want %s", c.least, c.most, text, c.want)
		}
	}
}

// TestScale: every row has its label, what is infinite does not move the range, and
// drawings of one range share it.
func TestScale(t *testing.T) {
	inf := math.Inf(1)
	a := Scale("a", "Elo", []Measured{{"beginner", 0, 0, 0}, {"level 1", 120, 20, 220}, {"level 2", inf, 300, inf}, {"level 3", inf, math.NaN(), inf}})
	b := Scale("b", "Elo", []Measured{{"x", -40, -90, 10}})
	if a.X.Min != 0 || a.X.Max < 300 || a.X.Max > 400 || b.X.Min > -90 || b.X.Max < 10 {
		t.Errorf("%g to %g, and %g to %g", a.X.Min, a.X.Max, b.X.Min, b.X.Max)
	}
	Share(a, b)
	if a.X.Min != b.X.Min || a.X.Max != b.X.Max {
		t.Error("not shared")
	}
	var svg, image bytes.Buffer
	if err := Write(&svg, SVG, a, b); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{">beginner<", ">level 3<", ">x<", ">Elo<"} {
		if !strings.Contains(svg.String(), text) {
			t.Errorf("no %s in the drawing", text)
		}
	}
	if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
		t.Error("a number that is none is drawn")
	}
	if err := Write(&image, PNG, a); err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(&image); err != nil || img.Bounds().Dx() < 1000 {
		t.Errorf("%v", err)
	}
}
