package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"sparring/protocol"
)

// wiretap receives all messages in the platform's account and checks them against
// docs/asyncapi.yaml.
type wiretap struct {
	t        *testing.T
	subjects []tapped

	mu       sync.Mutex
	answers  map[string]*jsonschema.Schema // by the reply subject of a request
	received map[string]int                // messages by channel
	faults   []string
}

// tapped is a channel of the document.
type tapped struct {
	name    string
	address *regexp.Regexp
	message *jsonschema.Schema
	answer  *jsonschema.Schema // nil: none
}

// tap subscribes to all messages.
func (h *fleet) tap(url string) *wiretap {
	h.t.Helper()
	w := &wiretap{t: h.t, subjects: readChannels(h.t), answers: map[string]*jsonschema.Schema{}, received: map[string]int{}}
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "wiretap", User: "platform", Password: password("platform"), Log: zerolog.Nop()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	if _, err := nc.Subscribe(">", w.receive); err != nil {
		h.t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (w *wiretap) receive(msg *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	schema, name := w.answers[msg.Subject], "answer"
	delete(w.answers, msg.Subject)
	for _, c := range w.subjects {
		if c.address.MatchString(msg.Subject) {
			schema, name = c.message, c.name
			if c.answer != nil && msg.Reply != "" {
				w.answers[msg.Reply] = c.answer
			}
		}
	}
	if schema == nil { // JetStream's own
		if strings.HasPrefix(msg.Subject, protocol.DefaultPrefix+".") {
			w.faults = append(w.faults, "no channel described for "+msg.Subject)
		}
		return
	}
	if len(msg.Data) == 0 && msg.Header.Get("Status") == "503" { // no responders
		return
	}
	w.received[name]++
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(msg.Data))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil && len(w.faults) < 10 {
		w.faults = append(w.faults, fmt.Sprintf("%s on %s: %v\n%.2000s", name, msg.Subject, err, msg.Data))
	}
}

// report fails the test for messages that differ from the document.
func (w *wiretap) report() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("messages checked against asyncapi.yaml: %v", w.received)
	for _, f := range w.faults {
		w.t.Error(f)
	}
	for _, name := range []string{"hello", "alive", "offer", "move", "state", "log", "storedChallenge", "record", "watch", "answer"} {
		if w.received[name] == 0 {
			w.t.Errorf("no message on %s", name)
		}
	}
}

// readChannels compiles the document's channels with the schemas of their
// messages and of the answers to them.
func readChannels(t *testing.T) []tapped {
	t.Helper()
	docs := filepath.Join(root, "docs")
	data, err := os.ReadFile(filepath.Join(docs, "asyncapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	type ref struct {
		To string `yaml:"$ref"`
	}
	var doc struct {
		Channels map[string]struct {
			Address  string         `yaml:"address"`
			Messages map[string]ref `yaml:"messages"`
		} `yaml:"channels"`
		Operations map[string]struct {
			Channel ref `yaml:"channel"`
			Reply   struct {
				Messages []ref `yaml:"messages"`
			} `yaml:"reply"`
		} `yaml:"operations"`
		Components struct {
			Messages map[string]struct {
				Payload ref `yaml:"payload"`
			} `yaml:"messages"`
		} `yaml:"components"`
	}
	var whole any
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(docs, "record.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	const base = "https://sparring.invalid/docs/"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, data := range map[string][]byte{"asyncapi.json": text, "record.schema.json": record} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(base+name, v); err != nil {
			t.Fatal(err)
		}
	}
	last := func(r ref) string { return r.To[strings.LastIndex(r.To, "/")+1:] }
	compile := func(message ref) *jsonschema.Schema {
		payload := doc.Components.Messages[last(message)].Payload.To
		at := base + "asyncapi.json" + payload
		if file, ok := strings.CutPrefix(payload, "./"); ok {
			at = base + file
		}
		s, err := compiler.Compile(at)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	var channels []tapped
	for name, c := range doc.Channels {
		if c.Address == "" || len(c.Messages) != 1 { // reply subjects, and what is reserved
			continue
		}
		address := strings.Replace(regexp.QuoteMeta(c.Address), `\{prefix\}`, protocol.DefaultPrefix, 1)
		address = strings.Replace(address, `\{pool\}`, `[a-z0-9_.-]+`, 1)
		address = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(address, `[a-z0-9_-]+`)
		ch := tapped{name: name, address: regexp.MustCompile("^" + address + "$")}
		for _, m := range c.Messages {
			ch.message = compile(m)
		}
		for _, op := range doc.Operations {
			if last(op.Channel) == name && len(op.Reply.Messages) == 1 {
				ch.answer = compile(op.Reply.Messages[0])
			}
		}
		channels = append(channels, ch)
	}
	return channels
}
