package frontend

import (
	"slices"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/pipe/botzone"
)

// botzoneClock is what the platform gives to programs in fast languages, a
// second for each move, less what starting and the way there take.
var botzoneClock = clock.Spec{Kind: clock.PerMove, Period: 900 * time.Millisecond}

// botzoneSpeaker speaks with botzone.org.cn. It always asks to be kept running:
// what was learnt is not lost then. A platform that can't just ends it.
type botzoneHandler struct {
	s       *session
	decoder botzone.Decoder
	request botzone.Turn // to be answered
	game    platformGame
}

func newBotzone(s *session) handler {
	return &botzoneHandler{s: s, decoder: botzone.Decoder{Game: botzone.Game(s.o.Game)}, game: platformGame{s: s}}
}

func (b *botzoneHandler) schedule(string) schedule { return startsSearch }

// patient: in the platform's plain way there is one turn, and then no more
// input.
func (b *botzoneHandler) finishesAtEOF() bool { return true }

func (b *botzoneHandler) sendError(err error) { b.s.sayf("error: %v", err) }

func (b *botzoneHandler) report(search.Info) {}

func (b *botzoneHandler) handle(line string) {
	turn, ok, err := b.decoder.Line(line)
	if ok {
		err = b.play(turn)
	}
	if err != nil {
		b.sendError(err)
	}
}

func (b *botzoneHandler) play(turn botzone.Turn) error {
	b.request = turn
	if turn.Whole || b.game.rules == nil {
		if err := b.game.begin(turn.Game.Rules(), botzoneClock); err != nil {
			return err
		}
	}
	before := b.game.moves
	b.game.moves = append(slices.Clone(before), turn.Moves...)
	if err := b.game.setUp(); err != nil {
		b.game.moves = before
		return err
	}
	if b.s.pos.Outcome().Over() {
		return b.respond("") // asked all the same, so there is no move to give
	}
	b.game.think(b.nonRepeating())
	return nil
}

// fresh are the moves that bring no position for the third time: in Xiangqi the
// platform does not take those. Nil is all moves, and so where there are none.
func (b *botzoneHandler) nonRepeating() []game.Move {
	if b.request.Game != botzone.Xiangqi {
		return nil
	}
	p := b.s.pos.Clone()
	legal := p.Legal(nil)
	moves := slices.DeleteFunc(slices.Clone(legal), func(m game.Move) bool {
		if p.Play(m) != nil {
			return true
		}
		defer p.Undo()
		return b.game.seen[p.Key()] >= 2
	})
	if len(moves) == 0 || len(moves) == len(legal) {
		return nil
	}
	return moves
}

func (b *botzoneHandler) answer(r search.Result, err error) {
	if err == nil {
		move := ""
		if r.Move != game.NoMove {
			move = b.game.played(r.Move)
		}
		err = b.respond(move)
	}
	if err != nil {
		b.sendError(err)
	}
}

func (b *botzoneHandler) respond(move string) error {
	text, err := b.request.Response(move)
	if err != nil {
		return err
	}
	b.s.sayf("%s", text)
	b.s.sayf("%s", botzone.KeepRunning)
	return nil
}
