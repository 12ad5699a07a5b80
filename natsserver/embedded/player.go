package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"

	"sparring/natsserver/natsconf"
)

// Owner is the user of Config.Owner.
const Owner = "owner"

// addUser copies the block of the user "guest" and replaces its name by the user's, and
// by the player's in the subjects of players, as nats.conf tells operators to do by hand.
// The player * is every player.
func addUser(opts *server.Options, user, player, password string, passwords map[string]string) error {
	if _, taken := passwords[user]; taken {
		return fmt.Errorf("player %s: there is already a user of that name", user)
	}
	model, err := natsconf.User(opts, natsconf.Guest)
	if err != nil {
		return fmt.Errorf("player %s: %w", user, err)
	}
	passwords[user] = password
	opts.Users = append(opts.Users, &server.User{
		Username:    user,
		Password:    password,
		Account:     model.Account,
		Permissions: natsconf.Permissions(model.Permissions, func(t string) bool { return t == natsconf.Guest }, user, player),
	})
	return nil
}
