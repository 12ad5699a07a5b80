package otb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"
)

// Record returns the record of the game so far. What was noted stands in the comment of
// the move before it.
func (g *Game) Record() *record.Record {
	t := g.Terms
	rules, _ := t.start() // New has checked it
	r := &record.Record{
		V: record.Version, ID: t.ID, Game: rules.Rules().Game, Rules: t.Rules, Position: t.Position, Clock: t.Clock,
		Event: t.Event, Place: t.Place, Start: g.Started, Strict: true,
		Source: record.Source{By: record.ByPlayer, Player: t.Names[t.Us], Seat: &t.Us, Build: t.Build, Seed: t.Seed, Settings: &record.Settings{
			Spec: t.Engine, HashMB: t.HashMB, Threads: t.Threads, Ponder: t.Ponder,
		}},
		Plies: []record.Ply{},
	}
	for seat, name := range t.Names {
		r.Seats[seat] = record.Seat{Player: name}
	}
	r.Seats[t.Us].Kind = record.Bot
	if g.End != nil {
		r.Result, r.Reason, r.Text, r.End = g.End.Result, g.End.Reason, g.End.Text, g.End.At
	}
	pos := rules
	for _, p := range g.Plies {
		if _, err := game.PlayText(pos, p.Move); err != nil {
			game.PlayOn(pos)
			if _, err := game.PlayText(pos, p.Move); err != nil {
				break // can't happen: the moves were played
			}
		}
		ply := record.Ply{Seat: p.Seat, Move: p.Move, Key: game.KeyText(pos.Key()), Think: p.Think}
		if p.By == ByOperator {
			ply.Think = &record.Think{Source: record.FromPerson}
		}
		r.Plies = append(r.Plies, ply)
	}
	g.clocks(later(g.Last, g.Started), func(i int, used time.Duration, c *Clocks) {
		if i < len(r.Plies) {
			seat := r.Plies[i].Seat
			r.Plies[i].UsedMS = used.Milliseconds()
			r.Plies[i].LeftMS, r.Plies[i].Periods = max(c.Seats[seat].Left, 0).Milliseconds(), c.Seats[seat].Periods
		}
	})
	for _, n := range g.Notes {
		if i := min(n.Ply, len(r.Plies)) - 1; i >= 0 {
			r.Plies[i].Comment = strings.TrimPrefix(r.Plies[i].Comment+"; "+n.Text, "; ")
		} else {
			r.Text = strings.TrimPrefix(r.Text+"; "+n.Text, "; ")
		}
	}
	return r
}

// shows writes the state of a clock.
func shows(spec clock.Spec, s clock.State) string {
	text := ClockText(s.Left)
	if t := spec.Traits(); t.Period > 0 && t.Saves {
		periods := "periods"
		if s.Periods == 1 {
			periods = "period"
		}
		text += fmt.Sprintf(" and %d %s of %s", s.Periods, periods, ClockText(t.Period))
	}
	return text
}

// Occurrences says how often the position on the board has stood there.
func (g *Game) Occurrences() string {
	before := g.Repeated()
	if len(before) == 0 {
		return "the position stands on the board for the first time"
	}
	var after []string
	for _, n := range append(slices.Clone(before), len(g.Plies)) {
		after = append(after, fmt.Sprint(n))
	}
	return fmt.Sprintf("the position stands on the board for the %s time (after plies %s)", ordinal(len(before)+1), strings.Join(after, ", "))
}

func ordinal(n int) string {
	switch n {
	case 1:
		return "1st"
	case 2:
		return "2nd"
	case 3:
		return "3rd"
	}
	return fmt.Sprintf("%dth", n)
}
