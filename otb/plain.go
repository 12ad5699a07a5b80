package otb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"sparring/game"
	"sparring/internal/textlines"
)

// ErrInput is returned by Plain when its input ends before the game does. The game can
// be resumed.
var ErrInput = errors.New("the input has ended before the game")

// Plain shows a table line by line, for a pipe or a terminal without a screen: messages
// as they come, then the clocks and what the operator is to do. It reads the commands of
// Do and three of its own: board draws the board, status repeats the clocks, and wait
// reads no more until our move is known, for scripts. It ends with the input, with quit
// or with ctx.
func Plain(ctx context.Context, t *Table, in io.Reader, out io.Writer) error {
	p := plainScreen{t: t, out: out}
	lines := make(chan string)
	ended := make(chan error, 1)
	go func() { // lives until the input ends: a read cannot be interrupted
		s := textlines.New(in)
		for s.Scan() {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
		ended <- s.Err()
	}()
	defer p.show()
	defer t.Exported() // its error is told by Close
	p.show()
	for {
		next, over := lines, ended
		if p.waiting {
			next, over = nil, nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.Changed():
			p.show()
		case err := <-over:
			p.show()
			if err == nil && p.phase != Ended {
				err = ErrInput
			}
			return err
		case line := <-next:
			if p.read(line) != nil {
				return nil
			}
		}
	}
}

// plainScreen is what was printed so far.
type plainScreen struct {
	t       *Table
	out     io.Writer
	said    int // messages
	state   string
	phase   Phase
	waiting bool
}

// read carries out a line. The error asks to leave.
func (p *plainScreen) read(line string) error {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "help", "?":
		defer fmt.Fprintln(p.out, "  and here: board draws the board, status repeats the clocks, wait reads no more until our move is known")
	case "board":
		v := p.t.View()
		fmt.Fprintln(p.out, strings.TrimRight(v.Pos.Diagram(), "\n"))
		return nil
	case "status":
		p.state = ""
		p.show()
		return nil
	case "wait":
		p.waiting = true
		p.show()
		return nil
	}
	err := p.t.Do(line)
	if Quit(err) {
		return err
	}
	if err != nil {
		fmt.Fprintln(p.out, "!", err)
	}
	p.show()
	return nil
}

// show prints what is new.
func (p *plainScreen) show() {
	v := p.t.View()
	for _, n := range v.Messages {
		if n.N > p.said {
			mark := " "
			if n.Alert {
				mark = "*"
			}
			fmt.Fprintln(p.out, mark, n.Text)
			p.said = n.N
		}
	}
	coming := v.Phase == Thinking && !v.Game.standing() // the engine waits for the clocks
	if !coming && v.Engine.State != "starting" || v.Engine.State == "failed" {
		p.waiting = false
	}
	if state := fmt.Sprintf("%d %s %s", len(v.Game.Plies), v.Phase, v.Prompt); state != p.state {
		p.state, p.phase = state, v.Phase
		fmt.Fprintf(p.out, "[%d] %s | %s | %s\n", len(v.Game.Plies), v.clockLine(game.First), v.clockLine(game.Second), v.Prompt)
	}
}

// clockLine writes a seat's clock: "Red (we) 29:31".
func (v *View) clockLine(seat game.Seat) string {
	name := v.Game.Terms.Names[seat]
	if seat == v.Game.Terms.Us {
		name = "we"
	}
	return fmt.Sprintf("%s (%s) %s", Colour(v.Pos, seat), name, v.ClockText(seat))
}

// ClockText writes a seat's clock, with the periods that are left and a fallen flag.
func (v *View) ClockText(seat game.Seat) string {
	spec := v.Game.Terms.Clock
	turn := v.Clocks.Seats[seat]
	traits := spec.Traits()
	if !traits.Limited {
		return "no clock"
	}
	left, _ := spec.Remaining(turn)
	text := ClockText(left)
	if traits.Period > 0 && traits.Saves {
		if turn.Left > 0 {
			text = fmt.Sprintf("%s +%dx%s", ClockText(turn.Left), turn.Periods, ClockText(traits.Period))
		} else {
			text = fmt.Sprintf("%s (period, %d left)", ClockText(traits.Period-turn.Used), turn.Periods)
		}
	}
	if v.Clocks.Fallen[seat] {
		text += " FLAG"
	}
	return text
}
