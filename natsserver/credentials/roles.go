package credentials

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"sparring/natsserver/natsconf"
	"sparring/protocol"
)

// Role is what a user may do.
type Role string

// The roles. Each has the permissions of a user of configs/nats.conf.
const (
	Platform  Role = "platform"  // arenas, and tools that read records
	Fleet     Role = "fleet"     // the operator's own bots, and analysts
	Bot       Role = "bot"       // one player, somebody's program
	Human     Role = "human"     // one player, a person with a program of theirs
	Spectator Role = "spectator" // receives all games

	// system tells servers of changed accounts. It has none of the platform's subjects.
	system Role = "system"
)

// roleSpec says where the permissions of a role are written.
type roleSpec struct {
	role    Role
	account string
	user    string // of nats.conf; "": systemPermissions
	players int    // how many a user acts for
	tagged  bool   // a user's players are tags of its JWT; otherwise its name is its player
}

const someof = -1 // any number of players

const systemAccount = "SYS"

var roles = []roleSpec{
	{role: Platform, account: "PLATFORM", user: "platform"},
	{role: Fleet, account: "PLAYERS", user: "bots", players: someof, tagged: true},
	{role: Bot, account: "PLAYERS", user: natsconf.Guest, players: 1},
	{role: Human, account: "PLAYERS", user: natsconf.Guest, players: 1},
	{role: Spectator, account: "WATCH", user: "watch"},
	{role: system, account: systemAccount},
}

// Roles returns the roles of users.
func Roles() (all []Role) {
	for _, r := range roles {
		if r.role != system {
			all = append(all, r.role)
		}
	}
	return all
}

func specOf(r Role) roleSpec {
	return roles[slices.IndexFunc(roles, func(s roleSpec) bool { return s.role == r })]
}

// complete fills in what a request leaves out, and checks it. The name and the players
// become parts of subjects: * would be everybody.
func (s roleSpec) complete(r *Request) error {
	if s.players == 0 && len(r.Players) > 0 {
		return fmt.Errorf("role %s has no players", s.role)
	}
	if s.players == 1 && len(r.Players) != 1 {
		return fmt.Errorf("role %s: want one player", s.role)
	}
	if s.players == someof && len(r.Players) == 0 {
		shipped, err := s.shipped()
		if err != nil {
			return err
		}
		for _, p := range shipped {
			r.Players = append(r.Players, protocol.PlayerID(p))
		}
	}
	for _, p := range r.Players {
		if err := protocol.CheckID("player", p); err != nil {
			return err
		}
		if p.Person() {
			return fmt.Errorf("player %s: ids that begin with %s are those of people on the page, for whom only the platform's gateways act", p, protocol.PeoplePrefix)
		}
	}
	if s.players == 1 {
		if r.Name != "" && r.Name != string(r.Players[0]) {
			return errors.New("the name of a user with one player is that player's")
		}
		r.Name = string(r.Players[0])
	}
	if r.Name == "" {
		r.Name = string(s.role)
	}
	return protocol.CheckID("name", protocol.PlayerID(r.Name))
}

// shipped returns the players of the role's user in nats.conf.
func (s roleSpec) shipped() ([]string, error) {
	u, err := s.configured()
	if err != nil {
		return nil, err
	}
	return natsconf.Players(u.Permissions), nil
}

func (s roleSpec) configured() (*server.User, error) {
	o, err := natsconf.Options(nil)
	if err != nil {
		return nil, err
	}
	return natsconf.User(o, s.user)
}

// playerTag is the tag of a JWT that names a player.
const playerTag = "player"

// What a server puts in the place of these in a template.
const (
	nameOfUser    = "{{name()}}"
	playersOfUser = "{{tag(" + playerTag + ")}}"
)

// systemPermissions are those to tell servers of changed accounts and hear answers.
func systemPermissions() *server.Permissions {
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{updateSubject}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX_" + nameOfUser + ".>"}},
	}
}

// template returns the permissions of every user that the role's key signs.
func (s roleSpec) template() (*jwt.UserScope, error) {
	scope := jwt.NewUserScope()
	scope.Role = string(s.role)
	p := systemPermissions()
	if s.user != "" {
		u, err := s.configured()
		if err != nil {
			return nil, err
		}
		var own []string // tokens of subjects that stand for the user's players
		player := nameOfUser
		if s.players != 0 {
			own = natsconf.Players(u.Permissions)
		}
		if s.tagged {
			player = playersOfUser
		}
		p = natsconf.Permissions(u.Permissions, func(t string) bool { return slices.Contains(own, t) }, nameOfUser, player)
	}
	if p == nil {
		return scope, nil
	}
	if p.Publish != nil {
		scope.Template.Pub = jwt.Permission{Allow: p.Publish.Allow, Deny: p.Publish.Deny}
	}
	if p.Subscribe != nil {
		scope.Template.Sub = jwt.Permission{Allow: withQueues(p.Subscribe.Allow), Deny: withQueues(p.Subscribe.Deny)}
	}
	if p.Response != nil {
		scope.Template.Resp = &jwt.ResponsePermission{MaxMsgs: p.Response.MaxMsgs, Expires: p.Response.Expires}
	}
	return scope, nil
}

// withQueues separates subjects and queue groups by a vertical tab. Where a list has a
// template, nats-server (2.9 to 2.15) leaves out every entry with a space, because that
// is no subject, before it takes entries apart; a player then could take no offers. A
// vertical tab passes there and separates as well. A server that sees that otherwise
// permits less, not more, and the tests of arena notice.
func withQueues(subjects []string) (out []string) {
	for _, s := range subjects {
		out = append(out, strings.Replace(s, " ", "\v", 1))
	}
	return out
}
