package book_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// played returns a game from the usual start.
func played(id, rules, result, moves string) book.Game {
	g := book.Game{ID: id, Rules: rules, Moves: strings.Fields(moves)}
	if err := g.Result.UnmarshalText([]byte(result)); err != nil {
		panic(err)
	}
	return g
}

// setUp returns the position after some moves.
func setUp(t *testing.T, rules, moves string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, "", strings.Fields(moves))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newBuilder(t *testing.T, rules string, games ...book.Game) *book.Builder {
	t.Helper()
	b, err := book.NewBuilder(rules, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range games {
		if err := b.Count(g); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// look returns the book's moves as text, "move wins draws losses" each.
func look(b *book.Book, p game.Position) string {
	var s []string
	for _, c := range b.Look(p, book.Options{MinGames: 1}) {
		s = append(s, fmt.Sprintf("%s %d %d %d", p.Format(c.Moves[0]), c.Wins, c.Draws, c.Losses))
	}
	return strings.Join(s, ", ")
}

// five are games of Xiangqi, one of them the mirror image of another.
var five = []book.Game{
	played("a", "xiangqi/wxf", "first", "h2e2 h9g7 h0g2"),
	played("b", "xiangqi/wxf", "second", "b2e2 b9c7 b0c2"), // a's image
	played("c", "xiangqi/cxa", "draw", "h2e2 h9g7 b0c2"),
	played("d", "xiangqi/simple", "first", "h2e2 b9c7"),
	played("e", "xiangqi/wxf+limit=100", "first", "g3g4 h9g7"),
}

func TestCounts(t *testing.T) {
	b := newBuilder(t, "xiangqi", five...).Book(1)
	for _, tt := range []struct{ moves, want string }{
		{"", "b2e2 2 1 1, c3c4 1 0 0"},
		{"h2e2", "b9c7 0 0 1, h9g7 1 1 1"},
		{"b2e2", "h9g7 0 0 1, b9c7 1 1 1"},
		{"h2e2 h9g7", "h0g2 1 0 1, b0c2 0 1 0"},
		{"b2e2 b9c7", "b0c2 1 0 1, h0g2 0 1 0"},
		{"g3g4", "h9g7 0 0 1"},
		{"c3c4", "b9c7 0 0 1"},
		{"h2e2 h9g7 h0g2", ""},
		{"a0a1", ""},
	} {
		got := strings.Split(look(b, setUp(t, "xiangqi/wxf", tt.moves)), ", ")
		want := strings.Split(tt.want, ", ")
		if len(got) != len(want) || !sameSet(got, want) {
			t.Errorf("after %q: %v, want %v", tt.moves, got, want)
		}
	}
	positions, moves := b.Size()
	if positions != 4 || moves != 7 || b.Games() != 5 || b.Family() != "xiangqi" {
		t.Errorf("%d positions, %d moves, %d games, for %s", positions, moves, b.Games(), b.Family())
	}
	if got := look(newBuilder(t, "xiangqi", five...).Book(2), setUp(t, "xiangqi/wxf", "")); got != "b2e2 2 1 1" {
		t.Errorf("with two games at least: %s", got)
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// TestImagesArePlayedAlike checks that at the start of Xiangqi a move and its image
// are one entry, and that both are played.
func TestImagesArePlayedAlike(t *testing.T) {
	b := newBuilder(t, "xiangqi", five[:3]...).Book(1)
	p := setUp(t, "xiangqi/wxf", "")
	seen := map[string]int{}
	for seed := range uint64(200) {
		m, _, ok := b.Choose(p, book.Options{}, seed, nil)
		if !ok {
			t.Fatal("no move")
		}
		seen[p.Format(m)]++
	}
	if len(seen) != 2 || seen["h2e2"] < 50 || seen["b2e2"] < 50 {
		t.Errorf("moves drawn: %v", seen)
	}
}

func TestFamiliesDoNotMix(t *testing.T) {
	renju := played("r", "gomoku/renju-15", "first", "h8 h9")
	b := newBuilder(t, "gomoku/renju-15+swap2", renju)
	if err := b.Count(played("f", "gomoku/freestyle-15", "first", "h8 h9")); !errors.Is(err, book.ErrFamily) {
		t.Errorf("a freestyle game in a Renju book: %v", err)
	}
	// With an opening procedure, only the usual play after it counts.
	err := b.Count(played("s", "gomoku/renju-15+swap2", "second", "a1 h8 o15 swap g8 h10"))
	if err != nil {
		t.Fatal(err)
	}
	renjuBook := b.Book(1)
	after := setUp(t, "gomoku/renju-15+swap2", "a1 h8 o15 swap")
	// The first seat, White after the swap, has lost. So has its move g8, whose
	// image on this board is h7.
	if got := look(renjuBook, after); got != "h7 0 0 1" {
		t.Errorf("after the procedure: %q", got)
	}
	if got := look(renjuBook, setUp(t, "gomoku/renju-15+swap2", "")); got != "" {
		t.Errorf("in the procedure: %q", got)
	}
	if got := look(renjuBook, setUp(t, "gomoku/renju-15", "")); got != "h8 1 0 0" {
		t.Errorf("Renju: %q", got)
	}
	for _, other := range []string{"gomoku/freestyle-15", "gomoku/standard-15", "gomoku/renju-16"} {
		if got := look(renjuBook, setUp(t, other, "")); got != "" {
			t.Errorf("%s: %q", other, got)
		}
	}
}

func TestGamesThatAreNotCounted(t *testing.T) {
	b := newBuilder(t, "xiangqi", five...)
	before := b.Book(0).Bytes()
	for _, tt := range []struct {
		game book.Game
		want error
		text string
	}{
		{five[2], book.ErrKnown, "c"},
		{played("x", "xiangqi/wxf", "none", "h2e2"), book.ErrUnfinished, "x"},
		{played("x", "amazons/10x10", "first", "d1d7/b7"), book.ErrFamily, "amazons/10x10"},
		{played("x", "xiangqi/wxf", "first", "h2e2 h2e2"), game.ErrIllegal, "ply 2"},
		{played("x", "xiangqi/wxf", "first", "h2e2 knight"), game.ErrSyntax, "ply 2"},
		{played("x", "xiangqi/none", "first", "h2e2"), game.ErrRules, "none"},
		{book.Game{Rules: "xiangqi/wxf", Position: "here", Result: game.Draw}, game.ErrSyntax, "FEN"},
	} {
		if err := b.Count(tt.game); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%+v: %v, want %v", tt.game, err, tt.want)
		}
	}
	if !bytes.Equal(b.Book(0).Bytes(), before) {
		t.Error("a game that is not counted changed the book")
	}
}

// TestPlayedOn: a game that its arbiter let go on after a repetition counts in full.
func TestPlayedOn(t *testing.T) {
	shuffle := strings.Repeat("a0a1 a9a8 a1a0 a8a9 ", 3)
	b := newBuilder(t, "xiangqi", played("x", "xiangqi/wxf", "first", shuffle+"h2e2 h9g7")).Book(0)
	if got := look(b, setUp(t, "xiangqi/wxf", "h2e2")); got != "h9g7 0 0 1" {
		t.Errorf("after the repetition: %q", got)
	}
}

// shares returns the shares of a position's moves, by their text.
func shares(b *book.Book, p game.Position) map[string]float64 {
	s := map[string]float64{}
	for _, c := range b.Look(p, book.Options{}) {
		s[p.Format(c.Moves[0])] = c.Share
	}
	return s
}

// many returns n games of a line.
func many(id string, n int, result, moves string) (games []book.Game) {
	for i := range n {
		games = append(games, played(fmt.Sprint(id, i), "xiangqi/wxf", result, moves))
	}
	return games
}

func TestLearnSteersAwayFromALossAndBack(t *testing.T) {
	games := append(many("a", 6, "draw", "h2e2 h9g7 h0g2"), many("b", 6, "draw", "h2e2 h9g7 b0c2")...)
	b := newBuilder(t, "xiangqi", games...)
	after := setUp(t, "xiangqi/wxf", "h2e2 h9g7")
	start := setUp(t, "xiangqi/wxf", "")
	even, first := shares(b.Book(1), after), b.Book(1).Look(start, book.Options{})[0].Score()
	if even["h0g2"] != even["b0c2"] || math.Abs(even["h0g2"]-0.5) > 1e-9 {
		t.Fatalf("shares at first: %v", even)
	}
	lost := played("lost", "xiangqi/wxf", "second", "h2e2 h9g7 h0g2 i9h9")
	if err := b.Learn(lost); err != nil {
		t.Fatal(err)
	}
	once := shares(b.Book(1), after)
	if !(once["h0g2"] < 0.25 && once["b0c2"] > 0.75) {
		t.Errorf("after a loss: %v", once)
	}
	// The move where the book was left is blamed most.
	if drop := first - b.Book(1).Look(start, book.Options{})[0].Score(); drop <= 0 || drop > 0.12 {
		t.Errorf("the first move's score fell by %.3f", drop)
	}
	if err := b.Learn(lost); !errors.Is(err, book.ErrKnown) {
		t.Errorf("the same game again: %v", err)
	}
	if got := shares(b.Book(1), after); got["h0g2"] != once["h0g2"] {
		t.Errorf("the same game again changed the shares to %v", got)
	}
	lost.ID = "lost again"
	if err := b.Learn(lost); err != nil {
		t.Fatal(err)
	}
	if got := shares(b.Book(1), after); got["h0g2"] != 0 || got["b0c2"] != 1 {
		t.Errorf("after two losses: %v", got)
	}
	for _, id := range []string{"w1", "w2", "w3"} {
		if err := b.Learn(played(id, "xiangqi/wxf", "first", "h2e2 h9g7 h0g2 i9h9")); err != nil {
			t.Fatal(err)
		}
	}
	if got := shares(b.Book(1), after); got["h0g2"] < 0.5 {
		t.Errorf("after three wins: %v", got)
	}
}

func TestPreference(t *testing.T) {
	b := newBuilder(t, "xiangqi", append(many("a", 10, "draw", "h2e2"), many("b", 10, "draw", "g3g4")...)...)
	p := setUp(t, "xiangqi/wxf", "")
	prefer := func(move string, pref book.Preference) map[string]float64 {
		t.Helper()
		m, err := p.Parse(move)
		if err == nil {
			err = b.Prefer(p, m, pref)
		}
		if err != nil {
			t.Fatal(err)
		}
		return shares(b.Book(1), p)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	if s := prefer("h2e2", 1); !near(s["b2e2"], 2.0/3) || !near(s["c3c4"], 1.0/3) {
		t.Errorf("doubled: %v", s)
	}
	if s := prefer("b2e2", book.Avoid); s["b2e2"] != 0 || !near(s["c3c4"], 1) {
		t.Errorf("avoided: %v", s)
	}
	for _, g := range many("c", 300, "draw", "g3g4") { // beside which others are too rare to be played
		if err := b.Count(g); err != nil {
			t.Fatal(err)
		}
	}
	if s := prefer("e3e4", 1); s["e3e4"] <= 0 || s["e3e4"] >= 0.01 {
		t.Errorf("a new move is preferred: %v", s)
	}
	if s := prefer("e3e4", 0); s["e3e4"] != 0 {
		t.Errorf("and no longer: %v", s)
	}
	if err := b.Prefer(p, 1, 1); !errors.Is(err, game.ErrIllegal) {
		t.Errorf("an illegal move: %v", err)
	}
	if err := b.Prefer(setUp(t, "gomoku/renju-15", ""), 1, 1); !errors.Is(err, book.ErrFamily) {
		t.Errorf("another game: %v", err)
	}
	if err := b.Prefer(p, p.Legal(nil)[0], book.MaxPreference+1); err == nil {
		t.Error("a preference out of bounds is accepted")
	}
}

// TestWeights checks the formulas of the package documentation.
func TestWeights(t *testing.T) {
	e := book.Entry{Wins: 30, Draws: 20, Losses: 10, Learnt: -100, Preference: 2}
	score := (30+10+3.2)/68 - 0.1
	if math.Abs(e.Score()-score) > 1e-12 || math.Abs(e.Weight()-61*math.Exp(10*(score-0.5))*4) > 1e-9 {
		t.Errorf("score %v, weight %v", e.Score(), e.Weight())
	}
	if e := (book.Entry{Losses: 4, Learnt: -300}); e.Score() != 0 {
		t.Errorf("score %v, want no less than 0", e.Score())
	}
}

func TestChoice(t *testing.T) {
	games := append(many("a", 30, "draw", "h2e2"), many("b", 10, "draw", "g3g4")...)
	games = append(games, many("c", 10, "second", "a3a4")...) // a bad one
	games = append(games, many("d", 2, "first", "a0a1")...)   // a rare one
	b := newBuilder(t, "xiangqi", games...).Book(1)
	p := setUp(t, "xiangqi/wxf", "")
	draw := func(o book.Options, seed uint64, among []game.Move) string {
		m, _, ok := b.Choose(p, o, seed, among)
		if !ok {
			return ""
		}
		return p.Format(m)
	}
	hot, cold := map[string]int{}, map[string]int{}
	for seed := range uint64(400) {
		m := draw(book.Options{}, seed, nil)
		if m != draw(book.Options{}, seed, nil) {
			t.Fatalf("seed %d: two moves", seed)
		}
		hot[m]++
		cold[draw(book.Options{Temperature: 0.1}, seed, nil)]++
	}
	if hot["g3g4"]+hot["c3c4"] < 50 || hot["h2e2"]+hot["b2e2"] < 200 || len(hot) != 4 {
		t.Errorf("moves drawn: %v", hot)
	}
	if cold["h2e2"]+cold["b2e2"] < 398 {
		t.Errorf("with a low temperature: %v", cold)
	}
	among, err := p.Parse("c3c4")
	if err != nil {
		t.Fatal(err)
	}
	if got := draw(book.Options{}, 1, []game.Move{among}); got != "c3c4" {
		t.Errorf("only among c3c4: %s", got)
	}
	if got := draw(book.Options{}, 1, []game.Move{}); got != "" {
		t.Errorf("among none: %s", got)
	}
	if got := draw(book.Options{MinGames: 31}, 1, nil); got != "" {
		t.Errorf("too few games: %s", got)
	}
}

// TestRepetitionAndDepth checks that no book move repeats a position, and that the
// book is not used beyond its depth.
func TestRepetitionAndDepth(t *testing.T) {
	moves := "h0g2 h9g7 g2h0 g7h9"
	b := newBuilder(t, "xiangqi", many("a", 5, "draw", moves)...).Book(1)
	line := strings.Fields(moves)
	for ply := range line {
		p := setUp(t, "xiangqi/wxf", strings.Join(line[:ply], " "))
		m, _, ok := b.Choose(p, book.Options{}, 1, nil)
		if want := ply < 3; ok != want { // the last move brings the start back
			t.Errorf("ply %d: %s is played: %v", ply, p.Format(m), ok)
		}
	}
	if _, _, ok := b.Choose(setUp(t, "xiangqi/wxf", "h0g2"), book.Options{Plies: 1}, 1, nil); ok {
		t.Error("asked at ply 1 of 1")
	}
}

// TestCountsSoManyPlies: a builder counts the first plies of a game that it was asked for, and
// so does one that changes a book.
func TestCountsSoManyPlies(t *testing.T) {
	const moves = "h2e2 h9g7 h0g2 i9h9"
	counts := func(b *book.Builder, id string, want int) *book.Book {
		t.Helper()
		if err := b.Count(played(id, "xiangqi", "draw", moves)); err != nil {
			t.Fatal(err)
		}
		all, line := b.Book(1), strings.Fields(moves)
		for ply := range line {
			if text := look(all, setUp(t, "xiangqi/wxf", strings.Join(line[:ply], " "))); (text != "") != (ply < want) {
				t.Errorf("game %s, ply %d: %q in the book; want %d plies", id, ply, text, want)
			}
		}
		return all
	}
	b, err := book.NewBuilder("xiangqi", 2)
	if err != nil {
		t.Fatal(err)
	}
	all := counts(b, "a", 2)
	all = counts(all.Edit(3), "b", 3)
	counts(all.Edit(0), "c", 4)
}

// TestIllegalEntryIsNotPlayed checks that an entry with an impossible move is
// skipped and takes no share from the others.
func TestIllegalEntryIsNotPlayed(t *testing.T) {
	var text bytes.Buffer
	if err := newBuilder(t, "xiangqi", many("a", 3, "draw", "h2e2")...).Book(1).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	key := setUp(t, "xiangqi/wxf", "").(game.Symmetric).SymmetricKey(0)
	fmt.Fprintf(&text, "@%016x 0x3fff = 1000 0 0\n", key)
	b, err := book.ReadText(&text)
	if err != nil {
		t.Fatal(err)
	}
	p := setUp(t, "xiangqi/wxf", "")
	for seed := range uint64(50) {
		m, _, ok := b.Choose(p, book.Options{}, seed, nil)
		if err := p.Clone().Play(m); !ok || err != nil {
			t.Fatalf("%v, %v", ok, err)
		}
	}
}

func TestSearcher(t *testing.T) {
	inner, err := engine.New("xiangqi", engine.Options{HashBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := newBuilder(t, "xiangqi", many("a", 3, "draw", "a3a4")...).Book(1).Save(filepath.Join(dir, "x.book")); err != nil {
		t.Fatal(err)
	}
	shelf, err := book.Open(dir, "xiangqi", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := book.With(inner, shelf, "x.book", book.Options{}).NewGame(engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(moves string, l search.Limits) search.Result {
		t.Helper()
		l.Nodes = 100
		run, err := s.Search(setUp(t, "xiangqi/wxf", moves), l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if l.Wait {
			run.Stop()
		}
		<-run.Done()
		return run.Wait()
	}
	r := ask("", search.Limits{})
	if r.Source != search.FromBook || r.Nodes != 0 || len(r.PV) != 1 || r.PV[0] != r.Move || r.Ponder != game.NoMove || !(r.WinProb > 0.3 && r.WinProb < 0.7) {
		t.Errorf("in the book: %+v", r)
	}
	for name, l := range map[string]search.Limits{
		"no book": {NoBook: true}, "pondering": {Wait: true}, "lines": {MultiPV: 2}, "mate": {Mate: 1},
		"other moves": {Moves: setUp(t, "xiangqi/wxf", "").Legal(nil)[:1]},
	} {
		if r := ask("", l); r.Source == search.FromBook || r.Move == game.NoMove {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if d := s.Describe(); d.Book != "x.book" || d.Build != engine.Build() {
		t.Errorf("described as %+v", d)
	}
	if r := ask("a3a4", search.Limits{}); r.Source != search.FromSearch || r.Nodes == 0 {
		t.Errorf("out of the book: %+v", r)
	}
}

func TestShelf(t *testing.T) {
	good := newBuilder(t, "xiangqi", five...).Book(1).Bytes()
	renju := newBuilder(t, "gomoku/renju-15", played("r", "gomoku/renju-15", "first", "h8 h9")).Book(1).Bytes()
	shipped := fstest.MapFS{
		"xiangqi.book":         {Data: good},
		"gomoku-renju-15.book": {Data: renju},
		"torn.book":            {Data: good[:100]},
		"twice.book":           {Data: good},
		"README.md":            {Data: []byte("no book")},
	}
	s, err := book.Open(book.Shipped, "", shipped)
	if err == nil || !errors.Is(err, book.ErrFormat) || !strings.Contains(err.Error(), "torn.book") || !strings.Contains(err.Error(), "xiangqi.book: second book for xiangqi") {
		t.Errorf("error %v, want the damaged and the second one named", err)
	}
	if strings.Contains(err.Error(), "README") {
		t.Errorf("error %v names a file that is not a book", err)
	}
	if s.For("xiangqi/cxa") == nil || s.For("gomoku/renju-15+swap2") == nil || s.For("gomoku/standard-15") != nil || s.For("amazons/10x10") != nil {
		t.Error("the shelf lacks the sound book")
	}
	if s, err := book.Open(book.None, "xiangqi", shipped); err != nil || s.For("xiangqi/wxf") != nil {
		t.Errorf("none: %v", err)
	}
	dir := t.TempDir()
	one := filepath.Join(dir, "one.book")
	if err := os.WriteFile(one, renju, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := book.Open(one, "gomoku", nil); err != nil || s.For("gomoku/renju-15") == nil {
		t.Errorf("a file: %v", err)
	}
	s, err = book.Open(one, "xiangqi", nil)
	if !errors.Is(err, book.ErrFamily) || !strings.Contains(err.Error(), one) || s.For("gomoku/renju-15") != nil {
		t.Errorf("another game's file: %v", err)
	}
	missing := filepath.Join(dir, "missing.book")
	s, err = book.Open(missing, "xiangqi", nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file: %v", err)
	}
	if _, _, ok := s.Choose(setUp(t, "xiangqi/wxf", ""), book.Options{}, 1, nil); ok {
		t.Error("a shelf without books knows a move")
	}
}
