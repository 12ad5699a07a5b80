package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/conf"
	"github.com/nats-io/nats.go"

	"sparring/configs"
	"sparring/natsserver/natsconf"
)

// serverConf returns the configuration of a server: the general part of nats.conf, and in
// place of its accounts the operator, who is trusted to sign them.
func (s *Store) serverConf(operator string) (string, error) {
	key, err := s.key("operator", operator)
	if err != nil {
		return "", err
	}
	defer key.Wipe()
	claims := jwt.NewOperatorClaims(operator)
	claims.Name = "sparring"
	claims.SigningKeys.Add(s.Operator)
	claims.StrictSigningKeyUsage = true
	claims.SystemAccount = s.Accounts[systemAccount]
	token, err := claims.Encode(key)
	if err != nil {
		return "", err
	}
	_, general, found := strings.Cut(configs.NATS, "\nserver_name:")
	general, _, ended := strings.Cut(general, "\naccounts {")
	if !found || !ended {
		return "", errors.New("nats.conf: no general part")
	}
	return `# Configuration of a NATS server for Sparring with TLS and with users whose credentials
# an operator signs: "sparring credentials init" has made it. Start the server in the
# directory of this file, where its data will be, too:
#
#   cd server && nats-server -c nats.conf
#
# docs/operating.md explains it.

server_name:` + general + `
tls {
  cert_file: "server.pem"
  key_file: "server.pem"
}

operator: ` + token + `
system_account: ` + s.Accounts[systemAccount] + `

# The server keeps the accounts that it was told of here. Those of accounts.conf, which
# every change rewrites, are stored here at the start if they are newer.
resolver {
  type: full
  dir: "data/accounts"
  allow_delete: false
  interval: "2m"
}
include accounts.conf
`, nil
}

// accounts returns the accounts as they have to be.
func (s *Store) accounts() ([]*jwt.AccountClaims, error) {
	configured, err := natsconf.Accounts()
	if err != nil {
		return nil, err
	}
	configured[systemAccount] = natsconf.Account{}
	var all []*jwt.AccountClaims
	for name, a := range configured {
		if s.Accounts[name] == "" {
			return nil, fmt.Errorf("nats.conf has an account %s, which these credentials lack", name)
		}
		c := jwt.NewAccountClaims(s.Accounts[name])
		c.Name = name
		if a.JetStream {
			c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
		}
		if a.MaxPayload > 0 {
			c.Limits.Payload = int64(a.MaxPayload)
		}
		if a.MaxSubs > 0 {
			c.Limits.Subs = int64(a.MaxSubs)
		}
		if a.MaxConn > 0 {
			c.Limits.Conn = int64(a.MaxConn)
		}
		// All accounts are the operator's, so an import needs no token of the exporter.
		for _, e := range a.Exports {
			subject, kind := kindOf(e.Service, e.Stream)
			x := &jwt.Export{Subject: subject, Type: kind, ResponseThreshold: e.Threshold}
			if e.Streamed {
				x.ResponseType = jwt.ResponseTypeStream
			}
			c.Exports.Add(x)
		}
		for _, i := range a.Imports {
			subject, kind := kindOf(i.Service, i.Stream)
			from := configured[i.From]
			if !slices.ContainsFunc(from.Exports, func(e natsconf.Export) bool { return slices.Contains(e.To, name) }) {
				return nil, fmt.Errorf("nats.conf: %s imports %s, which %s does not export to it", name, subject, i.From)
			}
			c.Imports.Add(&jwt.Import{Subject: subject, Account: s.Accounts[i.From], Type: kind})
		}
		for _, r := range roles {
			if r.account != name {
				continue
			}
			scope, err := r.template()
			if err != nil {
				return nil, err
			}
			scope.Key = s.Signers[r.role]
			c.SigningKeys.AddScopedSigner(scope)
			for _, u := range s.state.Users {
				if u.Role != r.role || u.Revoked.IsZero() {
					continue
				}
				at := u.Revoked // what was issued until then
				if at.Before(u.Issued) {
					at = u.Issued // by a clock that was ahead
				}
				c.RevokeAt(u.Key, at)
			}
		}
		sort.Sort(c.Exports) // as they are encoded
		sort.Sort(c.Imports)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *jwt.AccountClaims) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func kindOf(service, stream string) (jwt.Subject, jwt.ExportType) {
	if service != "" {
		return jwt.Subject(service), jwt.Service
	}
	return jwt.Subject(stream), jwt.Stream
}

// written returns the accounts of AccountsFile, by public key; none if there is no file.
func (s *Store) written() (map[string]string, error) {
	data, err := os.ReadFile(s.Path(AccountsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := conf.Parse(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path(AccountsFile), err)
	}
	tokens := make(map[string]string)
	preload, _ := all["resolver_preload"].(map[string]any)
	for key, token := range preload {
		tokens[key] = fmt.Sprint(token)
	}
	return tokens, nil
}

// UpToDate reports whether the server's accounts are those that nats.conf and the
// revocations ask for. They are not after an upgrade that changed permissions, or when a
// process was killed before it had written them; WriteAccounts helps.
func (s *Store) UpToDate() (bool, error) {
	before, err := s.written()
	if err != nil {
		return false, err
	}
	want, err := s.accounts()
	if err != nil {
		return false, err
	}
	for _, c := range want {
		if !sameClaims(c, before[c.Subject]) {
			return false, nil
		}
	}
	return len(before) == len(want), nil
}

// sameClaims reports whether a token says the same as the claims, whenever it was issued.
func sameClaims(c *jwt.AccountClaims, token string) bool {
	old, err := jwt.DecodeAccountClaims(token)
	if err != nil {
		return false
	}
	digest := func(c *jwt.AccountClaims) [sha256.Size]byte {
		claims := *c
		claims.ClaimsData = jwt.ClaimsData{Name: c.Name, Subject: c.Subject}
		claims.GenericFields = jwt.GenericFields{}
		data, err := json.Marshal(&claims)
		if err != nil {
			panic(err) // it was encoded before
		}
		return sha256.Sum256(data)
	}
	return digest(c) == digest(old)
}

// WriteAccounts writes the accounts for the server's next start, as the nats.conf of this
// program and the revocations ask for.
func (s *Store) WriteAccounts() error {
	before, err := s.written()
	if err != nil {
		return err
	}
	all, err := s.accounts()
	if err != nil {
		return err
	}
	key, err := s.key("operator-signing", s.Operator)
	if err != nil {
		return err
	}
	defer key.Wipe()
	var b strings.Builder
	b.WriteString("# The accounts of the platform, signed by its operator. \"sparring credentials\" writes this file.\nresolver_preload {\n")
	for _, c := range all {
		token := before[c.Subject]
		if !sameClaims(c, token) { // a running server skips what it has
			if err := awaitLater(token); err != nil {
				return err
			}
			if token, err = c.Encode(key); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "  # %s\n  %s: %s\n", c.Name, c.Subject, token)
	}
	b.WriteString("}\n")
	return writeFile(s.Path(AccountsFile), []byte(b.String()), 0o600)
}

// updateSubject is where servers listen for changed accounts.
const updateSubject = "$SYS.REQ.CLAIMS.UPDATE"

// answerQuiet is how long no server may have answered before all have.
const answerQuiet = 300 * time.Millisecond

// maxWait bounds the wait for a later second.
const maxWait = 5 * time.Second

// awaitLater waits until the second of the token is over: a server that has one of an
// account takes another only if it was issued in a later second.
func awaitLater(token string) error {
	old, err := jwt.DecodeAccountClaims(token)
	if err != nil {
		return nil // there is none
	}
	wait := time.Until(time.Unix(old.IssuedAt+1, 0))
	if wait > maxWait {
		return fmt.Errorf("the clock of this machine is behind: the accounts were signed at %v", time.Unix(old.IssuedAt, 0).UTC())
	}
	time.Sleep(wait)
	return nil
}

// Push tells the running servers of the accounts, over a connection of the user of
// SystemCreds, and returns the names of those that took them. A server disconnects users
// that were revoked.
func (s *Store) Push(ctx context.Context, nc *nats.Conn) (servers []string, err error) {
	tokens, err := s.written()
	if err != nil {
		return nil, err
	}
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	took := make(map[string]int)
	for _, token := range tokens {
		if err := nc.PublishRequest(updateSubject, inbox, []byte(token)); err != nil {
			return nil, err
		}
	}
	for answers := 0; ; answers++ {
		within, cancel := ctx, context.CancelFunc(func() {})
		if answers >= len(tokens) {
			within, cancel = context.WithTimeout(ctx, answerQuiet)
		}
		msg, err := sub.NextMsgWithContext(within)
		cancel()
		if err != nil {
			if answers < len(tokens) {
				return nil, fmt.Errorf("no server answered: %w", err)
			}
			break
		}
		var answer struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
			Error *struct {
				Description string `json:"description"`
			} `json:"error"`
		}
		if err := json.Unmarshal(msg.Data, &answer); err != nil {
			return nil, fmt.Errorf("an answer that is not a server's: %w", err)
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("server %s: %s", answer.Server.Name, answer.Error.Description)
		}
		took[answer.Server.Name]++
	}
	for name, n := range took {
		if n == len(tokens) {
			servers = append(servers, name)
		}
	}
	slices.Sort(servers)
	return servers, nil
}
