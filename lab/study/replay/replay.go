// Package replay searches the recorded positions of a game again and compares
// the moves. A game of a reproducible profile, or of a match with fixed nodes and
// one thread, gives the same moves; [Player.Unknown] lists why others may differ.
package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/texttable"
	"sparring/record"
)

// ErrNoPlayer is returned for a record that no player or match runner wrote: it
// does not say who played with which settings. Replay the player's own record.
var ErrNoPlayer = errors.New("the record does not say who played with which settings")

// Player is one side of a recorded game that can be replayed.
type Player struct {
	Seat     game.Seat
	Settings *record.Settings
	Record   *record.Record
}

// Players returns the sides of a game that its record describes: one in a
// player's own record, both in that of a match. Other records give ErrNoPlayer.
func Players(r *record.Record) (players []Player, err error) {
	if s := r.Source.Seat; r.Source.By == record.ByPlayer && s != nil && r.Source.Settings != nil {
		return []Player{{*s, r.Source.Settings, r}}, nil
	}
	for seat := range r.Seats {
		if s := r.Seats[seat].Settings; r.Source.By == record.ByMatch && s != nil {
			players = append(players, Player{game.Seat(seat), s, r})
		}
	}
	if len(players) == 0 {
		return nil, fmt.Errorf("game %s, written by %s: %w", r.ID, r.Source.By, ErrNoPlayer)
	}
	return players, nil
}

// Unknown lists reasons why a replay may differ from the record without a fault. It
// is empty for a game that must be reproduced exactly. Build names this program.
func (p Player) Unknown(build string) (reasons []string) {
	s, r := p.Settings, p.Record
	say := func(when bool, format string, args ...any) {
		if when {
			reasons = append(reasons, fmt.Sprintf(format, args...))
		}
	}
	level := s.Level > 0
	if s.Spec != "" && !strings.HasPrefix(s.Spec, "self") {
		return []string{"another program played, and a record does not start programs: " + s.Spec}
	}
	say(s.Build != build, "another build recorded it: %s, this is %s", s.Build, build)
	say(s.Nodes == 0 && s.Depth == 0, "time limited the searches, not nodes or depth")
	say(s.Threads > 1, "%d threads searched", s.Threads)
	say(s.Ponder, "it pondered, which filled its tables")
	say(!s.OwnTable && !level, "other games shared its hash table")
	say(s.TableMen > 0 && !s.Reproducible, "its endgame tables may have differed")
	say(!s.Reproducible && r.ClockOf(p.Seat).Traits().Limited, "the clock may have ended searches")
	say(s.Book != "" && s.Book != book.None && s.Book != book.Shipped, "the opening book %s may have changed since", s.Book)
	late := 0
	for _, ply := range r.Plies {
		if ply.Think != nil && ply.Think.TimedOut {
			late++
		}
	}
	say(late > 0, "the clock ended %s", texttable.Count(late, "search", "searches"))
	return reasons
}

// Difference is a move that the replay did not reproduce.
type Difference struct {
	Ply      int // from 1
	Position string
	Recorded record.Ply
	Replayed string
	Result   search.Result
}

// Report is the outcome of a replay.
type Report struct {
	Moves  int         // searched
	Same   int         // of these, the move was the recorded one
	Exact  int         // of the same ones, score, depth and nodes were as well
	First  *Difference // nil if all moves are the same
	Absent int         // moves of the player without a recorded search
}

// Run searches the player's moves again. Open opens a game for a spec. The error
// is that of a game that cannot be opened or played through, or of ctx.
func (p Player) Run(ctx context.Context, pool *engine.Pool, open func(spec string, o engine.GameOptions) (engine.Game, error)) (rep Report, err error) {
	r, s := p.Record, p.Settings
	rules, err := catalog.Rules(r.Rules)
	if err != nil {
		return rep, err
	}
	pos, err := rules.New(r.Position)
	if err != nil {
		return rep, err
	}
	g, err := open(s.Spec, engine.GameOptions{ID: r.ID, Rules: rules, Seed: r.Source.Seed, OwnTable: true, Reproducible: s.Reproducible})
	if err != nil {
		return rep, err
	}
	defer g.Close()
	for i, ply := range r.Plies {
		game.PlayOn(pos)
		if ply.Seat == p.Seat {
			if err := p.replay(ctx, pool, g, pos, i, &rep); err != nil {
				return rep, fmt.Errorf("game %s, ply %d: %w", r.ID, i+1, err)
			}
		}
		if _, err := game.PlayText(pos, ply.Move); err != nil {
			return rep, fmt.Errorf("game %s: %w", r.ID, err)
		}
	}
	return rep, nil
}

// replay searches one position and counts the result.
func (p Player) replay(ctx context.Context, pool *engine.Pool, g engine.Game, pos game.Position, i int, rep *Report) error {
	ply := p.Record.Plies[i]
	if !searched(p.Record, ply) || pos.Outcome().Over() || pos.Turn() != p.Seat {
		rep.Absent++
		return nil
	}
	limits := search.Limits{Nodes: p.Settings.Nodes, Depth: p.Settings.Depth}
	if limits.Nodes == 0 && limits.Depth == 0 {
		limits.Nodes = max(ply.Think.Nodes, 1) // the best estimate
	}
	searching, err := pool.Start(engine.Request{Game: g, Position: pos, Limits: limits})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, searching.Stop)()
	result, err := searching.Wait()
	if err = errors.Join(ctx.Err(), err); err != nil {
		return err
	}
	rep.Moves++
	move := "no move"
	if result.Move != game.NoMove {
		move = pos.Format(result.Move)
	}
	switch t := ply.Think; {
	case move != ply.Move:
		if rep.First == nil {
			rep.First = &Difference{i + 1, pos.String(), ply, move, result}
		}
	case t.Nodes == result.Nodes && t.Depth == result.Depth && (t.Depth == 0 || t.Score == int(result.Score)): // at depth 0 no score is recorded
		rep.Exact++
		fallthrough
	default:
		rep.Same++
	}
	return nil
}

// searched reports whether the engine chose a recorded move. The opening of a
// match is marked as book moves, but no engine chose it.
func searched(r *record.Record, ply record.Ply) bool {
	if ply.Think == nil {
		return false
	}
	switch ply.Think.Source {
	case "", record.FromPerson:
		return false
	case record.FromBook:
		return r.Source.By != record.ByMatch
	}
	return true
}
