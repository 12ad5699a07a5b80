package external

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// speakXBoard is an engine that plays the first legal moves of one game, and exits
// when it has to play another. Its arguments are its features.
func speakXBoard() int {
	pos, err := catalog.Setup("xiangqi", "", "")
	if err != nil {
		return 2
	}
	games, forced := 0, false
	play := func(text string) bool {
		_, err := game.PlayText(pos, text)
		return err == nil
	}
	answer := func() bool {
		if forced {
			return true
		}
		text := pos.Format(pos.Legal(nil)[0])
		fmt.Println("move", text)
		return play(text)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		ok := true
		switch word, rest, _ := strings.Cut(in.Text(), " "); word {
		case "protover":
			fmt.Println("feature ping=1 usermove=1 colors=0", strings.Join(os.Args[2:], " "), "done=1")
		case "ping":
			fmt.Println("pong", rest)
		case "new":
			games++
			ok = games == 1 || slices.Contains(os.Args, "reuse=1")
			pos, _ = catalog.Setup("xiangqi", "", "")
		case "force":
			forced = true
		case "go":
			forced = false
			ok = answer()
		case "usermove":
			ok = play(rest) && answer()
		case "quit":
			return 0
		}
		if !ok {
			fmt.Fprintln(os.Stderr, "it can't continue after", in.Text())
			return 3
		}
	}
	return 0
}

// TestReuse: an engine that plays only one game gets a new process for the next.
func TestReuse(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		feature   string
		processes int // for two games, one after another
	}{
		{"reuse=0", 2},
		{"reuse=1", 1},
	} {
		e := open(t, Spec{Dialect: XBoard, Path: self, Args: []string{"xboard", test.feature}}, "xiangqi")
		e.times = patient
		seen := map[int]bool{}
		for n := range 2 {
			g, p := play(t, e), newGame(t, "xiangqi/wxf")
			for range 2 {
				r := find(t, g, p, search.Limits{})
				if r.Err != nil {
					t.Fatalf("%s, game %d: %v", test.feature, n+1, r.Err)
				}
				seen[g.current().program.cmd.Process.Pid] = true
				for _, m := range []game.Move{r.Move, game.NoMove} {
					if m == game.NoMove {
						m = p.Legal(nil)[0]
					}
					if err := p.Play(m); err != nil {
						t.Fatal(err)
					}
				}
			}
			g.Close()
		}
		if len(seen) != test.processes {
			t.Errorf("%s: %d processes", test.feature, len(seen))
		}
	}
}

// TestXBoardOptions reads the forms that the protocol has for options.
func TestXBoardOptions(t *testing.T) {
	d := &xboardDialect{}
	d.features.Options = []string{"Search Depth -spin 5 -1 20", "Book -check 1", "Style -combo a /// *b", "Clear -button", "Log -file x", "Odd -spin 5"}
	var got []string
	for _, o := range d.announced() {
		got = append(got, fmt.Sprintf("%s %s %d %d", o.Name, o.Kind, o.Min, o.Max))
	}
	if all := strings.Join(got, ", "); all != "Search Depth spin -1 20, Book check 0 0, Style combo 0 0, Clear button 0 0, Log string 0 0, Odd string 0 0" {
		t.Error(all)
	}
}
