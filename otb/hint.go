package otb

import (
	"errors"
	"fmt"
	"strings"

	"sparring/game"
)

// Entering returns the position in which a move that the operator types is read: after
// our announced move, that of the opponent's reply. Ours reports that a move there is
// ours, which is typed as "hand MOVE".
func (v *View) Entering() (p game.Position, ours bool) {
	us := v.Game.Terms.Us
	if v.Phase == Announced {
		after := v.Pos.Clone()
		if m, err := after.Parse(v.Game.Choice.Move); err == nil && after.Play(m) == nil && after.Turn() != us && !after.Outcome().Over() {
			return after, false
		}
	}
	return v.Pos, v.Pos.Turn() == us && v.Phase != Fixing
}

// Hint says what a line would do that is being typed: the move that it means, the
// moves that it may still mean, or what a command does. It is "" for an empty line.
func (v *View) Hint(line string) string {
	line = strings.TrimSpace(line)
	if line == "" {
		return ""
	}
	p, _ := v.Entering()
	if c, args := find(line); c != nil {
		if name := c.names[0]; args == "" || name != "hand" && name != "fix" {
			return strings.TrimSpace(name+" "+c.args) + ": " + c.about
		} else if name == "hand" {
			p, line = v.Pos, args
		} else {
			return "" // the position before is not at hand
		}
	}
	r, err := Read(p, line, v.UCI)
	if e, ok := errors.AsType[*AmbiguousError](err); ok {
		more := ""
		if e.More > 0 {
			more = fmt.Sprintf(" and %d more", e.More)
		}
		return strings.Join(e.Candidates, ", ") + more
	}
	if err == nil {
		return "= " + strings.Join(shown(p, r.Move, v.UCI), "   ")
	}
	for i := range commands {
		if strings.HasPrefix(commands[i].names[0], strings.ToLower(line)) {
			return strings.TrimSpace(commands[i].names[0]+" "+commands[i].args) + "?"
		}
	}
	return "?"
}
