package external

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sparring/game"
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
	// Botzone is that of bots for botzone.org.cn, in its simple interaction and in JSON.
	Botzone     Dialect = "botzone"
	BotzoneJSON Dialect = "botzone-json"
)

// Spec is a program to run, with its settings.
type Spec struct {
	Dialect Dialect
	Path    string   // a name on PATH, or a path
	Args    []string // after the program's name
	Dir     string   // working directory; "" is ours
	Options []Option // the program's options, set in this order at its start
	Memory  int64    // limit of the resident memory of it and its children, in bytes; 0 is no limit
	// Limits of every search, besides its own; 0 is no limit.
	Nodes uint64
	Depth int
	// Hash in MiB and Threads are set if the program has such options; 0 is the
	// program's default.
	Hash, Threads int
	// Pause is the time after the program's move in which nothing is sent, for
	// programs that lose what comes then; 0 is the protocol's default.
	Pause time.Duration
	// Log is a folder in which every line to and from the program is kept, one file
	// per game, up to 8 MiB each and a GiB together; "": none. It does not change the play.
	Log string
}

// Option is an option of the program.
type Option struct{ Name, Value string }

// Check reports all errors of a spec for a game, including a program that can't
// be found. It starts nothing.
func (s Spec) Check(gameName string) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	t, ok := protocols[s.Dialect]
	if !ok {
		return fmt.Errorf("no protocol %.40q (have %s)", s.Dialect, strings.Join(Dialects(), ", "))
	}
	if games := s.Dialect.Games(); gameName != "" && !slices.Contains(games, gameName) {
		bad("%s engines don't play %.40s; they play %s", s.Dialect, gameName, strings.Join(games, ", "))
	}
	if s.Path == "" {
		bad("no program given")
	} else if _, err := s.Program(); err != nil {
		bad("%w", err)
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil {
			bad("working directory: %w", err)
		} else if !info.IsDir() {
			bad("working directory %s: not a directory", s.Dir)
		}
	}
	if s.Log != "" {
		if err := CheckLog(s.Log); err != nil {
			bad("log: %w", err)
		}
	}
	if s.Nodes > 0 && !t.nodes {
		bad("nodes: %s engines do not support this limit", s.Dialect)
	}
	if s.Depth > 0 && !t.depth {
		bad("depth: %s engines do not support this limit", s.Dialect)
	}
	if len(s.Options) > 0 && !t.options {
		bad("options: the %s protocol has no options", s.Dialect)
	}
	if s.Memory > 0 && !canMeasure {
		bad("memory: can be limited on Linux only")
	}
	if s.Memory < 0 || s.Depth < 0 || s.Hash < 0 || s.Threads < 0 {
		bad("memory, depth, hash and threads must not be negative")
	}
	return errors.Join(errs...)
}

// noProgramError is the path of a program that does not exist, with what may be meant. It
// wraps fs.ErrNotExist, whose text would tell users how we looked for it.
type noProgramError struct{ path, hint string }

func (e noProgramError) Error() string { return "no program " + e.path + e.hint }
func (noProgramError) Unwrap() error   { return fs.ErrNotExist }

// noProgram returns the error of a path that leads to no program, of one that has a working
// directory or none.
func noProgram(path, dir string) error {
	e := noProgramError{path: path}
	isFile := func(path string) bool { info, err := os.Stat(path); return err == nil && info.Mode().IsRegular() }
	if isFile(path) { // a mere name, which is looked for on PATH
		e.hint = fmt.Sprintf(" on PATH; the one in this folder is .%c%s", os.PathSeparator, path)
		return e
	}
	if in := filepath.Join(dir, path); dir != "" && isFile(in) {
		e.hint = fmt.Sprintf("; the one in its working directory is %s", in)
		return e
	}
	words := strings.Fields(path)
	if len(words) < 2 {
		return e
	}
	if _, err := exec.LookPath(words[0]); err == nil {
		e.hint = fmt.Sprintf("; arguments follow a program as keys: %s,arg=%s", words[0], strings.Join(words[1:], ",arg="))
	}
	return e
}

// Program returns the path of the program to start. The error wraps fs.ErrNotExist if
// there is none.
func (s Spec) Program() (string, error) {
	path, err := exec.LookPath(s.Path)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return "", noProgram(s.Path, s.Dir)
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("%s is not an executable file", s.Path)
	case err != nil:
		return "", err
	}
	return filepath.Abs(path) // its working directory may be another
}

// capabilities are what a protocol can express.
type capabilities struct {
	games        []string // nil means every game of the catalog
	hello        string   // the first line sent
	nodes, depth bool     // limits of a search
	untimed      bool     // no times are sent: the program keeps its own clock
	options      bool
	ponders      bool                         // it can search without limits until it is stopped
	lines        bool                         // MultiPV, and searches of some moves only
	positions    bool                         // a search may begin from any position
	usualStart   bool                         // all games begin at the usual start
	oneMove      bool                         // a process plays one move
	rules        func(gameName string) string // the only rules of a game; nil: any
	pause        time.Duration                // default of Spec.Pause
	newDialect   func(s Spec, gameName string) dialect
}

// protocols are the supported dialects.
var protocols = map[Dialect]capabilities{
	UCI: {hello: uci.Hello{}.String(), nodes: true, depth: true, options: true, ponders: true, lines: true,
		positions: true, newDialect: newUCI},
	UCCI:    {games: []string{xiangqi.Name}, hello: ucci.Hello{}.String(), nodes: true, depth: true, options: true, ponders: true, positions: true, newDialect: newUCCI},
	Gomocup: {games: []string{gomoku.Name}, hello: string(gomocup.Start) + " 15", options: true, positions: true, pause: gomocupPause, newDialect: newGomocup},
	XBoard:  {games: []string{xiangqi.Name}, hello: xboard.Hello, depth: true, options: true, positions: true, newDialect: newXBoard},
	SAU:     {games: []string{amazons.Name, gomoku.Name}, untimed: true, hello: string(sau.AskName), newDialect: newSAU},

	Botzone:     {games: botzoneGames, untimed: true, positions: true, usualStart: true, oneMove: true, rules: botzoneRules, newDialect: newBotzone(false)},
	BotzoneJSON: {games: botzoneGames, untimed: true, positions: true, usualStart: true, oneMove: true, rules: botzoneRules, newDialect: newBotzone(true)},
}

var botzoneGames = []string{amazons.Name, gomoku.Name, xiangqi.Name}

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

// Rules returns the only rules by which engines of the protocol play a game, "" for
// any.
func (d Dialect) Rules(gameName string) string {
	if rules := protocols[d].rules; rules != nil {
		return rules(gameName)
	}
	return ""
}

// LimitsNodes reports whether searches can be limited by nodes.
func (d Dialect) LimitsNodes() bool { return protocols[d].nodes }

// Untimed reports whether engines of the protocol are told no times, so that each keeps a
// clock of its own.
func (d Dialect) Untimed() bool { return protocols[d].untimed }

// CheckLimits returns an error if engines of the protocol can't be told such a limit of a
// search; 0 is no limit.
func (d Dialect) CheckLimits(nodes uint64, depth int) error {
	switch t := protocols[d]; {
	case nodes > 0 && !t.nodes:
		return fmt.Errorf("%s engines can't be limited by nodes", d)
	case depth > 0 && !t.depth:
		return fmt.Errorf("%s engines can't be limited by depth", d)
	}
	return nil
}

// CheckRules returns an error if the protocol has no words for games with these rules.
func (d Dialect) CheckRules(r *game.Rules) error {
	if only := d.Rules(r.Game); only != "" && only != r.Name {
		return fmt.Errorf("%s engines play %s, not %s", d, only, r.Name)
	}
	if d.SetsUp() || unusualStart(r) == "" {
		return nil
	}
	usual, err := catalog.Rules(r.Game)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s engines play only from the start of %s, not from that of %s", d, usual.Name, r.Name)
}

// OneMove reports whether a process of the protocol plays a single move.
func (d Dialect) OneMove() bool { return protocols[d].oneMove }

// SetsUp reports whether a search may begin from any position. Otherwise engines
// of the protocol play only from the usual start of their game.
func (d Dialect) SetsUp() bool { return protocols[d].positions }

// UsualStart reports whether games of the protocol begin at the usual start alone,
// though a search may begin after any moves.
func (d Dialect) UsualStart() bool { return protocols[d].usualStart }

// Ponders reports whether a search can go on until it is stopped, as pondering needs.
func (d Dialect) Ponders() bool { return protocols[d].ponders }

// Stops reports whether a search can be ended early, with its result.
func (d Dialect) Stops() bool {
	t := protocols[d]
	return t.newDialect != nil && t.newDialect(Spec{Dialect: d}, d.Games()[0]).stopCommand() != ""
}

// Compares reports whether engines of the protocol give scores of several moves,
// by which a choice can be made.
func (d Dialect) Compares() bool { return protocols[d].lines }
