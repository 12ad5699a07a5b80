package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"sparring/internal/httpserver"
)

// proxied reports whether a request comes from a proxy that the settings name.
func (s *Server) proxied(r *http.Request) bool {
	return s.trusted(peer(r))
}

func (s *Server) trusted(a netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

// peer returns the address at the other end of the connection, the zero Addr if
// there is none, as over a Unix socket.
func peer(r *http.Request) netip.Addr {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap().WithZone("")
}

// visitor returns the address that the limits count for a request. Of what
// proxies say, only the entries that our own proxies have added count: the last
// one that is not a proxy's.
func (s *Server) visitor(r *http.Request) netip.Addr {
	a := peer(r)
	if s.trusted(a) {
		said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for _, text := range slices.Backward(said) {
			next, err := parseAddr(strings.TrimSpace(text))
			if err != nil {
				break
			}
			if a = next; !s.trusted(a) {
				break
			}
		}
	}
	return httpserver.Counted(a)
}

// parseAddr parses an address as proxies write it, with or without a port.
func parseAddr(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return a.Unmap().WithZone(""), err
}

// direct serves what is for operators, unless a proxy asks for a visitor: where the page is
// reached through one on the same machine, all requests come from loopback.
func (s *Server) direct(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
			s.notFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// secure reports whether the visitor's browser speaks TLS.
func (s *Server) secure(r *http.Request) bool {
	if r.TLS != nil || strings.HasPrefix(s.cfg.URL, "https://") {
		return true
	}
	return s.proxied(r) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// baseURL returns how the visitor reaches the page, without a slash at its end.
func (s *Server) baseURL(r *http.Request) string {
	switch {
	case s.cfg.URL != "":
		return s.cfg.URL
	case s.secure(r):
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// foreign reports whether a request was caused by a page of another site, by its
// header Origin. Programs that are no browsers send none.
func (s *Server) foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) && !strings.EqualFold(origin, s.cfg.URL)
}
