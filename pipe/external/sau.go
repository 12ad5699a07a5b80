package external

import (
	"errors"
	"strconv"
	"strings"

	"sparring/engine"
	"sparring/pipe/sau"
	"sparring/pipe/uci"
)

// sauDialect speaks the line protocol of the SAU platform. A program keeps the game
// and can't be given a position: it can only play from the start.
type sauDialect struct {
	rows   int
	played bool
}

func newSAU(Spec, string) dialect { return &sauDialect{} }

func (t *sauDialect) handshake(p *program) error {
	if err := p.send(sau.Line{Word: sau.AskName}.String()); err != nil {
		return err
	}
	return p.await(p.times.start, engine.FaultStart, "name", func(line string) bool {
		l, _ := sau.Parse(line)
		p.called(l.Text, "")
		return l.Word == sau.Name
	})
}

// errMidgame is the error of a search in the middle of a game.
var errMidgame = errors.New("engines of the SAU platform can't take over a game: they play from its usual start")

func (t *sauDialect) setUp(p *program, q *query) error {
	if p.board == nil && (len(q.moves) > 1 || q.start != "") || p.board != nil && !p.board.leadsTo(q) {
		return errMidgame
	}
	rows, err := boardRows(q.pos.Rules().Name)
	t.rows = rows
	return err
}

// boardRows returns the size of the board in the name of a rule set: amazons/10x10,
// gomoku/freestyle-15.
func boardRows(rules string) (int, error) {
	_, set, _ := strings.Cut(rules, "/")
	set, _, _ = strings.Cut(set, "+")
	if _, size, ok := strings.Cut(set, "-"); ok {
		return strconv.Atoi(size)
	}
	_, rows, _ := strings.Cut(set, "x")
	return strconv.Atoi(rows)
}

func (t *sauDialect) startSearch(p *program, q *query, _ searchLimits) error {
	var lines []string
	if p.board == nil {
		if t.played {
			lines = append(lines, sau.Line{Word: sau.End}.String())
		}
		side := sau.Black // moves first
		if len(q.moves) > 0 {
			side = sau.White
		}
		lines = append(lines, sau.Line{Word: sau.New, Side: side}.String())
	}
	if n := len(q.moves); n > 0 {
		squares, err := sau.Squares(q.moves[n-1], t.rows)
		if err != nil {
			return err
		}
		lines = append(lines, sau.Line{Word: sau.Move, Squares: squares}.String())
	}
	t.played = true
	return p.sendAll(lines)
}

func (t *sauDialect) parseLine(_ *query, line string) (*answer, *uci.Info) {
	l, err := sau.Parse(line)
	if l.Word != sau.Move {
		return nil, nil
	}
	a := &answer{line: line}
	if err == nil {
		a.move, err = sau.Ours(l.Squares, t.rows)
	}
	if err != nil {
		a.invalid = err.Error()
	}
	return a, nil
}

func (t *sauDialect) isError(string) bool { return false }

func (t *sauDialect) alternateInfinite() bool { return false }

func (t *sauDialect) stopCommand() string { return "" }
func (t *sauDialect) quitCommand() string { return sau.Line{Word: sau.Quit}.String() }

func (t *sauDialect) unknownLine(line string) bool {
	l, err := sau.Parse(line)
	return err != nil || l.Word != sau.Move && l.Word != sau.Name
}
