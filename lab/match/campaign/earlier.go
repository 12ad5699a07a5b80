package campaign

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"sparring/lab/match"
)

// Earlier are games of two players that do not count any more: of another version of one of
// them, as before a program was compiled again, or under other conditions.
type Earlier struct {
	Why  []Reason `json:"why"` // what is different now
	File string   `json:"file"`
	Measure
}

// earlier reads what the players of a meeting have played before, the latest first. Like the
// meeting's own, a score is its first player's.
func (c *Campaign) earlier(m *meeting) (all []Earlier, err error) {
	for _, old := range slices.Backward(m.old) {
		terms, games, err := match.ReadFile(filepath.Join(c.plan.Dir, gamesDir, old.File))
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(games) == 0 {
			continue
		}
		if err != nil {
			return nil, err
		}
		st := match.NewStanding(terms)
		for _, g := range games {
			if err := st.Add(g); err != nil {
				return nil, err
			}
		}
		score := st.Pairings[0].Score
		if old.names()[0] != m.names()[0] {
			score = score.Turned()
		}
		all = append(all, Earlier{Why: differences(old, m.pairing), File: filepath.Join(gamesDir, old.File), Measure: NewMeasure(score)})
	}
	return all, nil
}
