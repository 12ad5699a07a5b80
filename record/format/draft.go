package format

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/record"
)

// Draft is a game that is being read: what the file says, before the rules
// have been asked.
type Draft struct {
	Source *Source
	At     int // where the game begins in the text

	Game     string
	Rules    []string // rule sets to try, in order; see RuleSets
	Position string   // start position as the rules read it, "" is the usual one
	SetupAt  int      // where the text gives the start position

	Record record.Record // names, event, date, clock: all that is no move
	Result game.Result   // as the file says, Undecided where it does not
	Reason game.Reason

	// Settle, if not nil, is called with the position after the last move and
	// may still fill Record, Result and Reason: where colours change hands in
	// the opening, only the end shows whose name is whose.
	Settle func(end game.Position)

	moves []draftMove
}

type draftMove struct {
	at   int
	ply  record.Ply
	read func(p game.Position) (game.Move, error)
}

// Move adds a move that stands at a byte of the text; read finds it in the
// position that has been reached. ply is what the file says of it beside the
// move: seat, text and key come from the rules.
func (d *Draft) Move(at int, ply record.Ply, read func(p game.Position) (game.Move, error)) {
	d.moves = append(d.moves, draftMove{at: at, ply: ply, read: read})
}

// MoveText adds a move in the text form of the game's own rules.
func (d *Draft) MoveText(at int, ply record.Ply, text string) {
	d.Move(at, ply, func(p game.Position) (game.Move, error) { return p.Parse(text) })
}

// Last is the ply of the last move added, nil before the first: what a file
// says after a move, such as a comment, goes there.
func (d *Draft) Last() *record.Ply {
	if len(d.moves) == 0 {
		return nil
	}
	return &d.moves[len(d.moves)-1].ply
}

// Plies is the number of moves added.
func (d *Draft) Plies() int { return len(d.moves) }

// Finish plays the moves and gives the record. The error is an *Error: that of
// the first rule set, where several were tried.
func (d *Draft) Finish(o ReadOptions) (*record.Record, error) {
	if len(d.moves) > record.MaxPlies {
		return nil, d.Source.Syntax(d.moves[record.MaxPlies].at, "more than %d moves", record.MaxPlies)
	}
	sets := d.Rules
	if o.Rules != "" {
		sets = []string{o.Rules}
	}
	var first error
	for _, name := range sets {
		end, plies, err := d.play(name)
		if err == nil {
			return d.record(end, plies)
		}
		first = cmp.Or(first, err)
	}
	if first == nil {
		return nil, d.Source.Syntax(d.At, "no rule set of %s fits", d.Game)
	}
	return nil, first
}

// play plays all moves under a rule set.
func (d *Draft) play(rules string) (game.Position, []record.Ply, error) {
	r, err := catalog.Rules(rules)
	if err != nil {
		return nil, nil, d.Source.Error(d.At, 0, err)
	}
	if r.Game != d.Game {
		return nil, nil, d.Source.Error(d.At, 0, fmt.Errorf("%w: a game of %s, not under %s", ErrSyntax, d.Game, r.Name))
	}
	p, err := r.New(d.Position)
	if err != nil {
		return nil, nil, d.Source.Error(max(d.At, d.SetupAt), 0, err)
	}
	if usual, err := r.New(""); err == nil && usual.String() == p.String() {
		d.Position = ""
	}
	plies := make([]record.Ply, len(d.moves))
	for i, m := range d.moves {
		move, err := m.read(p)
		if o := p.Outcome(); o.Over() { // whatever made no sense of the move
			err = fmt.Errorf("%w under %s: %s (%s)", game.ErrOver, r.Name, o.Result, o.Reason)
		}
		ply := m.ply
		ply.Seat = p.Turn()
		if err == nil {
			ply.Move = p.Format(move)
			err = p.Play(move)
		}
		if err != nil {
			return nil, nil, d.Source.Error(m.at, i+1, err)
		}
		ply.Key = record.Key(p.Key())
		plies[i] = ply
	}
	return p, plies, nil
}

// record is the draft's record after the moves have been played.
func (d *Draft) record(end game.Position, plies []record.Ply) (*record.Record, error) {
	if d.Settle != nil {
		d.Settle(end)
	}
	r := d.Record
	r.V, r.Source.By = record.Version, record.ByImport
	r.Game, r.Rules, r.Position = d.Game, end.Rules().Name, d.Position
	r.Plies = plies
	r.Result, r.Reason = d.Result, d.Reason
	switch o := end.Outcome(); {
	case !o.Over():
	case d.Result == game.Undecided || d.Result == o.Result:
		r.Result, r.Reason = o.Result, o.Reason
	default:
		r.Text = strings.TrimPrefix(fmt.Sprintf("%s; the rules say %s (%s)", r.Text, o.Result, o.Reason), "; ")
	}
	for i := range r.Plies {
		if t := r.Plies[i].Think; t != nil && r.Plies[i].Seat == game.Second {
			t := *t
			t.Score = -t.Score // files count for the first seat
			r.Plies[i].Think = &t
		}
	}
	r.ID = identify(&r)
	if err := r.Validate(); err != nil {
		return nil, d.Source.Error(d.At, 0, err)
	}
	return &r, nil
}

// identify makes a game's id from what was played: the same file read again
// gives the same id.
func identify(r *record.Record) string {
	h := sha256.New()
	put := func(parts ...string) {
		for _, s := range parts {
			fmt.Fprintf(h, "%d:", len(s))
			io.WriteString(h, s)
		}
	}
	put(r.Rules, r.Position, r.Event, r.Place, r.Start.UTC().String(), r.Result.String())
	for _, s := range r.Seats {
		put(s.Player, s.Display)
	}
	for _, p := range r.Plies {
		put(p.Move)
	}
	return "i-" + hex.EncodeToString(h.Sum(nil))[:24]
}

// RuleSets lists the rule sets that a game without a named one may have been
// played under, likeliest first: those whose name is among the words of the
// hint ("Renju rules"), then the game's default, the sets of its Common, and
// those of its Lenient. Other sets would make sense of a damaged file. Sets
// whose openings have choices are left out, since no list of moves shows the
// choices. Only names that fit are listed.
func RuleSets(gameName, hint string, fits func(name string) bool) []string {
	g, err := catalog.Game(gameName)
	if err != nil {
		return nil
	}
	hint = strings.ToLower(hint)
	rank := func(name string) int { // the lower the likelier, negative for never
		common := slices.IndexFunc(g.Common, func(c string) bool { return variant(c) == variant(name) })
		switch {
		case strings.Contains(name, "+"), !fits(name):
			return -1
		case strings.Contains(hint, variant(name)):
			return 100 - len(variant(name)) // "standardcaro" before "caro"
		case name == g.Default:
			return 100
		case common >= 0:
			return 101 + common
		}
		return -1
	}
	names := slices.DeleteFunc(slices.Clone(g.Sets), func(name string) bool { return rank(name) < 0 })
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range g.Lenient {
		if fits(name) {
			names = append(names, name)
		}
	}
	return names
}

// variant is the word that a rule set is called by: "renju" of
// "gomoku/renju-15".
func variant(rules string) string {
	_, set, _ := strings.Cut(rules, "/")
	set, _, _ = strings.Cut(set, "-")
	return set
}

// Played sets a record's start position up and plays its moves, calling each
// before every move. The error names the ply.
func Played(r *record.Record, each func(ply int, p game.Position, m game.Move) error) (game.Position, error) {
	rules, err := catalog.Rules(r.Rules)
	if err != nil {
		return nil, err
	}
	p, err := rules.New(r.Position)
	if err != nil {
		return nil, err
	}
	for i := range r.Plies {
		m, err := p.Parse(r.Plies[i].Move)
		if err == nil {
			err = each(i+1, p, m)
		}
		if err == nil {
			err = p.Play(m)
		}
		if err != nil {
			return nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	return p, nil
}

// Name is what a seat's player is called among people.
func Name(s record.Seat) string { return cmp.Or(s.Display, s.Player) }

// ID is the id of a seat's player where the name does not give it away, "" else.
func ID(s record.Seat) string {
	if s.Player == playerID(Name(s)) {
		return ""
	}
	return s.Player
}

// SetName fills a seat from a file: the name that people see and, where the
// file has it, the player's id.
func SetName(s *record.Seat, name, id string) {
	s.Player, s.Display = id, name
	if s.Player == "" {
		s.Player = playerID(name)
	}
	if s.Display == s.Player {
		s.Display = ""
	}
}

// playerID makes an id of a name: the name itself where it is one, else one
// that is always the same for the name.
func playerID(name string) string {
	if name == "" {
		return ""
	}
	const chars = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	if len(name) <= 32 && strings.Trim(name, chars) == "" {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "p-" + hex.EncodeToString(sum[:6])
}

// ParseClock reads a clock as records write it; anything else is unlimited,
// for files say many things here.
func ParseClock(text string) clock.Spec {
	c, err := clock.Parse(strings.TrimSpace(text))
	if err != nil {
		return clock.Spec{}
	}
	return c
}
