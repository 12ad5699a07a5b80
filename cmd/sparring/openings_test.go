package main

import (
	"strings"
	"testing"

	"sparring/configs"
	"sparring/game/catalog"
	"sparring/lab/openings"
)

// TestShippedOpenings: every rule set without an opening procedure has at least a
// hundred openings, with the command that made them.
func TestShippedOpenings(t *testing.T) {
	for _, g := range catalog.Games() {
		for _, name := range g.Sets {
			recipe, err := openings.Usual(mustRules(t, name))
			if err != nil {
				t.Error(err)
			}
			if recipe.Plies == 0 {
				continue
			}
			set, file, err := openings.Find(configs.Openings(), name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(set.Openings) < 100 || len(set.Notes) == 0 || !strings.HasPrefix(set.Notes[0], "Made by: sparring openings make --game "+g.Name) {
				t.Errorf("%s: %s has %d openings, and begins %q", name, file, len(set.Openings), set.Notes)
			}
		}
	}
}
