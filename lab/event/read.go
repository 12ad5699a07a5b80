package event

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sparring/game/clock"
	"sparring/record/format"
	"sparring/record/interchange"
)

// keys reads the values of a mapping by key. An error names the line and the key.
type keys map[string]func(*yaml.Node) error

func (k keys) read(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return at(n, errors.New("want keys with values"))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, ok := k[key.Value]
		switch {
		case !ok:
			return at(key, fmt.Errorf("no key %.40q (have %s)", key.Value, k.names()))
		case seen[key.Value]:
			return at(key, fmt.Errorf("%s stands here twice", key.Value))
		}
		seen[key.Value] = true
		if err := set(value); err != nil {
			if lined, ok := errors.AsType[*lineError](err); ok {
				return lined // of a key within
			}
			return at(value, fmt.Errorf("%s: %w", key.Value, err))
		}
	}
	return nil
}

func (k keys) names() string {
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

func at(n *yaml.Node, err error) error { return &lineError{n.Line, err} }

// text reads a value that is not empty.
func text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.Value == "" {
			return errors.New("want a text")
		}
		*to = n.Value
		return nil
	}
}

// number reads a number of at least 1.
func number(to *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || v < 1 {
			return fmt.Errorf("%.40q: want a number of at least 1", n.Value)
		}
		*to = v
		return nil
	}
}

// span reads a time with its unit.
func span(least time.Duration, set func(time.Duration)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		d, err := time.ParseDuration(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil || d < least || d > clock.Longest {
			return fmt.Errorf("%.40q: want a time such as 200ms or 30s", n.Value)
		}
		set(d)
		return nil
	}
}

// list reads a list of texts.
func list(to *[]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return errors.New("want a list of sentences")
		}
		for _, item := range n.Content {
			var s string
			if err := text(&s)(item); err != nil {
				return at(item, err)
			}
			*to = append(*to, s)
		}
		return nil
	}
}

// read reads an event file.
func (e *Event) read(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: ")) // it has the line
	}
	if len(doc.Content) == 0 {
		return errors.New("the file is empty; game is required")
	}
	var gameName, rules string
	rulesAt := doc.Content[0]
	err := keys{
		"title": text(&e.Title),
		"game":  text(&gameName),
		"rules": func(n *yaml.Node) error { rulesAt = n; return text(&rules)(n) },
		"clock": func(n *yaml.Node) error {
			spec, err := clock.Parse(n.Value)
			e.Clock = &spec
			return err
		},
		"move":      span(time.Millisecond, func(d time.Duration) { e.Move = d }),
		"margin":    span(0, func(d time.Duration) { e.Margin = &d }),
		"max-plies": number(&e.MaxPlies),
		"openings":  text(&e.Openings),
		"memory":    number(&e.Memory),
		"place":     text(&e.Place),
		"penalties": list(&e.Penalties),
		"record":    e.Record.read,
		"sources":   e.readSources,
		"uncertain": list(&e.Uncertain),
	}.read(doc.Content[0])
	if err != nil {
		return err
	}
	if gameName == "" {
		return errors.New("game is required")
	}
	if e.Rules, err = rulesOf(gameName, rules); err != nil {
		return at(rulesAt, fmt.Errorf("rules: %w", err))
	}
	if f := e.Record.Format; f != "" {
		known, err := interchange.Find(f)
		if err != nil {
			return err
		}
		if !slices.Contains(known.Games, gameName) {
			return fmt.Errorf("record: format %s can't represent games of %s", f, gameName)
		}
	}
	return nil
}

// read reads the key record.
func (r *Record) read(n *yaml.Node) error {
	choice := func(set func(string), have ...string) func(*yaml.Node) error {
		return func(n *yaml.Node) error {
			if !slices.Contains(have, n.Value) {
				return fmt.Errorf("%.40q: want %s", n.Value, strings.Join(have, ", "))
			}
			set(n.Value)
			return nil
		}
	}
	return keys{
		"format": func(n *yaml.Node) error {
			_, err := interchange.Find(n.Value)
			r.Format = n.Value
			return err
		},
		"charset": choice(func(s string) { r.Charset = format.Charset(s) }, string(format.UTF8), string(format.GBK)),
		"moves":   choice(func(s string) { r.Moves = format.Moves(s) }, string(format.ICCS), string(format.WXF), string(format.Chinese)),
		"file":    func(n *yaml.Node) error { r.File = n.Value; return checkFile(n.Value) },
	}.read(n)
}

// readSources reads the key sources.
func (e *Event) readSources(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return errors.New("want a list")
	}
	for _, item := range n.Content {
		var s Source
		err := keys{
			"url": text(&s.URL),
			"date": func(n *yaml.Node) (err error) {
				if s.Date, err = time.Parse(time.DateOnly, n.Value); err != nil {
					err = fmt.Errorf("%.40q: want a day such as 2024-05-17", n.Value)
				}
				return err
			},
			"says": text(&s.Says),
		}.read(item)
		if err != nil {
			return err
		}
		if s.Date.IsZero() || s.Says == "" {
			return at(item, errors.New("sources: want the date and what the source says"))
		}
		e.Sources = append(e.Sources, s)
	}
	return nil
}
