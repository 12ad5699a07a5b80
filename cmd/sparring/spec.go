package main

import (
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/lineup"
	"sparring/engine/match/openings"
	"sparring/engine/search"
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

// openSpec opens a player by its spec.
func openSpec(spec, gameName string, o engine.Options) (engine.Searcher, error) {
	return lineup.Open(spec, gameName, lineup.Options{HashBytes: o.HashBytes, Threads: o.Threads, Shipped: configs.Books()})
}
