package bot

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"sparring/bot/play"
	"sparring/engine"
	"sparring/protocol"
)

// role is what a player's profile makes it do.
type role struct {
	profile Profile
	shared  *play.Player // by its sessions
}

// profile returns the player's profile. It changes when the file of players is read
// again, and must not be modified.
func (p *player) profile() *Profile { return &p.role.Load().profile }

// setProfile makes new games follow a profile. Running ones go on as they began.
func (p *player) setProfile(profile Profile) {
	b := p.bot
	p.role.Store(&role{profile, &play.Player{
		ID: profile.Player, Client: p.client, Clock: b.clock, Process: p, Log: p.log,
		NewGame: func(o engine.GameOptions) (engine.Game, error) { return b.deps.NewGame(profile.spec(), o) },
		Pool:    b.pool(profile), Records: b.deps.Records, Observe: b.deps.Observe, Tally: b.tally,
		Settings: play.Settings{
			Engine: profile.Engine, External: profile.external(), Nodes: profile.Nodes,
			Threads: b.cfg.Threads, MoveTime: b.cfg.moveTime(profile),
			Ponder: b.cfg.Ponder && !profile.Reproducible && profile.level == 0, Reproducible: profile.Reproducible,
			Instance: b.cfg.Instance, Build: b.deps.Build, Manners: *profile.Play,
		},
	}})
}

// Reload reads the file of players again: new games follow the new profiles, new players
// join, and those that are gone leave when their games have ended. Running games go on
// as they began. On an error, which is logged, nothing changes.
func (b *Bot) Reload() error {
	profiles, err := b.cfg.players()
	if b.cfg.Profiles == "" {
		err = errors.New("no file of players is set (SPARRING_PROFILES)")
	}
	if err != nil {
		b.log.Error().Err(err).Msg("players not read again; nothing changes")
		return err
	}
	b.mu.Lock()
	b.reloaded = profiles
	b.mu.Unlock()
	b.lookAtQueues()
	return nil
}

// roster returns the players.
func (b *Bot) roster() []*player {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.players)
}

// updateRoster acts on profiles that were read again, and lets players go whose profiles
// are gone when they have no game left. Only serve calls it.
func (b *Bot) updateRoster() {
	b.mu.Lock()
	profiles := b.reloaded
	b.reloaded = nil
	b.mu.Unlock()
	players := b.roster()
	if profiles != nil {
		players = b.applyProfiles(players, profiles)
	}
	left := slices.DeleteFunc(slices.Clone(players), func(p *player) bool {
		if !p.retired.Load() || p.games() > 0 {
			return false
		}
		p.end()
		left := make(chan struct{})
		if b.leaving[p.profile().Player] = left; !b.spawn(func() { defer close(left); p.leave() }) {
			close(left)
		}
		return true
	})
	b.mu.Lock()
	b.players = left
	b.mu.Unlock()
	if profiles != nil {
		b.queues = arrange(b.queues, left, b)
		b.analyst.serve(false)
		b.followMode()
	}
}

// applyProfiles makes the players follow new profiles, and returns them with the new
// ones.
func (b *Bot) applyProfiles(players []*player, profiles []Profile) []*player {
	b.keepEngines(profiles)
	added, changed, gone := 0, 0, 0
	for _, profile := range profiles {
		i := slices.IndexFunc(players, func(p *player) bool { return p.profile().Player == profile.Player })
		if i >= 0 {
			if players[i].follow(profile) {
				changed++
			}
			continue
		}
		p, err := newPlayer(b, profile)
		if err != nil { // the profile was checked
			b.log.Error().Err(err).Msg("player left out")
			continue
		}
		p.distrust(profile, profile.Games)
		b.launch(p)
		players = append(players, p)
		added++
	}
	for _, p := range players {
		if !slices.ContainsFunc(profiles, func(f Profile) bool { return f.Player == p.profile().Player }) && !p.retired.Swap(true) {
			gone++
			p.RequestHello()
		}
	}
	b.log.Info().Int("added", added).Int("changed", changed).Int("gone", gone).Msg("players read again")
	return players
}

// keepEngines frees, once their games have ended, the engines that no profile names.
func (b *Bot) keepEngines(profiles []Profile) {
	needed := func(spec, gameName string, reproducible bool) bool {
		return spec == "" && !reproducible && b.cfg.Analyses > 0 || slices.ContainsFunc(profiles, func(p Profile) bool {
			return p.spec() == spec && p.Reproducible == reproducible && slices.Contains(p.Games, gameName)
		})
	}
	b.warmUps.Range(func(k, _ any) bool {
		key := k.(warmKey)
		gameName, _, _ := strings.Cut(key.rules, "/")
		if !needed(key.spec, gameName, key.reproducible) {
			b.warmUps.Delete(key) // one that comes back has no tables
		}
		return true
	})
	if b.deps.KeepEngines != nil {
		b.deps.KeepEngines(needed)
	}
}

// follow makes the player follow a profile. It returns false if nothing changes.
func (p *player) follow(profile Profile) bool {
	back := p.retired.Swap(false)
	old := *p.profile()
	if reflect.DeepEqual(old, profile) {
		if back {
			p.RequestHello()
		}
		return back
	}
	fresh := slices.DeleteFunc(slices.Clone(profile.Games), func(g string) bool { return slices.Contains(old.Games, g) })
	if old.spec() != profile.spec() || old.Reproducible != profile.Reproducible || old.Nodes != profile.Nodes {
		fresh = profile.Games
	}
	p.distrust(profile, fresh)
	p.RequestHello()
	return true
}

// distrust makes new games follow a profile, and keeps the player from playing some until
// its engine for them was started once. Both change at once: an engine of another profile
// that is being tried says nothing of these games.
func (p *player) distrust(profile Profile, games []string) {
	p.mu.Lock()
	for _, g := range games {
		p.broken[g] = untried
		delete(p.engines, g)
	}
	p.setProfile(profile)
	p.mu.Unlock()
	select {
	case p.tryNow <- struct{}{}:
	default:
	}
}

// taking reports whether the player takes new games.
func (p *player) taking() bool {
	now, _, _ := p.bot.mode.current()
	return now == protocol.ModeRunning && !p.retired.Load()
}
