// Package playerspec opens players by name. A name has the same form everywhere: in
// a match, in a bot's profile, on the command line.
//
//	self                                our engine
//	self:level=5                        at a level (package level)
//	self:nodes=10000,depth=8            with limits of every search
//	self:without=NullMove,with=Razoring heuristics turned off and on (search.Switches)
//	self:set.LMPBase=4                  a number of the kernel (search.NumberNames)
//	self:eval=xu2006                    a named evaluation of the game (adapter.Evaluation)
//	self:variety=3                      with errors of up to 3 % in evaluations, so that games differ
//	self:as=NAME,from=games.jsonl       with a player's openings, and near its strength
//	self:book=my.book                   with an opening book, book=shipped or a folder of them
//	self:maxtime=30s                    no move takes longer, whatever the clock
//	uci:fairy-stockfish                 a program, by a name on PATH or a path
//	uci:./engine,arg=-q,dir=/tmp        with arguments (in order) and a directory to run in
//	ucci:eleeye,option.style=solid      with an option of its own
//	botzone:./bot                       one for botzone.org.cn; botzone-json for its JSON form
//	gomocup:pbrain,memory=350           killed when it takes more MiB
//	gomocup:pbrain,pause=200            sent nothing for so many ms after its move
//	uci:./engine,log=logs               with a log of every line, one file per game
//
// So a spec is KIND[:PATH][,key=value]...; for self the keys follow the colon.
// A comma in a value is written \, (a backslash before it). [Parse] reads a
// spec, [Engines] opens games for what specs name.
package playerspec

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/level"
	"sparring/engine/search"
	"sparring/pipe/external"
)

// Self is the kind of our own engine.
const Self = "self"

// Spec is a parsed player name.
type Spec struct {
	Name    string         // display name; "" means the spec's text
	Outside *external.Spec // the program; nil is our own engine
	// MaxTime is the longest time for a move; 0: by the clock alone. See timing.MoveLimit.
	MaxTime time.Duration
	// The rest is for our own engine; the zero value is the default.

	Level int // 0 is full strength
	// Switches are the heuristics that are turned on or off.
	Switches map[string]bool
	// Numbers are the kernel's numbers that are set.
	Numbers map[string]int
	Eval    string // see engine.Options
	Variety int    // see engine.Options
	Book    string // see book.Open; "" is Options.Book
	// As is the name of a player to play like, and From the source of its games; see
	// Options.Likeness. Level, if it is set, is instead of its strength.
	As, From string
	Nodes    uint64
	Depth    int
	Hash     int // MiB
	Threads  int
}

// Parse reads a spec; "" is self. The error lists everything that is wrong with it.
func Parse(text string) (Spec, error) {
	var s Spec
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	parts := split(text)
	kind, path, program := strings.Cut(parts[0], ":")
	if kind == Self || text == "" {
		if parts = parts[1:]; path != "" {
			parts = append([]string{path}, parts...)
		}
	} else {
		s.Outside = &external.Spec{Dialect: external.Dialect(kind), Path: path}
		parts = parts[1:]
		if known := s.Outside.Dialect.Known(); !known && !program {
			bad("%.60q: want self, or before a program what it speaks, as in uci:PROGRAM (have %s)", kind, strings.Join(external.Dialects(), ", "))
		} else if !known {
			bad("no kind %.40q of player (have self, %s)", kind, strings.Join(external.Dialects(), ", "))
		} else if path == "" {
			bad("%s: want a program, as in %s:PATH", kind, kind)
		}
	}
	for _, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			bad("%.60q: want key=value", part)
			continue
		}
		if err := s.set(key, value); err != nil {
			bad("%w", err)
		}
	}
	if s.Level > 0 && len(s.Switches)+len(s.Numbers) > 0 {
		bad("level: has its own heuristics")
	}
	if s.Level > 0 && s.Eval != "" {
		bad("level: has its own evaluation")
	}
	if s.Level > 0 && s.Variety > 0 {
		bad("level: plays as it was measured, without variety")
	}
	if s.Level > 0 && (s.Hash > 0 || s.Threads > 0) {
		bad("level: has a hash table and threads of its own")
	}
	switch own := s; {
	case s.From != "" && s.As == "":
		bad("from: want as=NAME, the player whose games they are")
	case s.As != "" && (len(own.Switches)+len(own.Numbers)+own.Hash+own.Threads+own.Variety > 0 || own.Eval+own.Book != ""):
		bad("as: plays at a level, with its own openings; want only from, level, nodes, depth and name beside it")
	case s.As != "" && s.From == "":
		bad("as=%.40s: want from=SOURCE, where its games are", s.As)
	}
	if len(errs) > 0 {
		return Spec{}, fmt.Errorf("player %.100q: %w", text, joined(errs))
	}
	return s, nil
}

// joined joins errors on one line.
func joined(errs []error) error {
	var texts []string
	for _, e := range errs {
		texts = append(texts, strings.ReplaceAll(e.Error(), "\n", "; "))
	}
	return errors.New(strings.Join(texts, "; "))
}

// split splits a text at the commas that are not preceded by a backslash.
func split(text string) (parts []string) {
	part := ""
	for {
		head, tail, more := strings.Cut(text, ",")
		if more && strings.HasSuffix(head, `\`) {
			part += strings.TrimSuffix(head, `\`) + ","
			text = tail
			continue
		}
		parts = append(parts, part+head)
		if !more {
			return parts
		}
		part, text = "", tail
	}
}

// ownEval names the game's own evaluation, as the engine's UCI option does.
const ownEval = "own"

const keys = "nodes, depth, maxtime, hash, threads, name"

// set sets one key.
func (s *Spec) set(key, value string) error {
	number := func(most uint64) (uint64, error) {
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil || n == 0 || n > most {
			return 0, fmt.Errorf("%s=%.40q: want a number from 1 to %d", key, value, most)
		}
		return n, nil
	}
	whole := func(into *int, most uint64) error {
		n, err := number(most)
		*into = int(n)
		return err
	}
	o := s.Outside
	if option, ok := strings.CutPrefix(key, "option."); ok && o != nil {
		if option == "" {
			return errors.New("option.: want its name, as in option.NAME=VALUE")
		}
		o.Options = append(o.Options, external.Option{Name: option, Value: value})
		return nil
	}
	if name, ok := strings.CutPrefix(key, "set."); ok && o == nil {
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%.60s=%.40q: want a whole number", key, value)
		}
		if s.Numbers == nil {
			s.Numbers = map[string]int{}
		}
		s.Numbers[name] = n
		return new(search.Params).SetNumber(name, n)
	}
	nodes, depth, hash, threads := &s.Nodes, &s.Depth, &s.Hash, &s.Threads
	if o != nil {
		nodes, depth, hash, threads = &o.Nodes, &o.Depth, &o.Hash, &o.Threads
	}
	var err error
	switch {
	case key == "name":
		s.Name = value
	case key == "nodes":
		*nodes, err = number(1 << 62)
	case key == "depth":
		err = whole(depth, search.MaxPly)
	case key == "maxtime":
		if s.MaxTime, err = time.ParseDuration(value); err != nil || s.MaxTime < time.Millisecond {
			err = fmt.Errorf("maxtime=%.40q: must be a time from 1ms, such as 30s or 2m", value)
		}
	case key == "hash":
		err = whole(hash, maxHash)
	case key == "threads":
		err = whole(threads, maxThreads)
	case key == "book" && o == nil:
		if s.Book = value; value == "" {
			err = errors.New("book: want a file or folder, shipped or none")
		}
	case key == "as" && o == nil:
		if s.As = value; value == "" {
			err = errors.New("as: want the name of a player")
		}
	case key == "from" && o == nil:
		if s.From = value; value == "" {
			err = errors.New("from: want a folder or file with games")
		}
	case key == "eval" && o == nil:
		if s.Eval = value; value == "" {
			err = errors.New("eval: want the name of an evaluation")
		} else if value == ownEval {
			s.Eval = ""
		}
	case key == "variety" && o == nil:
		err = whole(&s.Variety, engine.MaxVariety)
	case (key == "with" || key == "without") && o == nil:
		if s.Switches == nil {
			s.Switches = map[string]bool{}
		}
		if err = new(search.Switches).Set(value, true); err == nil {
			s.Switches[value] = key == "with"
		}
	case key == "level" && o == nil:
		err = whole(&s.Level, level.Strongest)
	case key == "arg" && o != nil:
		o.Args = append(o.Args, value)
	case key == "dir" && o != nil:
		o.Dir = value
	case key == "log" && o != nil:
		o.Log = value
	case key == "memory" && o != nil:
		var n uint64
		n, err = number(maxHash)
		o.Memory = int64(n) << 20
	case key == "pause" && o != nil:
		var ms int
		err = whole(&ms, maxPause)
		o.Pause = time.Duration(ms) * time.Millisecond
	case o != nil:
		return fmt.Errorf("no key %.40q (have arg, dir, option.NAME, memory, pause, log, %s)", key, keys)
	default:
		return fmt.Errorf("no key %.40q (have level, as, from, eval, search, variety, book, with, without, set.NAME, %s)", key, keys)
	}
	return err
}

// Upper bounds that only typing errors exceed: a TiB, 1024 threads, ten seconds.
const (
	maxPause   = 10_000 // ms
	maxHash    = 1 << 20
	maxThreads = 1024
)

// Public returns the spec without the paths of this machine: a program only has its
// protocol and its name, a book only its name.
func (s Spec) Public() string {
	if o := s.Outside; o != nil {
		return string(o.Dialect) + ":" + filepath.Base(o.Path)
	}
	if s.Book != "" {
		s.Book = filepath.Base(s.Book)
	}
	if s.From != "" {
		s.From = filepath.Base(s.From)
	}
	return s.String()
}

// String returns the spec as [Parse] reads it.
func (s Spec) String() string {
	var parts []string
	add := func(key, value string) {
		parts = append(parts, key+"="+strings.ReplaceAll(value, ",", `\,`))
	}
	number := func(key string, n uint64) {
		if n > 0 {
			add(key, strconv.FormatUint(n, 10))
		}
	}
	limits := func(nodes uint64, depth, hash, threads int) {
		number("nodes", nodes)
		number("depth", uint64(depth))
		number("hash", uint64(hash))
		number("threads", uint64(threads))
		if s.MaxTime > 0 {
			add("maxtime", s.MaxTime.String())
		}
		if s.Name != "" {
			add("name", s.Name)
		}
	}
	o := s.Outside
	if o == nil {
		if s.As != "" {
			add("as", s.As)
			add("from", s.From)
		}
		number("level", uint64(s.Level))
		if s.Eval != "" {
			add("eval", s.Eval)
		}
		number("variety", uint64(s.Variety))
		if s.Book != "" {
			add("book", s.Book)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Switches)) {
			key := "without"
			if s.Switches[name] {
				key = "with"
			}
			add(key, name)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Numbers)) {
			add("set."+name, strconv.Itoa(s.Numbers[name]))
		}
		limits(s.Nodes, s.Depth, s.Hash, s.Threads)
		if len(parts) == 0 {
			return Self
		}
		return Self + ":" + strings.Join(parts, ",")
	}
	for _, a := range o.Args {
		add("arg", a)
	}
	if o.Dir != "" {
		add("dir", o.Dir)
	}
	for _, opt := range o.Options {
		add("option."+opt.Name, opt.Value)
	}
	number("memory", uint64(o.Memory>>20))
	number("pause", uint64(o.Pause.Milliseconds()))
	if o.Log != "" {
		add("log", o.Log)
	}
	limits(o.Nodes, o.Depth, o.Hash, o.Threads)
	head := string(o.Dialect) + ":" + strings.ReplaceAll(o.Path, ",", `\,`)
	return strings.Join(append([]string{head}, parts...), ",")
}

// Check reports what is wrong with a spec for a game, including a program that can't
// be found, more threads than this machine has cores, and a hash table for which it has not
// the memory. It starts nothing. If gameName is "", the game is not checked.
func (s Spec) Check(gameName string) error {
	threads, hash := s.Threads, s.Hash
	if s.Outside != nil {
		threads, hash = s.Outside.Threads, s.Outside.Hash
	}
	if cores := runtime.GOMAXPROCS(0); threads > cores {
		return fmt.Errorf("player %.100q: threads=%d: this machine has %d cores", s, threads, cores)
	}
	if most := engine.MaxHash() >> 20; hash > most {
		return fmt.Errorf("player %.100q: hash=%d: this machine has memory for %d MiB", s, hash, most)
	}
	if s.Outside != nil {
		if err := s.Outside.Check(gameName); err != nil {
			return fmt.Errorf("player %.100q: %w", s, joined([]error{err}))
		}
		return nil
	}
	if s.Level > 0 && gameName != "" {
		_, err := level.Of(gameName, s.Level)
		return err
	}
	if s.Eval != "" && gameName != "" {
		if _, err := engine.Params(gameName, s.Eval); err != nil {
			return fmt.Errorf("player %.100q: %w", s, err)
		}
	}
	return nil
}
