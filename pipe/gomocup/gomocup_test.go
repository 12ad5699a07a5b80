package gomocup_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sparring/pipe/gomocup"
)

// decode returns all commands of a text.
func decode(t *testing.T, text string) (all []gomocup.Command, errs []error) {
	t.Helper()
	var d gomocup.Decoder
	for line := range strings.Lines(text) {
		c, ok, err := d.Line(line)
		if err != nil && !errors.Is(err, gomocup.ErrSyntax) {
			t.Errorf("%q: %v does not wrap ErrSyntax", line, err)
		}
		if ok {
			all, errs = append(all, c), append(errs, err)
		}
	}
	return all, errs
}

func TestCommands(t *testing.T) {
	at := gomocup.Point{X: 10, Y: 9}
	stones := []gomocup.Stone{{Point: gomocup.Point{X: 7, Y: 7}, Side: gomocup.Own}, {Point: gomocup.Pass, Side: gomocup.Opponent},
		{Point: gomocup.Point{X: 0, Y: 14}, Side: gomocup.Dead}}
	points := []gomocup.Stone{{Point: at}, {Point: gomocup.Point{X: 19, Y: 0}}}
	for _, want := range []gomocup.Command{
		{Verb: gomocup.Start, Width: 20, Height: 20},
		{Verb: gomocup.RectStart, Width: 30, Height: 20},
		{Verb: gomocup.Restart}, {Verb: gomocup.Begin}, {Verb: gomocup.About}, {Verb: gomocup.End},
		{Verb: gomocup.Turn, At: at}, {Verb: gomocup.TakeBack, At: at}, {Verb: gomocup.Play, At: at},
		{Verb: gomocup.Board, Stones: stones}, {Verb: gomocup.YXBoard, Stones: stones}, {Verb: gomocup.Board},
		{Verb: gomocup.Swap2Board, Stones: points}, {Verb: gomocup.YXBlock, Stones: points},
		{Verb: gomocup.Info, Key: gomocup.TimeoutTurn, Value: "5000"},
		{Verb: gomocup.Info, Key: gomocup.Folder, Value: `C:\a folder`},
		{Verb: gomocup.YXStop}, {Verb: gomocup.YXNBest, N: 5}, {Verb: gomocup.YXShowForbid}, {Verb: gomocup.YXShowInfo},
		{Verb: "HELLO"},
	} {
		got, errs := decode(t, want.String()+"\r\n")
		if len(got) != 1 || errs[0] != nil || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%q: %+v %v, want %+v", want, got, errs, want)
		}
		if known := want.Verb.Known(); known == (want.Verb == "HELLO") {
			t.Errorf("%s known: %t", want.Verb, known)
		}
	}
}

func TestBadCommands(t *testing.T) {
	for text, want := range map[string]string{
		"START":                            "size of the board",
		"START x":                          "size of the board",
		"RECTSTART 15":                     "2 numbers",
		"TURN 1":                           "2 numbers",
		"TURN -1,3":                        "both from 0",
		"TURN 1,2,3":                       "2 numbers",
		"TURN 99999999999,1":               "2 numbers",
		"PLAY":                             "2 numbers",
		"INFO":                             "without a key",
		"YXNBEST 0":                        "1 to 64",
		"BOARD\n1,1,1\n2,2\nx\nDONE":       "BOARD, line 2",
		"BOARD\n1,1,4\nDONE":               "want 1 own",
		"SWAP2BOARD\n1,1,1\nDONE":          "SWAP2BOARD, line 1",
		"SWAP2BOARD\n-1,-1\nDONE":          "both from 0",
		"TURN " + strings.Repeat("1", 1e4): "a line of",
	} {
		got, errs := decode(t, text)
		if len(got) != 1 || errs[0] == nil || !strings.Contains(errs[0].Error(), want) {
			t.Errorf("%.40q: %+v %v, want one command and the error %q", text, got, errs, want)
		}
	}
}

// TestEndInsideBoard: a manager may send END within a list.
func TestEndInsideBoard(t *testing.T) {
	got, errs := decode(t, "BOARD\n1,1,1\nEND\nBEGIN\n")
	if len(got) != 2 || got[0].Verb != gomocup.End || got[1].Verb != gomocup.Begin || errs[0] != nil {
		t.Errorf("%+v %v", got, errs)
	}
}

func TestAnswers(t *testing.T) {
	p, q, r := gomocup.Point{X: 7, Y: 7}, gomocup.Point{X: 10, Y: 0}, gomocup.Point{X: 0, Y: 14}
	for text, want := range map[string]gomocup.Answer{
		"OK":                       {Kind: gomocup.OK},
		"ok - everything is good":  {Kind: gomocup.OK, Text: "- everything is good"},
		"ERROR too large":          {Kind: gomocup.Error, Text: "too large"},
		"UNKNOWN":                  {Kind: gomocup.Unknown},
		"MESSAGE a b":              {Kind: gomocup.Message, Text: "a b"},
		"DEBUG a":                  {Kind: gomocup.Debug, Text: "a"},
		"SUGGEST 7,7":              {Kind: gomocup.Suggest, Points: []gomocup.Point{p}},
		"SWAP":                     {Kind: gomocup.Swap},
		"7,7":                      {Kind: gomocup.Points, Points: []gomocup.Point{p}},
		"7, 7":                     {Kind: gomocup.Points, Points: []gomocup.Point{p}},
		" 7 ,7":                    {Kind: gomocup.Points, Points: []gomocup.Point{p}},
		"7, 7 and so on":           {Text: "7, 7 and so on"},
		"-1,-1":                    {Kind: gomocup.Points, Points: []gomocup.Point{gomocup.Pass}},
		"100,7":                    {Kind: gomocup.Points, Points: []gomocup.Point{{X: 100, Y: 7}}},
		"- 7,7":                    {Text: "- 7,7"},
		"-x":                       {Text: "-x"},
		"7,7 10,0 0,14":            {Kind: gomocup.Points, Points: []gomocup.Point{p, q, r}},
		"FORBID 07071000.":         {Kind: gomocup.Forbid, Points: []gomocup.Point{p, q}},
		"FORBID .":                 {Kind: gomocup.Forbid},
		`name="a", version="1"`:    {Kind: gomocup.Identity, Text: `name="a", version="1"`},
		"7,7 and so on":            {Text: "7,7 and so on"},
		"Loading weights x=1 done": {Text: "Loading weights x=1 done"},
		"":                         {},
	} {
		got, err := gomocup.ParseAnswer(text + "\r\n")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := gomocup.ParseAnswer(want.String()); err != nil || again.Kind != want.Kind || !reflect.DeepEqual(again.Points, want.Points) {
			t.Errorf("%q written as %q: %+v, %v", text, want, again, err)
		}
	}
	for _, bad := range []string{"SUGGEST", "SUGGEST 1", "FORBID 123.", "FORBID 0101", "FORBID 01x1."} {
		if a, err := gomocup.ParseAnswer(bad); !errors.Is(err, gomocup.ErrSyntax) {
			t.Errorf("%q: %+v, %v, want ErrSyntax", bad, a, err)
		}
	}
}

func TestAbout(t *testing.T) {
	pairs := []gomocup.Pair{{Key: "name", Value: "Sparring"}, {Key: "version", Value: "1.0, new"}}
	text := gomocup.AboutText(pairs...)
	if want := `name="Sparring", version="1.0, new"`; text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if got := gomocup.ParseAbout(text); !slices.Equal(got, pairs) {
		t.Errorf("%s is read as %q", text, got)
	}
	if got := gomocup.ParseAbout(`Name="a",version="1`); !slices.Equal(got, []gomocup.Pair{{Key: "name", Value: "a"}}) {
		t.Errorf("half a line is read as %q", got)
	}
}

func TestPoints(t *testing.T) {
	for move, want := range map[string]gomocup.Point{"a15": {X: 0, Y: 0}, "o1": {X: 14, Y: 14}, "h8": {X: 7, Y: 7}, "b15": {X: 1, Y: 0}} {
		if got, err := gomocup.PointOf(move, 15); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", move, got, err, want)
		}
		if got := want.Move(15); got != move {
			t.Errorf("%v: %s, want %s", want, got, move)
		}
	}
	for _, bad := range []string{"", "a", "8h", "a16", "a0", "A1", "a-1", "swap"} {
		if p, err := gomocup.PointOf(bad, 15); !errors.Is(err, gomocup.ErrSyntax) {
			t.Errorf("%q: %v, %v, want ErrSyntax", bad, p, err)
		}
	}
	if got := (gomocup.Point{X: 3, Y: 15}).Move(15); got != "" {
		t.Errorf("a point below the board: %q", got)
	}
}

func TestRules(t *testing.T) {
	for rule, want := range map[gomocup.Rule]string{0: "freestyle", 1: "standard", 2: "continuous", 4: "renju", 8: "caro", 9: "standardcaro"} {
		set, err := rule.RuleSet(15)
		if set != "gomoku/"+want+"-15" || err != nil {
			t.Errorf("%d: %s, %v, want %s", rule, set, err, want)
		}
		back, size, opening, err := gomocup.RuleOf(set + "+swap2")
		if back != rule || size != 15 || opening != "swap2" || err != nil {
			t.Errorf("%s: %d %d %s %v", set, back, size, opening, err)
		}
	}
	if set, err := (gomocup.Renju | gomocup.Continuous).RuleSet(15); err == nil {
		t.Errorf("rule 6: %s", set)
	}
	for _, bad := range []string{"amazons/10x10", "gomoku/pente-19", "gomoku/renju", "gomoku/renju-x"} {
		if _, _, _, err := gomocup.RuleOf(bad); !errors.Is(err, gomocup.ErrSyntax) {
			t.Errorf("%s: %v, want ErrSyntax", bad, err)
		}
	}
	if r, _, err := gomocup.YixinRule(2); r != gomocup.Renju || err != nil {
		t.Errorf("Yixin-Board's rule 2: %d, %v", r, err)
	}
	if _, opening, err := gomocup.YixinRule(6); opening != "swap2" || err != nil {
		t.Errorf("Yixin-Board's rule 6: %s, %v", opening, err)
	}
	if _, _, err := gomocup.YixinRule(7); !errors.Is(err, gomocup.ErrSyntax) {
		t.Errorf("Yixin-Board's rule 7: %v", err)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"START 20\nBEGIN\n", "BOARD\n1,1,1\n2,2,2\nDONE\n", "SWAP2BOARD\nDONE", "INFO time_left -5\nEND", "yxboard\n-1,-1,1\ndone"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d gomocup.Decoder
		for line := range strings.Lines(text) {
			c, ok, err := d.Line(line)
			if err != nil && !errors.Is(err, gomocup.ErrSyntax) {
				t.Fatalf("%q: %v", line, err)
			}
			if !ok || err != nil || !c.Verb.Known() {
				continue
			}
			again, errs := decode(t, c.String())
			if len(again) != 1 || errs[0] != nil || again[0].String() != c.String() {
				t.Fatalf("%q is written %q and read %+v, %v", line, c, again, errs)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"OK", "7,7 8,8", "-1,-1", "FORBID 0101.", "SUGGEST 1,1", `name="x"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := gomocup.ParseAnswer(text)
		if err != nil && !errors.Is(err, gomocup.ErrSyntax) {
			t.Fatalf("%q: %v", text, err)
		}
		if err == nil && strings.ContainsAny(a.String(), "\r\n") {
			t.Fatalf("%q is written %q", text, a)
		}
	})
}
