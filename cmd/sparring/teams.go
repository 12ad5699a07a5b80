package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sparring/bot"
	"sparring/configs"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// teamsPort is where teams of other machines reach a ladder, unless --port says
// otherwise: the usual one of NATS, so that their files hold after a restart.
const teamsPort = 4222

// checkTeams checks the names of --teams, and chooses a port for them.
func (f *upFlags) checkTeams(portGiven bool) error {
	if !f.ladder {
		return fmt.Errorf("they join a ladder; want --ladder as well")
	}
	if portGiven && f.port == embedded.NoPort {
		return fmt.Errorf("they need a port; want no --port 0")
	}
	if !portGiven {
		f.port = teamsPort
	}
	var own bot.Config
	if err := configs.Defaults(&own); err != nil {
		return err
	}
	for i, name := range f.teams {
		id, err := playerOf(name)
		if err != nil {
			return err
		}
		isBot := slices.ContainsFunc(own.Players, func(p string) bool { return strings.HasPrefix(p, name+":") })
		switch {
		case string(id) != name:
			return fmt.Errorf("%q: want a-z, 0-9, - and _; what people read is the team's own --name", name)
		case isBot || slices.Contains([]string{"platform", "bots", "guest", "watch", embedded.Owner}, name):
			return fmt.Errorf("%s: the name is taken", name)
		case slices.Contains(f.teams[:i], name):
			return fmt.Errorf("%s: named twice", name)
		}
	}
	return nil
}

// teamFile is the file with which a team joins.
func (f *upFlags) teamFile(name string) string { return filepath.Join(f.data, "teams", name+".env") }

// admitTeams lets a server listen to other machines, and gives it a user for each team,
// with the password that it had before.
func (f *upFlags) admitTeams(c *embedded.Config) {
	c.Host, c.Passwords = "0.0.0.0", map[string]string{}
	for _, name := range f.teams {
		c.Players = append(c.Players, protocol.PlayerID(name))
		if l, err := readLogin(f.teamFile(name)); err == nil && l.user == name {
			c.Passwords[name] = l.password
		}
	}
}

// inviteTeams writes the files with which the teams join, and returns them.
func (f *upFlags) inviteTeams(srv *embedded.Server) (files []string, err error) {
	if len(f.teams) == 0 {
		return nil, nil
	}
	url, err := fromOutside(srv.URL())
	if err == nil {
		err = os.MkdirAll(filepath.Join(f.data, "teams"), 0o700)
	}
	for _, name := range f.teams {
		if err == nil {
			_, err = login{url, name, srv.Password(name)}.write(f.teamFile(name))
		}
		files = append(files, f.teamFile(name))
	}
	return files, err
}

// fromOutside returns the URLs, separated by commas, by which other machines may reach a
// server that listens on all addresses. A client tries one after the other.
func fromOutside(url string) (string, error) {
	_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "nats://"))
	if err != nil {
		return "", err
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	var urls []string
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			urls = append(urls, "nats://"+net.JoinHostPort(n.IP.String(), port))
		}
	}
	if len(urls) == 0 { // it may get one later, and its name is known then
		name, err := os.Hostname()
		if err != nil {
			return "", err
		}
		urls = append(urls, "nats://"+net.JoinHostPort(name, port))
	}
	return strings.Join(urls, ","), nil
}
