package book

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"sparring/engine/opening"
	"sparring/game"
	"sparring/game/catalog"
)

// Errors of a builder about games that it does not count.
var (
	// ErrKnown: the game was counted before.
	ErrKnown = errors.New("the game is in the book already")
	// ErrFamily: the game, or the book, is for other rules.
	ErrFamily = errors.New("other rules")
	// ErrUnfinished: the game has no result.
	ErrUnfinished = errors.New("the game has no result")
)

// Game is a game to learn from.
type Game struct {
	ID       string
	Rules    string // full name of the rule set
	Position string // start position, "" is the usual one
	Moves    []string
	Result   game.Result
	// Given is how many of the first moves the players did not choose.
	Given int
	// Only, unless nil, is the seat whose moves alone are counted.
	Only *game.Seat
}

// mark returns a hash of the game's id and moves. Two records of one game have the
// same mark; games of two matches with the same numbers have different ones.
func (g Game) mark() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%s\n%s\n%s", g.ID, g.Rules, g.Position, g.Moves)
	return h.Sum64()
}

// Builder makes or changes a book. It is not safe for concurrent use.
type Builder struct {
	family  string
	plies   int
	entries map[slot]*Entry
	games   map[uint64]bool
}

// slot is a move's place in a book.
type slot struct {
	key  uint64
	move game.Move
}

// NewBuilder begins an empty book for the family of a rule set, or of a game's
// default set. It counts the first plies of each game, 24 if plies is 0. The error
// wraps game.ErrRules.
func NewBuilder(rules string, plies int) (*Builder, error) {
	r, err := catalog.Rules(rules)
	if err != nil {
		return nil, err
	}
	return sorted(Family(r.Name), nil, nil).Edit(plies), nil
}

// Edit begins a changed copy of the book. Plies is as in NewBuilder.
func (b *Book) Edit(plies int) *Builder {
	if plies == 0 {
		plies = usualPlies
	}
	e := &Builder{b.family, plies, map[slot]*Entry{}, map[uint64]bool{}}
	for _, old := range b.entries {
		e.entries[slot{old.Key, old.Move}] = &old
	}
	for _, mark := range b.games {
		e.games[mark] = true
	}
	return e
}

// Book returns the book so far. Moves that were played in fewer than least games
// are left out unless they have a learnt score or a preference.
func (b *Builder) Book(least int) *Book {
	var entries []Entry
	for _, e := range b.entries {
		if e.Games() >= least || e.Learnt != 0 || e.Preference != 0 {
			entries = append(entries, *e)
		}
	}
	return sorted(b.family, entries, slices.Collect(maps.Keys(b.games)))
}

// visit is a move of a game, as an entry of the book.
type visit struct {
	entry *Entry
	seat  game.Seat
	known bool // before this game
}

// Count adds a game's result to its moves. The error wraps ErrFamily,
// ErrUnfinished or ErrKnown, or is that of the rules for an illegal move; the book
// is then unchanged.
func (b *Builder) Count(g Game) error {
	_, err := b.count(g)
	return err
}

// Learn counts a game and adjusts the learnt scores of its moves, as the package
// documentation says. Errors are those of Count.
func (b *Builder) Learn(g Game) error {
	visits, err := b.count(g)
	if err != nil || g.Result == game.Draw {
		return err
	}
	steps := [2]int{learntStep, learntStep} // by seat, halved with each earlier move
	for _, v := range slices.Backward(visits) {
		if !v.known {
			continue
		}
		step := steps[v.seat]
		steps[v.seat] /= 2
		if g.Result != game.WonBy(v.seat) {
			step = -step
		}
		v.entry.Learnt = int16(min(max(int(v.entry.Learnt)+step, -maxLearnt), maxLearnt))
	}
	return nil
}

func (b *Builder) count(g Game) ([]visit, error) {
	switch {
	case Family(g.Rules) != b.family:
		return nil, fmt.Errorf("game %.40q: %w: %s, the book is for %s", g.ID, ErrFamily, g.Rules, b.family)
	case g.Result == game.Undecided:
		return nil, fmt.Errorf("game %.40q: %w", g.ID, ErrUnfinished)
	case b.games[g.mark()]:
		return nil, fmt.Errorf("game %.40q: %w", g.ID, ErrKnown)
	}
	slots, seats, err := g.walk(b.plies)
	if err != nil {
		return nil, fmt.Errorf("game %.40q: %w", g.ID, err)
	}
	b.games[g.mark()] = true
	visits := make([]visit, len(slots))
	for i, s := range slots {
		e, known := b.entries[s]
		if !known {
			e = &Entry{Key: s.key, Move: s.move}
			b.entries[s] = e
		}
		switch g.Result {
		case game.WonBy(seats[i]):
			e.Wins++
		case game.Draw:
			e.Draws++
		default:
			e.Losses++
		}
		visits[i] = visit{e, seats[i], known}
	}
	return visits, nil
}

// walk returns the slots of the game's first plies and the seats that played them.
// A move that occurs twice counts once, the choices of an opening procedure never.
func (g Game) walk(plies int) (slots []slot, seats []game.Seat, err error) {
	r, err := catalog.Rules(g.Rules)
	if err != nil {
		return nil, nil, err
	}
	p, err := r.New(g.Position)
	if err != nil {
		return nil, nil, err
	}
	for i, text := range g.Moves[:min(plies, len(g.Moves))] {
		game.PlayOn(p) // the arbiter did not end the game there
		m, err := p.Parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
		if !opening.Running(p) && i >= g.Given && (g.Only == nil || *g.Only == p.Turn()) {
			at := spotOf(p)
			if s := (slot{at.key, at.fold(m)}); !slices.Contains(slots, s) {
				slots, seats = append(slots, s), append(seats, p.Turn())
			}
		}
		if err := p.Play(m); err != nil {
			return nil, nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
	}
	return slots, seats, nil
}

// Prefer sets the author's preference for a move, which need not be in the book yet.
// The error wraps ErrFamily or game.ErrIllegal.
func (b *Builder) Prefer(p game.Position, m game.Move, pref Preference) error {
	switch {
	case Family(p.Rules().Name) != b.family:
		return fmt.Errorf("%w: %s, the book is for %s", ErrFamily, p.Rules().Name, b.family)
	case opening.Running(p) || !slices.Contains(p.Legal(nil), m):
		return fmt.Errorf("%w: %s", game.ErrIllegal, p.Format(m))
	case !pref.valid():
		return fmt.Errorf("preference %d: want %d to %d", pref, -MaxPreference, MaxPreference)
	}
	at := spotOf(p)
	s := slot{at.key, at.fold(m)}
	if b.entries[s] == nil {
		b.entries[s] = &Entry{Key: s.key, Move: s.move}
	}
	b.entries[s].Preference = pref
	return nil
}
