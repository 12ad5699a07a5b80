package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"sparring/game"
	"sparring/lab/match"
	"sparring/pipe/playerspec"
)

// limited reports whether a spec limits its searches.
func limited(s playerspec.Spec) bool {
	if o := s.Outside; o != nil {
		return o.Nodes > 0 || o.Depth > 0
	}
	return s.Nodes > 0 || s.Depth > 0 || s.Level > 0 || s.As != ""
}

// program is a player that is a program of others, by its index in the terms.
type program struct {
	player int
	spec   playerspec.Spec
}

// checkPrograms returns what the protocols of programs have no words for: the rules of the
// match, or a player's limit. Rules may be nil.
func checkPrograms(t *match.Terms, rules *game.Rules, programs []program) error {
	var errs []error
	for _, p := range programs {
		of, limit := p.spec.Outside.Dialect, t.LimitOf(p.player)
		err := of.CheckLimits(limit.Nodes, limit.Depth)
		if rules != nil {
			err = errors.Join(err, of.CheckRules(rules))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("player %.100q: %w", t.Players[p.player], err))
		}
	}
	return errors.Join(errs...)
}

// sayUntold names the programs that have a clock of which their protocol can't tell them.
func sayUntold(errs io.Writer, t *match.Terms) {
	if t.Over != "" {
		return
	}
	for i, text := range t.Players {
		clock := t.LimitOf(i).Clock
		if s, err := playerspec.Parse(text); err == nil && untimed(s) && clock.Traits().Limited {
			fmt.Fprintf(errs, "sparring: %s is not told its clock, %s: the %s protocol has no words for it; give the program the same clock by its own settings\n",
				t.Names()[i], t.LimitOf(i), s.Outside.Dialect)
		}
	}
}

// untimed reports whether a player keeps a time of its own.
func untimed(s playerspec.Spec) bool { return s.Outside != nil && s.Outside.Dialect.Untimed() }

// limit returns the limit of a move. It may be omitted if every player has its
// own.
func (f *matchFlags) limit(own bool) (match.Limit, error) {
	switch {
	case f.clock != "":
		return match.ParseLimit(f.clock)
	case own:
		return match.Limit{}, nil
	}
	if f.event != "" {
		return match.Limit{}, fmt.Errorf("required: the sources of event %s do not say it", f.event)
	}
	return match.Limit{}, errors.New("required: 5+0.05, movetime=100ms, nodes=N or depth=N (unless every player has its own limit, as in self:nodes=N)")
}

// limitsOf reads limits of single players, "NAME=CLOCK" each, by the players' index.
func limitsOf(names, texts []string) (map[int]match.Limit, error) {
	var limits map[int]match.Limit
	for _, text := range texts {
		player, value := -1, ""
		for i, name := range names { // names may contain "=": the longest that fits
			if rest, ok := strings.CutPrefix(text, name+"="); ok && (player < 0 || len(name) > len(names[player])) {
				player, value = i, rest
			}
		}
		if player < 0 {
			return nil, fmt.Errorf("%.60q: want NAME=CLOCK with one of the players %s", text, strings.Join(names, ", "))
		}
		if _, twice := limits[player]; twice {
			return nil, fmt.Errorf("%.60q: %s has a clock already", text, names[player])
		}
		l, err := match.ParseLimit(value)
		if err != nil {
			return nil, err
		}
		if limits == nil {
			limits = map[int]match.Limit{}
		}
		limits[player] = l
	}
	return limits, nil
}
