package protocol

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestReadsWhatIsSaid fills every field of what is decoded by hand with random values: it
// is read as encoding/json reads it, and without that. A field that is forgotten shows here.
func TestReadsWhatIsSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	long := regexp.MustCompile(`\d{18,}`)
	for range 2000 {
		for _, msg := range plains() {
			fill(rng, reflect.ValueOf(msg).Elem())
			data, err := json.Marshal(msg)
			if err != nil {
				t.Fatal(err)
			}
			data = long.ReplaceAllFunc(data, func(n []byte) []byte { return n[:18] })
			data = []byte(strings.NewReplacer(`\`, "", "null", "[]").Replace(string(data)))
			if !json.Valid(data) || strings.Contains(string(data), `"error"`) { // a quote without its escape; a refusal
				continue
			}
			if !readsAlike(t, msg, data) {
				t.Fatalf("%T: %s was left to encoding/json", msg, data)
			}
		}
	}
}

// plains has a message of each kind that is decoded by hand.
func plains() []plain {
	return []plain{new(MoveRequest), new(Alive), new(AliveAnswer), new(ActAnswer), new(State), new(Event)}
}

// readsAlike reports whether a message was read without encoding/json. If so, it must be
// what that reads.
func readsAlike(t *testing.T, kind plain, data []byte) bool {
	t.Helper()
	of := reflect.TypeOf(kind).Elem()
	got, want := reflect.New(of).Interface().(plain), reflect.New(of).Interface()
	f := fields{b: data}
	got.read(&f)
	if !f.whole() {
		return false
	}
	if err := json.Unmarshal(data, want); err != nil {
		t.Fatalf("%T: %s was read, though %v", kind, data, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%T: %s was read as\n%+v, by encoding/json as\n%+v", kind, data, got, want)
	}
	return true
}

func FuzzFields(f *testing.F) {
	for _, data := range []string{
		`{"v":1,"id":"a","instance":"i1","epoch":3,"ply":7,"move":"h2e2","key":"0123456789abcdef","lag_ms":12,"answer_only":true,"watching":true}`,
		` { "v" : 1 , "id" : "a" , "free" : 3 , "free_for_bots" : 0 , "games" : [ "g1" , "g2" ] , "secret" : "s" } `,
		`{"v":1,"id":"a","code":"accepted","server_time":"2026-01-02T03:04:05.678Z","clocks":{"seats":[{"left_ms":1},{"left_ms":-2,"periods":3}],"running":"second"}}`,
		`{"v":1,"to":"a.b","seq":4,"server_time":"2026-01-02T03:04:05Z","you":"first","game":"g","terms":{"game":"gomoku","rules":"gomoku/freestyle-15","clock":"60+0.6","rated":true},` +
			`"started":"2026-01-02T03:04:05Z","holders":[{"player":"a","kind":"bot","epoch":1},{"player":"b","display":"兔","kind":"human","epoch":2}],"moves":["h8","h9"],"turn":"first",` +
			`"key":"0123456789abcdef","clocks":{"seats":[{"left_ms":1},{"left_ms":2}]},"status":"playing","outcome":{"result":"none"},` +
			`"receipt":{"ply":2,"received":"2026-01-02T03:04:05Z","lag_ms":0,"charged_ms":1,"left_ms":2}}`,
		`{"v":1,"kind":"end","index":5,"term":2,"time":"2026-01-02T03:04:05Z","seat":"second","request":"m3","earlier":[{"seat":"first","id":"d1","ply":4}],"draw_offered":["first"],` +
			`"takeback_asked":[],"running_since":"2026-01-02T03:04:05Z","turn_ms":3,"game":"g","moves":["h8"],"dispute":{"move":"h8","claimed":"0","ruled":"1"},"text":"why"}`,
		`{"v":1,"v":2,"receipt":{"ply":1},"receipt":{"lag_ms":2},"moves":["a"],"moves":[]}`,
		`{"v":01}`, `{"v":1.0}`, `{"v":-0}`, `{"v":1e2}`, `{"V":1}`, `{"v":null}`, `{"v":1}x`, `{"v":1,}`, `{"id":"\u0061"}`, "{\"id\":\"\xff\"}", `{"id":"a`, `{}`, `[]`, ``,
		`{"v":99999999999999999999}`, `{"holders":[{}]}`, `{"holders":[{},{},{}]}`, `{"moves":[,]}`, `{"games":[1]}`, `{"answer_only":truex}`,
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, kind := range plains() {
			readsAlike(t, kind, data)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, msg := range []struct {
		name   string
		to     func() any
		sample any
	}{
		{"state", func() any { return new(State) }, &State{V: 1, Snapshot: Snapshot{Moves: moveList(rng, 60)}}},
		{"move", func() any { return new(MoveRequest) }, &MoveRequest{Header: newHeader(), Move: "h2e2", Key: "0123456789abcdef"}},
	} {
		data, err := json.Marshal(msg.sample)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(msg.name+"/fields", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := fields{b: data}
				msg.to().(plain).read(&f)
				if !f.whole() {
					b.Fatal("not read")
				}
			}
		})
		b.Run(msg.name+"/json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := json.Unmarshal(data, msg.to()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func moveList(rng *rand.Rand, n int) (list []string) {
	for range n {
		list = append(list, string([]byte{byte('a' + rng.IntN(9)), byte('0' + rng.IntN(10)), byte('a' + rng.IntN(9)), byte('0' + rng.IntN(10))}))
	}
	return list
}
