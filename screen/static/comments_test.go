package static

import (
	"bytes"
	"io/fs"
	"path"
	"regexp"
	"testing"
)

func TestWithoutComments(t *testing.T) {
	for _, c := range []struct{ name, js, want string }{
		{"documentation", "/**\n * f does it.\n * @param {string} a\n */\nexport function f(a) {}\n", "\n\n\n\nexport function f(a) {}\n"},
		{"one line", "\t/** @type {string|null} */ #a = null;\n\t/** draw draws. */\n\tdraw() {}\n", "#a = null;\n\ndraw() {}\n"},
		{"cast", "const e = /** @type {HTMLElement} */ (x);\n", "const e = (x);\n"},
		{"lines", "// @ts-check\na();\n\t// why\n\tb(); // this, too\n", "\na();\n\nb();\n"},
		{"after code", "f(a, // one\n\t[b]); // two {}\nc(); // it's three\n", "f(a,\n[b]);\nc(); // it's three\n"},
		{"strings", "const u = \"https://a; // b\", r = /\\/\\*x/, s = \"/* */\";\n", "const u = \"https://a; // b\", r = /\\/\\*x/, s = \"/* */\";\n"},
	} {
		if got := string(WithoutComments([]byte(c.js))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestStyleWithoutComments(t *testing.T) {
	const css, want = "/* base:\n   colours */\n:root { top: 0; } /* a * b ** c */\n@media print {\n\ta { color: red; }\n}\n", "\n\n:root { top: 0; }\n@media print {\na { color: red; }\n}\n"
	if got := string(StyleWithoutComments([]byte(css))); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	all, err := Files.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`"[^"\n]*"`).FindAll(all, -1) {
		if bytes.Contains(m, []byte("/*")) {
			t.Errorf("the string %s has what looks like a comment", m)
		}
	}
}

// TestModulesKeepLines holds that what is served has the lines of its source, so
// that an error of a browser can be found in it.
func TestModulesKeepLines(t *testing.T) {
	err := fs.WalkDir(Files, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".js" {
			return err
		}
		js, err := fs.ReadFile(Files, name)
		if err != nil {
			return err
		}
		short := WithoutComments(js)
		if got, want := bytes.Count(short, []byte("\n")), bytes.Count(js, []byte("\n")); got != want {
			t.Errorf("%s: %d lines, want %d", name, got, want)
		}
		if i := bytes.Index(short, []byte("/**")); i >= 0 {
			t.Errorf("%s: kept the comment %.60q", name, short[i:])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
