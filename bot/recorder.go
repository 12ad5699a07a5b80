package bot

import (
	"sparring/game"
	"sparring/protocol"
)

// recorder keeps what this side knows of a game that nobody else does.
type recorder struct {
	analyses map[int]*Analysis // of own moves, by the plies before
	receipts map[int]*protocol.Receipt
	disputes []disagreement
	seats    []game.Seat // who made each move
}

// disagreement is where our rules and the platform's differ.
type disagreement struct {
	ply int
	err error
}

func newRecorder() *recorder {
	return &recorder{analyses: make(map[int]*Analysis), receipts: make(map[int]*protocol.Receipt)}
}

// see takes in the latest state. Thoughts about moves that were taken back go.
func (r *recorder) see(st protocol.State, seats []game.Seat) {
	r.seats = seats
	if rec := st.Receipt; rec != nil && rec.Ply == len(st.Moves) {
		r.receipts[rec.Ply-1] = rec
	}
}

// thought keeps what was thought of the move after ply plies.
func (r *recorder) thought(ply int, a Analysis) { r.analyses[ply] = &a }

// analysis is what was thought of that move; nil for the opponent's.
func (r *recorder) analysis(ply int) *Analysis { return r.analyses[ply] }

// receipt keeps how the move after ply plies was charged.
func (r *recorder) receipt(ply int, rec *protocol.Receipt) {
	if rec != nil {
		r.receipts[ply] = rec
	}
}

func (r *recorder) dispute(ply int, err error) {
	r.disputes = append(r.disputes, disagreement{ply, err})
}
