package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"sparring/engine/book"
	"sparring/engine/level"
	"sparring/lab/study/likeness"
)

// imitator finds what self:as=NAME plays, once for each name and source.
type imitator struct {
	ctx  context.Context // its end ends the reading of a source
	errs io.Writer       // what is found, and what can't be read

	mu    sync.Mutex
	known map[[3]string]*likeness.Likeness
}

func newImitator(ctx context.Context, errs io.Writer) *imitator {
	return &imitator{ctx: ctx, errs: errs, known: map[[3]string]*likeness.Likeness{}}
}

// find is playerspec.Options.Likeness.
func (m *imitator) find(gameName, player, from string) (*book.Shelf, int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [3]string{gameName, player, from}
	l := m.known[key]
	if l == nil {
		games, err := gather(until(m.ctx, inSources(nil, []string{from})), m.errs)
		if err != nil {
			return nil, 0, err
		}
		if l, err = likeness.Of(games, gameName, player, levelElo, level.Strongest); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", from, err)
		}
		m.known[key] = l
		fmt.Fprintln(m.errs, about(player, l))
	}
	return l.Openings, l.Level, nil
}

// about says what is known of a player.
func about(player string, l *likeness.Likeness) string {
	text := fmt.Sprintf("%s: %s of openings from %s; ", player, count(l.Moves, "move", "moves"), count(l.Games, "game", "games"))
	if !l.Rated {
		return text + "strength unknown: no game connects it with one of our levels"
	}
	return text + fmt.Sprintf("Elo %.0f ± %.0f on the scale of the levels; level %d (%.0f) is nearest", l.Elo, l.Error, l.Level, l.LevelElo)
}
