package static

import (
	"bytes"
	"regexp"
)

var (
	// docComment matches a comment that has its lines to itself.
	docComment = regexp.MustCompile(`(?m)^[ \t]*/\*(?:[^*]|\*+[^*/])*\*+/[ \t]*$|^[ \t]*//.*$`)
	// lineEnd matches a comment after code. A string that had it would end in a quotation mark.
	lineEnd = regexp.MustCompile("(?m)([;,{}()\\[\\]]) // [^\"'`\n]*$")
	// cast matches a type within a line.
	cast = regexp.MustCompile(`/\*\* @\w+ [^*\n]*\*/ ?`)
	// indentation matches what a line begins with.
	indentation = regexp.MustCompile(`(?m)^[ \t]+`)
	// styleComment matches a comment of a style sheet with the space before it.
	styleComment = regexp.MustCompile(`[ \t]*/\*(?:[^*]|\*+[^*/])*\*+/`)
)

// WithoutComments returns a module of the page as browsers get it: its types
// and explanations are a quarter of what it would weigh on the wire, compressed, and
// its indentation is a fiftieth. Lines keep their numbers. A comment after code stays if it has
// a quotation mark, so that nothing in a string is taken for a comment; therefore no module
// has a string that goes on over a line that looks like one, or that is indented.
func WithoutComments(js []byte) []byte {
	js = lineEnd.ReplaceAll(docComment.ReplaceAllFunc(js, onlyLines), []byte("$1"))
	return indentation.ReplaceAll(cast.ReplaceAll(js, nil), nil)
}

// StyleWithoutComments returns a style sheet of the page as browsers get it. Lines keep
// their numbers. No string in it has what looks like a comment.
func StyleWithoutComments(css []byte) []byte {
	return indentation.ReplaceAll(styleComment.ReplaceAllFunc(css, onlyLines), nil)
}

// onlyLines returns the ends of the lines of a comment.
func onlyLines(comment []byte) []byte {
	return bytes.Repeat([]byte("\n"), bytes.Count(comment, []byte("\n")))
}
