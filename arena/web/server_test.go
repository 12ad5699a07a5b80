package web

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/protocol"
)

func TestMain(m *testing.M) {
	flag.Parse()
	arenatest.NATSMain()
	// The tests wait much and compute little: more of them than processors.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of the tests.
const patience = gametest.Patience

// house is a gateway with its arena and NATS server.
type house struct {
	*Server
	nats interface {
		Platform() protocol.Connection
		Close()
	}
	log zerolog.Logger
}

// startHouse runs a house until the test ends.
func startHouse(t testing.TB, cfg Config) *house {
	t.Helper()
	return startHouseLog(t, cfg, zerolog.New(zerolog.NewTestWriter(t)))
}

func startHouseLog(t testing.TB, cfg Config, log zerolog.Logger) *house {
	t.Helper()
	h := &house{nats: arenatest.StartServer(t, ""), log: log}
	h.Server = h.open(t, cfg)
	h.run(t)
	return h
}

// open makes a gateway with an arena of its own on the house's NATS server.
func (h *house) open(t testing.TB, cfg Config) *Server {
	t.Helper()
	nc := arenatest.Connect(t, h.nats.Platform())
	ctx := gametest.Context(t)
	if err := protocol.Await(ctx, nc); err != nil {
		t.Fatal(err)
	}
	acfg := arena.Defaults()
	acfg.Ladder.On = false
	a, err := arena.New(t.Context(), nc, acfg, h.log)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), a, cfg, h.log)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prepare makes another gateway, with an arena of its own, that does not run yet.
func (h *house) prepare(t testing.TB) *house {
	t.Helper()
	return &house{Server: h.open(t, h.cfg), nats: h.nats, log: h.log}
}

// another runs another gateway on the same NATS server.
func (h *house) another(t testing.TB) *house {
	t.Helper()
	other := h.prepare(t)
	other.run(t)
	return other
}

// run lets the arena and the gateway serve until the test ends.
func (h *house) run(t testing.TB) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- h.arena.Run(ctx) }()
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		for range 2 {
			select {
			case err := <-ended:
				if err != nil && !h.arena.Conn().IsClosed() {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				t.Error("the house does not stop")
			}
		}
	})
	gametest.Eventually(t, "the house to serve", func() bool {
		w := httptest.NewRecorder()
		h.arena.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		return w.Code == http.StatusOK
	})
}

// get returns the answer to a GET request with the headers, given in pairs.
func (h *house) get(path string, headers ...string) *httptest.ResponseRecorder {
	return h.do(httptest.NewRequest(http.MethodGet, path, nil), headers...)
}

func (h *house) do(r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.Handler().ServeHTTP(w, r)
	return w
}

func TestPageIsServed(t *testing.T) {
	h := startHouse(t, Config{})
	for lang, want := range map[string]string{"en": `lang="en"`, "zh-CN,zh;q=0.9,en;q=0.8": `lang="zh"`, "fr": `lang="en"`, "": `lang="en"`, ";;;": `lang="en"`} {
		w := h.get("/", "Accept-Language", lang)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q: %d %s", lang, w.Code, w.Body)
		}
	}
	if w := h.get("/", "Accept-Language", "en", "Cookie", "lang=zh"); !strings.Contains(w.Body.String(), `lang="zh"`) {
		t.Errorf("the chosen language is not used: %s", w.Body)
	}
}

func TestStaticFiles(t *testing.T) {
	h := startHouse(t, Config{})
	plain := h.get(h.site.address("zh.json"))
	if plain.Code != http.StatusOK || !json.Valid(plain.Body.Bytes()) || !strings.Contains(plain.Header().Get("Cache-Control"), "immutable") {
		t.Fatalf("%d %v", plain.Code, plain.Header())
	}
	small := h.get(h.site.address("zh.json"), "Accept-Encoding", "br, gzip;q=0.8")
	r, err := gzip.NewReader(small.Body)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(r); err != nil || string(body) != plain.Body.String() {
		t.Errorf("compressed: %v, %q", err, body)
	}
	if w := h.get(h.site.address("zh.json"), "Accept-Encoding", "gzip;q=0"); w.Header().Get("Content-Encoding") != "" {
		t.Error("compressed for a visitor who refuses that")
	}
	if w := h.get("/s/0123456789abcdef/zh.json"); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("another version: %d %v", w.Code, w.Header())
	}
}

// A site on disk is read at each request.
func TestSiteFromDisk(t *testing.T) {
	h := startHouse(t, Config{Files: "../.."})
	if w := h.get(h.site.address("en.json")); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if _, err := openSite(t.TempDir()); err == nil {
		t.Error("an empty folder is taken for a site")
	}
}

func TestImportedModules(t *testing.T) {
	s := &site{files: map[string]*file{
		"main.js": {plain: []byte("// @ts-check\nimport {\n  a,\n  b } from './a.js';\nimport \"./b.js\"\n/** @typedef {import('./types.js').T} T */\nexport const f = () => import('./late.js')\n")},
		"a.js":    {plain: []byte("export * from \"./dir/c.js\"\nimport { f } from './main.js'\n")},
		"b.js":    {}, "types.js": {}, "late.js": {},
		"dir/c.js": {plain: []byte("import '../b.js'\n")},
	}}
	if got := strings.Join(s.imports(entry, nil), " "); got != "a.js dir/c.js b.js" {
		t.Errorf("imports: %s", got)
	}
}
