package frontend

import (
	"slices"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/pipe/botzone"
)

// botzoneClock is the platform's second for each move of programs in fast languages, less
// 20 ms for waking the process. A late answer loses the match. The first turn, in which the
// process starts, has two seconds.
var botzoneClock = clock.Spec{Kind: clock.PerMove, Period: 980 * time.Millisecond}

// botzoneHandler speaks with botzone.org.cn. It always asks to be kept running, so
// that its hash table is kept.
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

// finishesAtEOF implements handler. A bot that is not kept running gets one turn,
// then the end of the input.
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
		return b.respond("") // there is no move, but an answer is expected
	}
	b.game.think(b.nonRepeating())
	return nil
}

// nonRepeating returns the moves that do not repeat a position for the third time,
// which the platform refuses in Xiangqi. Nil means all moves, also if there are
// none.
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
