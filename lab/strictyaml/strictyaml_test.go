package strictyaml

import (
	"strings"
	"testing"
	"time"
)

// read reads a file with a key of every kind.
func read(data string) (name string, n int, d time.Duration, all []string, err error) {
	top, err := Parse([]byte(data))
	if err != nil {
		return "", 0, 0, nil, err
	}
	err = Keys{
		"name": Text(&name), "n": Number(&n), "wait": Span(time.Second, func(v time.Duration) { d = v }), "all": List(&all),
	}.Read(top)
	return name, n, d, all, err
}

func TestRead(t *testing.T) {
	name, n, d, all, err := read("name: x\nn: 3\nwait: 2s\nall:\n  - a b\n  - c\n")
	if err != nil || name != "x" || n != 3 || d != 2*time.Second || strings.Join(all, "|") != "a b|c" {
		t.Errorf("%q, %d, %v, %q, %v", name, n, d, all, err)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "the file is empty",
		"name: [":                "line 1: ",
		"- name":                 "line 1: want keys with values",
		"name: x\nage: 5":        `line 2: no key "age" (have all, n, name, wait)`,
		"name: x\nn: 5\nname: y": "line 3: name stands here twice",
		"name: x\nn: 0":          `line 2: n: "0": want a number of at least 1`,
		"wait: 5":                `line 1: wait: "5": want a time`,
		"wait: 5ms":              `line 1: wait: "5ms": want a time`,
		"name: {a: b}":           "line 1: name: want a text",
		"all: x":                 "line 1: all: want a list",
		"all:\n  - x\n  - [y]":   "line 3: want a text",
	} {
		if _, _, _, _, err := read(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
