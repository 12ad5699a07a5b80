package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sparring/arena/arenatest"
	"sparring/protocol"
	"sparring/screen/static"
)

// The budget of a game's page that nothing is cached of, with the headers of all
// answers over HTTP/1.1. What a person needs after the first move, or never, comes late
// (see late.js) and does not count.
const (
	budgetBytes    = 66_000
	budgetScripts  = 43_000
	budgetRequests = 24
)

// countingConn counts what it reads.
type countingConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// loaded matches the addresses of what a page or a style sheet loads.
var loaded = regexp.MustCompile(`(?:<link [^>]*href|<script [^>]*src)="([^"]+)"|url\("([^"]+)"\)`)

func TestBudget(t *testing.T) {
	t.Parallel()
	platform := arenatest.StartServer(t, "", "hare")
	g := startGateway(t, platform, quick(), nil)
	joinBot(t, platform, "hare", protocol.Hello{})
	id := begin(t, openPage(t, g, human("ann")), terms(t, "gomoku/freestyle-15", "300+2"))
	site := g.server.site
	srv := httptest.NewServer(g.server.Handler())
	defer srv.Close()
	var read atomic.Int64
	transport := &http.Transport{
		DisableCompression: true, // which only means that the test sees the bytes as sent
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			return countingConn{c, &read}, err
		},
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for _, lang := range static.Languages {
		read.Store(0)
		scripts, requests := int64(0), 0
		get := func(path string) string {
			before := read.Load()
			r, err := http.NewRequest(http.MethodGet, srv.URL+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
			r.Header.Set("Accept-Language", lang)
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%s: %s, %v", path, resp.Status, err)
			}
			requests++
			if strings.HasSuffix(path, ".js") {
				scripts += read.Load() - before
			}
			if resp.Header.Get("Content-Encoding") == "gzip" {
				return string(unzip(t, body))
			}
			return string(body)
		}
		seen := make(map[string]bool)
		var load func(text, base string)
		load = func(text, base string) {
			for _, m := range loaded.FindAllStringSubmatch(text, -1) {
				path := m[1]
				if path == "" {
					path = base + m[2]
				}
				if seen[path] {
					continue
				}
				seen[path] = true
				if body := get(path); strings.HasSuffix(path, ".css") {
					load(body, path[:strings.LastIndex(path, "/")+1])
				}
			}
		}
		load(get("/game/"+string(id)), "")
		requests++ // the socket
		figures := fmt.Sprintf("%s: %d bytes, %d of them scripts, %d requests", lang, read.Load(), scripts, requests)
		t.Log(figures)
		if read.Load() > budgetBytes || scripts > budgetScripts || requests > budgetRequests {
			t.Errorf("%s; want at most %d, %d, %d", figures, budgetBytes, budgetScripts, budgetRequests)
		}
		if scripts < 10_000 || !seen[site.address("game.js")] || !seen[site.address(lang+".json")] {
			t.Errorf("the page does not load what it needs: %v", seen)
		}
	}
}

// Every file that a template or a module names exists.
func TestFilesExist(t *testing.T) {
	h := startHouse(t, Config{})
	for _, path := range []string{"/", "/game/g4kq", "/invite/x", "/games", "/nothing"} {
		for _, m := range loaded.FindAllStringSubmatch(h.get(path).Body.String(), -1) {
			if w := h.get(m[1]); w.Code != http.StatusOK {
				t.Errorf("%s loads %s: %d", path, m[1], w.Code)
			}
		}
	}
	named := regexp.MustCompile(`(?m)(?:^\s*(?:import|export)\b[^;'"(]*|\bimport\()["'](\./[^"']+)["']`)
	late := regexp.MustCompile(`\bload\("(\w+)"\)`)
	ahead := lateModules(t, h.site)
	for name, f := range h.site.files {
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		for _, m := range named.FindAllSubmatch(f.plain, -1) {
			if other := strings.TrimPrefix(string(m[1]), "./"); h.site.files[other] == nil {
				t.Errorf("%s imports %s, which does not exist", name, other)
			}
		}
		for _, m := range late.FindAllSubmatch(f.plain, -1) {
			if !slices.Contains(ahead, string(m[1])) {
				t.Errorf("%s loads %s, which late.js does not load ahead", name, m[1])
			}
		}
	}
	for _, name := range ahead {
		if h.site.files[name+".js"] == nil {
			t.Errorf("late.js loads %s.js, which does not exist", name)
		}
	}
}

// lateModules are the names of the modules that come late, in the order of late.js.
func lateModules(t *testing.T, s *site) (names []string) {
	t.Helper()
	list := regexp.MustCompile(`(?m)^const order = \[(.*)\];$`).FindSubmatch(s.files["late.js"].plain)
	if list == nil {
		t.Fatal("late.js has no order")
	}
	for name := range strings.SplitSeq(string(list[1]), ", ") {
		names = append(names, strings.Trim(name, `"`))
	}
	return names
}

// unzip returns what was compressed.
func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}
