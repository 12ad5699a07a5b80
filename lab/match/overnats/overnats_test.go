package overnats

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/record"
)

// stage is a platform on a real server. It reads the challenges and writes logs
// and records as an arena does, with results chosen by the test.
type stage struct {
	t        *testing.T
	js       jetstream.JetStream
	subjects protocol.Subjects

	mu     sync.Mutex
	posted []protocol.Challenge
}

// challenges returns the challenges posted so far.
func (s *stage) challenges() []protocol.Challenge {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posted)
}

// newStage starts the server. Decide returns the outcome and the moves of the n-th
// challenge, counted from 0.
func newStage(t *testing.T, decide func(n int, ch protocol.Challenge) (game.Outcome, []string)) *stage {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	nc, err := protocol.Connect(srv.Platform())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, js: js, subjects: subjects}
	for name, subject := range map[string]string{"challenges": subjects.Challenges(), "games": subjects.Logs(), "records": subjects.Records()} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}, AllowDirect: true}); err != nil {
			t.Fatal(err)
		}
	}
	consumer, err := js.OrderedConsumer(t.Context(), "challenges", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := consumer.Consume(func(msg jetstream.Msg) {
		var ch protocol.Challenge
		if err := json.Unmarshal(msg.Data(), &ch); err != nil {
			t.Errorf("%v in %s", err, msg.Data())
			return
		}
		out, moves := decide(len(s.challenges()), ch)
		s.mu.Lock()
		s.posted = append(s.posted, ch)
		s.mu.Unlock()
		s.end(ch, out, moves)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Stop(); <-run.Closed() })
	return s
}

// end writes the log and record of a finished game.
func (s *stage) end(ch protocol.Challenge, out game.Outcome, moves []string) {
	e := protocol.Event{V: protocol.Version, Kind: protocol.EventRecorded, Index: 5, Snapshot: protocol.Snapshot{Game: ch.Game, Terms: ch.Terms, Moves: moves, Outcome: out}}
	switch out.Reason {
	case protocol.ReasonDeclined, protocol.ReasonExpired:
		e.Kind, e.Index = protocol.EventEnd, 1 // aborted before the first move
	default:
		rec := &record.Record{V: record.Version, ID: string(ch.Game), Game: ch.Terms.Game, Rules: ch.Terms.Rules, Position: ch.Terms.Position, Clock: ch.Terms.Clock,
			Result: out.Result, Reason: out.Reason, Source: record.Source{By: record.ByArena}}
		for i, m := range moves {
			rec.Plies = append(rec.Plies, record.Ply{Seat: game.Seat(i % 2), Move: m, UsedMS: 10})
		}
		for seat, w := range ch.Seats {
			rec.Seats[seat].Player = string(w.Player)
		}
		b, err := record.Encode(rec)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.publish(s.subjects.Record(ch.Terms.Game, ch.Game), b)
	}
	b, err := json.Marshal(e)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.publish(s.subjects.Log(ch.Game), b)
}

func (s *stage) publish(subject string, b []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), gametest.Patience)
	defer cancel()
	if _, err := s.js.Publish(ctx, subject, b); err != nil {
		s.t.Error(err)
	}
}

// plan returns a match of one pair.
func (s *stage) plan(players ...string) match.Plan {
	return match.Plan{
		Terms: match.Terms{V: match.FileVersion, ID: match.NewID(), Game: "amazons", Rules: "amazons/6x6", Players: players, Kind: match.RoundRobin,
			Limit: match.Limit{Clock: clock.Spec{Kind: clock.Fischer, Initial: time.Minute}}, Openings: "none", PatienceMS: 1, HashMB: 1, Threads: 1, Over: "nats"},
		Games: 2, Openings: openings.Start{}, Concurrency: 1, Backend: New(s.js, s.subjects, 0),
	}
}

// TestEndsOfGames: each outcome on the platform becomes a result or a fault.
func TestEndsOfGames(t *testing.T) {
	lost := game.Outcome{Result: game.SecondWins} // by the first seat
	for name, c := range map[string]struct {
		out    game.Outcome
		moves  []string
		fault  engine.FaultKind
		seat   game.Seat
		result game.Result
	}{
		"played":            {out: game.Outcome{Result: game.FirstWins, Reason: game.NoMoves}, moves: []string{"a2a3/a4"}, result: game.FirstWins},
		"drawn":             {out: game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}, result: game.Draw},
		"flag":              {out: game.Outcome{Result: lost.Result, Reason: protocol.ReasonTime}, fault: engine.FaultTime, result: lost.Result},
		"vanished":          {out: game.Outcome{Result: lost.Result, Reason: protocol.ReasonAbandoned}, fault: engine.FaultDisconnect, result: lost.Result},
		"both vanished":     {out: game.Outcome{Result: game.Draw, Reason: protocol.ReasonAbandoned}, result: game.Draw},
		"first never came":  {out: game.Outcome{Reason: protocol.ReasonNoStart}, fault: engine.FaultDisconnect, result: game.SecondWins},
		"second never came": {out: game.Outcome{Reason: protocol.ReasonNoStart}, moves: []string{"a2a3/a4"}, fault: engine.FaultDisconnect, seat: game.Second, result: game.FirstWins},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, func(int, protocol.Challenge) (game.Outcome, []string) { return c.out, c.moves })
			p := s.plan("a", "pool:team.x")
			n := 0
			p.Watch = func(_ *match.Standing, g *match.Game) {
				n++
				f := g.Match.Fault
				if g.Result != c.result || (f != nil) != (c.fault != "") || f != nil && (f.Kind != c.fault || f.Seat != c.seat || f.Text == "") {
					t.Errorf("%s: %s, fault %+v", g.ID, g.Result, f)
				}
				if g.Match.Sides[0].Moves != len(c.moves) || g.Match.Sides[0].TimeUS != 10_000*int64(len(c.moves)) || g.Event != match.Event {
					t.Errorf("%s: %+v", g.ID, g.Match)
				}
			}
			standing, err := match.Run(t.Context(), p)
			if err != nil || n != 2 {
				t.Fatalf("%d games, %v", n, err)
			}
			var report strings.Builder
			if err := standing.Write(&report, nil); err != nil || strings.Contains(report.String(), "overshoots") || strings.Contains(report.String(), "nodes") {
				t.Errorf("%v; it has figures that no player reported:\n%s", err, &report)
			}
			posted := s.challenges()
			one, two := posted[0], posted[1]
			if one.Seats[0].Player != "a" || one.Seats[1].Pool != "team.x" || two.Seats[1].Player != "a" || one.Terms.Rated || !one.Expires.After(one.Created) {
				t.Errorf("posted %+v and %+v", one, two)
			}
		})
	}
}

// TestGamesWithoutResult: a void game is played again a few times, a declined or
// expired one is not. Games that an earlier run could not play are posted again.
func TestGamesWithoutResult(t *testing.T) {
	void, fine := game.Outcome{Reason: protocol.ReasonDispute}, game.Outcome{Result: game.Draw, Reason: game.Repetition}
	s := newStage(t, func(n int, _ protocol.Challenge) (game.Outcome, []string) {
		if n < 2 {
			return void, nil
		}
		return fine, nil
	})
	p := s.plan("a", "b")
	if st, err := match.Run(t.Context(), p); err != nil || st.Games != 2 || len(s.challenges()) != 4 {
		t.Errorf("%v, %d challenges", err, len(s.challenges()))
	}
	if id := string(s.challenges()[2].Game); id != p.Terms.ID+"-1-1-3" {
		t.Errorf("the third try is %s", id)
	}
	s = newStage(t, func(int, protocol.Challenge) (game.Outcome, []string) { return void, nil })
	if _, err := match.Run(t.Context(), s.plan("a", "b")); err == nil || !strings.Contains(err.Error(), "no result: dispute") || len(s.challenges()) != attempts {
		t.Errorf("%v after %d challenges", err, len(s.challenges()))
	}
	s = newStage(t, func(n int, _ protocol.Challenge) (game.Outcome, []string) {
		if n == 0 {
			return game.Outcome{Reason: protocol.ReasonDeclined}, nil
		}
		return fine, nil
	})
	p = s.plan("a", "b")
	if _, err := match.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), ErrRefused.Error()) || len(s.challenges()) != 1 {
		t.Errorf("%v after %d challenges", err, len(s.challenges()))
	}
	if st, err := match.Run(t.Context(), p); err != nil || st.Games != 2 || len(s.challenges()) != 3 {
		t.Errorf("%v, %d challenges", err, len(s.challenges()))
	}
}

func TestTermsOverNATS(t *testing.T) {
	good := match.Terms{Players: []string{"a-1", "pool:x.y"}, Limit: match.Limit{Clock: clock.Spec{Kind: clock.PerMove, Period: time.Second}}}
	if err := Check(&good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*match.Terms){
		"player":  func(t *match.Terms) { t.Players = []string{"a", "uci:x"} },
		"pool":    func(t *match.Terms) { t.Players = []string{"a", "pool:"} },
		"nodes":   func(t *match.Terms) { t.Limit = match.Limit{Nodes: 5} },
		"resign":  func(t *match.Terms) { t.Resign = &match.Resign{} },
		"maximum": func(t *match.Terms) { t.MaxPlies = 5 },
	} {
		bad := good
		change(&bad)
		if err := Check(&bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
