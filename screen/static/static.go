// Package static has the files of the page that browsers load as they are: modules,
// style sheet, font and dictionaries, and the words of the dictionaries for what a
// program writes. [Link] joins modules to one script, for a page that is a single
// file.
package static

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Files are the embedded files, by their names.
//
//go:embed *.js *.css *.json *.svg *.txt *.woff2
var Files embed.FS

// Languages of the page; the first one is the default.
var Languages = []string{"en", "zh"}

// Dictionaries are the names of a language's dictionaries: that of a game, and that of all
// that can be done without until its first move.
func Dictionaries(lang string) []string { return []string{lang + ".json", lang + ".late.json"} }

// ReadWords reads the dictionaries of a language among some files, the first of which
// must be there.
func ReadWords(files fs.FS, lang string) (Words, error) {
	w := Words{Lang: lang}
	for i, name := range Dictionaries(lang) {
		data, err := fs.ReadFile(files, name)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Words{}, err
		}
		if err := json.Unmarshal(data, &w.Texts); err != nil {
			return Words{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return w, nil
}
