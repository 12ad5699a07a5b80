package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sparring/game/catalog"
	"sparring/screen/view"
)

// ask sends a request to an address of /api.
func (h *house) ask(path, body string) *httptest.ResponseRecorder {
	return h.do(httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
}

// TestPosition: the same view as in play; for touched points, why they are not a
// move.
func TestPosition(t *testing.T) {
	h := startHouse(t, Config{})
	w := h.ask("/api/position", `{"rules":"xiangqi/wxf","moves":["h2e2","h9g7"]}`)
	var v view.View
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %v %s", w.Code, err, w.Body)
	}
	if v.Ply != 2 || v.Pieces["e2"] != "C" || len(v.Moves) == 0 || v.Written["chinese"][0] != "炮二平五" {
		t.Errorf("%+v", v)
	}
	if w := h.ask("/api/position", `{"rules":"xiangqi/wxf","touched":["b0","d1"]}`); w.Code != http.StatusOK || w.Body.String() != `{"why":"illegal.leg"}` {
		t.Errorf("why: %d %s", w.Code, w.Body)
	}
	long := strings.Repeat(`"h2e2",`, maxPositionMoves)
	for body, want := range map[string]string{
		`{"rules":"chess/normal"}`:                                 `422 unknown-game 0`,
		`{"rules":"xiangqi/wxf","position":"8/8"}`:                 `422 unknown-game 0`,
		`{"rules":"amazons/9x7"}`:                                  `422 unknown-game 0`,
		`{"rules":"xiangqi/wxf","moves":["h2e2","h2e2"]}`:          `422 illegal 2`,
		`{"rules":"xiangqi/wxf","moves":["h2e2","<b>\u202e"]}`:     `422 malformed 2`,
		`{"rules":"xiangqi/wxf","touched":["z9"]}`:                 `422 malformed 0`,
		`{"rules":"xiangqi/wxf","moves":"h2e2"}`:                   `400 malformed 0`,
		`{"rules":`:                                                `400 malformed 0`,
		``:                                                         `400 malformed 0`,
		`{"rules":"xiangqi/wxf","moves":[` + long + `"h2e2"]}`:     `413 too-large 0`,
		`{"rules":"` + strings.Repeat("x", maxPositionBody) + `"}`: `413 too-large 0`,
	} {
		w := h.ask("/api/position", body)
		var refused positionRefusal
		if err := json.Unmarshal(w.Body.Bytes(), &refused); err != nil {
			t.Errorf("%.60s: %v: %s", body, err, w.Body)
		}
		code, rest, _ := strings.Cut(want, " ")
		word, ply, _ := strings.Cut(rest, " ")
		if http.StatusText(w.Code) == "" || code != jsonText(w.Code) || word != string(refused.Code) || ply != jsonText(refused.Ply) ||
			refused.Text == "" || len(refused.Text) > 300 {
			t.Errorf("%.60s: %d %s, want %s", body, w.Code, w.Body, want)
		}
	}
	if w := h.get("/api/position"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func jsonText(v any) string {
	text, _ := json.Marshal(v) // of a number: never fails
	return string(text)
}

// TestGameSets lists all rule sets, with positions that can be asked for.
func TestGameSets(t *testing.T) {
	h := startHouse(t, Config{})
	var rows []gameRow
	if w := h.get("/api/games"); json.Unmarshal(w.Body.Bytes(), &rows) != nil || len(rows) != len(catalog.Games()) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	handicaps := 0
	for i, g := range catalog.Games() {
		if rows[i].Name != g.Name || len(rows[i].Sets) != len(g.Sets) {
			t.Fatalf("%+v", rows[i])
		}
		for _, set := range rows[i].Sets {
			if _, procedure, ok := strings.Cut(set.Rules, "+"); ok != (set.Procedure != "") || !strings.HasPrefix(procedure, set.Procedure) {
				t.Errorf("%s has the procedure %q", set.Rules, set.Procedure)
			}
			for _, c := range set.Handicaps {
				body, err := json.Marshal(positionRequest{Rules: set.Rules, Position: c.Position})
				if err != nil {
					t.Fatal(err)
				}
				if w := h.ask("/api/position", string(body)); w.Code != http.StatusOK {
					t.Errorf("%s %s: %s", set.Rules, c.Name, w.Body)
				}
				handicaps++
			}
		}
	}
	if handicaps == 0 {
		t.Error("no handicaps")
	}
}

// BenchmarkPosition answers the longest game of a request.
func BenchmarkPosition(b *testing.B) {
	req := positionRequest{Rules: "xiangqi/cxa+limit=none+repetition=none"}
	for len(req.Moves) < maxPositionMoves {
		req.Moves = append(req.Moves, "b2e2", "b7e7", "e2b2", "e7b7")
	}
	for b.Loop() {
		if _, refused := viewOf(req); refused != nil {
			b.Fatal(refused)
		}
	}
}
