package replay

import (
	"slices"
	"testing"

	"sparring/record"
)

// TestUnknownBook: the program contains its shipped books, but a book file may have
// changed since the game.
func TestUnknownBook(t *testing.T) {
	for name, want := range map[string][]string{
		"": nil, "none": nil, "shipped": nil,
		"my.book": {"the opening book my.book may have changed since"},
	} {
		s := &record.Settings{Spec: "self", Build: "1", Nodes: 100, Threads: 1, OwnTable: true, Reproducible: true, Book: name}
		r := &record.Record{Disputes: []record.Dispute{{Ply: 8, Text: "draw by repetition, the platform plays on"}}}
		if reasons := (Player{Settings: s, Record: r}).Unknown("1"); !slices.Equal(reasons, want) {
			t.Errorf("book %q: %q, want %q", name, reasons, want)
		}
	}
}
