// Package credentials keeps the keys of a platform and signs what they are for: an
// operator, whose signature makes accounts, the accounts of configs/nats.conf, and in
// each a scoped signing key for every [Role], which makes users that can do what
// nats.conf permits that role and nothing else. [Init] makes a directory with all of it
// and the configuration of a NATS server; [Open] uses one.
//
//	credentials.json     accounts, public keys, and who has credentials until when
//	keys/                the private keys; only Issue and the accounts need them
//	server/              what a server needs: nats.conf, accounts.conf, server.pem, ca.pem
//	system.creds         the user that tells a running server of changes
//
// Every file is written whole or not at all, so a killed process leaves no half of one.
package credentials

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"sparring/protocol"
)

// Files of a store that others read.
const (
	ServerDir    = "server"
	AccountsFile = "server/accounts.conf" // which a server reads at its start
	CAFile       = "server/ca.pem"        // which clients recognize the server by
	SystemCreds  = "system.creds"         // of the user that Push connects as
)

const (
	stateFile = "credentials.json"
	keysDir   = "keys"
)

// Errors that callers tell apart.
var (
	// ErrExists is returned by Init if the directory has something in it already.
	ErrExists = errors.New("is there already, and not empty")
	// ErrNone is returned by Open if the directory has no credentials; Init makes them.
	ErrNone = errors.New("no credentials there")
	// ErrTaken is returned by Issue if valid credentials act for the player, or have the
	// name; Request.Renew or Revoke helps.
	ErrTaken = errors.New("there are valid credentials already")
	// ErrUnknown is returned by Revoke if there are no credentials of the name.
	ErrUnknown = errors.New("no credentials of that name")
	// ErrInUse is returned by Open while another process has the directory open.
	ErrInUse = errors.New("in use by another process")
)

// User is one that was given credentials.
type User struct {
	Name    string              `json:"name"`
	Role    Role                `json:"role"`
	Players []protocol.PlayerID `json:"players,omitempty"`
	Key     string              `json:"key"` // public
	Issued  time.Time           `json:"issued"`
	Expires time.Time           `json:"expires,omitzero"` // zero: never
	Revoked time.Time           `json:"revoked,omitzero"` // zero: not
}

// Valid reports whether the user's credentials work at a time.
func (u User) Valid(at time.Time) bool {
	return u.Revoked.IsZero() && (u.Expires.IsZero() || at.Before(u.Expires))
}

// state is what is stored in stateFile.
type state struct {
	Version  int               `json:"v"`
	Operator string            `json:"operator"` // public key of the operator's signing key
	Accounts map[string]string `json:"accounts"` // public keys by name
	Signers  map[Role]string   `json:"signers"`  // public keys of the scoped signing keys
	Users    []User            `json:"users"`
}

// version is that of the state.
const version = 1

// Store is an open directory.
type Store struct {
	dir  string
	lock *flock.Flock
	state
}

// Init makes a directory, with new keys, a certificate for the hosts by which servers
// are reached, and a server's configuration. It appears whole or not at all.
func Init(dir string, hosts []string) (err error) {
	if files, err := os.ReadDir(dir); err == nil && len(files) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrExists)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+"-*") // mode 0700
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft) // it is gone if all went well
	if err := initIn(draft, hosts); err != nil {
		return err
	}
	if err := os.Rename(draft, dir); err != nil {
		return err
	}
	return syncDir(parent)
}

func initIn(dir string, hosts []string) error {
	for _, d := range []string{keysDir, ServerDir} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	s := &Store{dir: dir, state: state{Version: version, Accounts: map[string]string{}, Signers: map[Role]string{}, Users: []User{}}}
	operator, err := s.newKey("operator", nkeys.CreateOperator)
	if err != nil {
		return err
	}
	if s.Operator, err = s.newKey("operator-signing", nkeys.CreateOperator); err != nil {
		return err
	}
	for _, r := range roles {
		if s.Signers[r.role], err = s.newKey("role-"+string(r.role), nkeys.CreateAccount); err != nil {
			return err
		}
		if s.Accounts[r.account] != "" {
			continue
		}
		// The private key of an account could sign users without the limits of a role.
		// Nothing needs it, so it is not kept.
		account, err := nkeys.CreateAccount()
		if err != nil {
			return err
		}
		if s.Accounts[r.account], err = account.PublicKey(); err != nil {
			return err
		}
	}
	conf, err := s.serverConf(operator)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, ServerDir, "nats.conf"), []byte(conf), 0o600); err != nil {
		return err
	}
	if err := s.newAuthority(); err != nil {
		return err
	}
	if err := s.NewCertificate(hosts); err != nil {
		return err
	}
	creds, err := s.issue(Request{Role: system, Name: string(system)})
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, SystemCreds), creds, 0o600); err != nil {
		return err
	}
	return s.WriteAccounts()
}

// Open opens a directory that Init made. Until Close, nobody else can.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}
	if _, err := os.Stat(filepath.Join(dir, stateFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	locked, err := s.lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	data, err := os.ReadFile(filepath.Join(dir, stateFile))
	if err == nil {
		err = json.Unmarshal(data, &s.state)
	}
	if err == nil && s.Version != version {
		err = fmt.Errorf("version %d: this program knows %d", s.Version, version)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, stateFile), err)
	}
	return s, nil
}

// Close lets others open the directory.
func (s *Store) Close() { s.lock.Close() }

// Path returns the path of a file of the store.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) save() error {
	data, err := json.MarshalIndent(s.state, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(s.Path(stateFile), append(data, '\n'), 0o600)
}

// newKey makes a key and keeps it.
func (s *Store) newKey(name string, create func() (nkeys.KeyPair, error)) (public string, err error) {
	key, err := create()
	if err != nil {
		return "", err
	}
	defer key.Wipe()
	seed, err := key.Seed()
	if err != nil {
		return "", err
	}
	if err := writeFile(s.keyFile(name), append(seed, '\n'), 0o600); err != nil {
		return "", err
	}
	return key.PublicKey()
}

func (s *Store) keyFile(name string) string { return s.Path(filepath.Join(keysDir, name+".nk")) }

// key reads a private key and checks that it is the one that was made.
func (s *Store) key(name, public string) (nkeys.KeyPair, error) {
	seed, err := os.ReadFile(s.keyFile(name))
	if err != nil {
		return nil, fmt.Errorf("the private key is needed: %w", err)
	}
	key, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	if err != nil {
		return nil, fmt.Errorf("%s: not a private key", s.keyFile(name)) // without what is there
	}
	if have, err := key.PublicKey(); err != nil || have != public {
		return nil, fmt.Errorf("%s: not the key of these accounts", s.keyFile(name))
	}
	return key, nil
}

// Users returns those that were given credentials, the oldest first.
func (s *Store) Users() []User {
	return slices.DeleteFunc(slices.Clone(s.state.Users), func(u User) bool { return u.Role == system })
}

// Request says what credentials to issue.
type Request struct {
	Role Role
	Name string // of the user; "": its only player or, of a role without players, the role
	// Players are whom the user acts for: one for a bot or a human, any number for a
	// fleet, where none means those of nats.conf.
	Players []protocol.PlayerID
	Expires time.Duration // 0: never
	// Renew allows further credentials of the same name, role and players. The older ones
	// stay valid until they expire or are revoked.
	Renew bool
}

// maxToken bounds a user's JWT: the server reads it from a line of 4096 bytes.
const maxToken = 3500

// Issue makes credentials: the content of a .creds file, which is a secret and is not
// kept here.
func (s *Store) Issue(r Request) (creds []byte, err error) {
	if _, err := r.User(); err != nil {
		return nil, err
	}
	return s.issue(r)
}

// User returns the name of the user, or what is wrong with the request, whatever the
// credentials that there are.
func (r Request) User() (name string, err error) {
	if !slices.Contains(Roles(), r.Role) {
		return "", fmt.Errorf("no role %.20q: want one of %s", r.Role, strings.Trim(fmt.Sprint(Roles()), "[]"))
	}
	if r.Expires < 0 || r.Expires > 0 && r.Expires < time.Second {
		return "", fmt.Errorf("expires after %v: want a second or more", r.Expires)
	}
	r.Players = slices.Clone(r.Players) // which complete may fill in
	err = specOf(r.Role).complete(&r)
	return r.Name, err
}

func (s *Store) issue(r Request) (creds []byte, err error) {
	spec := specOf(r.Role)
	if err := spec.complete(&r); err != nil {
		return nil, err
	}
	now := time.Now().Truncate(time.Second)
	u := User{Name: r.Name, Role: r.Role, Players: r.Players, Issued: now}
	if r.Expires > 0 {
		u.Expires = now.Add(r.Expires).Truncate(time.Second)
	}
	if err := s.free(u, r.Renew, now); err != nil {
		return nil, err
	}
	signer, err := s.key("role-"+string(r.Role), s.Signers[r.Role])
	if err != nil {
		return nil, err
	}
	defer signer.Wipe()
	user, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	defer user.Wipe()
	if u.Key, err = user.PublicKey(); err != nil {
		return nil, err
	}
	claims := jwt.NewUserClaims(u.Key)
	claims.SetScoped(true)
	claims.Name, claims.IssuerAccount = u.Name, s.Accounts[spec.account]
	if !u.Expires.IsZero() {
		claims.Expires = u.Expires.Unix()
	}
	encode := func(players []protocol.PlayerID) (token string, err error) {
		claims.Tags = nil
		for _, p := range players {
			claims.Tags.Add(playerTag + ":" + string(p))
		}
		return claims.Encode(signer)
	}
	var tagged []protocol.PlayerID
	if spec.tagged {
		tagged = u.Players
	}
	token, err := encode(tagged)
	if err != nil {
		return nil, err
	}
	u.Issued = time.Unix(claims.IssuedAt, 0)
	if len(token) > maxToken {
		fit := sort.Search(len(tagged), func(n int) bool {
			token, err := encode(tagged[:n+1])
			return err != nil || len(token) > maxToken
		})
		return nil, fmt.Errorf("%d players are too many for one connection, which has room for the first %d of these names: make several credentials", len(u.Players), fit)
	}
	seed, err := user.Seed()
	if err != nil {
		return nil, err
	}
	if creds, err = jwt.FormatUserConfig(token, seed); err != nil {
		return nil, err
	}
	// Noted before anybody gets them: what is not noted can't be revoked.
	s.state.Users = append(s.state.Users, u)
	if err := s.save(); err != nil {
		s.state.Users = s.state.Users[:len(s.state.Users)-1]
		return nil, err
	}
	return creds, nil
}

// free returns an error if somebody else acts for a player of the user, or has its name.
func (s *Store) free(u User, renew bool, now time.Time) error {
	for _, other := range s.state.Users {
		same := other.Name == u.Name && other.Role == u.Role && slices.Equal(other.Players, u.Players)
		if !other.Valid(now) || same && renew {
			continue
		}
		if other.Name == u.Name {
			return fmt.Errorf("%s (%s): %w", other.Name, other.Role, ErrTaken)
		}
		for _, p := range u.Players {
			if slices.Contains(other.Players, p) {
				return fmt.Errorf("%s acts for player %s: %w", other.Name, p, ErrTaken)
			}
		}
	}
	return nil
}

// Revoke revokes all credentials of a name and writes the accounts for the server's next
// start. Push tells a running one. It returns how many were valid before.
func (s *Store) Revoke(name string) (revoked int, err error) {
	now, known := time.Now().Truncate(time.Second), false
	for i := range s.state.Users {
		u := &s.state.Users[i]
		if u.Name != name || u.Role == system {
			continue
		}
		known = true
		if u.Valid(now) {
			revoked++
		}
		if u.Revoked.IsZero() {
			u.Revoked = now
		}
	}
	if !known {
		return 0, fmt.Errorf("%.40q: %w", name, ErrUnknown)
	}
	if err := s.save(); err != nil {
		return 0, err
	}
	return revoked, s.WriteAccounts()
}

// WriteSecret writes a file that only its owner can read.
func WriteSecret(path string, data []byte) error { return writeFile(path, data, 0o600) }

// writeFile writes a file so that it is there as before or as a whole afterwards.
func writeFile(path string, data []byte, mode fs.FileMode) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it is gone if all went well
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes renames in a directory survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
