package external

import (
	"errors"
	"strconv"
	"strings"

	"sparring/engine"
	"sparring/pipe/sau"
	"sparring/pipe/uci"
)

// sauTalk speaks the line protocol of the SAU platform. A program keeps the
// game in mind and can't be told a position: it plays from the start or not at
// all.
type sauTalk struct {
	rows   int
	played bool
}

func newSAU(Spec, string) dialect { return &sauTalk{} }

func (t *sauTalk) greet(p *program) error {
	if err := p.send(sau.Line{Word: sau.AskName}.String()); err != nil {
		return err
	}
	return p.await(p.times.start, engine.FaultStart, "name", func(line string) bool {
		l, _ := sau.Parse(line)
		p.called(l.Text, "")
		return l.Word == sau.Name
	})
}

// errMidgame: a program that can only play whole games.
var errMidgame = errors.New("engines of the SAU platform can't take over a game: they play from its usual start")

func (t *sauTalk) setUp(p *program, q *query) error {
	if p.board == nil && (len(q.moves) > 1 || q.start != "") || p.board != nil && !p.board.leadsTo(q) {
		return errMidgame
	}
	rows, err := boardRows(q.pos.Rules().Name)
	t.rows = rows
	return err
}

// boardRows reads the size of the board out of the name of a rule set:
// amazons/10x10, gomoku/freestyle-15.
func boardRows(rules string) (int, error) {
	_, set, _ := strings.Cut(rules, "/")
	set, _, _ = strings.Cut(set, "+")
	if _, size, ok := strings.Cut(set, "-"); ok {
		return strconv.Atoi(size)
	}
	_, rows, _ := strings.Cut(set, "x")
	return strconv.Atoi(rows)
}

func (t *sauTalk) ask(p *program, q *query, _ allowance) error {
	var lines []string
	if p.board == nil {
		if t.played {
			lines = append(lines, sau.Line{Word: sau.End}.String())
		}
		side := sau.Black // opens
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

func (t *sauTalk) hear(_ *query, line string) (*answer, *uci.Info) {
	l, err := sau.Parse(line)
	if l.Word != sau.Move {
		return nil, nil
	}
	a := &answer{line: line}
	if err == nil {
		a.move, err = sau.Ours(l.Squares, t.rows)
	}
	if err != nil {
		a.wrong = err.Error()
	}
	return a, nil
}

func (t *sauTalk) objects(string) bool { return false }

func (t *sauTalk) searchOtherwise() bool { return false }

func (t *sauTalk) hush() string     { return "" }
func (t *sauTalk) farewell() string { return sau.Line{Word: sau.Quit}.String() }

func (t *sauTalk) foreign(line string) bool {
	l, err := sau.Parse(line)
	return err != nil || l.Word != sau.Move && l.Word != sau.Name
}
