package protocol_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

func readPage(t *testing.T) string { return readDoc(t, "protocol.md") }

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var example = regexp.MustCompile("(?s)```json (\\w+)\n(.*?)```")

// The code and asyncapi.yaml accept the examples of the page, and those of the game that
// TestProtocolExample of package arena plays.
func TestPageExamples(t *testing.T) {
	doc, whole := readDocument(t)
	valid := validator(t, doc, whole)
	seen := map[string]bool{}
	for _, m := range example.FindAllStringSubmatch(readPage(t)+readDoc(t, "protocol-example.md"), -1) {
		name, data := m[1], []byte(m[2])
		seen[name] = true
		if _, ok := messages[name]; !ok {
			t.Errorf("example of an unknown message %q", name)
			continue
		}
		if err := valid(name, data); err != nil {
			t.Errorf("%s %s: %v", name, data, err)
		}
		kind := name
		for k, d := range described {
			if d == name {
				kind = k
			}
		}
		if f, ok := kinds[kind]; ok {
			if _, refusal := f(data); refusal != nil {
				t.Errorf("%s %s: %v", name, data, refusal)
			}
		}
	}
	for name := range messages {
		if !seen[name] {
			t.Errorf("the page has no example of %s", name)
		}
	}
}

// The page mentions every code, subject, reason to decline and kind of notice.
func TestPageIsComplete(t *testing.T) {
	page := readPage(t)
	doc, _ := readDocument(t)
	for _, schema := range []string{"Code", "DeclineReason", "NoticeKind"} {
		words, _ := doc.Components.Schemas[schema]["enum"].([]any)
		if len(words) == 0 {
			t.Errorf("%s has no words", schema)
		}
		for _, w := range words {
			if !strings.Contains(page, "`"+w.(string)+"`") {
				t.Errorf("%s %s is not on the page", schema, w)
			}
		}
	}
	for _, v := range []protocol.Verb{protocol.VerbHello, protocol.VerbAlive, protocol.VerbLeave, protocol.VerbChallenge, protocol.VerbWithdraw} {
		if !strings.Contains(page, "`play.<player>."+string(v)+"`") {
			t.Errorf("subject of %s is not on the page", v)
		}
	}
}

// The keys on the page are those of the rules, in the table and in the examples.
func TestPageKeys(t *testing.T) {
	page := readPage(t)
	for _, c := range []struct{ rules, moves string }{
		{"xiangqi/simple", ""}, {"xiangqi/simple", "h2e2"},
		{"gomoku/freestyle-15", "h8"}, {"gomoku/freestyle-15+swap2", ""}, {"gomoku/renju-15+rif", "h8 h9 h10 swap i8 offer:h7"},
		{"amazons/10x10", ""}, {"amazons/10x10", "d1d7/b7"},
	} {
		where := "after " + c.moves
		if c.moves == "" {
			where = "start"
		}
		if row := fmt.Sprintf("| %s | %s | `%s` |", c.rules, where, keyAfter(t, c.rules, strings.Fields(c.moves))); !strings.Contains(page, row) {
			t.Errorf("the page lacks %s", row)
		}
	}
	var state protocol.State
	var move protocol.MoveRequest
	for _, m := range example.FindAllStringSubmatch(page, -1) {
		var err error
		switch m[1] {
		case "state":
			err = json.Unmarshal([]byte(m[2]), &state)
		case "move":
			err = json.Unmarshal([]byte(m[2]), &move)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := keyAfter(t, state.Terms.Rules, state.Moves); state.Key != want {
		t.Errorf("the state has key %s, the rules say %s", state.Key, want)
	}
	if want := keyAfter(t, state.Terms.Rules, append(state.Moves, move.Move)); move.Key != want {
		t.Errorf("the move has key %s, the rules say %s", move.Key, want)
	}
}

func keyAfter(t *testing.T, name string, moves []string) string {
	t.Helper()
	rules, err := catalog.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	pos, err := game.Replay(rules, "", moves)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%016x", pos.Key())
}
