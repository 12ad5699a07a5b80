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

// fault is what is known of an engine that a player can't use.
type fault uint8

const (
	untried fault = iota // it was not started yet
	failed               // it does not start, which was reported
)

// EngineFailed implements play.Process: the player takes no games of this kind until
// its engine starts again.
func (p *player) EngineFailed(gameName string, err error) {
	p.log.Error().Err(err).Str("engine", p.profile().Engine).Str("plays", gameName).Msg("the engine does not start")
	p.bot.tally.Fault(fmt.Sprintf("player %s: the engine for %s does not start: %v", p.profile().Player, gameName, err))
	p.mu.Lock()
	p.broken[gameName] = failed
	p.mu.Unlock()
	p.RequestHello()
	p.bot.lookAtQueues()
}

// playable returns the games of the player whose engine starts.
func (p *player) playable() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.profile().Games), func(g string) bool {
		_, broken := p.broken[g]
		return broken
	})
}

// repair tries the engines again that did not start, until ctx ends.
func (p *player) repair(ctx context.Context, every time.Duration) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.tryNow:
		case <-time.After(every):
		}
		for _, g := range p.profile().Games {
			p.mu.Lock()
			as := p.role.Load()
			was, broken := p.broken[g]
			p.mu.Unlock()
			if !broken {
				continue
			}
			err := p.bot.tryEngine(p, g)
			if ctx.Err() != nil {
				return
			}
			p.mu.Lock()
			changed := p.role.Load() != as
			if err == nil && !changed {
				delete(p.broken, g)
			}
			p.mu.Unlock()
			switch {
			case changed: // it was perhaps the engine of the profile before, and is tried again
				continue
			case err != nil && was == untried:
				p.EngineFailed(g, err)
				continue
			case err != nil:
				continue
			}
			if was == failed {
				p.log.Info().Str("engine", p.profile().Engine).Str("plays", g).Msg("the engine starts again")
			}
			p.RequestHello()
			p.bot.lookAtQueues()
		}
	}
}
