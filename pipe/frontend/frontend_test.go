package frontend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
	"sparring/pipe/frontend"
)

// witness is an engine that records its requests. It answers at once, with the first
// legal move or a given result.
type witness struct {
	mu     sync.Mutex
	limits []search.Limits
	games  int
	rules  []string      // of the games
	infos  []search.Info // of every search
	closed bool
	result search.Result
	err    error
}

func (w *witness) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	for _, i := range w.infos {
		if report != nil { // else the engine warms up
			report(i)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limits = append(w.limits, l)
	r := w.result
	if r.Move == game.NoMove && r.Err == nil {
		r.Move = p.Legal(nil)[0]
	}
	return answered{r}, w.err
}

// NewGame implements engine.Searcher.
func (w *witness) NewGame(o engine.GameOptions) (engine.Game, error) {
	w.games++
	w.rules = append(w.rules, o.Rules.Name)
	return witnessed{w, o}, nil
}

func (w *witness) Close() error {
	w.closed = true
	return nil
}

// witnessed is a game of a witness.
type witnessed struct {
	*witness
	options engine.GameOptions
}

func (w witnessed) Options() engine.GameOptions { return w.options }
func (witnessed) Ready() error                  { return nil }
func (witnessed) Describe() engine.Description  { return engine.Description{} }
func (witnessed) Close() error                  { return nil }

// answered is a search that has ended.
type answered struct{ result search.Result }

func (answered) PonderHit(search.Limits) {}
func (answered) Stop()                   {}
func (answered) Pause()                  {}
func (answered) Resume()                 {}
func (a answered) Wait() search.Result   { return a.result }

func (answered) Done() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// ask sends lines to a frontend with the engine and returns its output.
func ask(t *testing.T, w *witness, lines ...string) string {
	t.Helper()
	var out strings.Builder
	err := frontend.Serve(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &out,
		frontend.Options{Open: func(string, frontend.Setup) (engine.Searcher, error) { return w, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestGomocupCrowdedBoards: a full board, and more lines than a board has points, are
// answered with an error, and the engine goes on.
func TestGomocupCrowdedBoards(t *testing.T) {
	full := []string{"START 15", "BOARD"}
	for x := range 15 {
		for y := range 15 {
			side := 1 // White's, one less than Black's; no row is longer than two
			if (x+2*y)%4 < 2 {
				side = 2
			}
			full = append(full, fmt.Sprintf("%d,%d,%d", x, y, side))
		}
	}
	full = append(full, "DONE", "RESTART")
	many := append([]string{"START 15", "BOARD"}, slices.Repeat([]string{"1,1,1"}, 2000)...)
	many = append(many, "DONE", "RESTART")
	for _, tt := range []struct {
		lines  []string
		answer string
	}{{full, "ERROR game is over"}, {many, "ERROR BOARD"}} {
		out := ask(t, &witness{}, tt.lines...)
		if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], tt.answer) || lines[2] != "OK" {
			t.Errorf("%d lines: answered %.300q, want %s", len(tt.lines), out, tt.answer)
		}
	}
}

// TestGomocupBoardInAnyOrder: the stones of BOARD may come in an order in which the game
// would have ended: here five of a row of six come first, which is no win in standard rules.
func TestGomocupBoardInAnyOrder(t *testing.T) {
	lines := []string{"START 15", "INFO rule 1", "BOARD"}
	for i := range 6 {
		lines = append(lines, fmt.Sprintf("%d,2,1", 3+i), fmt.Sprintf("%d,4,2", 2+2*i))
	}
	w := &witness{}
	out := ask(t, w, append(lines, "DONE")...)
	if strings.Contains(out, "ERROR") || strings.Count(strings.TrimSpace(out), "\n") != 1 {
		t.Errorf("answered %q", out)
	}
}

// TestGomocupWarmUp: before OK the engine searches under the rule of the match, or where
// that is not known yet, under each that it may be, so that no first move makes tables.
func TestGomocupWarmUp(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  []string
	}{
		{[]string{"START 15"}, []string{"gomoku/standard-15", "gomoku/renju-15", "gomoku/freestyle-15"}},
		{[]string{"INFO rule 4", "START 19"}, []string{"gomoku/renju-19"}},
		{[]string{"INFO rule 0", "START 15", "INFO rule 1", "RESTART", "START 15"}, []string{"gomoku/freestyle-15", "gomoku/standard-15"}},
	} {
		w := &witness{}
		if out := ask(t, w, tt.lines...); !slices.Equal(w.rules, tt.want) || len(w.limits) != len(tt.want) {
			t.Errorf("%q: %d searches, in games under %q; want %q\n%s", tt.lines, len(w.limits), w.rules, tt.want, out)
		}
	}
}

// TestReadyInAnOpening: "isready" has the engine search in an opening procedure, too, whose
// first stones need no search.
func TestReadyInAnOpening(t *testing.T) {
	for _, rules := range []string{"gomoku/freestyle-15+swap2", "gomoku/renju-15+soosyrv-4"} {
		w := &witness{}
		out := ask(t, w, "uci", "setoption name Rules value "+rules, "isready", "go nodes 1")
		plain, _, _ := strings.Cut(rules, "+")
		if want := []string{plain, rules}; len(w.limits) != 1 || !slices.Equal(w.rules, want) || !said(out, "readyok", "bestmove") {
			t.Errorf("%d searches in games under %q; want one for isready, and %q\n%s", len(w.limits), w.rules, want, out)
		}
	}
}

// TestReadyUnderOtherRules: "isready" has the engine search under rules that were set after
// the last, once, and never in the course of a game.
func TestReadyUnderOtherRules(t *testing.T) {
	w := &witness{}
	ask(t, w, "uci", "setoption name UCI_Variant value gomoku", "isready", "setoption name Rules value gomoku/renju-15",
		"isready", "isready", "setoption name Rules value gomoku/freestyle-15", "isready",
		"setoption name UCI_Variant value xiangqi", "isready", "position startpos", "go nodes 1", "isready",
		// The third occurrence of the position, after which other rules count.
		"position startpos moves h3e3 h10g8 e3h3 g8h10 h3e3 h10g8 e3h3 g8h10", "isready", "go nodes 1")
	if want := []string{"gomoku/freestyle-15", "gomoku/renju-15", "xiangqi/wxf", "xiangqi/wxf"}; !slices.Equal(w.rules, want) || len(w.limits) != 5 {
		t.Errorf("%d searches in games under %q, want 5 in %q", len(w.limits), w.rules, want)
	}
}

// TestClocks: the clocks of a GUI's command reach the engine.
func TestClocks(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		lines []string
		want  search.Clock // Spec's kind, Mine, Theirs, increment or period
		togo  int
	}{
		{[]string{"position startpos", "go wtime 5000 btime 7000 winc 1000 binc 2000"}, clocks(5*second, 7*second, second), 0},
		{[]string{"position startpos moves h2e2", "go wtime 5000 btime 7000 winc 1000 binc 2000 movestogo 9"}, clocks(7*second, 5*second, 2*second), 9},
		{[]string{"position startpos", "go wtime -5 btime 7000"}, clocks(0, 7*second, 0), 0},
		// In Gomoku Black opens: wtime is Black's clock.
		{[]string{"setoption name UCI_Variant value gomoku", "position startpos", "go wtime 5000 btime 7000"}, clocks(5*second, 7*second, 0), 0},
		{[]string{"ucci", "go time 5000 increment 1000 opptime 6000 oppincrement 1000"}, clocks(5*second, 6*second, second), 0},
		{[]string{"ucci", "setoption usemillisec false", "go time 5 movestogo 4 opptime 6 oppmovestogo 4"}, clocks(5*second, 6*second, 0), 4},
		{[]string{"ucci", "setoption usemillisec false", "go time 2147483647 increment 2147483647 opptime 2147483647 movestogo 1"}, clocks(clock.Longest, clock.Longest, clock.Longest), 1},
	} {
		w := &witness{}
		ask(t, w, c.lines...)
		if len(w.limits) != 1 || w.limits[0].Clock == nil {
			t.Errorf("%q: limits %+v", c.lines, w.limits)
			continue
		}
		l := w.limits[0]
		got := *l.Clock
		if got.Mine != c.want.Mine || got.Theirs != c.want.Theirs || got.Spec.Increment != c.want.Spec.Increment || l.MovesToGo != c.togo {
			t.Errorf("%q: clock %+v, %d moves to go; want %+v, %d", c.lines, got, l.MovesToGo, c.want, c.togo)
		}
		if got.At.IsZero() || got.Overhead != frontend.DefaultOverhead || l.Hard == 0 || c.want.Mine.Left > 0 && l.Hard < second/10 {
			t.Errorf("%q: since %v, overhead %v, at most %v", c.lines, got.At, got.Overhead, l.Hard)
		}
	}
}

func clocks(mine, theirs, gain time.Duration) search.Clock {
	var c search.Clock
	c.Mine.Left, c.Theirs.Left, c.Spec.Increment = mine, theirs, gain
	return c
}

// TestLimits: the other limits reach the engine, too. Without any, the search waits
// for stop.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		line  string
		holds func(search.Limits) bool
	}{
		{"go", func(l search.Limits) bool { return l.Wait && l.Clock == nil }},
		{"go infinite", func(l search.Limits) bool { return l.Wait }},
		{"go depth 5", func(l search.Limits) bool { return !l.Wait && l.Depth == 5 && l.Hard == 0 }},
		{"go nodes 50", func(l search.Limits) bool { return !l.Wait && l.Nodes == 50 && l.Hard == 0 }},
		{"go mate 2", func(l search.Limits) bool { return !l.Wait && l.Hard == 0 && l.Mate == 2 }},
		{"go movetime 1000", func(l search.Limits) bool {
			return !l.Wait && l.Hard < time.Second && l.Soft == 0
		}},
		{"go ponder wtime 100 btime 100", func(l search.Limits) bool { return l.Wait && l.Hard == 0 }},
		{"go depth 2 searchmoves h2e2 h0g2", func(l search.Limits) bool { return len(l.Moves) == 2 }},
	} {
		w := &witness{}
		ask(t, w, "position startpos", "setoption name MultiPV value 3", c.line)
		if len(w.limits) != 1 || !c.holds(w.limits[0]) || w.limits[0].MultiPV != 3 || w.limits[0].Threads != 1 {
			t.Errorf("%q: limits %+v", c.line, w.limits)
		}
	}
}

// TestEngineIsTold: a new game, a new setup and the end reach the engine.
func TestEngineIsTold(t *testing.T) {
	w := &witness{}
	ask(t, w, "uci", "go depth 1", "ucinewgame", "setoption name Clear Hash", "go depth 1")
	if w.games != 2 || !w.closed {
		t.Errorf("told of %d new games, closed %v", w.games, w.closed)
	}
	var setups []frontend.Setup
	threads := min(2, frontend.MaxThreads())
	in := "uci\ngo depth 1\nsetoption name Hash value 5\nsetoption name Threads value " + strconv.Itoa(threads) + "\nsetoption name Skill Level value 3\ngo depth 1\n"
	err := frontend.Serve(t.Context(), strings.NewReader(in), io.Discard, frontend.Options{Levels: 10,
		Open: func(_ string, s frontend.Setup) (engine.Searcher, error) {
			setups = append(setups, s)
			return &witness{}, nil
		}})
	want := []frontend.Setup{{HashBytes: engine.DefaultHash, Threads: 1}, {HashBytes: 5 << 20, Threads: threads, Level: 3}}
	if err != nil || len(setups) != 2 || setups[0] != want[0] || setups[1] != want[1] {
		t.Errorf("opened with %+v, %v; want %+v", setups, err, want)
	}
}

// said reports whether the output has all the texts.
func said(all string, texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(all, text) })
}

// TestFault: an engine that fails has no move, and the conversation continues.
func TestFault(t *testing.T) {
	for protocol, want := range map[string]string{"uci": "bestmove (none)", "ucci": "nobestmove"} {
		w := &witness{result: search.Result{Err: &engine.Fault{Kind: engine.FaultCrash, Text: "it has ended"}}}
		if got := ask(t, w, protocol, "go depth 1", "isready"); !said(got, "it has ended", want, "readyok") {
			t.Errorf("%s: an engine that crashed: %s", protocol, got)
		}
		w = &witness{err: errors.New("no memory")}
		if got := ask(t, w, protocol, "go depth 1", "isready"); !said(got, "no memory", want, "readyok") {
			t.Errorf("%s: an engine that can't begin: %s", protocol, got)
		}
	}
	w := &witness{result: search.Result{OfferDraw: true}}
	if got := ask(t, w, "ucci", "go depth 1"); !strings.HasSuffix(got, " draw\n") {
		t.Errorf("an engine that offers a draw: %s", got)
	}
	w = &witness{result: search.Result{Resign: true}}
	if got := ask(t, w, "ucci", "go depth 1"); !strings.HasSuffix(got, " resign\n") {
		t.Errorf("an engine that resigns: %s", got)
	}
	var out strings.Builder
	err := frontend.Serve(t.Context(), strings.NewReader("uci\ngo depth 1\n"), &out, frontend.Options{
		Open: func(string, frontend.Setup) (engine.Searcher, error) { return nil, errors.New("not installed") }})
	if err != nil || !strings.Contains(out.String(), "info string error: not installed\nbestmove (none)\n") {
		t.Errorf("an engine that can't be opened: %v\n%s", err, out.String())
	}
}

// TestLineBeforeTheMove: what was searched in all, or a line of the move where none was sent,
// as for a move of the book, or one of another move, comes right before the move.
func TestLineBeforeTheMove(t *testing.T) {
	for protocol, want := range map[string][3]string{
		"uci":  {"info nodes 700 time 5", "info depth 1 multipv 1 score cp 0 nodes 700 time 5 pv h2e2", "info depth 4 multipv 1 score cp 0 nodes 700 time 5 pv h2e2"},
		"ucci": {"info time 5 nodes 700", "info depth 1 score 0 pv h2e2", "info depth 4 score 0 pv h2e2"},
	} {
		r, err := xiangqi.FindRules("xiangqi/simple")
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.New("")
		if err != nil {
			t.Fatal(err)
		}
		first, err := p.Parse("h2e2")
		if err != nil {
			t.Fatal(err)
		}
		other, err := p.Parse("b2e2")
		if err != nil {
			t.Fatal(err)
		}
		line := func(m game.Move) []search.Info {
			return []search.Info{{Depth: 4, Line: 1, Bound: search.Exact, WinProb: 0.5, Nodes: 500, PV: []game.Move{m}}}
		}
		result := search.Result{Move: first, PV: []game.Move{first}, WinProb: 0.5, Nodes: 700, Time: 5 * time.Millisecond}
		searched := result
		searched.Depth = 4
		for i, w := range []*witness{{infos: line(first), result: searched}, {result: result}, {infos: line(other), result: searched}} {
			got := ask(t, w, protocol, "position startpos", "go depth 4")
			if !strings.Contains(got, want[i]+"\nbestmove ") {
				t.Errorf("%s: want %q before the move:\n%s", protocol, want[i], got)
			}
		}
	}
}

// TestGomocupLinesSorted: the lines that YXNBEST asks for come together, best first, whichever
// the search has found first; and the last message before the move is about it.
func TestGomocupLinesSorted(t *testing.T) {
	r, err := gomoku.Game().Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New("")
	if err != nil {
		t.Fatal(err)
	}
	line := func(n, score int, text string) search.Info {
		m, err := p.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return search.Info{Depth: 3, Line: n, Score: search.Score(score), Bound: search.Exact, WinProb: 0.5 + float64(score)/1000, PV: []game.Move{m}}
	}
	infos := []search.Info{line(1, 10, "a1"), line(2, 20, "b1")}
	for _, c := range []struct {
		played search.Info
		want   []string // points of the messages, then the answer
	}{
		{infos[1], []string{"b1", "(2) a1", "1,14"}},
		{line(1, 40, "c1"), []string{"b1", "(2) a1", "c1", "2,14"}}, // of an iteration that was cut short
	} {
		w := &witness{infos: infos, result: search.Result{Move: c.played.PV[0], PV: c.played.PV, Score: c.played.Score, WinProb: c.played.WinProb, Depth: 3}}
		var got []string
		for text := range strings.Lines(ask(t, w, "INFO show_detail 1", "START 15", "YXNBEST 2")) {
			if text, ok := strings.CutPrefix(strings.TrimSpace(text), "MESSAGE "); ok {
				number, _, _ := strings.Cut(text, "depth")
				got = append(got, number+text[strings.LastIndex(text, " ")+1:])
			} else if strings.Contains(text, ",") {
				got = append(got, text)
			}
		}
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestBrokenPipes: a conversation ends with an error when either way fails, and
// without one when it is cancelled, in mid-search too.
func TestBrokenPipes(t *testing.T) {
	broken := errors.New("broken")
	failing := io.MultiReader(strings.NewReader("uci\ngo infinite\n"), iotest.ErrReader(broken))
	if err := frontend.Serve(t.Context(), failing, io.Discard, frontend.Options{}); !errors.Is(err, broken) {
		t.Errorf("reading fails: %v", err)
	}
	fromUs, toThem := io.Pipe()
	fromUs.CloseWithError(broken)
	in, stay := io.Pipe()
	defer stay.Close()
	go io.WriteString(stay, "uci\ngo infinite\n")
	if err := frontend.Serve(t.Context(), in, toThem, frontend.Options{}); !errors.Is(err, broken) {
		t.Errorf("writing fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, wake := io.Pipe()
	defer wake.Close()
	out := make(lineWriter, 1000)
	served := make(chan error, 1)
	go func() { served <- frontend.Serve(ctx, in, out, frontend.Options{}) }()
	io.WriteString(wake, "uci\ngo infinite\n")
	for l := <-out; !strings.HasPrefix(l, "info depth"); l = <-out {
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("cancelled: %v", err)
	}
}

// lineWriter passes on what is written, as long as there is room.
type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	select {
	case w <- string(b):
	default:
	}
	return len(b), nil
}

func TestOptions(t *testing.T) {
	if err := frontend.Serve(t.Context(), strings.NewReader(""), io.Discard, frontend.Options{Protocol: "usi"}); !errors.Is(err, frontend.ErrProtocol) {
		t.Errorf("an unknown protocol: %v", err)
	}
	if err := frontend.Serve(t.Context(), strings.NewReader(""), io.Discard, frontend.Options{Game: "chess"}); !errors.Is(err, game.ErrRules) {
		t.Errorf("an unknown game: %v", err)
	}
}

// TestBookOptions: a GUI can set a book, change it, and switch it off. A damaged book
// is refused; the engine then has none.
func TestBookOptions(t *testing.T) {
	torn := errors.New("book torn: damaged")
	for name, script := range map[string][]string{
		"uci": {"uci", "setoption name OwnBook value true", "position startpos", "go nodes 1", "setoption name BookFile value my.book", "go nodes 1",
			"setoption name BookFile value torn", "go nodes 1", "setoption name BookFile value my.book", "go nodes 1",
			"setoption name BookFile value <empty>", "go nodes 1", "setoption name BookFile value my.book", "go nodes 1",
			"setoption name OwnBook value false", "go nodes 1"},
		"ucci": {"ucci", "setoption usebook true", "position startpos", "go nodes 1", "setoption bookfiles my.book", "go nodes 1",
			"setoption bookfiles torn", "go nodes 1", "setoption bookfiles my.book", "go nodes 1",
			"setoption bookfiles", "go nodes 1", "setoption bookfiles my.book", "go nodes 1",
			"setoption usebook false", "go nodes 1"},
	} {
		var books []string
		var out strings.Builder
		err := frontend.Serve(t.Context(), strings.NewReader(strings.Join(script, "\n")+"\n"), &out, frontend.Options{
			Book: func(name string) error {
				if name != "shipped" && name != "my.book" {
					return torn
				}
				return nil
			},
			Open: func(_ string, s frontend.Setup) (engine.Searcher, error) {
				books = append(books, s.Book)
				return &witness{}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"shipped", "my.book", "", "my.book", "", "my.book", ""}; !slices.Equal(books, want) {
			t.Errorf("%s: books %q, want %q\n%s", name, books, want, &out)
		}
		if strings.Count(out.String(), torn.Error()) != 1 || strings.Count(out.String(), "bestmove") != 7 {
			t.Errorf("%s: want one complaint and seven moves:\n%s", name, &out)
		}
	}
}
