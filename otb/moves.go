package otb

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"sparring/game"
)

// theirMove plays a move of the opponent. Our move, if it waits, was made then.
func (t *Table) theirMove(text string) error {
	g := t.game
	switch phase := g.Phase(); {
	case phase == Setup:
		if _, err := Read(g.pos, text, t.o.UCI); err != nil {
			return err
		}
		return now("the clocks have not been started (Enter starts them)")
	case phase == Ended || phase == RuleEnd:
		return now("the game has ended: %s", t.ended())
	case phase == Thinking:
		if _, err := Read(g.pos, text, t.o.UCI); err != nil {
			return err
		}
		return now("it is our move: hand %s plays it for us", text)
	case phase == Fixing && g.pos.Turn() == g.Terms.Us:
		return t.hand(text)
	case phase == Announced:
		return t.replyBefore(text)
	}
	return t.play(text, "")
}

// replyBefore plays the opponent's reply to our move, which the operator has made
// without saying so: a hand's time after it was shown.
func (t *Table) replyBefore(text string) error {
	after := t.game.Position()
	if err := after.Play(t.game.parse(t.game.Choice.Move)); err != nil {
		return err
	}
	if after.Turn() == t.game.Terms.Us {
		return now("first make our move: Enter; hand %s plays another one", text)
	}
	if _, err := Read(after, text, t.o.UCI); err != nil {
		return fmt.Errorf("as the reply to our move %s: %w", t.game.Choice.Move, err)
	}
	if err := t.made(earlier(t.game.Choice.At.Add(t.game.hand()), t.now())); err != nil {
		return err
	}
	t.afterMove()
	return t.play(text, "")
}

// play plays a move for the seat to act.
func (t *Table) play(text string, by By) error {
	g := t.game
	r, err := Read(g.pos, text, t.o.UCI)
	if err != nil {
		return err
	}
	all := shown(g.pos, r.Move, t.o.UCI)
	seat := g.pos.Turn()
	if err := t.enter(Entry{Kind: Move, Move: r.Text, By: by}); err != nil {
		return err
	}
	who := "Opponent"
	if seat == g.Terms.Us {
		who = "We (by hand)"
	}
	t.say("%s: %s", who, strings.Join(all, "   "))
	t.afterMove()
	return nil
}

// afterMove tells what the rules say to the position.
func (t *Table) afterMove() {
	g := t.game
	if out := g.Outcome(); out.Over() {
		t.alert("%s", words.Outcome(out, sides(g.pos)))
		return
	}
	if n := len(g.Repeated()); n > 0 {
		t.alert("Repetition: %s.", g.Occurrences())
	}
	if c, ok := g.pos.(game.Checker); ok && c.Check() != "" {
		t.say("Check.")
	}
}

// hand plays a move of ours.
func (t *Table) hand(text string) error {
	if text == "" {
		return errors.New("hand: want a move")
	}
	switch phase := t.game.Phase(); {
	case phase == Setup:
		return now("the clocks have not been started (Enter starts them)")
	case phase != Thinking && phase != Announced && (phase != Fixing || t.game.pos.Turn() != t.game.Terms.Us):
		return now("it is not our move")
	}
	return t.play(text, ByOperator)
}

func (t *Table) undo(string) error {
	g := t.game
	if err := t.enter(Entry{Kind: Undo}); err != nil {
		return err
	}
	p := g.Plies[len(g.Plies)-1]
	t.say("Taken back: %s by %s.", p.Move, whose(g, p.Seat))
	return nil
}

// fix replaces the opponent's last move. Our answer to the wrong one is taken back with
// it, if it was made.
func (t *Table) fix(text string) error {
	g := t.game.clone()
	entries := 0
	for len(g.Taken) == 0 || g.Taken[len(g.Taken)-1].Seat == g.Terms.Us {
		if err := g.Apply(Entry{At: t.now(), Kind: Undo}); err != nil {
			return err
		}
		entries++
	}
	if _, err := Read(g.pos, text, t.o.UCI); err != nil {
		return fmt.Errorf("instead of %s: %w", g.Taken[len(g.Taken)-1].Move, err)
	}
	for range entries {
		if err := t.enter(Entry{Kind: Undo}); err != nil {
			return err
		}
	}
	return t.play(text, "")
}

func (t *Table) redo(string) error {
	n := len(t.game.Taken)
	if n == 0 {
		return now("no move was taken back")
	}
	p := t.game.Taken[n-1]
	if err := t.enter(Entry{Kind: Move, Move: p.Move, By: p.By, Think: p.Think}); err != nil {
		return err
	}
	t.say("Made again: %s.", p.Move)
	return nil
}

func (t *Table) unplayed(string) error {
	if err := t.enter(Entry{Kind: Unplayed}); err != nil {
		return err
	}
	t.say("The clock runs on as if no move had been made.")
	t.announce() // an earlier move of ours may not have been made either
	return nil
}

func (t *Table) moveNow(string) error {
	if t.game.Phase() != Thinking {
		return now("it is not our move")
	}
	c := t.player.current
	if c == nil || c.ponders {
		return now("the engine does not think")
	}
	c.search.Stop()
	t.say("The engine is told to move.")
	return nil
}

func (t *Table) listMoves(string) error {
	var line []string
	for i, text := range t.moves() {
		line = append(line, fmt.Sprintf("%d.%s", i+1, text))
	}
	t.say("Moves: %s", cmp.Or(strings.Join(line, " "), "none yet"))
	return nil
}
