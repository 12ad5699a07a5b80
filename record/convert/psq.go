package convert

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// A psq file, as Piskvork 8 reads and writes it: a line "Piskvorky WxH, a:b, h"
// (h is 1 where the player named second opened), a line "x,y,ms" for each
// stone, counted from 1 at the top left, both players' names, and a code, 0
// for a game that went to its end and -1 where nothing is known. The winner is
// not in it; a line of our own after the code tells, where other programs do
// not look any more.
const psqResult = "; result "

func writePSQ(g *played) ([]byte, error) {
	if g.Game != "gomoku" {
		return nil, fmt.Errorf("%w: psq is for gomoku, not %s", ErrUnsupported, g.Game)
	}
	if err := g.needUsual(PSQ); err != nil {
		return nil, err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Piskvorky %dx%d, 0:0, 0\r\n", len(g.board.rows[0]), len(g.board.rows))
	for i := range g.Plies {
		ply := &g.Plies[i]
		points, ok := g.board.points(ply.Move)
		if !ok || len(points) != 1 {
			continue // actions of an opening procedure leave stones, but no line of their own
		}
		fmt.Fprintf(&out, "%d,%d,%d\r\n", points[0].col+1, points[0].row+1, ply.UsedMS)
	}
	opening, other := g.players()
	code := -1
	if g.Reason == game.Five || g.Reason == game.BoardFull {
		code = 0
	}
	result := "none"
	if w := g.winner(); w >= 0 {
		result = [...]string{"black", "white"}[w]
	} else if g.Result == game.Draw {
		result = "draw"
	}
	fmt.Fprintf(&out, "%s\r\n%s\r\n%d\r\n%s%s\r\n", oneLine(opening), oneLine(other), code, psqResult, result)
	return []byte(out.String()), nil
}

// oneLine keeps a text from breaking a format of lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func readPSQ(text string) ([]*draft, error) {
	lines := strings.SplitAfter(text, "\n")
	var width, height, a, b, second int
	if n, _ := fmt.Sscanf(lines[0], "Piskvorky %dx%d, %d:%d, %d", &width, &height, &a, &b, &second); n < 2 {
		return nil, syntax(text, 0, "want Piskvorky WxH, a:b, h")
	}
	if width != height || width < 1 || width > 99 {
		return nil, syntax(text, len("Piskvorky "), "a board of %dx%d", width, height)
	}
	d := &draft{}
	d.Game, d.Rules = "gomoku", fmt.Sprintf("gomoku/freestyle-%d", width)
	size := board{rows: make([]string, height), base: 1}
	at := len(lines[0])
	lines = lines[1:]
	for len(lines) > 0 && strings.Count(lines[0], ",") >= 1 && strings.Trim(lines[0], "0123456789,- \t\r\n") == "" {
		field := strings.Split(strings.TrimSpace(lines[0]), ",")
		x, err1 := strconv.Atoi(strings.TrimSpace(field[0]))
		y, err2 := strconv.Atoi(strings.TrimSpace(field[1]))
		if err1 != nil || err2 != nil || x < 1 || x > width || y < 1 || y > height {
			return nil, syntax(text, at, "%.40q is no stone on a board of %dx%d", strings.TrimSpace(lines[0]), width, height)
		}
		d.texts = append(d.texts, size.name(point{x - 1, y - 1}))
		used := int64(0)
		if len(field) > 2 {
			used, _ = strconv.ParseInt(strings.TrimSpace(field[2]), 10, 64)
		}
		d.used = append(d.used, max(used, 0))
		at += len(lines[0])
		lines = lines[1:]
	}
	for i := range d.names {
		if i < len(lines) {
			d.names[i] = strings.TrimSpace(lines[i])
		}
	}
	if second == 1 {
		d.names[0], d.names[1] = d.names[1], d.names[0]
	}
	for _, line := range lines {
		if word, ok := strings.CutPrefix(line, psqResult); ok {
			d.decide(strings.TrimSpace(word), "black", "white", "draw")
		}
	}
	return []*draft{d}, nil
}

// decide sets the result that a word stands for; any other leaves it open.
func (d *draft) decide(word, opening, other, draw string) {
	for i, w := range []string{opening, other} {
		if word == w {
			d.winner = &i
		}
	}
	d.draw = word == draw
}
