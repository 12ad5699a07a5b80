// Package strictyaml reads YAML files that people write by hand: every key must be
// known and stand there once, and an error names the line and the key.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Parse returns the mapping that a file consists of.
func Parse(data []byte) (*yaml.Node, error) {
	var doc, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	if err == nil {
		err = d.Decode(&second)
	}
	switch {
	case err == nil:
		return nil, At(&second, errors.New("a second document begins here: want one"))
	case !errors.Is(err, io.EOF):
		return nil, explained(strings.TrimPrefix(err.Error(), "yaml: "), data)
	}
	return doc.Content[0], nil
}

// explained is what the YAML reader says of a file, which has the line. Of a tab that
// indents one, which YAML does not allow, it says that a character is wrong, and sometimes the
// line before.
func explained(problem string, data []byte) error {
	var line int
	if _, err := fmt.Sscanf(problem, "line %d: found ", &line); err != nil || !strings.Contains(problem, "character") {
		return errors.New(problem)
	}
	for i, text := range strings.Split(string(data), "\n") {
		if indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; i+1 >= line && strings.Contains(indent, "\t") {
			return fmt.Errorf("line %d: a tab indents it: want spaces", i+1)
		}
	}
	return errors.New(problem)
}

// Keys reads the values of a mapping by key. An error names the line and the key.
type Keys map[string]func(*yaml.Node) error

// Read reads a mapping.
func (k Keys) Read(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return At(n, errors.New("want keys with values"))
	}
	return each(n, func(key, value *yaml.Node) error {
		set, ok := k[key.Value]
		if !ok {
			return At(key, fmt.Errorf("no key %.40q (have %s)", key.Value, k.names()))
		}
		return Read(key.Value, value, set)
	})
}

// Read reads the value of a key.
func Read(key string, value *yaml.Node, set func(*yaml.Node) error) error {
	err := set(value)
	if _, ok := errors.AsType[*lineError](err); ok || err == nil {
		return err // of a key within
	}
	return At(value, fmt.Errorf("%s: %w", key, err))
}

// each calls do for each key of a mapping.
func each(n *yaml.Node, do func(key, value *yaml.Node) error) error {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			return At(key, fmt.Errorf("%s is given twice", key.Value))
		}
		seen[key.Value] = true
		if err := do(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Names reads a mapping whose keys are names of the writer's choice, at least one: do is
// called for each.
func Names(do func(name, value *yaml.Node) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
			return errors.New("want names with values")
		}
		return each(n, do)
	}
}

func (k Keys) names() string {
	var names []string
	for name := range k {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// lineError is an error at a line of the file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }

// At returns an error at the line of a node.
func At(n *yaml.Node, err error) error { return &lineError{n.Line, err} }

// Text reads a value that is not empty.
func Text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value == "" {
			return errors.New("want a text")
		}
		*to = n.Value
		return nil
	}
}

// Number reads a number of at least 1.
func Number(to *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < 1 {
			return fmt.Errorf("%.40q: want a number of at least 1", n.Value)
		}
		*to = v
		return nil
	}
}

// longest bounds times, so that sums of them can't overflow.
const longest = 14 * 24 * time.Hour

// Span reads a time with its unit, of at least least.
func Span(least time.Duration, set func(time.Duration)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < least || d > longest {
			return fmt.Errorf("%.40q: want a time such as 200ms or 30s", n.Value)
		}
		set(d)
		return nil
	}
}

// List reads a list of texts.
func List(to *[]string) func(*yaml.Node) error {
	return Items(func(item *yaml.Node) error {
		var s string
		if err := Text(&s)(item); err != nil {
			return At(item, err)
		}
		*to = append(*to, s)
		return nil
	})
}

// Items reads a list that is not empty: do is called for each item.
func Items(do func(*yaml.Node) error) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return errors.New("want a list with something in it")
		}
		for _, item := range n.Content {
			if err := do(item); err != nil {
				return err
			}
		}
		return nil
	}
}
