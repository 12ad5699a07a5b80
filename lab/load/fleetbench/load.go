package fleetbench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// load keeps a number of games running: it posts them as challenges between players of
// the bot processes, and another one whenever the record of one comes.
type load struct {
	s       *session
	js      jetstream.JetStream
	players []protocol.PlayerID
	sub     *nats.Subscription
	posted  int // games; only run changes it
	more    chan struct{}

	mu    sync.Mutex
	count tally
	err   error
}

// tally counts the games that have ended.
type tally struct {
	ended  int
	faults map[game.Reason]int // of those that did not end by their own moves
}

// expire is how long a game waits for its players.
const expire = 2 * time.Minute

func newLoad(s *session, players []protocol.PlayerID) (*load, error) {
	js, err := jetstream.New(s.platform)
	if err != nil {
		return nil, err
	}
	l := &load{s: s, js: js, players: players, more: make(chan struct{}, s.games), count: tally{faults: make(map[game.Reason]int)}}
	// What is published to a stream comes to subscribers as well.
	l.sub, err = s.platform.Subscribe(s.subjects.Records(), l.ended)
	return l, err
}

func (l *load) close() { l.sub.Unsubscribe() }

// run posts n games, at most perSecond of them a second, and then one for each that
// ends, until ctx ends.
func (l *load) run(ctx context.Context, n, perSecond int) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for {
		if l.posted >= n {
			select {
			case <-l.more:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := l.post(ctx); err != nil && ctx.Err() == nil {
			l.mu.Lock()
			l.err = fmt.Errorf("game not posted: %w", err)
			l.mu.Unlock()
			return
		}
	}
}

// post posts a game between the next two players.
func (l *load) post(ctx context.Context) error {
	i := l.posted
	l.posted++
	id := protocol.GameID(fmt.Sprintf("bench-%d-%d", l.s.games, i))
	ch, err := challengeOf(id, l.s.plan.Rules[i%len(l.s.plan.Rules)], l.s.plan.Clock, l.players, i)
	if err != nil {
		return err
	}
	return postChallenge(ctx, l.js, l.s.subjects, ch)
}

// challengeOf returns the i-th game, between two players in turn.
func challengeOf(id protocol.GameID, rulesName string, c clock.Spec, players []protocol.PlayerID, i int) (protocol.Challenge, error) {
	rules, err := catalog.Rules(rulesName)
	if err != nil {
		return protocol.Challenge{}, err
	}
	now := time.Now().UTC()
	ch := protocol.Challenge{
		V: protocol.Version, Game: id, Created: now, Expires: now.Add(expire),
		Terms: protocol.Terms{Game: rules.Game, Rules: rules.Name, Clock: c},
	}
	for seat := range ch.Seats {
		ch.Seats[seat].Player = players[(2*i+seat)%len(players)]
	}
	return ch, nil
}

// postChallenge stores a challenge. What is posted twice is stored once.
func postChallenge(ctx context.Context, js jetstream.JetStream, subjects protocol.Subjects, ch protocol.Challenge) error {
	data, err := json.Marshal(ch)
	if err != nil {
		return err
	}
	_, err = js.Publish(ctx, subjects.Challenge(ch.Game, "match.bench"), data, jetstream.WithMsgID(string(ch.Game)))
	return err
}

// ended counts the record of a game.
func (l *load) ended(m *nats.Msg) {
	rec, err := record.Decode(m.Data)
	if err != nil {
		return // the arena wrote it, and its tests say that it can be read
	}
	if rec.Seats[game.First].Player == string(mover) || rec.Seats[game.Second].Player == string(mover) {
		return
	}
	l.mu.Lock()
	l.count.ended++
	switch rec.Reason {
	case protocol.ReasonTime, protocol.ReasonAbandoned, protocol.ReasonNoStart, protocol.ReasonDispute, protocol.ReasonVoid:
		l.count.faults[rec.Reason]++
	}
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default: // as many as there are games wait already
	}
}

// tally returns how many games have ended so far.
func (l *load) tally() tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tally{l.count.ended, maps.Clone(l.count.faults)}
}

// failure returns why no more games are posted; nil if they are.
func (l *load) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
