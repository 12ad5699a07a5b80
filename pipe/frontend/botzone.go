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
type botzoneSpeaker struct {
	s       *session
	decoder botzone.Decoder
	asked   botzone.Turn // to be answered
	match   match
}

func newBotzone(s *session) speaker {
	return &botzoneSpeaker{s: s, decoder: botzone.Decoder{Game: botzone.Game(s.o.Game)}, match: match{s: s}}
}

func (b *botzoneSpeaker) turn(string) turn { return begins }

// patient: in the platform's plain way there is one turn, and then no more
// input.
func (b *botzoneSpeaker) patient() bool { return true }

func (b *botzoneSpeaker) complain(err error) { b.s.sayf("error: %v", err) }

func (b *botzoneSpeaker) report(search.Info) {}

func (b *botzoneSpeaker) obey(line string) {
	turn, ok, err := b.decoder.Line(line)
	if ok {
		err = b.play(turn)
	}
	if err != nil {
		b.complain(err)
	}
}

func (b *botzoneSpeaker) play(turn botzone.Turn) error {
	b.asked = turn
	if turn.Whole || b.match.rules == nil {
		if err := b.match.begin(turn.Game.Rules(), botzoneClock); err != nil {
			return err
		}
	}
	before := b.match.moves
	b.match.moves = append(slices.Clone(before), turn.Moves...)
	if err := b.match.setUp(); err != nil {
		b.match.moves = before
		return err
	}
	if b.s.pos.Outcome().Over() {
		return b.respond("") // asked all the same, so there is no move to give
	}
	b.match.think(b.fresh())
	return nil
}

// fresh are the moves that bring no position for the third time: in Xiangqi the
// platform does not take those. Nil is all moves, and so where there are none.
func (b *botzoneSpeaker) fresh() []game.Move {
	if b.asked.Game != botzone.Xiangqi {
		return nil
	}
	p := b.s.pos.Clone()
	legal := p.Legal(nil)
	moves := slices.DeleteFunc(slices.Clone(legal), func(m game.Move) bool {
		if p.Play(m) != nil {
			return true
		}
		defer p.Undo()
		return b.match.seen[p.Key()] >= 2
	})
	if len(moves) == 0 || len(moves) == len(legal) {
		return nil
	}
	return moves
}

func (b *botzoneSpeaker) answer(r search.Result, err error) {
	if err == nil {
		move := ""
		if r.Move != game.NoMove {
			move = b.match.played(r.Move)
		}
		err = b.respond(move)
	}
	if err != nil {
		b.complain(err)
	}
}

func (b *botzoneSpeaker) respond(move string) error {
	text, err := b.asked.Response(move)
	if err != nil {
		return err
	}
	b.s.sayf("%s", text)
	b.s.sayf("%s", botzone.KeepRunning)
	return nil
}
