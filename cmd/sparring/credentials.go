package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sparring/configs"
	"sparring/internal/texttable"
	"sparring/natsserver/credentials"
	"sparring/protocol"
)

// credentialsFlags are the flags of all verbs.
type credentialsFlags struct {
	dir string
	to  serverFlags
}

func credentialsCommand() *cobra.Command {
	var f credentialsFlags
	c := &cobra.Command{
		Use:   "credentials",
		Short: "Sign the users of a platform: init, new, list, revoke, push, certificate",
		Long: `Make and revoke the credentials of a platform's users, in place of passwords in
nats.conf: an operator signs the accounts, and a key for each role signs users that can
do what nats.conf permits that role. The keys are in a directory on the operator's
machine; a server needs only what is in its folder "server". See docs/operating.md.`,
		Example: `  sparring credentials init --host nats.example.org
  (cd credentials/server && nats-server -c nats.conf)
  sparring credentials new --role platform > platform.creds
  sparring credentials new --role bot --player team-red --expires 30d > team-red.creds
  sparring arena --nats tls://nats.example.org --ca credentials/server/ca.pem --creds platform.creds
  sparring credentials revoke team-red`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error { return subcommand(c, args) },
	}
	c.PersistentFlags().StringVar(&f.dir, "dir", "credentials", "directory of the keys")
	c.AddCommand(credentialsInit(&f), credentialsNew(&f), credentialsList(&f), credentialsRevoke(&f), credentialsPush(&f), credentialsCertificate(&f))
	return c
}

// open opens the directory, with an error for a terminal.
func (f *credentialsFlags) open() (*credentials.Store, error) {
	s, err := credentials.Open(f.dir)
	if errors.Is(err, credentials.ErrNone) {
		return nil, fmt.Errorf("%w; \"sparring credentials init\" makes them, --dir names the directory", err)
	}
	return s, err
}

// defaultHosts are names of a server on this machine.
func defaultHosts() []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil && name != "" && !slices.Contains(hosts, name) {
		hosts = append(hosts, name)
	}
	return hosts
}

func hostFlag(c *cobra.Command, hosts *[]string) {
	c.Flags().StringSliceVar(hosts, "host", nil, "name or address by which clients reach the server, besides those of this machine; may be repeated")
}

func checkHosts(hosts []string) error {
	for _, h := range hosts {
		if err := credentials.CheckHost(h); err != nil {
			return usagef("--host: %w", err)
		}
	}
	return nil
}

func credentialsInit(f *credentialsFlags) *cobra.Command {
	var hosts []string
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the keys of a platform, and the configuration of its NATS server",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkHosts(hosts); err != nil {
				return err
			}
			if err := credentials.Init(f.dir, append(hosts, defaultHosts()...)); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), `%[1]s has the keys of a new platform. Keep %[1]s/keys secret, and a copy of %[1]s elsewhere.
Start its server:  cd %[1]s/server && nats-server -c nats.conf
Make a user:       sparring credentials new --dir %[1]s --role platform > platform.creds
`, f.dir)
			return nil
		},
	}
	hostFlag(c, &hosts)
	return c
}

// days is a time that may have the unit d, for days.
type days time.Duration

func (d *days) String() string { return "" }
func (d *days) Type() string   { return "time" }
func (d *days) Set(text string) error {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		count, err := strconv.ParseFloat(n, 64)
		if err != nil || !(count > 0 && count <= 36500) {
			return errors.New("want days, such as 30d")
		}
		*d = days(count * 24 * float64(time.Hour))
		return nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed < time.Second {
		return errors.New("want a time, such as 30d or 12h")
	}
	*d = days(parsed)
	return nil
}

func credentialsNew(f *credentialsFlags) *cobra.Command {
	var r credentials.Request
	var players []string
	var expires days
	var out string
	roles := make([]string, 0, 5)
	for _, role := range credentials.Roles() {
		roles = append(roles, string(role))
	}
	c := &cobra.Command{
		Use:   "new --role ROLE [--player NAME]",
		Short: "Make credentials of a user, and print them: the content of a .creds file",
		Long: `Make credentials of a user, and print them: the content of a .creds file, which is a
secret and is not kept. The roles:

  platform   arenas, and what reads the platform's records or commands its fleet
  fleet      your own bot processes: for the players of --player, or those of nats.conf
  bot        one player, somebody's program
  human      one player, a person with a program of theirs
  spectator  receives all games

New credentials for a player who has valid ones need --renew; the older ones stay valid
until they expire or "sparring credentials revoke" revokes all of that name.`,
		Example: `  sparring credentials new --role bot --player team-red --expires 30d > team-red.creds
  sparring credentials new --role fleet --out bots.creds
  sparring credentials new --role spectator --name club-tv --expires 12h`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.Role == "" {
				return usagef("--role: want one of %s", strings.Join(roles, ", "))
			}
			for _, p := range players {
				r.Players = append(r.Players, protocol.PlayerID(p))
			}
			if err := checkOutput("--out", out); err != nil {
				return err
			}
			r.Expires = time.Duration(expires)
			user, err := r.User()
			if err != nil {
				return usage(err)
			}
			if err := checkRenewed("--out", out, user); err != nil {
				return err
			}
			s, err := f.open()
			if err != nil {
				return err
			}
			defer s.Close()
			creds, err := s.Issue(r)
			if errors.Is(err, credentials.ErrTaken) {
				return fmt.Errorf("%w; --renew makes further ones, \"sparring credentials revoke\" ends those", err)
			}
			if err != nil {
				return err
			}
			if out != "" {
				return credentials.WriteSecret(out, creds)
			}
			return printSecret(c.OutOrStdout(), creds)
		},
	}
	c.Flags().StringVar((*string)(&r.Role), "role", "", strings.Join(roles, ", ")+" (required)")
	c.Flags().StringSliceVar(&players, "player", nil, "player that the user acts for; of a fleet several")
	c.Flags().StringVar(&r.Name, "name", "", "name of the user (default: the player, or the role)")
	c.Flags().Var(&expires, "expires", "how long the credentials are valid, such as 30d or 12h (default: until they are revoked)")
	c.Flags().BoolVar(&r.Renew, "renew", false, "make further credentials for a user who has valid ones")
	outFlag(c.Flags(), &out, "", "file to write, instead of standard output")
	return c
}

// printSecret writes a secret. If out is a file, nobody else can read it from then on.
func printSecret(out io.Writer, secret []byte) error {
	if file, ok := fileOf(out); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			if err := file.Chmod(0o600); err != nil {
				return fmt.Errorf("the file could be read by others, so nothing was written: %w", err)
			}
		}
	}
	_, err := out.Write(secret)
	return err
}

// checkRenewed refuses a file that the credentials of a user would replace, unless it is
// empty or has older ones of that user: a key, or another user's credentials, would be lost.
func checkRenewed(flag, path, user string) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 {
		return nil
	}
	if c, _ := protocol.ReadCreds(path); c.User != user { // expired ones have a user, too
		return usagef("%s %s: is there already, and has no credentials of %s; want another file", flag, path, user)
	}
	return nil
}

func credentialsList(f *credentialsFlags) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List who has credentials, in which role, and until when",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			defer s.Close()
			users := s.Users()
			if asJSON {
				return printJSON(c.OutOrStdout(), append([]credentials.User{}, users...))
			}
			if err := listUsers(c.OutOrStdout(), users, time.Now()); err != nil {
				return err
			}
			expires, err := s.CertificateExpires()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "The server's certificate expires on %s.\n", timeText(expires))
			if same, err := s.UpToDate(); err != nil || !same {
				fmt.Fprintln(c.ErrOrStderr(), "sparring: the server's accounts are not as they should be: \"sparring credentials push\" writes and sends them")
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func listUsers(out io.Writer, users []credentials.User, now time.Time) error {
	t := texttable.Table{{"NAME", "ROLE", "PLAYERS", "ISSUED (UTC)", "EXPIRES (UTC)", "STATE", "KEY"}}
	for _, u := range users {
		players, expires, state := "-", "never", "valid"
		switch {
		case len(u.Players) > 2:
			players = fmt.Sprintf("%s and %d more", u.Players[0], len(u.Players)-1)
		case len(u.Players) > 0:
			players = fmt.Sprint(u.Players)
			players = strings.ReplaceAll(strings.Trim(players, "[]"), " ", ", ")
		}
		if !u.Expires.IsZero() {
			expires = timeText(u.Expires)
		}
		switch {
		case !u.Revoked.IsZero():
			state = "revoked " + timeText(u.Revoked)
		case !u.Valid(now):
			state = "expired"
		}
		t.Add(u.Name, u.Role, players, timeText(u.Issued), expires, state, u.Key)
	}
	return t.Write(out)
}

func credentialsRevoke(f *credentialsFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke all credentials of a user, at once on servers that are reached",
		Long: `Revoke all credentials of a user. Running servers that are reached disconnect the user
at once. The others learn of it from these, or at their next start from the file
server/accounts.conf, which is written in any case. The exit code is 1 if --nats names
servers and none is reached.`,
		Example: `  sparring credentials revoke team-red --nats tls://nats.example.org`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s: want one name (\"sparring credentials list\" shows them)", c.CommandPath())
			}
			s, err := f.open()
			if err != nil {
				return err
			}
			defer s.Close()
			n, err := s.Revoke(args[0])
			if err != nil {
				return err
			}
			if n == 0 {
				fmt.Fprintf(c.OutOrStdout(), "%s had no valid credentials.\n", args[0])
			} else {
				fmt.Fprintf(c.OutOrStdout(), "%s is revoked.\n", args[0])
			}
			return f.push(c, s)
		},
	}
	f.to.add(c)
	return c
}

func credentialsPush(f *credentialsFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "push",
		Short: "Rewrite the accounts, and send them to the running servers",
		Long: `Write the accounts as the nats.conf of this program and the revocations ask for, and
send them to the running servers. Do so after an upgrade that changed permissions. The
exit code is 1 if no server was reached.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.WriteAccounts(); err != nil {
				return err
			}
			return f.push(c, s)
		},
	}
	f.to.add(c)
	return c
}

// push tells the running servers of the accounts, and says which took them. That none is
// reached is an error of the command push, and where a server was named.
func (f *credentialsFlags) push(c *cobra.Command, s *credentials.Store) error {
	servers, err := f.pushTo(c, s)
	if err == nil {
		fmt.Fprintf(c.OutOrStdout(), "Servers that know the accounts: %s.\n", cmp.Or(strings.Join(servers, ", "), "none"))
		return nil
	}
	text := fmt.Sprintf("no running server was told (%v); it holds from the next start of a server with %s", err, s.Path(credentials.AccountsFile))
	if c.Name() == "push" || c.Flags().Changed("nats") {
		return errors.New(text)
	}
	fmt.Fprintln(c.ErrOrStderr(), "sparring:", text)
	return nil
}

func (f *credentialsFlags) pushTo(c *cobra.Command, s *credentials.Store) (servers []string, err error) {
	var settings arenaSettings
	if err := configs.FromEnv(configs.Prefix, &settings); err != nil {
		return nil, err
	}
	settings.connectTo(&f.to)
	ctx, cancel := context.WithTimeoutCause(c.Context(), reachTime, fmt.Errorf("no answer within %v", reachTime))
	defer cancel()
	nc, err := protocol.Dial(ctx, protocol.Connection{
		URL: settings.NATS.URL, Name: "sparring credentials", Creds: cmp.Or(f.to.creds, s.Path(credentials.SystemCreds)),
		CA: cmp.Or(settings.NATS.CA, s.Path(credentials.CAFile)), Log: newLog(c.ErrOrStderr(), "error"),
	})
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	return s.Push(ctx, nc)
}

func credentialsCertificate(f *credentialsFlags) *cobra.Command {
	var hosts []string
	c := &cobra.Command{
		Use:   "certificate",
		Short: "Make a new certificate for the server, before the old one expires or for other hosts",
		Long: `Make a new certificate for the server, server/server.pem, for the hosts of the one
before, of --host and of this machine. A running server takes it with "nats-server
--signal reload".`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkHosts(hosts); err != nil {
				return err
			}
			s, err := f.open()
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.NewCertificate(append(hosts, defaultHosts()...)); err != nil {
				return err
			}
			expires, err := s.CertificateExpires()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "The server's new certificate expires on %s. A running server takes it with \"nats-server --signal reload\".\n", timeText(expires))
			return err
		},
	}
	hostFlag(c, &hosts)
	return c
}
