package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sparring/bot"
	"sparring/configs"
	"sparring/engine/level"
	"sparring/game/catalog"
)

// TestShippedGames: every game of the catalog has two players in the default
// settings, the rights of these and of its levels on the shipped server, and reasons
// that are described.
func TestShippedGames(t *testing.T) {
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	described := read(t, "docs/asyncapi.yaml")
	accounts := read(t, "configs/nats.conf")
	for _, g := range catalog.Games() {
		suffixes := []string{"-hare", "-tortoise"}
		for _, suffix := range suffixes {
			if player := g.Name + suffix; !slices.Contains(cfg.Players, player+":"+g.Name) {
				t.Errorf("%s is not among the default players", player)
			}
		}
		for n := level.Weakest; n <= level.Strongest; n++ {
			suffixes = append(suffixes, fmt.Sprintf("-level-%d", n))
		}
		for _, suffix := range suffixes {
			for _, right := range []string{"play." + g.Name + suffix + ".>", "to." + g.Name + suffix + ".>", "offer.player." + g.Name + suffix + " bots"} {
				if !strings.Contains(accounts, `"sparring.`+right+`"`) {
					t.Errorf("configs/nats.conf does not allow %s", right)
				}
			}
		}
		if pools := `"sparring.offer.` + g.Name + `.> bots"`; strings.Count(accounts, pools) != 2 { // for bots and for guests
			t.Errorf("configs/nats.conf has %d times %s", strings.Count(accounts, pools), pools)
		}
		for _, reason := range g.Reasons {
			if !strings.Contains(described, string(reason)) {
				t.Errorf("docs/asyncapi.yaml does not describe the reason %s", reason)
			}
		}
	}
}

// read returns the content of a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
