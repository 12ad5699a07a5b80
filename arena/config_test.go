package arena

import (
	"strings"
	"testing"
	"time"

	"sparring/arena/glicko"
	"sparring/game/clock"
	"sparring/protocol"
)

func TestDefaultsAreValid(t *testing.T) {
	if err := Defaults().Validate(); err != nil {
		t.Error(err)
	}
	if err := quick().Validate(); err != nil {
		t.Error(err)
	}
}

// Every fault is named at once.
func TestValidateNamesAllFaults(t *testing.T) {
	c := Defaults()
	c.Prefix, c.Name, c.Replicas, c.Games = "a..b", "Big Name", 2, 0
	c.OfferFor, c.HoldFor, c.LostAfter, c.LeaseFor = -1, time.Second, time.Millisecond, time.Millisecond
	c.Limits.Nesting = 0
	c.Policy.FirstMove, c.Policy.LogLimit, c.Policy.FlagGrace = 0, 3, time.Hour
	c.Ladder.On, c.Ladder.Clocks = true, []clock.Spec{{Kind: clock.Fischer, Increment: time.Second}}
	c.Ladder.Rounds, c.Ladder.Pause = -1, -time.Second
	c.Ladder.Rules = map[string][]string{"amazons": {"gomoku/freestyle-15"}, "go": {"go/ing"}, "xiangqi": {"xiangqi/simple+limit=60"}, "gomoku": {"gomoku"}}
	c.Ladder.Rules["xiangqi"] = append(c.Ladder.Rules["xiangqi"], "xiangqi/wxf+handicap=two-rooks", "xiangqi/wxf+limit=50")
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"NATS_PREFIX", "ARENA_NAME", "ARENA_REPLICAS: 2", "ARENA_GAMES: 0", "ARENA_LOST_AFTER", "ARENA_FIRST_MOVE",
		"LADDER_CLOCK: 0+1: no time", "LADDER_ROUNDS: -1", "LADDER_PAUSE: -1s", "LADDER_RULES: amazons", "LADDER_RULES: ",
		"LADDER_RULES: xiangqi/simple+limit=60: want the full name, xiangqi/simple", "LADDER_RULES: gomoku: want the full name, gomoku/freestyle-15",
		"LADDER_RULES: xiangqi/wxf+handicap=two-rooks: has a handicap"} {
		if !strings.Contains(err.Error(), "SPARRING_"+want) {
			t.Errorf("the error does not name SPARRING_%s:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "limit=50") {
		t.Errorf("the rules of an event are refused: %v", err)
	}
	for _, want := range []string{"OfferFor", "LeaseFor", "Limits.Nesting", "LogLimit: 3", "FlagGrace"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s:\n%v", want, err)
		}
	}
}

// Nor is a fault of the ladder, or one that another hides above, left out.
func TestValidateNamesFaultsOfTheLadder(t *testing.T) {
	c := Defaults()
	c.HoldFor, c.Disk = c.OfferFor, "/no/such/directory"
	c.Ladder.On, c.Ladder.AbsentFor = true, -1
	c.Ladder.Clocks = []clock.Spec{{Kind: clock.PerMove, Period: 72 * time.Hour}}
	c.Ladder.Anchors = map[protocol.PlayerID]glicko.Rating{
		"Ann": {Rating: 1500, Deviation: 30, Volatility: 0.06}, "bob": {Rating: 1500, Volatility: 0.06}, "cyd": {Rating: 1500, Deviation: 30},
	}
	wants := []string{"HoldFor: 1s: want more than OfferFor", "Ladder: a time below 0", "SPARRING_ARENA_DISK: ", "SPARRING_LADDER_CLOCK: 259200/move: a game would last for weeks",
		`SPARRING_LADDER_LEVELS: player "Ann"`, "SPARRING_LADDER_LEVELS: bob: deviation 0", "SPARRING_LADDER_LEVELS: cyd: deviation 30 and volatility 0"}
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
	c = Defaults()
	c.Ladder.On, c.Ladder.Clocks = true, nil
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "SPARRING_LADDER_CLOCK: want at least one") {
		t.Errorf("without a clock: %v", err)
	}
}

// No challenge or game can have these times. In slower games they are multiplied, so that one of
// a century would be negative there, and end them at once.
func TestValidateNamesLongTimes(t *testing.T) {
	c := Defaults()
	c.ChallengeFor, c.Policy.FirstMove, c.Policy.AbandonAfter = 48*time.Hour, 999_999*time.Hour, 999_999*time.Hour
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"ARENA_CHALLENGE_FOR: 48h0m0s: want at most 24h0m0s", "ARENA_FIRST_MOVE: 999999h0m0s: want at most 336h0m0s", "ARENA_ABANDON_AFTER: 999999h0m0s: want at most 336h0m0s"} {
		if !strings.Contains(err.Error(), "SPARRING_"+want) {
			t.Errorf("the error does not name SPARRING_%s:\n%v", want, err)
		}
	}
}
