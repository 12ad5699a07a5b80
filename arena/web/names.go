package web

import (
	"errors"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sparring/protocol"
)

// maxName is how many visible characters a display name may have.
const maxName = 24

// errName is returned for a name that can't be shown safely: an empty one, one
// that is too long, or one with characters that are not seen or that change how
// the text around them is read.
var errName = errors.New("want 1 to 24 visible characters")

// errLevelName is returned for a name that somebody would take for that of a level.
var errLevelName = errors.New("this reads as the name of a level")

// levelName matches what reads as the name of a level, in either language. A grade in a name,
// such as 业余5级, does not.
var levelName = regexp.MustCompile(`(?i)\blevel ?\pN|(^|[ ·])\pN+ ?[级級]`)

// cleanName returns a display name in normal form: composed, without space at its
// ends, with single spaces inside.
func cleanName(name string) (string, error) {
	if len(name) > 16*maxName { // before any work on it
		return "", errName
	}
	name = strings.Join(strings.Fields(norm.NFC.String(name)), " ")
	visible, marks := 0, 0
	for _, r := range name {
		switch {
		case r == ' ':
			marks = 0
		case r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(protocol.Blank, r):
			return "", errName // IsGraphic excludes control and format characters, which bidi marks are
		case unicode.IsMark(r):
			if marks++; visible == 0 || marks > 2 {
				return "", errName // would reach into the lines above
			}
		default:
			visible++
			marks = 0
		}
	}
	if visible == 0 || len([]rune(name)) > maxName+maxName/2 || visible+strings.Count(name, " ") > maxName {
		return "", errName
	}
	if levelName.MatchString(norm.NFKC.String(name)) {
		return "", errLevelName
	}
	return name, nil
}
