package format

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// Charset is a character encoding.
type Charset string

// The charsets. What is called GBK here is GB18030, which includes GBK and has
// every character.
const (
	UTF8 Charset = "utf-8" // the default
	GBK  Charset = "gbk"
)

// Decode converts the bytes of a file to text: UTF-8 if they are valid UTF-8,
// else GBK. A byte-order mark (of UTF-8 or UTF-16) takes precedence. Line ends
// are not changed. The error wraps ErrSyntax and names the lines that are not.
func Decode(data []byte) (string, error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
		if !utf8.Valid(data) {
			return "", fmt.Errorf("%w: line %d: not in UTF-8, which the byte-order mark promises", ErrSyntax, lineOf(data, validPrefix(data)))
		}
		return string(data), nil
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(data)
		if err != nil {
			return "", fmt.Errorf("%w: UTF-16: %w", ErrSyntax, err)
		}
		return string(text), nil
	case utf8.Valid(data):
		return string(data), nil
	}
	text, err := simplifiedchinese.GB18030.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("%w: GBK: %w", ErrSyntax, err)
	}
	if at := bytes.IndexRune(text, utf8.RuneError); at >= 0 {
		return "", fmt.Errorf("%w: neither UTF-8 (line %d) nor GBK (line %d)", ErrSyntax, lineOf(data, validPrefix(data)), lineOf(text, at))
	}
	return string(text), nil
}

// lineOf returns the number of the line, from 1, that a byte is in.
func lineOf(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

func validPrefix(data []byte) int {
	n := 0
	for n < len(data) {
		r, size := utf8.DecodeRune(data[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// Encode converts text to bytes. The error wraps ErrCannot for an unknown
// charset.
func Encode(text string, c Charset) ([]byte, error) {
	switch Charset(strings.ToLower(string(c))) {
	case "", UTF8:
		return []byte(text), nil
	case GBK:
		// GB18030 encodes the characters of GBK as GBK does, and all others too.
		data, err := simplifiedchinese.GB18030.NewEncoder().Bytes([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannot, err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("%w: charset %.20q (have %s, %s)", ErrCannot, c, UTF8, GBK)
}
