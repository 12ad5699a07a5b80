package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/external"
)

// analysisView is the analysis of a position as the analyse command shows it.
type analysisView struct {
	ID       string      `json:"id,omitempty"` // of a position of a file or a record
	Game     string      `json:"game"`
	Rules    string      `json:"rules"`
	Position string      `json:"position"`
	Turn     game.Seat   `json:"turn"`
	Outcome  game.Result `json:"outcome"` // by the rules; then nothing is searched
	Reason   game.Reason `json:"reason"`
	Engine   string      `json:"engine,omitempty"`
	Final    bool        `json:"final"`
	Source   string      `json:"source,omitempty"` // final: search, external or the kind of a proof
	Resigns  bool        `json:"resigns,omitempty"`
	Depth    int         `json:"depth"`
	SelDepth int         `json:"seldepth"`
	Nodes    uint64      `json:"nodes"`
	TimeMS   int64       `json:"time_ms"`
	NPS      uint64      `json:"nps"`
	HashFull int         `json:"hashfull"` // thousandths
	Lines    []lineView  `json:"lines"`    // best first

	pos      game.Position
	notation game.Notation
	program  bool // the engine is one that is not ours
}

// lineView is a line of an analysis. Values are those of the side to move; they are
// null in an opening procedure, and from programs that give none.
type lineView struct {
	Score  *int     `json:"score"`            // in the engine's unit
	Chance *float64 `json:"chance"`           // of winning, 0 to 1, draws counted half
	Result string   `json:"result,omitempty"` // win or loss, if that is proven
	Plies  int      `json:"plies,omitempty"`  // of the proven result
	PV     []string `json:"pv"`
}

// take notes the lines.
func (v *analysisView) take(lines []search.Info, scored bool) {
	v.Lines = v.Lines[:0:0]
	for i, l := range lines {
		if i == 0 {
			v.Depth, v.SelDepth, v.HashFull = l.Depth, l.SelDepth, l.HashFull
		}
		if l.Nodes >= v.Nodes {
			v.Nodes, v.NPS, v.TimeMS = l.Nodes, l.NPS, l.Time.Milliseconds()
		}
		line := lineView{PV: game.FormatLine(v.pos, v.notation, l.PV)}
		if scored {
			score, chance := v.score(l.Score), l.WinProb
			line.Score, line.Chance = &score, &chance
			if plies, ok := search.MateIn(l.Score); ok {
				line.Result, line.Plies = "win", plies
				if plies < 0 || plies == 0 && l.Score < 0 {
					line.Result, line.Plies = "loss", -plies
				}
			} else if l.Score >= search.RepBound {
				line.Result = "win"
			} else if l.Score <= -search.RepBound {
				line.Result = "loss"
			}
		}
		v.Lines = append(v.Lines, line)
	}
}

// score returns a score in the engine's unit: those of programs were converted to ours.
func (v *analysisView) score(s search.Score) int {
	if v.program && s < search.RepBound && s > -search.RepBound {
		if points, err := external.Points(v.Game, s); err == nil {
			return points
		}
	}
	return int(s)
}

// value says what a line is worth.
func (l *lineView) value() string {
	switch {
	case l.Result != "" && l.Plies > 0:
		return fmt.Sprintf("%s in %s", l.Result, count(l.Plies, "ply", "plies"))
	case l.Result != "":
		return l.Result + " by repetition"
	case l.Chance != nil:
		return fmt.Sprintf("%.0f %%  %+d", 100**l.Chance, *l.Score)
	}
	return "no score"
}

// write prints the analysis.
func (v *analysisView) write(out io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(v)
	}
	_, err := fmt.Fprintln(out, strings.Join(v.text(), "\n"))
	return err
}

// text returns the analysis as lines.
func (v *analysisView) text() (lines []string) {
	say := func(what, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-9s ", what)+fmt.Sprintf(format, args...))
	}
	if v.ID != "" {
		say("id", "%s", v.ID)
	}
	say("rules", "%s", v.Rules)
	say("position", "%s", v.Position)
	if v.Outcome != game.Undecided {
		say("outcome", "%s (%s)", v.Outcome, v.Reason)
		return lines
	}
	say("to act", "%s", v.Turn)
	say("engine", "%s", v.Engine)
	searched := fmt.Sprintf("%d nodes in %.2f s", v.Nodes, float64(v.TimeMS)/1000)
	if v.SelDepth > 0 {
		searched = fmt.Sprintf("selective %d, ", v.SelDepth) + searched
	}
	if v.Depth > 0 {
		searched = fmt.Sprintf("depth %d, ", v.Depth) + searched
	}
	if v.NPS > 0 {
		searched += fmt.Sprintf(", %d nodes/s", v.NPS)
	}
	if v.HashFull > 0 {
		searched += fmt.Sprintf(", hash %.1f %%", float64(v.HashFull)/10)
	}
	say("searched", "%s", searched)
	switch {
	case v.Resigns && len(v.Lines) == 0:
		say("result", "the engine resigns")
	case len(v.Lines) > 0 && v.Lines[0].Result != "":
		say("result", "%s", v.Lines[0].value())
	}
	values := 0
	for i := range v.Lines {
		values = max(values, len(v.Lines[i].value()))
	}
	for i := range v.Lines {
		say(fmt.Sprintf("line %d", i+1), "%-*s  %s", values, v.Lines[i].value(), strings.Join(v.Lines[i].PV, " "))
	}
	return lines
}
