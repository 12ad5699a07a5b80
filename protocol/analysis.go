package protocol

import (
	"errors"
	"time"
)

// MaxAnalysis is the longest time that an analysis may take.
const MaxAnalysis = 60 * time.Second

// Limits of single fields of an analysis.
const (
	maxAnalysisNodes = 1_000_000_000
	maxLines         = 8
	maxLineMoves     = 64
	maxScore         = 1 << 20
	maxDepth         = 1024
	maxNodes         = 1 << 53 // what every JSON decoder reads exactly
)

// Purpose is what an analysis is for. An analyst that has to choose prefers hints:
// somebody waits for one.
type Purpose string

// The purposes of an analysis.
const (
	ForHint   Purpose = "hint"   // somebody waits for this position
	ForReview Purpose = "review" // one of many positions of a finished game
)

// AnalysisRequest asks an analyst for the best lines of a position. Only the
// platform sends it: it knows which positions may be analysed.
type AnalysisRequest struct {
	Header
	Rules    string   `json:"rules"`              // full name
	Position string   `json:"position,omitempty"` // start position; "" is the usual one
	Moves    []string `json:"moves"`              // played since the start position
	// The budget. The search ends with the first limit that it reaches.
	TimeMS int64 `json:"time_ms"`         // from when the analyst has accepted, 1 to 60000
	Nodes  int64 `json:"nodes,omitempty"` // 0: no limit
	Lines  int   `json:"lines,omitempty"` // how many lines, the best first; 0: one
	// Consider lists the moves to search; empty means all.
	Consider []string `json:"consider,omitempty"`
	Purpose  Purpose  `json:"purpose"`
}

// AnalysisCancel ends an analysis early. The analyst then sends its last answer.
type AnalysisCancel struct{ Header }

// Analysis is an answer of an analyst. There are several, with growing depth: the
// first says that it has accepted, Final marks the last one. Each is complete. At
// least one comes every AnalysisPulse. A refusal is final.
type Analysis struct {
	Header
	Code   Code   `json:"code"`
	Error  *Error `json:"error,omitempty"`
	Final  bool   `json:"final,omitempty"`
	Engine string `json:"engine,omitempty"` // name and version, up to 64 runes
	Depth  int    `json:"depth,omitempty"`  // of the last complete iteration; 0: none yet
	Nodes  int64  `json:"nodes,omitempty"`
	// Chance is the winning chance of the seat to act, 0 to 1, draws counted half.
	// It is absent before the first depth, and in an opening procedure where a
	// choice is compared with others and not with its outcome.
	Chance *float64       `json:"chance,omitempty"`
	Lines  []AnalysisLine `json:"lines,omitempty"` // best first
}

// AnalysisLine is a line of play, with its value for the seat to act.
type AnalysisLine struct {
	Score  int      `json:"score,omitempty"`  // in the engine's unit
	Chance *float64 `json:"chance,omitempty"` // as in Analysis
	Moves  []string `json:"moves"`
}

// AnalysisPulse is the longest time between two answers of an analyst. One that
// sends none for several times as long has died.
const AnalysisPulse = time.Second

// Check implements Checker.
func (m *AnalysisRequest) Check() error {
	errs := []error{m.Header.Check(), text("rules", m.Rules, maxRules), text("position", m.Position, maxPlace),
		within("nodes", m.Nodes, maxAnalysisNodes), within("time_ms", m.TimeMS, MaxAnalysis.Milliseconds()), within("lines", m.Lines, maxLines),
		moveTexts("moves", m.Moves, maxPly), moveTexts("consider", m.Consider, maxList)}
	if m.Rules == "" {
		errs = append(errs, errors.New("rules: missing"))
	}
	if m.TimeMS == 0 {
		errs = append(errs, errors.New("time_ms: missing"))
	}
	if m.Purpose != ForHint && m.Purpose != ForReview {
		errs = append(errs, errors.New("purpose: want hint or review"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *AnalysisCancel) Check() error { return m.Header.Check() }

// Check implements Checker.
func (m *Analysis) Check() error {
	errs := []error{m.Header.Check(), text("code", string(m.Code), maxWord), text("engine", m.Engine, maxDisplay), within("depth", m.Depth, maxDepth),
		within("nodes", m.Nodes, maxNodes), chance(m.Chance), within("lines", len(m.Lines), maxLines)}
	if m.Code == "" {
		errs = append(errs, errors.New("code: missing"))
	}
	if m.Error != nil {
		errs = append(errs, text("code", string(m.Error.Code), maxWord), text("text", m.Error.Text, maxText))
	}
	for _, l := range m.Lines {
		errs = append(errs, moveTexts("moves", l.Moves, maxLineMoves), chance(l.Chance), within("score", max(l.Score, -l.Score), maxScore))
		if len(l.Moves) == 0 {
			errs = append(errs, errors.New("moves: missing"))
		}
	}
	return first(errs...)
}

func chance(c *float64) error {
	if c != nil && (*c < 0 || *c > 1) {
		return errors.New("chance: want 0 to 1")
	}
	return nil
}
