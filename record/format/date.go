package format

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ParseDate reads a date at the beginning of a text, with a time of day if there
// is one; rest is the text after it. The year comes first. The parts are
// separated by '.', '-', '/' or 年 月 日, with or without blanks, and may have
// full-width digits and signs. A time of day is in the given location; a date
// alone becomes midnight UTC. Ok is false if the text does not begin with a
// complete date.
func ParseDate(text string, in *time.Location) (t time.Time, rest string, ok bool) {
	if eight := strings.TrimSpace(text); len(eight) >= 8 && compact.MatchString(eight) { // 20240711
		text = eight[:4] + "-" + eight[4:6] + "-" + eight[6:]
	}
	date, rest := numbers(text, 3, ".-/年月")
	if len(date) < 3 || date[0] < 1000 {
		return t, text, false
	}
	rest = strings.TrimLeft(rest, "日号號")
	clock, after := numbers(strings.TrimPrefix(strings.TrimSpace(rest), "T"), 3, ":_时時分")
	if len(clock) >= 2 && clock[0] < 24 && clock[1] < 60 {
		rest = strings.TrimLeft(after, "分秒")
	} else {
		clock, in = nil, time.UTC
	}
	clock = append(clock, 0, 0, 0)
	t = time.Date(date[0], time.Month(date[1]), date[2], clock[0], clock[1], clock[2], 0, in)
	if t.Year() != date[0] || int(t.Month()) != date[1] || t.Day() != date[2] || t.Minute() != clock[1] {
		return time.Time{}, text, false // the 31st of February
	}
	return t.UTC(), strings.TrimSpace(rest), true
}

var compact = regexp.MustCompile(`^[12][0-9]{7}(\D|$)`)

// FormatDate writes a time in the location by a layout. Midnight UTC, which
// [ParseDate] makes of a date alone, is written by the first word of the layout.
func FormatDate(t time.Time, layout string, in *time.Location) string {
	if t.Equal(t.Truncate(24 * time.Hour)) {
		layout, _, _ = strings.Cut(layout, " ")
		in = time.UTC
	}
	return t.In(in).Format(layout)
}

// numbers reads up to n numbers of at most four digits, separated by one of the
// signs (in either width) and any blanks.
func numbers(text string, n int, signs string) (values []int, rest string) {
	rest = text
	for len(values) < n {
		next := strings.TrimLeftFunc(rest, unicode.IsSpace)
		if len(values) > 0 {
			i := strings.IndexFunc(next, func(r rune) bool { return !strings.ContainsRune(signs, Fold(r)) })
			if i <= 0 {
				break
			}
			next = strings.TrimLeftFunc(next[i:], unicode.IsSpace)
		}
		v, after, ok := number(next)
		if !ok {
			break
		}
		values, rest = append(values, v), after
	}
	return values, rest
}

// number reads one to four digits at the beginning of a text.
func number(text string) (v int, rest string, ok bool) {
	var digits strings.Builder
	end := len(text)
	for at, r := range text {
		d := Fold(r)
		if d < '0' || d > '9' {
			end = at
			break
		}
		digits.WriteRune(d)
	}
	v, err := strconv.Atoi(digits.String())
	return v, text[end:], err == nil && digits.Len() <= 4
}

// Fold converts a full-width character to ASCII; other characters are unchanged.
func Fold(r rune) rune {
	switch {
	case r >= '！' && r <= '～':
		return r - '！' + '!'
	case r == '\u3000': // ideographic space
		return ' '
	case r == '【':
		return '['
	case r == '】':
		return ']'
	case r == '。':
		return '.'
	case r == '、':
		return ','
	}
	return r
}
