package format

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"sparring/game"
	"sparring/record"
)

// Evaluated reports whether a player's view of its move has an evaluation to write. A
// program, or a file, may have a score without a depth; 0 is then nothing.
func Evaluated(t *record.Think) bool { return t != nil && (t.Depth > 0 || t.Score != 0) }

// Comment writes a ply's details as the text of a comment: in the commands that
// chess programs know, the evaluation for the first seat in hundredths with the
// depth, the time used and the time left; then the ply's own comment. It is "" if
// there is nothing to write.
//
//	[%eval -0.35,12] [%emt 1.5] [%clk 0:09:58.5] a comment
func Comment(p *record.Ply) string {
	var parts []string
	if t := p.Think; Evaluated(t) {
		score := t.Score
		if p.Seat == game.Second {
			score = -score
		}
		sign := ""
		if score < 0 {
			sign, score = "-", -score
		}
		depth := ""
		if t.Depth > 0 {
			depth = fmt.Sprintf(",%d", t.Depth)
		}
		parts = append(parts, fmt.Sprintf("[%%eval %s%d.%02d%s]", sign, score/100, score%100, depth))
	}
	if p.UsedMS > 0 {
		parts = append(parts, "[%emt "+Seconds(p.UsedMS)+"]")
	}
	if p.LeftMS > 0 {
		s := p.LeftMS / 1000
		parts = append(parts, fmt.Sprintf("[%%clk %d:%02d:%02d%s]", s/3600, s/60%60, s%60, strings.TrimPrefix(Seconds(p.LeftMS%1000), "0")))
	}
	if p.Comment != "" {
		parts = append(parts, p.Comment)
	}
	return strings.Join(parts, " ")
}

// bookMark is what programs that run matches write at a move of the opening that they began a
// game with.
const bookMark = "book"

// Mark returns what is written at a ply of the record, from 0, as a comment or name of its own:
// "book" where no player of the game chose the move, else "".
func Mark(r *record.Record, ply int) string {
	if ply < r.OpeningPlies() {
		return bookMark
	}
	return ""
}

// AddMark reads what Mark returns, in the form of a comment. It returns false for any other text.
func AddMark(p *record.Ply, text string) bool {
	if !strings.EqualFold(strings.TrimSpace(text), bookMark) {
		return false
	}
	thinkOf(p).Source = record.FromBook
	return true
}

// thinkOf returns what the ply's player thought, to add to.
func thinkOf(p *record.Ply) *record.Think {
	if p.Think == nil {
		p.Think = &record.Think{}
	}
	return p.Think
}

var command = regexp.MustCompile(`\[%(\w+) ([^\]]*)\]`)

// maxComment bounds the comment of a ply, in bytes; longer ones are cut.
const maxComment = 16 << 10

// AddComment adds the content of a comment, which may be a mark, to the ply. Think.Score is left as in
// the file, from the first seat's side; [Draft.Finish] converts it.
func AddComment(p *record.Ply, text string) {
	if AddMark(p, text) {
		return
	}
	rest := command.ReplaceAllStringFunc(text, func(whole string) string {
		m := command.FindStringSubmatch(whole)
		if !addCommand(p, m[1], strings.TrimSpace(m[2])) {
			return whole
		}
		return ""
	})
	rest = strings.Join(strings.FieldsFunc(rest, unicode.IsSpace), " ")
	switch {
	case rest == "" || len(p.Comment) >= maxComment:
		return
	case p.Comment != "":
		rest = p.Comment + " " + rest
	}
	p.Comment = strings.ToValidUTF8(rest[:min(len(rest), maxComment)], "")
}

// runnerComment is what cutechess and fastchess write at a move: the mover's score in hundredths
// or as plies to the mate, the depth, the time used, and more if they are told to, or at the end:
//
//	+0.35/12 1.2s, tl=58.3s, n=81234, Black mates
var runnerComment = regexp.MustCompile(`^(?:([+-]?\d+\.\d+|[+-]M\d{1,3}|ERR)?/(\d{1,3}) )?(\d+(?:\.\d+)?)s(?:, (.+))?$`)

// readRunner reads the comment of a ply if it is one of a runner of matches. What the ply has
// already, it keeps.
func readRunner(p *record.Ply) {
	m := runnerComment.FindStringSubmatch(p.Comment)
	if m == nil {
		return
	}
	ms, ok := milliseconds(m[3])
	if !ok {
		return
	}
	p.UsedMS = cmp.Or(p.UsedMS, ms)
	t := &record.Think{}
	if t.Score, ok = runnerScore(m[1]); ok { // else a depth would make it an even chance
		t.Depth, _ = strconv.Atoi(m[2])
	}
	var rest []string
	for part := range strings.SplitSeq(m[4], ", ") {
		if !addRunnerValue(p, t, part) {
			rest = append(rest, part)
		}
	}
	p.Comment = strings.Join(rest, ", ")
	if p.Think == nil && (Evaluated(t) || t.Nodes > 0 || t.SelDepth > 0) {
		p.Think = t
	}
}

// matePlies is the score of a win, less the plies to it, as our engine's records have it.
const matePlies = 32000

// runnerScore reads "+0.35", and "-M4" for a mate in so many plies.
func runnerScore(text string) (score int, ok bool) {
	if sign, plies, mate := strings.Cut(text, "M"); mate {
		n, err := strconv.Atoi(plies)
		if score = matePlies - n; sign == "-" {
			score = -score
		}
		return score, err == nil
	}
	return hundredths(text)
}

// addRunnerValue reads a value with its name, such as tl=58.3s. It returns false for others.
func addRunnerValue(p *record.Ply, t *record.Think, text string) (ok bool) {
	var err error
	switch name, value, _ := strings.Cut(text, "="); name {
	case "tl": // the time left
		var ms int64
		if ms, ok = milliseconds(strings.TrimSuffix(value, "s")); ok {
			p.LeftMS = cmp.Or(p.LeftMS, ms)
		}
		return ok
	case "n":
		t.Nodes, err = strconv.ParseUint(value, 10, 64)
	case "sd":
		var depth uint64
		depth, err = strconv.ParseUint(value, 10, 10)
		t.SelDepth = int(depth)
	default:
		return false
	}
	return err == nil
}

func addCommand(p *record.Ply, name, value string) bool {
	switch name {
	case "eval":
		pawns, depth, _ := strings.Cut(value, ",")
		score, ok := hundredths(pawns)
		d, err := strconv.Atoi(cmp.Or(depth, "0"))
		if !ok || err != nil || d < 0 {
			return false
		}
		t := thinkOf(p)
		t.Score, t.Depth = score, d
	case "emt":
		ms, ok := milliseconds(value)
		if !ok {
			return false
		}
		p.UsedMS = ms
	case "clk":
		ms, ok := milliseconds(value)
		if !ok {
			return false
		}
		p.LeftMS = ms
	default:
		return false
	}
	return true
}

// Seconds writes milliseconds as seconds, with as many decimals as needed.
func Seconds(ms int64) string {
	return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64)
}

// maxMS is a year, more than any clock shows.
const maxMS = 365 * 24 * 3600 * 1000

// milliseconds reads h:mm:ss.fff, m:ss or seconds.
func milliseconds(text string) (int64, bool) {
	var total float64
	for part := range strings.SplitSeq(text, ":") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || !(v >= 0 && v <= maxMS) {
			return 0, false
		}
		total = total*60 + v
	}
	if total*1000 > maxMS {
		return 0, false
	}
	return int64(total*1000 + 0.5), true
}

// hundredths reads a decimal number with up to two decimals exactly.
func hundredths(text string) (int, bool) {
	v, err := strconv.ParseFloat(strings.TrimPrefix(text, "+"), 64)
	if err != nil || !(v > -1e7 && v < 1e7) {
		return 0, false
	}
	if v < 0 {
		return -int(-v*100 + 0.5), true
	}
	return int(v*100 + 0.5), true
}
