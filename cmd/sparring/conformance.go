package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/lab/conformance"
	"sparring/lab/conformance/netfault"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// conformanceFlags are the flags of the conformance command.
type conformanceFlags struct {
	bot bool

	exec   string
	nats   string
	user   string
	pass   string
	prefix string
	listen string
	player string
	rules  string

	only              []string
	list, json        bool
	slow, showProgram bool
	ease              int
	seed              uint64
}

func conformanceCommand() *cobra.Command {
	var f conformanceFlags
	c := &cobra.Command{
		Use:   "conformance --bot",
		Short: "Check a bot against the protocol, under faults",
		Long: `Check a bot, in any language, against the protocol (docs/protocol.md). The command is
its platform, and a bad one: it loses states, repeats them, hands the seat over, hangs,
is cut off. Each scenario asks for one thing and prints a line with PASS, FAIL or
"not tried", what was asked, and what was seen. The exit code is 3 if one failed, and
1 if none could be run.

Without --nats there is a NATS server in the command. With --exec the command starts
the bot as well, and can kill and pause it: the variables SPARRING_NATS_URL, _USER and
_PASSWORD and SPARRING_PLAYER say where and for whom. Without it the command prints
them and waits for the bot.`,
		Example: `  sparring conformance --bot --exec "sparring bot"
  sparring conformance --bot                    # prints where to connect, and waits
  sparring conformance --bot --exec ./my-bot --only "drop,half-*" --json
  sparring conformance --bot --list`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !f.bot {
				return usagef("want --bot (see %s --help)", c.CommandPath())
			}
			o := conformance.Options{Only: f.only, Slow: f.slow}
			all := conformance.BotScenarios()
			if err := o.Validate(all); err != nil {
				return usagef("--only: %w (see %s --list)", err, c.CommandPath())
			}
			if f.ease < 1 {
				return usagef("--ease %d: want 1 or more", f.ease)
			}
			if f.list {
				return listScenarios(c.OutOrStdout(), all, f.json)
			}
			return f.run(c, o)
		},
	}
	c.Flags().BoolVar(&f.bot, "bot", false, "check a bot")
	c.Flags().StringVar(&f.exec, "exec", "", "shell command that starts the program under test")
	c.Flags().StringVar(&f.nats, "nats", "", "URL of a NATS server; empty: one inside this command")
	c.Flags().StringVar(&f.user, "user", "platform", "user of the platform's account, with --nats")
	c.Flags().StringVar(&f.pass, "password", "", "password of the user")
	c.Flags().StringVar(&f.prefix, "prefix", protocol.DefaultPrefix, "prefix of all subjects; another one needs --nats")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address at which the program under test connects")
	c.Flags().StringVar(&f.player, "player", "guest", "player for whom the bot acts; without --nats also its user")
	c.Flags().StringVar(&f.rules, "rules", "", "rule set of the games; empty: one that the bot offers")
	c.Flags().StringSliceVar(&f.only, "only", nil, "scenarios to run, by name or pattern")
	c.Flags().BoolVar(&f.list, "list", false, "list the scenarios")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&f.slow, "slow", false, "also run scenarios that take longer")
	c.Flags().BoolVar(&f.showProgram, "show", false, "show what the program under test writes, on standard error")
	c.Flags().IntVar(&f.ease, "ease", 1, "multiplies the times that the program must keep, for busy machines")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seeds all random choices")
	return c
}

func listScenarios(out io.Writer, all []conformance.Description, asJSON bool) error {
	if asJSON {
		return printJSON(out, all)
	}
	t := table{{"scenario", "asks the program to", "why", "needs"}}
	for _, d := range all {
		t.add(d.Scenario, d.Asks, d.Why, d.Needs)
	}
	return t.write(out)
}

func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// site is where the program under test and the suite meet.
type site struct {
	platform protocol.Connection // for whoever is the platform
	player   protocol.Connection
	proxy    *netfault.Proxy // before the server
	close    func()
}

// open starts what the flags do not name: the NATS server, and the proxy before it.
func (f *conformanceFlags) open() (*site, error) {
	s := &site{close: func() {}}
	target := f.nats
	if f.nats == "" {
		if f.prefix != protocol.DefaultPrefix {
			return nil, usagef("--prefix %s: the server inside this command has the prefix %s; name one with --nats", f.prefix, protocol.DefaultPrefix)
		}
		c := embedded.Config{Port: embedded.RandomPort, Log: zerolog.Nop()}
		if f.player != "guest" {
			c.Players = []protocol.PlayerID{protocol.PlayerID(f.player)}
		}
		srv, err := embedded.Start(c)
		if err != nil {
			return nil, err
		}
		s.platform, s.player, s.close, target = srv.Platform(), srv.Player(f.player), srv.Close, srv.URL()
	} else {
		s.platform = protocol.Connection{URL: f.nats, Name: "sparring conformance", User: f.user, Password: f.pass}
		if f.pass == "" {
			s.platform.User = "" // a server without accounts
		}
	}
	s.platform.Log = zerolog.Nop()
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || strings.Contains(target, ",") {
		s.close()
		return nil, usagef("--nats %.60q: want the URL of one server, such as nats://127.0.0.1:4222", f.nats)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "4222")
	}
	if s.proxy, err = netfault.ListenOn(f.listen, host); err != nil {
		s.close()
		return nil, fmt.Errorf("--listen: %w", err)
	}
	s.player.URL = "nats://" + s.proxy.Addr()
	closeServer := s.close
	s.close = func() {
		s.proxy.Close()
		closeServer()
	}
	return s, nil
}

func (f *conformanceFlags) run(c *cobra.Command, o conformance.Options) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.close()
	errs := c.ErrOrStderr()
	cfg := conformance.BotConfig{
		Connection: s.platform, Prefix: f.prefix, Player: protocol.PlayerID(f.player), Proxy: s.proxy, Rules: f.rules, Ease: f.ease, Seed: f.seed, Log: zerolog.Nop(),
	}
	if f.exec != "" {
		data, err := os.MkdirTemp("", "sparring-conformance-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(data)
		out := io.Discard
		if f.showProgram {
			out = errs
		}
		cfg.Program = conformance.NewProgram(f.exec, f.environment(s, data), out)
	} else {
		fmt.Fprintf(errs, "start the bot for player %s at %s", f.player, s.player.URL)
		if f.nats == "" {
			fmt.Fprintf(errs, " as user %s with password %s", s.player.User, s.player.Password)
		}
		fmt.Fprintln(errs)
	}
	show := c.OutOrStdout()
	if f.json {
		show = errs
	}
	o.Done = func(r conformance.Result) {
		fmt.Fprintf(show, "%-9s  %-15s  %s: %s\n", r.Verdict, r.Scenario, r.Asks, r.Seen)
	}
	rep, err := conformance.CheckBot(c.Context(), cfg, o)
	if err != nil {
		return err
	}
	if f.json {
		if err := printJSON(c.OutOrStdout(), rep); err != nil {
			return err
		}
	}
	failed := rep.Count(conformance.Fail)
	fmt.Fprintf(show, "%s: %d passed, %d failed, %d not tried\n", rep.Program, rep.Count(conformance.Pass), failed, rep.Count(conformance.NotTried))
	if failed > 0 {
		return outcome(exitFaulty)
	}
	return nil
}

// environment returns the variables for the program under test. Those beyond what
// every program needs are for `sparring bot`.
func (f *conformanceFlags) environment(s *site, data string) []string {
	return []string{
		"SPARRING_NATS_URL=" + s.player.URL, "SPARRING_NATS_USER=" + s.player.User, "SPARRING_NATS_PASSWORD=" + s.player.Password,
		"SPARRING_NATS_PREFIX=" + f.prefix, "SPARRING_PLAYER=" + f.player,
		"SPARRING_PLAYERS=" + f.player + ":amazons+gomoku+xiangqi", "SPARRING_DATA=" + data, "SPARRING_ANALYSES=0",
	}
}
