package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sparring/engine"
	"sparring/internal/journal"
	"sparring/lab/match"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
)

// Plan is a campaign with all that is needed to play it.
type Plan struct {
	Name, Title string
	Dir         string // see Open
	Matches     []Match
	Versions    map[string]Version // of the players, by name
	Until       time.Time          // zero: until all is played

	// The rest is for Run.

	Concurrency int
	// Worker returns a worker, one for each game at once. Run closes it.
	Worker func() (Worker, error)
	// Say is called with lines for people, never concurrently.
	Say func(format string, args ...any)
	// Played is called after each game that was saved, never concurrently, with how many
	// games are played, of how many that there are to play.
	Played func(done, total int)
}

// Match is a match of a campaign.
type Match struct {
	Name     string
	Terms    match.Terms // its Labels are the players' names
	Games    int         // for each two players
	Openings openings.Source
	SPRT     *elo.SPRT // nil: all games are played
}

// Pair are the games of one opening that are to be played.
type Pair struct {
	Match    string       `json:"match"`
	Terms    *match.Terms `json:"terms"` // of two players
	Versions [2]Version   `json:"versions"`
	Bouts    []match.Bout `json:"bouts"`
}

// Worker plays pairs, one after another.
type Worker interface {
	// Play plays the games and calls finished with each at its end. After an error the
	// two players are not paired again in this run; games that were not finished do not
	// count.
	Play(ctx context.Context, p *Pair, finished func(*match.Game) error) error
	Close()
}

// Campaign is an open campaign.
type Campaign struct {
	plan    Plan
	journal *journal.File
	log     *log
	meets   []*meeting
	build   string
	began   time.Time // of this start; zero: it does not play
	state   State
	now     func() time.Time // the time of the day

	mu     sync.Mutex // before that of a match.Match
	asides []Aside
	broken map[[2]string]int // consecutive games lost by a fault, by match and player
	saying sync.Mutex
	failed bool // writing fails, which has been said
}

// meeting is a pairing of the plan, with its games.
type meeting struct {
	*pairing
	plan  *Match
	file  *match.File // nil: read only
	match *match.Match

	total  int // pairs
	handed int // pairs
	over   bool
	before int // games at the end of the last run that ended by itself
	old    []*pairing
	past   []Earlier            // the games of old
	faults map[int]*match.Fault // the latest of each player
}

// journalRetry is the time between two attempts to write to a full disk.
const journalRetry = 5 * time.Second

// Open opens or creates the folder of a campaign. The error wraps ErrOther,
// ErrRunning, or says what is wrong with a file. Close it.
func Open(p Plan) (*Campaign, error) { return open(p, true, false) }

// Read reads the folder of a campaign that may be running elsewhere. It can't be run.
func Read(p Plan) (*Campaign, error) { return open(p, false, false) }

// ReadLast is Read. But if nothing has changed since the last run ended, the summary tells
// of that run, as it did at its end: what it changed and set aside.
func ReadLast(p Plan) (*Campaign, error) {
	c, err := Read(p)
	if err != nil || c.changed() {
		return c, err
	}
	c.Close()
	return open(p, false, true)
}

// open opens a folder, to look back at the last run that ended or at what came after it.
func open(p Plan, write, back bool) (c *Campaign, err error) {
	c = &Campaign{plan: p, build: engine.Build(), now: time.Now, broken: map[[2]string]int{}}
	if c.journal, c.log, err = openJournal(p.Dir, p.Name, write); err != nil {
		return nil, err
	}
	c.state = Stopped
	if c.log.last != nil && c.log.begun.IsZero() {
		c.state = c.log.last.Why
	}
	switch {
	case c.log.begun.IsZero():
		if back {
			c.log.lookBack()
		}
	case !write && journal.InUse(filepath.Join(p.Dir, journalName)):
		c.state = Running
	}
	for i := range p.Matches {
		m := &p.Matches[i]
		for _, pair := range m.Terms.Pairings() {
			if err := c.add(m, pair); err != nil {
				c.Close()
				return nil, err
			}
		}
	}
	c.asides = c.log.asides
	return c, nil
}

// changed reports whether there is anything new since the last run ended: a run, games, or
// in the plan another version, other conditions, or games that are missing.
func (c *Campaign) changed() bool {
	last := c.log.last
	if last == nil || !c.log.begun.IsZero() || len(c.newVersions())+len(c.oldGames()) > 0 {
		return true
	}
	return slices.ContainsFunc(c.meets, func(m *meeting) (changed bool) {
		then, played := last.Games[m.File]
		m.match.Look(func(s *match.Standing) {
			missing := last.Why == Done && m.missing(s) > 0 && !m.isAside(c.log.ended.asides)
			changed = !played || s.Games != then || missing
		})
		return changed
	})
}

// isAside reports whether the pairing is among those that were set aside.
func (m *meeting) isAside(asides []Aside) bool {
	return slices.ContainsFunc(asides, func(a Aside) bool { return a.Match == m.Match && a.Players == m.names() })
}

// Close closes all files.
func (c *Campaign) Close() {
	for _, m := range c.meets {
		if m.file != nil {
			m.file.Close() // every game was written at once
		}
	}
	if c.journal != nil {
		c.journal.Close()
	}
}

// add opens the games of two players of a match.
func (c *Campaign) add(m *Match, pair [2]int) error {
	now := c.pairingOf(m, pair)
	mt := &meeting{pairing: now, plan: m, total: m.Games / 2, faults: map[int]*match.Fault{}}
	found := c.find(now.Key)
	if found == nil && m.SPRT == nil { // the other way round, it is the same
		found = c.find(c.pairingOf(m, [2]int{pair[1], pair[0]}).Key)
	}
	for _, old := range c.log.pairings {
		a, b := old.names(), now.names()
		if old.Match == m.Name && old != found && (a == b || a == [2]string{b[1], b[0]}) {
			mt.old = append(mt.old, old)
		}
	}
	switch {
	case found != nil:
		mt.pairing = found
	case c.journal == nil: // it has no games yet
	default:
		if err := c.journal.Append(line{Pairing: now}); err != nil {
			return err
		}
		c.log.pairings = append(c.log.pairings, now)
	}
	plan := match.Plan{Terms: mt.Terms, Games: m.Games, Openings: m.Openings, Concurrency: 1, SPRT: m.SPRT}
	path := filepath.Join(c.plan.Dir, gamesDir, mt.File)
	games, err := c.games(mt, path)
	if err != nil {
		return err
	}
	plan.File = mt.file
	if mt.file == nil {
		plan.File = match.InMemory(games)
	}
	if mt.match, err = match.Begin(plan); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if c.log.last != nil {
		mt.before = min(c.log.last.Games[mt.File], len(games))
	}
	for _, g := range games[mt.before:] {
		mt.blame(g)
	}
	mt.handed = len(games) / 2
	plan.File.Forget()
	c.meets = append(c.meets, mt)
	mt.past, err = c.earlier(mt)
	return err
}

// games opens the file of a pairing, or reads it.
func (c *Campaign) games(mt *meeting, path string) (games []*match.Game, err error) {
	if c.journal != nil {
		terms := mt.Terms
		if mt.file, err = match.OpenFile(path, &terms); err != nil {
			return nil, err
		}
		return mt.file.Games(), nil
	}
	if _, games, err = match.ReadFile(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return games, err
}

// find returns the pairing of a key, nil if there is none.
func (c *Campaign) find(key string) *pairing {
	for _, p := range slices.Backward(c.log.pairings) {
		if p.Key == key {
			return p
		}
	}
	return nil
}

// pairingOf returns a new pairing.
func (c *Campaign) pairingOf(m *Match, pair [2]int) *pairing {
	t := m.Terms
	t.ID, t.Kind, t.Build = match.NewID(), match.RoundRobin, c.build
	t.Players, t.Labels = nil, nil
	p := &pairing{Match: m.Name}
	for i, at := range pair {
		name := m.Terms.Labels[at]
		t.Players, t.Labels = append(t.Players, m.Terms.Players[at]), append(t.Labels, name)
		p.Versions[i] = c.plan.Versions[name]
	}
	p.Terms, p.Key, p.File = t, keyOf(m.Name, t, p.Versions), m.Name+"-"+t.ID+".jsonl"
	return p
}

// blame remembers the fault of a game.
func (m *meeting) blame(g *match.Game) {
	if f := g.Match.Fault; f != nil {
		m.faults[g.Match.Players[f.Seat]] = f
	}
}

// IDs returns the ids of the matches that are played, of two players each.
func (c *Campaign) IDs() map[string]bool {
	all := map[string]bool{}
	for _, m := range c.meets {
		all[m.Terms.ID] = true
	}
	return all
}

// counts returns how many games are played, and how many with those that are missing.
func (c *Campaign) counts() (done, total int) {
	for _, m := range c.meets {
		m.match.Look(func(s *match.Standing) {
			done += m.played(s)
			total += m.played(s) + m.missing(s)
		})
	}
	return done, total
}

// played returns how many of the plan's games are saved. The plan may have been shortened.
func (m *meeting) played(s *match.Standing) (n int) {
	for i := range s.Results {
		if s.Results[i].Pair <= m.total {
			n++
		}
	}
	return n
}

// missing returns how many of the plan's games are still to be played: none when the
// sequential test has decided.
func (m *meeting) missing(s *match.Standing) int {
	if test := m.plan.SPRT; test != nil && test.Verdict(s.Pairings[0].Pairs) != elo.Open {
		return 0
	}
	return 2*m.total - m.played(s)
}

// oldGames says what games of the run before do not count any more, and why.
func (c *Campaign) oldGames() []Old {
	all := []Old{}
	if c.log.last == nil {
		return all
	}
	current, replaced := map[string]bool{}, map[string]*meeting{}
	for _, m := range c.meets {
		current[m.File] = true
		for _, old := range m.old {
			replaced[old.File] = m
		}
	}
	for _, p := range c.log.pairings {
		n := c.log.last.Games[p.File]
		if n == 0 || current[p.File] {
			continue
		}
		now := Old{Match: p.Match, Players: [][2]string{p.names()}, Games: n}
		if m := replaced[p.File]; m != nil {
			now.Why = differences(p, m.pairing)
		} else {
			now.Gone = true
		}
		same := slices.IndexFunc(all, func(o Old) bool { return o.Match == now.Match && o.Gone == now.Gone && slices.Equal(o.Why, now.Why) })
		if same < 0 {
			all = append(all, now)
			continue
		}
		all[same].Games += n
		all[same].Players = append(all[same].Players, p.names())
	}
	return all
}
