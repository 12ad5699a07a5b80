package livegame

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sparring/game"
	"sparring/protocol"
)

// For any actions of the players at any times, the game's log is consistent, and
// every entry of it restores the game.
func TestAnyEntrySufficesToGoOn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := epoch
		clockText := rapid.SampledFrom([]string{"30", "20+1", "5/2x5", "8/move", "unlimited"}).Draw(rt, "clock")
		tms := terms(t, clockText, rapid.Bool().Draw(rt, "rated"))
		o := Opening{Game: "g1", Terms: tms}
		o.Holders[0] = protocol.Holder{Player: "ann", Kind: protocol.Human, Instance: "a1"}
		o.Holders[1] = protocol.Holder{Player: "bob", Kind: protocol.Bot, Instance: "b1"}
		policy := DefaultPolicy()
		m, e, refused := New(o, policy, now)
		if refused != nil {
			rt.Fatal(refused)
		}
		var seq uint64
		var last *protocol.Event
		store := func(e *protocol.Event) {
			if e == nil {
				return
			}
			seq++
			if e.Index != seq {
				rt.Fatalf("%s has index %d, want %d", e.Kind, e.Index, seq)
			}
			if last != nil && last.Status == protocol.Finished {
				rt.Fatalf("%s after the end", e.Kind)
			}
			if last != nil && e.Kind != protocol.EventTakeback && fmt.Sprint(e.Moves[:min(len(last.Moves), len(e.Moves))]) != fmt.Sprint(last.Moves) {
				rt.Fatalf("%s forks: %v after %v", e.Kind, e.Moves, last.Moves)
			}
			last = e
			m.Commit(seq, now)
			again, _, err := Restore(*e, seq, policy, now)
			if err != nil {
				rt.Fatalf("restore from %s: %v", e.Kind, err)
			}
			got, want := again.Snapshot(now), m.Snapshot(now)
			for seat := range want.Holders { // the takeover is not to anybody's charge
				if got.Holders[seat].VacantSince.IsZero() != want.Holders[seat].VacantSince.IsZero() {
					rt.Fatalf("restored from %s: %+v, want %+v", e.Kind, got.Holders[seat], want.Holders[seat])
				}
				got.Holders[seat].VacantSince = want.Holders[seat].VacantSince
			}
			if got.Key != want.Key || got.Turn != want.Turn || got.Holders != want.Holders || got.Status != want.Status || got.Outcome != want.Outcome ||
				fmt.Sprint(got.Moves) != fmt.Sprint(want.Moves) || got.Clocks.Seats != want.Clocks.Seats || got.Clocks.UsedMS != want.Clocks.UsedMS ||
				(got.DrawBy == nil) != (want.DrawBy == nil) || (got.TakebackBy == nil) != (want.TakebackBy == nil) {
				rt.Fatalf("restored from %s:\n%+v\nwant\n%+v", e.Kind, got, want)
			}
		}
		store(e)
		for i := range rapid.IntRange(1, 40).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond)
			for range 3 { // a clock that starts to run has a new deadline
				store(m.Expire(now))
			}
			seat := game.Seat(rapid.IntRange(0, 1).Draw(rt, "seat"))
			h := m.Holder(seat)
			id := protocol.Header{ID: fmt.Sprintf("r%d", rapid.IntRange(max(i-2, 0), i).Draw(rt, "id"))}
			req := protocol.ActRequest{Header: id, Instance: h.Instance, Epoch: h.Epoch, Ply: m.Ply(),
				Step: rapid.SampledFrom([]protocol.Step{protocol.StepOffer, protocol.StepAccept, protocol.StepDecline}).Draw(rt, "step")}
			var event *protocol.Event
			switch rapid.SampledFrom([]string{"move", "move", "move", "move", "draw", "takeback", "vacate", "seat", "resign", "takeover"}).Draw(rt, "do") {
			case "move":
				legal := m.pos.Legal(nil)
				if len(legal) == 0 {
					continue
				}
				move := m.pos.Format(legal[rapid.IntRange(0, len(legal)-1).Draw(rt, "move")])
				event, _ = m.Move(h.Player, protocol.MoveRequest{Header: id, Instance: h.Instance, Epoch: h.Epoch, Ply: m.Ply(), Move: move,
					LagMS: int64(rapid.IntRange(-5, 3000).Draw(rt, "lag"))}, now, now)
			case "draw":
				event, _ = m.Act(h.Player, protocol.ActDraw, req, now, now)
			case "takeback":
				event, _ = m.Act(h.Player, protocol.ActTakeback, req, now, now)
			case "vacate":
				event = m.Vacate(seat, h.Instance, "test", now)
			case "seat":
				event = m.Seat(seat, h.Epoch, "x9", "", now)
			case "resign":
				if i > 30 {
					req.Step = ""
					event, _ = m.Act(h.Player, protocol.ActResign, req, now, now)
				}
			case "takeover":
				if last.Status == protocol.Finished {
					continue
				}
				next, takeover, err := Restore(*last, seq, policy, now)
				if err != nil {
					rt.Fatal(err)
				}
				m, event = next, takeover
			}
			store(event)
		}
	})
}
