package external

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// What a program of speakXBoard does at its second move.
const (
	thinksOn = "thinks-on" // claims a draw, and then moves
	stops    = "stops"     // claims a draw, and plays no more in what it takes for this game
	insists  = "insists"   // claims a draw as long as it knows of a move before
	silent   = "silent"    // claims a draw, and plays no more
	repeats  = "repeats"   // claims a draw whenever it is asked to move
	late     = "late"      // moves, claims a draw, and plays no more in this game
	resigns  = "resigns"   // claims its loss, because it resigns
	offers   = "offers"    // offers a draw with its move
)

// speakXBoard is an engine that plays the first legal moves of one game, and exits
// when it has to play another. Its arguments are its features, and what it does at its
// second move, as "does=late".
func speakXBoard() int {
	pos, err := catalog.Setup("xiangqi", "", "")
	if err != nil {
		return 2
	}
	does := ""
	if i := slices.IndexFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "does=") }); i >= 0 {
		does = strings.TrimPrefix(os.Args[i], "does=")
	}
	// The notation of positions is xboard's.
	ours := strings.NewReplacer("h", "n", "e", "b", "H", "N", "E", "B", " w ", " w - - ", " b ", " b - - ")
	games, forced, over, moves := 0, false, false, 0
	claim := func() { fmt.Println("1/2-1/2 {Draw by repetition}") }
	play := func(text string) bool {
		_, err := game.PlayText(pos, text)
		return err == nil
	}
	answer := func() bool {
		if forced || over {
			return true
		}
		if moves++; moves > 1 {
			switch _, before := game.History(pos); {
			case moves == 2 && does == thinksOn:
				claim()
			case moves == 2 && does == stops, moves == 2 && does == silent, does == insists && len(before) > 0, does == repeats:
				claim()
				over = true
				return true
			case moves == 2 && does == late:
				defer func() { claim(); over = true }()
			case moves == 2 && does == resigns:
				fmt.Println("0-1 {White resigns}")
				return true
			case moves == 2 && does == offers:
				fmt.Println("offer draw")
			}
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
			over = over && does == silent
		case "setboard":
			pos, err = catalog.Setup("xiangqi", "", ours.Replace(rest))
			ok = err == nil
		case "force":
			forced = true
		case "go":
			forced = false
			ok = answer()
		case "usermove":
			ok = over || play(rest) && answer()
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

// TestXBoardClaims: a program that claims a result in a game that goes on by the rules is
// asked for its move again. Only if it still plays none, that is a fault, whose text names
// the claim.
func TestXBoardClaims(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const claim = "1/2-1/2 {Draw by repetition}"
	for _, test := range []struct {
		does, more string // another feature
		offers     bool   // a draw, with its second move
		incident   bool   // is told of the claim
		resigns    bool
		kind       engine.FaultKind
	}{
		{does: thinksOn, offers: true, incident: true},
		{does: stops, offers: true, incident: true},
		{does: insists, more: "setboard=1", offers: true, incident: true},
		{does: insists, kind: engine.FaultIllegal},
		{does: repeats, more: "setboard=1", kind: engine.FaultIllegal},
		{does: silent, kind: engine.FaultHang},
		{does: late},
		{does: resigns, resigns: true},
		{does: offers, offers: true},
	} {
		t.Run(strings.TrimSpace(test.does+" "+test.more), func(t *testing.T) {
			e := open(t, Spec{Dialect: XBoard, Path: self, Args: []string{"xboard", "reuse=1", "does=" + test.does, test.more}}, "xiangqi")
			if e.times = patient; test.kind == engine.FaultHang {
				e.times.grace, e.times.think = time.Second, 100*time.Millisecond
			}
			g, p := play(t, e), newGame(t, "xiangqi/wxf")
			for n := range 4 {
				r := find(t, g, p, search.Limits{})
				fault, failed := errors.AsType[*engine.Fault](r.Err)
				switch {
				case n == 1 && test.kind != "":
					if !failed || fault.Kind != test.kind || !strings.Contains(fault.Text, claim) || !strings.Contains(fault.Text, "in a game that went on by the rules") {
						t.Errorf("error %v, want a fault (%s) that names the claim", r.Err, test.kind)
					}
					return
				case r.Err != nil:
					t.Fatalf("move %d: %v", n+1, r.Err)
				case n == 1 && test.resigns:
					if !r.Resign {
						t.Errorf("it does not resign: %+v", r)
					}
					return
				}
				if n == 1 && (r.OfferDraw != test.offers || strings.Contains(strings.Join(r.Incidents, "\n"), claim) != test.incident) {
					t.Errorf("offers a draw %v, want %v; incidents %q", r.OfferDraw, test.offers, r.Incidents)
				}
				for _, m := range []game.Move{r.Move, game.NoMove} {
					if m == game.NoMove {
						m = p.Legal(nil)[0]
					}
					if err := p.Play(m); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
