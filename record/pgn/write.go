package pgn

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/game/xiangqi"
	"sparring/record"
	"sparring/record/format"
)

func write(records []*record.Record, o format.WriteOptions) (string, error) {
	var s strings.Builder
	for i, r := range records {
		if i > 0 {
			s.WriteByte('\n')
		}
		if err := writeGame(&s, r, cmp.Or(o.Moves, format.ICCS)); err != nil {
			return "", &format.GameError{Format: "pgn", Game: r.ID, Err: err}
		}
	}
	return s.String(), nil
}

// formatNames are the names of the notations in the tag Format.
var formatNames = map[format.Moves]string{format.ICCS: "ICCS", format.WXF: "WXF", format.Chinese: "Chinese"}

func writeGame(s *strings.Builder, r *record.Record, moves format.Moves) error {
	if r.Game != xiangqi.Name {
		return fmt.Errorf("%w: a game of %s", format.ErrCannot, r.Game)
	}
	name, ok := formatNames[moves]
	if !ok {
		return fmt.Errorf("%w: notation %.20q", format.ErrCannot, moves)
	}
	end, err := format.Played(r, func(int, game.Position, game.Move) error { return nil })
	if err != nil {
		return err
	}
	tag := func(id, value string) {
		value = strings.Join(strings.Fields(value), " ")
		fmt.Fprintf(s, "[%s \"%s\"]\n", id, tagEscapes.Replace(value))
	}
	maybe := func(id, value string) {
		if value != "" {
			tag(id, value)
		}
	}
	tag("Game", "Chinese Chess")
	tag("Event", cmp.Or(r.Event, "?"))
	tag("Site", cmp.Or(r.Place, "?"))
	if r.Start.IsZero() {
		tag("Date", "????.??.??")
	} else {
		// The standard's Date and Time are those of the place, whose time zone a record does not
		// have. So Date is that of UTC, as the servers write it, and there is no Time.
		date, clock, _ := strings.Cut(format.FormatDate(r.Start, "2006.01.02 15:04:05", time.UTC), " ")
		tag("Date", date)
		if clock != "" {
			tag("UTCDate", date)
			tag("UTCTime", clock)
		}
	}
	tag("Round", "?")
	for seat, colour := range []string{"Red", "Black"} {
		p := r.Seats[seat]
		tag(colour, cmp.Or(format.Name(p), "?"))
		maybe(colour+"Player", format.ID(p))
	}
	result := resultText(r.Result)
	tag("Result", result)
	maybe("Termination", termination(r.Reason))
	maybe("TimeControl", timeControl(r.Clock))
	tag("Rules", end.Rules().Name)
	maybe("FEN", r.Position)
	tag("Format", name)
	s.WriteByte('\n')
	writeComment(s, r.Text)
	if err := writeMoves(s, r, moves); err != nil {
		return err
	}
	s.WriteString(result + "\n")
	return nil
}

var tagEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// writeMoves writes a line for each two moves.
func writeMoves(s *strings.Builder, r *record.Record, moves format.Moves) error {
	number := 1
	_, err := format.Played(r, func(ply int, p game.Position, m game.Move) error {
		text := moveText(p.(*xiangqi.Position), m, moves)
		switch {
		case p.Turn() == game.First:
			fmt.Fprintf(s, "%3d. %s", number, text)
		case ply == 1:
			fmt.Fprintf(s, "%3d. ... %s", number, text)
		default:
			s.WriteString(" " + text)
		}
		for _, c := range []string{format.Mark(r, ply-1), format.Comment(&r.Plies[ply-1])} {
			if c != "" {
				s.WriteByte(' ')
				writeComment(s, c)
			}
		}
		if p.Turn() == game.Second || ply == len(r.Plies) {
			s.WriteByte('\n')
			number++
		}
		return nil
	})
	return err
}

// writeComment writes a comment in braces; braces in it become parentheses.
func writeComment(s *strings.Builder, text string) {
	if text != "" {
		s.WriteString("{" + strings.NewReplacer("{", "(", "}", ")").Replace(text) + "}")
	}
}

func resultText(r game.Result) string {
	for text, result := range results {
		if result == r {
			return text
		}
	}
	return "*"
}

// timeForfeit is the PGN standard's word for a loss on time.
const timeForfeit = "time forfeit"

func termination(reason game.Reason) string {
	if reason == "time" {
		return timeForfeit
	}
	return string(reason)
}

// timeControl returns the clock in the form of the PGN standard if that is possible,
// else as records write it.
func timeControl(c clock.Spec) string {
	if !c.Traits().Limited {
		return "-"
	}
	return c.String()
}
