package main

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/configs"
	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/match/openings"
	"sparring/engine/search"
	"sparring/game"
)

// judgeNodes is how long openings are looked at that a match makes itself.
const judgeNodes = 5000

// judgeHash is the hash table of a judge, in bytes.
const judgeHash = 8 << 20

// ownJudge judges openings with our own engine.
func ownJudge(gameName string, nodes uint64) (openings.Judge, error) {
	e, err := engine.New(gameName, engine.Options{HashBytes: judgeHash, Threads: 1})
	if err != nil {
		return nil, err
	}
	return openings.Searching(e, search.Limits{Nodes: nodes}), nil
}

// openSpec opens our own engine: "self", or "self:nodes=10000,depth=8", with
// "book=FILE" or "book=shipped" also an opening book.
func openSpec(spec, gameName string, o engine.Options) (engine.Searcher, error) {
	head, tail, _ := strings.Cut(spec, ":")
	if head != "self" {
		return nil, fmt.Errorf("spec %.60q: want self", spec)
	}
	var l search.Limits
	var books *book.Shelf
	for part := range strings.SplitSeq(tail, ",") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		if key == "book" {
			var err error
			if books, err = book.Open(value, gameName, configs.Books()); err != nil {
				return nil, fmt.Errorf("spec %.60q: %w", spec, err)
			}
			continue
		}
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("spec %.60q: %s: want a number", spec, key)
		}
		switch key {
		case "nodes":
			l.Nodes = n
		case "depth":
			l.Depth = int(n)
		default:
			return nil, fmt.Errorf("spec %.60q: no key %.20q (have nodes, depth, book)", spec, key)
		}
	}
	e, err := engine.New(gameName, o)
	if err != nil {
		return nil, err
	}
	own := &capped{e, l}
	if books == nil {
		return own, nil
	}
	return book.With(own, books, book.Options{}), nil
}

// capped is an engine with limits of its own.
type capped struct {
	*engine.Engine
	most search.Limits
}

// Search implements engine.Searcher.
func (c *capped) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if c.most.Nodes > 0 && (l.Nodes == 0 || l.Nodes > c.most.Nodes) {
		l.Nodes = c.most.Nodes
	}
	if c.most.Depth > 0 && (l.Depth == 0 || l.Depth > c.most.Depth) {
		l.Depth = c.most.Depth
	}
	return c.Engine.Search(p, l, report)
}
