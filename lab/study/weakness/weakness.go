// Package weakness finds where a player is weaker than elsewhere: [Find] groups its
// games and moves, and says of which groups chance is no explanation.
//
// # Method
//
// Games are grouped by opening, opponent and length; the measure is the player's score.
// Moves are grouped by colour, phase, time pressure, kind and plies without progress; the
// measure is the winning chance that they lost, less what the opponents' moves of the
// same group lost in the same game, less the same difference over all moves and games. So
// a group is not weak because the position is hard for both, or because the player is
// weaker everywhere.
//
// A fault (no legal move in time, a crash, a breach of the rules of repetition) loses the
// winning chance that its side had. It counts in place of a move in the group by plies
// without progress (a loss on time also in that of little time), and in a group of its own
// kind, whose measure is what the player lost so in each game less what the opponent lost
// so. A fault in a lost
// position costs nothing, so faults are no consequence of losing. Faults are not part of
// the difference over all moves: opponents who crash do not make the player's moves bad.
//
// Many groups are looked at, and the worst of many looks bad by chance. Each group gets
// the p-value of Westfall and Young's single-step maxT procedure (Resampling-Based
// Multiple Testing, 1993; the form of Ge, Dudoit and Speed, Test 12, 2003, box 2): the
// share of resampled data sets in which any group looks as weak as this one does. A set
// is resampled by permuting the scores among the games against the same opponent (for
// groups by opponent: among all games), and by turning the sign of a game's differences
// at random. If nothing but chance is at work, a group is called weak in 5 % of all
// examinations, however many groups there are and however they overlap.
//
// Games of a match that share an opening are taken as independent here.
package weakness

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"sparring/game"
	"sparring/lab/study/analysis"
	"sparring/record"
	"sparring/record/review"
)

// Level is the share of examinations without any weakness that find one.
const Level = 0.05

// MinGames is the number of games that a group needs to be examined.
const MinGames = 8

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

// chanceBefore returns the player's winning chance before a ply, counted from 0; one half
// if it is not known.
func (g *Game) chanceBefore(ply int) float64 {
	chance := g.Report.Start
	if ply > 0 {
		chance = g.Report.Plies[ply-1].Chance
	}
	if chance == nil {
		return 0.5
	}
	return review.SideOf(*chance, g.Seat)
}

// Group is a group of games or moves.
type Group struct {
	By   By     `json:"by"`
	Name string `json:"name"`
	// Games of the group; in groups of moves those with moves of both sides in it, by
	// fault those that ended by it.
	Games int `json:"games"`
	Moves int `json:"moves"` // of the player that were judged, or its faults
	// Score is the player's in the games of the group, 0 to 1, and Other in those that
	// the group is compared with: all others, of the same opponents where there are
	// enough. Both are for groups of games.
	Score float64 `json:"score"`
	Other float64 `json:"other"`
	// Lost is the mean winning chance that a move of the group lost, and Theirs that of
	// the opponents' moves. By fault, they are the means of a game, of all games.
	Lost   float64 `json:"lost"`
	Theirs float64 `json:"theirs"`
	// Excess is by how much the group is worse than expected, above 0: in points of a
	// game, or in winning chance a move (by fault, a game); Error is its 95 % error.
	Excess float64 `json:"excess"`
	Error  float64 `json:"error"`
	P      float64 `json:"p"` // corrected for the number of groups
	Weak   bool    `json:"weak"`
}

// OfGames reports whether the groups are of games, not of moves.
func (b By) OfGames() bool { return b == Opening || b == Opponent || b == Length }

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
	Games  int          `json:"games"`
	Score  float64      `json:"score"`
	Judged int          `json:"judged"` // moves of the player
	Lost   float64      `json:"lost"`   // mean of a judged move
	Theirs float64      `json:"theirs"`
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

// Find examines the games of a player, which are of one kind of game and have ended.
// The error is of a game that can't be played through.
func Find(games []*Game) (*Result, error) {
	e := examination{games: games, groups: map[key]*members{}}
	for i, g := range games {
		if err := e.take(i, g); err != nil {
			return nil, fmt.Errorf("game %s: %w", g.Record.ID, err)
		}
	}
	r := &Result{Games: len(games), Judged: e.all[0].moves, Lost: e.all[0].mean(), Theirs: e.all[1].mean(), Faults: countFaults(games), Groups: []Group{}}
	for _, g := range games {
		r.Score += g.score() / float64(len(games))
	}
	e.examine(r)
	e.mistakes(r)
	return r, nil
}

// key identifies a group.
type key struct {
	by   By
	name string
}

// tally sums up losses.
type tally struct {
	moves int
	lost  float64
}

func (t tally) mean() float64 { return t.lost / float64(max(t.moves, 1)) }

func (t *tally) add(lost float64) { t.moves++; t.lost += lost }

// members is what belongs to a group.
type members struct {
	games []int
	moves map[int]*[2]tally // by game: of the player and of the opponent
	total [2]tally
}

// examination is a run of Find.
type examination struct {
	games   []*Game
	order   []key
	groups  map[key]*members
	all     [2]tally
	overall []*[2]tally // by game, over all moves
	plies   []judged    // of the player
}

func (e *examination) group(k key) *members {
	m := e.groups[k]
	if m == nil {
		m = &members{moves: map[int]*[2]tally{}}
		e.groups[k] = m
		e.order = append(e.order, k)
	}
	return m
}

// take puts a game and its moves into their groups.
func (e *examination) take(i int, g *Game) error {
	of, err := groupsOfGame(g)
	if err != nil {
		return err
	}
	for _, k := range of {
		m := e.group(k)
		m.games = append(m.games, i)
	}
	e.overall = append(e.overall, &[2]tally{})
	return eachMove(g, func(j judged) {
		if !j.fault {
			e.all[j.side].add(j.lost)
			e.overall[i][j.side].add(j.lost)
		}
		for _, k := range j.groups {
			m := e.group(k)
			if m.moves[i] == nil {
				m.moves[i] = &[2]tally{}
			}
			m.moves[i][j.side].add(j.lost)
			m.total[j.side].add(j.lost)
		}
		if j.side == 0 {
			j.game, j.groups = i, append(j.groups, of...)
			e.plies = append(e.plies, j)
		}
	})
}

// examine fills in the groups.
func (e *examination) examine(r *Result) {
	scores := make([]float64, len(e.games))
	opponents := make([]string, len(e.games))
	for i, g := range e.games {
		scores[i], opponents[i] = g.score(), opponentOf(g)
	}
	within := strata(opponents)
	one := make([]int, len(e.games))
	t := test{}
	seen := map[string]bool{}
	for _, k := range e.order {
		m := e.groups[k]
		g := Group{By: k.by, Name: k.name, Games: len(m.games), Moves: m.total[0].moves, Lost: m.total[0].mean(), Theirs: m.total[1].mean(), P: 1}
		switch {
		case k.by.OfGames():
			same := fmt.Sprint(k.by, m.games)
			if len(m.games) < MinGames || len(m.games) == len(e.games) || seen[same] {
				continue // too few, all, or an opening that only goes on
			}
			seen[same] = true
			in := within
			if k.by == Opponent {
				in = one
			}
			if !t.addScores(&g, scores, in, m.games) {
				continue
			}
		case k.by == Fault:
			same := fmt.Sprint(k.by, slices.Sorted(maps.Keys(m.moves)))
			if len(m.moves) < MinGames || seen[same] || !t.addLosses(&g, e.forfeits(m)) {
				continue // too few, or there is only one kind
			}
			seen[same] = true
			all := float64(len(e.games))
			g.Games, g.Lost, g.Theirs = len(m.moves), m.total[0].lost/all, m.total[1].lost/all
		default:
			if !t.addLosses(&g, e.excesses(m)) {
				continue
			}
		}
		r.Groups = append(r.Groups, g)
	}
	for i, p := range t.pValues(scores, within, one) {
		r.Groups[i].P, r.Groups[i].Weak = p, p <= Level
	}
	slices.SortStableFunc(r.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.Excess/b.Error, a.Excess/a.Error))
	})
}

// excesses returns for each game with moves of both sides in the group what the
// player's lost more than the opponent's, less the same mean over all games.
func (e *examination) excesses(m *members) map[int]float64 {
	mean, n := 0.0, 0
	for _, o := range e.overall {
		if o[0].moves > 0 && o[1].moves > 0 {
			mean += o[0].mean() - o[1].mean()
			n++
		}
	}
	mean /= float64(max(n, 1))
	all := map[int]float64{}
	for i, o := range m.moves {
		if o[0].moves > 0 && o[1].moves > 0 {
			all[i] = o[0].mean() - o[1].mean() - mean
		}
	}
	return all
}

// forfeits returns for each game the winning chance that the player lost by the fault
// of the group, less what the opponent lost by it. Unlike moves, faults need no
// comparison with the rest: a weaker player need not forfeit more.
func (e *examination) forfeits(m *members) map[int]float64 {
	all := map[int]float64{}
	for i := range e.games {
		all[i] = 0
		if o := m.moves[i]; o != nil {
			all[i] = o[0].lost - o[1].lost
		}
	}
	return all
}

// mistakeFrom is the winning chance that a move must lose to be listed: an inaccuracy
// of package review.
const mistakeFrom = 0.10

// mistakes lists the judged moves, and those that lost most, of weak groups first.
func (e *examination) mistakes(r *Result) {
	weak := map[key]bool{}
	for _, g := range r.Weak() {
		weak[key{g.By, g.Name}] = true
	}
	for _, j := range e.plies {
		g := e.games[j.game]
		m := Move{Game: g, Ply: j.ply + 1, Chance: j.lost, Lost: j.lost, keys: j.groups}
		if !j.fault {
			m.Chance, m.Best = g.chanceBefore(j.ply), g.Report.Plies[j.ply].Best
		}
		for _, k := range j.groups {
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

// fewestOfOpponent is how many games an opponent needs for a stratum of its own.
const fewestOfOpponent = 10

// strata numbers the games by opponent; those of opponents with few games are one.
func strata(opponents []string) []int {
	count, number := map[string]int{}, map[string]int{}
	for _, o := range opponents {
		count[o]++
	}
	of := make([]int, len(opponents))
	for i, o := range opponents {
		if count[o] < fewestOfOpponent {
			continue // 0
		}
		if number[o] == 0 {
			number[o] = len(number) + 1
		}
		of[i] = number[o]
	}
	return of
}

// spread returns the mean of values and the standard error of the mean.
func spread(values []float64) (mean, sigma float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		sigma += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sigma / max(n-1, 1) / n)
}
