package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/internal/journal"
	"sparring/lab/match"
	"sparring/pipe/playerspec"
)

// The journal has what happened to a campaign, the folder gamesDir the games: a
// result file of package match for each pairing. Only these two are kept; pages are
// made from them.
const (
	journalName = "campaign.jsonl"
	gamesDir    = "games"
)

// GamesOf returns the folder with the result files of the campaign that has the folder dir;
// "" of any other folder.
func GamesOf(dir string) string {
	if info, err := os.Stat(filepath.Join(dir, journalName)); err != nil || info.IsDir() {
		return ""
	}
	return filepath.Join(dir, gamesDir)
}

// journalVersion is that of the journals that this package writes.
const journalVersion = 1

// header is the first line of a journal.
type header struct {
	V    int    `json:"campaign"`
	Name string `json:"name"`
}

// line is each further line: one of these.
type line struct {
	Start   *start   `json:"start,omitempty"`
	Pairing *pairing `json:"pairing,omitempty"`
	Aside   *Aside   `json:"aside,omitempty"`
	End     *end     `json:"end,omitempty"`
}

// start is the beginning of a run.
type start struct {
	Time    time.Time          `json:"time"`
	Build   string             `json:"build"`
	Players map[string]Version `json:"players"`
}

// Version tells the versions of a player apart: its spec, and the build of our engine
// or the digest of a program's files.
type Version struct {
	Spec  string `json:"spec"`
	Build string `json:"build"`
}

// pairing is a file of games between two players under one set of conditions. It is
// written before its first game.
type pairing struct {
	Match    string      `json:"match"`
	Key      string      `json:"key"` // digest of all that affects the games
	File     string      `json:"file"`
	Terms    match.Terms `json:"terms"`
	Versions [2]Version  `json:"versions"`
}

// names returns the names of the two players.
func (p *pairing) names() [2]string { return [2]string{p.Terms.Labels[0], p.Terms.Labels[1]} }

// Aside is a pairing that is not played on in a run.
type Aside struct {
	Time    time.Time `json:"time"`
	Match   string    `json:"match"`
	Players [2]string `json:"players"`
	// Broken is the player that lost so many games in a row by a fault, the last one by
	// this kind; "": the games can't be played.
	Broken string           `json:"broken,omitempty"`
	Lost   int              `json:"lost,omitempty"`
	Fault  engine.FaultKind `json:"fault,omitempty"`
	Text   string           `json:"text"` // of the fault, or the error
}

// end is the end of a run that ended by itself. A run that was killed has none: the
// next start continues it.
type end struct {
	Time  time.Time      `json:"time"`
	Why   State          `json:"why"`
	Games map[string]int `json:"games"` // in each file of a pairing
}

// log is what a journal holds.
type log struct {
	pairings []*pairing
	current  *start    // of the latest start
	before   *start    // of the last run that ended by itself; nil: there was none
	last     *end      // its end
	begun    time.Time // of the run since; zero: none
	asides   []Aside   // since
	ended    *log      // before, last, begun and asides until the last end, which tell of its run; nil: there was none
}

// lookBack returns to the state before the last end, of which there is one.
func (l *log) lookBack() {
	l.before, l.last, l.begun, l.asides = l.ended.before, l.ended.last, l.ended.begun, l.ended.asides
}

func (l *log) take(data []byte) error {
	var e line
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	switch {
	case e.Start != nil:
		if l.begun.IsZero() {
			l.begun = e.Start.Time
		}
		l.asides = nil // each start tries again
		l.current = e.Start
	case e.Pairing != nil:
		if len(e.Pairing.Terms.Labels) != 2 || e.Pairing.File != filepath.Base(e.Pairing.File) {
			return errors.New("not a pairing")
		}
		l.pairings = append(l.pairings, e.Pairing)
	case e.Aside != nil:
		l.asides = append(l.asides, *e.Aside)
	case e.End != nil:
		l.ended = &log{before: l.before, last: l.last, begun: l.begun, asides: l.asides}
		l.before, l.last, l.begun, l.asides = l.current, e.End, time.Time{}, nil
	}
	return nil
}

var (
	// ErrOther is returned by Open if the folder is not this campaign's. Choose another
	// folder.
	ErrOther = errors.New("belongs to something else")
	// ErrRunning is returned by Open while another process runs the campaign.
	ErrRunning = journal.ErrInUse
)

// openJournal opens or creates the journal in a folder. To read only, a folder without
// one is that of a campaign that has not begun; the file is then nil.
func openJournal(dir, name string, write bool) (f *journal.File, l *log, err error) {
	path := filepath.Join(dir, journalName)
	l = &log{}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		if isOthers(dir) {
			return nil, nil, fmt.Errorf("%s: %w: it is not empty and has no %s", dir, ErrOther, journalName)
		}
		if !write {
			return nil, l, nil
		}
	case err != nil:
		return nil, nil, err
	case !write:
		return nil, l, journal.Read(path, layout(name, l))
	}
	if err := os.MkdirAll(filepath.Join(dir, gamesDir), 0o755); err != nil {
		return nil, nil, err
	}
	f, err = journal.Open(path, layout(name, l))
	return f, l, err
}

// isOthers reports whether a folder without a journal holds anything but what a start that
// failed may have left there.
func isOthers(dir string) bool {
	entries, _ := os.ReadDir(dir) // none: it is not there
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.Name() != gamesDir {
			return e.Name() != journalName+".lock"
		}
		games, err := os.ReadDir(filepath.Join(dir, gamesDir))
		return err != nil || len(games) > 0
	})
}

// layout is that of the journal of a campaign; "" is any campaign's.
func layout(name string, l *log) journal.Layout {
	return journal.Layout{
		Name: "campaign", What: "a campaign's journal", Prefix: `{"campaign":`, Terms: header{journalVersion, name},
		Same: func(data []byte) error {
			var h header
			if err := json.Unmarshal(data, &h); err != nil {
				return err
			}
			switch {
			case h.V != journalVersion:
				return fmt.Errorf("journal version %d; this program reads version %d", h.V, journalVersion)
			case h.Name != name:
				return fmt.Errorf("%w: it is of the campaign %q, not of %q", ErrOther, h.Name, name)
			}
			return nil
		},
		Take: l.take,
	}
}

// keyOf digests all that affects the games of a pairing.
func keyOf(matchName string, t match.Terms, versions [2]Version) string {
	t.ID, t.Build = "", ""
	data, err := json.Marshal(struct {
		Match    string
		Terms    match.Terms
		Versions [2]Version
	}{matchName, t, versions})
	if err != nil {
		panic("unreachable: terms of a match are JSON: " + err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// Reason is why old games do not count.
type Reason struct {
	Kind   string `json:"kind"` // ReasonSpec, ReasonBuild or ReasonSetting
	Name   string `json:"name"` // of the player or the setting
	Before string `json:"before"`
	Now    string `json:"now"`
}

// Kinds of reasons.
const (
	ReasonSpec    = "spec"    // of a player
	ReasonBuild   = "build"   // of a player: its files changed, or our engine
	ReasonSetting = "setting" // of the match
)

// differences says why the games of an old pairing do not count for a new one.
func differences(old, now *pairing) (why []Reason) {
	versions := map[string]Version{}
	for i, name := range old.names() {
		versions[name] = old.Versions[i]
	}
	for i, name := range now.names() {
		a, b := versions[name], now.Versions[i]
		if a.Spec != b.Spec {
			why = append(why, Reason{ReasonSpec, name, a.Spec, b.Spec})
		} else if a.Build != b.Build {
			if self, _, _ := strings.Cut(b.Spec, ":"); self == playerspec.Self {
				name = self // it has one build
			}
			why = append(why, Reason{ReasonBuild, name, a.Build, b.Build})
		}
	}
	why = slices.Compact(why)
	before, after := settings(&old.Terms), settings(&now.Terms)
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if x, y := string(before[key]), string(after[key]); x != y {
			why = append(why, Reason{ReasonSetting, keyInFile(key), strings.Trim(x, `"`), strings.Trim(y, `"`)})
		}
		delete(before, key)
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		why = append(why, Reason{ReasonSetting, keyInFile(key), strings.Trim(string(before[key]), `"`), ""})
	}
	return why
}

// keyInFile returns the key that sets a term of a match in the file of a campaign.
func keyInFile(term string) string {
	if term == "limit" {
		return "clock"
	}
	if term == "move_ms" {
		return "max-move (ms)"
	}
	name, ms := strings.CutSuffix(term, "_ms")
	name = strings.ReplaceAll(strings.TrimSuffix(name, "_mb"), "_", "-")
	if ms {
		name += " (ms)"
	}
	return name
}

// settings returns what affects the games besides the players, by the names of JSON.
func settings(t *match.Terms) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	data, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		panic("unreachable: terms of a match are JSON: " + err.Error())
	}
	for _, key := range []string{"id", "build", "players", "labels"} {
		delete(all, key)
	}
	return all
}
