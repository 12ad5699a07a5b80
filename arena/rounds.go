package arena

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
	"sparring/protocol"
	"sparring/record"
)

// Round is one round of the ladder: in every game, all bots that were present
// meet each other once.
type Round struct {
	Number   int       `json:"number"` // from 1, never reset
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Pairings []Pairing `json:"pairings"`
}

// Pairing is one game of a round.
type Pairing struct {
	ID      protocol.GameID      `json:"id"`
	Terms   protocol.Terms       `json:"terms"`
	Players [2]protocol.PlayerID `json:"players"` // by seat
	Done    bool                 `json:"done"`
	// Outcome of the game. A reason without a result is why it was not played.
	Outcome game.Outcome `json:"outcome"`
	Plies   int          `json:"plies"`
}

// roundKey is the key of the round in the ladder's bucket. Keys of standings
// have dots.
const roundKey = "round"

// roundLease is held by the arena that pairs the ladder, in rounds or not.
const roundLease = "ladder.rounds"

// OnRound sets a function that is called after each round that this arena played,
// once its games are rated. Call it before Run.
func (a *Arena) OnRound(f func(Round)) { a.onRound = f }

// RoundsDone is closed when as many rounds have been played as the settings ask
// for. Run continues.
func (a *Arena) RoundsDone() <-chan struct{} { return a.roundsDone }

// runLadder pairs the ladder while this arena holds the lease for it, until ctx ends
// or all rounds are done.
func (a *Arena) runLadder(ctx context.Context) {
	played := 0
	for done := false; !done && ctx.Err() == nil; {
		life, lost := context.WithCancelCause(ctx)
		if !a.leases.free(roundLease) || a.leases.take(ctx, roundLease, lost) != nil {
			lost(errLost)
			sleep(ctx, a.cfg.LeaseFor/2)
			continue
		}
		if a.cfg.Ladder.Rounds == 0 {
			a.pairPlayers(life)
		} else if done = a.playRounds(life, &played); done {
			close(a.roundsDone)
		}
		a.leases.release(context.WithoutCancel(ctx), roundLease)
		lost(nil)
	}
}

// playRounds plays rounds until ctx ends or all are played, which it reports. Played
// is how many were.
func (a *Arena) playRounds(ctx context.Context, played *int) (done bool) {
	for ctx.Err() == nil {
		if err := a.playRound(ctx); err != nil {
			if ctx.Err() == nil {
				a.log.Error().Err(err).Msg("ladder round interrupted; trying again")
				sleep(ctx, time.Second)
			}
			continue
		}
		if *played++; *played == a.cfg.Ladder.Rounds {
			return true
		}
		sleep(ctx, a.cfg.Ladder.Pause)
	}
	return false
}

// playRound resumes an interrupted round or starts the next, and plays it to its
// end.
func (a *Arena) playRound(ctx context.Context) error {
	round, revision, err := a.loadRound(ctx)
	if err != nil {
		return err
	}
	if round.Number == 0 || !round.Ended.IsZero() {
		if round, err = a.makeRound(ctx, round.Number+1); err != nil {
			return err
		}
		if revision, err = a.saveRound(ctx, round, revision); err != nil {
			return err
		}
		a.log.Info().Int("round", round.Number).Int("games", len(round.Pairings)).Msg("ladder round starts")
	} else {
		a.log.Info().Int("round", round.Number).Int("games", len(round.Pairings)).Msg("ladder round resumed")
	}
	if err := a.postPairings(ctx, &round); err != nil {
		return err
	}
	if err := a.awaitRound(ctx, &round); err != nil {
		return err
	}
	round.Ended = time.Now().UTC()
	if _, err := a.saveRound(ctx, round, revision); err != nil {
		return err
	}
	a.log.Info().Int("round", round.Number).Msg("ladder round ended")
	if a.onRound != nil {
		a.onRound(round)
	}
	return nil
}

func (a *Arena) loadRound(ctx context.Context) (Round, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	kve, err := a.store.ladder.Get(ctx, roundKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Round{}, 0, nil
	}
	if err != nil {
		return Round{}, 0, fmt.Errorf("bucket %s, key %s: %w", a.store.ladder.Bucket(), roundKey, err)
	}
	var r Round
	if err := json.Unmarshal(kve.Value(), &r); err != nil || r.Number < 1 {
		return Round{}, 0, fmt.Errorf("bucket %s, key %s is corrupt: %w", a.store.ladder.Bucket(), roundKey, errors.Join(err, errCorrupt))
	}
	return r, kve.Revision(), nil
}

func (a *Arena) saveRound(ctx context.Context, r Round, revision uint64) (uint64, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	if revision, err = a.store.ladder.Update(ctx, roundKey, data, revision); err != nil {
		return 0, fmt.Errorf("bucket %s, key %s: %w", a.store.ladder.Bucket(), roundKey, err)
	}
	return revision, nil
}

// makeRound waits until the same bots have been present for a while, and pairs
// them.
func (a *Arena) makeRound(ctx context.Context, number int) (Round, error) {
	var since time.Time
	var was []contest
	warned := false
	for ctx.Err() == nil {
		now := time.Now()
		is := a.contests(now)
		if !slices.EqualFunc(is, was, contest.equal) {
			was, since = is, now
		}
		if len(is) > 0 && now.Sub(since) >= a.cfg.Ladder.StableFor {
			round := Round{Number: number, Started: now.UTC(), Pairings: pair(is, number)}
			if n := len(round.Pairings); n > maxPairings {
				if !warned {
					a.log.Error().Int("games", n).Int("most", maxPairings).
						Msg("too many bots for a round in which all meet; without SPARRING_LADDER_ROUNDS (--rounds) whoever is free is paired")
				}
				warned = true
				sleep(ctx, time.Second)
				continue
			}
			for i := range round.Pairings {
				round.Pairings[i].ID = round.id(&round.Pairings[i])
			}
			return round, nil
		}
		sleep(ctx, 100*time.Millisecond)
	}
	return Round{}, context.Cause(ctx)
}

// maxPairings bounds the games of a round, which is stored as one value.
const maxPairings = 1000

// contest is a game of the ladder with the bots that are present for it.
type contest struct {
	terms protocol.Terms
	bots  []protocol.PlayerID
}

func (c contest) equal(d contest) bool {
	return c.terms.Equal(d.terms) && slices.Equal(c.bots, d.bots)
}

// contests returns the games that have two bots or more.
func (a *Arena) contests(now time.Time) []contest {
	var all []contest
	for _, terms := range a.ladderTerms() {
		if bots := a.presence.bots(terms, now); len(bots) > 1 {
			all = append(all, contest{terms, bots})
		}
	}
	return all
}

// pair makes all bots of a game meet each other once. Their seats alternate from
// round to round.
func pair(all []contest, number int) []Pairing {
	var pairings []Pairing
	for _, c := range all {
		for i := range c.bots {
			for j := i + 1; j < len(c.bots); j++ {
				p := Pairing{Terms: c.terms, Players: [2]protocol.PlayerID{c.bots[i], c.bots[j]}}
				if (number+i+j)%2 == 1 {
					p.Players[0], p.Players[1] = p.Players[1], p.Players[0]
				}
				pairings = append(pairings, p)
			}
		}
	}
	return pairings
}

// id returns the game id of a pairing, the same when the round is resumed.
func (r *Round) id(p *Pairing) protocol.GameID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s %v %s %s", r.Number, r.Started.UnixNano(), p.Terms.Rules, p.Terms.Clock, p.Players[0], p.Players[1]))
	return protocol.GameID(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10])))
}

// postPairings stores the challenges of a round that are still to be played.
func (a *Arena) postPairings(ctx context.Context, r *Round) error {
	for _, p := range r.Pairings {
		if p.Done {
			continue
		}
		if err := a.postPairing(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// postPairing stores the challenge of a pairing that has no log yet, and no record: the log
// may have been removed since the game was played. Posting it twice is harmless, because the
// first entry of the game's log decides.
func (a *Arena) postPairing(ctx context.Context, p Pairing) error {
	if _, err := a.store.lastEntry(ctx, p.ID); !errors.Is(err, ErrNoGame) {
		return err
	}
	if _, err := a.store.storedRecord(ctx, p.Terms.Game, p.ID); !errors.Is(err, ErrNoGame) {
		return err
	}
	now := time.Now().UTC()
	ch := protocol.Challenge{V: protocol.Version, Game: p.ID, Terms: p.Terms, Created: now, Expires: now.Add(protocol.LongestChallenge)}
	for seat, player := range p.Players {
		ch.Seats[seat] = protocol.SeatWanted{Player: player}
	}
	_, err := a.post(ctx, ladderPoolOf(p.Terms), ch)
	return err
}

// awaitRound waits until all pairings have ended and their records are rated. Whenever there is
// a connection again, it stores challenges again: in a power cut the server may have lost some,
// or the logs of games that had just begun.
func (a *Arena) awaitRound(ctx context.Context, r *Round) error {
	w := wanted{make(map[protocol.GameID]bool), make(map[protocol.PlayerID]time.Time), make(map[protocol.GameID]time.Time)}
	again := a.nc.StatusChanged(nats.CONNECTED)
	defer a.nc.RemoveStatusListener(again)
	lost := false
	for open := len(r.Pairings); open > 0; {
		open = 0
		for i := range r.Pairings {
			p := &r.Pairings[i]
			if p.Done {
				continue
			}
			if err := a.lookAt(ctx, p, w); err != nil {
				return err
			}
			if !p.Done {
				open++
			}
		}
		select {
		case <-again:
			lost = true
		default:
		}
		if lost {
			lost = a.postPairings(ctx, r) != nil
		}
		if open > 0 {
			sleep(ctx, 100*time.Millisecond)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	info, err := a.store.records.Info(ctx)
	if err != nil {
		return err
	}
	for !a.ladder.upTo(info.State.LastSeq) && ctx.Err() == nil {
		sleep(ctx, 20*time.Millisecond)
	}
	return context.Cause(ctx)
}

// wanted has the state of a round that waits for its games.
type wanted struct {
	asked  map[protocol.GameID]bool        // games looked up in the store; the index sees those that begin later
	absent map[protocol.PlayerID]time.Time // since when players have been absent
	noShow map[protocol.GameID]time.Time   // since when players who could take their seats have not done so
}

// lookAt checks whether a pairing has ended. One that has not begun is cancelled
// when its players have kept it waiting for too long.
func (a *Arena) lookAt(ctx context.Context, p *Pairing, w wanted) error {
	if a.index.isCorrupt(p.ID) { // already reported
		p.Done, p.Outcome = true, game.Outcome{Reason: protocol.ReasonVoid}
		return nil
	}
	last, known := a.index.last(p.ID)
	if !known && !w.asked[p.ID] {
		var err error
		if last, _, err = a.store.lastEvent(ctx, p.ID); errors.Is(err, ErrNoGame) {
			var rec *record.Record
			if rec, err = a.recordIn(ctx, p.Terms.Game, p.ID); err == nil { // its log has been removed
				p.Done, p.Outcome, p.Plies = true, game.Outcome{Result: rec.Result, Reason: rec.Reason}, len(rec.Plies)
				return nil
			}
		}
		if err != nil && !errors.Is(err, ErrNoGame) {
			return err
		}
		known, w.asked[p.ID] = err == nil, true
	}
	if !known {
		return a.giveUp(ctx, p, w)
	}
	if isFinal(last) {
		p.Done, p.Outcome, p.Plies = true, last.Outcome, len(last.Moves)
	}
	return nil
}

// giveUp cancels a pairing that has not begun if one of its players has been
// absent for too long, or if both could play and do not.
func (a *Arena) giveUp(ctx context.Context, p *Pairing, w wanted) error {
	now := time.Now()
	couldPlay := a.room() > 0
	for _, player := range p.Players {
		if a.presence.takes(player, p.Terms, now) {
			delete(w.absent, player)
			couldPlay = couldPlay && !a.presence.busy(player, protocol.Bot, now)
			continue
		}
		couldPlay = false
		since, ok := w.absent[player]
		if !ok {
			w.absent[player] = now
		}
		if ok && now.Sub(since) >= a.cfg.Ladder.AbsentFor {
			return a.cancel(ctx, p, "a player is absent")
		}
	}
	since, ok := w.noShow[p.ID]
	switch {
	case !couldPlay:
		delete(w.noShow, p.ID)
	case !ok:
		w.noShow[p.ID] = now
	case a.cfg.Ladder.NoShow > 0 && now.Sub(since) >= a.cfg.Ladder.NoShow:
		return a.cancel(ctx, p, "a player did not take its seat")
	}
	return nil
}

// cancel closes a pairing that has not begun.
func (a *Arena) cancel(ctx context.Context, p *Pairing, why string) error {
	ch := protocol.Challenge{Game: p.ID, Terms: p.Terms}
	for seat, name := range p.Players {
		ch.Seats[seat].Player = name
	}
	if err := a.close(ctx, ch, "", protocol.ReasonExpired, why); err != nil && !errors.Is(err, errLost) {
		return err
	}
	return nil
}

// dropRound ends a stored round that is not over: the games that have not begun are
// cancelled.
func (a *Arena) dropRound(ctx context.Context) error {
	round, revision, err := a.loadRound(ctx)
	if err != nil || round.Number == 0 || !round.Ended.IsZero() {
		return err
	}
	for i := range round.Pairings {
		if err := a.cancel(ctx, &round.Pairings[i], "the ladder is no longer played in rounds"); err != nil {
			return err
		}
	}
	round.Ended = time.Now().UTC()
	_, err = a.saveRound(ctx, round, revision)
	return err
}
