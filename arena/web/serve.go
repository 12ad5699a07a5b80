package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"sparring/protocol"
	"sparring/screen/static"
)

// page is what a template gets.
type page struct {
	Lang    string // "en" or "zh"
	Theme   string // "light" or "dark"; "" as the visitor's device
	Version string
	Path    string   // of the request
	Modules []string // addresses of the modules to load ahead
	Words   []string // of the dictionaries
	// Languages are links to this page in each language.
	Languages []languageLink
	Data      any // of this page
}

// languageLink is a link to a page in a language, by the language's own name.
type languageLink struct {
	Lang, Text, Link string
	Current          bool
}

// page answers with a template of the site, in the visitor's language.
func (s *Server) page(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	site, err := s.site.now()
	if err != nil {
		s.log.Error().Err(err).Msg("the page's files can't be read")
		http.Error(w, "the page's files can't be read", http.StatusInternalServerError)
		return
	}
	lang := s.language(r)
	p := page{Lang: lang, Theme: theme(r), Version: site.version, Path: r.URL.Path, Data: data}
	modules, words := site.ahead(r.URL.Path, lang)
	for _, m := range modules {
		p.Modules = append(p.Modules, site.address(m))
	}
	for _, d := range words {
		p.Words = append(p.Words, site.address(d))
	}
	for _, l := range static.Languages {
		query := r.URL.Query()
		query.Set("lang", l)
		p.Languages = append(p.Languages, languageLink{l, site.text(l, "page.language"), r.URL.EscapedPath() + "?" + query.Encode(), l == lang})
	}
	var b bytes.Buffer
	if err := site.pages[lang][name].ExecuteTemplate(&b, "base", p); err != nil {
		s.log.Error().Err(err).Str("template", name).Msg("page not made")
		http.Error(w, "this page can't be shown", http.StatusInternalServerError)
		return
	}
	if lang := chosenLanguage(r); lang != "" {
		http.SetCookie(w, &http.Cookie{Name: languageCookie, Value: lang, Path: "/", MaxAge: 365 * 86400, SameSite: http.SameSiteLaxMode, Secure: s.secure(r)})
	}
	if w.Header().Get("Cache-Control") == "" {
		w.Header().Set("Cache-Control", "no-cache")
	}
	w.Header().Add("Vary", "Accept-Language, Cookie")
	s.send(w, r, status, "text/html; charset=utf-8", b.Bytes())
}

// sendJSON answers with a value as JSON.
func (s *Server) sendJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		s.log.Error().Err(err).Str("of", "answer").Msg("message not made")
		http.Error(w, "this answer can't be sent", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	s.send(w, r, status, "application/json", data)
}

// worthCompressing is the size from which an answer is compressed.
const worthCompressing = 1 << 10

// send answers with a body, compressed if the visitor takes that.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Add("Vary", "Accept-Encoding")
	if len(body) >= worthCompressing && takesGzip(r) {
		if small := compressed(body, gzip.DefaultCompression); small != nil {
			h.Set("Content-Encoding", "gzip")
			body = small
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// takesGzip reports whether the visitor takes compressed answers.
func takesGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, _ := strings.Cut(weight, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return err != nil || v > 0
	}
	return false
}

// static serves the page's files. Their address has the hash of their content, so
// that browsers keep them for good.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	site, err := s.site.now()
	if err != nil {
		s.log.Error().Err(err).Msg("the page's files can't be read")
		http.Error(w, "the page's files can't be read", http.StatusInternalServerError)
		return
	}
	f := site.files[r.PathValue("file")]
	if f == nil {
		s.notFound(w, r)
		return
	}
	// While arenas of two versions run, a page of one may ask the other for its
	// files. It gets them as they are there, but must not keep them.
	cache := "no-store"
	if r.PathValue("version") == site.version && site.disk == "" {
		cache = "public, max-age=31536000, immutable"
	}
	f.serve(w, r, cache)
}

// root serves a static file that browsers look for at a fixed address.
func (s *Server) root(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if f := s.site.files[name]; f != nil {
			f.serve(w, r, "public, max-age=86400")
			return
		}
		s.notFound(w, r)
	}
}

func (f *file) serve(w http.ResponseWriter, r *http.Request, cache string) {
	h := w.Header()
	if f.kind != kinds[".svg"] {
		for _, name := range forDocuments {
			h.Del(name)
		}
	}
	h.Set("Cache-Control", cache)
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if f.gzip != nil && takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = f.gzip
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// languageCookie has the language that the visitor chose.
const languageCookie = "lang"

var matcher = language.NewMatcher([]language.Tag{language.English, language.Chinese})

// language returns the language of the page: the one that the address names, the
// one that the visitor chose, or the first one that the browser prefers.
func (s *Server) language(r *http.Request) string {
	if lang := chosenLanguage(r); lang != "" {
		return lang
	}
	if c, err := r.Cookie(languageCookie); err == nil && slices.Contains(static.Languages, c.Value) {
		return c.Value
	}
	tags, _, err := language.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return static.Languages[0]
	}
	_, i, _ := matcher.Match(tags...)
	return static.Languages[i]
}

// theme returns the colours that the visitor chose, "" if it left them to the device.
func theme(r *http.Request) string {
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// chosenLanguage returns the language that the address names by ?lang=, for
// visitors without a script; "" if it names none.
func chosenLanguage(r *http.Request) string {
	if lang := r.URL.Query().Get("lang"); slices.Contains(static.Languages, lang) {
		return lang
	}
	return ""
}

// refusal is what /api answers instead of a result. The page shows its own
// sentence for the code.
type refusal struct {
	Code protocol.Code `json:"code"`
	Text string        `json:"text"`
}

// refuse answers a request that is not granted: as JSON below /api and for sockets,
// otherwise with a page that has the sentence for the code.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, code protocol.Code, text string) {
	if !hasLeft(r) {
		s.metrics.refused.WithLabelValues(string(code)).Inc()
	}
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/ws" {
		s.sendJSON(w, r, status, refusal{code, text})
		return
	}
	s.page(w, r, status, "error.html", refusal{code, text})
}

// hasLeft reports whether the visitor waits for the answer no more. Then what was done for it
// has ended with an error that says nothing about the store.
func hasLeft(r *http.Request) bool { return r.Context().Err() != nil }

// notFound answers that nothing is at an address.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, http.StatusNotFound, "no-page", "there is nothing at this address")
}
