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
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/pipe/botzone"
)

// Options set up a conversation.
type Options struct {
	// Protocol is one of Protocols, or "": the first line tells.
	Protocol string
	// Game is what is played where the protocol leaves it open; "" is the
	// first that the protocol knows.
	Game string
	// Rules, Clock and Nodes hold where the protocol leaves them open; their
	// zero values are what is usual there, and no limit.
	Rules string
	Clock clock.Spec
	Nodes uint64 // for a move
	// Setup is what the engine starts with; the other side may change it.
	Setup Setup
	// Levels is how many levels of strength Open knows; 0 is none.
	Levels int
	// Book says what is wrong with the opening book of a name; where it is
	// nil, Open knows none.
	Book func(name string) error
	// Open makes the searcher for a game; our own engine when nil. It is closed
	// when it is no longer wanted.
	Open func(gameName string, s Setup) (engine.Searcher, error)
	// Name, Version, Author and Country say who we are. Version is
	// engine.Build's where it is "".
	Name, Version, Author, Country string
	// Overhead is what a move costs its clock besides the search; the other
	// side may change it. DefaultOverhead when 0.
	Overhead time.Duration
	// Seed is what is drawn by lot is drawn with; a random one when 0.
	Seed uint64
}

// usualBook is the name of the book where none was given.
const usualBook = "shipped"

// Setup is what an engine is given.
type Setup struct {
	HashBytes int    // engine.DefaultHash when 0
	Threads   int    // 1 when 0
	Level     int    // of strength, from 1; 0 is all there is
	Book      string // name of an opening book; "" is none
	Eval      string // as in engine.Options
}

// DefaultOverhead is what a move costs besides the search where nobody says
// otherwise: a pipe is fast, a GUI on a busy machine is not.
const DefaultOverhead = 30 * time.Millisecond

// ErrProtocol: no protocol of that name.
var ErrProtocol = errors.New("unknown protocol")

// protocol is a way to talk, by its name.
type protocol struct {
	name string
	// begins reports whether a conversation in this protocol may begin with
	// the line, a trimmed one.
	begins func(line string) bool
	// open makes the protocol's side of a conversation.
	open func(*session) handler
	hint string // what a conversation usually begins with
}

// protocols are all that are spoken. The first that may begin with a line is
// taken.
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

// Serve talks until the other side quits, the input ends or ctx is cancelled;
// none of these is an error. Errors are ErrProtocol, game.ErrRules for
// Options.Game and Rules, and those of reading and writing. A search that runs
// is stopped, and the engine closed, before Serve returns. A read under way
// then stays behind until in gives something or is closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	o.fill()
	if o.Game != "" {
		if _, err := catalog.Game(o.Game); err != nil {
			return err
		}
	}
	if o.Rules != "" {
		if _, err := catalog.Rules(o.Rules); err != nil {
			return err
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
			return engine.New(name, engine.Options{HashBytes: s.HashBytes, Threads: s.Threads, Eval: s.Eval})
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

// listener is the speaker before it is known what is spoken.
type detector struct{ s *session }

// obey finds the protocol that the line is of and lets it have the line.
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
		hints = append(hints, p.hint+" ("+p.name+")")
	}
	l.s.sayf("Error: %v: begin with %s", err, strings.Join(hints, ", "))
}

// While it is not known what is spoken, nothing is thought about.
func (*detector) schedule(string) schedule    { return inOrder }
func (*detector) report(search.Info)          {}
func (*detector) answer(search.Result, error) {}
func (*detector) finishesAtEOF() bool         { return true }
