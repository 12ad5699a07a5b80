package frontend

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/clock"
	"sparring/game/gomoku"
	"sparring/pipe/sau"
)

// sauClock is the championship's: a quarter of an hour for a game.
var sauClock = clock.Spec{Kind: clock.SuddenDeath, Initial: 15 * time.Minute}

// sauRules are the championship's, by the number of squares of a move.
var sauRules = map[int]string{1: gomoku.Name + "/renju-15", 3: amazons.Name + "/10x10"}

// sauHandler speaks the line protocol of the Chinese championship's platform. The
// platform ignores unknown lines, so errors are reported in lines that begin with
// #.
type sauHandler struct {
	s       *session
	game    platformGame
	refused []game.Move // by the platform, in this position
	last    game.Move   // our last move; NoMove before
}

func beginsSAU(line string) bool {
	l, err := sau.Parse(line)
	return l.Word == sau.AskName || l.Word == sau.New && err == nil
}

func newSAU(s *session) handler { return &sauHandler{s: s, game: platformGame{s: s}} }

// schedule implements handler. The beginning and the end of a game stop the search.
func (u *sauHandler) schedule(line string) schedule {
	l, err := sau.Parse(line)
	if err != nil {
		return inOrder
	}
	switch l.Word {
	case sau.AskName, sau.New, sau.End, sau.Quit:
		return immediately
	}
	return startsSearch
}

func (u *sauHandler) finishesAtEOF() bool { return false }

func (u *sauHandler) sendError(err error) { u.s.sayf("# %v", err) }

func (u *sauHandler) report(search.Info) {}

func (u *sauHandler) handle(line string) {
	l, err := sau.Parse(line)
	if err == nil {
		err = u.command(l)
	}
	if err != nil {
		u.sendError(err)
	}
}

func (u *sauHandler) command(l sau.Line) error {
	switch l.Word {
	case sau.AskName:
		u.s.say(sau.Line{Word: sau.Name, Text: u.s.o.Name})
	case sau.New:
		u.reset()
		u.s.newGame()
		if l.Side == sau.White {
			return nil // the first move shows which game it is
		}
		squares := 3
		if u.s.o.Game == gomoku.Name || strings.HasPrefix(u.s.o.Rules, gomoku.Name+"/") {
			squares = 1
		}
		if err := u.game.begin(sauRules[squares], sauClock); err != nil {
			return err
		}
		return u.move()
	case sau.Move:
		return u.theirs(l.Squares)
	case sau.Refused:
		return u.retry()
	case sau.End:
		u.reset()
	case sau.Quit:
		u.s.quit()
	}
	return nil
}

// reset ends the game and drops queued lines.
func (u *sauHandler) reset() {
	u.s.abandon()
	u.s.waiting = nil
	u.game.rules, u.refused, u.last = nil, nil, game.NoMove
}

// theirs plays the opponent's move and starts the search for ours.
func (u *sauHandler) theirs(squares string) error {
	if u.game.rules == nil {
		if err := u.game.begin(sauRules[len(squares)/2], sauClock); err != nil {
			return err
		}
	}
	if err := u.game.setUp(); err != nil {
		return err
	}
	move, err := sau.Ours(squares, rows(u.s.pos))
	if err != nil {
		return err
	}
	if _, err := u.s.pos.Parse(move); err != nil {
		return err
	}
	u.game.moves = append(u.game.moves, move)
	u.refused, u.last = nil, game.NoMove
	return u.move()
}

// move starts the search for our move, unless the game is over: the platform knows
// that, too.
func (u *sauHandler) move() error {
	if err := u.game.setUp(); err != nil {
		return err
	}
	if u.s.pos.Outcome().Over() {
		return nil
	}
	var moves []game.Move
	if len(u.refused) > 0 {
		moves = slices.DeleteFunc(u.s.pos.Legal(nil), func(m game.Move) bool { return slices.Contains(u.refused, m) })
		if len(moves) == 0 {
			return errors.New("all moves were refused")
		}
	}
	u.game.think(moves)
	return nil
}

// retry searches for another move after the last was refused.
func (u *sauHandler) retry() error {
	if u.last == game.NoMove {
		return errors.New("error: no own move to take back")
	}
	u.refused = append(u.refused, u.last)
	u.game.moves = u.game.moves[:len(u.game.moves)-1]
	u.last = game.NoMove
	return u.move()
}

func (u *sauHandler) answer(r search.Result, err error) {
	if err == nil && r.Move == game.NoMove {
		err = errors.New("no move was found")
	}
	if err != nil {
		u.sendError(err)
		return
	}
	u.last = r.Move
	squares, err := sau.Squares(u.game.played(r.Move), rows(u.s.pos))
	if err != nil {
		u.sendError(err)
		return
	}
	u.s.say(sau.Line{Word: sau.Move, Squares: squares})
}

// rows returns the number of rows of the board, which are separated by slashes.
func rows(p game.Position) int { return strings.Count(p.String(), "/") + 1 }
