package event

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/strictyaml"
	"sparring/record/format"
	"sparring/record/interchange"
)

// read reads an event file.
func (e *Event) read(data []byte) error {
	top, err := strictyaml.Parse(data)
	if err != nil {
		return err
	}
	var gameName, rules string
	rulesAt := top
	err = strictyaml.Keys{
		"title": strictyaml.Text(&e.Title),
		"game":  strictyaml.Text(&gameName),
		"rules": func(n *yaml.Node) error { rulesAt = n; return strictyaml.Text(&rules)(n) },
		"clock": func(n *yaml.Node) error {
			spec, err := clock.Parse(n.Value)
			e.Clock = &spec
			return err
		},
		"move":      strictyaml.Span(time.Millisecond, func(d time.Duration) { e.Move = d }),
		"margin":    strictyaml.Span(0, func(d time.Duration) { e.Margin = &d }),
		"max-plies": strictyaml.Number(&e.MaxPlies),
		"openings":  strictyaml.Text(&e.Openings),
		"memory":    strictyaml.Number(&e.Memory),
		"place":     strictyaml.Text(&e.Place),
		"penalties": strictyaml.List(&e.Penalties),
		"record":    e.Record.read,
		"sources":   strictyaml.Items(e.readSource),
		"uncertain": strictyaml.List(&e.Uncertain),
	}.Read(top)
	if err != nil {
		return err
	}
	if gameName == "" {
		return errors.New("game is required")
	}
	if e.Rules, err = catalog.RulesOf(gameName, rules); err != nil {
		return strictyaml.At(rulesAt, fmt.Errorf("rules: %w", err))
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
	return strictyaml.Keys{
		"format": func(n *yaml.Node) error {
			_, err := interchange.Find(n.Value)
			r.Format = n.Value
			return err
		},
		"charset": choice(func(s string) { r.Charset = format.Charset(s) }, string(format.UTF8), string(format.GBK)),
		"moves":   choice(func(s string) { r.Moves = format.Moves(s) }, string(format.ICCS), string(format.WXF), string(format.Chinese)),
		"file":    func(n *yaml.Node) error { r.File = n.Value; return checkFile(n.Value) },
	}.Read(n)
}

// readSource reads an item of the key sources.
func (e *Event) readSource(item *yaml.Node) error {
	var s Source
	err := strictyaml.Keys{
		"url": strictyaml.Text(&s.URL),
		"date": func(n *yaml.Node) (err error) {
			if s.Date, err = time.Parse(time.DateOnly, n.Value); err != nil {
				err = fmt.Errorf("%.40q: want a day such as 2024-05-17", n.Value)
			}
			return err
		},
		"says": strictyaml.Text(&s.Says),
	}.Read(item)
	if err != nil {
		return err
	}
	if s.Date.IsZero() || s.Says == "" {
		return strictyaml.At(item, errors.New("sources: want the date and what the source says"))
	}
	e.Sources = append(e.Sources, s)
	return nil
}
