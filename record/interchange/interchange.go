// Package interchange reads and writes records in the formats of other
// programs. [Import] detects the format of a file; [Export] writes records in a
// format given by its name.
package interchange

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"sparring/record"
	"sparring/record/ccgc"
	"sparring/record/format"
	"sparring/record/pgn"
	"sparring/record/psq"
	"sparring/record/sgf"
)

// MaxFile is the largest size of a file, in bytes.
const MaxFile = 64 << 20

// formats are in the order of detection.
var formats = []format.Format{psq.Format(), pgn.Format(), ccgc.Format(), sgf.Format()}

// Formats lists the formats.
func Formats() []format.Format { return formats }

// Find finds a format by name; the error wraps format.ErrUnknown and lists the
// names.
func Find(name string) (format.Format, error) {
	var names []string
	for _, f := range formats {
		if f.Name == strings.ToLower(name) {
			return f, nil
		}
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return format.Format{}, fmt.Errorf("%w %.20q (have %s)", format.ErrUnknown, name, strings.Join(names, ", "))
}

// Championship returns the format in which the Chinese championship wants the games
// of a game; the error wraps format.ErrUnknown if there is none.
func Championship(gameName string) (format.Format, error) {
	for _, f := range []format.Format{ccgc.Format(), pgn.Format()} {
		if slices.Contains(f.Games, gameName) {
			return f, nil
		}
	}
	return format.Format{}, fmt.Errorf("%w: the championship has none for %.20q", format.ErrUnknown, gameName)
}

// Detect finds the format of a text; the error wraps format.ErrUnknown.
func Detect(text string) (format.Format, error) {
	for _, f := range formats {
		if f.Detect(text) {
			return f, nil
		}
	}
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return format.Format{}, fmt.Errorf("%w: the text looks like none of %s", format.ErrUnknown, strings.Join(names, ", "))
}

// Import yields the games of a file in any of the formats and charsets. Each is
// checked against the rules, and its id is derived from its content, so that the
// same file gives the same ids. A damaged game yields a *format.Error with game,
// line and ply; the games after it follow if the text shows where they begin.
// Any other error is the only thing yielded: a read error, or one that wraps
// format.ErrUnknown or format.ErrSyntax if the file is in no known format.
func Import(in io.Reader, o format.ReadOptions) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		f, text, err := open(in)
		if err != nil {
			yield(nil, err)
			return
		}
		f.Read(text, o)(yield)
	}
}

// open reads a file and finds its format.
func open(in io.Reader) (format.Format, string, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return format.Format{}, "", err
	}
	if len(data) > MaxFile {
		return format.Format{}, "", fmt.Errorf("%w: more than %d bytes", format.ErrSyntax, MaxFile)
	}
	text, err := Decode(data)
	if err != nil {
		return format.Format{}, "", err
	}
	f, err := Detect(text)
	return f, text, err
}

// Decode converts the bytes of a file to text, by the charset that they name themselves, as SGF
// does in CA, or else as [format.Decode] finds it.
func Decode(data []byte) (string, error) {
	for _, f := range formats {
		if f.Charset == nil {
			continue
		}
		if name := f.Charset(data); name != "" {
			return format.DecodeAs(data, name)
		}
	}
	return format.Decode(data)
}

// Export writes records in the format of a name. If it fails, nothing is written:
// the error wraps format.ErrUnknown, format.ErrCannot if the format can't
// represent a game, or comes from the rules if a record's moves are not legal.
func Export(out io.Writer, name string, records []*record.Record, o format.WriteOptions) error {
	f, err := Find(name)
	if err != nil {
		return err
	}
	text, err := f.Write(records, o)
	if err != nil {
		return err
	}
	data, err := format.Encode(text, o.Charset)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// FileName returns a name for the file of a game in a format: by the format's own
// convention if it has one, else the game's id. It is a SafeName.
func FileName(f format.Format, r *record.Record) string {
	name := r.ID + f.Ext
	if f.FileName != nil {
		name = f.FileName(r)
	}
	return SafeName(name)
}

// SafeName returns the name of a file without what file systems refuse: some
// characters, and more than 240 bytes.
func SafeName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, name)
	const longest = 240 // bytes; most file systems have 255
	if ext := filepath.Ext(name); len(name) > longest {
		name = strings.ToValidUTF8(name[:longest-len(ext)], "") + ext
	}
	return name
}
