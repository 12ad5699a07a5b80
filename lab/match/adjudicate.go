package match

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sparring/engine/search"
	"sparring/game"
)

// Reasons of games that the match runner ended by adjudication. A fault gives its
// kind as the reason.
const (
	ReasonResignRule game.Reason = "resign-rule" // both players agreed on the winner: Terms.Resign
	ReasonDrawRule   game.Reason = "draw-rule"   // both players considered the game even: Terms.Draw
	ReasonMaxPlies   game.Reason = "max-plies"   // Terms.MaxPlies
	ReasonTablebase  game.Reason = "tablebase"   // Terms.Tablebase
)

// Resign adjudicates a loss if for Moves consecutive moves the player's winning
// chance was at most Chance and the opponent's at least 1-Chance.
// Chances instead of scores make one rule suit every game.
type Resign struct {
	Chance float64 `json:"chance"`
	Moves  int     `json:"moves"`
}

// Draw adjudicates a draw if from ply After on both players' winning
// chances were within Within of one half for Moves consecutive moves.
type Draw struct {
	Within float64 `json:"within"`
	Moves  int     `json:"moves"`
	After  int     `json:"after,omitempty"`
}

// ParseResign parses "chance=0.02,moves=4".
func ParseResign(text string) (*Resign, error) {
	r := &Resign{}
	err := parseRule(text, map[string]any{"chance": &r.Chance, "moves": &r.Moves})
	if err == nil && (r.Chance <= 0 || r.Chance >= 0.5 || r.Moves < 1) {
		err = errors.New("want a chance above 0 and below 0.5, and at least 1 move")
	}
	if err != nil {
		return nil, fmt.Errorf("resign rule %.60q: %w", text, err)
	}
	return r, nil
}

// ParseDraw parses "within=0.02,moves=8,after=80"; after is optional.
func ParseDraw(text string) (*Draw, error) {
	d := &Draw{}
	err := parseRule(text, map[string]any{"within": &d.Within, "moves": &d.Moves, "after": &d.After})
	if err == nil && (d.Within < 0 || d.Within >= 0.5 || d.Moves < 1 || d.After < 0) {
		err = errors.New("want within of at least 0 and below 0.5, and at least 1 move")
	}
	if err != nil {
		return nil, fmt.Errorf("draw rule %.60q: %w", text, err)
	}
	return d, nil
}

// parseRule parses key=value pairs into *int and *float64.
func parseRule(text string, fields map[string]any) error {
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		var err error
		switch to := fields[key].(type) {
		case *int:
			*to, err = strconv.Atoi(value)
		case *float64:
			*to, err = strconv.ParseFloat(value, 64)
			if err == nil && math.IsNaN(*to) {
				err = errors.New("not a number")
			}
		default:
			return fmt.Errorf("no key %.20q", key)
		}
		if err != nil {
			return fmt.Errorf("%s: %.20q is not a number", key, value)
		}
	}
	return nil
}

// explain says in words why the match runner ended a game after so many plies; "" for
// a reason of the rules or the players.
func (t *Terms) explain(reason game.Reason, plies int) string {
	switch reason {
	case ReasonResignRule:
		return fmt.Sprintf("adjudicated: both players gave the winner %.3g %% or more for %d moves each", 100*(1-t.Resign.Chance), t.Resign.Moves)
	case ReasonDrawRule:
		return fmt.Sprintf("adjudicated: both players gave each side %.3g to %.3g %% for %d moves each", 100*(0.5-t.Draw.Within), 100*(0.5+t.Draw.Within), t.Draw.Moves)
	case ReasonMaxPlies:
		return fmt.Sprintf("adjudicated: %d plies were played", plies)
	case ReasonTablebase:
		return "adjudicated by the endgame tables"
	}
	return ""
}

// adjudicator tracks the players' winning chances.
type adjudicator struct {
	terms           *Terms
	lost, won, even [2]int // consecutive moves, by seat
}

// update takes the result of a move into account and returns the outcome that the rules
// give. A move whose result does not judge the game does not count.
func (a *adjudicator) update(seat game.Seat, r search.Result, ply int) game.Outcome {
	if r.Judges() {
		count := func(n *int, holds bool) {
			if *n++; !holds {
				*n = 0
			}
		}
		if rule := a.terms.Resign; rule != nil {
			count(&a.lost[seat], r.WinProb <= rule.Chance)
			count(&a.won[seat], r.WinProb >= 1-rule.Chance)
		}
		if rule := a.terms.Draw; rule != nil {
			count(&a.even[seat], ply > rule.After && math.Abs(r.WinProb-0.5) <= rule.Within)
		}
	}
	if rule := a.terms.Resign; rule != nil {
		for _, s := range []game.Seat{game.First, game.Second} {
			if a.lost[s] >= rule.Moves && a.won[s.Other()] >= rule.Moves {
				return game.Outcome{Result: game.WonBy(s.Other()), Reason: ReasonResignRule}
			}
		}
	}
	if rule := a.terms.Draw; rule != nil && min(a.even[game.First], a.even[game.Second]) >= rule.Moves {
		return game.Outcome{Result: game.Draw, Reason: ReasonDrawRule}
	}
	if a.terms.MaxPlies > 0 && ply >= a.terms.MaxPlies {
		return game.Outcome{Result: game.Draw, Reason: ReasonMaxPlies}
	}
	return game.Outcome{}
}
