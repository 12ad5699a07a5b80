package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sparring/screen/static"
)

//go:embed templates rules
var bundled embed.FS

// site has what the page is made of: files, templates and texts. It does not
// change, unless it is read from disk.
type site struct {
	disk string // folder to read from at each request; "" for the embedded files

	version string // hash of all files; part of their addresses
	files   map[string]*file
	entry   []string                                 // what the entry module imports, directly or not
	screens map[string][]string                      // the same with what a screen needs, by the first part of the path
	texts   map[string]static.Words                  // by language
	pages   map[string]map[string]*template.Template // by language and name
	rules   map[string]template.HTML                 // of the games, by path
}

// file is a static file, as it is and compressed.
type file struct {
	kind  string // content type
	plain []byte
	gzip  []byte // nil where that is not smaller
}

// entry is the module that every page loads.
const entry = "main.js"

// screens are the modules that the entry module loads for an address, by the
// first part of its path.
var screens = map[string]string{"": "start.js", "game": "game.js", "invite": "invite.js"}

var kinds = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".json":  "application/json",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".txt":   "text/plain; charset=utf-8",
	".woff2": "font/woff2",
}

// openSite reads the page's files from a checkout, or the embedded ones for "".
func openSite(disk string) (*site, error) {
	s := &site{disk: disk}
	var root, files fs.FS = bundled, static.Files
	if disk != "" {
		root, files = os.DirFS(filepath.Join(disk, "arena", "web")), os.DirFS(filepath.Join(disk, "screen", "static"))
	}
	if err := s.readFiles(files); err != nil {
		return nil, err
	}
	if err := s.readTexts(files); err != nil {
		return nil, err
	}
	if err := s.readRules(root); err != nil {
		return nil, err
	}
	return s, s.readPages(root)
}

// now returns the site to answer a request with.
func (s *site) now() (*site, error) {
	if s.disk == "" {
		return s, nil
	}
	return openSite(s.disk)
}

func (s *site) readFiles(files fs.FS) error {
	s.files = make(map[string]*file)
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kind := kinds[path.Ext(name)]
		switch {
		case kind == "" && s.disk != "":
			return nil // what editors leave behind
		case kind == "":
			return fmt.Errorf("%s: no content type for %q", name, path.Ext(name))
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		switch {
		case path.Ext(name) == ".js" && s.disk == "":
			data = static.WithoutComments(data)
		case path.Ext(name) == ".css":
			data = static.WithPlainColours(data)
			if s.disk == "" {
				data = static.StyleWithoutComments(data)
			}
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(data), data)
		s.files[name] = &file{kind: kind, plain: data, gzip: compressed(data, gzip.BestCompression)}
		return nil
	})
	s.version = hex.EncodeToString(hash.Sum(nil))[:16]
	s.entry = s.imports(entry, nil)
	s.screens = make(map[string][]string)
	for part, module := range screens {
		s.screens[part] = s.imports(module, append(slices.Clone(s.entry), module))
	}
	return err
}

// compressed returns the data in gzip's format, nil if that is not smaller.
func compressed(data []byte, level int) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, level) // fails only for a level that does not exist
	w.Write(data)
	w.Close()
	if b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}

// imported matches a static import; a dynamic one has a parenthesis.
var imported = regexp.MustCompile(`(?m)^\s*(?:import|export)\b[^;'"(]*["'](\.[^"']+)["']`)

// imports appends the modules that a module imports to those found already.
func (s *site) imports(module string, found []string) []string {
	f := s.files[module]
	if f == nil {
		return found
	}
	for _, m := range imported.FindAllSubmatch(f.plain, -1) {
		name := path.Join(path.Dir(module), string(m[1]))
		if name != entry && !slices.Contains(found, name) {
			found = s.imports(name, append(found, name))
		}
	}
	return found
}

// ahead returns the modules that a page loads, besides the entry module, and the dictionaries.
func (s *site) ahead(path, lang string) (modules, words []string) {
	part, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	modules, ok := s.screens[part]
	words = static.Dictionaries(lang)
	if !ok || part == "game" {
		words = words[:1]
	}
	if !ok {
		modules = s.entry
	}
	return modules, words
}

// address returns where a static file is served.
func (s *site) address(name string) string { return "/s/" + s.version + "/" + name }

func (s *site) readTexts(files fs.FS) error {
	s.texts = make(map[string]static.Words)
	for _, lang := range static.Languages {
		var err error
		if s.texts[lang], err = static.ReadWords(files, lang); err != nil {
			return fmt.Errorf("static: %w", err)
		}
	}
	return nil
}

func (s *site) words(lang string) words { return words{s.texts[lang], s} }

// text returns the text of a key in a language, see [static.Words.T].
func (s *site) text(lang, key string, pairs ...any) string { return s.texts[lang].T(key, pairs...) }

func (s *site) readRules(root fs.FS) error {
	names, err := fs.Glob(root, "rules/*.html")
	if err != nil {
		return err
	}
	s.rules = make(map[string]template.HTML)
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		s.rules[name] = template.HTML(text) // the program's own text
	}
	return nil
}

// readPages parses each template together with base.html, once for each language.
func (s *site) readPages(root fs.FS) error {
	names, err := fs.Glob(root, "templates/*.html")
	if err != nil {
		return err
	}
	s.pages = make(map[string]map[string]*template.Template)
	for _, lang := range static.Languages {
		s.pages[lang] = make(map[string]*template.Template)
		for _, name := range names {
			t := template.New(path.Base(name)).Funcs(template.FuncMap{
				"t":    func(key string, pairs ...any) string { return s.text(lang, key, pairs...) },
				"file": s.address,
			})
			if t, err = t.ParseFS(root, "templates/base.html", "templates/parts.html", name); err != nil {
				return err
			}
			s.pages[lang][path.Base(name)] = t
		}
	}
	return nil
}
