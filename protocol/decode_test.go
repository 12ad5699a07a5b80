package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sparring/protocol"
)

// decoder decodes one kind of message.
type decoder func(data []byte) (any, *protocol.Error)

func decode[T any, P interface {
	*T
	protocol.Checker
}](data []byte) (any, *protocol.Error) {
	return protocol.Decode[T, P](data, protocol.DefaultLimits)
}

// kinds has a decoder for every kind of message.
var kinds = map[string]decoder{
	"hello":        decode[protocol.Hello],
	"alive":        decode[protocol.Alive],
	"leave":        decode[protocol.Leave],
	"challenge":    decode[protocol.ChallengeRequest],
	"withdraw":     decode[protocol.Withdraw],
	"standings":    decode[protocol.StandingsRequest],
	"offer":        decode[protocol.Offer],
	"offer answer": decode[protocol.OfferAnswer],
	"move":         decode[protocol.MoveRequest],
	"act":          decode[protocol.ActRequest],
	"chat":         decode[protocol.ChatRequest],
	"state":        decode[protocol.State],
	"notice":       decode[protocol.Notice],
	"event":        decode[protocol.Event],

	"analysis request": decode[protocol.AnalysisRequest],
	"analysis cancel":  decode[protocol.AnalysisCancel],
	"analysis":         decode[protocol.Analysis],

	"fleet request": decode[protocol.FleetRequest],
	"fleet report":  decode[protocol.Report],
}

const snapshotJSON = `"game":"g1","terms":{"game":"gomoku","rules":"gomoku/freestyle-15","clock":"10+0.1","rated":true},
	"started":"2026-11-21T04:00:00Z","holders":[{"player":"a","kind":"bot","epoch":1},{"player":"b","kind":"bot","epoch":1}],
	"moves":["h8"],"turn":"second","key":"00000000000000ff","clocks":{"seats":[{"left_ms":1},{"left_ms":2}]},"status":"playing","outcome":{"result":"none"}`

// sound has a valid message of each kind.
var sound = map[string]string{
	"hello": `{"v":1,"id":"r1","instance":"i1","kind":"bot","slots":2,"games":[{"game":"gomoku","rules":["gomoku/freestyle-15"],"speeds":["blitz"],"engine":{"level":3,"elo":108,"elo_error":61}}],
		"pools":["gomoku.blitz"],"takes":{"kinds":["human"],"rated":false,"usual":true,"fastest":"60","slowest":"unlimited","min_rating":1000}}`,
	"alive":        `{"v":1,"id":"r1","instance":"i1","free":1,"games":["g1"]}`,
	"leave":        `{"v":1,"id":"r1","instance":"i1"}`,
	"challenge":    `{"v":1,"id":"r1","instance":"i1","game":"gomoku","rules":"gomoku/freestyle-15","moves":["h8"],"clock":"60/5x10","rated":false,"strict":true,"seat":"second","pool":"gomoku.blitz"}`,
	"withdraw":     `{"v":1,"id":"r1","game":"g1"}`,
	"standings":    `{"v":1,"id":"r1","game":"gomoku"}`,
	"offer":        `{"v":1,"id":"r1","kind":"match","game":"g1","terms":{"game":"gomoku","rules":"r","clock":"5/move","rated":false},"seat":"first","deadline":"2026-11-21T04:00:00Z","hold_ms":100}`,
	"offer answer": `{"v":1,"id":"r1","answer":"accept","player":"a","instance":"i1"}`,
	"move":         `{"v":1,"id":"r1","instance":"i1","epoch":1,"ply":0,"move":"h8","key":"0123456789abcdef"}`,
	"act":          `{"v":1,"id":"r1","instance":"i1","epoch":1,"ply":3,"step":"offer"}`,
	"chat":         `{"v":1,"id":"r1","instance":"i1","epoch":1,"text":"good luck, 祝你好運"}`,
	"state":        `{"v":1,"to":"sparring.to.a.game.g1","seq":7,"server_time":"2026-11-21T04:00:00Z","you":"first",` + snapshotJSON + `}`,
	"notice":       `{"v":1,"to":"sparring.to.a.notice","kind":"chat","text":"hi"}`,
	"event":        `{"v":1,"kind":"move","index":1,"term":1,"time":"2026-11-21T04:00:00Z",` + snapshotJSON + `}`,

	"analysis request": `{"v":1,"id":"r1","rules":"gomoku/freestyle-15","moves":["h8"],"time_ms":1000,"nodes":5000,"lines":2,"consider":["h9"],"purpose":"review"}`,
	"analysis cancel":  `{"v":1,"id":"r1"}`,
	"analysis":         `{"v":1,"id":"r1","code":"accepted","depth":3,"nodes":40,"chance":0.5,"lines":[{"score":-3,"chance":0.5,"moves":["h9"]}]}`,

	"fleet request": `{"v":1,"id":"r1","to":"sparring.fleet.bot.i1.pause","text":"new disk"}`,
	"fleet report": `{"v":1,"id":"r1","code":"accepted","server_time":"2026-11-21T04:00:00Z","process":"arena","instance":"i1","started":"2026-11-21T04:00:00Z","mode":"running",
		"arena":{"refereed":1,"running":2,"moves":3,"ended":4,"seat_changes":0,"takeovers":0,"dropped":0,"unkept":0,"faults":0,
		"instances":[{"instance":"i1","player":"a","players":1,"fleet":true,"games":1,"heard_ms":200}]}}`,
}

func TestDecodeSound(t *testing.T) {
	for kind, f := range kinds {
		msg, refusal := f([]byte(sound[kind]))
		if refusal != nil {
			t.Errorf("%s: %v", kind, refusal)
			continue
		}
		// Unknown fields are ignored.
		more := strings.Replace(sound[kind], `{"v":1,`, `{"v":1,"from_the_future":{"a":[1]},`, 1)
		again, refusal := f([]byte(more))
		if refusal != nil || !reflect.DeepEqual(msg, again) {
			t.Errorf("%s with an unknown field: %v %v, want %v", kind, again, refusal, msg)
		}
	}
}

// faults are invalid messages, with the code and a part of the text of their
// refusals.
var faults = []struct {
	kind, msg string
	code      protocol.Code
	text      string
}{
	{"move", ``, protocol.Malformed, "invalid JSON"},
	{"move", `null`, protocol.BadVersion, "version 0"},
	{"move", `[]`, protocol.Malformed, "array"},
	{"move", `"move"`, protocol.Malformed, "string"},
	{"move", `{"v":1,"id":"r1"`, protocol.Malformed, "invalid JSON at byte"},
	{"move", sound["move"] + `x`, protocol.Malformed, "invalid JSON at byte"},
	{"move", strings.Replace(sound["move"], `"v":1`, `"v":2`, 1), protocol.BadVersion, "version 2"},
	{"move", strings.Replace(sound["move"], `"v":1,`, ``, 1), protocol.BadVersion, "version 0"},
	{"move", strings.Replace(sound["move"], `"v":1`, `"v":1e300`, 1), protocol.Malformed, "field v"},
	{"move", strings.Replace(sound["move"], `"ply":0`, `"ply":-1`, 1), protocol.Malformed, "ply"},
	{"move", strings.Replace(sound["move"], `"ply":0`, `"ply":99999`, 1), protocol.Malformed, "ply"},
	{"move", strings.Replace(sound["move"], `"ply":0`, `"ply":0.5`, 1), protocol.Malformed, "field ply"},
	{"move", strings.Replace(sound["move"], `"epoch":1`, `"epoch":-1`, 1), protocol.Malformed, "field epoch"},
	{"move", strings.Replace(sound["move"], `"h8"`, `""`, 1), protocol.Malformed, "move: missing"},
	{"move", strings.Replace(sound["move"], `"h8"`, `"`+strings.Repeat("h", 33)+`"`, 1), protocol.Malformed, "move: longer"},
	{"move", strings.Replace(sound["move"], `"h8"`, `"h\u0000"`, 1), protocol.Malformed, "control character"},
	{"move", strings.Replace(sound["move"], `"h8"`, "\"h\xff\"", 1), protocol.Malformed, "UTF-8"},
	{"move", strings.Replace(sound["move"], `"h8"`, `["h8"]`, 1), protocol.Malformed, "field move"},
	{"move", strings.Replace(sound["move"], `0123456789abcdef`, `0123456789ABCDEF`, 1), protocol.Malformed, "key"},
	{"move", strings.Replace(sound["move"], `0123456789abcdef`, `12`, 1), protocol.Malformed, "key"},
	{"move", strings.Replace(sound["move"], `"r1"`, `""`, 1), protocol.Malformed, "id:"},
	{"move", strings.Replace(sound["move"], `"r1"`, `"a.b"`, 1), protocol.Malformed, "id:"},
	{"move", strings.Replace(sound["move"], `"i1"`, `"*"`, 1), protocol.Malformed, "instance"},
	{"move", `{"v":1,"id":"` + strings.Repeat("x", 17<<10) + `"}`, protocol.TooLarge, "bytes"},
	{"move", `{"v":1,"a":` + strings.Repeat("[", 8000) + strings.Repeat("]", 8000) + `}`, protocol.TooLarge, "nested"},
	{"move", strings.Repeat(`{"a":`, 3000), protocol.TooLarge, "nested"},
	{"hello", strings.Replace(sound["hello"], `"bot"`, `"ghost"`, 1), protocol.Malformed, "kind"},
	{"hello", strings.Replace(sound["hello"], `"slots":2`, `"slots":-1`, 1), protocol.Malformed, "slots"},
	{"hello", strings.Replace(sound["hello"], `"gomoku.blitz"`, `"gomoku.>"`, 1), protocol.Malformed, "pool"},
	{"hello", strings.Replace(sound["hello"], `["blitz"]`, `["`+strings.Repeat("s", 40)+`"]`, 1), protocol.Malformed, "speeds"},
	{"hello", strings.Replace(sound["hello"], `["blitz"]`, `["Blitz"]`, 1), protocol.Malformed, "speeds: want bullet, blitz"},
	{"hello", strings.Replace(sound["hello"], `"game":"gomoku"`, `"game":""`, 1), protocol.Malformed, "games: the name of one is missing"},
	{"hello", strings.Replace(sound["hello"], `"game":"gomoku"`, `"game":"`+strings.Repeat("g", 33)+`"`, 1), protocol.Malformed, "games: longer"},
	{"hello", strings.Replace(sound["hello"], `"gomoku/freestyle-15"`, `"`+strings.Repeat("r", 65)+`"`, 1), protocol.Malformed, "rules: longer"},
	{"hello", strings.Replace(sound["hello"], `"gomoku/freestyle-15"`, `""`+strings.Repeat(`,""`, 256), 1), protocol.Malformed, "rules: "},
	{"hello", strings.Replace(sound["hello"], `"blitz"`, `"blitz"`+strings.Repeat(`,"blitz"`, 256), 1), protocol.Malformed, "speeds: "},
	{"hello", strings.Replace(sound["hello"], `"games":[`, `"games":[`+strings.Repeat(`{"game":"g"},`, 64), 1), protocol.Malformed, "games: "},
	{"hello", strings.Replace(sound["hello"], `"slots"`, `"display":"`+strings.Repeat("é", 65)+`","slots"`, 1), protocol.Malformed, "display"},
	{"hello", strings.Replace(sound["hello"], `["human"]`, `["ghost"]`, 1), protocol.Malformed, "kinds"},
	{"hello", strings.Replace(sound["hello"], `"fastest":"60"`, `"fastest":"soon"`, 1), protocol.Malformed, "clock"},
	{"hello", strings.Replace(sound["hello"], `"elo_error":61`, `"elo_error":"61"`, 1), protocol.Malformed, "elo_error"},
	{"hello", strings.Replace(sound["hello"], `"elo_error":61`, `"elo_error":-1`, 1), protocol.Malformed, "elo_error: want 0 to 10000"},
	{"hello", strings.Replace(sound["hello"], `"elo":108`, `"elo":1e308`, 1), protocol.Malformed, "elo: want -10000 to 10000"},
	{"hello", strings.Replace(sound["hello"], `"elo":108`, `"elo":-10001`, 1), protocol.Malformed, "elo: want -10000 to 10000"},
	{"hello", strings.Replace(sound["hello"], `"level":3`, `"level":-5`, 1), protocol.Malformed, "level: want 0 to 1000"},
	{"hello", strings.Replace(sound["hello"], `"level":3`, `"level":1000000000`, 1), protocol.Malformed, "level: want 0 to 1000"},
	{"hello", strings.Replace(sound["hello"], `"level":3`, `"threads":-1`, 1), protocol.Malformed, "threads: want 0 to "},
	{"hello", strings.Replace(sound["hello"], `"min_rating":1000`, `"min_rating":1000,"max_rating":999`, 1), protocol.Malformed, "min_rating is above max_rating"},
	{"hello", strings.Replace(sound["hello"], `"slowest":"unlimited"`, `"slowest":"59"`, 1), protocol.Malformed, "fastest is slower than slowest"},
	{"hello", strings.Replace(sound["hello"], `"takes":{`, `"takes":[{`, 1), protocol.Malformed, "invalid JSON"},
	{"challenge", strings.Replace(sound["challenge"], `"h8"`, `"h\u0007"`, 1), protocol.Malformed, "control character"},
	{"challenge", strings.Replace(sound["challenge"], `"h8"`, `""`, 1), protocol.Malformed, "moves: a move is missing"},
	{"state", strings.Replace(sound["state"], `"h8"`, `""`, 1), protocol.Malformed, "moves: a move is missing"},
	{"challenge", strings.Replace(sound["challenge"], `"h8"`, `"`+strings.Repeat("h", 33)+`"`, 1), protocol.Malformed, "moves"},
	{"challenge", strings.Replace(sound["challenge"], `"h8"`, `"h8"`+strings.Repeat(`,""`, 4097), 1), protocol.Malformed, "moves"},
	{"alive", strings.Replace(sound["alive"], `"g1"`, `"g.1"`, 1), protocol.Malformed, "games"},
	{"alive", strings.Replace(sound["alive"], `"free":1`, `"free":1,"free_for_bots":-1`, 1), protocol.Malformed, "free_for_bots"},
	{"alive", strings.Replace(sound["alive"], `"free":1`, `"free":1,"free_for_bots":10001`, 1), protocol.Malformed, "free_for_bots"},
	{"alive", strings.Replace(sound["alive"], `"free":1`, `"free":1,"free_together":-1`, 1), protocol.Malformed, "free_together"},
	{"challenge", strings.Replace(sound["challenge"], `"pool":"gomoku.blitz"`, `"pool":""`, 1), protocol.Malformed, "either opponent or pool"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"opponent":"a","pool"`, 1), protocol.Malformed, "either opponent or pool"},
	{"challenge", strings.Replace(sound["challenge"], `"pool":"gomoku.blitz"`, `"opponent":"A"`, 1), protocol.Malformed, "opponent"},
	{"challenge", strings.Replace(sound["challenge"], `"second"`, `"third"`, 1), protocol.Malformed, "seat"},
	{"challenge", strings.Replace(sound["challenge"], `"clock"`, `"time"`, 1), protocol.Malformed, "clock: missing"},
	{"challenge", strings.Replace(sound["challenge"], `"60/5x10"`, `null`, 1), protocol.Malformed, "clock: missing"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `fast`, 1), protocol.Malformed, "clock: not a number of seconds"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `60/0x10`, 1), protocol.Malformed, "clock: periods must be 1 to 100"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `1209601/move`, 1), protocol.Malformed, "clock: longer than two weeks"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `0`, 1), protocol.Malformed, "clock: no time"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `0.0/move`, 1), protocol.Malformed, "clock: no time"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `0+0.0`, 1), protocol.Malformed, "clock: no time"},
	{"challenge", strings.Replace(sound["challenge"], `60/5x10`, `60/5x0.00`, 1), protocol.Malformed, "clock: no time in a period"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"expire_ms":-1,"pool"`, 1), protocol.Malformed, "expire_ms"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"expire_ms":86400001,"pool"`, 1), protocol.Malformed, "expire_ms: want 0 to 86400000"},
	{"hello", strings.Replace(sound["hello"], `"kind":"bot"`, `"kind":"bot","display":"Ann\u202enimda"`, 1), protocol.Malformed, "display: contains an invisible character"},
	{"hello", strings.Replace(sound["hello"], `"kind":"bot"`, `"kind":"bot","display":"A\u200bnn"`, 1), protocol.Malformed, "display"},
	{"hello", strings.Replace(sound["hello"], `"kind":"bot"`, `"kind":"bot","display":"A\u3164nn"`, 1), protocol.Malformed, "contains an invisible"},
	{"hello", strings.Replace(sound["hello"], `"kind":"bot"`, `"kind":"bot","display":" \u3000"`, 1), protocol.Malformed, "nothing of it is seen"},
	{"hello", strings.Replace(sound["hello"], `"kind":"bot"`, `"kind":"bot","build":"red \u009b31m"`, 1), protocol.Malformed, "control character"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"rated":"no","pool"`, 1), protocol.Malformed, "field rated: unexpected string"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"expire_ms":60000.0,"pool"`, 1), protocol.Malformed, "without fraction or exponent"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"expire_ms":6e4,"pool"`, 1), protocol.Malformed, "without fraction or exponent"},
	{"challenge", strings.Replace(sound["challenge"], `"pool"`, `"expire_ms":9223372036854775808,"pool"`, 1), protocol.Malformed, "field expire_ms: want a whole number below 2^63"},
	{"move", strings.Replace(sound["move"], `"epoch":1`, `"epoch":-1`, 1), protocol.Malformed, "field epoch: want a whole number from 0, below 2^64"},
	{"challenge", `{"v":1,"id":5}`, protocol.Malformed, "field id: unexpected number"},
	{"challenge", `{"v":1,"position":5}`, protocol.Malformed, "field position: unexpected number"},
	{"withdraw", strings.Replace(sound["withdraw"], `"g1"`, `""`, 1), protocol.Malformed, "game"},
	{"offer", strings.Replace(sound["offer"], `"match"`, `"gift"`, 1), protocol.Malformed, "kind"},
	{"offer", strings.Replace(sound["offer"], `2026-11-21T04:00:00Z`, `today`, 1), protocol.Malformed, "RFC 3339"},
	{"offer answer", strings.Replace(sound["offer answer"], `"accept"`, `"maybe"`, 1), protocol.Malformed, "answer"},
	{"offer answer", strings.Replace(sound["offer answer"], `"player":"a",`, ``, 1), protocol.Malformed, "player"},
	{"act", strings.Replace(sound["act"], `"offer"`, `"insist"`, 1), protocol.Malformed, "step"},
	{"act", strings.Replace(sound["act"], `"step":"offer"`, `"fault":"tired"`, 1), protocol.Malformed, "fault"},
	{"act", strings.Replace(sound["act"], `"step":"offer"`, `"step":"offer","fault":"crash"`, 1), protocol.Malformed, "fault"},
	{"standings", strings.Replace(sound["standings"], `"gomoku"`, `""`, 1), protocol.Malformed, "game"},
	{"chat", strings.Replace(sound["chat"], `good luck`, strings.Repeat("x", 500), 1), protocol.Malformed, "text: longer"},
	{"chat", strings.Replace(sound["chat"], `good luck, 祝你好運`, ``, 1), protocol.Malformed, "text: missing"},
	{"state", strings.Replace(sound["state"], `"status":"playing"`, `"status":""`, 1), protocol.Malformed, "status"},
	{"state", strings.Replace(sound["state"], `"player":"a"`, `"player":""`, 1), protocol.Malformed, "holders"},
	{"state", strings.Replace(sound["state"], `"you":"first"`, `"you":2`, 1), protocol.Malformed, "field you"},
	{"state", strings.Replace(sound["state"], `"none"`, `"both"`, 1), protocol.Malformed, ""},
	{"notice", strings.Replace(sound["notice"], `"kind":"chat",`, ``, 1), protocol.Malformed, "kind"},
	{"event", strings.Replace(sound["event"], `"kind":"move",`, ``, 1), protocol.Malformed, "kind"},
	{"fleet request", strings.Replace(sound["fleet request"], `"to":"sparring.fleet.bot.i1.pause",`, ``, 1), protocol.Malformed, "to: missing"},
	{"fleet request", strings.Replace(sound["fleet request"], `new disk`, strings.Repeat("x", 501), 1), protocol.Malformed, "text: longer"},
	{"fleet report", strings.Replace(sound["fleet report"], `"mode":"running",`, ``, 1), protocol.Malformed, "process and mode"},
	{"fleet report", strings.Replace(sound["fleet report"], `"player":"a"`, `"player":"*"`, 1), protocol.Malformed, "player"},
	{"analysis request", strings.Replace(sound["analysis request"], `"rules":"gomoku/freestyle-15",`, ``, 1), protocol.Malformed, "rules: missing"},
	{"analysis request", strings.Replace(sound["analysis request"], `"time_ms":1000`, `"time_ms":0`, 1), protocol.Malformed, "time_ms"},
	{"analysis request", strings.Replace(sound["analysis request"], `"time_ms":1000`, `"time_ms":60001`, 1), protocol.Malformed, "time_ms"},
	{"analysis request", strings.Replace(sound["analysis request"], `"nodes":5000`, `"nodes":1000000001`, 1), protocol.Malformed, "nodes"},
	{"analysis request", strings.Replace(sound["analysis request"], `"lines":2`, `"lines":9`, 1), protocol.Malformed, "lines"},
	{"analysis request", strings.Replace(sound["analysis request"], `["h9"]`, `["`+strings.Repeat("h", 33)+`"]`, 1), protocol.Malformed, "consider"},
	{"analysis request", strings.Replace(sound["analysis request"], `["h8"]`, `[""]`, 1), protocol.Malformed, "moves"},
	{"analysis request", strings.Replace(sound["analysis request"], `["h8"]`, `[`+strings.Repeat(`"h",`, 4096)+`"h"]`, 1), protocol.TooLarge, "bytes"},
	{"analysis request", strings.Replace(sound["analysis request"], `"review"`, `"fun"`, 1), protocol.Malformed, "purpose"},
	{"analysis cancel", `{"v":1}`, protocol.Malformed, "id:"},
	{"analysis", strings.Replace(sound["analysis"], `"code":"accepted",`, ``, 1), protocol.Malformed, "code"},
	{"analysis", strings.Replace(sound["analysis"], `"chance":0.5`, `"chance":1.5`, 1), protocol.Malformed, "chance"},
	{"analysis", strings.Replace(sound["analysis"], `"chance":0.5,"moves"`, `"chance":-1,"moves"`, 1), protocol.Malformed, "chance"},
	{"analysis", strings.Replace(sound["analysis"], `"depth":3`, `"depth":-1`, 1), protocol.Malformed, "depth"},
	{"analysis", strings.Replace(sound["analysis"], `"nodes":40`, `"nodes":-1`, 1), protocol.Malformed, "nodes"},
	{"analysis", strings.Replace(sound["analysis"], `"score":-3`, `"score":-9999999`, 1), protocol.Malformed, "score"},
	{"analysis", strings.Replace(sound["analysis"], `["h9"]`, `[]`, 1), protocol.Malformed, "moves"},
	{"analysis", strings.Replace(sound["analysis"], `["h9"]`, `["h9"`+strings.Repeat(`,"h9"`, 64)+`]`, 1), protocol.Malformed, "moves"},
}

func TestDecodeFaults(t *testing.T) {
	for i, c := range faults {
		_, refusal := kinds[c.kind]([]byte(c.msg))
		if refusal == nil {
			t.Errorf("%d: %s %.100q: accepted", i, c.kind, c.msg)
			continue
		}
		if refusal.Code != c.code || !strings.Contains(refusal.Text, c.text) {
			t.Errorf("%d: %s %.100q: %v, want %s with %q", i, c.kind, c.msg, refusal, c.code, c.text)
		}
	}
}

// A refusal never quotes what was sent: otherwise anybody could make the platform
// publish a text of their choice.
func TestDecodeEchoesNothing(t *testing.T) {
	const mark = "CANARY"
	for kind, msg := range sound {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(msg), &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			for _, value := range []string{`"` + mark + `"`, `{"` + mark + `":1}`, `["` + mark + `"]`, `1234567890.5e7`, `"` + strings.Repeat(mark, 2000) + `"`} {
				changed := map[string]json.RawMessage{}
				for k, v := range fields {
					changed[k] = v
				}
				changed[name] = json.RawMessage(value)
				_, refusal := kinds[kind](encode(t, changed))
				if refusal != nil && (strings.Contains(refusal.Text, mark) || strings.Contains(refusal.Text, "1234567890") || len(refusal.Text) > 200) {
					t.Errorf("%s with %s=%.30s: says %q", kind, name, value, refusal.Text)
				}
			}
		}
	}
}

// fuzzDecode checks that any bytes are either refused, or decoded to a message that
// survives a round trip.
func fuzzDecode(f *testing.F, kind string) {
	f.Add([]byte(sound[kind]))
	for _, c := range faults {
		if c.kind == kind || c.kind == "move" {
			f.Add([]byte(c.msg))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msg, refusal := kinds[kind](data)
		if refusal != nil {
			if refusal.Code == "" || refusal.Text == "" {
				t.Fatalf("a refusal without a reason: %+v", refusal)
			}
			return
		}
		out := encode(t, msg)
		if len(out) > protocol.DefaultLimits.MessageBytes {
			return // escapes may make it longer
		}
		again, refusal := kinds[kind](out)
		if refusal != nil {
			t.Fatalf("%s was read, but not what was written of it, %s: %v", data, out, refusal)
		}
		if third := encode(t, again); string(third) != string(out) {
			t.Fatalf("written as %s, then as %s", out, third)
		}
	})
}

func FuzzDecodeHello(f *testing.F)       { fuzzDecode(f, "hello") }
func FuzzDecodeAlive(f *testing.F)       { fuzzDecode(f, "alive") }
func FuzzDecodeLeave(f *testing.F)       { fuzzDecode(f, "leave") }
func FuzzDecodeChallenge(f *testing.F)   { fuzzDecode(f, "challenge") }
func FuzzDecodeWithdraw(f *testing.F)    { fuzzDecode(f, "withdraw") }
func FuzzDecodeStandings(f *testing.F)   { fuzzDecode(f, "standings") }
func FuzzDecodeOffer(f *testing.F)       { fuzzDecode(f, "offer") }
func FuzzDecodeOfferAnswer(f *testing.F) { fuzzDecode(f, "offer answer") }
func FuzzDecodeMove(f *testing.F)        { fuzzDecode(f, "move") }
func FuzzDecodeAct(f *testing.F)         { fuzzDecode(f, "act") }
func FuzzDecodeChat(f *testing.F)        { fuzzDecode(f, "chat") }
func FuzzDecodeState(f *testing.F)       { fuzzDecode(f, "state") }
func FuzzDecodeNotice(f *testing.F)      { fuzzDecode(f, "notice") }
func FuzzDecodeEvent(f *testing.F)       { fuzzDecode(f, "event") }

func FuzzDecodeAnalysisRequest(f *testing.F) { fuzzDecode(f, "analysis request") }
func FuzzDecodeAnalysis(f *testing.F)        { fuzzDecode(f, "analysis") }

func TestIDs(t *testing.T) {
	for id, want := range map[protocol.PlayerID]bool{
		"a": true, "xiangqi-hare_2": true, protocol.PlayerID(strings.Repeat("a", 32)): true,
		"": false, "A": false, "a.b": false, "*": false, ">": false, "a b": false, "é": false, "a\n": false,
		protocol.PlayerID(strings.Repeat("a", 33)): false,
	} {
		if err := protocol.CheckID("player", id); (err == nil) != want {
			t.Errorf("player %q: %v", id, err)
		}
	}
	for p, want := range map[protocol.Pool]bool{
		"xiangqi.blitz": true, "a.b.c.d": true, "player.alice": true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "a.>": false, "*": false, "a.b.c.d.e": false,
	} {
		if err := p.Check(); (err == nil) != want {
			t.Errorf("pool %q: %v", p, err)
		}
	}
	for prefix, want := range map[string]bool{"": true, "my.club": true, "*": false, "a b": false, "$JS": false} {
		if _, err := protocol.NewSubjects(prefix); (err == nil) != want {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	if a, b := protocol.NewID(), protocol.NewID(); a == b || protocol.CheckID("id", a) != nil {
		t.Errorf("new ids %q %q", a, b)
	}
}

// Parsing a subject returns what it was built from. Other subjects do not parse.
func TestSubjects(t *testing.T) {
	for _, prefix := range []string{"", "my.club"} {
		s, err := protocol.NewSubjects(prefix)
		if err != nil {
			t.Fatal(err)
		}
		if p, g, a, ok := s.ParseAct(s.Act("alice", "g1", protocol.ActMove)); !ok || p != "alice" || g != "g1" || a != protocol.ActMove {
			t.Errorf("act: %v %v %v %v", p, g, a, ok)
		}
		if p, v, ok := s.ParsePlay(s.Play("alice", protocol.VerbHello)); !ok || p != "alice" || v != protocol.VerbHello {
			t.Errorf("play: %v %v %v", p, v, ok)
		}
		if g, ok := s.ParseLog(s.Log("g1")); !ok || g != "g1" {
			t.Errorf("log: %v %v", g, ok)
		}
		for _, other := range []string{"", "play.alice.hello", s.Prefix(), s.Watch("g1"), s.ToGame("a", "g1"), s.Act("a", "g", "move") + ".x", "x" + s.Log("g1")} {
			if _, _, _, ok := s.ParseAct(other); ok {
				t.Errorf("%q parses as an act", other)
			}
			if _, _, ok := s.ParsePlay(other); ok {
				t.Errorf("%q parses as a verb", other)
			}
			if _, ok := s.ParseLog(other); ok {
				t.Errorf("%q parses as a log", other)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	err := fmt.Errorf("move: %w", protocol.Refuse(protocol.Stale, "epoch %d", 3))
	if !errors.Is(err, &protocol.Error{Code: protocol.Stale}) || errors.Is(err, &protocol.Error{Code: protocol.Late}) {
		t.Error("refusals don't compare by code")
	}
	if err.Error() != "move: stale: epoch 3" {
		t.Error(err)
	}
}
