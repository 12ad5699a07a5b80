// Package weakness finds where a player is weaker than elsewhere: [Find] groups its
// games and moves, and says of which groups neither chance nor strength is an explanation.
//
// # Method
//
// The null hypothesis is that a player has one strength. Then it may lose more than its
// opponents do, and more in hard positions than in easy ones, but not more than both explain.
//
// Moves are grouped by colour, phase, time pressure, kind and plies without progress. In a
// group and elsewhere, the measure is the mean winning chance that the player's moves lost
// divided by the mean that its opponents' moves lost, and the statistic is the logarithm of
// the quotient of the two. It is a ratio and no difference, since a strong player has little
// to lose anywhere. Only undecided positions count: in others nobody loses anything. Sums are taken by
// opponent, so that strong opponents are compared with themselves. The standard error is a
// jackknife over whole games, since the losses of a game depend on each other, and few of
// them are large: the fewer games decide, the fewer degrees of freedom the error has.
//
// The same difference in strength shows more in some positions than in others. So a group is
// weak only if the player loses more there than its opponents do, and if the logarithm of
// its ratio there is more than a multiple of that elsewhere (see estimate.pWeak). This does not
// suffice for the weaker player where strength shows in one phase only, as in Amazons.
//
// Losses are those of a search. A player's own scores can't say that a move was bad: who
// searches less notices less. With them, groups of moves are described and not tested.
//
// Games are grouped by opening; the measure is the player's score, compared with that of
// permutations among the games of the same colour against the same opponent, beyond the same margin.
// Games are also grouped by opponent and length, and these groups are not tested: a low score
// against one opponent says that it is strong, and how long games are that a player loses depends on its strength.
//
// A fault (no legal move in time, a crash, a breach of the rules of repetition) loses the
// winning chance that its side had. It counts in place of a move in the group by plies
// without progress (a loss on time also in that of little time), and in a group of its own
// kind, whose measure is what the player lost so in each game less what the opponent lost
// so; it is tested by turning the signs of these differences at random. A fault in a lost
// position costs nothing, so faults are no consequence of losing. Faults count in no other group of
// moves: opponents who crash do not make the player's moves bad.
//
// Many groups are looked at, and the worst of many looks bad by chance. P-values are those of
// Benjamini and Hochberg (J. R. Statist. Soc. B 57, 1995): of the groups called weak, 5 % are
// expected to be not, and where nothing is weak, 5 % of examinations find something.
package weakness

import (
	"cmp"
	"fmt"
	"slices"

	"sparring/game"
	"sparring/lab/study/analysis"
	"sparring/record"
	"sparring/record/review"
)

// Level is the share of examinations without any weakness that find one.
const Level = 0.05

// The support that a group needs to be tested, and the rest that it is compared with.
const (
	MinGames = 8
	MinMoves = 20 // of each side, in undecided positions
)

// By is what games or moves are grouped by.
type By string

// The ways to group.
const (
	Opening    By = "opening"
	Opponent   By = "opponent"
	Length     By = "length"
	Colour     By = "colour"
	Phase      By = "phase"
	NoProgress By = "no progress" // for so many plies, as the game counts them
	Time       By = "time left"
	Kind       By = "move"
	Fault      By = "lost by" // a fault of the loser, see Game.fault
)

// Game is a game of the player, with what is known of its course.
type Game struct {
	Record *record.Record
	Seat   game.Seat        // of the player
	Report *analysis.Report // of a search, or of the players' own scores
}

// score returns the player's points.
func (g *Game) score() float64 {
	switch g.Record.Result {
	case game.WonBy(g.Seat):
		return 1
	case game.Draw:
		return 0.5
	}
	return 0
}

// chanceBefore returns the winning chance of a seat before a ply, counted from 0; one half
// if it is not known.
func (g *Game) chanceBefore(ply int, seat game.Seat) float64 {
	chance := g.Report.Start
	if ply > 0 {
		chance = g.Report.Plies[ply-1].Chance
	}
	if chance == nil {
		return 0.5
	}
	return review.SideOf(*chance, seat)
}

// Group is a group of games or moves.
type Group struct {
	By   By     `json:"by"`
	Name string `json:"name"`
	// Games of the group: in groups of moves those with a move of the player in it, by
	// fault those that ended by it.
	Games int `json:"games"`
	Moves int `json:"moves"` // of the player, from undecided positions, or its faults
	// Score is the player's in the games of the group, 0 to 1, and Other in those that
	// the group is compared with: all others, of the same colour against the same opponents
	// where there are enough. Both are for groups of games.
	Score float64 `json:"score"`
	Other float64 `json:"other"`
	// Lost is the mean winning chance that a move of the group lost, and Theirs that of
	// the opponents' moves. By fault, they are the means of a game, of all games.
	Lost   float64 `json:"lost"`
	Theirs float64 `json:"theirs"`
	// Factor is how many times as much as elsewhere the player loses compared with its
	// opponents, of groups of moves; Low and High are its 95 % interval.
	Factor float64 `json:"factor,omitempty"`
	Low    float64 `json:"low,omitempty"`
	High   float64 `json:"high,omitempty"`
	// Excess is by how much the group is worse than expected, above 0, of groups of games
	// and faults: in points of a game, or in winning chance a game; Error is its 95 % error.
	Excess float64 `json:"excess"`
	Error  float64 `json:"error"`
	Tested bool    `json:"tested"` // P is known
	P      float64 `json:"p"`      // corrected for the number of groups; 1 if it is not tested
	Weak   bool    `json:"weak"`
}

// OfGames reports whether the groups are of games, not of moves.
func (b By) OfGames() bool { return b == Opening || b == Opponent || b == Length }

// OfMoves reports whether the groups are of moves, which a search has to judge.
func (b By) OfMoves() bool { return !b.OfGames() && b != Fault }

// Move is a judged move of the player, or the fault by which it lost in place of one.
type Move struct {
	Game   *Game
	Ply    int     // from 1; a fault comes after the last move
	Chance float64 // the player's winning chance before it
	Lost   float64
	Best   string // "" if it is not known
	Groups []string
	Weak   bool // in a weak group

	keys []key
}

// Text returns the move as the record has it, "" for a fault.
func (m Move) Text() string {
	if m.Ply > len(m.Game.Record.Plies) {
		return ""
	}
	return m.Game.Record.Plies[m.Ply-1].Move
}

// Result is what Find finds.
type Result struct {
	Games  int     `json:"games"`
	Score  float64 `json:"score"`
	Judged int     `json:"judged"` // moves of the player
	// Lost is the mean of a judged move from an undecided position, Theirs that of the opponents'.
	Lost   float64 `json:"lost"`
	Theirs float64 `json:"theirs"`
	// Own: the moves were judged by the players' own scores, so groups of moves are not tested.
	Own    bool         `json:"own"`
	Faults []FaultCount `json:"faults,omitempty"` // by which games were lost
	Groups []Group      `json:"groups"`           // the weakest first
	Moves  []Move       `json:"-"`                // that lost much, the worst first
	Played []Move       `json:"-"`                // all that were judged, in the order of the games
}

// Weak lists the weak groups.
func (r *Result) Weak() (weak []Group) {
	for _, g := range r.Groups {
		if g.Weak {
			weak = append(weak, g)
		}
	}
	return weak
}

// Tested counts the groups that were tested.
func (r *Result) Tested() (n int) {
	for _, g := range r.Groups {
		if g.Tested {
			n++
		}
	}
	return n
}

// Find examines the games of a player, which are of one kind of game and have ended.
// The error is of a game that can't be played through.
func Find(games []*Game) (*Result, error) {
	var all []*facts
	own := false
	for _, g := range games {
		f, err := factsOf(g)
		if err != nil {
			return nil, fmt.Errorf("game %s: %w", g.Record.ID, err)
		}
		all = append(all, f)
		own = own || g.Report.Own
	}
	r := examine(all, own)
	r.Faults = countFaults(games)
	r.listMoves(games, all)
	return r, nil
}

// key identifies a group.
type key struct {
	by   By
	name string
}

// mistakeFrom is the winning chance that a move must lose to be listed: an inaccuracy
// of package review.
const mistakeFrom = 0.10

// listMoves lists the judged moves, and those that lost most, of weak groups first.
func (r *Result) listMoves(games []*Game, all []*facts) {
	weak := map[key]bool{}
	for _, g := range r.Weak() {
		weak[key{g.By, g.Name}] = true
	}
	for i, f := range all {
		for _, j := range f.moves {
			if j.side != 0 {
				continue
			}
			m := Move{Game: games[i], Ply: j.ply + 1, Chance: j.chance, Lost: j.lost, keys: slices.Concat(j.groups, f.groups)}
			if !j.fault {
				m.Best = games[i].Report.Plies[j.ply].Best
			}
			for _, k := range m.keys {
				m.Weak = m.Weak || weak[k]
				switch {
				case k.by.OfGames() || k.name == anyFault:
				case k.by == NoProgress || k.by == Time || k.by == Fault: // no name without what it is by
					m.Groups = append(m.Groups, string(k.by)+" "+k.name)
				default:
					m.Groups = append(m.Groups, k.name)
				}
			}
			r.Played = append(r.Played, m)
			if m.Lost >= mistakeFrom {
				r.Moves = append(r.Moves, m)
			}
		}
	}
	slices.SortStableFunc(r.Moves, func(a, b Move) int {
		if a.Weak != b.Weak {
			if a.Weak {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Lost, a.Lost)
	})
}
