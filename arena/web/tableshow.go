package web

import (
	"encoding/json"
	"runtime"
	"strings"
	"time"

	"sparring/arena/web/message"
	"sparring/protocol"
	"sparring/screen/view"
)

// positionViews are the views of a position as JSON. Watchers get the one without the
// legal moves, which can't be played there: it is much shorter.
type positionViews struct{ players, watchers json.RawMessage }

// encodePosition returns the views of a position, and how many moves were played
// before the last decision of each seat in this game; -1 if it has made none.
func encodePosition(terms protocol.Terms, moves []string) (views positionViews, before [2]int, err error) {
	before = [2]int{-1, -1}
	pos, err := setUp(terms, moves)
	if err != nil {
		return views, before, err
	}
	v, err := view.Of(pos)
	if err != nil {
		return views, before, err
	}
	for n := len(moves) - 1; n >= len(terms.Moves) && min(before[0], before[1]) < 0; n-- {
		pos.Undo()
		before[pos.Turn()] = max(before[pos.Turn()], n)
	}
	if views.players, err = json.Marshal(v); err != nil {
		return views, before, err
	}
	v.Moves, v.Choices, v.Ends = []string{}, nil, nil
	views.watchers, err = json.Marshal(v)
	return views, before, err
}

// show sends the state to all sockets, those of the players first; x.mu is held.
func (x *table) show() {
	x.seen, x.offers = x.watchers(), x.after.open(time.Now())
	made := make(map[string][]byte)
	for _, players := range []bool{true, false} {
		for t := range x.tabs {
			if x.shown.plays(t.ID) == players {
				x.sendTo(t, made)
			}
		}
		runtime.Gosched() // many watchers must not delay the players
	}
}

// showWatchers sends the state again if the number of watchers has changed, or an
// offer to continue has ended.
func (x *table) showWatchers() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.shown != nil && (x.watchers() != x.seen || x.after.open(time.Now()) != x.offers) {
		x.show()
	}
}

// sendTo sends the state to a socket; x.mu is held. Made has the messages that
// other sockets got: those with the same rights share them.
func (x *table) sendTo(t *tab, made map[string][]byte) {
	seat, plays := seatOf(&x.shown.Snapshot, t.ID)
	may := x.may(t)
	kind := strings.Join(may, " ")
	if plays {
		kind = seat.String() + " " + kind
	}
	data := made[kind]
	if data == nil {
		m := x.message()
		if m.May = may; plays {
			m.You, m.View = &seat, x.views.players
		}
		var err error
		if data, err = json.Marshal(m); err != nil {
			x.hub.log.Error().Err(err).Str("game", string(x.id)).Str("of", "state").Msg("message not made")
			return
		}
		if made != nil {
			made[kind] = data
		}
	}
	t.put("state "+string(x.id), data)
}

// message returns the state as a watcher gets it; x.mu is held.
func (x *table) message() stateMessage {
	m := stateMessage{View: x.views.watchers}
	m.State = message.State{
		T: "state", Seq: x.shown.seq, ServerTime: x.shown.at.UTC(), Snapshot: x.shown.Snapshot, Receipt: x.shown.receipt,
		Watchers: x.watchers(), Private: private(x.shown.Snapshot),
	}
	for seat, h := range x.shown.Holders {
		if !h.VacantSince.IsZero() {
			m.Away[seat] = &h.VacantSince
		}
	}
	if x.shown.Status == protocol.Finished {
		m.Next, m.Ratings = x.after.next(), x.ratings
		m.RematchBy, m.TakebackBy = x.after.Rematch.offered(time.Now()), x.after.Takeback.offered(time.Now())
	}
	return m
}

// stateMessage is a State whose view is encoded already.
type stateMessage struct {
	message.State
	View json.RawMessage `json:"view"`
}

// watchers counts the sockets that are not a player's; x.mu is held.
func (x *table) watchers() (n int) {
	for t := range x.tabs {
		if !x.shown.plays(t.ID) {
			n++
		}
	}
	return n
}

// may lists what a page's player may do now; x.mu is held.
func (x *table) may(t *tab) (list []string) {
	u := x.shown
	if t.here == nil {
		return nil
	}
	seat, plays := seatOf(&u.Snapshot, t.ID)
	over := u.Status == protocol.Finished
	if over && len(u.Moves) > 0 {
		list = append(list, "review")
	}
	if !plays {
		return list
	}
	casual := !helpless(u.Terms)
	if !over {
		list = append(list, "resign", "draw")
		if u.Turn == seat && u.Status == protocol.Playing {
			list = append(list, "move")
			if casual {
				list = append(list, "hint")
			}
		}
	} else if started(&u.Snapshot) {
		list = append(list, "rematch")
	}
	if casual && x.before[seat] >= 0 && (!over || endedByRules(u.Snapshot)) {
		list = append(list, "takeback")
	}
	if u.Holders[seat.Other()].Kind == protocol.Human {
		list = append(list, "chat")
	}
	return list
}

// started reports whether there was a game, not only a challenge.
func started(s *protocol.Snapshot) bool { return s.Holders[0].Kind != "" && s.Holders[1].Kind != "" }
