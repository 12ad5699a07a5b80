package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"sparring/bot"
	"sparring/protocol"
)

// vanishWithin is how long another process of the same player may be listed after it was
// killed, on a platform with the usual settings.
const vanishWithin = 4 * time.Second

// meetOthers looks for processes that play the game as the same player already, on this or
// on another machine. One with the same engine shares the player's games and rating, which
// is said. With another engine the rating would be that of neither, and a game that one of
// them loses its connection in would be played on by the other: the error says who plays,
// where, and since when.
func (t *team) meetOthers(ctx context.Context, as protocol.InstanceID, log zerolog.Logger) error {
	client, err := protocol.NewClient(t.nc, t.subjects, t.id, as, log)
	if err != nil {
		return err
	}
	for until := time.Now().Add(vanishWithin); ; {
		within, cancel := context.WithTimeout(ctx, reachTime)
		// It takes no games yet.
		ans, err := client.Hello(within, protocol.Hello{Kind: protocol.Bot, Display: t.display, Host: bot.Host(),
			Games: []protocol.Capability{{Game: t.game, Engine: &t.public}}})
		cancel()
		if err != nil {
			return err
		}
		other, engine := t.other(ans.Others)
		if other == nil {
			return nil
		}
		select {
		case <-t.interrupted:
			return nil
		case <-time.After(500 * time.Millisecond): // it may have been killed, and be gone then
			if time.Now().Before(until) {
				continue
			}
		}
		who := fmt.Sprintf("%s plays %s here already, from %s since %s", t.name(), t.game, cmp.Or(other.Host, "an unknown machine"), sinceText(other.Since, time.Now()))
		if t.plays(engine) {
			t.screen.Say("note: %s, with the same engine: they share its games and its rating", who)
			return nil
		}
		leave, cancel := context.WithTimeout(ctx, reachTime)
		defer cancel()
		_, _ = client.Leave(leave) // else it is missed
		another := "another --name"
		if t.left == nil && !t.hosting { // on a server, where the user names the player
			another = "a user of its own"
		}
		return fmt.Errorf("%s, with another engine, %s; end that one, or give this one %s", who, cmp.Or(engine.String(), "which it does not name"), another)
	}
}

// other returns the first of the player's other processes that plays the game, and its
// engine; nil if there is none.
func (t *team) other(all []protocol.OtherInstance) (*protocol.OtherInstance, protocol.Engine) {
	for i, o := range all {
		if at := slices.IndexFunc(o.Games, func(g protocol.InstanceGame) bool { return g.Game == t.game }); at >= 0 {
			if e := o.Games[at].Engine; e != nil {
				return &all[i], *e
			}
			return &all[i], protocol.Engine{}
		}
	}
	return nil, protocol.Engine{}
}

// plays reports whether an engine is the team's, as far as its public description tells.
func (t *team) plays(e protocol.Engine) bool {
	// Of our own engine the spec says all but the build, which is that of the program.
	return e.Spec == t.public.Spec && (t.public.Name == "" || e.Name == t.public.Name && e.Build == t.public.Build)
}

// sinceText writes a time of today without its date.
func sinceText(at, now time.Time) string {
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
