package static

import (
	"strings"
	"testing"
)

// TestLink: every module comes once, before those that import it, and nothing is left
// that a script of one file can't do. A test of the report runs such a script.
func TestLink(t *testing.T) {
	js, err := Link([]byte("// why\nimport { Board } from \"./board.js\";\nimport { Graph, mistake as next } from \"../x/graph.js\";\nnew Board(Graph, next);\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"$board", "$draw", "$scene", "$graph", "$dom"} {
		if strings.Count(js, "const "+m+" = (") != 1 {
			t.Errorf("%s is there %d times", m, strings.Count(js, "const "+m+" = ("))
		}
	}
	draw, board := strings.Index(js, "const $draw ="), strings.Index(js, "const $board =")
	if draw < 0 || draw > board || !strings.HasSuffix(js, "const { Board } = $board;\nconst { Graph, mistake: next } = $graph;\nnew Board(Graph, next);\n") {
		t.Errorf("the order of modules: draw at %d, board at %d; the end is %s", draw, board, js[max(0, len(js)-200):])
	}
	if strings.Contains(js, "\nimport ") || strings.Contains(js, "\nexport ") {
		t.Error("an import or export is left")
	}
	for bad, want := range map[string]string{
		`import { Nothing } from "./board.js";`:  "board.js exports no constant, function or class Nothing",
		`import { lang } from "./i18n.js";`:      "exports no constant",
		`import { x } from "./nowhere.js";`:      "nowhere.js",
		`import x from "./board.js";`:            "not understood: import x",
		`export default 3;`:                      "not understood: export default",
		`const later = import("./invite.js");`:   `not understood: import(`,
		"const tag = \"</script>\";":             "not understood: </script",
		`import { open } from "./invite.js"; x;`: "not understood",
	} {
		if _, err := Link([]byte(bad)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}
