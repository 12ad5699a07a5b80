package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/match"
	"sparring/record"
	"sparring/record/format"
)

// section has the games of one kind.
type section struct {
	name     string
	games    []*played
	standing *match.Standing // of those that are decided
	players  []*player       // as in the standing
	open     int             // games that count for no score, see scores
	left     int             // games of players that are left out
}

// player is what is told of a player besides its score.
type player struct {
	id, name string
	worst    []moment // at most worstMoves, the worst first, of games that can be played through
	longest  int64    // time of a move, ms
	least    int64    // time left after a move, ms; -1: without a clock
	judged   int      // moves of which it is known what they lost
	lost     float64  // winning chance, their sum
	classes  map[string]int
}

// moment is a move of a game.
type moment struct {
	game *played
	ply  int // before the move
	seat game.Seat
}

func (m moment) lost() float64 { return m.game.turns[m.ply].lost }

// course returns where the game began, and its moves with this one.
func (m moment) course() string {
	text := m.game.rec.Position
	for _, p := range m.game.rec.Plies[:m.ply+1] {
		text += " " + p.Move
	}
	return text
}

// worstMoves is how many moves are told of each player.
const worstMoves = 5

func newSection(name string, games []*played) (*section, error) {
	s := &section{name: name, games: games}
	terms := &match.Terms{Game: name, Rules: games[0].rec.Rules, Kind: match.RoundRobin}
	index, kept := map[string]int{}, busiest(games)
	for _, g := range games {
		for _, seat := range g.rec.Seats {
			id := format.Identity(seat)
			if _, ok := index[id]; !ok && kept[id] {
				index[id] = len(s.players)
				s.players = append(s.players, &player{id: id, least: -1, classes: map[string]int{}})
				terms.Players = append(terms.Players, id)
				terms.Labels = append(terms.Labels, format.Name(seat))
			}
		}
	}
	for i, name := range terms.Names() {
		s.players[i].name = name
	}
	s.standing = match.NewStanding(terms)
	pairs := pairing{}
	for _, g := range games {
		at := [2]int{-1, -1} // not in the table
		for seat, of := range g.rec.Seats {
			if i, ok := index[format.Identity(of)]; ok {
				at[seat] = i
			}
		}
		if scores(g.rec) && min(at[0], at[1]) < 0 {
			s.left++
			continue
		}
		s.count(g, at)
		if !scores(g.rec) {
			s.open++
			continue
		}
		if err := s.standing.Add(pairs.place(g.rec, at)); err != nil {
			return nil, err
		}
	}
	for _, p := range s.players {
		slices.SortStableFunc(p.worst, func(a, b moment) int { return cmp.Compare(b.lost(), a.lost()) })
		p.worst = distinct(p.worst, worstMoves)
	}
	return s, nil
}

// distinct returns the first n moves of a list that come after different ones. Games repeat
// others, move for move or in their beginnings.
func distinct(all []moment, n int) (some []moment) {
	seen := map[string]bool{}
	for _, m := range all {
		if len(some) == n {
			break
		}
		if course := m.course(); !seen[course] {
			seen[course] = true
			some = append(some, m)
		}
	}
	return some
}

// scores reports whether a game counts for a score: it is decided, and not one of a player
// against itself.
func scores(r *record.Record) bool {
	return decided(r) && format.Identity(r.Seats[0]) != format.Identity(r.Seats[1])
}

// maxPlayers bounds the tables. Those with most games are kept.
const maxPlayers = 100

// busiest returns the players of the tables: those with most games that count. Whoever has
// none, such as a person who did not begin a game, would only be one more whom nobody is
// known to be stronger than. If no game counts, those with most games.
func busiest(games []*played) map[string]bool {
	n, all := map[string]int{}, map[string]int{}
	for _, g := range games {
		for _, seat := range g.rec.Seats {
			all[format.Identity(seat)]++
			if scores(g.rec) {
				n[format.Identity(seat)]++
			}
		}
	}
	if len(n) == 0 {
		n = all
	}
	ids := slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(n[b]-n[a], cmp.Compare(a, b)) })
	kept := map[string]bool{}
	for _, id := range ids[:min(len(ids), maxPlayers)] {
		kept[id] = true
	}
	return kept
}

// count adds the moves of a game to what is told of its players; at are their indices, -1 for
// one who is not in the table.
func (s *section) count(g *played, at [2]int) {
	var clocked [2]bool // the record has what was left; files of other programs may have the time used alone
	for _, ply := range g.rec.Plies {
		if ply.Seat <= game.Second && ply.LeftMS > 0 {
			clocked[ply.Seat] = true
		}
	}
	openingPlies := g.rec.OpeningPlies()
	for i, ply := range g.rec.Plies {
		if ply.Seat > game.Second || at[ply.Seat] < 0 || i < openingPlies || isBook(ply) {
			continue
		}
		p := s.players[at[ply.Seat]]
		p.longest = max(p.longest, ply.UsedMS)
		if c := g.rec.ClockOf(ply.Seat); c.Kind == clock.SuddenDeath || c.Kind == clock.Fischer {
			if clocked[ply.Seat] && ply.UsedMS+ply.LeftMS > 0 && (p.least < 0 || ply.LeftMS < p.least) {
				p.least = ply.LeftMS
			}
		}
		t := g.turns[i]
		if math.IsNaN(t.lost) {
			continue
		}
		p.judged++
		p.lost += t.lost
		if t.class != "" {
			p.classes[string(t.class)]++
			if g.fault == nil { // else there is no position to show
				p.worst = append(p.worst, moment{g, i, ply.Seat})
			}
		}
	}
}

// isBook reports whether a move comes from a book, without a search.
func isBook(p record.Ply) bool { return p.Think != nil && p.Think.Source == record.FromBook }

// pairing numbers the pairs of games, over all matches.
type pairing map[pairOf]*pairSeen

type pairOf struct {
	match string
	pair  int
}

type pairSeen struct {
	number int
	legs   [3]bool
}

// place returns a record as a game of a match. Games of a match have their pairs; all
// others count by themselves.
func (p pairing) place(r *record.Record, at [2]int) *match.Game {
	g := &match.Game{Record: *r}
	g.Match.Players = at
	if of, pair, leg, ok := match.ParseGameID(r.ID); ok {
		key := pairOf{of, pair}
		if p[key] == nil {
			p[key] = &pairSeen{number: len(p) + 1}
		}
		if seen := p[key]; !seen.legs[leg] { // else a game that was repeated
			seen.legs[leg] = true
			g.Match.Pair, g.Match.Leg = seen.number, leg
		}
	}
	if kind := match.FaultOf(r.Reason); kind != "" && r.Result != game.Draw {
		loser := game.First
		if r.Result == game.FirstWins {
			loser = game.Second
		}
		g.Match.Fault = &match.Fault{Seat: loser, Kind: kind, Text: r.Text}
	}
	for _, ply := range r.Plies[r.OpeningPlies():] {
		if ply.Seat > game.Second || isBook(ply) {
			continue
		}
		side := &g.Match.Sides[ply.Seat]
		side.Moves++
		side.TimeUS += 1000 * ply.UsedMS
		if t := ply.Think; t != nil {
			side.Nodes += t.Nodes
			side.AddDepth(t.Depth, search.Score(t.Score))
		}
	}
	return g
}
