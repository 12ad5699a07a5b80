package frontend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/pipe/botzone"
)

// Options are the settings of a conversation.
type Options struct {
	// Protocol is one of Protocols, or "" to detect it by the first line.
	Protocol string
	// Game is the game if the protocol does not tell; "" is the first game of the
	// protocol.
	Game string
	// Rules, Clock and Nodes are used if the protocol does not tell. Zero values
	// are the protocol's usual rules and clock, and no limit of nodes.
	Rules string
	Clock clock.Spec
	Nodes uint64 // for a move
	// Setup is the engine's setup at the start; the client may change it.
	Setup Setup
	// Levels is the number of levels of strength that Open supports.
	Levels int
	// Book checks the opening book of a name. If it is nil, Open supports no books.
	Book func(name string) error
	// Open opens the engine for a game; nil opens our own. The engine is closed
	// when it is not used any more.
	Open func(gameName string, s Setup) (engine.Searcher, error)
	// Name, Version, Author and Country identify the engine. The default of Version
	// is engine.Build.
	Name, Version, Author, Country string
	// Overhead is the time that a move costs its clock besides the search; the
	// client may change it. 0 is DefaultOverhead. Of a fixed time for a move it
	// takes no more than timing.FixedOverhead.
	Overhead time.Duration
	// LimitMemory is called when the client limits the memory of the process, in bytes, or
	// takes the limit back: math.MaxInt64. It may be nil: the tables of the engine keep to
	// the limit in any case.
	LimitMemory func(bytes int64)
	// Seed seeds all random choices; 0 is a random seed.
	Seed uint64
}

// usualBook is the default opening book.
const usualBook = "shipped"

// Setup is the setup of an engine.
type Setup struct {
	HashBytes int    // engine.DefaultHash when 0
	Threads   int    // 1 when 0
	Level     int    // of strength, from 1; 0 is full strength
	Book      string // name of an opening book; "" is none
	Eval      string // as in engine.Options
	Variety   int    // as in engine.Options; levels ignore it
}

// DefaultOverhead is the default of Options.Overhead: a pipe is fast, but a GUI on
// a busy machine is not.
const DefaultOverhead = 30 * time.Millisecond

// ErrProtocol is returned by Serve for an unknown Options.Protocol.
var ErrProtocol = errors.New("unknown protocol")

// protocol is a supported protocol.
type protocol struct {
	name string
	// begins reports whether a conversation may begin with the line, which is
	// trimmed.
	begins func(line string) bool
	// open makes the handler for a conversation.
	open    func(*session) handler
	example string // a usual first line
}

// protocols are the supported protocols. The first that may begin with a line is
// used.
var protocols = []protocol{
	{"uci", beginsUCI, newUCI, "uci"},
	{"ucci", beginsUCCI, newUCCI, "ucci"},
	{"gomocup", beginsGomocup, newGomocup, "START 15"},
	{"sau", beginsSAU, newSAU, "name?"},
	{"botzone", botzone.Begins, newBotzone, "1"},
}

// Protocols lists the names of the protocols.
func Protocols() (names []string) {
	for _, p := range protocols {
		names = append(names, p.name)
	}
	return names
}

// Serve runs a conversation until the client quits, the input ends or ctx is
// cancelled; none of these is an error. Errors are ErrProtocol, game.ErrRules for
// Options.Game and Rules, and those of reading and writing. A running search is
// stopped, and the engine closed, before Serve returns. A goroutine that reads from
// in may remain until the read returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	o.fill()
	if o.Game != "" {
		if _, err := catalog.Game(o.Game); err != nil {
			return err
		}
	}
	if o.Rules != "" {
		switch set, err := catalog.Rules(o.Rules); {
		case err != nil:
			return err
		case o.Game != "" && set.Game != o.Game:
			return fmt.Errorf("%w: %s are not of %s", game.ErrRules, set.Name, o.Game)
		}
	}
	s := &session{o: o, setup: o.Setup, out: &output{w: out}, ownBook: o.Setup.Book != "", bookFile: cmp.Or(o.Setup.Book, usualBook)}
	if o.Protocol != "" {
		for _, p := range protocols {
			if p.name == o.Protocol {
				s.handler = p.open(s)
			}
		}
		if s.handler == nil {
			return fmt.Errorf("%w %.40q: have %s", ErrProtocol, o.Protocol, strings.Join(Protocols(), ", "))
		}
	} else {
		s.handler = &detector{s}
	}
	return s.run(ctx, in)
}

func (o *Options) fill() {
	if o.Open == nil {
		o.Open = func(name string, s Setup) (engine.Searcher, error) {
			return engine.New(name, engine.Options{HashBytes: s.HashBytes, Threads: s.Threads, Eval: s.Eval, Variety: s.Variety})
		}
	}
	if o.Setup.HashBytes == 0 {
		o.Setup.HashBytes = engine.DefaultHash
	}
	o.Setup.Threads = max(o.Setup.Threads, 1)
	if o.Overhead == 0 {
		o.Overhead = DefaultOverhead
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	for _, f := range []struct {
		field *string
		value string
	}{{&o.Name, "Sparring"}, {&o.Version, strings.TrimPrefix(engine.Build(), "sparring ")}, {&o.Author, "the Sparring authors"}, {&o.Country, "-"}} {
		if *f.field == "" {
			*f.field = f.value
		}
	}
}

// detector is the handler until the protocol is known.
type detector struct{ s *session }

// handle detects the protocol and passes the line on to its handler.
func (l *detector) handle(line string) {
	text := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	if text == "" {
		return
	}
	for _, p := range protocols {
		if p.begins(text) {
			l.s.handler = p.open(l.s)
			l.s.handler.handle(text)
			return
		}
	}
	if text == "quit" {
		l.s.quit()
		return
	}
	l.sendError(fmt.Errorf("%w in line %.60q", ErrProtocol, text))
}

func (l *detector) sendError(err error) {
	var hints []string
	for _, p := range protocols {
		hints = append(hints, p.example+" ("+p.name+")")
	}
	l.s.sayf("Error: %v: begin with %s", err, strings.Join(hints, ", "))
}

// There are no searches before the protocol is known.
func (*detector) schedule(string) schedule    { return inOrder }
func (*detector) report(search.Info)          {}
func (*detector) answer(search.Result, error) {}
func (*detector) finishesAtEOF() bool         { return true }
