package embedded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// guest is the user of nats.conf that serves as the model for others.
const guest = "guest"

// Owner is the user of Config.Owner.
const Owner = "owner"

// addUser copies the block of the user "guest" and replaces its name by the user's, and
// by the player's in the subjects of players, as nats.conf tells operators to do by hand.
// The player * is every player.
func addUser(opts *server.Options, user, player, password string, passwords map[string]string) error {
	if _, taken := passwords[user]; taken {
		return fmt.Errorf("player %s: there is already a user of that name", user)
	}
	i := slices.IndexFunc(opts.Users, func(u *server.User) bool { return u.Username == guest })
	if i < 0 {
		return fmt.Errorf("player %s: nats.conf has no user %q to copy", user, guest)
	}
	model := opts.Users[i]
	perm := *model.Permissions
	perm.Publish = rename(perm.Publish, user, player)
	perm.Subscribe = rename(perm.Subscribe, user, player)
	passwords[user] = password
	opts.Users = append(opts.Users, &server.User{
		Username:    user,
		Password:    password,
		Account:     model.Account,
		Permissions: &perm,
	})
	return nil
}

// rename replaces the guest's name by the player's as a token of a subject, and by the
// user's in the name of its inbox.
func rename(sp *server.SubjectPermission, user, player string) *server.SubjectPermission {
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
					tokens[i] = player
				case "_INBOX_" + guest:
					tokens[i] = "_INBOX_" + user
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
