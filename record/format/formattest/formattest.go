// Package formattest has what the tests of all formats share: records of random
// games, comparison after a round trip, broken texts and fuzzing.
package formattest

import (
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/record"
	"sparring/record/format"
)

// Random plays a seeded random game under a rule set, of at most the given number
// of plies, and records it with everything that a format may have. If the rules
// have not ended it, the seat to act resigns.
func Random(t testing.TB, rules, position string, seed uint64, plies int) *record.Record {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(position)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	rec := &record.Record{
		V: record.Version, ID: "g-1", Game: r.Game, Rules: r.Name, Position: position,
		Clock: clock.Spec{Kind: clock.Fischer, Initial: 5 * time.Minute, Increment: 1500 * time.Millisecond},
		Event: "CCGC 2026", Place: "沈阳",
		Seats:  [2]record.Seat{{Player: "alice", Kind: record.Bot}, {Player: "bob-2", Display: "北理工 二队", Kind: record.Human}},
		Start:  time.Date(2026, 8, 3, 14, 30, 0, 0, time.UTC),
		Source: record.Source{By: record.ByArena},
	}
	for range plies {
		moves := p.Legal(nil)
		if len(moves) == 0 {
			break
		}
		m := moves[rng.IntN(len(moves))]
		ply := record.Ply{Seat: p.Turn(), Move: p.Format(m), UsedMS: rng.Int64N(9000), LeftMS: 1 + rng.Int64N(300_000)}
		if rng.IntN(3) == 0 {
			ply.Think = &record.Think{Depth: 1 + rng.IntN(20), Score: rng.IntN(2000) - 1000}
			ply.Comment = "a ] and a \\ :"
		}
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		ply.Key = record.Key(p.Key())
		rec.Plies = append(rec.Plies, ply)
	}
	if o := p.Outcome(); o.Over() {
		rec.Result, rec.Reason = o.Result, o.Reason
	} else {
		rec.Result, rec.Reason = game.WonBy(p.Turn().Other()), "resign"
	}
	if err := rec.Validate(); err != nil {
		t.Fatal(err)
	}
	return rec
}

// RoundTrip writes the records in the format, reads them back and compares what
// every format keeps: moves, keys, result and the players' names.
func RoundTrip(t testing.TB, f format.Format, o format.WriteOptions, records ...*record.Record) []*record.Record {
	t.Helper()
	text, err := f.Write(records, o)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Detect(text) {
		t.Errorf("%s does not know its own text: %.80q", f.Name, text)
	}
	data, err := format.Encode(text, o.Charset)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := format.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if decoded != text {
		t.Fatalf("%s: the text changes on the way through %q", f.Name, o.Charset)
	}
	back, err := All(f.Read(decoded, format.ReadOptions{}))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(back) != len(records) {
		t.Fatalf("%d games, want %d", len(back), len(records))
	}
	for i, want := range records {
		compare(t, back[i], want)
		if t.Failed() {
			t.Fatalf("of\n%s", text)
		}
	}
	return back
}

func compare(t testing.TB, got, want *record.Record) {
	t.Helper()
	if got.Rules != want.Rules || got.Position != want.Position {
		t.Errorf("rules %s position %q, want %s %q", got.Rules, got.Position, want.Rules, want.Position)
	}
	if len(got.Plies) != len(want.Plies) {
		t.Errorf("%d plies, want %d", len(got.Plies), len(want.Plies))
		return
	}
	for i := range want.Plies {
		g, w := got.Plies[i], want.Plies[i]
		if g.Move != w.Move || g.Seat != w.Seat || g.Key != w.Key {
			t.Errorf("ply %d: %s by %s (%s), want %s by %s (%s)", i+1, g.Move, g.Seat, g.Key, w.Move, w.Seat, w.Key)
			return
		}
	}
	if got.Result != want.Result {
		t.Errorf("result %s (%s), want %s (%s)", got.Result, got.Reason, want.Result, want.Reason)
	}
	for i := range want.Seats {
		if g, w := format.Name(got.Seats[i]), format.Name(want.Seats[i]); g != w {
			t.Errorf("seat %s: player %q, want %q", game.Seat(i), g, w)
		}
	}
	if got.Source.By != record.ByImport || got.ID == "" {
		t.Errorf("id %q, source %q", got.ID, got.Source.By)
	}
}

// SetUp compares after a round trip which moves no player chose: those of the opening that a
// match began with, or of the game that this one continues.
func SetUp(t *testing.T, f format.Format, o format.WriteOptions, rules string) {
	t.Helper()
	for n := range 4 {
		ofMatch, continued := Random(t, rules, "", 5, 30), Random(t, rules, "", 6, 30)
		ofMatch.Source.By, continued.Given = record.ByMatch, n
		for i := range ofMatch.Plies {
			ply := &ofMatch.Plies[i]
			if i < n {
				ply.Comment = "of the opening"
			}
			if i < n || i > n && ply.Think == nil { // a player has a book, too
				ply.Think = &record.Think{Source: record.FromBook}
			}
		}
		for i, got := range RoundTrip(t, f, o, ofMatch, continued) {
			if got.OpeningPlies() != n {
				t.Errorf("%s, game %d: %d moves are set up, want %d", f.Name, i+1, got.OpeningPlies(), n)
			}
			again := RoundTrip(t, f, o, got)[0]
			if again.ID != got.ID || again.OpeningPlies() != n {
				t.Errorf("%s, game %d, written again: %s with %d moves set up, want %s with %d", f.Name, i+1, again.ID, again.OpeningPlies(), got.ID, n)
			}
		}
	}
}

// Moves returns the moves of a record, with blanks between them.
func Moves(r *record.Record) string {
	var m []string
	for _, p := range r.Plies {
		m = append(m, p.Move)
	}
	return strings.Join(m, " ")
}

// Variants reads the files of testdata with the format's extension, all of which have to
// be among the wanted, and gives the games of each to check with what is wanted of it.
func Variants[W any](t *testing.T, f format.Format, wanted map[string]W, check func(t *testing.T, games []*record.Record, want W)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*" + f.Ext)
	if err != nil || len(files) != len(wanted) {
		t.Fatalf("%d files, want %d: %v", len(files), len(wanted), err)
	}
	for name, want := range wanted {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := format.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Detect(text) {
				t.Error("the format is not detected")
			}
			games, err := All(f.Read(text, format.ReadOptions{}))
			if err != nil || len(games) == 0 {
				t.Fatalf("%d games, %v", len(games), err)
			}
			check(t, games, want)
		})
	}
}

// Opened compares games with an opening procedure after a round trip, which reduces the
// procedure to its stones: Black comes first, under the rules without the procedure.
func Opened(t *testing.T, f format.Format, rules, procedure string) {
	t.Helper()
	swapped := 0
	for seed := range uint64(12) {
		r := Random(t, rules+procedure, "", seed, 40)
		stones, _, black, err := format.Stones(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.Write([]*record.Record{r}, format.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		games, err := All(f.Read(text, format.ReadOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		got := games[0]
		var want []string
		for _, s := range stones {
			want = append(want, r.Plies[s.Ply-1].Move)
		}
		if Moves(got) != strings.Join(want, " ") || got.Rules != rules || format.Name(got.Seats[0]) != format.Name(r.Seats[black]) {
			t.Errorf("%s: %s, %s, %+v", text, got.Rules, Moves(got), got.Seats)
		}
		if (got.Result == game.FirstWins) != (r.Result == game.WonBy(black)) || got.Reason != "" && got.Reason != r.Reason {
			t.Errorf("%s: %s by %s, but %s by %s in the record with Black %s", text, got.Result, got.Reason, r.Result, r.Reason, black)
		}
		if black == game.Second {
			swapped++
		}
	}
	if swapped == 0 {
		t.Error("no game with swapped colours")
	}
}

// Broken is an invalid text of a format, and a part of its error.
type Broken [2]string

// Refuses reads broken texts. Each must give its error, with the place.
func Refuses(t *testing.T, f format.Format, cases []Broken) {
	t.Helper()
	for _, x := range cases {
		text, want := x[0], x[1]
		_, err := All(f.Read(text, format.ReadOptions{}))
		var where *format.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &where) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// Fuzz reads random texts, seeded with broken ones and the files of testdata.
// Errors must have a place. A game that was read must be written in each
// notation, unless the format can't represent it, and read back the same.
func Fuzz(f *testing.F, in format.Format, cases []Broken, files []string, notations ...format.Moves) {
	for _, x := range cases {
		f.Add(x[0])
	}
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	if len(notations) == 0 {
		notations = []format.Moves{""}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for r, err := range in.Read(text, format.ReadOptions{}) {
			var where *format.Error
			if err != nil && !errors.As(err, &where) {
				t.Fatalf("%T %v", err, err)
			}
			if err != nil {
				continue
			}
			for _, notation := range notations {
				out, err := in.Write([]*record.Record{r}, format.WriteOptions{Moves: notation})
				if errors.Is(err, format.ErrCannot) {
					continue
				}
				if err != nil {
					t.Fatalf("%v of %+v", err, r)
				}
				again, err := All(in.Read(out, format.ReadOptions{}))
				if err != nil || len(again) != 1 || Moves(again[0]) != Moves(r) || again[0].Result != r.Result {
					t.Fatalf("%v in %s", err, out)
				}
			}
		}
	})
}

// All collects the games that a reader yields, up to the first error.
func All(games iter.Seq2[*record.Record, error]) ([]*record.Record, error) {
	var all []*record.Record
	for r, err := range games {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}
