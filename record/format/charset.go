package format

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
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
// else GBK. A byte-order mark (of UTF-8 or UTF-16) takes precedence. Text in which letters beyond
// ASCII stand alone, as in European names, is read as Windows-1252. Line ends
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
		return fromUTF16(data, unicode.LittleEndian, unicode.UseBOM)
	case isUTF16(data):
		order := unicode.Endianness(unicode.LittleEndian)
		if data[0] == 0 {
			order = unicode.BigEndian
		}
		return fromUTF16(data, order, unicode.IgnoreBOM)
	case utf8.Valid(data):
		return string(data), nil
	}
	if !hasPairs(data) {
		if text, ok := decodeBy(charmap.Windows1252, data); ok {
			return text, nil
		}
	}
	if text, ok := decodeBy(simplifiedchinese.GB18030, data); ok {
		return text, nil
	}
	for _, e := range []encoding.Encoding{traditionalchinese.Big5, japanese.ShiftJIS, korean.EUCKR} {
		if text, ok := decodeBy(e, data); ok {
			return text, nil
		}
	}
	text, _ := simplifiedchinese.GB18030.NewDecoder().Bytes(data) // its errors are in the text
	at := max(bytes.IndexRune(text, utf8.RuneError), 0)
	return "", fmt.Errorf("%w: neither UTF-8 (line %d) nor GBK (line %d)", ErrSyntax, lineOf(data, validPrefix(data)), lineOf(text, at))
}

// hasPairs reports whether two bytes beyond ASCII stand beside each other, as in every text in
// Chinese.
func hasPairs(data []byte) bool {
	for i := 1; i < len(data); i++ {
		if data[i-1] >= utf8.RuneSelf && data[i] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// isUTF16 reports whether bytes look like UTF-16 without its mark: text has no other zeros.
func isUTF16(data []byte) bool {
	return len(data)%2 == 0 && bytes.Count(data, []byte{0}) > len(data)/4
}

func fromUTF16(data []byte, order unicode.Endianness, mark unicode.BOMPolicy) (string, error) {
	text, err := unicode.UTF16(order, mark).NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("%w: UTF-16: %w", ErrSyntax, err)
	}
	return string(text), nil
}

// decodeBy decodes by an encoding; ok is false if the bytes are not in it.
func decodeBy(e encoding.Encoding, data []byte) (text string, ok bool) {
	out, err := e.NewDecoder().Bytes(data)
	return string(out), err == nil && !bytes.ContainsRune(out, utf8.RuneError)
}

// DecodeAs is Decode for a file that names its charset, as the CA of SGF does. A name that is
// unknown, or wrong, is ignored: programs write one without regard to the bytes.
func DecodeAs(data []byte, name string) (string, error) {
	e := encodingOf(name)
	switch {
	case e == nil || isUTF16(data) || isUTF8(data, e):
		return Decode(data)
	case e == charmap.ISO8859_1:
		e = charmap.Windows1252 // which has more letters, and is what programs mean
	}
	if text, ok := decodeBy(e, data); ok {
		return text, nil
	}
	return Decode(data)
}

// isUTF8 reports whether bytes are UTF-8 whatever charset they are said to be in. A few characters
// of two bytes prove nothing against a charset that has such, too.
func isUTF8(data []byte, said encoding.Encoding) bool {
	if !utf8.Valid(data) || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return bytes.HasPrefix(data, []byte("\xef\xbb\xbf"))
	}
	if _, single := said.(*charmap.Charmap); single {
		return true
	}
	return bytes.ContainsFunc(data, func(r rune) bool { return utf8.RuneLen(r) > 2 })
}

// encodingOf returns the encoding of a name, of the web's or of IANA's, or of Windows' code pages;
// nil for UTF-8 and for one that is not known.
func encodingOf(name string) encoding.Encoding {
	name = strings.ToLower(strings.TrimSpace(name))
	if page := codePages[strings.TrimLeft(name, "cpmswindo-_")]; page != "" {
		name = page
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		if e, err = ianaindex.IANA.Encoding(name); err != nil {
			return nil
		}
	}
	if e == unicode.UTF8 {
		return nil
	}
	return e
}

// codePages are the charsets of East Asia by their numbers on Windows.
var codePages = map[string]string{"932": "shift_jis", "936": "gbk", "949": "euc-kr", "950": "big5", "54936": "gb18030", "31j": "shift_jis"}

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
