package frontend

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"sparring/engine"
	"sparring/game/catalog"
	"sparring/pipe/uci"
)

// maxLines is the largest value of MultiPV.
const maxLines = 500

// MaxThreads returns the largest number of threads that may be set: one for each
// core.
func MaxThreads() int { return runtime.NumCPU() }

// MaxHash returns the largest hash table that may be set, in MiB.
func MaxHash() int { return min(64<<10, engine.MaxHash()>>20) }

// Values of options.
const (
	variantAuto = "auto" // the game at the start
	rulesAuto   = "auto" // implied by the position
	ranksAuto   = "auto"
	ranksZero   = "0-9"
	ranksOne    = "1-10"
	evalOwn     = "own" // the game's own evaluation
)

// advertisedRules lists the rule sets that are offered to a GUI. It may set any other
// of the catalog; but some GUIs can't read a line with all of them (uci2wb 4.1 read
// half of it as another option).
func advertisedRules() (names []string) {
	for _, g := range catalog.Games() {
		names = append(names, g.Common...)
	}
	return names
}

// apply checks a value and sets it.
func (o setting) apply(value string) error {
	switch o.Kind {
	case uci.Check:
		if value != "true" && value != "false" {
			return fmt.Errorf("%.40q: must be true or false", value)
		}
	case uci.Spin:
		if n, err := strconv.Atoi(value); err != nil || n < o.Min || n > o.Max {
			return fmt.Errorf("%.40q: must be a number from %d to %d", value, o.Min, o.Max)
		}
	}
	return o.set(value)
}

// sameName compares names of options, which GUIs write in any case.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

func button(name string, press func()) setting {
	return setting{uci.Option{Name: name, Kind: uci.Button}, func(string) error { press(); return nil }}
}

func check(name string, preset bool, set func(bool)) setting {
	return setting{uci.Option{Name: name, Kind: uci.Check, Default: strconv.FormatBool(preset)},
		func(value string) error { set(value == "true"); return nil }}
}

func spin(name string, preset, least, most int, set func(int)) setting {
	return setting{uci.Option{Name: name, Kind: uci.Spin, Default: strconv.Itoa(preset), Min: least, Max: most},
		func(value string) error {
			n, err := strconv.Atoi(value)
			if err == nil {
				set(n)
			}
			return err
		}}
}

// combo accepts one of vars, and other values that set accepts.
func combo(name, preset string, vars []string, set func(string) error) setting {
	return setting{uci.Option{Name: name, Kind: uci.Combo, Default: preset, Vars: vars}, set}
}

// text accepts any text.
func text(name, preset string, set func(string) error) setting {
	return setting{uci.Option{Name: name, Kind: uci.Text, Default: preset}, set}
}

// engineNames are a protocol's names for the engine's settings.
type engineNames struct{ hash, threads, level, book, bookFile, eval, variety string }

// engineSettings returns the settings of the engine.
func (s *session) engineSettings(names engineNames) []setting {
	hash := max(s.o.Setup.HashBytes>>20, 1)
	all := []setting{
		spin(names.hash, hash, 1, MaxHash(), func(n int) {
			setup := s.setup
			if setup.HashBytes = n << 20; n == hash {
				setup.HashBytes = s.o.Setup.HashBytes // which may not be a whole number of MiB
			}
			s.configure(setup)
		}),
		spin(names.threads, s.o.Setup.Threads, 1, MaxThreads(), func(n int) {
			setup := s.setup
			setup.Threads = n
			s.configure(setup)
		}),
	}
	if s.o.Levels > 0 {
		all = append(all, spin(names.level, s.o.Setup.Level, 0, s.o.Levels, func(n int) {
			setup := s.setup
			setup.Level = n
			s.configure(setup)
		}))
	}
	if s.o.Book != nil {
		all = append(all, setting{
			uci.Option{Name: names.book, Kind: uci.Check, Default: strconv.FormatBool(s.o.Setup.Book != "")},
			func(value string) error { return s.useBook(value == "true", s.bookFile) },
		}, text(names.bookFile, s.bookFile, func(name string) error { return s.useBook(s.ownBook, name) }))
	}
	return append(all, combo(names.eval, evalOwn, append([]string{evalOwn}, evaluations()...), s.evaluateBy),
		spin(names.variety, s.o.Setup.Variety, 0, engine.MaxVariety, func(n int) {
			setup := s.setup
			setup.Variety = n
			s.configure(setup)
		}))
}

// evaluations returns the names of all games' evaluations.
func evaluations() (all []string) {
	for _, g := range catalog.Games() {
		if a, err := engine.Adapter(g.Name); err == nil {
			all = append(all, a.EvaluationNames()...)
		}
	}
	return all
}

// evaluateBy changes the evaluation to one that the game has.
func (s *session) evaluateBy(name string) error {
	setup := s.setup
	if setup.Eval = name; name == evalOwn {
		setup.Eval = ""
	} else if s.pos == nil {
		return errNoPosition
	} else if _, err := engine.Params(s.pos.Rules().Game, name); err != nil {
		return err
	}
	s.configure(setup)
	return nil
}

// useBook changes the opening book. A missing or damaged book is refused;
// the engine then has none. A name that a GUI leaves empty is that of none.
func (s *session) useBook(on bool, name string) error {
	if name == "<empty>" { // as UCI writes it
		name = ""
	}
	s.ownBook, s.bookFile = on, name
	setup := s.setup
	setup.Book = ""
	var err error
	if on && name != "" {
		if name != s.setup.Book {
			err = s.o.Book(name)
		}
		if err == nil {
			setup.Book = name
		}
	}
	s.configure(setup)
	return err
}
