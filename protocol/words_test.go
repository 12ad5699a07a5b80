package protocol_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/protocol"
)

// The words of every enumeration in docs/asyncapi.yaml are exactly the constants
// of its type.
func TestAsyncAPIWords(t *testing.T) {
	doc, _ := readDocument(t)
	words := constants(t)
	for name, schema := range doc.Components.Schemas {
		list, ok := schema["enum"].([]any)
		if !ok || len(words[name]) == 0 { // those of other packages are plain
			continue
		}
		var described []string
		for _, w := range list {
			described = append(described, w.(string))
		}
		slices.Sort(described)
		if want := words[name]; !slices.Equal(described, want) {
			t.Errorf("%s: described %v, the code has %v", name, described, want)
		}
		delete(words, name)
	}
	for _, local := range []string{"Verb", "Action", "FleetVerb"} { // they are channels
		delete(words, local)
	}
	for name := range words {
		t.Errorf("the words of %s are not described", name)
	}
}

// constants returns the constants of the package's string types, by type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ, named := spec.Type.(*ast.Ident)
			value, literal := spec.Values[0].(*ast.BasicLit)
			if !named || !literal || value.Kind != token.STRING {
				return true
			}
			word, err := strconv.Unquote(value.Value)
			if err != nil {
				t.Fatal(err)
			}
			if word != string(protocol.Unanswered) { // never on the wire
				found[typ.Name] = append(found[typ.Name], word)
			}
			return true
		})
	}
	for _, list := range found {
		slices.Sort(list)
	}
	return found
}
