package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sparring/screen/static"
)

// TestDictionaries: both languages have the same keys, one a line and sorted, so
// that changes of several people merge.
func TestDictionaries(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, lang := range static.Languages {
		for part, name := range static.Dictionaries(lang) {
			first := static.Dictionaries(static.Languages[0])[part]
			texts, model := dictionary(t, site, name), dictionary(t, site, first)
			count += len(texts)
			var want bytes.Buffer
			keys := slices.Sorted(maps.Keys(texts))
			for i, key := range keys {
				end := ","
				if i == len(keys)-1 {
					end = ""
				}
				var text bytes.Buffer
				e := json.NewEncoder(&text)
				e.SetEscapeHTML(false)
				if err := e.Encode(texts[key]); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&want, "%q: %s%s\n", key, strings.TrimSpace(text.String()), end)
				if strings.TrimSpace(texts[key]) == "" {
					t.Errorf("%s: %s is empty", name, key)
				}
				if _, ok := model[key]; !ok {
					t.Errorf("%s lacks %s", first, key)
				}
			}
			for key := range model {
				if _, ok := texts[key]; !ok {
					t.Errorf("%s lacks %s", name, key)
				}
			}
			if got := string(site.files[name].plain); got != "{\n"+want.String()+"}\n" {
				t.Errorf("%s: want one key a line, sorted, without indentation", name)
			}
		}
		count -= len(site.texts[lang].Texts)
	}
	if count != 0 {
		t.Errorf("%d keys stand in both dictionaries of a language", count)
	}
}

// dictionary reads one dictionary.
func dictionary(t *testing.T, s *site, name string) (texts map[string]string) {
	t.Helper()
	if err := json.Unmarshal(s.files[name].plain, &texts); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return texts
}

// TestWordsOfGame: the dictionary of a game has all words of the modules that a game needs
// before its first move, and no other.
func TestWordsOfGame(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	modules := append(site.imports("moves.js", slices.Clone(site.screens["game"])), "moves.js", entry) // moves.js has no other words either
	var scripts strings.Builder
	for _, name := range modules {
		scripts.Write(site.files[name].plain)
	}
	var begun []string
	for _, m := range prefix.FindAllStringSubmatch(scripts.String(), -1) {
		if m[1] != "" {
			begun = append(begun, m[1])
		}
	}
	needed := func(key string) bool {
		return strings.Contains(scripts.String(), `"`+key+`"`) || slices.ContainsFunc(begun, func(p string) bool { return strings.HasPrefix(key, p) })
	}
	names := static.Dictionaries("en")
	for key := range dictionary(t, site, names[0]) {
		if !needed(key) {
			t.Errorf("%s has %s, which a game does without at first", names[0], key)
		}
	}
	for key := range dictionary(t, site, names[1]) {
		if needed(key) {
			t.Errorf("%s has %s, which a game needs at once", names[1], key)
		}
	}
}

// TestChinese: the Chinese texts are Chinese, but for names, numbers and notations.
func TestChinese(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	for key, text := range site.texts["zh"].Texts {
		plain := variable.ReplaceAllString(text, "")
		latin := strings.IndexFunc(plain, unicode.IsLetter) >= 0
		han := strings.ContainsFunc(plain, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if latin && !han && text == site.texts["en"].Texts[key] && !slices.Contains(sameWords, key) {
			t.Errorf("zh.json: %s is English: %s", key, text)
		}
	}
}

// sameWords are keys whose texts are the same in all languages.
var sameWords = []string{"page.name", "settings.language_en", "open.swap2.name"}

var (
	comment    = regexp.MustCompile(`(?s:/\*.*?\*/)|(?m:(^|[\t ])//.*$)`)
	translated = regexp.MustCompile("\\bt\\(\\s*[\"`]([a-z][a-zA-Z0-9_./+-]*)([\"`$])")
	inTemplate = regexp.MustCompile(`\{\{[^}]*?\bt (\(print )?"([a-z.-]+)"`)
	action     = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	markup     = regexp.MustCompile(`(?s)<(script|style)[^>]*>.*?</(script|style)>|<[^>]*>`)
	spoken     = regexp.MustCompile(`(?:alt|aria-label|title|placeholder)="([^"]*)"`)
	quoted     = regexp.MustCompile("\"((?:[^\"\\\\\n]|\\\\.)*)\"|'((?:[^'\\\\\n]|\\\\.)*)'|`((?:[^`\\\\]|\\\\.)*)`")
	sentence   = regexp.MustCompile(`^\W*[A-Z][a-z]+ [A-Za-z]|[a-z] [a-z]+[.!?]$`)
)

// sources returns the files of the page with an ending, without comments.
func sources(t *testing.T, dir, ending string) map[string]string {
	t.Helper()
	found := map[string]string{}
	from := fs.FS(bundled)
	if dir == "static" {
		from, dir = static.Files, "."
	}
	err := fs.WalkDir(from, dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ending {
			return err
		}
		data, err := fs.ReadFile(from, name)
		found[name] = string(data)
		if ending == ".js" {
			found[name] = comment.ReplaceAllString(string(data), "")
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%s/*%s: %d files, %v", dir, ending, len(found), err)
	}
	return found
}

// TestKeys: every key that a script or template asks for is in the dictionaries.
func TestKeys(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	texts := site.texts["en"].Texts
	has := func(key string, prefix bool) bool {
		if _, ok := texts[key]; ok || !prefix {
			return ok
		}
		for k := range texts {
			if strings.HasPrefix(k, key) {
				return true
			}
		}
		return false
	}
	asked := 0
	for name, text := range sources(t, "static", ".js") {
		for _, m := range translated.FindAllStringSubmatch(text, -1) {
			asked++
			if !has(m[1], m[2] == "$") {
				t.Errorf("%s: the dictionaries lack %s", name, m[1])
			}
		}
	}
	for name, text := range sources(t, "templates", ".html") {
		for _, m := range inTemplate.FindAllStringSubmatch(text, -1) {
			asked++
			if !has(m[2], m[1] != "") {
				t.Errorf("%s: the dictionaries lack %s", name, m[2])
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d keys found: the expressions of this test are wrong", asked)
	}
}

// prefix matches the beginning of a key that a script or template completes.
var prefix = regexp.MustCompile("`([a-z]+\\.[a-z0-9_.-]*)\\$\\{|\"([a-z]+\\.[a-z0-9_.-]*)\" ")

// TestUnused: no text is left of what the page does not say any more.
func TestUnused(t *testing.T) {
	site, err := openSite("")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, files := range []map[string]string{sources(t, "static", ".js"), sources(t, "templates", ".html")} {
		for _, text := range files {
			all.WriteString(text)
		}
	}
	code, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range code {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	var begun []string
	for _, m := range prefix.FindAllStringSubmatch(all.String(), -1) {
		begun = append(begun, m[1]+m[2])
	}
	for key := range site.texts["en"].Texts {
		if kind, _, _ := strings.Cut(key, "."); slices.Contains([]string{"illegal", "notation", "page", "speed"}, kind) {
			continue // named by the server, see TestTexts
		}
		named := strings.Contains(all.String(), `"`+key+`"`) || strings.Contains(all.String(), "`"+key+"`")
		if !named && !slices.ContainsFunc(begun, func(p string) bool { return strings.HasPrefix(key, p) }) {
			t.Errorf("nothing uses the text %s", key)
		}
	}
}

// TestLiterals: what people read stands in the dictionaries and nowhere else.
func TestLiterals(t *testing.T) {
	for name, text := range sources(t, "static", ".js") {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			literal := m[1] + m[2] + m[3]
			han := strings.ContainsFunc(literal, func(r rune) bool { return unicode.Is(unicode.Han, r) })
			if !strings.HasPrefix(literal, "<svg") && !strings.Contains(literal, "Sparring Xiangqi") && (han && len([]rune(literal)) > 2 && literal != "一二三四五六七八九" || sentence.MatchString(literal)) {
				t.Errorf("%s: literal %q", name, literal)
			}
		}
	}
	for name, text := range sources(t, "templates", ".html") {
		plain := action.ReplaceAllString(text, "")
		for _, m := range spoken.FindAllStringSubmatch(plain, -1) {
			if strings.ContainsFunc(m[1], unicode.IsLetter) {
				t.Errorf("%s: literal %q", name, m[1])
			}
		}
		for word := range strings.FieldsSeq(markup.ReplaceAllString(plain, " ")) {
			if strings.ContainsFunc(word, unicode.IsLetter) {
				t.Errorf("%s: literal %q", name, word)
			}
		}
	}
}

// TestLiteralsFound: the expressions of TestLiterals find what they are for.
func TestLiteralsFound(t *testing.T) {
	for _, literal := range []string{"You have won", "Your turn.", "it is your turn.", "No connection"} {
		if !sentence.MatchString(literal) {
			t.Errorf("%q is not found", literal)
		}
	}
	for _, literal := range []string{"plain square", "data-act", "ArrowLeft", "M9 5l7 7-7 7", "input, select"} {
		if sentence.MatchString(literal) {
			t.Errorf("%q is taken for a sentence", literal)
		}
	}
}
