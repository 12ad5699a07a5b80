package bot

import (
	"fmt"
	"slices"

	"sparring/bot/policy"
	"sparring/engine/level"
	"sparring/game/catalog"
	"sparring/protocol"
)

// levelsPerBot is how many games at once the levels play against one bot. The ladder
// gives it one at a time, unless the operator wants more.
const levelsPerBot = 16

// levels returns the profiles of all levels of each game, weakest first. They play
// against people on all terms, and where the settings say so rated games against bots:
// casual ones without a clock would hold slots for ever. They take offers only from
// their own pools: somebody who asks for any opponent should not get one of these
// strengths by chance.
func (c Config) levels() []Profile {
	wants := policy.Policy{Positions: true, Opponents: policy.HumansOnly, Allow: c.Policy.Allow, Block: c.Policy.Block}
	if c.LevelsLadder {
		wants.Opponents, wants.BotsRated = policy.Everyone, true
	}
	manners := c.Play
	manners.Takebacks = takebacks
	var all []Profile
	for _, g := range catalog.Games() {
		if len(c.LevelGames) > 0 && !slices.Contains(c.LevelGames, g.Name) {
			continue
		}
		for n := level.Weakest; n <= level.Strongest; n++ {
			p, err := level.Of(g.Name, n)
			if err != nil {
				break // a game without levels
			}
			player := protocol.LevelPlayer(g.Name, n)
			all = append(all, Profile{
				Player: player, Display: fmt.Sprintf("Level %d · %d 级", n, n), Games: []string{g.Name},
				Pools: []protocol.Pool{protocol.OwnPool(player)}, Engine: levelEngine(n, p),
				Policy: &wants, Play: &manners, level: n,
			})
		}
	}
	return all
}

// takebacks is more than anybody asks for in a casual game.
const takebacks = 1000

// levelEngine returns the spec of a level's engine. A level that errs on purpose has
// no opening book: it would play the opening better than it was measured. The others
// have one: they would answer the same moves in the same way in every game.
func levelEngine(n int, p level.Parameters) string {
	spec := fmt.Sprintf("self:level=%d", n)
	if p.Errs() {
		spec += ",book=none"
	}
	return spec
}
