package record

import "strings"

// Pseudonymize replaces a player of a game by a pseudonym, wherever its id and its
// display name stand, so that the game can still be read. It returns whether the game
// is one of the player's.
func Pseudonymize(r *Record, player, pseudonym string) bool {
	names := []string{}
	for seat := range r.Seats {
		s := &r.Seats[seat]
		if s.Player != player {
			continue
		}
		if s.Display != "" {
			names = append(names, s.Display, pseudonym)
		}
		names = append(names, player, pseudonym)
		s.Player, s.Display = pseudonym, ""
	}
	if r.Source.Player == player {
		r.Source.Player, r.Source.Instance = pseudonym, ""
		names = append(names, player, pseudonym)
	}
	if len(names) == 0 {
		return false
	}
	texts := strings.NewReplacer(names...)
	r.Text = texts.Replace(r.Text)
	for i := range r.Plies {
		r.Plies[i].Comment = texts.Replace(r.Plies[i].Comment)
	}
	for i := range r.Disputes {
		r.Disputes[i].Text = texts.Replace(r.Disputes[i].Text)
	}
	return true
}
