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

// Draft is a game being read: the content of the file, not yet checked against
// the rules.
type Draft struct {
	Source *Source
	At     int // where the game begins in the text

	Game     string
	Rules    []string // rule sets to try, in order; see RuleSets
	Position string   // start position in the rules' form, "" for the usual one
	SetupAt  int      // where the text has the start position

	Record record.Record // names, event, date, clock: everything except moves
	Result game.Result   // Undecided if the file does not say
	Reason game.Reason

	// AtEnd, if not nil, is called with the position after the last move and may
	// still set Record, Result and Reason: if an opening procedure swaps colours,
	// only the end shows which name belongs to which seat.
	AtEnd func(end game.Position)

	moves    []draftMove
	playedOn string // an end by the rules that the game's arbiter did not see; "" for none
}

type draftMove struct {
	at   int
	ply  record.Ply
	read func(p game.Position) (game.Move, error)
}

// Move adds a move at a byte of the text; read finds it in the position before
// it. Ply has what else the file says about it; its seat, text and key are set from
// the rules.
func (d *Draft) Move(at int, ply record.Ply, read func(p game.Position) (game.Move, error)) {
	d.moves = append(d.moves, draftMove{at: at, ply: ply, read: read})
}

// MoveText adds a move in the text form of the game's rules.
func (d *Draft) MoveText(at int, ply record.Ply, text string) {
	d.Move(at, ply, func(p game.Position) (game.Move, error) { return p.Parse(text) })
}

// Last returns the ply of the last move added, nil before the first. Whatever a file
// has after a move, such as a comment, goes there.
func (d *Draft) Last() *record.Ply {
	if len(d.moves) == 0 {
		return nil
	}
	return &d.moves[len(d.moves)-1].ply
}

// SetUp notes that no player of the game chose the first n moves.
func (d *Draft) SetUp(n int) {
	for i := range d.moves[:min(max(n, 0), len(d.moves))] {
		AddMark(&d.moves[i].ply, bookMark)
	}
}

// Plies returns the number of moves added.
func (d *Draft) Plies() int { return len(d.moves) }

// Finish plays the moves and returns the record. The error is an *Error, that of
// the first rule set if several were tried.
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

// play plays the moves under a rule set.
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
	d.playedOn = ""
	plies := make([]record.Ply, len(d.moves))
	for i, m := range d.moves {
		if o := p.Outcome(); playOnUnnamed(p) && d.playedOn == "" {
			d.playedOn = fmt.Sprintf("the rules say %s (%s) after ply %d; the game went on", o.Result, o.Reason, i)
		}
		move, err := m.read(p)
		if o := p.Outcome(); o.Over() { // explains any error of the move
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

// playOnUnnamed continues a game that is over by a rule that every rule set has, and reports
// whether it did. A rule that some sets leave out still ends the game: those sets are tried, and
// their name says so in the record.
func playOnUnnamed(p game.Position) bool {
	if !p.Outcome().Over() {
		return false
	}
	on := p.Clone()
	return game.PlayOn(on) && on.Rules().Name == p.Rules().Name && game.PlayOn(p)
}

// record returns the draft's record after the moves have been played.
func (d *Draft) record(end game.Position, plies []record.Ply) (*record.Record, error) {
	if d.AtEnd != nil {
		d.AtEnd(end)
	}
	r := d.Record
	r.V, r.Source.By = record.Version, record.ByImport
	r.Game, r.Rules, r.Position = d.Game, end.Rules().Name, d.Position
	r.Plies = plies
	r.Result, r.Reason = d.Result, d.Reason
	said := d.playedOn
	switch o := end.Outcome(); {
	case !o.Over():
	case d.Result == game.Undecided || d.Result == o.Result:
		r.Result, r.Reason = o.Result, o.Reason
	case said == "":
		said = fmt.Sprintf("the rules say %s (%s)", o.Result, o.Reason)
	}
	if !strings.Contains(r.Text, said) { // what we have exported has it
		r.Text = strings.TrimPrefix(r.Text+"; "+said, "; ")
	}
	for i := range r.Plies {
		if t := r.Plies[i].Think; t != nil && r.Plies[i].Seat == game.Second {
			t := *t
			t.Score = -t.Score // files have scores for the first seat
			r.Plies[i].Think = &t
		}
		readRunner(&r.Plies[i]) // whose scores are the mover's
	}
	r.ID = identify(&r)
	if err := r.Validate(); err != nil {
		return nil, d.Source.Error(d.At, 0, err)
	}
	return &r, nil
}

// identify makes a game's id from its content, so that the same file gives the
// same id when it is read again.
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

// RuleSets lists the rule sets that a game may have been played under if its
// file names none, likeliest first: those whose name is in the hint ("Renju
// rules"), then the game's default, its Common sets and its Lenient sets. Other
// sets are not guessed: they could accept a damaged file. Neither are sets with
// an opening procedure, since files do not have its choices. Only names that fit
// are listed.
func RuleSets(gameName, hint string, fits func(name string) bool) []string {
	g, err := catalog.Game(gameName)
	if err != nil {
		return nil
	}
	hint = strings.ToLower(hint)
	if SaysRenju(hint) {
		hint = "renju"
	}
	rank := func(name string) int { // the lower the likelier; negative: not listed
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

// variant returns the first word of a rule set's name: "renju" of "gomoku/renju-15".
func variant(rules string) string {
	_, set, _ := strings.Cut(rules, "/")
	set, _, _ = strings.Cut(set, "-")
	return set
}

// Played plays a record's moves from its start position and returns the position
// at the end. It calls each before every move. A game that was played on after an end
// by the rules is played to its last move, and the position at the end then has the
// rules under which its moves can be read again, see [game.PlayOn]. The error names the
// ply.
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
		game.PlayOn(p)
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

// Name returns the name of a seat's player for display.
func Name(s record.Seat) string { return cmp.Or(s.Display, s.Player) }

// ID returns the id of a seat's player, or "" if SetName can derive it from the name.
func ID(s record.Seat) string {
	if s.Player == playerID(Name(s)) {
		return ""
	}
	return s.Player
}

// Identity returns what tells players apart in games of several sources, "" if a record
// names nobody: the player's id. Where a record has a name in its place, as those of matches and of
// games at a real board do, it is the id that SetName derives from that name, so that a
// player of a match and of a file with nothing but names is one.
func Identity(s record.Seat) string { return playerID(cmp.Or(s.Player, s.Display)) }

// SetName sets a seat's player from a file: the display name and, if the file has
// it, the player's id.
func SetName(s *record.Seat, name, id string) {
	s.Player, s.Display = id, name
	if s.Player == "" {
		s.Player = playerID(name)
	}
	if s.Display == s.Player {
		s.Display = ""
	}
}

// playerID derives an id from a name: the name itself if it is a valid id, else
// one from its hash.
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

// ParseClock reads a clock as records write it. Files have many other texts here;
// for these the clock is unlimited.
func ParseClock(text string) clock.Spec {
	c, err := clock.Parse(strings.TrimSpace(text))
	if err != nil {
		return clock.Spec{}
	}
	return c
}
