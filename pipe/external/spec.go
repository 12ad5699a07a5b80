package external

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sparring/game/amazons"
	"sparring/game/catalog"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
	"sparring/pipe/gomocup"
	"sparring/pipe/sau"
	"sparring/pipe/ucci"
	"sparring/pipe/uci"
	"sparring/pipe/xboard"
)

// Dialect is the name of a protocol.
type Dialect string

// The dialects.
const (
	UCI     Dialect = "uci"     // universal chess interface: all our games
	UCCI    Dialect = "ucci"    // its Xiangqi sibling
	Gomocup Dialect = "gomocup" // the Gomoku championship's
	XBoard  Dialect = "xboard"  // the chess engine communication protocol: Xiangqi
	SAU     Dialect = "sau"     // the Chinese computer games championship's: Amazons, Gomoku
)

// Spec says what to run and how.
type Spec struct {
	Dialect Dialect
	Path    string   // a name on PATH, or a path
	Args    []string // after the program's name
	Dir     string   // to run in; "" is ours
	Options []Option // the program's own, set in this order when it starts
	Memory  int64    // bytes that it and its children may have resident; 0 is no limit
	// Limits of every search besides its own; 0 is none.
	Nodes uint64
	Depth int
	// Hash in MiB and Threads are set where the program has such options; 0
	// leaves it at what it takes by itself.
	Hash, Threads int
	// Pause is how long nothing is sent after a move of the program's, for
	// programs that miss what comes right then; 0 is what is usual for the
	// protocol.
	Pause time.Duration
}

// Option is a setting of the program's own.
type Option struct{ Name, Value string }

// Check reports all that is wrong with a spec for a game, without starting
// anything: also a program that can't be found.
func (s Spec) Check(gameName string) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	t, ok := protocols[s.Dialect]
	if !ok {
		return fmt.Errorf("no protocol %.40q (have %s)", s.Dialect, strings.Join(Dialects(), ", "))
	}
	if games := s.Dialect.Games(); gameName != "" && !slices.Contains(games, gameName) {
		bad("%s engines play %s, not %.40s", s.Dialect, strings.Join(games, " and "), gameName)
	}
	if s.Path == "" {
		bad("no program named")
	} else if _, err := s.program(); err != nil {
		bad("%w", err)
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil {
			bad("working directory: %w", err)
		} else if !info.IsDir() {
			bad("working directory %s: not a directory", s.Dir)
		}
	}
	if s.Nodes > 0 && !t.nodes {
		bad("nodes: %s engines can't be limited by them", s.Dialect)
	}
	if s.Depth > 0 && !t.depth {
		bad("depth: %s engines can't be limited by it", s.Dialect)
	}
	if len(s.Options) > 0 && !t.options {
		bad("options: the %s protocol has none", s.Dialect)
	}
	if s.Memory > 0 && !canMeasure {
		bad("memory: can be watched on Linux alone")
	}
	if s.Memory < 0 || s.Depth < 0 || s.Hash < 0 || s.Threads < 0 {
		bad("memory, depth, hash and threads must not be negative")
	}
	return errors.Join(errs...)
}

// program is the path of the program to start.
func (s Spec) program() (string, error) {
	path, err := exec.LookPath(s.Path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path) // it is started in a directory of its own
}

// capabilities are what a protocol can and can't say.
type capabilities struct {
	games        []string // nil means every game of the catalog
	hello        string   // what is said first
	nodes, depth bool     // limits of a search
	untimed      bool     // it has no words for time: the program keeps its own
	options      bool
	ponders      bool          // it can search without an end, until it is forcedStop
	lines        bool          // several lines, and searches of some moves alone
	positions    bool          // a search may begin from any position
	pause        time.Duration // after a move, unless the spec names another
	newDialect   func(s Spec, gameName string) dialect
}

// protocols are the dialects that are spoken here.
var protocols = map[Dialect]capabilities{
	UCI: {hello: uci.Hello{}.String(), nodes: true, depth: true, options: true, ponders: true, lines: true,
		positions: true, newDialect: newUCI},
	UCCI:    {games: []string{xiangqi.Name}, hello: ucci.Hello{}.String(), nodes: true, depth: true, options: true, ponders: true, positions: true, newDialect: newUCCI},
	Gomocup: {games: []string{gomoku.Name}, hello: string(gomocup.Start) + " 15", options: true, positions: true, pause: gomocupPause, newDialect: newGomocup},
	XBoard:  {games: []string{xiangqi.Name}, hello: xboard.Hello, depth: true, options: true, positions: true, newDialect: newXBoard},
	SAU:     {games: []string{amazons.Name, gomoku.Name}, untimed: true, hello: string(sau.AskName), newDialect: newSAU},
}

// Dialects lists the protocols.
func Dialects() []string {
	var names []string
	for d := range protocols {
		names = append(names, string(d))
	}
	slices.Sort(names)
	return names
}

// Known reports whether there is such a protocol.
func (d Dialect) Known() bool { _, ok := protocols[d]; return ok }

// Games lists the games that engines of the protocol play.
func (d Dialect) Games() []string {
	if games := protocols[d].games; games != nil {
		return games
	}
	return catalog.Names()
}

// LimitsNodes reports whether searches can be limited by nodes.
func (d Dialect) LimitsNodes() bool { return protocols[d].nodes }

// SetsUp reports whether a search may begin from any position; else engines of
// the protocol play from the usual start of their game alone.
func (d Dialect) SetsUp() bool { return protocols[d].positions }

// Compares reports whether engines of the protocol tell what they think of
// their moves and can be asked for several: choices can be made by that.
func (d Dialect) Compares() bool { return protocols[d].lines }
