package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// Only what our own proxies have added to a header counts.
func TestVisitor(t *testing.T) {
	s := &Server{cfg: Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}}
	for _, c := range []struct {
		peer  string
		said  []string
		want  string
		https bool
	}{
		{"203.0.113.7:1234", nil, "203.0.113.7", false},
		{"203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7", false}, // no proxy of ours
		{"10.0.0.1:1234", nil, "10.0.0.1", true},
		{"10.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1", true},
		{"10.0.0.1:1234", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1", true}, // the first was claimed by the visitor
		{"10.0.0.1:1234", []string{"1.2.3.4", "198.51.100.1, 10.0.0.2"}, "198.51.100.1", true},
		{"10.0.0.1:1234", []string{"10.0.0.3"}, "10.0.0.3", true},
		{"10.0.0.1:1234", []string{"198.51.100.1, nonsense"}, "10.0.0.1", true},
		{"10.0.0.1:1234", []string{"198.51.100.1:4711"}, "198.51.100.1", true},
		{"[fd00::1]:1234", []string{"[2001:db8:1:2:3:4:5:6]:4711"}, "2001:db8:1:2::", true},
		{"[2001:db8:1:2:ffff::1]:1", nil, "2001:db8:1:2::", false},
		{"[::ffff:203.0.113.7]:1", nil, "203.0.113.7", false},
		{"[fe80::1%eth0]:1", nil, "fe80::", false},
		{"@", nil, "invalid IP", false},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header.Set("X-Forwarded-Proto", "https")
		for _, h := range c.said {
			r.Header.Add("X-Forwarded-For", h)
		}
		if got := s.visitor(r).String(); got != c.want {
			t.Errorf("%s, %q: %s, want %s", c.peer, c.said, got, c.want)
		}
		if got := s.secure(r); got != c.https {
			t.Errorf("%s: over TLS: %v", c.peer, got)
		}
	}
}

func TestForeignOrigin(t *testing.T) {
	s := &Server{cfg: Config{URL: "https://play.example.org"}}
	for origin, want := range map[string]bool{
		"": false, "http://inside:8080": false, "https://play.example.org": false,
		"https://evil.example": true, "null": true, "http://inside:8081": true, "http://play.example.org": true, "https://play.example.org.evil.example": true, "::": true,
	} {
		r := httptest.NewRequest("GET", "http://inside:8080/ws", nil)
		r.Header.Set("Origin", origin)
		if got := s.foreign(r); got != want {
			t.Errorf("origin %q: foreign %v", origin, got)
		}
	}
}

// What is for operators is not for the visitors of a proxy.
func TestOperatorsPagesBehindAProxy(t *testing.T) {
	h := startHouse(t, Config{Operator: true})
	for _, path := range []string{"/healthz", "/metrics"} {
		if w := h.get(path); w.Code == http.StatusNotFound {
			t.Errorf("%s: %d for the operator", path, w.Code)
		}
		for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
			if w := h.get(path, header, "for=192.0.2.7"); w.Code != http.StatusNotFound {
				t.Errorf("%s: %d for a visitor whom %s names", path, w.Code, header)
			}
		}
	}
}
