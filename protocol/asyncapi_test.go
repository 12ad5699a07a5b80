package protocol_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// document is the part of docs/asyncapi.yaml that is compared with the code.
type document struct {
	AsyncAPI string `yaml:"asyncapi"`
	Channels map[string]struct {
		Address  *string        `yaml:"address"`
		Messages map[string]ref `yaml:"messages"`
		Bindings struct {
			NATS struct {
				Queue string `yaml:"queue"`
			} `yaml:"nats"`
		} `yaml:"bindings"`
		Parameters map[string]ref `yaml:"parameters"`
	} `yaml:"channels"`
	Operations map[string]struct {
		Action   string `yaml:"action"`
		Channel  ref    `yaml:"channel"`
		Messages []ref  `yaml:"messages"`
		Reply    *struct {
			Channel  ref   `yaml:"channel"`
			Messages []ref `yaml:"messages"`
		} `yaml:"reply"`
	} `yaml:"operations"`
	Components struct {
		Parameters map[string]any `yaml:"parameters"`
		Messages   map[string]struct {
			Payload ref `yaml:"payload"`
		} `yaml:"messages"`
		Schemas map[string]map[string]any `yaml:"schemas"`
	} `yaml:"components"`
}

type ref struct {
	To string `yaml:"$ref"`
}

func (r ref) name() string { return r.To[strings.LastIndex(r.To, "/")+1:] }

const asyncapiPath = "../docs/asyncapi.yaml"

func readDocument(t *testing.T) (doc document, whole any) {
	t.Helper()
	data, err := os.ReadFile(asyncapiPath)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	// Through JSON, so that numbers are what the validator expects.
	whole, err = jsonschema.UnmarshalJSON(bytes.NewReader(encode(t, whole)))
	if err != nil {
		t.Fatal(err)
	}
	return doc, whole
}

// messages are the payloads by their name in the document.
var messages = map[string]reflect.Type{
	"offer": reflect.TypeFor[protocol.Offer](), "offerAnswer": reflect.TypeFor[protocol.OfferAnswer](),
	"hello": reflect.TypeFor[protocol.Hello](), "helloAnswer": reflect.TypeFor[protocol.HelloAnswer](),
	"alive": reflect.TypeFor[protocol.Alive](), "aliveAnswer": reflect.TypeFor[protocol.AliveAnswer](),
	"leave": reflect.TypeFor[protocol.Leave](), "answer": reflect.TypeFor[protocol.Answer](),
	"challenge": reflect.TypeFor[protocol.ChallengeRequest](), "challengeAnswer": reflect.TypeFor[protocol.ChallengeAnswer](),
	"standings": reflect.TypeFor[protocol.StandingsRequest](), "standingsAnswer": reflect.TypeFor[protocol.StandingsAnswer](),
	"withdraw": reflect.TypeFor[protocol.Withdraw](), "move": reflect.TypeFor[protocol.MoveRequest](),
	"act": reflect.TypeFor[protocol.ActRequest](), "chat": reflect.TypeFor[protocol.ChatRequest](),
	"actAnswer": reflect.TypeFor[protocol.ActAnswer](), "state": reflect.TypeFor[protocol.State](),
	"notice": reflect.TypeFor[protocol.Notice](), "event": reflect.TypeFor[protocol.Event](),
	"storedChallenge": reflect.TypeFor[protocol.Challenge](),
	"analysisRequest": reflect.TypeFor[protocol.AnalysisRequest](), "analysis": reflect.TypeFor[protocol.Analysis](),
	"analysisCancel": reflect.TypeFor[protocol.AnalysisCancel](),
	"fleetRequest":   reflect.TypeFor[protocol.FleetRequest](), "fleetReport": reflect.TypeFor[protocol.Report](),
}

// The document lists exactly the subjects that the code builds.
func TestAsyncAPISubjects(t *testing.T) {
	doc, _ := readDocument(t)
	if doc.AsyncAPI != "3.0.0" {
		t.Errorf("asyncapi %q", doc.AsyncAPI)
	}
	s := mustSubjects(t)
	want := map[string]string{
		"offer": s.Offer("POOL"), "analyse": s.Analyse("KIND"), "analyseCancel": s.AnalyseCancel("KIND", "REQUEST"), "storedChallenge": s.Challenge("GAME", "POOL"),
		"state": s.ToGame("PLAYER", "GAME"), "notice": s.ToNotice("PLAYER"),
		"watch": s.Watch("GAME"), "log": s.Log("GAME"), "record": s.Record("KIND", "GAME"),
	}
	for _, v := range []protocol.Verb{protocol.VerbHello, protocol.VerbAlive, protocol.VerbLeave, protocol.VerbChallenge, protocol.VerbWithdraw, protocol.VerbStandings} {
		want[string(v)] = s.Play("PLAYER", v)
	}
	for _, a := range []protocol.Action{protocol.ActMove, protocol.ActResign, protocol.ActDraw, protocol.ActTakeback, protocol.ActChat} {
		want[string(a)] = s.Act("PLAYER", "GAME", a)
	}
	want["fleetReport"], want["fleetAbort"] = s.FleetAll(), s.FleetGame("GAME", protocol.FleetAbort)
	for name, v := range map[string]protocol.FleetVerb{"fleetPause": protocol.FleetPause, "fleetDrain": protocol.FleetDrain, "fleetResume": protocol.FleetResume} {
		want[name] = s.FleetBot("INSTANCE", v)
	}
	names := strings.NewReplacer("{prefix}", s.Prefix(), "{instance}", "INSTANCE", "{pool}", "POOL", "{player}", "PLAYER", "{game}", "GAME", "{gameName}", "KIND", "{request}", "REQUEST")
	for name, c := range doc.Channels {
		if c.Address == nil { // a reply subject
			continue
		}
		if got := names.Replace(*c.Address); got != want[name] {
			t.Errorf("channel %s is %s, the code says %q", name, got, want[name])
		}
		delete(want, name)
		for p := range c.Parameters {
			if _, ok := doc.Components.Parameters[p]; !ok || !strings.Contains(*c.Address, "{"+p+"}") {
				t.Errorf("channel %s: parameter %s", name, p)
			}
		}
		if n := strings.Count(*c.Address, "{"); n != len(c.Parameters) {
			t.Errorf("channel %s: %d parameters described, %d in %s", name, len(c.Parameters), n, *c.Address)
		}
	}
	for name := range want {
		t.Errorf("channel %s is not described", name)
	}
	if q := doc.Channels["offer"].Bindings.NATS.Queue; q != protocol.BotsQueue {
		t.Errorf("queue group of offers: %s", q)
	}
	for _, name := range []string{"analyse", "analyseCancel"} {
		if q := doc.Channels[name].Bindings.NATS.Queue; q != protocol.AnalystsQueue {
			t.Errorf("queue group of %s: %s", name, q)
		}
	}
}

// Every reference within the document can be resolved, and every message and
// schema is used.
func TestAsyncAPIReferences(t *testing.T) {
	doc, whole := readDocument(t)
	used := map[string]bool{}
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if to, ok := v["$ref"].(string); ok && strings.HasPrefix(to, "#/") {
				used[to] = true
				target := whole
				for _, step := range strings.Split(to, "/")[1:] {
					m, _ := target.(map[string]any)
					if target, ok = m[step]; !ok {
						t.Errorf("%s: %s does not exist", at, to)
						break
					}
				}
			}
			for k, x := range v {
				walk(at+"/"+k, x)
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s/%d", at, i), x)
			}
		}
	}
	walk("#", whole)
	for name := range doc.Components.Messages {
		if !used["#/components/messages/"+name] {
			t.Errorf("message %s is used in no channel", name)
		}
	}
	for name := range doc.Components.Schemas {
		if !used["#/components/schemas/"+name] {
			t.Errorf("schema %s is used nowhere", name)
		}
	}
	for name, op := range doc.Operations {
		if op.Action != "send" && op.Action != "receive" {
			t.Errorf("operation %s: action %q", name, op.Action)
		}
		for _, m := range op.Messages {
			if !strings.HasPrefix(m.To, op.Channel.To+"/messages/") {
				t.Errorf("operation %s: message %s is not of %s", name, m.To, op.Channel.To)
			}
		}
		if op.Reply == nil {
			continue
		}
		for _, m := range op.Reply.Messages {
			if !strings.HasPrefix(m.To, op.Reply.Channel.To+"/messages/") {
				t.Errorf("operation %s: reply %s is not of %s", name, m.To, op.Reply.Channel.To)
			}
		}
	}
}

// Each schema has the fields of its Go type with matching types, and requires
// those that the type always writes.
func TestAsyncAPISchemas(t *testing.T) {
	doc, _ := readDocument(t)
	for name, m := range doc.Components.Messages {
		if name == "record" {
			continue // a separate schema, tested in package record
		}
		typ, ok := messages[name]
		if !ok {
			t.Errorf("message %s is not known to the code", name)
			continue
		}
		compareSchema(t, doc, m.Payload.name(), doc.Components.Schemas[m.Payload.name()], typ)
	}
	for name := range messages {
		if _, ok := doc.Components.Messages[name]; !ok {
			t.Errorf("message %s is not described", name)
		}
	}
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

// compareSchema compares a schema with a Go type, recursively.
func compareSchema(t *testing.T, doc document, at string, schema map[string]any, typ reflect.Type) {
	t.Helper()
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if all, ok := schema["allOf"].([]any); ok {
		schema = all[0].(map[string]any)
	}
	if to, ok := schema["$ref"].(string); ok {
		schema = doc.Components.Schemas[ref{to}.name()]
	}
	want := "object"
	switch {
	case typ == timeType || typ.Implements(textMarshaler) || typ.Kind() == reflect.String:
		want = "string"
	case typ.Kind() == reflect.Bool:
		want = "boolean"
	case typ.Kind() == reflect.Slice || typ.Kind() == reflect.Array:
		want = "array"
	case typ.Kind() == reflect.Float64:
		want = "number"
	case typ.Kind() != reflect.Struct:
		want = "integer"
	}
	if schema["const"] == nil && schema["type"] != want {
		t.Errorf("%s: type %v, the code writes %s", at, schema["type"], want)
		return
	}
	switch want {
	case "array":
		items, _ := schema["items"].(map[string]any)
		compareSchema(t, doc, at+"[]", items, typ.Elem())
	case "object":
		properties, _ := schema["properties"].(map[string]any)
		var required []string
		list, _ := schema["required"].([]any)
		for _, r := range list {
			required = append(required, r.(string))
		}
		var names []string
		for _, f := range jsonFields(typ) {
			names = append(names, f.name)
			property, ok := properties[f.name].(map[string]any)
			if !ok {
				t.Errorf("%s.%s is not described", at, f.name)
				continue
			}
			if slices.Contains(required, f.name) == f.optional {
				t.Errorf("%s.%s: required %v, the code may leave it out: %v", at, f.name, !f.optional, f.optional)
			}
			compareSchema(t, doc, at+"."+f.name, property, f.typ)
		}
		for name := range properties {
			if !slices.Contains(names, name) {
				t.Errorf("%s.%s is described, the code does not know it", at, name)
			}
		}
	}
}

type jsonField struct {
	name     string
	typ      reflect.Type
	optional bool
}

// jsonFields returns the fields that encoding/json writes.
func jsonFields(typ reflect.Type) (out []jsonField) {
	for f := range typ.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			out = append(out, jsonFields(f.Type)...)
			continue
		}
		if tag != "-" {
			out = append(out, jsonField{tag, f.Type, strings.Contains(options, "omit")})
		}
	}
	return out
}

// validator checks messages against the schemas of the document.
func validator(t *testing.T, doc document, whole any) func(message string, data []byte) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const url = "https://sparring.invalid/asyncapi.json"
	if err := c.AddResource(url, whole); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for name, m := range doc.Components.Messages {
		if !strings.HasPrefix(m.Payload.To, "#") {
			continue
		}
		s, err := c.Compile(url + m.Payload.To)
		if err != nil {
			t.Fatal(err)
		}
		schemas[name] = s
	}
	return func(message string, data []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return err
		}
		return schemas[message].Validate(v)
	}
}

// described names the messages of the tables in decode_test.go as the document does.
var described = map[string]string{"offer answer": "offerAnswer", "analysis request": "analysisRequest", "analysis cancel": "analysisCancel",
	"fleet request": "fleetRequest", "fleet report": "fleetReport"}

func describedAs(kind string) string {
	if name, ok := described[kind]; ok {
		return name
	}
	return kind
}

// Messages that the code accepts or writes are valid by the schema. Messages that
// it refuses are not, unless a schema can't express why.
func TestAsyncAPIExamples(t *testing.T) {
	doc, whole := readDocument(t)
	valid := validator(t, doc, whole)
	for kind, msg := range sound {
		if err := valid(describedAs(kind), []byte(msg)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		read, refusal := kinds[kind]([]byte(msg))
		if refusal != nil {
			t.Fatal(refusal)
		}
		if err := valid(describedAs(kind), encode(t, read)); err != nil {
			t.Errorf("%s as written: %v", kind, err)
		}
	}
	for name, typ := range messages {
		v := reflect.New(typ)
		fill(v.Elem())
		data := encode(t, v.Interface())
		switch name {
		case "challenge": // it names a pool or an opponent, not both
			data = bytes.Replace(data, []byte(`"pool":"x",`), nil, 1)
		case "act": // a step has no fault
			data = bytes.Replace(data, []byte(`,"step":"offer"`), nil, 1)
		}
		if err := valid(name, data); err != nil {
			t.Errorf("%s with every field, %s: %v", name, data, err)
		}
	}
	// The platform refuses it, not the decoder: records have such clocks.
	if unplayable := strings.Replace(sound["challenge"], `60/5x10`, `0.0+1`, 1); valid("challenge", []byte(unplayable)) == nil {
		t.Errorf("challenge %s: valid", unplayable)
	}
	for _, c := range faults {
		if c.code != protocol.Malformed && c.code != protocol.BadVersion || !json.Valid([]byte(c.msg)) ||
			slices.Contains([]string{"control character", "contains an invisible", "min_rating is above max_rating", "fastest is slower than slowest", "UTF-8", "holders", "clock: longer than two weeks", "without fraction or exponent"}, c.text) {
			continue
		}
		if err := valid(describedAs(c.kind), []byte(c.msg)); err == nil {
			t.Errorf("%s %.200s: valid, the code refuses it (%s)", c.kind, c.msg, c.text)
		}
	}
}

// Every request may be refused by an answer that has nothing but the refusal: what can't be
// read is refused before anybody knows what it asks for.
func TestAsyncAPIRefusals(t *testing.T) {
	doc, whole := readDocument(t)
	valid := validator(t, doc, whole)
	refusal := encode(t, protocol.Answer{Header: protocol.Header{V: protocol.Version}, Code: protocol.Malformed,
		Error: protocol.Refuse(protocol.Malformed, "slots: want 0 to 10000"), ServerTime: time.Date(2026, 11, 21, 4, 0, 0, 5e8, time.UTC)})
	sent := 0
	for name, op := range doc.Operations {
		if op.Action != "send" || op.Reply == nil {
			continue
		}
		sent++
		if !slices.ContainsFunc(op.Reply.Messages, func(m ref) bool { return valid(m.name(), refusal) == nil }) {
			t.Errorf("operation %s: no reply is %s", name, refusal)
		}
	}
	if sent == 0 {
		t.Error("no operation sends a request")
	}
}

// words has a valid value of every type with a fixed set of values.
var words = map[reflect.Type]string{
	reflect.TypeFor[protocol.Kind](): string(protocol.Bot), reflect.TypeFor[protocol.Code](): string(protocol.Accepted),
	reflect.TypeFor[protocol.OfferKind](): string(protocol.OfferSeat), reflect.TypeFor[protocol.OfferDecision](): string(protocol.Accept),
	reflect.TypeFor[protocol.DeclineReason](): string(protocol.DeclineClock), reflect.TypeFor[protocol.Step](): string(protocol.StepOffer),
	reflect.TypeFor[game.Reason]():         string(protocol.ReasonCrash),
	reflect.TypeFor[protocol.NoticeKind](): string(protocol.NoticeChat), reflect.TypeFor[protocol.Status](): string(protocol.Halted),
	reflect.TypeFor[protocol.EventKind](): string(protocol.EventSeat), reflect.TypeFor[clock.Speed](): string(clock.Blitz),
	reflect.TypeFor[protocol.Purpose](): string(protocol.ForReview), reflect.TypeFor[protocol.Mode](): string(protocol.ModePaused),
	reflect.TypeFor[protocol.ProcessKind](): string(protocol.BotProcess),
}

// fill sets every field to a valid value.
func fill(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Date(2026, 11, 21, 4, 0, 0, 5e8, time.UTC)
		return
	case interface{ UnmarshalText([]byte) error }:
		for _, text := range []string{"second", "60/5x10", "draw"} {
			if x.UnmarshalText([]byte(text)) == nil {
				return
			}
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
			if v.Type().Field(i).Name == "Key" {
				v.Field(i).SetString("0123456789abcdef")
			}
		}
	case reflect.String:
		v.SetString("x")
		if w, ok := words[v.Type()]; ok {
			v.SetString(w)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}
