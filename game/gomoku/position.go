package gomoku

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
)

// The key formula of the package documentation.
const (
	keySeed  = 0x676f6d6f6b75
	keyWhite = 2 * MaxPoints
	keyRows  = 1500 // + 100 for White + the rows that have scored
	keyDead  = 2000 // + the point
)

// StoneKey returns what a stone of colour c at p contributes to a position's key.
func StoneKey(p Point, c Colour) uint64 { return stoneKeys[c][p] }

// DeadKey returns what a dead stone at p contributes.
func DeadKey(p Point) uint64 { return game.Zobrist(keySeed, keyDead+uint64(p)) }

// RowsKey returns what n scored rows of a colour contribute: 0 for none.
func RowsKey(c Colour, n int) uint64 {
	if n == 0 {
		return 0
	}
	return game.Zobrist(keySeed, keyRows+100*uint64(c)+uint64(n))
}

// SideKey is part of the key when White is to move.
func SideKey() uint64 { return sideKey }

var sideKey = game.Zobrist(keySeed, keyWhite)

var stoneKeys = func() (keys [2][MaxPoints]uint64) {
	for p := range uint64(MaxPoints) {
		keys[Black][p] = game.Zobrist(keySeed, 2*p)
		keys[White][p] = game.Zobrist(keySeed, 2*p+1)
	}
	return keys
}()

// StoneMove returns the move that puts a stone at p.
func StoneMove(p Point) game.Move { return game.Move(p) + 1 }

// MovePoint returns the point of a move that puts a stone. Ok is false for other
// moves, and for numbers that are not a move on this board.
func (g *Geometry) MovePoint(m game.Move) (p Point, ok bool) {
	if m == game.NoMove || m > game.Move(g.Points) {
		return NoPoint, false
	}
	return Point(m - 1), true
}

// Position is a game in progress, a [game.Position].
type Position struct {
	rules *game.Rules
	set   Set
	board Board
	state
	played []ply
}

// state is what a move changes and Undo restores, except the stones.
type state struct {
	toMove  Colour
	black   game.Seat // the seat that holds Black
	opening progress
	outcome game.Outcome
	rows    [2]int // that have scored under the continuous rules, by colour
	key     uint64 // without the part of the opening procedure
}

// ply is a move that was played, and the state before it.
type ply struct {
	move game.Move
	at   Point   // of the stone, NoPoint if there was none
	row  []Point // that it completed and that died, under the continuous rules
	state
}

var _ game.Position = (*Position)(nil)

func newPosition(r *game.Rules, set Set, text string) (*Position, error) {
	p := &Position{rules: r, set: set, board: NewBoard(set.Size)}
	if text == "" {
		return p, nil
	}
	b, toMove, words, err := parseBoard(text)
	if err != nil {
		return nil, err
	}
	if b.Size != set.Size {
		return nil, fmt.Errorf("%w: a board of %d, but %s is played on %d", game.ErrPosition, b.Size, r.Name, set.Size)
	}
	p.board, p.toMove = b, toMove
	for at := range Point(b.Points) {
		if c, ok := b.At(at); ok {
			p.key ^= stoneKeys[c][at]
		}
		if b.Dead(at) {
			if !set.continuous {
				return nil, fmt.Errorf("%w: a dead stone (#) at %s, but %s has none", game.ErrPosition, b.PointText(at), r.Name)
			}
			p.key ^= DeadKey(at)
		}
	}
	if toMove == White {
		p.key ^= sideKey
	}
	if err := p.parseWords(words); err != nil {
		return nil, err
	}
	for c, n := range p.rows {
		p.key ^= RowsKey(Colour(c), n)
	}
	return p, p.setOutcome()
}

// setOutcome finds the outcome of a position that was set up. Only the side that
// has just moved can have a winning row; the game is then over.
func (p *Position) setOutcome() error {
	mover := p.toMove.Other()
	for at := range Point(p.board.Points) {
		c, ok := p.board.At(at)
		if !ok {
			continue
		}
		switch p.strongest(at, c) {
		case FiveRow:
			if p.set.continuous {
				return fmt.Errorf("%w: the row through %s would have scored, its stones should be #", game.ErrPosition, p.board.PointText(at))
			}
			if c != mover {
				return fmt.Errorf("%w: %s is to move and has a winning row through %s", game.ErrPosition, c, p.board.PointText(at))
			}
			p.outcome = p.wonBy(c, game.Five)
		case Overline:
			if p.set.Forbids(c) && c != mover {
				return fmt.Errorf("%w: %s is to move and has an overline through %s", game.ErrPosition, c, p.board.PointText(at))
			}
			if p.set.Forbids(c) && !p.outcome.Over() {
				p.outcome = p.wonBy(c.Other(), game.Forbidden)
			}
		}
	}
	if !p.outcome.Over() && p.board.Full() {
		p.outcome = p.full()
	}
	return nil
}

// strongest returns the strongest kind of row of a stone of colour c at the point,
// whether the stone is on the board or not.
func (p *Position) strongest(at Point, c Colour) (k Kind) {
	table := TableOf(p.set.Line(c))
	for d := range Direction(Directions) {
		k = max(k, table.Kind(p.board.Window(at, d), c))
	}
	return k
}

// Seat returns the seat that holds a colour.
func (p *Position) Seat(c Colour) game.Seat {
	if c == Black {
		return p.black
	}
	return p.black.Other()
}

func (p *Position) wonBy(c Colour, why game.Reason) game.Outcome {
	return game.Outcome{Result: game.WonBy(p.Seat(c)), Reason: why}
}

// Rules returns the rule set that the game is played under.
func (p *Position) Rules() *game.Rules { return p.rules }

// Set returns the rule set, by its parts.
func (p *Position) Set() Set { return p.set }

// Board returns a copy of the board.
func (p *Position) Board() Board { return p.board }

// Rows returns the number of rows of a colour that have scored under the continuous
// rules.
func (p *Position) Rows(c Colour) int { return p.rows[c] }

// ToMove returns the colour of the next stone.
func (p *Position) ToMove() Colour { return p.toMove }

// Turn returns the seat that acts next.
func (p *Position) Turn() game.Seat {
	if p.current() != nil {
		return p.opening.actor
	}
	return p.Seat(p.toMove)
}

// Plain returns a position with the same board and side to move, without an opening
// procedure and with Black in the first seat.
func (p *Position) Plain() *Position {
	set := p.set
	set.Opening = Opening{}
	q := &Position{rules: set.rules(), set: set, board: p.board}
	q.toMove, q.key, q.outcome, q.rows = p.toMove, p.key, p.outcome, p.rows
	if p.outcome.Result != game.Draw && p.black != game.First && p.outcome.Over() {
		q.outcome.Result = game.WonBy(game.Second)
		if p.outcome.Result == game.SecondWins {
			q.outcome.Result = game.WonBy(game.First)
		}
	}
	return q
}

// Legal appends the legal moves: in the usual play the empty points in the
// order of their numbers.
func (p *Position) Legal(buf []game.Move) []game.Move {
	if p.outcome.Over() {
		return buf
	}
	if s := p.current(); s != nil {
		return p.openingMoves(s, buf)
	}
	for at := range Point(p.board.Points) {
		if p.board.Empty(at) {
			buf = append(buf, StoneMove(at))
		}
	}
	return buf
}

// check returns an error if a move can't be played.
func (p *Position) check(m game.Move) error {
	if p.outcome.Over() {
		return fmt.Errorf("%w: %s (%s)", game.ErrOver, p.outcome.Result, p.outcome.Reason)
	}
	if s := p.current(); s != nil {
		return p.checkOpening(s, m)
	}
	at, ok := p.board.MovePoint(m)
	if !ok {
		return fmt.Errorf("%w: %s is not on a board of %d", game.ErrIllegal, p.Format(m), p.board.Size)
	}
	if c, taken := p.board.At(at); taken {
		return fmt.Errorf("%w: %s is taken by a %s stone", game.ErrIllegal, p.board.PointText(at), c)
	}
	if p.board.Dead(at) {
		return fmt.Errorf("%w: %s is taken by a dead stone", game.ErrIllegal, p.board.PointText(at))
	}
	return nil
}

// Play makes the move. If the error is not nil, it wraps game.ErrIllegal or
// game.ErrOver and nothing has changed.
func (p *Position) Play(m game.Move) error {
	if err := p.check(m); err != nil {
		return err
	}
	p.played = append(p.played, ply{move: m, at: NoPoint, state: p.state})
	if s := p.current(); s != nil {
		p.playOpening(s, m)
		return nil
	}
	p.put(Point(m - 1))
	return nil
}

// MayLose implements game.SelfLoser: a stone can be forbidden, or end a game that the
// rows decide.
func (p *Position) MayLose(game.Move) bool {
	return p.current() != nil || p.set.continuous || p.set.Forbids(p.toMove)
}

// put sets a stone of the side to move and updates the outcome.
func (p *Position) put(at Point) {
	c := p.toMove
	made := p.strongest(at, c)
	foul := p.set.Forbids(c) && p.board.verdict(at).forbidden()
	p.board.Put(at, c)
	p.played[len(p.played)-1].at = at
	p.key ^= stoneKeys[c][at] ^ sideKey
	p.toMove = c.Other()
	switch {
	case made == FiveRow && p.set.continuous:
		p.score(at, c)
	case made == FiveRow:
		p.outcome = p.wonBy(c, game.Five)
		return
	case foul:
		p.outcome = p.wonBy(c.Other(), game.Forbidden)
		return
	}
	if p.board.Full() {
		p.outcome = p.full()
	}
}

// score counts the row that a stone has made and buries its stones.
func (p *Position) score(at Point, c Colour) {
	last := &p.played[len(p.played)-1]
	last.row = p.board.WinningRow(at, c, p.set.Line(c))
	for _, q := range last.row {
		p.board.Bury(q, c)
		p.key ^= stoneKeys[c][q] ^ DeadKey(q)
	}
	p.key ^= RowsKey(c, p.rows[c]) ^ RowsKey(c, p.rows[c]+1)
	p.rows[c]++
}

// full returns the outcome of a full board: the scores decide, if there are any.
func (p *Position) full() game.Outcome {
	switch black, white := p.rows[Black], p.rows[White]; {
	case black > white:
		return p.wonBy(Black, game.Five)
	case white > black:
		return p.wonBy(White, game.Five)
	}
	return game.Outcome{Result: game.Draw, Reason: game.BoardFull}
}

// Undo takes back the last move; it panics if there is none.
func (p *Position) Undo() {
	last := p.played[len(p.played)-1]
	p.played = p.played[:len(p.played)-1]
	p.state = last.state
	for _, q := range last.row {
		p.board.Unbury(q, p.toMove)
	}
	if last.at != NoPoint {
		p.board.Remove(last.at, p.toMove)
	}
}

// Outcome returns the outcome of the game so far.
func (p *Position) Outcome() game.Outcome { return p.outcome }

// Key returns the Zobrist key of the package documentation's formula.
func (p *Position) Key() uint64 {
	if p.set.Opening.Name == "" {
		return p.key
	}
	return p.key ^ p.openingKey()
}

// Ply counts the moves played since the start position.
func (p *Position) Ply() int { return len(p.played) }

// Played appends the moves played, choices of the opening procedure included.
func (p *Position) Played(buf []game.Move) []game.Move {
	for _, ply := range p.played {
		buf = append(buf, ply.move)
	}
	return buf
}

// Format writes a move: h8, offer:h8, fifths-2, swap, stay or put-two.
func (p *Position) Format(m game.Move) string {
	if at, ok := p.board.MovePoint(m); ok {
		return p.board.PointText(at)
	}
	if at, ok := p.board.OfferPoint(m); ok {
		return offerPrefix + p.board.PointText(at)
	}
	if n, ok := FifthsNumber(m); ok {
		return fifthsPrefix + strconv.Itoa(n)
	}
	for text, choice := range choiceTexts {
		if choice == m {
			return text
		}
	}
	return fmt.Sprintf("%#x", uint32(m))
}

const (
	offerPrefix  = "offer:"
	fifthsPrefix = "fifths-"
)

var choiceTexts = map[string]game.Move{"swap": Swap, "stay": Stay, "put-two": PutTwo}

// Parse reads what Format writes, and H8.
func (p *Position) Parse(text string) (game.Move, error) {
	m, err := p.parseMove(text)
	if err == nil {
		err = p.check(m)
	}
	if err != nil {
		return game.NoMove, err
	}
	return m, nil
}

func (p *Position) parseMove(text string) (game.Move, error) {
	if m, ok := choiceTexts[text]; ok {
		return m, nil
	}
	if number, ok := strings.CutPrefix(text, fifthsPrefix); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > MaxFifths || strconv.Itoa(n) != number {
			return game.NoMove, fmt.Errorf("%w: %.20q, want %s1 to %s%d", game.ErrSyntax, text, fifthsPrefix, fifthsPrefix, MaxFifths)
		}
		return Fifths(n), nil
	}
	point, offered := strings.CutPrefix(text, offerPrefix)
	at, err := p.board.ParsePoint(point)
	if err != nil {
		return game.NoMove, err
	}
	if offered {
		return Offer(at), nil
	}
	return StoneMove(at), nil
}

// String returns the position's text form.
func (p *Position) String() string { return p.board.text() + " " + p.toMove.String()[:1] + p.words() }

// Diagram draws the board, x for Black and o for White. With Black to move in
// Renju it shows the forbidden points: 3 double-three, 4 double-four, 6 overline;
// in an opening procedure the fifth moves offered, as 5.
func (p *Position) Diagram() string {
	marks := map[Point]byte{}
	for at, v := range p.forbidden() {
		marks[at] = "346"[v-doubleThree]
	}
	for _, at := range p.opening.offers {
		marks[at] = '5'
	}
	return p.board.diagram(marks)
}

// Clone returns an independent copy.
func (p *Position) Clone() game.Position {
	c := *p
	c.played = slices.Clone(p.played)
	return &c
}
