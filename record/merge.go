package record

import (
	"fmt"
	"slices"

	"sparring/game"
)

// Merge joins the records of one game: the arena's, with what was played, and the
// players', with what their engines thought at each ply. Without an arena's
// record the longest is used instead. A player's plies are joined up to the
// first move that differs from the game's; a dispute notes the difference. The
// records given are not changed.
func Merge(records ...*Record) (*Record, error) {
	if len(records) == 0 {
		return nil, fmt.Errorf("%w: nothing to merge", ErrInvalid)
	}
	base := records[0]
	for _, r := range records[1:] {
		if r.ID != base.ID {
			return nil, fmt.Errorf("%w: records of games %.40q and %.40q do not merge", ErrInvalid, base.ID, r.ID)
		}
		if better(r, base) {
			base = r
		}
	}
	m := *base
	m.Plies = slices.Clone(base.Plies)
	m.Disputes = slices.Clone(base.Disputes)
	for _, r := range records {
		if r != base {
			m.join(r)
		}
	}
	return &m, nil
}

// better reports whether r is the more authoritative record.
func better(r, than *Record) bool {
	if a, b := r.Source.By == ByArena, than.Source.By == ByArena; a != b {
		return a
	}
	if a, b := r.Result != game.Undecided, than.Result != game.Undecided; a != b {
		return a // the other gave the seat up
	}
	return len(r.Plies) > len(than.Plies)
}

// join adds to the plies the data of r that the record lacks.
func (m *Record) join(r *Record) {
	if r.Source.Seat != nil && *r.Source.Seat <= game.Second {
		s := &m.Seats[*r.Source.Seat]
		if s.Build == "" {
			s.Build = r.Source.Build
		}
		if s.Settings == nil {
			s.Settings = r.Source.Settings
		}
	}
	for i := range min(len(m.Plies), len(r.Plies)) {
		to, from := &m.Plies[i], &r.Plies[i]
		if to.Move != from.Move || to.Seat != from.Seat {
			m.Disputes = append(m.Disputes, Dispute{
				Ply: i, Seat: r.Source.Seat, Claimed: from.Key, Ruled: to.Key,
				Text: fmt.Sprintf("the record of %s has %s for move %d", r.Source.who(), from.Move, i+1),
			})
			return
		}
		if to.Think == nil {
			to.Think = from.Think
		}
		if to.UsedMS == 0 && to.LeftMS == 0 {
			to.UsedMS, to.LeftMS, to.Periods = from.UsedMS, from.LeftMS, from.Periods
		}
		if to.Receipt == nil {
			to.Receipt = from.Receipt
		}
		if to.Key == "" {
			to.Key = from.Key
		}
	}
}

// who names the writer for people.
func (s Source) who() string {
	if s.Player != "" {
		return "player " + s.Player
	}
	return s.By
}
