package botzone_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sparring/pipe/botzone"
)

// TestTurns checks the platform's lines, the turns decoded from them, and one answer.
// The second Amazons text is the example of the platform's own page.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		want         string // game, whole, moves
		move, answer string
	}{
		{"amazons opens", "1\n-1 -1 -1 -1 -1 -1\n\n\n", "amazons true []", "a3b3/b4", "0 2 1 2 1 3"},
		{"amazons third turn", "3\n-1 -1 -1 -1 -1 -1\n5 0 3 2 6 5\n0 5 1 4 2 4\n2 0 2 1 3 1\n7 5 6 5 7 5\n",
			"amazons true [f1d3/g6 a6b5/c5 c1c2/d2 h6g6/h6]", "f1f2/f1", "5 0 5 1 5 0"},
		{"amazons kept running", "1\n-1 -1 -1 -1 -1 -1\n\n0 5 1 4 2 4\n", "amazons false [a6b5/c5]", "a3b3/b4", "0 2 1 2 1 3"},
		{"gomoku opens", `{"requests":[{"x":-1,"y":-1}],"responses":[]}`, "gomoku true []", "h8", `{"response":{"x":7,"y":7}}`},
		{"gomoku answers", `{"requests":[{"x":0,"y":0}],"responses":[],"data":"","time_limit":"1"}`, "gomoku true [a15]", "o1",
			`{"response":{"x":14,"y":14}}`},
		{"gomoku kept running", `{"requests":[{"x":7,"y":7}],"responses":[]}` + "\n" + `{"x":0,"y":1}`, "gomoku false [a14]", "o1",
			`{"response":{"x":14,"y":14}}`},
		{"gomoku kept running, wrapped", `{"requests":[{"x":7,"y":7}],"responses":[]}` + "\n" + `{"requests":{"x":0,"y":1}}`,
			"gomoku false [a14]", "o1", `{"response":{"x":14,"y":14}}`},
		{"xiangqi opens", `{"requests":[{"source":"-1","target":"-1"}],"responses":[]}`, "xiangqi true []", "h2e2",
			`{"response":{"source":"h2","target":"e2"}}`},
		{"xiangqi lost", `{"requests":[{"source":"h2","target":"e2"},{"source":"b0","target":"c2"}],"responses":[{"source":"h9","target":"g7"}]}`,
			"xiangqi true [h2e2 h9g7 b0c2]", "", `{"response":{"source":"-1","target":"-1"}}`},
		{"xiangqi in lines", "1\nh2 e2\n", "xiangqi true [h2e2]", "h9g7", "h9 g7"},
		{"amazons in JSON", `{"requests":[{"x0":0,"y0":2,"x1":1,"y1":2,"x2":1,"y2":3}],"responses":[]}`, "amazons true [a3b3/b4]", "",
			`{"response":{"x0":-1,"y0":-1,"x1":-1,"y1":-1,"x2":-1,"y2":-1}}`},
		{"lines in JSON", `{"requests":["-1 -1 -1 -1 -1 -1"],"responses":[]}`, "amazons true []", "a3b3/b4",
			`{"response":{"x0":0,"y0":2,"x1":1,"y1":2,"x2":1,"y2":3}}`},
	} {
		var d botzone.Decoder
		var last botzone.Turn
		found := false
		for line := range strings.Lines(c.text) {
			turn, ok, err := d.Line(line)
			if err != nil {
				t.Errorf("%s: %q: %v", c.name, line, err)
			}
			if ok {
				last, found = turn, true
			}
		}
		if got := fmt.Sprint(last.Game, " ", last.Whole, " ", last.Moves); got != c.want || !found {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
			continue
		}
		if got, err := last.Response(c.move); got != c.answer || err != nil {
			t.Errorf("%s: answer %s, %v, want %s", c.name, got, err, c.answer)
		}
	}
}

func TestBad(t *testing.T) {
	for _, c := range []struct {
		game       botzone.Game
		text, want string
	}{
		{"", "hello", "number of the turn"},
		{"", "0", "number of the turn"},
		{"", "99999", "number of the turn"},
		{"", `{"requests":[`, "unexpected end"},
		{"", `{"requests":[],"responses":[]}`, "0 requests"},
		{"", `{"requests":[{"x":1,"y":1}],"responses":[{"x":1,"y":1}]}`, "1 requests and 1 responses"},
		{"", `{"requests":[{"x":1}],"responses":[]}`, "want x and y"},
		{"", `{"requests":[{"x":15,"y":0}],"responses":[]}`, "15 in a move of gomoku"},
		{"", `{"requests":[{"source":"j0","target":"a0"}],"responses":[]}`, "want a0 to i9"},
		{"", `{"requests":[{"x":1,"y":1},{"x":-1,"y":1}],"responses":[{"x":2,"y":2}]}`, "request or response 3 of 3: botzone syntax: no move"},
		{botzone.Amazons, "1\n3 4\n", "a move of gomoku in a game of amazons"},
		{"", "1\n1 2 3\n", "2 or 6 numbers"},
	} {
		d := botzone.Decoder{Game: c.game}
		var err error
		for line := range strings.Lines(c.text) {
			if _, _, err = d.Line(line); err != nil {
				break
			}
		}
		if !errors.Is(err, botzone.ErrSyntax) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
	for _, bad := range []string{"h", "h16", "p1", "h8h8", "8h", "h8/"} {
		if s, err := (botzone.Turn{Game: botzone.Gomoku}).Response(bad); !errors.Is(err, botzone.ErrSyntax) {
			t.Errorf("%q: %q, %v, want ErrSyntax", bad, s, err)
		}
	}
	if s, err := (botzone.Turn{Game: botzone.Xiangqi}).Response("h2"); !errors.Is(err, botzone.ErrSyntax) {
		t.Errorf("h2: %q, %v, want ErrSyntax", s, err)
	}
}

func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{"1\n-1 -1 -1 -1 -1 -1\n", `{"requests":[{"x":-1,"y":-1}],"responses":[]}`, "1\nh2 e2\n", `{"requests":{"x":1}}`, `{"x":1,"y":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d botzone.Decoder
		for line := range strings.Lines(text) {
			turn, ok, err := d.Line(line)
			if err != nil && !errors.Is(err, botzone.ErrSyntax) {
				t.Fatalf("%q: %v", line, err)
			}
			if !ok {
				continue
			}
			for _, m := range turn.Moves {
				answer, err := turn.Response(m)
				if err != nil || strings.Contains(answer, "\n") {
					t.Fatalf("%q: move %q is answered %q, %v", line, m, answer, err)
				}
			}
		}
	})
}

// TestAsk: a bot reads a game as the platform puts it, in both forms, and its answer is
// read back.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		game  botzone.Game
		moves []string
		reply string
	}{
		{botzone.Amazons, nil, "a3b3/b4"},
		{botzone.Amazons, []string{"f1d3/g6"}, "a6b5/c5"},
		{botzone.Amazons, []string{"f1d3/g6", "a6b5/c5"}, "f8f7/f8"},
		{botzone.Gomoku, []string{"h8", "a15", "o1"}, "h9"},
		{botzone.Xiangqi, nil, "h2e2"},
		{botzone.Xiangqi, []string{"h2e2", "h9g7"}, "h0g2"},
	} {
		for _, inJSON := range []bool{false, true} {
			lines, err := c.game.Ask(c.moves, inJSON)
			if err != nil {
				t.Fatal(err)
			}
			d := botzone.Decoder{Game: c.game}
			var turn botzone.Turn
			for i, line := range lines {
				got, ok, err := d.Line(line)
				if err != nil || ok != (i == len(lines)-1) {
					t.Fatalf("%q: %v, %v", lines, ok, err)
				}
				turn = got
			}
			if !turn.Whole || turn.JSON != inJSON || fmt.Sprint(turn.Moves) != fmt.Sprint(c.moves) {
				t.Errorf("%q is read as %+v", lines, turn)
			}
			answer, err := turn.Response(c.reply)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.game.Answer(answer, inJSON); got != c.reply || err != nil {
				t.Errorf("%s is read as %s, %v", answer, got, err)
			}
		}
	}
	if _, err := botzone.Amazons.Ask([]string{"z9"}, false); !errors.Is(err, botzone.ErrSyntax) {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", "{}", `{"response":3}`} {
		if _, err := botzone.Amazons.Answer(bad, true); !errors.Is(err, botzone.ErrSyntax) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
