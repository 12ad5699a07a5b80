// Package botzone is a codec for the protocol of the platform botzone.org.cn, which
// runs bots over pipes: Amazons on 8x8, Gomoku on 15x15 and Xiangqi.
//
// A bot gets requests (the opponent's moves) and gives responses (its own).
// First it gets the whole history. In the JSON interaction that is one line
//
//	{"requests":[r1,r2,...],"responses":[s1,...],...}
//
// in the simple one a line with the number n of the turn, then the 2n-1 lines
// r1, s1, r2, ..., rn. The platform may then send two lines of saved data, which
// are empty for a bot that saves none. The answer is {"response":s} or s. A bot
// that then prints [KeepRunning] is kept running, and from then on gets only the
// new request, on one line.
//
//	game      move in JSON                              simple         no move yet
//	Amazons   {"x0":..,"y0":..,"x1":..,..,"y2":..}      x0 y0 .. y2    all -1
//	Gomoku    {"x":..,"y":..}                           x y            all -1
//	Xiangqi   {"source":"h2","target":"e2"}             h2 e2          "-1"
//
// Sources: the pages Bot, Amazons and Gomoku of wiki.botzone.org.cn; for Xiangqi
// players' programs (Augenstern-W/ChineseChess-bot-for-Botzone), which know only
// the JSON interaction. Its simple form here is ours.
//
// # Coordinates
//
// Amazons: x to the right, y down, from 0. Black, which moves first, starts at the
// top, and our first seat at the bottom: so y counts our rows from the bottom, and
// the board is turned. Gomoku: x to the right, y down. Xiangqi: files a to i and
// ranks 0 to 9 from Red's side, as in our notation.
package botzone

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSyntax is wrapped by the error of a line that does not have the platform's
// form.
var ErrSyntax = errors.New("botzone syntax")

// KeepRunning is the line after a response by which a bot asks to be kept running.
const KeepRunning = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"

// Bounds of what is read.
const (
	MaxLine  = 1 << 18 // bytes
	MaxTurns = 2000
)

// Game is the name of a game in our other packages.
type Game string

// The games, and their boards here.
const (
	Amazons Game = "amazons"
	Gomoku  Game = "gomoku"
	Xiangqi Game = "xiangqi"
	Any     Game = "" // recognized by the first request

	amazonsSize = 8
	gomokuSize  = 15
)

// Rules returns the rule set that the platform plays.
func (g Game) Rules() string {
	switch g {
	case Amazons:
		return "amazons/8x8"
	case Gomoku:
		return "gomoku/freestyle-15"
	}
	return "xiangqi/simple"
}

// Turn is a position that a bot has to answer.
type Turn struct {
	JSON bool // the answer must be in JSON
	Game Game
	// Whole: Moves are all moves of the game, in our notation; otherwise only the
	// opponent's last. Without moves, the bot moves first.
	Whole bool
	Moves []string
}

// Decoder reads the platform's lines. The zero value expects a
// first line and recognizes the game; set Game if it is known.
type Decoder struct {
	Game    Game
	json    bool
	begun   bool     // the history has been read
	wanted  int      // lines of the simple history still to be read
	history []string // lines read
}

// Begins reports whether a conversation may begin with the line: a JSON object
// with requests, or the number of a turn.
func Begins(line string) bool {
	if strings.HasPrefix(line, "{") {
		var in struct {
			Requests []json.RawMessage `json:"requests"`
		}
		return json.Unmarshal([]byte(line), &in) == nil && len(in.Requests) > 0
	}
	_, err := turnNumber(line)
	return err == nil
}

// turnNumber reads the first line of the simple interaction.
func turnNumber(line string) (int, error) {
	n, err := strconv.Atoi(line)
	if err != nil || n < 1 || n > MaxTurns || strconv.Itoa(n) != line {
		return 0, fmt.Errorf("%w: %.40q, want a JSON object or the number of the turn", ErrSyntax, line)
	}
	return n, nil
}

// Line reads a line; ok is false until there is a turn to answer. A line with an
// error, which wraps ErrSyntax, is ignored.
func (d *Decoder) Line(line string) (t Turn, ok bool, err error) {
	if len(line) > MaxLine {
		return Turn{}, false, fmt.Errorf("%w: a line of %d bytes, at most %d are read", ErrSyntax, len(line), MaxLine)
	}
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return Turn{}, false, nil
	case d.wanted > 0:
		d.history = append(d.history, line)
		d.wanted--
		if d.wanted > 0 {
			return Turn{}, false, nil
		}
		return d.whole(d.history, d.simple)
	case strings.HasPrefix(line, "{"):
		return d.object(line)
	case d.begun:
		return d.single(line, d.simple)
	}
	n, err := turnNumber(line)
	if err != nil {
		return Turn{}, false, err
	}
	d.json, d.wanted, d.history = false, 2*n-1, nil
	return Turn{}, false, nil
}

// input is the JSON form of a turn. Requests is the history; some local runners
// put the one new request there, or in Request.
type input struct {
	Requests  json.RawMessage   `json:"requests"`
	Responses []json.RawMessage `json:"responses"`
	Request   json.RawMessage   `json:"request"`
}

func (d *Decoder) object(line string) (Turn, bool, error) {
	var in input
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		return Turn{}, false, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	d.json = true
	one := in.Request
	if in.Requests != nil {
		var requests []json.RawMessage
		if json.Unmarshal(in.Requests, &requests) == nil {
			return d.objects(requests, in.Responses)
		}
		one = in.Requests
	}
	if one == nil {
		one = json.RawMessage(line)
	}
	if !d.begun {
		return d.whole([]string{string(one)}, d.value)
	}
	return d.single(string(one), d.value)
}

func (d *Decoder) objects(requests, responses []json.RawMessage) (Turn, bool, error) {
	if len(requests) == 0 || len(requests) > MaxTurns || len(responses) != len(requests)-1 {
		return Turn{}, false, fmt.Errorf("%w: %d requests and %d responses, want one request more", ErrSyntax, len(requests), len(responses))
	}
	var all []string
	for i, r := range requests {
		if i > 0 {
			all = append(all, string(responses[i-1]))
		}
		all = append(all, string(r))
	}
	return d.whole(all, d.value)
}

// reader reads a move; "" means no move yet.
type reader func(text string) (move string, err error)

func (d *Decoder) whole(history []string, read reader) (Turn, bool, error) {
	t := Turn{JSON: d.json, Whole: true}
	for i, text := range history {
		move, err := read(text)
		if err == nil && move == "" && i > 0 {
			err = fmt.Errorf("%w: no move", ErrSyntax)
		}
		if err != nil {
			return Turn{}, false, fmt.Errorf("request or response %d of %d: %w", i+1, len(history), err)
		}
		if move != "" {
			t.Moves = append(t.Moves, move)
		}
	}
	d.begun = true
	t.Game = d.Game
	return t, true, nil
}

func (d *Decoder) single(text string, read reader) (Turn, bool, error) {
	move, err := read(text)
	if err != nil {
		return Turn{}, false, err
	}
	t := Turn{JSON: d.json, Game: d.Game}
	if move != "" {
		t.Moves = []string{move}
	} else {
		t.Whole = true // asked to move first: a new game
	}
	return t, true, nil
}

// object is a move of any game in JSON.
type object struct {
	X      *int    `json:"x,omitempty"`
	Y      *int    `json:"y,omitempty"`
	X0     *int    `json:"x0,omitempty"`
	Y0     *int    `json:"y0,omitempty"`
	X1     *int    `json:"x1,omitempty"`
	Y1     *int    `json:"y1,omitempty"`
	X2     *int    `json:"x2,omitempty"`
	Y2     *int    `json:"y2,omitempty"`
	Source *string `json:"source,omitempty"`
	Target *string `json:"target,omitempty"`
}

// value reads a move in JSON. A string holds the simple form.
func (d *Decoder) value(text string) (string, error) {
	var simple string
	if json.Unmarshal([]byte(text), &simple) == nil {
		return d.simple(simple)
	}
	var o object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return "", fmt.Errorf("%w: move %.60q: %w", ErrSyntax, text, err)
	}
	switch {
	case o.Source != nil && o.Target != nil:
		return d.squares(*o.Source, *o.Target)
	case o.X != nil && o.Y != nil:
		return d.numbers([]int{*o.X, *o.Y})
	}
	var n []int
	for _, v := range []*int{o.X0, o.Y0, o.X1, o.Y1, o.X2, o.Y2} {
		if v == nil {
			return "", fmt.Errorf("%w: move %.80q, want x and y, x0 to y2, or source and target", ErrSyntax, text)
		}
		n = append(n, *v)
	}
	return d.numbers(n)
}

// simple reads a move in the simple interaction.
func (d *Decoder) simple(text string) (string, error) {
	fields := strings.Fields(text)
	var n []int
	for _, f := range fields {
		v, err := strconv.Atoi(f)
		if err != nil {
			break
		}
		n = append(n, v)
	}
	switch {
	case d.Game == Xiangqi && len(fields) > 0 && fields[0] == "-1":
		return "", nil
	case len(n) == len(fields) && (len(n) == 2 || len(n) == 6):
		return d.numbers(n)
	case len(fields) == 2:
		return d.squares(fields[0], fields[1])
	case len(fields) == 1 && len(text) == 4:
		return d.squares(text[:2], text[2:])
	}
	return "", fmt.Errorf("%w: move %.60q, want 2 or 6 numbers, or two squares", ErrSyntax, text)
}

// setGame sets the game, or checks that it is still the same.
func (d *Decoder) setGame(g Game) error {
	if d.Game == Any {
		d.Game = g
	}
	if d.Game != g {
		return fmt.Errorf("%w: a move of %s in a game of %s", ErrSyntax, g, d.Game)
	}
	return nil
}

func (d *Decoder) numbers(n []int) (string, error) {
	g, size := Gomoku, gomokuSize
	if len(n) == 6 {
		g, size = Amazons, amazonsSize
	}
	if err := d.setGame(g); err != nil {
		return "", err
	}
	if n[0] == -1 {
		return "", nil
	}
	for _, v := range n {
		if v < 0 || v >= size {
			return "", fmt.Errorf("%w: %d in a move of %s, want 0 to %d", ErrSyntax, v, g, size-1)
		}
	}
	if g == Gomoku {
		return fmt.Sprintf("%c%d", 'a'+n[0], gomokuSize-n[1]), nil
	}
	return fmt.Sprintf("%c%d%c%d/%c%d", 'a'+n[0], n[1]+1, 'a'+n[2], n[3]+1, 'a'+n[4], n[5]+1), nil
}

func (d *Decoder) squares(source, target string) (string, error) {
	if err := d.setGame(Xiangqi); err != nil {
		return "", err
	}
	if strings.HasPrefix(source, "-") {
		return "", nil
	}
	for _, s := range []string{source, target} {
		if len(s) != 2 || s[0] < 'a' || s[0] > 'i' || s[1] < '0' || s[1] > '9' {
			return "", fmt.Errorf("%w: square %.10q, want a0 to i9", ErrSyntax, s)
		}
	}
	return source + target, nil
}

// Response returns the line that answers a turn with one of our moves; "" is no move.
// The error wraps ErrSyntax if the text is not a move of the game.
func (t Turn) Response(move string) (string, error) {
	o, text, err := t.Game.forms(move)
	if err != nil || !t.JSON {
		return text, err
	}
	out, err := json.Marshal(map[string]object{"response": o})
	return string(out), err
}

// forms returns the two forms of one of our moves; "" is no move.
func (g Game) forms(move string) (o object, text string, err error) {
	bad := fmt.Errorf("%w: %.20q is not a move of %s", ErrSyntax, move, g.Rules())
	if g == Xiangqi {
		source, target := "-1", "-1"
		if move != "" {
			if len(move) != 4 {
				return o, "", bad
			}
			source, target = move[:2], move[2:]
		}
		return object{Source: &source, Target: &target}, source + " " + target, nil
	}
	n, ok := g.split(move)
	if !ok {
		return o, "", bad
	}
	text = strings.Trim(fmt.Sprint(n), "[]")
	if g == Gomoku {
		return object{X: &n[0], Y: &n[1]}, text, nil
	}
	return object{X0: &n[0], Y0: &n[1], X1: &n[2], Y1: &n[3], X2: &n[4], Y2: &n[5]}, text, nil
}

// Ask returns the lines by which the platform puts a game to a bot that it has just
// started: all moves so far, in our notation, after which the bot is to move. The
// error wraps ErrSyntax if one is not a move of the game.
func (g Game) Ask(moves []string, inJSON bool) ([]string, error) {
	if len(moves)%2 == 0 {
		moves = append([]string{""}, moves...) // the bot moves first
	}
	var history struct {
		Requests  []object `json:"requests"`
		Responses []object `json:"responses"`
		Data      string   `json:"data"`
	}
	history.Responses = []object{} // not null
	lines := []string{strconv.Itoa(len(moves)/2 + 1)}
	for i, move := range moves {
		o, text, err := g.forms(move)
		if err != nil {
			return nil, err
		}
		lines = append(lines, text)
		if i%2 == 0 {
			history.Requests = append(history.Requests, o)
		} else {
			history.Responses = append(history.Responses, o)
		}
	}
	if !inJSON {
		return lines, nil
	}
	line, err := json.Marshal(history)
	return []string{string(line)}, err
}

// Answer reads the line by which a bot answers, and returns the move in our notation;
// "" is no move. The error wraps ErrSyntax.
func (g Game) Answer(line string, inJSON bool) (move string, err error) {
	d := Decoder{Game: g}
	if !inJSON {
		return d.simple(line)
	}
	var answer struct {
		Response json.RawMessage `json:"response"`
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Response == nil {
		return "", fmt.Errorf("%w: %.60q, want {\"response\":...}", ErrSyntax, line)
	}
	return d.value(string(answer.Response))
}

// split converts one of our moves into the platform's numbers, all -1 for "".
func (g Game) split(move string) ([]int, bool) {
	count, size := 1, gomokuSize
	if g == Amazons {
		count, size = 3, amazonsSize
	}
	var n []int
	rest := move
	for i := range count {
		if move == "" {
			n = append(n, -1, -1)
			continue
		}
		if i == 2 {
			rest = strings.TrimPrefix(rest, "/")
		}
		end := min(1, len(rest))
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		if end < 2 {
			return nil, false
		}
		row, err := strconv.Atoi(rest[1:end])
		column := int(rest[0]) - 'a'
		if err != nil || row < 1 || row > size || column < 0 || column >= size {
			return nil, false
		}
		if g == Gomoku {
			row = gomokuSize + 1 - row
		}
		n = append(n, column, row-1)
		rest = rest[end:]
	}
	return n, rest == ""
}
