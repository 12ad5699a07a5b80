package arena

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// board is every game of the platform that is not settled, whoever referees
// it, as the logs say: it follows all of them.
type board struct {
	subjects protocol.Subjects
	keep     time.Duration // how long ended games are remembered
	log      zerolog.Logger
	corrupt  func() // told about every game that can't be read

	mu    sync.Mutex
	games map[protocol.GameID]*posting
	seats map[protocol.PlayerID]map[protocol.GameID]bool // the games that a player is in
}

// posting is what is known of one game.
type posting struct {
	last    protocol.Event
	corrupt bool
	ended   time.Time // when its end was seen; zero: it goes on
}

// settled reports whether nothing is left to do for a game with this last
// entry: its record is stored, or it never was one.
func settled(last protocol.Event) bool {
	return last.Kind == protocol.EventRecorded || (last.Kind == protocol.EventEnd && last.Index == 1)
}

func newBoard(subjects protocol.Subjects, keep time.Duration, log zerolog.Logger, corrupt func()) *board {
	return &board{subjects: subjects, keep: keep, log: log, corrupt: corrupt, games: make(map[protocol.GameID]*posting),
		seats: make(map[protocol.PlayerID]map[protocol.GameID]bool)}
}

// follow reads the last entry of every log and then every new one, until ctx
// ends. It returns when it has caught up.
func (b *board) follow(ctx context.Context, stream jetstream.Stream) error {
	info, err := stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("stream %s: %w", stream.CachedInfo().Config.Name, err)
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{b.subjects.Logs()}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	if err != nil {
		return fmt.Errorf("read stream %s: %w", info.Config.Name, err)
	}
	caughtUp := make(chan struct{})
	empty := info.State.Msgs == 0
	read := empty // what was there at the start
	messages, err := consumer.Consume(func(msg jetstream.Msg) {
		meta, err := msg.Metadata()
		if err != nil {
			return
		}
		b.note(msg.Subject(), meta.Sequence.Stream, msg.Data())
		if !read && meta.NumPending == 0 {
			read = true
			close(caughtUp)
		}
	})
	if err != nil {
		return fmt.Errorf("read stream %s: %w", info.Config.Name, err)
	}
	go func() {
		<-ctx.Done()
		messages.Stop()
	}()
	if empty {
		return nil
	}
	select {
	case <-caughtUp:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Minute):
		return fmt.Errorf("read stream %s: its last entry did not come within a minute", info.Config.Name)
	}
}

// note takes in one entry of a log.
func (b *board) note(subject string, seq uint64, data []byte) {
	g, ok := b.subjects.ParseLog(subject)
	if !ok {
		return
	}
	e, err := decodeEvent(b.subjects, subject, seq, data)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.games[g]
	if p == nil {
		p = &posting{}
		b.games[g] = p
	}
	if err != nil {
		if !p.corrupt {
			b.log.Error().Err(err).Str("subject", subject).Uint64("seq", seq).Msg("game left alone: the last entry of its log can't be read")
			b.corrupt()
		}
		p.corrupt = true
		return
	}
	if p.last.Kind == "" {
		b.seat(g, e)
	}
	p.last, p.corrupt = e, false
	if e.Status == protocol.Finished && p.ended.IsZero() {
		p.ended = time.Now()
		if time.Since(e.Time) > b.keep {
			p.ended = e.Time
		}
	}
	if settled(p.last) && time.Since(p.ended) > b.keep {
		b.drop(g) // an old one
	}
}

// seat notes who plays in a game; b.mu is held.
func (b *board) seat(g protocol.GameID, e protocol.Event) {
	for _, h := range e.Holders {
		if b.seats[h.Player] == nil {
			b.seats[h.Player] = make(map[protocol.GameID]bool)
		}
		b.seats[h.Player][g] = true
	}
}

// drop forgets a game; b.mu is held.
func (b *board) drop(g protocol.GameID) {
	for _, h := range b.games[g].last.Holders {
		delete(b.seats[h.Player], g)
		if len(b.seats[h.Player]) == 0 {
			delete(b.seats, h.Player)
		}
	}
	delete(b.games, g)
}

// damaged marks a game whose log can be decoded but not played through.
func (b *board) damaged(g protocol.GameID, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.games[g]; p != nil && !p.corrupt {
		p.corrupt = true
		b.log.Error().Err(err).Str("subject", b.subjects.Log(g)).Msg("game left alone: its log can't be played through")
		b.corrupt()
	}
}

// isCorrupt reports whether the game was left alone because of its log.
func (b *board) isCorrupt(g protocol.GameID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.games[g]
	return p != nil && p.corrupt
}

// last is the last entry of a game that is remembered.
func (b *board) last(g protocol.GameID) (e protocol.Event, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.games[g]
	if p == nil || p.last.Kind == "" {
		return e, false
	}
	return p.last, true
}

// running are the last entries of the games that go on, oldest first.
func (b *board) running() []protocol.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []protocol.Event
	for _, p := range b.games {
		if p.ended.IsZero() && !p.corrupt {
			all = append(all, p.last)
		}
	}
	slices.SortFunc(all, func(x, y protocol.Event) int { return x.Started.Compare(y.Started) })
	return all
}

// unsettled are the games that some referee has to look after.
func (b *board) unsettled() []protocol.GameID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []protocol.GameID
	for g, p := range b.games {
		if !settled(p.last) && !p.corrupt {
			all = append(all, g)
		}
	}
	return all
}

// heldBy are the running games in which an instance holds the player's seat.
func (b *board) heldBy(player protocol.PlayerID, id protocol.InstanceID) []protocol.GameID {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []protocol.GameID
	for g := range b.seats[player] {
		p := b.games[g]
		if !p.ended.IsZero() || p.corrupt {
			continue
		}
		for _, h := range p.last.Holders {
			if h.Player == player && h.Instance == id {
				all = append(all, g)
			}
		}
	}
	slices.Sort(all)
	return all
}

// forget drops settled games that ended long enough ago.
func (b *board) forget(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for g, p := range b.games {
		if settled(p.last) && now.Sub(p.ended) > b.keep {
			b.drop(g)
		}
	}
}
