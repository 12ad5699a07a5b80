package protocol

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// TestEncodesAsPackageJSON fills every field of what is encoded by hand with random
// values, zero ones among them: a field that is forgotten shows here.
func TestEncodesAsPackageJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var e Event
		fill(rng, reflect.ValueOf(&e).Elem())
		same(t, e.Encode(), &e)
		var st State
		fill(rng, reflect.ValueOf(&st).Elem())
		same(t, st.encode(st.body()), &st)
		var ans ActAnswer
		fill(rng, reflect.ValueOf(&ans).Elem())
		same(t, ans.encode(), &ans)
		var m MoveRequest
		fill(rng, reflect.ValueOf(&m).Elem())
		same(t, m.encode(), &m)
		var alive Alive
		fill(rng, reflect.ValueOf(&alive).Elem())
		same(t, alive.encode(), &alive)
	}
}

func same(t *testing.T, got []byte, m any) {
	t.Helper()
	want, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("encoded as\n%s\nwant\n%s", got, want)
	}
}

// fill sets a value to a random one, and a third of the fields to zero.
func fill(rng *rand.Rand, v reflect.Value) {
	switch at := v.Addr().Interface().(type) {
	case *time.Time:
		*at = time.Unix(rng.Int64N(4e9), rng.Int64N(1e9)).UTC()
		return
	case *clock.Spec:
		*at = []clock.Spec{{Kind: clock.SuddenDeath, Initial: 5 * time.Minute}, {Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second}}[rng.IntN(2)]
		return
	case *game.Seat:
		*at = game.Seat(rng.IntN(2))
		return
	case *game.Result:
		*at = game.Result(rng.IntN(4))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); rng.IntN(3) > 0 || f.Type() == reflect.TypeFor[clock.Spec]() {
				fill(rng, f)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(rng, v.Elem())
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), rng.IntN(4), 4))
		}
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.String:
		v.SetString([]string{"", "h2e2", "sparring 1.0 (a1b2c3)", `"quoted\"`, "<b>&amp;", "Hare 兔", "a\tb\x01\u2028\xff", "~ !"}[rng.IntN(8)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64() >> rng.IntN(64) * int64(1-2*rng.IntN(2)))
	case reflect.Uint64:
		v.SetUint(rng.Uint64() >> rng.IntN(64))
	default:
		panic("encode_test: no random " + v.Type().String())
	}
}
