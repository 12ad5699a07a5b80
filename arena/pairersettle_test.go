package arena

import (
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// A pairing that no arena has decided on in time is off, and its players go on waiting as if
// they had never been paired; one that may not have been stored is stored again.
func TestPairingsAreSettled(t *testing.T) {
	t.Parallel()
	a := prepareArena(t, arenatest.StartServer(t, ""), pairingConfig()) // it decides on nothing
	ctx := gametest.Context(t)
	if err := a.leases.take(ctx, roundLease, func(error) {}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	waited := [2]time.Time{now.Add(-3 * time.Minute), now.Add(-2 * time.Minute)}
	p := &pairer{a: a.Arena, posted: make(map[protocol.GameID]*postedPairing), known: make(map[protocol.PlayerID]*contender)}
	post := func(g protocol.GameID, expires time.Time) {
		w := &postedPairing{ch: protocol.Challenge{V: protocol.Version, Game: g, Terms: small(t, "60"), Pairing: true, Created: now, Expires: expires}, since: waited}
		for seat := range w.ch.Seats {
			w.ch.Seats[seat].Player = protocol.PlayerID(string(g) + []string{"-x", "-y"}[seat])
		}
		p.posted[g] = w
	}
	post("waits", now.Add(time.Minute))
	post("undecided", now.Add(-time.Second))
	post("begun", now.Add(-time.Second)) // the index of this arena does not know
	begun(t, a.store, "begun", small(t, "60"), 0)
	if err := p.settle(ctx, now); err != nil {
		t.Fatal(err)
	}
	if len(p.posted) != 1 || p.posted["waits"] == nil || !p.posted["waits"].stored {
		t.Errorf("pairings that wait: %+v", p.posted)
	}
	if ch, _, err := a.store.storedChallenge(ctx, "waits"); err != nil || !ch.Pairing {
		t.Errorf("in the queue: %+v, %v", ch, err)
	}
	last, _, err := a.store.lastEvent(ctx, "undecided")
	if err != nil || last.Outcome != (game.Outcome{Reason: protocol.ReasonExpired}) || last.Seat != nil {
		t.Errorf("the log of the pairing that nobody decided on: %+v, %v", last, err)
	}
	entry, err := a.store.lastEntry(ctx, "undecided")
	if err != nil {
		t.Fatal(err)
	}
	if got := entry.Header.Get(jetstream.MsgTTLHeader); got != closedPairingFor.String() {
		t.Errorf("that log is kept for %q, want %v", got, closedPairingFor)
	}
	for _, g := range []string{"undecided", "begun"} {
		for seat, id := range []protocol.PlayerID{protocol.PlayerID(g + "-x"), protocol.PlayerID(g + "-y")} {
			c := p.contender(id)
			if goesOn := g == "undecided"; c.since.Equal(waited[seat]) != goesOn || c.missed != 0 {
				t.Errorf("%s is free since %v and has missed %d pairings", id, c.since, c.missed)
			}
		}
	}
	for outcome, want := range map[string]float64{"off": 1, "game": 1} {
		if n := counterValue(t, a.Arena, "sparring_arena_pairings_total", outcome); n != want {
			t.Errorf("%v pairings counted as %s, want %v", n, outcome, want)
		}
	}
}

// An arena that takes over the pairing knows the pairings that wait, but not the challenges
// of players.
func TestPairingsAreTakenUp(t *testing.T) {
	t.Parallel()
	a := prepareArena(t, arenatest.StartServer(t, ""), pairingConfig())
	for g, pairing := range map[protocol.GameID]bool{"g1": true, "g2": false, "g3": true} {
		ch := protocol.Challenge{V: protocol.Version, Game: g, Terms: small(t, "60"), Pairing: pairing, Created: time.Now(), Expires: time.Now().Add(time.Minute)}
		ch.Seats[0].Player, ch.Seats[1].Player = "ann", "bob"
		if _, err := a.post(t.Context(), ladderPoolOf(ch.Terms), ch); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.store.js.Publish(t.Context(), a.store.subjects.Challenge("bad", "ladder.amazons"), []byte("not JSON")); err != nil {
		t.Fatal(err)
	}
	p := &pairer{a: a.Arena}
	if err := p.takeUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(p.posted) != 2 || p.posted["g1"] == nil || p.posted["g3"] == nil || !p.posted["g1"].stored || p.posted["g1"].ch.Seats[1].Player != "bob" {
		t.Errorf("pairings that wait: %+v", p.posted)
	}
}

// A player whose answer to a pairing may have been lost is not charged with it; one that had
// all the time to answer is. A pairing that expires while its seats are being taken is off,
// too, since its players may be in the next one.
func TestPairingsOfASlowPlatform(t *testing.T) {
	t.Parallel()
	second := game.Second
	for name, test := range map[string]struct {
		outages bool
		expires time.Duration
		answers time.Duration // when the second player accepts; 0: never
		charged *game.Seat
	}{
		"answers may be lost": {outages: true, expires: patience},
		"no answer":           {expires: patience, charged: &second},
		"late":                {expires: time.Second, answers: 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartServer(t, "", "ann", "bob")
			cfg := steady()
			if cfg.OfferFor = 100 * time.Millisecond; test.answers > 0 {
				cfg.OfferFor, cfg.HoldFor = patience, 2*patience
			}
			a := runArena(t, srv, cfg)
			join(t, srv, "ann", "a1")
			join(t, srv, "bob", "b1", func(p *player) {
				accept := p.answer
				p.answer = func(o protocol.Offer) protocol.OfferAnswer {
					if test.answers == 0 {
						<-t.Context().Done()
					}
					time.Sleep(test.answers)
					return accept(o)
				}
			})
			if test.outages {
				stop := make(chan struct{})
				ended := make(chan struct{})
				t.Cleanup(func() { close(stop); <-ended })
				go func() {
					defer close(ended)
					for {
						select {
						case <-stop:
							return
						case <-time.After(10 * time.Millisecond):
							now := time.Now()
							a.reach.missed(now.Add(-longOutage), now)
						}
					}
				}()
			}
			ch := protocol.Challenge{V: protocol.Version, Game: "g", Terms: small(t, "60"), Pairing: true, Created: time.Now(), Expires: time.Now().Add(test.expires)}
			ch.Seats[game.First].Player, ch.Seats[game.Second].Player = "ann", "bob"
			if _, err := a.post(t.Context(), ladderPoolOf(ch.Terms), ch); err != nil {
				t.Fatal(err)
			}
			e := fate(t, a, ch.Game)
			if e.Kind != protocol.EventEnd || e.Outcome != (game.Outcome{Reason: protocol.ReasonExpired}) || !reflect.DeepEqual(e.Seat, test.charged) {
				t.Errorf("%s %+v by seat %v, want it expired by seat %v", e.Kind, e.Outcome, e.Seat, test.charged)
			}
		})
	}
}
