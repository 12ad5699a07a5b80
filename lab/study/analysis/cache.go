package analysis

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"sparring/engine"
	"sparring/internal/journal"
	"sparring/protocol"
	"sparring/record"
	"sparring/record/review"
)

// ErrTerms is returned by OpenCache if the file has searches of another engine or
// with other limits. Choose another file.
var ErrTerms = errors.New("the file holds analyses with different settings")

// cacheVersion is the version of the files of a Cache.
const cacheVersion = 1

// terms are what searches depend on. The first line of a file has them.
type terms struct {
	Analyses int    `json:"analyses"` // version of the file
	Engine   string `json:"engine"`   // spec
	Nodes    uint64 `json:"nodes,omitempty"`
	Depth    int    `json:"depth,omitempty"`
	Mate     int    `json:"mate,omitempty"`
	TimeMS   int64  `json:"time_ms,omitempty"`
	HashMB   int    `json:"hash_mb"`
	Threads  int    `json:"threads"`
	Build    string `json:"build,omitempty"` // of our engine
}

// Cache remembers the searches of reviews in a file, a line for each, so that an
// interrupted review goes on where it was, and games that share an opening search it
// once. It is safe for concurrent use. A nil Cache remembers nothing.
type Cache struct {
	mu    sync.Mutex
	file  *journal.File
	known map[question]answer
}

// question names a search: a digest of the rules, the start position and the moves to
// the position, and the moves to consider.
type question struct {
	position string
	consider string
}

// entry is a line of the file.
type entry struct {
	Position string   `json:"position"` // see question
	Ply      int      `json:"ply"`
	Consider []string `json:"consider,omitempty"`
	answer
}

// answer is what a review uses of an analysis.
type answer struct {
	Depth  int                     `json:"depth,omitempty"`
	Chance *float64                `json:"chance,omitempty"`
	Lines  []protocol.AnalysisLine `json:"lines"`
}

// OpenCache opens or creates a file for the searches of an analyst. A last line that
// was truncated by a crash is removed. The error wraps ErrTerms or journal.ErrInUse,
// or names the line that can't be read. Close it.
func OpenCache(path string, a *Analyst, hashMB, threads int) (*Cache, error) {
	now := terms{Analyses: cacheVersion, Engine: a.spec.String(), Nodes: a.limits.Nodes, Depth: a.limits.Depth, Mate: a.limits.Mate,
		TimeMS: a.limits.Hard.Milliseconds(), HashMB: hashMB, Threads: threads}
	if a.spec.Outside == nil {
		now.Build = engine.Build()
	}
	c := &Cache{known: make(map[question]answer)}
	var err error
	c.file, err = journal.Open(path, journal.Layout{
		Name: "analyses", What: "a file of analyses", Prefix: `{"analyses":`, Terms: now,
		Same: func(line []byte) error {
			var have terms
			if err := json.Unmarshal(line, &have); err != nil {
				return err
			}
			if differ := journal.Differences(have, now); len(differ) > 0 {
				return fmt.Errorf("%w: %s", ErrTerms, strings.Join(differ, "; "))
			}
			return nil
		},
		Take: c.take,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Len returns the number of searches in the file.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.known)
}

// Close closes the file.
func (c *Cache) Close() error { return c.file.Close() }

func (c *Cache) take(line []byte) error {
	var have entry
	if err := json.Unmarshal(line, &have); err != nil {
		return err
	}
	if have.Position == "" || len(have.Lines) == 0 {
		return fmt.Errorf("not an analysis: %.80q", line)
	}
	for _, l := range have.Lines {
		if len(l.Moves) == 0 || !chance(l.Chance) || !chance(have.Chance) {
			return fmt.Errorf("not an analysis: %.80q", line)
		}
	}
	c.known[have.question()] = have.answer
	return nil
}

// chance reports whether c is a probability, or absent.
func chance(c *float64) bool { return c == nil || *c >= 0 && *c <= 1 }

func (e *entry) question() question { return question{e.Position, strings.Join(e.Consider, " ")} }

// through returns ask with the cache before it, for the game of a record.
func (c *Cache) through(r *record.Record, moves []string, ask review.Ask) review.Ask {
	if c == nil {
		return ask
	}
	return func(ctx context.Context, ply int, consider []string) (protocol.Analysis, error) {
		sum := sha256.Sum256([]byte(r.Rules + "\n" + r.Position + "\n" + strings.Join(moves[:ply], " ")))
		e := entry{Position: hex.EncodeToString(sum[:12]), Ply: ply, Consider: consider}
		c.mu.Lock()
		have, ok := c.known[e.question()]
		c.mu.Unlock()
		if ok {
			return protocol.Analysis{Depth: have.Depth, Chance: have.Chance, Lines: have.Lines}, nil
		}
		found, err := ask(ctx, ply, consider)
		if err != nil {
			return found, err
		}
		e.answer = answer{found.Depth, found.Chance, found.Lines}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.known[e.question()] = e.answer
		return found, c.file.Append(&e)
	}
}
