package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"sparring/protocol"
)

// person is somebody who plays through the page.
type person struct {
	ID   protocol.PlayerID
	Name string
	// session is the hash of the session, which tells it from the person's others.
	session string
}

// Requests to /api, each a POST with a JSON object. What is refused is answered
// with a refusal.
//
//	/api/session  nothing: answers with the person of the session, or begins a session of a new guest
//	/api/name     nameRequest: changes the display name
//	/api/link     nothing: makes a link for another device, good once and for 15 minutes
//	/api/logout   logoutRequest: ends sessions
//	/api/erase    nothing: forgets the person
type (
	// whoAnswer says who plays.
	whoAnswer struct {
		Player protocol.PlayerID `json:"player"`
		Name   string            `json:"name"`
	}
	nameRequest struct {
		Name string `json:"name"`
	}
	linkAnswer struct {
		Token   string    `json:"token"`
		URL     string    `json:"url"`
		Expires time.Time `json:"expires"`
	}
	logoutRequest struct {
		// Others ends the person's other sessions and links instead of this session.
		Others bool `json:"others"`
	}
)

// idLength is the length of a person's id without its prefix.
const idLength = 16

// secretLength is the length of rand.Text: 130 random bits.
const secretLength = 26

// hashed returns what is stored of a secret. Secrets are random and long, so the
// hash needs neither salt nor effort.
func hashed(secret string) string {
	h := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(h[:])
}

// splitToken returns the person and the secret of a cookie or a link, which are
// written one after the other.
func splitToken(token string) (id protocol.PlayerID, secret string, ok bool) {
	if len(token) != idLength+secretLength {
		return "", "", false
	}
	for i := range len(token) {
		if c := token[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return "", "", false
		}
	}
	return protocol.PeoplePrefix + protocol.PlayerID(token[:idLength]), token[idLength:], true
}

// newSecret returns the secret of a new session or link.
func newSecret() string { return strings.ToLower(rand.Text()) }

// token joins what splitToken splits.
func token(id protocol.PlayerID, secret string) string {
	return strings.TrimPrefix(string(id), protocol.PeoplePrefix) + secret
}

func sameHash(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// session returns the session with a hash, nil if there is none or it has not
// been used for too long.
func (a *account) session(hash string, now time.Time) *session {
	for i := range a.Sessions {
		if s := &a.Sessions[i]; sameHash(s.Hash, hash) && now.Sub(s.Seen) < keepPerson {
			return s
		}
	}
	return nil
}

// addSession adds a session; the one that was used longest ago makes room.
func (a *account) addSession(hash string, now time.Time) {
	a.Sessions = slices.DeleteFunc(a.Sessions, func(s session) bool { return now.Sub(s.Seen) >= keepPerson })
	slices.SortStableFunc(a.Sessions, func(x, y session) int { return x.Seen.Compare(y.Seen) })
	a.Sessions = append(a.Sessions[max(0, len(a.Sessions)-maxSessions+1):], session{hash, now})
	a.Seen = now
}

// session returns who makes a request. The error is errNobody for a visitor
// without a valid session, or wraps errStore.
func (s *Server) session(r *http.Request) (person, error) {
	c, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return person{}, errNobody
	}
	id, secret, ok := splitToken(c.Value)
	if !ok {
		return person{}, errNobody
	}
	a, err := s.people.get(r.Context(), id)
	if err != nil {
		return person{}, err
	}
	now, hash := time.Now(), hashed(secret)
	of := a.session(hash, now)
	if of == nil {
		return person{}, errNobody
	}
	if now.Sub(of.Seen) >= touchEvery {
		s.touch(r.Context(), id, hash)
	}
	return person{id, a.Name, hash}, nil
}

// changer returns who asks to change something of its own, unless that is too
// often.
func (s *Server) changer(r *http.Request) (person, error) {
	c, err := s.session(r)
	if err == nil {
		err = bounded(s.limits.changes, c.ID)
	}
	return c, err
}

// touch notes that a session is used. If the store can't do that now, the next
// request does.
func (s *Server) touch(ctx context.Context, id protocol.PlayerID, hash string) {
	now := time.Now().UTC().Truncate(time.Second)
	if _, err := s.people.change(ctx, id, func(a *account) error {
		of := a.session(hash, now)
		if of == nil {
			return errNobody
		}
		of.Seen, a.Seen = now, now
		return nil
	}); err != nil && !errors.Is(err, errNobody) {
		s.log.Debug().Err(err).Str("player", string(id)).Msg("visit not noted")
	}
}

// cookieName returns the name of the session's cookie. Over TLS browsers take it
// only from this host, for all of it. Platforms that share a host, such as two
// on this machine, have cookies of their own.
func (s *Server) cookieName(r *http.Request) string {
	name := "sparring-" + s.people.scheme
	if s.secure(r) {
		return "__Host-" + name
	}
	return name
}

// cookieAge is how long a browser keeps the cookie, the most that browsers allow.
const cookieAge = 400 * 24 * time.Hour

// setCookie gives the visitor a session; "" takes it away.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	http.SetCookie(w, s.cookie(r, s.cookieName(r), value, cookieAge))
}

// cookie returns a cookie that only this server gets; "" removes it.
func (s *Server) cookie(r *http.Request, name, value string, age time.Duration) *http.Cookie {
	c := &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: s.secure(r), SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}

// renewCookie lets the browser keep the cookie of a valid session for longer.
func (s *Server) renewCookie(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(s.cookieName(r)); err == nil {
		if _, err := s.session(r); err == nil {
			s.setCookie(w, r, c.Value)
		}
	}
}

// maxBody bounds the body of a request.
const maxBody = 16 << 10

// api wraps a handler of a request to /api: it reads the request's object and
// answers with the handler's.
func api[Req any](s *Server, f func(w http.ResponseWriter, r *http.Request, req Req) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req Req
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&req)
		var tooLarge *http.MaxBytesError
		switch {
		case errors.As(err, &tooLarge):
			s.refuse(w, r, http.StatusRequestEntityTooLarge, protocol.TooLarge, fmt.Sprintf("want at most %d bytes", maxBody))
			return
		case err != nil && err != io.EOF: // an empty body asks for nothing in particular
			s.refuse(w, r, http.StatusBadRequest, protocol.Malformed, "want a JSON object of this request's form")
			return
		}
		answer, err := f(w, r, req)
		if err != nil {
			s.refuseError(w, r, err)
			return
		}
		s.sendJSON(w, r, http.StatusOK, answer)
	}
}

// Codes of the page that the protocol does not have.
const (
	codeForeign protocol.Code = "foreign"    // a page of another site has sent the request
	codeNobody  protocol.Code = "no-session" // this browser has no session, or it was ended elsewhere
	codeNoLink  protocol.Code = "no-link"    // the link was used, has expired or never existed
	codeName    protocol.Code = "bad-name"   // the name can't be shown
	codeLevel   protocol.Code = "level-name" // the name reads as a level's
)

// refuseError answers with the refusal that an error means.
func (s *Server) refuseError(w http.ResponseWriter, r *http.Request, err error) {
	var many tooMany
	switch {
	case errors.Is(err, errNobody):
		s.refuse(w, r, http.StatusUnauthorized, codeNobody, "this browser has no session")
	case errors.Is(err, errNoLink):
		s.refuse(w, r, http.StatusGone, codeNoLink, "the link was used, has expired or never existed")
	case errors.Is(err, errName):
		s.refuse(w, r, http.StatusUnprocessableEntity, codeName, errName.Error())
	case errors.Is(err, errLevelName):
		s.refuse(w, r, http.StatusUnprocessableEntity, codeLevel, errLevelName.Error())
	case errors.As(err, &many):
		retryAfter(w, many.wait)
		s.refuse(w, r, http.StatusTooManyRequests, protocol.RateLimited, many.Error())
	case errors.Is(err, errStops):
		s.refuse(w, r, http.StatusServiceUnavailable, protocol.Unavailable, errStops.Error())
	default:
		if !errors.Is(err, errStore) {
			s.log.Error().Err(err).Msg("request failed")
		}
		retryAfter(w, restFor)
		s.refuse(w, r, http.StatusServiceUnavailable, protocol.Unavailable, "people can't be looked up or stored now")
	}
}

// begin answers who plays, and makes a guest of a stranger.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, _ struct{}) (any, error) {
	p, err := s.session(r)
	if err == nil {
		return whoAnswer{p.ID, p.Name}, nil
	}
	if !errors.Is(err, errNobody) {
		return nil, err
	}
	if err := bounded(s.limits.sessions, s.visitor(r)); err != nil {
		return nil, err
	}
	now, secret := time.Now().UTC().Truncate(time.Second), newSecret()
	a := account{V: 1, Created: now, Name: s.site.guestName(1000 + mathrand.IntN(9000))}
	a.addSession(hashed(secret), now)
	id, err := s.people.create(r.Context(), a)
	if err != nil {
		return nil, err
	}
	s.metrics.sessions.Inc()
	s.setCookie(w, r, token(id, secret))
	return whoAnswer{id, a.Name}, nil
}

func (s *Server) name(_ http.ResponseWriter, r *http.Request, req nameRequest) (any, error) {
	p, err := s.changer(r)
	if err != nil {
		return nil, err
	}
	name, err := cleanName(req.Name)
	if err != nil {
		return nil, err
	}
	return whoAnswer{p.ID, name}, s.people.rename(r.Context(), p.ID, name)
}

func (s *Server) makeLink(_ http.ResponseWriter, r *http.Request, _ struct{}) (any, error) {
	p, err := s.changer(r)
	if err != nil {
		return nil, err
	}
	now, secret := time.Now().UTC().Truncate(time.Second), newSecret()
	made := link{hashed(secret), now.Add(keepLink)}
	if _, err := s.people.change(r.Context(), p.ID, func(a *account) error {
		if a.session(p.session, now) == nil {
			return errNobody
		}
		a.Links = slices.DeleteFunc(a.Links, func(l link) bool { return !now.Before(l.Expires) })
		a.Links = append(a.Links[max(0, len(a.Links)-maxLinks+1):], made)
		return nil
	}); err != nil {
		return nil, err
	}
	t := token(p.ID, secret)
	return linkAnswer{t, s.baseURL(r) + "/link/" + t, made.Expires}, nil
}

// showLink shows what a link for another device does, with a button that uses it:
// programs that look at links ahead of people must not use it up.
func (s *Server) showLink(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := splitToken(r.PathValue("token"))
	a, err := account{}, errNoLink
	if ok {
		a, err = s.people.get(r.Context(), id)
	}
	if errors.Is(err, errNobody) || err == nil && a.link(hashed(secret), time.Now()) < 0 {
		err = errNoLink
	}
	if err != nil {
		s.refuseError(w, r, err)
		return
	}
	// The browser knows its next secret before it uses the link, so that it can
	// repeat that if it does not learn what came of it.
	if _, ok := s.nextSecret(r); !ok {
		http.SetCookie(w, s.cookie(r, s.nextCookie(r), newSecret(), keepLink))
	}
	t := s.words(r)
	data := struct{ Name, Now string }{Name: t.named(player{ID: id, Name: a.Name}).Name}
	if p, err := s.session(r); err == nil && p.ID != id {
		data.Now = t.named(player{ID: p.ID, Name: p.Name}).Name
	}
	w.Header().Set("Cache-Control", "no-store")
	s.page(w, r, http.StatusOK, "link.html", data)
}

// link returns the index of the link with a hash, -1 if there is none or it has
// expired.
func (a *account) link(hash string, now time.Time) int {
	return slices.IndexFunc(a.Links, func(l link) bool { return sameHash(l.Hash, hash) && now.Before(l.Expires) })
}

// errUsed says that this browser has used the link before.
var errUsed = errors.New("used by this browser")

// nextCookie returns the name of the cookie with the secret of the session that a
// link begins.
func (s *Server) nextCookie(r *http.Request) string { return s.cookieName(r) + "-next" }

func (s *Server) nextSecret(r *http.Request) (string, bool) {
	c, err := r.Cookie(s.nextCookie(r))
	if err != nil {
		return "", false
	}
	_, secret, ok := splitToken(strings.Repeat("a", idLength) + c.Value)
	return secret, ok
}

// useLink begins a session of a link's person, and uses the link up.
func (s *Server) useLink(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := splitToken(r.PathValue("token"))
	if !ok {
		s.refuseError(w, r, errNoLink)
		return
	}
	now := time.Now().UTC().Truncate(time.Second)
	fresh, ok := s.nextSecret(r)
	if !ok {
		fresh = newSecret()
	}
	_, err := s.people.change(r.Context(), id, func(a *account) error {
		if a.session(hashed(fresh), now) != nil {
			return errUsed
		}
		i := a.link(hashed(secret), now)
		if i < 0 {
			return errNoLink
		}
		a.Links = slices.Delete(a.Links, i, i+1)
		a.addSession(hashed(fresh), now)
		return nil
	})
	switch {
	case errors.Is(err, errUsed): // by this browser
	case errors.Is(err, errNobody):
		s.refuseError(w, r, errNoLink)
		return
	case err != nil:
		s.refuseError(w, r, err)
		return
	}
	s.setCookie(w, r, token(id, fresh))
	http.SetCookie(w, s.cookie(r, s.nextCookie(r), "", 0))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request, req logoutRequest) (any, error) {
	p, err := s.changer(r)
	if err != nil {
		return nil, err
	}
	_, err = s.people.change(r.Context(), p.ID, func(a *account) error {
		a.Sessions = slices.DeleteFunc(a.Sessions, func(x session) bool { return sameHash(x.Hash, p.session) != req.Others })
		if req.Others {
			a.Links = nil
		}
		return nil
	})
	if err == nil && !req.Others {
		s.setCookie(w, r, "")
	}
	return whoAnswer{p.ID, p.Name}, err
}

func (s *Server) erase(w http.ResponseWriter, r *http.Request, _ struct{}) (any, error) {
	p, err := s.changer(r)
	if err != nil {
		return nil, err
	}
	if err := s.people.erase(r.Context(), p.ID); err != nil {
		return nil, err
	}
	s.setCookie(w, r, "")
	return whoAnswer{p.ID, p.Name}, nil
}
