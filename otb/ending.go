package otb

import (
	"errors"
	"fmt"
	"strings"

	"sparring/game"
	"sparring/protocol"
)

func (t *Table) draw(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	if err := t.enter(Entry{Kind: Offer, Seat: seat}); err != nil {
		return err
	}
	if seat == t.game.Terms.Us {
		t.say("We offer a draw.")
		return nil
	}
	advice := ""
	if a := t.player.activity(); a.Known {
		advice = fmt.Sprintf(" Our engine gives us %.0f %%.", 100*a.Chance)
	}
	t.alert("The opponent offers a draw: accept or decline.%s", advice)
	return nil
}

func (t *Table) accept(string) error {
	if t.game.Offer == nil {
		return now("no draw was offered")
	}
	return t.finish(Entry{Kind: End, Result: game.Draw, Reason: protocol.ReasonAgreement})
}

func (t *Table) resign(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	return t.finish(Entry{Kind: End, Result: game.WonBy(seat.Other()), Reason: protocol.ReasonResign})
}

func (t *Table) flag(args string) error {
	seat, _, err := t.side(args)
	if err != nil {
		return err
	}
	return t.finish(Entry{Kind: End, Result: game.WonBy(seat.Other()), Reason: protocol.ReasonTime})
}

func (t *Table) claim(args string) error {
	seat, text, err := t.side(args)
	if err != nil {
		return err
	}
	claim := fmt.Sprintf("%s claims a repetition: %s", whose(t.game, seat), t.game.Occurrences())
	if seat == t.game.Terms.Us {
		claim = "we claim a repetition: " + t.game.Occurrences()
	}
	return t.note(strings.TrimSuffix(claim+"; "+text, "; "))
}

func (t *Table) penalty(args string) error {
	seat, text, err := t.side(args)
	if err != nil {
		return err
	}
	if text == "" {
		return errors.New("penalty: want who and what, such as penalty them second illegal move")
	}
	return t.note(fmt.Sprintf("penalty for %s: %s", whose(t.game, seat), text))
}

func (t *Table) note(text string) error {
	if text == "" {
		return errors.New("note: want a text")
	}
	if err := t.enter(Entry{Kind: Note, Text: text}); err != nil {
		return err
	}
	t.say("Noted: %s", text)
	return nil
}

// Adjudicated is the reason of a game that the arbiter ended.
const Adjudicated game.Reason = "adjudication"

func (t *Table) endBy(args string) error {
	word, text, _ := strings.Cut(args, " ")
	e := Entry{Kind: End, Reason: Adjudicated, Text: strings.TrimSpace(text)}
	switch lower := strings.ToLower(word); lower {
	case "draw":
		e.Result = game.Draw
	case "none":
	default:
		seat, _, err := t.side(lower)
		if err != nil {
			return fmt.Errorf("end: %q: want who wins, us or them, or draw or none", word)
		}
		e.Result = game.WonBy(seat)
	}
	return t.finish(e)
}

// finish ends the game and keeps its record.
func (t *Table) finish(e Entry) error {
	if err := t.enter(e); err != nil {
		return err
	}
	t.alert("The game has ended: %s", t.ended())
	return t.export("")
}

// ended says how the game ended.
func (t *Table) ended() string {
	v := View{Game: t.game, Pos: t.game.pos}
	return v.Outcome()
}

func (t *Table) playOn(string) error {
	if err := t.enter(Entry{Kind: PlayOn}); err != nil {
		return err
	}
	t.say("The game goes on; the clocks stood since the last move.")
	return nil
}
