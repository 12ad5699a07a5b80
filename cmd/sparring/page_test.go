package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// startUp runs up in the background until the test ends, and returns its screen.
func startUp(t *testing.T, f upFlags) *page {
	t.Helper()
	screen := newPage()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- up(ctx, screen, f, mustClock(t, f.clock)) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("up: %v", err)
			}
		case <-time.After(patience):
			t.Error("up does not end")
		}
	})
	return screen
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// taken returns an address that is in use.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestUpNamesThePage: the first line begins with the page's address, which is another
// one if the usual port is in use.
func TestUpNamesThePage(t *testing.T) {
	t.Parallel()
	f := quickUp(t)
	f.http, f.anyPort = taken(t), true
	screen := startUp(t, f)
	m := screen.await(t, `^(http://127\.0\.0\.1:\d+) .*\n`, `records: `)
	url := m[1]
	if strings.HasSuffix(url, f.http) {
		t.Fatalf("%s was in use", url)
	}
	if code, body := get(t, url); code != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("the page: %d %.100s", code, body)
	}
	screen.await(t, `starts`, `records: `)
	for _, path := range []string{"/healthz", "/metrics"} {
		if code, body := get(t, url+path); code != http.StatusOK {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
}

// TestUpWithoutTheAddress: an address that was asked for is used, or nothing starts.
func TestUpWithoutTheAddress(t *testing.T) {
	f := quickUp(t)
	f.http = taken(t)
	if err := up(t.Context(), io.Discard, f, mustClock(t, f.clock)); err == nil || !strings.Contains(err.Error(), "--http: ") || !strings.Contains(err.Error(), "--http :8081") {
		t.Errorf("error %v, want one about --http, with advice", err)
	}
	f = quickUp(t)
	_, port, _ := strings.Cut(taken(t), ":")
	fmt.Sscan(port, &f.port)
	if err := up(t.Context(), io.Discard, f, mustClock(t, f.clock)); err == nil || !strings.Contains(err.Error(), "--port "+port+": ") || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("error %v, want one about --port, with advice", err)
	}
}

// TestPublicPage: where other machines reach the page, /healthz and /metrics have an
// address of their own.
func TestPublicPage(t *testing.T) {
	t.Parallel()
	f := quickUp(t)
	f.http = "0.0.0.0:0"
	screen := startUp(t, f)
	screen.await(t, `reach +this machine and all others`, `records: `)
	health := screen.await(t, `health +(http://127\.0\.0\.1:\d+)/healthz`, `records: `)[1]
	_, port, _ := strings.Cut(strings.TrimPrefix(screen.await(t, `^(http://\S+) `, `records: `)[1], "http://"), ":")
	screen.await(t, `starts`, `records: `)
	for _, path := range []string{"/healthz", "/metrics"} {
		if code, _ := get(t, "http://127.0.0.1:"+port+path); code != http.StatusNotFound {
			t.Errorf("the public page serves %s: %d", path, code)
		}
		if code, _ := get(t, health+path); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
}
