// Package ccgc reads and writes the game texts of the Chinese computer games
// championship (CCGC): Amazons and Gomoku ("C5").
//
//	#[AM][first B][second W][先手胜][2024.07.11 10:00 place][event];
//	1 d1d7(g7) d10d4(g4)
//	2 ...
//
//	{[C5][first B][second W][先手胜][2024.07.11 10:00 place][event];B(H,8);W(I,9)}
//
// Columns are letters from the left, rows count from 1 at the bottom. 先手胜
// means that the first player won, 后手胜 the second, 平局 a draw; anything else
// is ignored. B and W are the colours. Times are Beijing's. The texts have no clocks and no choices of an
// opening procedure. Of Gomoku they have the stones, and the player who held
// Black at the end comes first.
//
// Teams write these files with programs of their own, so many deviations from
// the competition's rules are read: capitals, full-width characters, doubled
// brackets, other signs in dates, missing fields.
package ccgc

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/record"
	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:     "ccgc",
		Ext:      ".txt",
		About:    "Chinese computer games championship, Amazons and Gomoku",
		Games:    []string{amazons.Name, gomoku.Name},
		Detect:   detect,
		Write:    write,
		Read:     read,
		FileName: fileName,
	}
}

// The codes of the games.
var codes = map[string]string{amazons.Name: "AM", gomoku.Name: "C5"}

// The words for results.
const (
	firstWins  = "先手胜"
	secondWins = "后手胜"
	drawn      = "平局"
	unknown    = "未知"
)

var resultWords = map[game.Result]string{
	game.FirstWins: firstWins, game.SecondWins: secondWins, game.Draw: drawn, game.Undecided: unknown,
}

// dateLayout is the layout of date and time in the fifth field, in Beijing time.
const dateLayout = "2006.01.02 15:04"

var beijing = time.FixedZone("CST", 8*60*60)

func write(records []*record.Record, _ format.WriteOptions) (string, error) {
	var s strings.Builder
	for _, r := range records {
		text, err := writeGame(r)
		if err != nil {
			return "", &format.GameError{Format: "ccgc", Game: r.ID, Err: err}
		}
		s.WriteString(text + "\r\n")
	}
	return s.String(), nil
}

func writeGame(r *record.Record) (string, error) {
	if r.Position != "" {
		return "", fmt.Errorf("%w: the start position %.60q", format.ErrCannot, r.Position)
	}
	switch {
	case r.Game == amazons.Name && r.Rules == amazons.Name+"/10x10":
		return amazonsText(r)
	case r.Game == gomoku.Name:
		return gomokuText(r)
	}
	return "", fmt.Errorf("%w: a game of %s", format.ErrCannot, r.Rules)
}

func amazonsText(r *record.Record) (string, error) {
	var s strings.Builder
	s.WriteString("#" + header(r, game.First) + ";")
	_, err := format.Played(r, func(ply int, p game.Position, m game.Move) error {
		if ply%2 == 1 {
			s.WriteString("\r\n" + strconv.Itoa((ply+1)/2))
		}
		s.WriteString(" " + p.(*amazons.Position).FormatIn(amazons.Parens, m))
		return nil
	})
	return s.String(), err
}

func gomokuText(r *record.Record) (string, error) {
	stones, size, black, err := format.Stones(r)
	if err != nil {
		return "", err
	}
	if size != 15 {
		return "", fmt.Errorf("%w: a board of %d", format.ErrCannot, size)
	}
	var s strings.Builder
	s.WriteString("{" + header(r, black))
	for _, stone := range stones {
		colour := "W"
		if stone.Black {
			colour = "B"
		}
		fmt.Fprintf(&s, ";%s(%c,%d)", colour, 'A'+stone.Col, stone.Row+1)
	}
	return s.String() + "}", nil
}

// header writes the six fields, with the player of seat first before the other.
func header(r *record.Record, first game.Seat) string {
	when := clean(r.Place)
	if !r.Start.IsZero() {
		when = strings.TrimSpace(format.FormatDate(r.Start, dateLayout, beijing) + " " + when)
	}
	return "[" + codes[r.Game] + "][" + team(r.Seats[first], " B") + "][" + team(r.Seats[first.Other()], " W") +
		"][" + resultWords[format.Turned(r.Result, first)] + "][" + when + "][" + clean(r.Event) + "]"
}

// team returns a player's name with the letter of the colour, as the championship
// writes it; reading removes it.
func team(s record.Seat, colour string) string {
	name := clean(format.Name(s))
	if name == "" {
		return ""
	}
	return name + colour
}

// clean makes a text fit into a field: on one line, without brackets and
// semicolons, for which the format has no escape.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch format.Fold(r) {
		case '[', '{':
			return '('
		case ']', '}':
			return ')'
		case ';':
			return ','
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// fileName returns the file name that the championship prescribes:
// AM-firstB vs secondW-先手胜-time place-event.txt.
func fileName(r *record.Record) string {
	first := game.First
	if r.Game == gomoku.Name {
		if _, _, black, err := format.Stones(r); err == nil {
			first = black
		}
	}
	when := ""
	if !r.Start.IsZero() {
		when = format.FormatDate(r.Start, "20060102 1504", beijing)
	}
	parts := []string{codes[r.Game],
		clean(format.Name(r.Seats[first])) + "B vs " + clean(format.Name(r.Seats[first.Other()])) + "W",
		resultWords[format.Turned(r.Result, first)]}
	for _, part := range []string{strings.TrimSpace(when + " " + clean(r.Place)), clean(r.Event)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-") + ".txt"
}
