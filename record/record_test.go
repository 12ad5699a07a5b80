package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sparring/game"
	"sparring/game/clock"
)

// full returns a record in which every field is set.
func full(id string) *Record {
	first, odds := game.First, clock.Spec{Kind: clock.SuddenDeath, Initial: 5 * time.Second}
	at := time.Date(2026, 11, 21, 4, 5, 6, 789_000_000, time.UTC)
	return &Record{
		V: Version, ID: id, Game: "amazons", Rules: "amazons/10x10", Position: "Q2q w",
		Clock: clock.Spec{Kind: clock.Fischer, Initial: 10 * time.Second, Increment: 100 * time.Millisecond},
		Given: 1, Rated: true, Strict: true, Private: true, Pool: "amazons.blitz", Event: "校际杯", Place: "北京",
		Seats: [2]Seat{
			{Player: "ann", Display: "安", Kind: Human, Clock: &odds, Before: &Rating{1500, 350}, After: &Rating{1612.5, 290.25}},
			{Player: "bot-1", Kind: Bot, Build: "sparring v0", Clock: &odds, Settings: fullSettings()},
		},
		Start: at, End: at.Add(time.Minute), Result: game.FirstWins, Reason: game.NoMoves, Text: "the end",
		Source: Source{By: ByPlayer, Player: "ann", Seat: &first, Instance: "i1", Build: "b", Seed: 1<<64 - 1,
			Settings: fullSettings()},
		Plies: []Ply{{
			Seat: game.First, Move: "d1d7/b7", UsedMS: 12, LeftMS: 9988, Periods: 1,
			Receipt: &Receipt{Received: at, LagMS: 1, ChargedMS: 11, LeftMS: 10089, Periods: 1, WaitedMS: 2},
			Key:     Key(0xabc), Comment: "!",
			Think: &Think{Source: FromSearch, Depth: 3, SelDepth: 5, Score: -7, WinProb: 0.48, Nodes: 12345, TimeMS: 12,
				PV: []string{"d1d7/b7", "d10d8/e8"}, Ponder: "d1d7/b7", PonderHit: true, PonderSavedMS: 100, TimedOut: true},
		}, {Seat: game.Second, Move: "d10d8/e8", Think: &Think{Source: FromBook}}},
		Disputes: []Dispute{{Ply: 1, Seat: &first, Claimed: Key(1), Ruled: Key(2), Text: "?"}},
	}
}

func fullSettings() *Settings {
	elo := 721.0
	return &Settings{Profile: "p", Spec: "self:level=3,book=b", Name: "sparring", Build: "sparring 1.0", Level: 3, Elo: &elo, Nodes: 1000, Depth: 4,
		HashMB: 16, OwnTable: true, Threads: 1, Ponder: true, Book: "b", TableMen: 4, Eval: "e", Reproducible: true}
}

// minimal has only what the schema requires.
func minimal(id string) *Record {
	return &Record{ID: id, Game: "gomoku", Rules: "gomoku/freestyle-15", Source: Source{By: ByArena}}
}

// TestFullIsFull keeps full honest when fields are added.
func TestFullIsFull(t *testing.T) {
	var check func(v reflect.Value, path string)
	check = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			check(v.Elem(), path)
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[clock.Spec]() {
				return
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if v.Field(i).IsZero() && v.Field(i).Type() != reflect.TypeFor[game.Seat]() {
					t.Errorf("%s.%s is not set", path, f.Name)
				}
				check(v.Field(i), path+"."+f.Name)
			}
		case reflect.Slice:
			check(v.Index(0), path+"[0]")
		}
	}
	r := *full("g1")
	r.Seats[0].Build, r.Seats[0].Settings = "b", fullSettings() // a person has none
	r.Seats = [2]Seat{r.Seats[0]}
	check(reflect.ValueOf(r), "Record")
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile("../docs/record.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func document(t *testing.T, line []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRoundTripBySchema(t *testing.T) {
	s := schema(t)
	for _, r := range []*Record{full("g1"), minimal("g2")} {
		line, err := Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(document(t, line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		back, err := Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Encode(back)
		if err != nil || !bytes.Equal(line, again) {
			t.Errorf("reads back as\n%s, was\n%s (%v)", again, line, err)
		}
	}
	line, _ := Encode(full("g1"))
	if back, _ := Decode(line); !reflect.DeepEqual(back, full("g1")) {
		t.Errorf("reads back as %+v", back)
	}
}

// TestSources: records have the words of the schema, whatever kinds of proofs engines know.
func TestSources(t *testing.T) {
	s := schema(t)
	for said, want := range map[string]ThinkSource{
		"": "", "search": FromSearch, "book": FromBook, "tablebase": FromTablebase, "only": FromOnly, "external": FromExternal,
		"vcf": FromProver, "vct": FromProver, "region": FromProver, "checks": FromProver, "prover": FromProver,
	} {
		r := full("g1")
		r.Plies[0].Think.Source = SourceOf(said)
		line, err := Encode(r)
		if err == nil {
			err = s.Validate(document(t, line))
		}
		if err != nil || r.Plies[0].Think.Source != want {
			t.Errorf("%q: %q, want %q (%v)", said, r.Plies[0].Think.Source, want, err)
		}
	}
}

// Every JSON field that the Go types write is described in the schema, and the
// other way round: the schema of a full record with additional properties
// forbidden accepts it, and each described property occurs in it.
func TestSchemaDescribesEveryField(t *testing.T) {
	raw, err := json.Marshal(full("g1"))
	if err != nil {
		t.Fatal(err)
	}
	root := document(t, mustRead(t, "../docs/record.schema.json")).(map[string]any)
	defs := root["$defs"].(map[string]any)
	var check func(schema map[string]any, value any, path string)
	check = func(schema map[string]any, value any, path string) {
		if ref, ok := schema["$ref"].(string); ok {
			schema = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		switch value := value.(type) {
		case map[string]any:
			props := schema["properties"].(map[string]any)
			for name, v := range value {
				p, ok := props[name].(map[string]any)
				if !ok {
					t.Errorf("%s.%s is not in the schema", path, name)
					continue
				}
				check(p, v, path+"."+name)
			}
			for name := range props {
				if _, ok := value[name]; !ok && !(path == "record.seats[]" && (name == "build" || name == "settings")) /* a person has none */ {
					t.Errorf("%s.%s of the schema is in no record", path, name)
				}
			}
		case []any:
			check(schema["items"].(map[string]any), value[0], path+"[]")
		}
	}
	check(root, document(t, raw), "record")
}

func TestInvalid(t *testing.T) {
	s := schema(t)
	for _, c := range []struct {
		name, says string
		spoil      func(r *Record)
	}{
		{"id", "id", func(r *Record) { r.ID = "Spaces here" }},
		{"long id", "id", func(r *Record) { r.ID = strings.Repeat("a", 33) }},
		{"no game", "no game", func(r *Record) { r.Game, r.Rules = "", "x" }},
		{"no move", "ply 2: no move", func(r *Record) { r.Plies[1].Move = "" }},
		{"key", "ply 1: key", func(r *Record) { r.Plies[0].Key = "ABC" }},
		{"chance", "ply 1: chance", func(r *Record) { r.Plies[0].Think.WinProb = 1.5 }},
		{"kind", "seat first: kind", func(r *Record) { r.Seats[0].Kind = "cat" }},
		{"source", "source.by", func(r *Record) { r.Source.By = "" }},
		{"version", "v is 2", func(r *Record) { r.V = 2 }},
	} {
		r := full("g1")
		c.spoil(r)
		if _, err := Encode(r); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.says)
		}
		// The schema refuses what the package refuses.
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(document(t, raw)); err == nil {
			t.Errorf("%s: the schema accepts %s", c.name, raw)
		}
	}
	r := full("bad id")
	r.Rules = "xiangqi/simple"
	if _, err := Encode(r); err == nil || !strings.Contains(err.Error(), "id") || !strings.Contains(err.Error(), "rules") {
		t.Errorf("not all faults in %v", err)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		kind error
	}{
		{``, ErrInvalid},
		{`{`, ErrInvalid},
		{`[]`, ErrInvalid},
		{`{}`, ErrInvalid},
		{`{"v":2}`, ErrVersion},
		{`{"v":1}`, ErrInvalid},
		{`{"v":1,"id":"a","game":"g","rules":"g/r","clock":"5 days","source":{"by":"arena"}}`, ErrInvalid},
		{`{"v":1,"id":"a","game":"g","rules":"g/r","clock":"5","result":"black","source":{"by":"arena"}}`, ErrInvalid},
	} {
		if _, err := Decode([]byte(c.text)); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want %v", c.text, err, c.kind)
		}
	}
	// Fields from a later minor version do not matter.
	if _, err := Decode([]byte(`{"v":1,"id":"a","game":"g","rules":"g/r","clock":"5","source":{"by":"arena"},"mood":"good"}`)); err != nil {
		t.Error(err)
	}
}

// Times are written in UTC, to the millisecond.
func TestTimes(t *testing.T) {
	r, at := minimal("g1"), time.Date(2026, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 8*3600))
	r.Start = at
	r.Plies = []Ply{{Seat: game.First, Move: "h8", Receipt: &Receipt{Received: at}}}
	line, err := Encode(r)
	for _, name := range []string{"start", "received"} {
		if want := fmt.Sprintf(`"%s":"2026-01-01T19:04:05.678Z"`, name); err != nil || !bytes.Contains(line, []byte(want)) {
			t.Errorf("%s, %v: want %s", line, err, want)
		}
	}
	if r.Start != at || r.Plies[0].Receipt.Received != at {
		t.Error("Encode changed the record")
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range []*Record{full("g1"), minimal("g2")} {
		line, err := Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := Decode(line)
		if err != nil {
			return
		}
		out, err := Encode(r)
		if err != nil {
			t.Fatalf("%s: read, but not written: %v", line, err)
		}
		if _, err := Decode(out); err != nil {
			t.Fatalf("%s: written, but not read: %v", out, err)
		}
	})
}
