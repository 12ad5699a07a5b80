// Package natsconf reads configs/nats.conf, the one place where the accounts of a
// platform and the permissions of its users are written. The embedded server takes them
// as they are, package credentials turns them into JWTs.
package natsconf

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/conf"
	"github.com/nats-io/nats-server/v2/server"

	"sparring/configs"
)

// Guest is the user of nats.conf that is the model for all players with a connection of
// their own.
const Guest = "guest"

// Options returns the options of a server with nats.conf. The passwords are by user.
func Options(passwords map[string]string) (*server.Options, error) {
	var o server.Options
	if err := o.ProcessConfigString(text(passwords)); err != nil {
		return nil, fmt.Errorf("nats.conf: %w", err)
	}
	return &o, nil
}

// text returns nats.conf with definitions of its variables. A quoted value can't be read
// as a number.
func text(passwords map[string]string) string {
	var b strings.Builder
	for user, variable := range configs.NATSPasswords {
		fmt.Fprintf(&b, "%s_%s: %q\n", configs.Prefix, variable, passwords[user])
	}
	return b.String() + configs.NATS
}

// User returns a user of nats.conf.
func User(o *server.Options, name string) (*server.User, error) {
	i := slices.IndexFunc(o.Users, func(u *server.User) bool { return u.Username == name })
	if i < 0 {
		return nil, fmt.Errorf("nats.conf has no user %q", name)
	}
	return o.Users[i], nil
}

// inbox begins the first token of a user's inbox.
const inbox = "_INBOX_"

// Permissions returns those of a user for another one: the inbox is that of the user,
// and where a subject names a player of which is, it names the player instead. Each
// subject is there once.
func Permissions(p *server.Permissions, is func(player string) bool, user, player string) *server.Permissions {
	if p == nil {
		return nil
	}
	subject := func(s string) string {
		tokens := strings.Split(s, ".")
		for i, t := range tokens {
			switch {
			case strings.HasPrefix(t, inbox):
				tokens[i] = inbox + user
			case is(t):
				tokens[i] = player
			}
		}
		return strings.Join(tokens, ".")
	}
	renamed := func(sp *server.SubjectPermission) *server.SubjectPermission {
		if sp == nil {
			return nil
		}
		each := func(subjects []string) []string {
			var out []string
			for _, s := range subjects {
				s, queue, grouped := strings.Cut(s, " ")
				if s = subject(s); grouped {
					s += " " + queue
				}
				if !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
			return out
		}
		return &server.SubjectPermission{Allow: each(sp.Allow), Deny: each(sp.Deny)}
	}
	return &server.Permissions{Publish: renamed(p.Publish), Subscribe: renamed(p.Subscribe), Response: p.Response}
}

// playSubject begins the subjects of the requests of players.
const playSubject = "sparring.play."

// Players returns the players that a user with these permissions may act for.
func Players(p *server.Permissions) (players []string) {
	if p == nil || p.Publish == nil {
		return nil
	}
	for _, s := range p.Publish.Allow {
		if rest, ok := strings.CutPrefix(s, playSubject); ok {
			player, _, _ := strings.Cut(rest, ".")
			players = append(players, player)
		}
	}
	return players
}

// Account is an account of nats.conf.
type Account struct {
	JetStream  bool
	MaxPayload int // of a message in bytes; 0: that of the server
	MaxSubs    int // subscriptions of a connection; 0: any number
	MaxConn    int // connections of all users together; 0: any number
	Exports    []Export
	Imports    []Import
}

// Export lets other accounts import a subject. Exactly one of Service and Stream is set.
type Export struct {
	Service, Stream string
	To              []string // accounts
	Streamed        bool     // a service with any number of answers
	Threshold       time.Duration
}

// Import is the counterpart of an Export of another account.
type Import struct {
	Service, Stream string
	From            string // account
}

// Accounts returns the accounts of nats.conf by name. It is an error if the file says
// something of an account that the result could not express.
func Accounts() (map[string]Account, error) {
	all, err := conf.Parse(text(nil))
	if err != nil {
		return nil, fmt.Errorf("nats.conf: %w", err)
	}
	accounts := make(map[string]Account)
	for name, v := range asMap(all["accounts"]) {
		r := &reader{where: "accounts." + name, of: asMap(v)}
		a := Account{JetStream: r.text("jetstream") == "enabled"}
		delete(r.of, "users") // Options has them
		limits := r.inner("limits")
		a.MaxPayload, a.MaxSubs, a.MaxConn = limits.number("max_payload"), limits.number("max_subs"), limits.number("max_conn")
		r.check(limits)
		for _, e := range r.list("exports") {
			x := Export{Service: e.text("service"), Stream: e.text("stream"), To: e.texts("accounts"), Streamed: e.text("response") == "stream"}
			if t := e.text("threshold"); t != "" {
				if x.Threshold, err = time.ParseDuration(t); err != nil {
					return nil, fmt.Errorf("nats.conf: %s: %w", e.where, err)
				}
			}
			r.check(e)
			a.Exports = append(a.Exports, x)
		}
		for _, i := range r.list("imports") {
			service, stream := i.inner("service"), i.inner("stream")
			a.Imports = append(a.Imports, Import{
				Service: service.text("subject"), Stream: stream.text("subject"), From: service.text("account") + stream.text("account"),
			})
			r.check(service, stream, i)
		}
		if r.check(r); len(r.unread) > 0 {
			return nil, fmt.Errorf("nats.conf: not understood: %s", strings.Join(r.unread, ", "))
		}
		accounts[name] = a
	}
	return accounts, nil
}

// reader takes the values of a map out of it, so that what is left was not understood.
type reader struct {
	where  string
	of     map[string]any
	unread []string
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func (r *reader) take(key string) any {
	v := r.of[key]
	delete(r.of, key)
	return v
}

func (r *reader) text(key string) string {
	t, _ := r.take(key).(string)
	return t
}

func (r *reader) number(key string) int {
	n, _ := r.take(key).(int64)
	return int(n)
}

func (r *reader) texts(key string) (texts []string) {
	all, _ := r.take(key).([]any)
	for _, v := range all {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}

func (r *reader) inner(key string) *reader {
	return &reader{where: r.where + "." + key, of: asMap(r.take(key))}
}

func (r *reader) list(key string) (list []*reader) {
	all, _ := r.take(key).([]any)
	for i, v := range all {
		list = append(list, &reader{where: fmt.Sprintf("%s.%s[%d]", r.where, key, i), of: asMap(v)})
	}
	return list
}

// check notes what is left in others.
func (r *reader) check(others ...*reader) {
	for _, o := range others {
		for key := range o.of {
			r.unread = append(r.unread, o.where+"."+key)
		}
	}
}
