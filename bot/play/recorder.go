package play

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"sparring/protocol"
	"sparring/record"
)

// noteFailure notes for the record why the engine failed.
func (s *Session) noteFailure(err error) {
	const most = 1000 // bytes
	text := fmt.Sprintf("the engine of %s failed: %v", s.player.ID, err)
	s.note = strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// document returns the record of the game so far.
func (s *Session) document() *record.Record {
	st := s.st
	doc := &record.Record{
		ID: string(s.id), Game: st.Terms.Game, Rules: st.Terms.Rules, Position: st.Terms.Position,
		Clock: st.Terms.Clock, Given: len(st.Terms.Moves), Rated: st.Terms.Rated, Strict: st.Terms.Strict, Private: st.Terms.Private,
		Pool: string(st.Pool), Start: st.Started,
		Source: s.source(), Disputes: s.disputes, Text: s.note,
	}
	for i, h := range st.Holders {
		doc.Seats[i] = record.Seat{Player: string(h.Player), Display: h.Display, Kind: record.Kind(h.Kind), Build: h.Build}
	}
	if st.Status == protocol.Finished {
		doc.End, doc.Result, doc.Reason = s.received, st.Outcome.Result, st.Outcome.Reason
	} else if doc.Text == "" {
		doc.Text = "the seat was given up"
	}
	for _, p := range s.game.plies {
		out := record.Ply{Seat: p.seat, Move: p.move, Key: p.key}
		if rec := p.receipt; rec != nil {
			out.LeftMS, out.Periods = rec.LeftMS, rec.Periods
			out.UsedMS = rec.ChargedMS
			out.Receipt = &record.Receipt{
				Received: rec.Received, LagMS: rec.LagMS, ChargedMS: rec.ChargedMS,
				LeftMS: rec.LeftMS, Periods: rec.Periods, WaitedMS: rec.WaitedMS,
			}
		}
		if a := p.think; a != nil {
			out.Think, out.UsedMS = a.record(), a.Spent.Milliseconds()
			out.Comment = strings.Join(a.Incidents, "; ")
		}
		doc.Plies = append(doc.Plies, out)
	}
	return doc
}

// source returns the writer of the record and its settings.
func (s *Session) source() record.Source {
	settings := s.player.Settings
	return record.Source{
		By: record.ByPlayer, Player: string(s.player.ID), Seat: &s.st.You,
		Instance: string(settings.Instance), Build: settings.Build, Seed: s.seed(), Settings: s.settings(),
	}
}

// settings returns those of the engine, as it describes itself, and of the player.
func (s *Session) settings() *record.Settings {
	player := &s.player.Settings
	d := s.played
	if s.engine != nil {
		d = s.engine.Describe()
	}
	out := record.SettingsOf(protocol.Engine(d))
	out.Profile, out.Ponder = string(s.player.ID), player.Ponder
	if out.Spec == "" {
		out.Spec = player.Engine
	}
	if n := player.Nodes; n > 0 && (out.Nodes == 0 || n < out.Nodes) {
		out.Nodes = n
	}
	return out
}

// record converts it for the record of the game.
func (t *Think) record() *record.Think {
	return &record.Think{
		Source: t.source(), Depth: t.Depth, SelDepth: t.SelDepth, Score: int(t.Score), WinProb: t.WinProb, Nodes: t.Nodes,
		TimeMS: t.Spent.Milliseconds(), PV: t.Line, Ponder: t.Expected,
		PonderHit: t.PonderHit, PonderSavedMS: t.PonderSaved.Milliseconds(), TimedOut: t.TimedOut,
	}
}

// source returns where the move comes from, in the words of records.
func (t *Think) source() record.ThinkSource {
	if t.Source == fallback {
		return ""
	}
	return record.SourceOf(t.Source)
}

// seed seeds all random choices in this game. It follows from the ids, so that an
// instance that takes the game over has the same one.
func (s *Session) seed() uint64 {
	h := fnv.New64a()
	h.Write([]byte(string(s.id) + " " + string(s.player.ID)))
	return h.Sum64()
}

// write stores the record. A full disk is logged once; games continue.
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

// since returns the time from then to now, in whole microseconds.
func since(then time.Time) time.Duration { return time.Since(then).Truncate(time.Microsecond) }
