package embedded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"sparring/protocol"
)

// guest is the user of nats.conf that serves as the model for others.
const guest = "guest"

// addPlayer copies the block of the user "guest" and replaces its name by the
// player's, as nats.conf tells operators to do by hand.
func addPlayer(opts *server.Options, p protocol.PlayerID, password string, passwords map[string]string) error {
	if err := protocol.CheckID("player", p); err != nil {
		return err
	}
	if _, taken := passwords[string(p)]; taken {
		return fmt.Errorf("player %s: there is already a user of that name", p)
	}
	i := slices.IndexFunc(opts.Users, func(u *server.User) bool { return u.Username == guest })
	if i < 0 {
		return fmt.Errorf("player %s: nats.conf has no user %q to copy", p, guest)
	}
	model := opts.Users[i]
	perm := *model.Permissions
	perm.Publish = rename(perm.Publish, p)
	perm.Subscribe = rename(perm.Subscribe, p)
	passwords[string(p)] = password
	opts.Users = append(opts.Users, &server.User{
		Username:    string(p),
		Password:    password,
		Account:     model.Account,
		Permissions: &perm,
	})
	return nil
}

// rename replaces the guest's name by the player's, as a token of a subject and
// in the name of its inbox.
func rename(sp *server.SubjectPermission, p protocol.PlayerID) *server.SubjectPermission {
	if sp == nil {
		return nil
	}
	each := func(subjects []string) []string {
		var out []string
		for _, s := range subjects {
			subject, queue, grouped := strings.Cut(s, " ")
			tokens := strings.Split(subject, ".")
			for i, t := range tokens {
				switch t {
				case guest:
					tokens[i] = string(p)
				case "_INBOX_" + guest:
					tokens[i] = "_INBOX_" + string(p)
				}
			}
			s = strings.Join(tokens, ".")
			if grouped {
				s += " " + queue
			}
			out = append(out, s)
		}
		return out
	}
	return &server.SubjectPermission{Allow: each(sp.Allow), Deny: each(sp.Deny)}
}
