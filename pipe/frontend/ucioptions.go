package frontend

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/game/catalog"
	"sparring/pipe/uci"
)

// setting is an option that a GUI can set.
type setting struct {
	uci.Option
	set func(value string) error
}

// hello answers "uci".
func (u *uciHandler) hello(c uci.Hello) {
	s := u.s
	if c.Cyclone {
		u.count(0)
	}
	s.say(uci.ID{Key: "name", Value: s.o.Name + " " + s.o.Version})
	s.say(uci.ID{Key: "author", Value: s.o.Author})
	for _, o := range u.settings() {
		s.say(o.Option)
	}
	s.say(uci.OK{})
}

func (u *uciHandler) setOption(c uci.SetOption) error {
	all := u.settings()
	i := slices.IndexFunc(all, func(o setting) bool { return sameName(o.Name, c.Name) })
	if i < 0 {
		return errors.New("no such option")
	}
	return all[i].apply(c.Value)
}

// settings returns the options of UCI. Their defaults are those of the conversation's start:
// a GUI may send all of them back.
func (u *uciHandler) settings() []setting {
	s := u.s
	var games []string
	for _, g := range catalog.Games() {
		games = append(games, g.Name)
	}
	rules := append([]string{rulesAuto}, advertisedRules()...)
	if !slices.Contains(rules, u.preset.rules) {
		rules = append(rules, u.preset.rules)
	}
	names := engineNames{"Hash", "Threads", "Skill Level", "OwnBook", "BookFile", "Eval", "Variety"}
	overhead := int(s.o.Overhead.Milliseconds())
	return slices.Concat(s.engineSettings(names), []setting{
		button("Clear Hash", s.newGame),
		// It changes nothing: the GUI decides whether to ponder.
		check("Ponder", false, func(bool) {}),
		spin("MultiPV", 1, 1, maxLines, func(n int) { u.multiPV = n }),
		spin("Move Overhead", overhead, 0, 5000, func(n int) { u.overhead = time.Duration(n) * time.Millisecond }),
		check("UCI_ShowWDL", false, func(on bool) { u.showWDL = on }),
		// The games come first: some GUIs begin with the first value.
		combo("UCI_Variant", variantAuto, append(games, variantAuto), u.setVariant),
		combo("Rules", u.preset.rules, rules, u.setRules),
		combo("Xiangqi Ranks", ranksAuto, []string{ranksAuto, ranksZero, ranksOne}, u.setRanks),
	})
}

// setVariant changes the game. The rules of the same game stay as they are.
func (u *uciHandler) setVariant(name string) error {
	v := u.preset
	if name != variantAuto {
		g, err := catalog.Game(name)
		if err != nil {
			return err
		}
		v = variant{g.Name, rulesAuto}
		if u.ranks == ranksAuto {
			u.dialect.Ranks, u.named = 1, true
		}
	} else if u.named {
		u.count(0)
	}
	if v.game != u.dialect.Game {
		u.play(v)
	}
	return nil
}

// setRules changes to any rule set of the catalog, and its game.
func (u *uciHandler) setRules(name string) error {
	if name == rulesAuto {
		u.play(variant{u.dialect.Game, rulesAuto})
		return nil
	}
	if !strings.Contains(name, "/") {
		name = u.dialect.Game + "/" + name
	}
	r, err := catalog.Rules(name)
	if err != nil {
		return err
	}
	u.play(variant{r.Game, r.Name})
	return nil
}

// setRanks sets the number of Xiangqi's first rank. A GUI that sends the default knows
// nothing of this option but sends all of them back. A game that it has named before was
// among them, and says nothing of its notation.
func (u *uciHandler) setRanks(way string) error {
	switch way {
	case ranksZero:
		u.count(0)
	case ranksOne:
		u.count(1)
	case ranksAuto:
		if u.named || u.ranks != ranksAuto {
			u.count(0)
		}
	default:
		return fmt.Errorf("%.40q: must be %s, %s or %s", way, ranksAuto, ranksZero, ranksOne)
	}
	u.ranks = way
	return nil
}
