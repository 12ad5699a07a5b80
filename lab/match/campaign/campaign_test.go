package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/internal/journal"
	"sparring/lab/match"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
)

func TestParseUntil(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	now := time.Date(2026, 11, 22, 23, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"07:30":                     time.Date(2026, 11, 23, 7, 30, 0, 0, zone),
		"23:31":                     time.Date(2026, 11, 22, 23, 31, 0, 0, zone),
		"23:30":                     time.Date(2026, 11, 23, 23, 30, 0, 0, zone),
		"2026-12-01 07:00":          time.Date(2026, 12, 1, 7, 0, 0, 0, zone),
		"2026-11-22T16:00:00Z":      time.Date(2026, 11, 23, 0, 0, 0, 0, zone),
		"2026-11-22 23:30":          {},
		"2026-11-22T15:00:00+00:00": {},
		"soon":                      {},
		"24:30":                     {},
	} {
		got, err := ParseUntil(text, now)
		if (err != nil) != want.IsZero() || err == nil && !got.Equal(want) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

// scripted plays games whose result decide gives: the winner, and the fault of the
// loser.
type scripted struct {
	decide func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error)
}

func (scripted) Close() {}

func (s scripted) Play(_ context.Context, p *Pair, finished func(*match.Game) error) error {
	for _, b := range p.Bouts {
		winner, fault, err := s.decide(p, b)
		if err != nil {
			return err
		}
		g := match.NewGame(p.Terms, b)
		if fault != "" {
			g.Lose(winner.Other(), &engine.Fault{Kind: fault, Text: "as the test wants"})
		} else {
			g.End(game.Outcome{Result: game.WonBy(winner), Reason: "no-moves"}, "")
		}
		if err := finished(g); err != nil {
			return err
		}
	}
	return nil
}

// planOf returns a campaign of Amazons between a, b and c.
func planOf(dir string, games int, build string, decide func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error)) Plan {
	names := []string{"a", "b", "c"}
	p := Plan{Name: "test", Title: "Test", Dir: dir, Concurrency: 1, Versions: map[string]Version{},
		Worker: func() (Worker, error) { return scripted{decide}, nil }}
	terms := match.Terms{V: match.FileVersion, ID: "m1", Game: "amazons", Rules: "amazons/6x6", Labels: names, Kind: match.RoundRobin, Openings: "none",
		Event: "Cup {year}", PatienceMS: 1000, HashMB: 1, Threads: 1}
	for _, n := range names {
		spec := "uci:./" + n
		terms.Players = append(terms.Players, spec)
		p.Versions[n] = Version{spec, build}
	}
	p.Matches = []Match{{Name: "six", Terms: terms, Games: games, Openings: openings.Start{}}}
	return p
}

// night runs a campaign and returns its summary, which who looks at it later gets, too.
func night(t *testing.T, p Plan) *Summary {
	t.Helper()
	c, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := summary(t, c)
	later, err := ReadLast(p)
	if err != nil {
		t.Fatal(err)
	}
	defer later.Close()
	then := summary(t, later)
	then.Time = s.Time
	if was, is := asJSON(t, s), asJSON(t, then); was != is {
		t.Errorf("at the end of the run:\n%s\nlater:\n%s", was, is)
	}
	return s
}

func summary(t *testing.T, c *Campaign) *Summary {
	t.Helper()
	s, err := c.Summary()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func asJSON(t *testing.T, s *Summary) string {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// aWins lets a win all its games, and else the first seat.
func aWins(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
	for seat, name := range b.Names {
		if name == "a" {
			return game.Seat(seat), "", nil
		}
	}
	return game.First, "", nil
}

// TestNights: what changed from one night to the next.
func TestNights(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	s := night(t, planOf(dir, 4, "1", aWins))
	if s.State != Done || s.Games != 12 || s.Total != 12 || s.New != 12 || s.Since != nil || len(s.Strength)+len(s.Players)+len(s.Old)+len(s.Faults) > 0 {
		t.Errorf("first night: %+v", s)
	}
	if got := s.Matches[0].Event; got != "Cup" {
		t.Errorf("the match is of %q", got)
	}
	if got := s.Matches[0].Repeated; got != 6 { // the script plays no moves: half of its games are like the others
		t.Errorf("%d games are like others", got)
	}
	if p := s.Tables[0].Players[0]; p.Player != "a" || p.Wins != 8 || p.Pairs != (elo.Pairs{4: 4}) {
		t.Errorf("first: %+v", p)
	}

	// More games, in which c crashes once and loses once on time.
	n := 0
	s = night(t, planOf(dir, 6, "1", func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
		seat, _, _ := aWins(p, b)
		fault := engine.FaultKind("")
		if b.Names[seat.Other()] == "c" && n < 2 {
			fault = []engine.FaultKind{engine.FaultCrash, engine.FaultTime}[n]
			n++
		}
		return seat, fault, nil
	}))
	if s.New != 6 || s.Since == nil || len(s.Strength) != 3 || s.Strength[0].Versions || s.Strength[0].Before.Games() != 4 || s.Strength[0].Now.Games() != 6 {
		t.Errorf("second night: %+v", s)
	}
	if len(s.Faults) != 1 || s.Faults[0].Player != "c" || s.Faults[0].New[engine.FaultCrash] != 1 || s.Faults[0].New[engine.FaultTime] != 1 || len(s.Faults[0].Before) > 0 {
		t.Errorf("faults: %+v", s.Faults)
	}

	// Another version of all: what was played stays to be seen before the first new game.
	c, err := Read(planOf(dir, 6, "2", aWins))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if first := summary(t, c).Matches[0].Pairings[0]; first.Games() != 0 || len(first.Earlier) != 1 || first.Earlier[0].Games() != 6 || first.Earlier[0].Wins != 6 || len(first.Earlier[0].Why) == 0 {
		t.Errorf("after a new version: %+v", first)
	}

	// All starts over, and is compared.
	s = night(t, planOf(dir, 6, "2", aWins))
	if s.New != 18 || len(s.Players) != 3 || len(s.Old) != 3 || s.Old[0].Games != 6 || !s.Strength[0].Versions || s.Strength[0].Before.Games() != 6 {
		t.Errorf("third night: %+v", s)
	}

	// Other conditions.
	other := planOf(filepath.Join(t.TempDir(), "night"), 2, "1", aWins)
	night(t, other)
	other.Matches[0].Terms.MarginMS, other.Matches[0].Terms.Limit.Nodes = 70, 500
	if o := night(t, other).Old; len(o) != 1 || o[0].Games != 6 || !slices.Equal(o[0].Why, []Reason{{ReasonSetting, "clock", "unlimited", "nodes=500"}, {ReasonSetting, "margin (ms)", "0", "70"}}) {
		t.Errorf("other conditions: %+v", o)
	}

	// Back to the old ones: their games count again, without any new one.
	s = night(t, planOf(dir, 6, "1", aWins))
	if s.Games != 18 || s.New != 0 && len(s.Players) != 3 {
		t.Errorf("fourth night: %+v", s)
	}
}

// TestBroken: a player that breaks is set aside, and so are two whose game can't be
// played. The next night tries again.
func TestBroken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	s := night(t, planOf(dir, 4, "1", func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
		for seat, name := range b.Names {
			if name == "c" {
				return game.Seat(seat).Other(), engine.FaultHang, nil
			}
		}
		return game.First, "", nil
	}))
	more := planOf(dir, 6, "1", aWins)
	if c, err := ReadLast(more); err != nil {
		t.Error(err)
	} else if s := summary(t, c); s.Since == nil || len(s.Asides) > 0 || s.New > 0 {
		t.Errorf("with more games in the plan than the last run had: %+v", s)
	}
	if len(s.Asides) != 2 || s.Asides[0].Broken != "c" || s.Asides[0].Fault != engine.FaultHang || s.Games != 4+4 { // a pair is played to its end
		t.Errorf("%d games, aside %+v", s.Games, s.Asides)
	}
	s = night(t, planOf(dir, 4, "1", aWins))
	if len(s.Asides) != 0 || s.Games != 12 || s.State != Done {
		t.Errorf("the next night: %+v", s)
	}
	s = night(t, planOf(filepath.Join(dir, "other"), 4, "1", func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
		if b.Names[0] == "a" && b.Names[1] == "b" {
			return 0, "", errors.New("no licence")
		}
		return game.First, "", nil
	}))
	if len(s.Asides) != 1 || s.Asides[0].Broken != "" || s.Asides[0].Text != "no licence" || s.Games != 8 {
		t.Errorf("%d games, aside %+v", s.Games, s.Asides)
	}
}

// TestCut: a journal that was cut off anywhere, as by a crash, is gone on with.
func TestCut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	night(t, planOf(dir, 2, "1", aWins))
	path := filepath.Join(dir, journalName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size <= len(whole); size += 37 {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if s := night(t, planOf(dir, 2, "1", aWins)); s.Games != 6 || s.State != Done {
			t.Fatalf("%d bytes: %d games, %s", size, s.Games, s.State)
		}
	}
}

// forget removes the first games of one of a campaign's files.
func forget(t *testing.T, dir string, games int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, gamesDir, "*.jsonl"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n") // the first has the terms
	if err := os.WriteFile(files[0], []byte(strings.Join(slices.Delete(lines, 1, 1+games), "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestShortened: games beyond a shortened plan don't stand for others that are missing.
func TestShortened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	night(t, planOf(dir, 6, "1", aWins))
	forget(t, dir, 1)
	c, err := Open(planOf(dir, 4, "1", aWins))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s, err := c.Summary(); err != nil || s.Games != 11 || s.Total != 12 {
		t.Errorf("%d of %d games, want 11 of 12: %v", s.Games, s.Total, err)
	}
}

// TestProgress: the progress of a run counts as its summary does, with a plan that was
// shortened and with one of which a sequential test has decided a pairing: what that spares
// is not played, nor called so.
func TestProgress(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "night")
	night(t, planOf(dir, 6, "1", aWins))
	forget(t, dir, 2) // both games of the first pair
	shortened := planOf(dir, 4, "1", aWins)
	decided := planOf(filepath.Join(t.TempDir(), "night"), 100, "1", aWins)
	test, err := elo.ParseSPRT("elo0=0,elo1=50")
	if err != nil {
		t.Fatal(err)
	}
	decided.Matches[0].SPRT = &test
	for name, p := range map[string]Plan{"shortened": shortened, "decided": decided} {
		var c *Campaign
		games := 0
		p.Played = func(done, total int) {
			games++
			if s, err := c.Summary(); err != nil || done != s.Games || total != s.Games+s.Missing() {
				t.Errorf("%s: %d of %d after %d games, the summary says %d and %d missing: %v", name, done, total, games, s.Games, s.Missing(), err)
			}
		}
		if c, err = Open(p); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		s, err := c.Summary()
		if err != nil || games == 0 || s.Missing() != 0 || s.State != Done {
			t.Errorf("%s: %d games of %d, %d missing, %s: %v", name, games, s.Total, s.Missing(), s.State, err)
		}
		if name == "decided" && (s.Total != 300 || s.Games != games || s.Spared != 300-games || games == 300 || s.Matches[0].Games != games) {
			t.Errorf("%s: %d games were played of 300, the summary says %d of %d, %d spared", name, games, s.Games, s.Total, s.Spared)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	p := planOf(filepath.Join(t.TempDir(), "night"), 2, "1", aWins)
	c, err := Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := Open(p); !errors.Is(err, ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	reading := func(want State) {
		t.Helper()
		r, err := Read(p)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if s, err := r.Summary(); err != nil || s.State != want {
			t.Errorf("reading: %s, %v, want %s", s.State, err, want)
		}
	}
	reading(Stopped) // it has not begun
	if err := c.journal.Append(line{Start: &start{Time: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	reading(Running)
	c.Close() // as if it was killed
	reading(Stopped)
	p.Name = "another"
	if _, err := Read(p); !errors.Is(err, ErrOther) {
		t.Errorf("of another name: %v", err)
	}
}

// TestDifference: the interval of a difference is wider than those of both, and open
// where one of them is.
func TestDifference(t *testing.T) {
	of := func(p elo.Pairs) Measure { return NewMeasure(match.Score{Pairs: p}) }
	old, now := of(elo.Pairs{10, 20, 40, 20, 10}), of(elo.Pairs{5, 15, 40, 25, 15})
	d := now.minus(old)
	want := *now.EloNow.Value - *old.EloNow.Value
	if math.Abs(*d.Value-want) > 1e-9 || *d.High-*d.Low < *now.EloNow.High-*now.EloNow.Low {
		t.Errorf("%g (%g to %g), want %g", *d.Value, *d.Low, *d.High, want)
	}
	none, some, most, all := of(elo.Pairs{40}), of(elo.Pairs{32, 4, 4}), of(elo.Pairs{1, 1, 3, 5, 10}), of(elo.Pairs{4: 20})
	for name, d := range map[string]Range{"of most games": most.minus(none), "of all": all.minus(none)} {
		if d.Value != nil || d.High != nil || d.Low == nil || *d.Low < 300 {
			t.Errorf("wins %s, and of none before: %+v", name, d)
		}
	}
	if d := some.minus(none); d.Value != nil || d.High != nil || d.Low == nil || *d.Low > 0 {
		t.Errorf("wins of some games, and of none before: %+v", d)
	}
	if d := none.minus(all); d.Value != nil || d.Low != nil || d.High == nil || *d.High > -300 {
		t.Errorf("wins of no games, and of all before: %+v", d)
	}
	if d := all.minus(all); d != (Range{}) {
		t.Errorf("wins of all games, as before: %+v", d)
	}
}

// TestVersions: a file that changes is another version, also one that an option names, but
// not a log that the program writes.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	program, net, said, heard := filepath.Join(dir, "engine"), filepath.Join(dir, "net"), filepath.Join(dir, "said"), filepath.Join(dir, "heard.log")
	for _, f := range []string{program, net, said, heard} {
		if err := os.WriteFile(f, []byte("one"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var v Versions
	spec := "uci:" + program + ",arg=" + heard + ",option.EvalFile=" + net + ",option.Debug Log File=" + said
	first, err := v.Of(spec)
	if err != nil || v.Check(first) != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, f := range []string{said, heard} {
		if err := os.WriteFile(f, []byte("one, two"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := v.Check(first); err != nil {
			t.Errorf("%s was written to: %v", f, err)
		}
	}
	for _, f := range []string{net, program} {
		if err := os.WriteFile(f, []byte("another"), 0o700); err != nil {
			t.Fatal(err)
		}
		now, err := v.Of(spec)
		if err != nil || now == first {
			t.Errorf("%s changed: %+v, %v", f, now, err)
		}
		if err := v.Check(first); !errors.Is(err, ErrVersion) {
			t.Errorf("%s changed: %v", f, err)
		}
		first = now
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	if err := v.Check(first); !errors.Is(err, ErrVersion) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is gone: %v", program, err)
	}
	if _, err := v.Of("uci:" + filepath.Join(dir, "nothing")); err == nil {
		t.Error("a program that is not there")
	}
	if self, err := v.Of("self:level=3"); err != nil || !strings.Contains(self.Build, "sparring") {
		t.Errorf("%+v, %v", self, err)
	}
}

// TestUntilEnds: at its time a campaign ends, and the run is complete.
func TestUntilEnds(t *testing.T) {
	p := planOf(filepath.Join(t.TempDir(), "night"), 1000, "1", func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
		time.Sleep(5 * time.Millisecond)
		return aWins(p, b)
	})
	p.Until = time.Now().Add(500 * time.Millisecond)
	if s := night(t, p); s.State != Until || s.Games >= s.Total {
		t.Errorf("%s after %d of %d games", s.State, s.Games, s.Total)
	}
	var l log
	if err := journal.Read(filepath.Join(p.Dir, journalName), layout("test", &l)); err != nil || l.last == nil || l.last.Why != Until {
		t.Errorf("%+v, %v", l.last, err)
	}
}

// TestUntilAfterSleep: a machine that slept, in which no timer ran, ends in time.
func TestUntilAfterSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asleep = 7 * time.Hour
		var slept atomic.Int64
		played := 0
		p := planOf(filepath.Join(t.TempDir(), "night"), 1000, "1", func(p *Pair, b match.Bout) (game.Seat, engine.FaultKind, error) {
			if played++; played == 10 {
				slept.Store(int64(asleep))
			}
			time.Sleep(time.Minute)
			return aWins(p, b)
		})
		p.Until = time.Now().Add(asleep)
		c, err := Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		if err := c.Run(t.Context()); err != nil || c.state != Until || played > 12 {
			t.Errorf("%s after %d games: %v", c.state, played, err)
		}
	})
}
