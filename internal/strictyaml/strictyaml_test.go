package strictyaml

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// file has a key of every kind.
type file struct {
	name string
	n    int
	wait time.Duration
	all  []string
	by   []string
}

func read(data string) (f file, err error) {
	top, err := Parse([]byte(data))
	if err != nil {
		return f, err
	}
	err = Keys{
		"name": Text(&f.name), "n": Number(&f.n), "wait": Span(time.Second, func(v time.Duration) { f.wait = v }), "all": List(&f.all),
		"by": Names(func(name, value *yaml.Node) error { f.by = append(f.by, name.Value+" "+value.Value); return nil }),
	}.Read(top)
	return f, err
}

func TestRead(t *testing.T) {
	f, err := read("---\nname: x\nn: 3\nwait: 2s\nall:\n  - a b\n  - c\nby:\n  one: 1\n  two: 2\n...\n")
	want := file{"x", 3, 2 * time.Second, []string{"a b", "c"}, []string{"one 1", "two 2"}}
	if err != nil || !reflect.DeepEqual(f, want) {
		t.Errorf("%+v, %v, want %+v", f, err, want)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "the file is empty",
		"name: [":                "line 1: ",
		"name: x\nby:\n\ta: 1":   "line 3: a tab indents it: want spaces",
		"by:\n  a: 1\n \tb: 2":   "line 3: a tab indents it: want spaces",
		"by:\n  a: @":            "line 2: ",
		"- name":                 "line 1: want keys with values",
		"name: x\nage: 5":        `line 2: no key "age" (have all, by, n, name, wait)`,
		"name: x\nn: 5\nname: y": "line 3: name is given twice",
		"name: x\nn: 0":          `line 2: n: "0": want a number of at least 1`,
		"wait: 5":                `line 1: wait: "5": want a time`,
		"wait: 5ms":              `line 1: wait: "5ms": want a time`,
		"name: {a: b}":           "line 1: name: want a text",
		"all: x":                 "line 1: all: want a list",
		"all: []":                "line 1: all: want a list with something in it",
		"name: x\n---\nn: 5":     "line 2: a second document begins here: want one",
		"name: x\n---\nn: [":     "line 3: ",
		"by: {}":                 "line 1: by: want names with values",
		"by: [a]":                "line 1: by: want names with values",
		"by:\n  a: 1\n  a: 2":    "line 3: a is given twice",
		"all:\n  - x\n  - [y]":   "line 3: want a text",
	} {
		if _, err := read(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
