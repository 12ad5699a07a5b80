package scripted

import (
	"slices"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// check compares a state with the one before it and with the rules; p.mu is held. What
// no state of a correct platform can be is a fault.
func (p *Player) check(s *Seat, st protocol.State) {
	g := st.Game
	pos, err := Position(st.Snapshot)
	if err != nil {
		p.fault("%v", err)
		return
	}
	if key := game.KeyText(pos.Key()); st.Key != key && st.Outcome.Reason != protocol.ReasonDispute {
		p.fault("game %s after %d plies: key %s, by the rules it is %s", g, len(st.Moves), st.Key, key)
	}
	if st.Status == protocol.Playing && st.Turn != pos.Turn() {
		p.fault("game %s after %d plies: %s to act, by the rules it is %s", g, len(st.Moves), st.Turn, pos.Turn())
	}
	if st.Holders[st.You].Player != p.cfg.Player {
		p.fault("game %s: the state for %s says that the seat is that of %s", g, p.cfg.Player, st.Holders[st.You].Player)
	}
	if (st.Status == protocol.Finished) != (st.Outcome != game.Outcome{}) {
		p.fault("game %s is %s with the outcome %s by %q", g, st.Status, st.Outcome.Result, st.Outcome.Reason)
	}
	old := s.State
	if old.Seq == 0 {
		return
	}
	for i, h := range st.Holders {
		switch before := old.Holders[i]; {
		case h.Player != before.Player:
			p.fault("game %s: seat %s went from player %s to %s", g, game.Seat(i), before.Player, h.Player)
		case h.Epoch < before.Epoch:
			p.fault("game %s: seat %s went back from epoch %d to %d", g, game.Seat(i), before.Epoch, h.Epoch)
		case h.Epoch == before.Epoch && before.Instance != "" && h.Instance != before.Instance && h.Instance != "":
			p.fault("game %s: seat %s is held by %s and by %s in epoch %d", g, game.Seat(i), before.Instance, h.Instance, h.Epoch)
		}
	}
	if n := min(len(old.Moves), len(st.Moves)); !slices.Equal(old.Moves[:n], st.Moves[:n]) {
		p.fault("game %s: the first %d moves are not those of the state before", g, n)
	}
	if len(st.Moves) < len(old.Moves) && old.TakebackBy == nil && st.Terms.Rated {
		p.fault("game %s: went back from %d plies to %d", g, len(old.Moves), len(st.Moves))
	}
	p.checkReceipt(s, old, st)
}

// checkReceipt checks that what a move was charged is what its clock has lost since the
// seat's receipt before.
func (p *Player) checkReceipt(s *Seat, old, st protocol.State) {
	r, spec := st.Receipt, st.Terms.Clock
	if r == nil || r.Ply != len(st.Moves) || r.Ply == s.receiptPly {
		return
	}
	if r.Ply != s.receiptPly+1 { // missed some, or moves were taken back
		s.left = [2]int64{}
	}
	seat := old.Turn
	if r.ChargedMS < 0 || r.LagMS < 0 {
		p.fault("game %s ply %d: %d ms charged, %d credited", st.Game, r.Ply, r.ChargedMS, r.LagMS)
	}
	if len(st.Moves) == len(old.Moves)+1 && (spec.Kind == clock.Fischer || spec.Kind == clock.SuddenDeath) {
		want := s.left[seat] - r.ChargedMS + spec.Increment.Milliseconds()
		if s.left[seat] > 0 && (r.LeftMS < want-roundMS || r.LeftMS > want+roundMS) {
			p.fault("game %s ply %d: %d ms were left and %d are charged, but %d are left now", st.Game, r.Ply, s.left[seat], r.ChargedMS, r.LeftMS)
		}
		s.left[seat] = r.LeftMS
	}
	s.receiptPly = r.Ply
}

// roundMS is the error of rounding to milliseconds.
const roundMS = 2
