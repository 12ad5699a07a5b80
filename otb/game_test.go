package otb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// begin is when the games of these tests begin.
var begin = time.Date(2026, 7, 11, 1, 30, 0, 0, time.UTC)

// at is a second of a game.
func at(second float64) time.Time {
	return begin.Add(time.Duration(second * float64(time.Second)))
}

func terms(rules, clockText string, us game.Seat) Terms {
	spec, err := clock.Parse(clockText)
	if err != nil {
		panic(err)
	}
	t := Terms{V: FileVersion, ID: "table-1", Rules: rules, Clock: spec, Us: us, Names: [2]string{"alpha", "beta"}, Engine: "self:level=1", HandMS: 3000}
	return t
}

// entered applies entries that are written as "SECOND KIND ARGUMENT".
func entered(t *testing.T, g *Game, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if err := g.Apply(entry(t, line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
}

func entry(t *testing.T, line string) Entry {
	t.Helper()
	var second float64
	words := strings.Fields(line)
	if _, err := fmt.Sscan(words[0], &second); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	e := Entry{At: at(second), Kind: Kind(words[1])}
	rest := words[2:]
	switch e.Kind {
	case Move, Decision:
		e.Move = rest[0]
		if e.Kind == Move && len(rest) > 1 {
			e.By = By(rest[1])
		}
	case SetClock, Offer:
		e.Seat = map[string]game.Seat{"first": game.First, "second": game.Second}[rest[0]]
		if e.Kind == SetClock {
			var seconds float64
			fmt.Sscan(rest[1], &seconds)
			e.LeftMS = int64(1000 * seconds)
		}
	case End:
		if err := e.Result.UnmarshalText([]byte(rest[0])); err != nil {
			t.Fatal(err)
		}
		e.Reason = game.Reason(rest[1])
	case Resume:
		var second float64
		fmt.Sscan(rest[0], &second)
		e.From = at(second)
	case Note:
		e.Text = strings.Join(rest, " ")
	}
	return e
}

// TestClocks: both clocks follow from the entries, also where moves were taken back,
// clocks corrected or stopped, and the program was away.
func TestClocks(t *testing.T) {
	for _, c := range []struct {
		name, clock string
		entries     []string
		now         float64
		want        string // seconds left of first and second, whose turn
	}{
		{"before the start", "600", nil, 50, "600 600 first stands"},
		{"the first clock runs", "600", []string{"0 start"}, 10, "590 600 first"},
		{"then the second", "600", []string{"0 start", "10 move h2e2"}, 30, "590 580 second"},
		{"increment", "600+5", []string{"0 start", "10 move h2e2", "30 move h9g7"}, 31, "594 585 first"},
		{"a period is kept if it is not used up", "10/2x30", []string{"0 start", "35 move h2e2"}, 35, "60 70 second"},
		{"a period that was used up", "10/2x30", []string{"0 start", "45 move h2e2"}, 45, "30 70 second"},
		{"time for each move", "30/move", []string{"0 start", "20 move h2e2"}, 30, "30 20 second"},
		{"no clock", "unlimited", []string{"0 start", "20 move h2e2"}, 30, "0 0 second"},
		{"a fallen flag", "600", []string{"0 start"}, 601, "-1 600 first flag"},
		{"a flag that fell in a move", "60", []string{"0 start", "70 move h2e2"}, 80, "0 50 second flag"},
		{"a correction of the clock that runs", "600", []string{"0 start", "10 clock first 500"}, 20, "490 600 first"},
		{"of the other clock", "600", []string{"0 start", "10 clock second 500"}, 20, "580 500 first"},
		{"a correction raises a fallen flag", "60", []string{"0 start", "70 clock first 5"}, 71, "4 60 first"},
		{"stopped clocks", "600", []string{"0 start", "10 stop"}, 100, "590 600 first stands"},
		{"and running again", "600", []string{"0 start", "10 stop", "100 go"}, 110, "580 600 first"},

		// The opponent has moved at 40, whatever was typed, so his clock stood since.
		{"a typing error", "600", []string{"0 start", "10 move h2e2", "40 move h9g7", "55 undo"}, 60, "570 570 first"},
		{"corrected", "600", []string{"0 start", "10 move h2e2", "40 move h9g7", "55 undo", "70 move b9c7"}, 80, "550 570 first"},
		{"after our answer", "600", []string{"0 start", "10 move h2e2", "40 move h9g7", "50 move h0g2", "70 undo", "71 undo", "72 move b9c7", "73 move h0g2"}, 80, "580 540 second"},
		{"no move was made", "600", []string{"0 start", "10 move h2e2", "40 move h9g7", "55 undo", "58 unplayed"}, 60, "590 550 second"},
		{"the clocks stood during the correction", "600", []string{"0 start", "10 move h2e2", "40 move h9g7", "45 stop", "55 undo", "60 move b9c7", "65 go"}, 70, "580 570 first"},

		{"away", "600", []string{"0 start", "10 move h2e2", "70 resume 20"}, 80, "590 530 second"},
		{"away and confirmed", "600", []string{"0 start", "10 move h2e2", "70 resume 20", "75 confirm"}, 80, "590 530 second"},
		{"away while the clocks stood", "600", []string{"0 start", "10 move h2e2", "70 resume 20", "75 stood"}, 80, "590 580 second"},
		{"away twice while the clocks stood", "600", []string{"0 start", "10 move h2e2", "70 resume 20", "90 resume 80", "95 stood"}, 100, "590 570 second"},
		{"away while the operator had stopped them", "600", []string{"0 start", "10 stop", "70 resume 20", "75 stood", "80 go"}, 90, "580 600 first"},
		{"stopped before it was said that they had stood", "600", []string{"0 start", "70 resume 20", "72 stop", "75 stood", "80 go"}, 90, "568 600 first"},
		{"stopped and gone on before it was said", "600", []string{"0 start", "70 resume 20", "72 stop", "74 go", "75 stood"}, 90, "562 600 first"},
		{"the end stops the clocks", "600", []string{"0 start", "10 move h2e2", "30 end first resign"}, 100, "590 580 second stands"},
		{"opened again, they had gone on", "600", []string{"0 start", "10 move h2e2", "30 end first resign", "50 reopen"}, 60, "590 550 second"},
		{"the wall's clock set back", "600", []string{"0 start", "10 move h2e2", "5 move h9g7"}, 20, "580 600 first"},
	} {
		g, err := New(terms("xiangqi/wxf", c.clock, game.First))
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, c.entries...)
		clocks := g.Clocks(at(c.now))
		var got []string
		for seat := range clocks.Seats {
			left, _ := clocks.Left(g.Terms.Clock, game.Seat(seat))
			got = append(got, fmt.Sprint(left.Seconds()))
		}
		got = append(got, clocks.Turn.String())
		if !clocks.Running {
			got = append(got, "stands")
		}
		if clocks.Fallen != [2]bool{} {
			got = append(got, "flag")
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestOneTurn: the stones that a seat puts in a row are one turn of its clock.
func TestOneTurn(t *testing.T) {
	g, err := New(terms("gomoku/renju-15+ccgc-2", "600+5", game.First))
	if err != nil {
		t.Fatal(err)
	}
	entered(t, g, "0 start", "10 move h8", "20 move h9")
	if c := g.Clocks(at(20)); c.Turn != game.First || c.Seats[game.First].Left != 580*time.Second {
		t.Errorf("after two stones: %+v", c)
	}
	entered(t, g, "30 move h10")
	if c := g.Clocks(at(30)); c.Turn != game.Second || c.Seats[game.First].Left != 575*time.Second {
		t.Errorf("after the third: %+v", c)
	}
}

// TestPhases: each entry leads to the phase in which the operator is asked for the
// right thing.
func TestPhases(t *testing.T) {
	for _, c := range []struct {
		name    string
		us      game.Seat
		entries []string
		want    Phase
	}{
		{"new", game.First, nil, Setup},
		{"started", game.First, []string{"0 start"}, Thinking},
		{"started, the opponent first", game.Second, []string{"0 start"}, Theirs},
		{"decided", game.First, []string{"0 start", "1 decision h2e2"}, Announced},
		{"made", game.First, []string{"0 start", "1 decision h2e2", "3 move h2e2 engine"}, Theirs},
		{"another one made", game.First, []string{"0 start", "1 decision h2e2", "3 move h2d2 operator"}, Theirs},
		{"answered", game.First, []string{"0 start", "1 move h2e2", "3 move h9g7"}, Thinking},
		{"taken back", game.First, []string{"0 start", "1 move h2e2", "3 move h9g7", "4 undo"}, Fixing},
		{"taken back while announced", game.First, []string{"0 start", "1 move h2e2", "3 move h9g7", "4 decision h0g2", "5 undo"}, Fixing},
		{"made again", game.First, []string{"0 start", "1 move h2e2", "3 move h9g7", "4 undo", "5 move h9g7"}, Thinking},
		{"not played", game.First, []string{"0 start", "1 move h2e2", "3 move h9g7", "4 undo", "5 unplayed"}, Theirs},
		{"our move was not made yet", game.First, []string{"0 start", "1 decision h2e2", "2 move h2e2 engine", "3 undo", "4 unplayed"}, Announced},
		{"resigned", game.First, []string{"0 start", "1 end second resign"}, Ended},
		{"opened again", game.First, []string{"0 start", "1 end second resign", "2 reopen"}, Thinking},
		{"resumed", game.First, []string{"0 start", "9 resume 3"}, Thinking},
	} {
		g, err := New(terms("xiangqi/wxf", "600", c.us))
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, c.entries...)
		if g.Phase() != c.want {
			t.Errorf("%s: %s, want %s", c.name, g.Phase(), c.want)
		}
	}
}

// TestRuleEnd: the rules' end waits for the arbiter, who may have the game go on, and a
// typing error there can be taken back.
func TestRuleEnd(t *testing.T) {
	start := func() *Game {
		g, err := New(terms("xiangqi/wxf", "600", game.First))
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, "0 start")
		return g
	}
	repeat := []string{"1 move h0g2", "2 move h9g7", "3 move g2h0", "4 move g7h9", "5 move h0g2", "6 move h9g7", "7 move g2h0", "8 move g7h9"}
	g := start()
	for _, line := range repeat {
		if err := g.Apply(entry(t, line)); err != nil {
			break // the end has come
		}
	}
	if g.Phase() != RuleEnd || g.Outcome().Reason != game.Repetition {
		t.Fatalf("phase %s, %+v", g.Phase(), g.Outcome())
	}
	if len(g.Repeated()) < 2 || !strings.Contains(g.Occurrences(), "3rd time") {
		t.Errorf("%v, %s", g.Repeated(), g.Occurrences())
	}
	n := len(g.Plies)
	back := g.clone()
	entered(t, back, "20 undo")
	if back.Phase() != Fixing || len(back.Plies) != n-1 {
		t.Errorf("after undo: %s", back.Phase())
	}
	var on *Game
	for _, entries := range [][]string{
		{"50 play-on"},
		{"10 stop", "20 go", "50 play-on"},
		{"10 stop", "49 play-on", "50 go"},
		{"40 resume 20", "45 stood", "50 play-on"},
		{"40 resume 20", "50 play-on", "50 stood"},
	} {
		on = g.clone()
		entered(t, on, append(entries, "55 move b2c2")...)
		if on.Phase() != Theirs && on.Phase() != Thinking {
			t.Errorf("%v: %s", entries, on.Phase())
		}
		if c := on.Clocks(at(55)); c.Seats[game.First].Left != 600*time.Second-4*time.Second-5*time.Second {
			t.Errorf("%v: the clocks ran while the arbiter decided: %+v", entries, c)
		}
	}
	entered(t, on, "60 undo", "61 undo")
	if r := on.Record(); len(r.Plies) != n-1 {
		t.Errorf("%d plies", len(r.Plies))
	}
	entered(t, g, "30 end draw repetition")
	if !g.End.ByRule || !g.End.At.Equal(at(8)) {
		t.Errorf("%+v", g.End)
	}
}

// TestRefusedEntries: an entry that is not possible changes nothing.
func TestRefusedEntries(t *testing.T) {
	started := []string{"0 start"}
	for _, c := range []struct {
		before []string
		entry  string
		want   error
	}{
		{nil, "1 move h2e2", ErrNow},
		{nil, "1 undo", ErrNow},
		{started, "1 start", ErrNow},
		{started, "1 undo", ErrNow},
		{started, "1 unplayed", ErrNow},
		{started, "1 move h2h8", game.ErrIllegal},
		{started, "1 move xyz", game.ErrSyntax},
		{started, "1 decision h2h8", game.ErrIllegal},
		{[]string{"0 start", "1 move h2e2"}, "2 decision h9g7", ErrNow},
		{started, "1 decline", ErrNow},
		{started, "1 go", ErrNow},
		{[]string{"0 start", "1 stop"}, "2 stop", ErrNow},
		{[]string{"0 start", "1 offer first"}, "2 offer second", ErrNow},
		{started, "1 play-on", ErrNow},
		{started, "1 reopen", ErrNow},
		{started, "1 confirm", ErrNow},
		{started, "1 stood", ErrNow},
		{[]string{"0 start", "1 end draw agreement"}, "2 move h2e2", ErrNow},
		{[]string{"0 start", "1 end draw agreement"}, "2 end first resign", ErrNow},
	} {
		g, err := New(terms("xiangqi/wxf", "600", game.First))
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, c.before...)
		before := g.clone()
		if err := g.Apply(entry(t, c.entry)); !errors.Is(err, c.want) {
			t.Errorf("%v, %s: %v, want %v", c.before, c.entry, err, c.want)
		}
		if !reflect.DeepEqual(g, before) {
			t.Errorf("%v, %s: the game has changed", c.before, c.entry)
		}
	}
}

// TestDrawOffers: an offer ends with the answer, or with the other side's move.
func TestDrawOffers(t *testing.T) {
	for _, c := range []struct {
		entries []string
		open    bool
	}{
		{[]string{"0 start", "1 offer second"}, true},
		{[]string{"0 start", "1 offer second", "2 decline"}, false},
		{[]string{"0 start", "1 offer second", "2 move h2e2"}, false},
		{[]string{"0 start", "1 move h2e2", "2 offer first"}, true},
		{[]string{"0 start", "1 offer first", "2 move h2e2"}, true},
		{[]string{"0 start", "1 offer first", "2 move h2e2", "3 move h9g7"}, false},
	} {
		g, err := New(terms("xiangqi/wxf", "600", game.First))
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, c.entries...)
		if open := g.Offer != nil; open != c.open {
			t.Errorf("%v: open %v", c.entries, open)
		}
	}
}

// TestRecord: the record has moves, clocks, notes and the end.
func TestRecord(t *testing.T) {
	tt := terms("xiangqi/wxf", "600", game.First)
	tt.Event, tt.Place = "2026 CCGC", "沈阳"
	g, err := New(tt)
	if err != nil {
		t.Fatal(err)
	}
	entered(t, g, "0 start", "10 move h2e2 engine", "40 move h9g7", "50 note penalty for beta: two hands", "60 move h0g2 operator", "61 undo", "62 move b0c2 operator")
	e := entry(t, "90 end first resign")
	e.Reason = protocol.ReasonResign
	if err := g.Apply(e); err != nil {
		t.Fatal(err)
	}
	r := g.Record()
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range r.Plies {
		got = append(got, fmt.Sprintf("%s %s %d %d %s", p.Seat, p.Move, p.UsedMS, p.LeftMS, p.Comment))
	}
	want := []string{"first h2e2 10000 590000 ", "second h9g7 30000 570000 penalty for beta: two hands", "first b0c2 20000 570000 "}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("plies %q", got)
	}
	if r.Result != game.FirstWins || r.Reason != "resign" || !r.Start.Equal(begin) || !r.End.Equal(at(90)) || r.Event != "2026 CCGC" || r.Place != "沈阳" ||
		r.Plies[2].Think.Source != record.FromPerson || r.Seats[0].Kind != record.Bot {
		t.Errorf("%+v", r)
	}
}

// TestJournalOfEntries: the same entries make the same game again.
func TestJournalOfEntries(t *testing.T) {
	lines := []string{"0 start", "10 move h2e2 engine", "40 move h9g7", "45 stop", "50 go", "55 undo", "60 move b9c7", "61 clock second 400", "62 offer second", "63 note a note", "70 resume 64", "71 stood", "80 decision h0g2"}
	g, err := New(terms("xiangqi/wxf", "600", game.First))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(g.Terms)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	for _, line := range lines {
		e := entry(t, line)
		if err := g.Apply(e); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		data = append(append(data, text...), '\n')
	}
	path := filepath.Join(t.TempDir(), "game.jsonl")
	load := func(data []byte) (*Game, error) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return Load(path)
	}
	again, err := load(append(data, `{"at":"2026-`...))
	if err != nil {
		t.Fatal(err)
	}
	if again.Clocks(at(100)) != g.Clocks(at(100)) || keyOf(again, nil) != keyOf(g, nil) || again.Phase() != Announced || again.Choice.Move != "h0g2" {
		t.Errorf("%+v", again)
	}
	for text, want := range map[string]string{
		"":                   "no game in it",
		"{}\n":               "line 1: not the journal of a game at a table",
		`{"match":1}` + "\n": "line 1: not the journal of a game at a table",
		string(data) + "x\n": fmt.Sprintf("line %d: invalid character", len(lines)+2),
		prefix + strings.Repeat("1", record.MaxLine) + "}\n": "line 1: more than ",
	} {
		if _, err := load([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "journal: "+path+": "+want) {
			t.Errorf("%.40q: %.300v, want %s", text, err, want)
		}
	}
}

// TestHand: an operator who is slower than the terms say gets more time from then on.
func TestHand(t *testing.T) {
	for _, c := range []struct {
		terms int64
		takes float64 // seconds
		want  time.Duration
	}{
		{3000, 2, 3 * time.Second},
		{3000, 8, 8 * time.Second},
		{3000, 100, maxHand},
		{0, 8, 0},
	} {
		tt := terms("gomoku/freestyle-15", "6000", game.First)
		tt.HandMS = c.terms
		g, err := New(tt)
		if err != nil {
			t.Fatal(err)
		}
		entered(t, g, "0 start")
		second := 0.0
		for i := range handSample {
			if g.hand() != g.Terms.hand() {
				t.Errorf("%+v: %v after %d moves", c, g.hand(), i)
			}
			ours, theirs := fmt.Sprintf("%c1", 'a'+2*i), fmt.Sprintf("%c15", 'a'+2*i)
			entered(t, g, fmt.Sprintf("%g decision %s", second+1, ours), fmt.Sprintf("%g move %s engine", second+1+c.takes, ours),
				fmt.Sprintf("%g move %s", second+3+c.takes, theirs))
			second += 3 + c.takes
		}
		if g.hand() != c.want {
			t.Errorf("%+v: %v", c, g.hand())
		}
	}
}

// TestBeyondMaxPlies: the event's limit of plies stops the clocks until the arbiter has
// the game go on, which then goes on to its end; what is taken back is limited again.
func TestBeyondMaxPlies(t *testing.T) {
	of := terms("xiangqi/wxf", "600", game.First)
	of.MaxPlies = 2
	g, err := New(of)
	if err != nil {
		t.Fatal(err)
	}
	entered(t, g, "0 start", "1 move h2e2 engine", "3 move h9g7")
	if c := g.Clocks(at(20)); g.Phase() != RuleEnd || g.Outcome().Reason != MaxPliesReason || c.Running || c.Used != 0 {
		t.Errorf("at the limit: %s, %v, %+v", g.Phase(), g.Outcome(), c)
	}
	entered(t, g, "30 play-on", "34 move h0g2 engine")
	if c := g.Clocks(at(35)); g.Phase() != Theirs || !c.Running || c.Seats[game.First].Left != 595*time.Second {
		t.Errorf("beyond it: %s, %+v", g.Phase(), c)
	}
	entered(t, g, "40 move i9h9", "41 undo", "41 unplayed", "41 undo", "41 unplayed", "41 undo", "41 unplayed", "42 move b9c7")
	if g.Phase() != RuleEnd {
		t.Errorf("another second move: %s", g.Phase())
	}
}
