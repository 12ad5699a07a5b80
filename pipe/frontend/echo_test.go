package frontend_test

import (
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/pipe/frontend"
	"sparring/pipe/uci"
)

// echoOptions are those of a conversation with all options.
func echoOptions() frontend.Options {
	return frontend.Options{
		Seed: 1, Version: "test", Levels: 10, Book: func(string) error { return nil },
		Setup: frontend.Setup{HashBytes: 3 << 19}, // not a whole number of MiB
		Nodes: 200,
	}
}

// volatile matches what differs between two runs of a conversation.
var volatile = regexp.MustCompile(` (?:time|nps) \d+`)

// converse sends lines, each after the answer to the one before, and returns what came from
// the given one on.
func converse(t *testing.T, o frontend.Options, from int, lines ...string) string {
	t.Helper()
	c := &conversation{t: t, where: strings.Join(lines, "; "), asIs: true, options: o}
	for i, line := range lines {
		if i == from {
			c.heard = nil
		}
		c.send(line)
		for end := endOf(line); end != ""; {
			if strings.HasPrefix(c.next(), end) {
				break
			}
		}
	}
	heard := volatile.ReplaceAllString(strings.Join(c.heard, "\n"), "")
	c.finish()
	return heard
}

// endOf returns how the last line of a command's answer begins; "" if it has none.
func endOf(command string) string {
	switch verb, _, _ := strings.Cut(command, " "); verb {
	case "uci":
		return "uciok"
	case "ucci":
		return "ucciok"
	case "isready":
		return "readyok"
	case "go":
		return "bestmove"
	case "d":
		return "Outcome"
	}
	return ""
}

// echoes returns the lines that set every option of a protocol to its announced default.
func echoes(t *testing.T, protocol string, o frontend.Options) (lines []string) {
	t.Helper()
	for line := range strings.Lines(converse(t, o, 0, protocol)) {
		option, err := parseOption(protocol, strings.TrimSpace(line))
		switch {
		case err != nil:
			t.Fatalf("%q: %v", line, err)
		case option.Name == "" || option.Kind == uci.Button:
		case protocol == "ucci":
			lines = append(lines, "setoption "+option.Name+" "+option.Default)
		default:
			lines = append(lines, uci.SetOption{Name: option.Name, Value: option.Default}.String())
		}
	}
	if len(lines) < 10 {
		t.Fatalf("%s announces only %q", protocol, lines)
	}
	return lines
}

// parseOption reads an announced option; it has no name if the line announces none. Those
// of UCCI have the form of UCI without the word "name".
func parseOption(protocol, line string) (uci.Option, error) {
	if text, ok := strings.CutPrefix(line, "option "); ok && protocol == "ucci" {
		line = "option name " + text
	}
	reply, err := uci.ParseReply(line)
	option, _ := reply.(uci.Option)
	return option, err
}

// TestEchoedDefaults: a GUI that sets options to their announced defaults, each or all of
// them, changes nothing: neither before a game, nor between its position and the search.
func TestEchoedDefaults(t *testing.T) {
	t.Parallel()
	red := []string{"position startpos", "go nodes 200"}
	ucci := []string{"position startpos", "banmoves h2e2 b2e2", "go nodes 200"}
	for _, c := range []struct {
		protocol, game, rules string
		lines                 []string
	}{
		{"uci", "", "", red},
		{"uci", "xiangqi", "", []string{"position startpos moves h3e3 h10g8", "go nodes 200", "d"}}, // ranks from 1
		{"uci", "xiangqi", "", []string{"setoption name Xiangqi Ranks value 1-10", "position startpos", "go nodes 200"}},
		{"uci", "xiangqi", "xiangqi/cxa", append(red, "d")},
		{"uci", "gomoku", "", append(red, "d")},
		{"uci", "gomoku", "gomoku/renju-15", append(red, "d")},
		{"uci", "gomoku", "gomoku/freestyle-16", append(red, "d")}, // not among the advertised
		{"uci", "amazons", "", append(red, "d")},
		{"ucci", "", "", ucci},
		{"ucci", "xiangqi", "xiangqi/cxa", ucci},
		{"ucci", "xiangqi", "xiangqi/wxf+limit=none", ucci},
	} {
		o := echoOptions()
		o.Game, o.Rules = c.game, c.rules
		all := echoes(t, c.protocol, o)
		tries := [][]string{all}
		if c.game == "" { // each of them, where two could cancel each other out
			for _, one := range all {
				tries = append(tries, []string{one})
			}
		}
		for at := 1; at < len(c.lines); at++ {
			lines := slices.Insert(slices.Clone(c.lines), 0, c.protocol)
			want := converse(t, o, at, lines...)
			for _, echo := range tries {
				if slices.ContainsFunc(echo, func(line string) bool { return undoes(line, lines[:at]) }) {
					continue
				}
				got := converse(t, o, at, slices.Insert(slices.Clone(lines), at, echo...)...)
				if got != want {
					t.Errorf("%s %s %s: %q before %q gives\n%s\nwithout it\n%s",
						c.protocol, c.game, c.rules, echo, lines[at], got, want)
				}
			}
		}
	}
}

// undoes reports whether an echo sets an option back that one of the lines has set.
func undoes(echo string, lines []string) bool {
	name, _, _ := strings.Cut(echo, " value ")
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+" value ") })
}

// TestGomocupNeutralInfo: a manager may send every limit with the value that stands for none,
// and the other settings with their usual values. Nothing is announced in this protocol.
func TestGomocupNeutralInfo(t *testing.T) {
	t.Parallel()
	o := echoOptions()
	o.Setup.Threads = min(2, frontend.MaxThreads())
	play := func(info ...string) (opened []frontend.Setup, limits []search.Limits) {
		w := &witness{}
		o.Open = func(_ string, s frontend.Setup) (engine.Searcher, error) {
			opened = append(opened, s)
			return w, nil
		}
		in := strings.Join(slices.Concat([]string{"START 15"}, info, []string{"BEGIN"}), "\n") + "\n"
		if err := frontend.Serve(t.Context(), strings.NewReader(in), io.Discard, o); err != nil {
			t.Fatal(err)
		}
		for i := range w.limits {
			w.limits[i].From = time.Time{}
		}
		return opened, w.limits
	}
	setups, limits := play()
	all := []string{"INFO rule 0", "INFO timeout_match 0", "INFO time_left 2147483647", "INFO time_increment 0",
		"INFO max_memory 0", "INFO hash_size 0", "INFO thread_num 0", "INFO max_depth 0", "INFO max_node 0",
		"INFO show_detail 0", "INFO game_type 1"}
	tries := [][]string{all}
	for _, one := range all {
		tries = append(tries, []string{one})
	}
	for _, info := range tries {
		if s, l := play(info...); !reflect.DeepEqual(s, setups) || !reflect.DeepEqual(l, limits) {
			t.Errorf("%q: engines %+v, searches %+v; without it %+v, %+v", info, s, l, setups, limits)
		}
	}
}

// TestEchoingGUI: a GUI that knows only ranks from 0, and sends back what an earlier version
// announced, where naming Xiangqi was the default, reads moves with ranks from 0.
func TestEchoingGUI(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/field/tchess-dialogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, err := catalog.Setup("xiangqi", "", "")
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{t: t, where: "echoing GUI", asIs: true, options: echoOptions()}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if c.send(line); !strings.HasPrefix(line, "go") {
			continue
		}
		_, text := c.untilMove()
		move, err := p.Parse(text)
		if err != nil {
			t.Fatalf("with ranks from 0, %s: %v", text, err)
		}
		if err := p.Play(move); err != nil {
			t.Fatal(err)
		}
		if p, err = catalog.Setup("xiangqi", "", ""); err == nil {
			move, err = p.Parse("h2e2") // of the dialogue's second position
		}
		if err == nil {
			err = p.Play(move)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.finish()
}

// TestNamedGame: a GUI that names Xiangqi by UCI_Variant reads and writes ranks from 1, as
// Fairy-Stockfish does, also after it has sent all defaults back.
func TestNamedGame(t *testing.T) {
	t.Parallel()
	o := echoOptions()
	name := "setoption name UCI_Variant value xiangqi"
	fromOne := converse(t, o, 1, "uci", "setoption name Xiangqi Ranks value 1-10", "position startpos", "go nodes 200")
	all := append([]string{"uci"}, echoes(t, "uci", o)...)
	for _, before := range [][]string{{"uci"}, {"uci", "isready", "ucinewgame"}, all} {
		lines := append(slices.Clone(before), name, "position startpos", "go nodes 200")
		if got := converse(t, o, len(before), lines...); got != fromOne {
			t.Errorf("%q:\n%s\nwant ranks from 1:\n%s", lines, got, fromOne)
		}
	}
	fromZero := converse(t, o, 1, "uci", "position startpos", "go nodes 200")
	back := []string{"uci", name, "setoption name UCI_Variant value auto", "position startpos", "go nodes 200"}
	if got := converse(t, o, 1, back...); got != fromZero {
		t.Errorf("%q:\n%s\nwant ranks from 0:\n%s", back, got, fromZero)
	}
}
