package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sparring/internal/atomicfile"
	"sparring/natsserver/embedded"
)

// login is how a player in another process reaches a server. Its file, which only the
// owner can read, has the settings that commands take from the environment, so that a
// password need not be printed, nor stand in a command line.
type login struct{ url, user, password string }

const (
	loginURL      = "SPARRING_NATS_URL"
	loginUser     = "SPARRING_NATS_USER"
	loginPassword = "SPARRING_NATS_PASSWORD"
)

// readLogin reads a file that write has written.
func readLogin(path string) (l login, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	settings := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			settings[key] = value
		}
	}
	l = login{settings[loginURL], settings[loginUser], settings[loginPassword]}
	if l.url == "" || l.user == "" || l.password == "" {
		return login{}, fmt.Errorf("%s: want %s, %s and %s, a line each", path, loginURL, loginUser, loginPassword)
	}
	return l, nil
}

// write writes the file. The function returned removes it.
func (l login) write(path string) (remove func(), err error) {
	text := fmt.Sprintf("%s=%s\n%s=%s\n%s=%s\n", loginURL, l.url, loginUser, l.user, loginPassword, l.password)
	if err := atomicfile.WriteSecret(path, []byte(text)); err != nil {
		return nil, err
	}
	return func() { os.Remove(path) }, nil // a stale file does no harm
}

// writeLogins writes the files with which others join: "sparring ladder join" on this
// machine, guests, and the teams. It returns the names of the latter two. Remove removes
// the files for this machine.
func (f *upFlags) writeLogins(srv *embedded.Server, page *gateway, guests bool) (guest string, teams []string, remove func(), err error) {
	var written []func()
	removeAll := func() {
		for _, r := range written {
			r()
		}
	}
	defer func() {
		if err != nil {
			removeAll()
		}
	}()
	if f.ladder {
		e := endpoint{URL: srv.URL(), User: embedded.Owner, Password: srv.Password(embedded.Owner), Process: os.Getpid()}
		if page != nil {
			e.Page = page.url
		}
		r, err := writeEndpoint(f.data, e)
		if err != nil {
			return "", nil, nil, err
		}
		written = append(written, r)
	}
	if guests {
		guest = filepath.Join(f.data, "guest.env")
		r, err := login{srv.URL(), "guest", srv.Password("guest")}.write(guest)
		if err != nil {
			return "", nil, nil, dataError(f.data, "login of guest", err)
		}
		written = append(written, r)
	}
	if teams, err = f.inviteTeams(srv); err != nil {
		return "", nil, nil, dataError(f.data, "logins of the teams", err)
	}
	return guest, teams, removeAll, nil
}
