// Package static has the files of the page that browsers load as they are: modules,
// style sheet, font and dictionaries, and the words of the dictionaries for what a
// program writes. [Link] joins modules to one script, for a page that is a single
// file.
package static

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

// Files are the embedded files, by their names.
//
//go:embed *.js *.css *.json *.svg *.txt *.woff2
var Files embed.FS

// Languages of the page; the first one is the default.
var Languages = []string{"en", "zh"}

// ReadWords reads the dictionary of a language among some files.
func ReadWords(files fs.FS, lang string) (Words, error) {
	data, err := fs.ReadFile(files, lang+".json")
	if err != nil {
		return Words{}, err
	}
	w := Words{Lang: lang}
	if err := json.Unmarshal(data, &w.Texts); err != nil {
		return Words{}, fmt.Errorf("%s.json: %w", lang, err)
	}
	return w, nil
}
