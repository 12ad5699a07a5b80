package campaign

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/lab/match"
	"sparring/lab/match/event"
)

// Summary is the state of a campaign, for a page, for text and as JSON. What changed
// is since the last run that ended by itself; a run that was killed is continued by
// the next. Of a run that has ended, it is what that run changed: see [ReadLast].
type Summary struct {
	Name  string     `json:"name"`
	Title string     `json:"title"`
	Build string     `json:"build"`
	Time  time.Time  `json:"time"`
	State State      `json:"state"`
	Begun *time.Time `json:"begun,omitempty"` // of the run; null: it has not begun
	Until *time.Time `json:"until,omitempty"`
	Since *time.Time `json:"since,omitempty"` // end of the run before; null: there is none
	Games int        `json:"games"`           // played
	Total int        `json:"total"`           // of the plan
	// Spared are games of the plan that are not played, because a sequential test has decided.
	Spared int `json:"spared"`
	New    int `json:"new"` // games since

	Asides   []Aside      `json:"aside"`
	Faults   []Faults     `json:"faults"`
	Players  []NewVersion `json:"versions"`
	Old      []Old        `json:"old_games"`
	Strength []Strength   `json:"strength"`

	Tables  []Table        `json:"tables"`
	Matches []MatchSummary `json:"matches"`
}

// Missing returns how many games are still to be played.
func (s *Summary) Missing() int { return s.Total - s.Games - s.Spared }

// Faults are games that a player lost by its own fault.
type Faults struct {
	Match  string                   `json:"match"`
	Player string                   `json:"player"`
	Games  int                      `json:"games"`  // new ones
	New    map[engine.FaultKind]int `json:"new"`    // games lost so since
	Before map[engine.FaultKind]int `json:"before"` // and until then
	Text   string                   `json:"text"`   // of the latest
}

// NewVersion is a player that is new, gone, or not what it was in the run before.
type NewVersion struct {
	Player string   `json:"player"`
	Before *Version `json:"before,omitempty"` // null: it is new
	Now    *Version `json:"now,omitempty"`    // null: it is gone
}

// Old are games that do not count any more.
type Old struct {
	Match   string      `json:"match"`
	Players [][2]string `json:"players"` // that met
	Games   int         `json:"games"`
	Gone    bool        `json:"gone,omitempty"` // they do not meet in the file any more
	Why     []Reason    `json:"why,omitempty"`
}

// Measure is a score with its error.
type Measure struct {
	match.Score
	EloNow Range `json:"elo"`
}

// Range is a value with the ends of its 95 % interval; null is unbounded.
type Range struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Strength is how the score of two players changed: by new games, or with a new
// version of one of them.
type Strength struct {
	Match   string    `json:"match"`
	Players [2]string `json:"players"`
	New     int       `json:"new"` // games
	Before  Measure   `json:"before"`
	Now     Measure   `json:"now"`
	// Versions says that Before was measured with another version or under other
	// conditions. Change is then the difference of the two.
	Versions bool  `json:"versions"`
	Change   Range `json:"change"`
}

// Table has the games of all matches of one game.
type Table struct {
	Game     string          `json:"game"`
	Standing *match.Standing `json:"-"`
	Players  []PlayerSummary `json:"players"` // best first
}

// PlayerSummary is a player in a table, with its score.
type PlayerSummary struct {
	Player string                   `json:"player"`
	Faults map[engine.FaultKind]int `json:"faults"`
	Measure
}

// MatchSummary is the state of a match, with that of its pairings.
type MatchSummary struct {
	Name  string      `json:"name"`
	Game  string      `json:"game"`
	Rules string      `json:"rules"`
	Limit match.Limit `json:"limit"`
	Event string      `json:"event,omitempty"`
	Games int         `json:"games"`
	Total int         `json:"total"`
	// Repeated are games that are move for move like others, see match.Standing.
	Repeated int              `json:"repeated,omitempty"`
	Pairings []PairingSummary `json:"meetings"`
	Report   string           `json:"report,omitempty"` // file of the report of its games; "": none
}

// PairingSummary is the state of two players of a match.
type PairingSummary struct {
	Players [2]string `json:"players"`
	Total   int       `json:"total"` // games
	New     int       `json:"new"`
	Aside   bool      `json:"aside,omitempty"`
	Verdict string    `json:"sprt,omitempty"` // of the sequential test; "": there is none
	LOS     float64   `json:"los"`
	Faults  [2]int    `json:"faults"`
	File    string    `json:"file"`
	Earlier []Earlier `json:"earlier,omitempty"` // with other versions, the latest first
	Measure
}

// NewMeasure returns a score with its Elo.
func NewMeasure(s match.Score) Measure {
	low, high := s.Pairs.EloInterval()
	return Measure{s, newRange(s.Pairs.Elo().Elo, low, high)}
}

func newRange(value, low, high float64) Range {
	known := func(v float64) *float64 {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		return &v
	}
	return Range{known(value), known(low), known(high)}
}

// minus returns a difference in Elo, with the interval of Zou and Donner (2008) from
// those of the two, which need not be symmetric. Their method needs both differences; from a
// score of 0 or 100 % the interval ends where those of the two are furthest apart.
func (m Measure) minus(o Measure) Range {
	a, b := m.Pairs.Elo().Elo, o.Pairs.Elo().Elo
	al, ah := m.Pairs.EloInterval()
	bl, bh := o.Pairs.EloInterval()
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		return newRange(a-b, al-bh, ah-bl)
	}
	return newRange(a-b, a-b-math.Hypot(a-al, bh-b), a-b+math.Hypot(ah-a, b-bl))
}

// Summary tells the state of the campaign. It may be called while it runs.
func (c *Campaign) Summary() (*Summary, error) {
	c.mu.Lock()
	asides, state, begun := slices.Clone(c.asides), c.state, c.log.begun
	faults := map[*meeting]map[int]*match.Fault{}
	for _, m := range c.meets {
		faults[m] = maps.Clone(m.faults)
	}
	c.mu.Unlock()
	s := &Summary{Name: c.plan.Name, Title: c.plan.Title, Build: c.build, Time: time.Now().UTC(), State: state, Asides: asides}
	if s.Asides == nil {
		s.Asides = []Aside{}
	}
	if !begun.IsZero() {
		s.Begun = &begun
	}
	if !c.plan.Until.IsZero() {
		s.Until = &c.plan.Until
	}
	if c.log.last != nil {
		s.Since = &c.log.last.Time
	}
	s.Players = c.newVersions()
	s.Old = c.oldGames()
	sum := newSums(s)
	for _, m := range c.meets {
		aside := m.isAside(asides)
		previous, err := c.previous(m)
		if err != nil {
			return nil, err
		}
		m.match.Look(func(st *match.Standing) { sum.add(m, st, previous, faults[m], aside) })
	}
	sum.end()
	return s, nil
}

// newVersions compares the players with those of the run before.
func (c *Campaign) newVersions() []NewVersion {
	all := []NewVersion{}
	if c.log.before == nil {
		return all
	}
	for _, name := range slices.Sorted(maps.Keys(c.plan.Versions)) {
		now := c.plan.Versions[name]
		if old, ok := c.log.before.Players[name]; !ok {
			all = append(all, NewVersion{Player: name, Now: &now})
		} else if old != now {
			all = append(all, NewVersion{Player: name, Before: &old, Now: &now})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.log.before.Players)) {
		if _, ok := c.plan.Versions[name]; !ok {
			old := c.log.before.Players[name]
			all = append(all, NewVersion{Player: name, Before: &old})
		}
	}
	return all
}

// previous returns the standing that two players had in the run before in another file,
// with an older version or under other conditions; nil if there is none.
func (c *Campaign) previous(m *meeting) (*match.Standing, error) {
	if c.log.last == nil {
		return nil, nil
	}
	for _, old := range slices.Backward(m.old) {
		n := c.log.last.Games[old.File]
		if n == 0 {
			continue
		}
		if _, inPlan := c.log.last.Games[m.File]; inPlan && m.before > 0 {
			return nil, nil // the run before had this version, too
		}
		terms, games, err := match.ReadFile(filepath.Join(c.plan.Dir, gamesDir, old.File))
		if err != nil {
			return nil, err
		}
		st := match.NewStanding(terms)
		for _, g := range games[:min(n, len(games))] {
			if err := st.Add(g); err != nil {
				return nil, err
			}
		}
		return st, nil
	}
	return nil, nil
}

// sums adds up pairings to a summary.
type sums struct {
	*Summary
	tables map[string]*sumTable
	order  []string
}

// sumTable adds up a table.
type sumTable struct {
	names  []string
	scores map[[2]string]*match.Score
	faults map[string]map[engine.FaultKind]int
}

func newSums(s *Summary) *sums {
	s.Faults, s.Strength = []Faults{}, []Strength{}
	return &sums{s, map[string]*sumTable{}, nil}
}

func (s *sums) add(m *meeting, st, previous *match.Standing, faults map[int]*match.Fault, aside bool) {
	names, meet := m.names(), &st.Pairings[0]
	fresh := st.Games - m.before
	played, total := m.played(st), 2*m.total
	s.Games += played
	s.Total += total
	s.Spared += total - played - m.missing(st)
	s.New += fresh
	s.addFaults(m, st, previous, faults)
	before := NewMeasure(match.ScoreOf(st.Results[:m.before]))
	now := NewMeasure(meet.Score)
	if change := (Strength{Match: m.Match, Players: names, New: fresh, Before: before, Now: now}); previous != nil {
		score := previous.Pairings[0].Score
		if previous.Players[0].Name != names[0] {
			score = score.Turned()
		}
		change.Versions, change.Before = true, NewMeasure(score)
		change.Change = now.minus(change.Before)
		s.Strength = append(s.Strength, change)
	} else if fresh > 0 && s.Since != nil {
		s.Strength = append(s.Strength, change)
	}
	if n := len(s.Matches); n == 0 || s.Matches[n-1].Name != m.Match {
		title := event.TitleAt(m.Terms.Event, time.Time{}) // its games may be of several years
		s.Matches = append(s.Matches, MatchSummary{Name: m.Match, Game: m.Terms.Game, Rules: m.Terms.Rules, Limit: m.Terms.Limit, Event: title})
	}
	of := &s.Matches[len(s.Matches)-1]
	of.Games += played
	of.Total += total
	of.Repeated += st.Repeated
	row := PairingSummary{Players: names, Total: total, New: fresh, Aside: aside, LOS: meet.Pairs.LOS(), File: filepath.Join(gamesDir, m.File), Measure: now, Earlier: m.past,
		Faults: [2]int{st.Players[0].FaultCount(), st.Players[1].FaultCount()}}
	if m.plan.SPRT != nil {
		row.Verdict = m.plan.SPRT.Verdict(meet.Pairs).String()
	}
	of.Pairings = append(of.Pairings, row)
	t := s.tables[m.Terms.Game]
	if t == nil {
		t = &sumTable{scores: map[[2]string]*match.Score{}, faults: map[string]map[engine.FaultKind]int{}}
		s.tables[m.Terms.Game] = t
		s.order = append(s.order, m.Terms.Game)
	}
	t.add(names, meet.Score, st)
}

// addFaults counts the faults of a pairing by match and player, and quotes the latest.
func (s *sums) addFaults(m *meeting, st, previous *match.Standing, latest map[int]*match.Fault) {
	for i, name := range m.names() {
		at := slices.IndexFunc(s.Faults, func(f Faults) bool { return f.Match == m.Match && f.Player == name })
		if at < 0 {
			s.Faults = append(s.Faults, Faults{Match: m.Match, Player: name, New: map[engine.FaultKind]int{}, Before: map[engine.FaultKind]int{}})
			at = len(s.Faults) - 1
		}
		f := &s.Faults[at]
		f.Games += st.Games - m.before
		if previous != nil {
			for k := range previous.Players {
				if p := &previous.Players[k]; p.Name == name {
					for kind, n := range p.Faults {
						f.Before[kind] += n
					}
				}
			}
		}
		for n, r := range st.Results {
			if r.Fault == "" || (i == 0) != (r.Halves == 0) {
				continue
			}
			if n < m.before {
				f.Before[r.Fault]++
			} else {
				f.New[r.Fault]++
			}
		}
		if last := latest[i]; last != nil {
			f.Text = strings.Join(strings.Fields(last.Text), " ")
		}
	}
}

func (t *sumTable) add(names [2]string, score match.Score, st *match.Standing) {
	for i, name := range names {
		if !slices.Contains(t.names, name) {
			t.names = append(t.names, name)
			t.faults[name] = map[engine.FaultKind]int{}
		}
		for kind, n := range st.Players[i].Faults {
			t.faults[name][kind] += n
		}
	}
	if t.scores[[2]string{names[1], names[0]}] != nil { // seen the other way round in another match
		names, score = [2]string{names[1], names[0]}, score.Turned()
	}
	if t.scores[names] == nil {
		t.scores[names] = &match.Score{}
	}
	t.scores[names].Add(score)
}

// end completes the summary.
func (s *sums) end() {
	s.Faults = slices.DeleteFunc(s.Faults, func(f Faults) bool { return len(f.New) == 0 })
	// Those with new kinds of faults first.
	isNew := func(f Faults) int {
		for kind := range f.New {
			if f.Before[kind] == 0 {
				return 0
			}
		}
		return 1
	}
	slices.SortStableFunc(s.Faults, func(a, b Faults) int { return cmp.Compare(isNew(a), isNew(b)) })
	slices.SortStableFunc(s.Strength, func(a, b Strength) int {
		rank := func(x Strength) int {
			if x.Versions {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
	for _, name := range s.order {
		s.Tables = append(s.Tables, s.tables[name].table(name))
	}
}

// table returns the standing of all players.
func (t *sumTable) table(gameName string) Table {
	st := match.NewStanding(&match.Terms{Game: gameName, Players: t.names, Kind: match.RoundRobin})
	for i := range st.Pairings {
		m := &st.Pairings[i]
		names := [2]string{t.names[m.A], t.names[m.B]}
		score := t.scores[names]
		if score == nil {
			if turned := t.scores[[2]string{names[1], names[0]}]; turned != nil {
				other := turned.Turned()
				score = &other
			}
		}
		if score == nil {
			continue
		}
		m.Score = *score
		st.Games += score.Games()
		st.Players[m.A].Score.Add(*score)
		st.Players[m.B].Score.Add(score.Turned())
	}
	for i := range st.Players {
		st.Players[i].Faults = t.faults[t.names[i]]
	}
	table := Table{Game: gameName, Standing: st}
	for _, i := range st.Ranking() {
		table.Players = append(table.Players, PlayerSummary{t.names[i], t.faults[t.names[i]], NewMeasure(st.Players[i].Score)})
	}
	return table
}

// GamesOf reads the games of a match that are saved.
func (c *Campaign) GamesOf(name string) (all []*match.Game, err error) {
	for _, m := range c.meets {
		if m.Match != name {
			continue
		}
		_, games, err := match.ReadFile(filepath.Join(c.plan.Dir, gamesDir, m.File))
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing was played yet
		}
		if err != nil {
			return nil, err
		}
		all = append(all, games...)
	}
	return all, nil
}
