package arena

import (
	"cmp"
	"slices"

	"sparring/arena/glicko"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Standing is how a player stands in the ladder of a game and speed.
type Standing struct {
	Player  protocol.PlayerID `json:"player"`
	Display string            `json:"display,omitempty"`
	Game    string            `json:"game"`
	Speed   clock.Speed       `json:"speed"`
	glicko.Rating
	Games  int `json:"games"`
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
}

// Error returns how far the rating may be off, either way, with 95 % confidence.
func (s Standing) Error() float64 { return 1.96 * s.Deviation }

// Provisional reports whether the rating is still uncertain.
func (s Standing) Provisional() bool { return s.Deviation >= glicko.Provisional }

// standings returns those of a game by speed, the best first. They are not to be
// modified: until a rating of the game changes, all who ask get the same ones.
func (l *ladder) standings(gameName string) []Standing {
	l.mu.Lock()
	all, current := l.sorted[gameName]
	changes := l.changes
	if !current {
		for _, e := range l.entries {
			if e.Game == gameName {
				all = append(all, e.Standing)
			}
		}
	}
	l.mu.Unlock()
	if current {
		return all
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Speed, b.Speed), -cmp.Compare(a.Rating.Rating, b.Rating.Rating), cmp.Compare(a.Player, b.Player))
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes == changes {
		l.sorted[gameName] = all
	}
	return all
}

// Standings returns the ladder of a game by speed, the best first. The caller must not
// modify it.
func (a *Arena) Standings(gameName string) []Standing { return a.ladder.standings(gameName) }

// RankedStanding is a player's standing with its rank in the ladder of the game and speed.
type RankedStanding struct {
	Standing
	Rank int // from 1
	Of   int // players of the game and speed
}

// StandingsOf returns the standings of a player, by game and speed.
func (a *Arena) StandingsOf(p protocol.PlayerID) (own []RankedStanding) {
	for _, g := range catalog.Names() {
		of := map[clock.Speed]int{}
		first := len(own)
		for _, s := range a.Standings(g) {
			of[s.Speed]++
			if s.Player == p {
				own = append(own, RankedStanding{Standing: s, Rank: of[s.Speed]})
			}
		}
		for i := range own[first:] {
			own[first+i].Of = of[own[first+i].Speed]
		}
	}
	return own
}

// askedStandings answers a player who asks for the ladder of a game.
func (a *Arena) askedStandings(from protocol.From, m protocol.StandingsRequest) protocol.StandingsAnswer {
	ans := protocol.StandingsAnswer{Standings: []protocol.Standing{}}
	if _, err := catalog.Game(m.Game); err != nil {
		ans.Error = protocol.Refuse(protocol.UnknownGame, "no such game here")
		return ans
	}
	rank := map[clock.Speed]int{}
	for _, s := range a.Standings(m.Game) {
		rank[s.Speed]++
		if rank[s.Speed] > protocol.MaxStandings && s.Player != from.Player {
			continue
		}
		ans.Standings = append(ans.Standings, protocol.Standing{
			Player: s.Player, Display: s.Display, Speed: s.Speed, Rank: rank[s.Speed], Rating: s.Rating.Rating, Error: s.Error(),
			Fixed: a.ladder.anchored(s.Player), Games: s.Games, Wins: s.Wins, Draws: s.Draws, Losses: s.Losses,
		})
	}
	return ans
}
