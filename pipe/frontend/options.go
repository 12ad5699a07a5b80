package frontend

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

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
	rulesAuto = "auto" // implied by the position
	ranksAuto = "auto"
	ranksZero = "0-9"
	ranksOne  = "1-10"
	evalOwn   = "own" // the game's own evaluation
	searchOwn = "own" // the game's own search
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
			return fmt.Errorf("%.40q: want true or false", value)
		}
	case uci.Spin:
		if n, err := strconv.Atoi(value); err != nil || n < o.Min || n > o.Max {
			return fmt.Errorf("%.40q: want a number from %d to %d", value, o.Min, o.Max)
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
type engineNames struct{ hash, threads, level, book, bookFile, eval, search, variety string }

// engineSettings returns the settings of the engine.
func (s *session) engineSettings(names engineNames) []setting {
	all := []setting{
		spin(names.hash, s.o.Setup.HashBytes>>20, 1, MaxHash(), func(n int) {
			setup := s.setup
			setup.HashBytes = n << 20
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
		combo(names.search, searchOwn, append([]string{searchOwn}, engine.Searches()...), s.searchBy),
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

// searchBy changes the search.
func (s *session) searchBy(name string) error {
	setup := s.setup
	if setup.Search = name; name == searchOwn {
		setup.Search = ""
	} else if !slices.Contains(engine.Searches(), name) {
		return fmt.Errorf("no search %.40q (have %s, %s)", name, searchOwn, strings.Join(engine.Searches(), ", "))
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
		if err = s.o.Book(name); err == nil {
			setup.Book = name
		}
	}
	s.configure(setup)
	return err
}

// settings returns the options of UCI.
func (u *uciHandler) settings() []setting {
	s := u.s
	var games []string
	for _, g := range catalog.Games() {
		games = append(games, g.Name)
	}
	return slices.Concat(s.engineSettings(engineNames{"Hash", "Threads", "Skill Level", "OwnBook", "BookFile", "Eval", "Search", "Variety"}), []setting{
		button("Clear Hash", s.newGame),
		// It changes nothing: the GUI decides whether to ponder.
		check("Ponder", false, func(bool) {}),
		spin("MultiPV", 1, 1, maxLines, func(n int) { u.multiPV = n }),
		spin("Move Overhead", int(s.o.Overhead.Milliseconds()), 0, 5000, func(n int) { u.overhead = time.Duration(n) * time.Millisecond }),
		check("UCI_ShowWDL", false, func(on bool) { u.showWDL = on }),
		combo("UCI_Variant", games[0], games, u.setVariant),
		combo("Rules", rulesAuto, slices.Concat([]string{rulesAuto}, advertisedRules()), u.setRules),
		combo("Xiangqi Ranks", ranksAuto, []string{ranksAuto, ranksZero, ranksOne}, u.setRanks),
	})
}

func (u *uciHandler) setVariant(name string) error {
	g, err := catalog.Game(name)
	if err != nil {
		return err
	}
	if u.ranks == ranksAuto {
		u.dialect.Ranks = 1
	}
	u.play(g.Name)
	return nil
}

// setRules changes to any rule set of the catalog, and its game.
func (u *uciHandler) setRules(name string) error {
	if name == rulesAuto {
		u.rules = rulesAuto
		u.setUp()
		return nil
	}
	if !strings.Contains(name, "/") {
		name = u.dialect.Game + "/" + name
	}
	r, err := catalog.Rules(name)
	if err != nil {
		return err
	}
	u.dialect.Game, u.rules = r.Game, r.Name
	u.setUp()
	return nil
}

func (u *uciHandler) setRanks(way string) error {
	switch way {
	case ranksZero:
		u.dialect.Ranks = 0
	case ranksOne:
		u.dialect.Ranks = 1
	case ranksAuto:
	default:
		return fmt.Errorf("%.40q: want %s, %s or %s", way, ranksAuto, ranksZero, ranksOne)
	}
	u.ranks = way
	return nil
}
