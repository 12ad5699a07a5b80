// Package strictyaml reads YAML files that people write by hand: every key must be
// known and stand there once, and an error names the line and the key.
package strictyaml

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sparring/game/clock"
)

// Parse returns the mapping that a file consists of.
func Parse(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) // it has the line
	}
	if len(doc.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	return doc.Content[0], nil
}

// Keys reads the values of a mapping by key. An error names the line and the key.
type Keys map[string]func(*yaml.Node) error

func (k Keys) Read(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return At(n, errors.New("want keys with values"))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, ok := k[key.Value]
		switch {
		case !ok:
			return At(key, fmt.Errorf("no key %.40q (have %s)", key.Value, k.names()))
		case seen[key.Value]:
			return At(key, fmt.Errorf("%s stands here twice", key.Value))
		}
		seen[key.Value] = true
		if err := set(value); err != nil {
			if lined, ok := errors.AsType[*lineError](err); ok {
				return lined // of a key within
			}
			return At(value, fmt.Errorf("%s: %w", key.Value, err))
		}
	}
	return nil
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

// Span reads a time with its unit, of at least least.
func Span(least time.Duration, set func(time.Duration)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < least || d > clock.Longest {
			return fmt.Errorf("%.40q: want a time such as 200ms or 30s", n.Value)
		}
		set(d)
		return nil
	}
}

// List reads a list of texts.
func List(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return errors.New("want a list of sentences")
		}
		for _, item := range n.Content {
			var s string
			if err := Text(&s)(item); err != nil {
				return At(item, err)
			}
			*to = append(*to, s)
		}
		return nil
	}
}
