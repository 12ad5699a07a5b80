package play

import (
	"errors"
	"hash/fnv"
	"strings"
	"time"

	"sparring/game"
	"sparring/protocol"
	"sparring/record"
)

// recorder keeps what this side knows of a game.
type recorder struct {
	plies    []ply             // the moves, as our rules played them
	analyses map[int]*Analysis // of own moves, by the plies before them
	receipts map[int]*protocol.Receipt
	disputes []record.Dispute
	text     string // about the end, for people
}

// ply is a move that was played.
type ply struct {
	move string
	seat game.Seat
	key  string // of the position after it
}

func newRecorder() *recorder {
	return &recorder{analyses: make(map[int]*Analysis), receipts: make(map[int]*protocol.Receipt)}
}

// add takes in the next move.
func (r *recorder) add(p ply) { r.plies = append(r.plies, p) }

// back forgets all but the first n moves, and what was thought of the others.
func (r *recorder) back(n int) {
	for i := n; i < len(r.plies); i++ {
		delete(r.analyses, i)
		delete(r.receipts, i)
	}
	r.plies = r.plies[:n]
}

// thought keeps what was thought of the move after n plies.
func (r *recorder) thought(n int, a Analysis) { r.analyses[n] = &a }

// analysis is what was thought of that move; nil for the opponent's.
func (r *recorder) analysis(n int) *Analysis { return r.analyses[n] }

// receipt keeps how the move after n plies was charged.
func (r *recorder) receipt(n int, rec *protocol.Receipt) {
	if rec != nil {
		r.receipts[n] = rec
	}
}

func (r *recorder) dispute(d record.Dispute) { r.disputes = append(r.disputes, d) }

// mostNote bounds what is noted of the end, in bytes.
const mostNote = 1000

// note keeps why the game ended, where nobody else knows.
func (r *recorder) note(text string) {
	r.text = strings.ToValidUTF8(text[:min(len(text), mostNote)], "")
}

// document is the record of the game as it stands.
func (s *Session) document() *record.Record {
	st, settings := s.st, s.player.Settings
	doc := &record.Record{
		ID: string(s.id), Game: st.Terms.Game, Rules: st.Terms.Rules, Position: st.Terms.Position,
		Clock: st.Terms.Clock, Rated: st.Terms.Rated, Pool: string(st.Pool), Start: st.Started,
		Source: record.Source{
			By: record.ByPlayer, Player: string(s.player.ID), Seat: &st.You,
			Instance: string(settings.Instance), Build: settings.Build, Seed: s.seed(),
			Settings: &record.Settings{
				Nodes: settings.Nodes, HashMB: settings.HashMB, Threads: settings.Threads, Ponder: settings.Ponder,
			},
		},
		Disputes: s.record.disputes,
	}
	for i, h := range st.Holders {
		doc.Seats[i] = record.Seat{Player: string(h.Player), Display: h.Display, Kind: record.Kind(h.Kind), Build: h.Build}
	}
	doc.Text = s.record.text
	if st.Status == protocol.Finished {
		doc.End, doc.Result, doc.Reason = s.came, st.Outcome.Result, st.Outcome.Reason
	} else if doc.Text == "" {
		doc.Text = "the seat was given up"
	}
	for i, p := range s.record.plies {
		out := record.Ply{Seat: p.seat, Move: p.move, Key: p.key}
		if rec := s.record.receipts[i]; rec != nil {
			out.LeftMS, out.Periods = rec.LeftMS, rec.Periods
			out.UsedMS = rec.ChargedMS
			out.Receipt = &record.Receipt{
				Received: rec.Received, LagMS: rec.LagMS, ChargedMS: rec.ChargedMS,
				LeftMS: rec.LeftMS, Periods: rec.Periods, WaitedMS: rec.WaitedMS,
			}
		}
		if a := s.record.analyses[i]; a != nil {
			out.Think, out.UsedMS = a.think(), a.Spent.Milliseconds()
		}
		doc.Plies = append(doc.Plies, out)
	}
	return doc
}

// think is an analysis as a record has it.
func (a *Analysis) think() *record.Think {
	return &record.Think{
		Source: a.source(), Depth: a.Depth, SelDepth: a.SelDepth, Score: a.Score, WinProb: a.WinProb, Nodes: a.Nodes,
		TimeMS: a.Spent.Milliseconds(), PV: a.Line, Ponder: a.Expected,
		PonderHit: a.PonderHit, PonderSavedMS: a.PonderSaved.Milliseconds(),
	}
}

// source is where the move comes from, in the words of records: a prover
// names itself by what it proves.
func (a *Analysis) source() record.ThinkSource {
	switch s := record.ThinkSource(a.Source); s {
	case record.FromSearch, record.FromBook, record.FromTablebase, record.FromProver, record.FromOnly, record.FromExternal:
		return s
	case fallback, "":
		return ""
	}
	return record.FromProver
}

// seed is what the thinker draws lots with in this game: made from what the
// record says anyway, so that the game can be played again.
func (s *Session) seed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(string(s.id) + " " + string(s.player.ID)))
	return h.Sum64()
}

// write hands the record over. A full disk is said once; the games go on.
func (s *Session) write() {
	records := s.player.Records
	if records == nil {
		return
	}
	err := records.Append(s.document())
	if lost, ok := errors.AsType[*record.NotKeptError](err); ok && !lost.First {
		s.log.Debug().Err(err).Msg("record not kept")
	} else if err != nil {
		s.log.Error().Err(err).Msg("record not kept")
	}
}

// since is the time from then to now, in whole microseconds: nobody measures
// finer here.
func since(then time.Time) time.Duration { return time.Since(then).Truncate(time.Microsecond) }
