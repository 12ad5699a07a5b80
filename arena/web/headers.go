package web

import "net/http"

// policy allows the page its own files and nothing else. There are no exceptions
// for inline scripts or styles, so markup that slips into a page does nothing.
const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// forDocuments are the headers that only documents need. Static files, which anybody may have,
// go without: six headers for each module would be an eighth of what a page weighs.
var forDocuments = []string{"Content-Security-Policy", "Referrer-Policy", "Permissions-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy"}

// guarded sets the headers that answers have, and refuses requests by which
// a page of another site would act for the visitor.
func (s *Server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	if s.cfg.URL != "" { // a proxy may ask with another host
		if err := cross.AddTrustedOrigin(s.cfg.URL); err != nil {
			s.log.Warn().Err(err).Msg("the page's address is no origin")
		}
	}
	foreign := func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, http.StatusForbidden, codeForeign, "this request comes from a page of another site")
	}
	cross.SetDenyHandler(http.HandlerFunc(foreign))
	next = cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// Not no-referrer: with that, browsers hide the origin of our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Sockets begin as GET requests, which the protection lets pass.
		if r.Header.Get("Upgrade") != "" && s.foreign(r) {
			foreign(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
