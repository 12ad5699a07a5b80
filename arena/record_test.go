package arena

import (
	"testing"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// played is the record of a game with so many plies, each with its receipt.
func played(id string, plies int) *record.Record {
	rec := &record.Record{V: record.Version, ID: id, Game: "amazons", Rules: "amazons/6x6", Clock: clock.Spec{Kind: clock.Unlimited},
		Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
	rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
	for i := range plies {
		rec.Plies = append(rec.Plies, record.Ply{Seat: game.Seat(i % 2), Move: "a1b2/c3", UsedMS: int64(i), Receipt: &record.Receipt{Received: time.Now(), ChargedMS: int64(i)}})
	}
	return rec
}

// The record of a game that is too long for a message has all moves, with their times, but no
// receipts, which its log has.
func TestRecordOfALongGame(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	for id, plies := range map[string]int{"short": 100, "long": 9000} {
		if err := s.publishRecord(t.Context(), played(id, plies)); err != nil {
			t.Fatal(err)
		}
		msg, err := s.storedRecord(t.Context(), "amazons", protocol.GameID(id))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := record.Decode(msg.Data)
		if err != nil || len(rec.Plies) != plies {
			t.Fatalf("%s: %d plies, want %d (%v)", id, len(rec.Plies), plies, err)
		}
		if last := rec.Plies[plies-1]; last.UsedMS != int64(plies-1) || last.Receipt == nil != (id == "long") {
			t.Errorf("%s: the last ply is %+v", id, last)
		}
	}
}

// A record that is there already is stored, whoever has stored it and however long ago, but
// not one for which there is no room.
func TestRecordIsThere(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	first := played("g1", 2)
	data, err := record.Encode(first)
	if err != nil {
		t.Fatal(err)
	}
	// Without its id, as the server has forgotten it after some minutes.
	if _, err := s.js.Publish(t.Context(), s.subjects.Record("amazons", "g1"), data); err != nil {
		t.Fatal(err)
	}
	if err := s.publishRecord(t.Context(), played("g1", 4)); err != nil {
		t.Errorf("a second record of a game: %v", err)
	}
	cfg := s.records.CachedInfo().Config
	cfg.MaxBytes = 1
	if _, err := s.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := s.publishRecord(t.Context(), played("g2", 2)); err == nil || !full(err) {
		t.Errorf("without room: %v", err)
	}
	msg, err := s.storedRecord(t.Context(), "amazons", "g1")
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := record.Decode(msg.Data); err != nil || len(rec.Plies) != 2 {
		t.Errorf("the record that was first: %+v, %v", rec, err)
	}
}
