package playerspec

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/amazons/areas"
	"sparring/engine/book"
	"sparring/engine/level"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	"sparring/pipe/external"
)

// Options are the defaults for what a spec leaves open.
type Options struct {
	HashBytes int // engine.DefaultHash when 0
	Threads   int // 1 when 0
	// Books are the opening books of our own engine, nil for none, and Book is
	// their name. Shipped are the books that book=shipped names.
	Books   *book.Shelf
	Book    string
	Shipped fs.FS
	// Warn is called for a spec whose books are missing or damaged; the player
	// then plays without them. If it is nil, opening such a spec is an error.
	Warn func(error)
	// Likeness returns the openings of a player, from its games in a source, and the
	// level nearest to its strength; 0 if that is not known. If it is nil, as=NAME is
	// an error.
	Likeness func(gameName, player, from string) (openings *book.Shelf, level int, err error)
	// Tables are the endgame tables of our own engine, nil for none. Levels that
	// err on purpose do not use them.
	Tables xiangqi.Tables
	// Log is the folder for the conversations with programs whose spec names none;
	// "": none.
	Log string
	// Areas is the table of areas of our own engine without a level, nil for none.
	Areas *areas.Table
	// LevelElo returns the measured strength of a level and its 95 % error; ok is
	// false if it was not measured. It may be nil.
	LevelElo func(gameName string, level int) (elo, plusMinus float64, ok bool)
}

// Engines opens games for players that are named by specs. The games of one spec
// share a searcher: a hash table, a book, the idle processes of an external
// engine. It is safe for concurrent use.
type Engines struct {
	options Options

	mu      sync.Mutex
	open    map[named]*opened
	keep    func(spec, gameName string, reproducible bool) bool // see Keep
	closed  bool
	closing sync.WaitGroup // of searchers that nobody needs any more
}

// named identifies a searcher.
type named struct {
	spec, game   string
	reproducible bool
}

// opened is a searcher that is opened when first used.
type opened struct {
	searcher func() (engine.Searcher, error)
	games    int // open ones; guarded by Engines.mu
}

// NewEngines makes an Engines. Close it.
func NewEngines(o Options) *Engines {
	return &Engines{options: o, open: map[named]*opened{}, keep: func(string, string, bool) bool { return true }}
}

// Keep says which searchers are kept for further games: those of the specs and kinds of
// game, for reproducible games or not, for which keep returns true; at first all are. The
// others are closed, now or with the last of their games. Keep is called by several
// goroutines, and must not call the Engines.
func (e *Engines) Keep(keep func(spec, gameName string, reproducible bool) bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keep = keep
	for name, entry := range e.open {
		e.discardUnneeded(name, entry)
	}
}

// discardUnneeded closes a searcher unless it has games or is kept for further ones. The
// caller holds mu.
func (e *Engines) discardUnneeded(name named, entry *opened) {
	if e.open[name] != entry || entry.games > 0 || e.keep(name.spec, name.game, name.reproducible) {
		return
	}
	delete(e.open, name)
	e.closing.Go(func() { // a program may take time to end
		if s, err := entry.searcher(); err == nil {
			s.Close() // nobody plays by it: the error does not matter
		}
	})
}

// ErrClosed is returned by Engines.NewGame after Close.
var ErrClosed = errors.New("the engines are closed")

// NewGame opens a game for the player of a spec ("" is self). The options must
// have Rules. The error says what is wrong with the spec, or why its engine can't
// play by these rules.
func (e *Engines) NewGame(spec string, o engine.GameOptions) (engine.Game, error) {
	name := named{spec, o.Rules.Game, o.Reproducible}
	options := e.options
	if o.Reproducible {
		options.Tables, options.Areas = nil, nil // the build may not have finished
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, ErrClosed
	}
	entry, ok := e.open[name]
	if !ok {
		entry = &opened{searcher: sync.OnceValues(func() (engine.Searcher, error) { return Open(spec, name.game, options) })}
		e.open[name] = entry
	}
	entry.games++
	e.mu.Unlock()
	ended := sync.OnceFunc(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		entry.games--
		e.discardUnneeded(name, entry)
	})
	s, err := entry.searcher() // without the lock: opening may be slow
	if err != nil {
		e.mu.Lock()
		if e.open[name] == entry {
			delete(e.open, name) // the next attempt may succeed
		}
		e.mu.Unlock()
		return nil, err
	}
	g, err := s.NewGame(o)
	if err != nil {
		ended()
		return nil, err
	}
	return &countedGame{g, ended}, nil
}

// countedGame is a game that says when it is closed.
type countedGame struct {
	engine.Game
	ended func()
}

// Unwrap returns the game itself.
func (g *countedGame) Unwrap() engine.Game { return g.Game }

// Close implements engine.Game.
func (g *countedGame) Close() error {
	defer g.ended()
	return g.Game.Close()
}

// Close closes all searchers.
func (e *Engines) Close() error {
	e.mu.Lock()
	all := e.open
	e.open, e.closed = nil, true
	e.mu.Unlock()
	var errs []error
	for _, entry := range all {
		if s, err := entry.searcher(); err == nil {
			errs = append(errs, s.Close())
		}
	}
	e.closing.Wait()
	return errors.Join(errs...)
}

// Open makes the searcher of a spec for a kind of game. The caller closes it.
func Open(text, gameName string, o Options) (engine.Searcher, error) {
	s, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return s.Open(gameName, o)
}

// Open makes the searcher for a kind of game.
func (s Spec) Open(gameName string, o Options) (engine.Searcher, error) {
	if err := s.Check(gameName); err != nil {
		return nil, err
	}
	if o.HashBytes == 0 {
		o.HashBytes = engine.DefaultHash
	}
	if s.As != "" {
		return s.openAs(gameName, o)
	}
	open := s.own
	if s.Outside != nil {
		open = s.program
	}
	inner, err := open(gameName, o)
	if err != nil {
		return nil, err
	}
	inner = specified{inner, s, o.LevelElo}
	books, name := o.Books, o.Book
	if s.Outside != nil {
		return inner, nil
	}
	if s.Book != "" {
		name = s.Book
		if books, err = book.Open(s.Book, gameName, o.Shipped); err != nil {
			if err = fmt.Errorf("player %.100q: %w", s, err); o.Warn == nil {
				return nil, err
			}
			o.Warn(err)
		}
	}
	if books == nil || name == book.None {
		return inner, nil
	}
	return book.With(inner, books, name, book.Options{}), nil
}

// imitatedPlies is how far into a game a player's openings are looked up.
const imitatedPlies = 60

// openAs makes the searcher that plays like another player.
func (s Spec) openAs(gameName string, o Options) (engine.Searcher, error) {
	if o.Likeness == nil {
		return nil, fmt.Errorf("player %.100q: as=NAME is for matches and bots", s)
	}
	openings, near, err := o.Likeness(gameName, s.As, s.From)
	if err != nil {
		return nil, fmt.Errorf("player %.100q: %w", s, err)
	}
	if s.Level == 0 {
		if s.Level = near; near == 0 {
			return nil, fmt.Errorf("player %.100q: no game connects %s with a player of known strength; give level=N", s, s.As)
		}
	}
	if err := s.Check(gameName); err != nil {
		return nil, err
	}
	inner, err := s.own(gameName, o)
	if err != nil {
		return nil, err
	}
	return book.With(specified{inner, s, o.LevelElo}, openings, s.As, book.Options{Plies: imitatedPlies, MinGames: 1, Imitate: true}), nil
}

// own makes a searcher of our own engine.
func (s Spec) own(gameName string, o Options) (engine.Searcher, error) {
	own := engine.Options{HashBytes: o.HashBytes, Threads: o.Threads, Switches: s.Switches, Numbers: s.Numbers, Eval: s.Eval, Tables: o.Tables, Areas: o.Areas,
		Variety: s.Variety, VarietySeed: s.varietySeed()}
	if s.Hash > 0 {
		own.HashBytes = s.Hash << 20
	}
	if s.Threads > 0 {
		own.Threads = s.Threads
	}
	if s.Level > 0 {
		return level.New(gameName, s.Level, o.Tables)
	}
	return engine.New(gameName, own)
}

// varietySeed makes players that differ in their spec choose independently: both sides of a
// game have the same seed, and so have the two games of a pair in a match.
func (s Spec) varietySeed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(s.String())) // never fails
	return h.Sum64()
}

// program makes a searcher of an external engine.
func (s Spec) program(gameName string, o Options) (engine.Searcher, error) {
	spec := *s.Outside
	if spec.Hash == 0 {
		spec.Hash = max(o.HashBytes>>20, 1)
	}
	if spec.Threads == 0 {
		spec.Threads = max(o.Threads, 1)
	}
	if spec.Log == "" {
		spec.Log = o.Log
	}
	e, err := external.Open(spec, gameName)
	if err != nil {
		return nil, err
	}
	if spec.Dialect.Compares() || !opening.Has(gameName) {
		return e, nil
	}
	ours, err := engine.New(gameName, engine.Options{HashBytes: adviserHash})
	if err != nil {
		return nil, err
	}
	return advised{e, ours}, nil
}

// adviserHash is the size of our engine's hash table in advised, in bytes.
const adviserHash = 8 << 20

// advised is an external engine that can't report scores of several moves. Our
// engine makes its choices in opening procedures, which need them.
type advised struct {
	engine.Searcher
	ours *engine.Engine
}

// NewGame implements engine.Searcher.
func (a advised) NewGame(o engine.GameOptions) (engine.Game, error) {
	theirs, err := a.Searcher.NewGame(o)
	if err != nil {
		return nil, err
	}
	ours, err := a.ours.NewGame(o)
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	return advisedGame{theirs, ours}, nil
}

type advisedGame struct {
	engine.Game
	ours engine.Game
}

// Search implements engine.Game.
func (a advisedGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if l.NoBook || l.MultiPV > 1 || len(l.Moves) > 0 {
		return a.ours.Search(p, l, report)
	}
	return a.Game.Search(p, l, report)
}

// Close closes both games.
func (a advisedGame) Close() error { return errors.Join(a.Game.Close(), a.ours.Close()) }

// specified adds the limits and the description of a spec to a searcher.
type specified struct {
	engine.Searcher
	spec Spec
	elo  func(gameName string, level int) (elo, plusMinus float64, ok bool)
}

// NewGame implements engine.Searcher.
func (s specified) NewGame(o engine.GameOptions) (engine.Game, error) {
	inner, err := s.Searcher.NewGame(o)
	if err != nil {
		return nil, err
	}
	return specifiedGame{inner, s}, nil
}

type specifiedGame struct {
	engine.Game
	s specified
}

// Unwrap returns the game without the limits.
func (g specifiedGame) Unwrap() engine.Game { return g.Game }

// Describe implements engine.Game.
func (g specifiedGame) Describe() engine.Description {
	d, s := g.Game.Describe(), g.s.spec
	if s.Outside != nil {
		silent := *s.Outside
		s.Outside, silent.Log = &silent, "" // does not change the play
	}
	d.Spec, d.Level = s.String(), s.Level
	own := search.Limits{Nodes: d.Nodes, Depth: d.Depth}
	limits := s.within(own)
	d.Nodes, d.Depth = limits.Nodes, limits.Depth
	asMeasured := limits.Nodes == own.Nodes && limits.Depth == own.Depth
	if rules := g.Options().Rules; s.Level > 0 && asMeasured && g.s.elo != nil && rules != nil {
		if elo, plusMinus, ok := g.s.elo(rules.Game, s.Level); ok {
			d.Elo, d.EloError = &elo, plusMinus
		}
	}
	return d
}

// Search implements engine.Game.
func (g specifiedGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	run, err := g.Game.Search(p, g.s.spec.within(l), report)
	if err != nil {
		return nil, err
	}
	return limitedRun{run, g.s.spec}, nil
}

// limitedRun applies the spec's limits to those of a ponder hit.
type limitedRun struct {
	engine.Running
	spec Spec
}

// PonderHit implements engine.Running.
func (r limitedRun) PonderHit(l search.Limits) { r.Running.PonderHit(r.spec.within(l)) }

// within tightens limits to those of the spec. External engines do so themselves, but for the
// time: they are told it as that of the clock.
func (s Spec) within(l search.Limits) search.Limits {
	if s.MaxTime > 0 && !l.Wait {
		l = inTime(l, s.MaxTime)
	}
	if s.Nodes > 0 && (l.Nodes == 0 || s.Nodes < l.Nodes) {
		l.Nodes = s.Nodes
	}
	if s.Depth > 0 && (l.Depth == 0 || s.Depth < l.Depth) {
		l.Depth = s.Depth
	}
	return l
}

// inTime limits the time of a move. What has gone of it before the search began, as in a
// correspondence game while the process was down, is not thinking.
func inTime(l search.Limits, most time.Duration) search.Limits {
	gone := time.Duration(0)
	if !l.From.IsZero() {
		gone = max(time.Since(l.From), 0)
	}
	most += gone
	if l.Hard == 0 || l.Hard > most {
		l.Hard = most
	}
	l.Soft = min(l.Soft, l.Hard)
	if c := l.Clock; c != nil && (c.MoveLimit == 0 || c.MoveLimit > most) {
		limited := *c
		limited.MoveLimit = most
		l.Clock = &limited
	}
	return l
}
