package external

import (
	"fmt"
	"strings"

	"sparring/game/catalog"
	"sparring/pipe/botzone"
	"sparring/pipe/uci"
)

// botzoneDialect speaks with bots for botzone.org.cn. As there, a process plays one
// move: it gets the whole game, answers and ends, by itself or by us. So it keeps its
// own time, and a bot that asks to be kept running is started again all the same.
type botzoneDialect struct {
	game botzone.Game
	json bool // the JSON interaction; otherwise the simple one
}

func newBotzone(inJSON bool) func(Spec, string) dialect {
	return func(_ Spec, gameName string) dialect { return &botzoneDialect{botzone.Game(gameName), inJSON} }
}

// botzoneRules returns the rule set of a game that the platform plays.
func botzoneRules(gameName string) string { return botzone.Game(gameName).Rules() }

// handshake implements dialect: a bot says nothing before it is asked for a move.
func (t *botzoneDialect) handshake(p *program) error {
	p.oneGame = true
	return nil
}

func (t *botzoneDialect) setUp(_ *program, q *query) error {
	if err := Botzone.CheckRules(q.pos.Rules()); err != nil {
		return err
	}
	if usual, err := catalog.Setup(string(t.game), t.game.Rules(), ""); err != nil || q.start != "" && q.start != usual.String() {
		return fmt.Errorf("bots of Botzone get the moves from the usual start; %.100s is another", q.start)
	}
	return nil
}

func (t *botzoneDialect) startSearch(p *program, q *query, _ searchLimits) error {
	lines, err := t.game.Ask(q.moves, t.json)
	if err != nil {
		return err
	}
	if err := p.sendAll(lines); err != nil {
		return err
	}
	p.in.Close() // some read to the end of their input; the error does not matter
	return nil
}

// parseLine implements dialect. Lines behind the first are the bot's own affair.
func (t *botzoneDialect) parseLine(_ *query, line string) (*answer, *uci.Info) {
	if strings.TrimSpace(line) == "" {
		return nil, nil
	}
	a := &answer{line: line}
	move, err := t.game.Answer(strings.TrimSpace(line), t.json)
	switch {
	case err != nil:
		a.invalid = err.Error()
	case move == "":
		a.invalid = "no move"
	}
	a.move = move
	return a, nil
}

func (t *botzoneDialect) isError(string) bool { return false }

func (t *botzoneDialect) alternateInfinite() bool { return false }

func (t *botzoneDialect) stopCommand() string { return "" }
func (t *botzoneDialect) quitCommand() string { return "" }

func (t *botzoneDialect) unknownLine(string) bool { return false }
