package convert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

// SGF FF[4]. B is always the side that opens the usual start: the format says
// so for Gomoku and Amazons (whose B stands at the bottom), and says nothing
// of Xiangqi, where B is Red here and a move is two points, from and to.
// Properties of ours: XA, an action of an opening procedure; XF, the start
// position of Xiangqi as a FEN. RU holds the full name of the rule set; of other
// programs' words only "Renju" is understood.
// Only the main line of a game is read.
const (
	sgfAction = "XA"
	sgfFEN    = "XF"
)

var sgfGames = map[string]string{"4": "gomoku", "7": "xiangqi", "18": "amazons"}

// sgfPoints is how many points make a move, by game.
var sgfPoints = map[string]int{"gomoku": 1, "xiangqi": 2, "amazons": 3}

func writeSGF(g *played) ([]byte, error) {
	var out strings.Builder
	prop := func(name, value string) {
		if value != "" {
			out.WriteString(name + "[" + sgfEscape(value) + "]")
		}
	}
	cols, rows := len(g.board.rows[0]), len(g.board.rows)
	size := strconv.Itoa(cols)
	if rows != cols {
		size += ":" + strconv.Itoa(rows)
	}
	out.WriteString("(;FF[4]CA[UTF-8]AP[sparring]")
	for number, name := range sgfGames {
		if name == g.Game {
			prop("GM", number)
		}
	}
	prop("SZ", size)
	prop("RU", g.Rules)
	opening, other := g.players()
	prop("PB", opening)
	prop("PW", other)
	prop("EV", g.Event)
	prop("PC", g.Place)
	if !g.Start.IsZero() {
		prop("DT", g.Start.UTC().Format(time.DateOnly))
	}
	if g.Clock.Kind != clock.Unlimited {
		prop("TM", strconv.FormatFloat(g.Clock.Initial.Seconds(), 'f', -1, 64))
		prop("OT", g.Clock.String())
	}
	prop("RE", g.sgfResult())
	usual, err := g.usual()
	if err != nil {
		return nil, err
	}
	if !usual {
		out.WriteString(g.sgfSetup())
	}
	stones := 0
	if g.board.side != "b" && g.Game == "gomoku" || g.board.side == "b" && g.Game != "gomoku" {
		stones = 1 // the other side begins
	}
	for i := range g.Plies {
		ply := &g.Plies[i]
		out.WriteString("\n;")
		points, ok := g.board.points(ply.Move)
		if !ok || len(points) != sgfPoints[g.Game] {
			prop(sgfAction, ply.Move)
		} else {
			colour := "BW"[stones%2 : stones%2+1]
			stones++
			var move strings.Builder
			for _, p := range points {
				move.WriteString(sgfPoint(p))
			}
			prop(colour, move.String())
			if ply.LeftMS > 0 {
				prop(colour+"L", strconv.FormatFloat(float64(ply.LeftMS)/1000, 'f', -1, 64))
			}
		}
		prop("C", ply.Comment)
	}
	out.WriteString(")\n")
	return []byte(out.String()), nil
}

func sgfPoint(p point) string { return string([]byte{'a' + byte(p.col), 'a' + byte(p.row)}) }

func sgfEscape(s string) string { return strings.NewReplacer(`\`, `\\`, `]`, `\]`).Replace(s) }

func (g *played) sgfResult() string {
	w := g.winner()
	switch {
	case g.Result == game.Draw:
		return "Draw"
	case w < 0:
		return "?"
	}
	score := "BW"[w:w+1] + "+"
	switch g.Reason {
	case "resign":
		return score + "R"
	case "time":
		return score + "T"
	}
	return score
}

// sgfSetup is the start position as properties.
func (g *played) sgfSetup() string {
	if g.Game == "xiangqi" {
		return sgfFEN + "[" + sgfEscape(g.Position) + "]"
	}
	lists := map[string]string{}
	for row, cells := range g.board.rows {
		for col, c := range cells {
			name := map[rune]string{'x': "AB", 'o': "AW", 'Q': "AB", 'q': "AW", '*': "AA"}[c]
			if name != "" {
				lists[name] += "[" + sgfPoint(point{col, row}) + "]"
			}
		}
	}
	var out strings.Builder
	for _, name := range []string{"AB", "AW", "AA"} {
		if lists[name] != "" {
			out.WriteString(name + lists[name])
		}
	}
	opens := map[string]string{"gomoku": "b", "amazons": "w"}[g.Game]
	out.WriteString(map[bool]string{true: "PL[B]", false: "PL[W]"}[g.board.side == opens])
	return out.String()
}

func readSGF(text string) ([]*draft, error) {
	p := &sgfParser{text: text}
	var drafts []*draft
	for p.skip(); p.at < len(text); p.skip() {
		start := p.at
		nodes, err := p.tree(0, true)
		if err != nil {
			return nil, err
		}
		if len(nodes) == 0 {
			return nil, syntax(text, start, "a game without nodes")
		}
		d, err := sgfGame(nodes)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrSyntax, where(text, start), err)
		}
		drafts = append(drafts, d)
	}
	return drafts, nil
}

// sgfGame reads a main line.
func sgfGame(nodes []sgfNode) (*draft, error) {
	root := nodes[0]
	d := &draft{comments: map[int]string{}}
	d.Game = sgfGames[root.first("GM")]
	if d.Game == "" {
		return nil, fmt.Errorf("GM[%.10s], want 4 (Gomoku), 7 (Xiangqi) or 18 (Amazons)", root.first("GM"))
	}
	size, err := d.sgfRules(root)
	if err != nil {
		return nil, err
	}
	firstColour := ""
	for i, n := range nodes {
		if action := n.first(sgfAction); action != "" {
			d.texts = append(d.texts, action)
			d.left = append(d.left, 0)
		}
		for _, colour := range []string{"B", "W"} {
			value := n.first(colour)
			if value == "" {
				continue
			}
			if firstColour == "" {
				firstColour = colour
			}
			move, err := size.sgfMove(d.Game, value)
			if err != nil {
				return nil, fmt.Errorf("node %d: %w", i+1, err)
			}
			d.texts = append(d.texts, move)
			left, _ := strconv.ParseFloat(n.first(colour+"L"), 64)
			d.left = append(d.left, int64(left*1000+0.5))
		}
		if c := n.first("C"); c != "" && len(d.texts) > 0 {
			d.comments[len(d.texts)-1] = c
		}
	}
	if err := d.sgfStart(root, &size, firstColour); err != nil {
		return nil, err
	}
	d.names = [2]string{root.first("PB"), root.first("PW")}
	d.Event, d.Place = root.first("EV"), root.first("PC")
	d.Start, _ = time.Parse(time.DateOnly, root.first("DT")[:min(len(root.first("DT")), 10)])
	if c, err := clock.Parse(root.first("OT")); err == nil {
		d.Clock = c
	}
	d.sgfOutcome(root.first("RE"))
	return d, nil
}

// sgfRules finds the rule set and the size of the board.
func (d *draft) sgfRules(root sgfNode) (board, error) {
	cols, rows := 0, 0
	c, r, two := strings.Cut(root.first("SZ"), ":")
	cols, _ = strconv.Atoi(c)
	rows = cols
	if two {
		rows, _ = strconv.Atoi(r)
	}
	switch {
	case d.Game == "xiangqi":
		cols, rows = 9, 10
	case d.Game == "amazons" && cols == 0:
		cols, rows = 10, 10
	case d.Game == "gomoku" && cols == 0:
		cols, rows = 15, 15
	}
	if cols < 1 || rows < 1 || cols > 26 || rows > 26 {
		return board{}, fmt.Errorf("SZ[%.10s]: no size of a board", root.first("SZ"))
	}
	d.Rules = root.first("RU")
	if !strings.HasPrefix(d.Rules, d.Game+"/") {
		d.Rules = map[string]string{
			"xiangqi": "xiangqi",
			"amazons": fmt.Sprintf("amazons/%dx%d", cols, rows),
			"gomoku":  fmt.Sprintf("gomoku/freestyle-%d", cols),
		}[d.Game]
		if named := strings.ToLower(root.first("RU")); d.Game == "gomoku" && strings.Contains(named, "renju") {
			d.Rules, d.looser = fmt.Sprintf("gomoku/renju-%d", cols), d.Rules
		}
	}
	b := board{base: 1}
	if d.Game == "xiangqi" {
		b.base = 0
	}
	for range rows {
		b.rows = append(b.rows, strings.Repeat(".", cols))
	}
	return b, nil
}

// sgfMove is the text of a move given as points.
func (b *board) sgfMove(gameName, value string) (string, error) {
	n := sgfPoints[gameName]
	if len(value) != 2*n {
		return "", fmt.Errorf("move %.20q: want %d points", value, n)
	}
	var names []string
	for i := range n {
		p, err := b.sgfPoint(value[2*i : 2*i+2])
		if err != nil {
			return "", fmt.Errorf("move %.20q: %w", value, err)
		}
		names = append(names, b.name(p))
	}
	move := strings.Join(names[:min(n, 2)], "")
	if n == 3 {
		move += "/" + names[2]
	}
	return move, nil
}

func (b *board) sgfPoint(value string) (point, error) {
	if len(value) == 2 {
		p := point{int(value[0]) - 'a', int(value[1]) - 'a'}
		if p.col >= 0 && p.row >= 0 && p.row < len(b.rows) && p.col < len(b.rows[0]) {
			return p, nil
		}
	}
	return point{}, fmt.Errorf("point %.10q is not on a board of %dx%d", value, len(b.rows[0]), len(b.rows))
}

// sgfStart makes the start position of the setup properties; without any it is
// the usual one, with the side to move that the first move tells.
func (d *draft) sgfStart(root sgfNode, b *board, firstColour string) error {
	if d.Game == "xiangqi" {
		d.Position = root.first(sgfFEN)
		return nil
	}
	if root["AB"] == nil && root["AW"] == nil && root["AA"] == nil && firstColour != "W" && root.first("PL") != "W" {
		return nil
	}
	grid := make([][]byte, len(b.rows))
	for i := range grid {
		grid[i] = []byte(b.rows[i])
	}
	signs := map[string]byte{"AB": 'x', "AW": 'o'}
	sides := map[string]string{"B": "b", "W": "w"}
	if d.Game == "amazons" {
		signs = map[string]byte{"AB": 'Q', "AW": 'q', "AA": '*'}
		sides = map[string]string{"B": "w", "W": "b"}
	}
	set := 0
	for name, sign := range signs {
		for _, value := range root[name] {
			points, err := b.sgfList(value)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, p := range points {
				grid[p.row][p.col] = sign
				set++
			}
		}
	}
	side := sides["B"]
	for _, colour := range []string{root.first("PL"), firstColour} { // the move knows better
		if s := sides[colour]; s != "" {
			side = s
		}
	}
	d.Position = together(grid, side)
	if set == 0 && d.Game == "amazons" {
		rules, err := catalog.Rules(d.Rules)
		if err != nil {
			return err
		}
		p, err := rules.New("")
		if err != nil {
			return err
		}
		d.Position = strings.Fields(p.String())[0] + " " + side
	}
	return nil
}

// sgfList reads a point, or a rectangle "aa:cc" of them.
func (b *board) sgfList(value string) (points []point, err error) {
	from, to, rectangle := strings.Cut(strings.TrimSpace(value), ":")
	p, err := b.sgfPoint(from)
	if err != nil {
		return nil, err
	}
	q := p
	if rectangle {
		if q, err = b.sgfPoint(to); err != nil {
			return nil, err
		}
	}
	for row := min(p.row, q.row); row <= max(p.row, q.row); row++ {
		for col := min(p.col, q.col); col <= max(p.col, q.col); col++ {
			points = append(points, point{col, row})
		}
	}
	return points, nil
}

// sgfOutcome reads RE.
func (d *draft) sgfOutcome(re string) {
	winner, how, won := strings.Cut(re, "+")
	if !won {
		d.draw = strings.EqualFold(re, "draw") || re == "0"
		return
	}
	d.decide(strings.ToUpper(winner), "B", "W", "")
	switch strings.ToUpper(how) {
	case "R", "RESIGN":
		d.Reason = "resign"
	case "T", "TIME":
		d.Reason = "time"
	}
}
