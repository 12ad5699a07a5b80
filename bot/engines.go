package bot

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// retryEngines is how often engines that do not start are tried again, unless Deps
// names another time.
const retryEngines = 30 * time.Second

// EngineFailed implements play.Process: the player takes no games of this kind until
// its engine starts again.
func (p *player) EngineFailed(gameName string, err error) {
	p.log.Error().Err(err).Str("engine", p.profile.Engine).Str("plays", gameName).Msg("the engine does not start")
	p.bot.tally.Fault(fmt.Sprintf("player %s: the engine for %s does not start: %v", p.profile.Player, gameName, err))
	p.mu.Lock()
	p.broken[gameName] = true
	p.mu.Unlock()
	p.RequestHello()
	p.bot.lookAtQueues()
}

// playable returns the games of the player whose engine starts.
func (p *player) playable() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.profile.Games), func(g string) bool { return p.broken[g] })
}

// repair tries the engines again that did not start, until ctx ends.
func (p *player) repair(ctx context.Context, every time.Duration) {
	for sleep(ctx, every) {
		for _, g := range p.profile.Games {
			if slices.Contains(p.playable(), g) || p.bot.tryEngine(p, g) != nil || ctx.Err() != nil {
				continue
			}
			p.mu.Lock()
			delete(p.broken, g)
			p.mu.Unlock()
			p.log.Info().Str("engine", p.profile.Engine).Str("plays", g).Msg("the engine starts again")
			p.RequestHello()
			p.bot.lookAtQueues()
		}
	}
}
