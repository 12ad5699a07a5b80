package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/internal/netfault"
	"sparring/internal/texttable"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/protocol/conformance"
)

// conformanceFlags are the flags of the conformance command.
type conformanceFlags struct {
	bot, platform bool

	exec   string
	nats   serverFlags
	prefix string
	listen string
	player string
	meet   []string
	rules  string

	only              []string
	list, json        bool
	slow, showProgram bool
	games, atOnce     int
	faults            bool
	ease              int
	seed              uint64
}

func conformanceCommand() *cobra.Command {
	var f conformanceFlags
	c := &cobra.Command{
		Use:   "conformance --bot | --platform",
		Short: "Check a bot or a platform against the protocol, under faults",
		Long: `Check a bot or a platform, in any language, against the protocol (docs/protocol.md).
For a bot, the command is the platform, and a bad one: it loses states, repeats them,
hands the seat over, hangs, is cut off. For a platform, it is the players, who are no
better. Each scenario asks for one thing and prints a line with PASS, FAIL or "not
tried", what was asked, and what was seen. The exit code is 3 if one failed, and 1 if
none could be run.

Without --nats there is a NATS server in the command. With it, the command connects as
the user that --creds, or SPARRING_NATS_USER, _PASSWORD, _CREDS and _CA name (default:
platform). With --exec the command starts the program under test as well, and can kill
and pause it: the variables SPARRING_NATS_URL, _USER, _PASSWORD, _CREDS, _CA and _PREFIX
say where it connects, and SPARRING_PLAYER for whom a bot acts. Without --exec the
command prints them and waits.`,
		Example: `  sparring conformance --bot --exec "sparring bot"
  sparring conformance --bot                    # prints where to connect, and waits
  sparring conformance --platform --exec "sparring arena"
  sparring conformance --platform --nats tls://play.example.org --players ann:ann.creds,bob:bob.creds,eve:eve.creds
  sparring conformance --bot --exec ./my-bot --only "drop,half-*" --json
  sparring conformance --bot --list`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.bot == f.platform {
				return usagef("want --bot or --platform (see %s --help)", c.CommandPath())
			}
			o := conformance.Options{Only: f.only, Slow: f.slow}
			all := conformance.BotScenarios()
			if f.platform {
				all = conformance.PlatformScenarios()
			}
			if err := o.Validate(all); err != nil {
				return usagef("--only: %w (see %s --list)", err, c.CommandPath())
			}
			if f.games < 0 || f.games > 0 && !f.platform || f.faults && f.games == 0 {
				return usagef("want --games with --platform, and --faults with --games")
			}
			if f.atOnce < 1 || f.atOnce > 100 {
				return usagef("--at-once %d: want 1 to 100", f.atOnce)
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
	c.Flags().BoolVar(&f.platform, "platform", false, "check a platform")
	c.Flags().StringVar(&f.exec, "exec", "", "shell command that starts the program under test")
	f.nats.add(c)
	c.Flag("nats").Usage = "URL of a NATS server; empty: one inside this command"
	c.Flags().StringVar(&f.prefix, "prefix", protocol.DefaultPrefix, "prefix of all subjects; another one needs --nats")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address at which the program under test connects")
	c.Flags().StringVar(&f.player, "player", "guest", "player for whom the bot acts; without --nats also its user")
	c.Flags().StringSliceVar(&f.meet, "players", []string{"ann", "bob", "eve"}, "the three players of the suite for a platform; with --nats each as NAME:FILE.creds or NAME:PASSWORD of the user of that name, or as NAME if the user of --nats may act for all")
	c.Flags().StringVar(&f.rules, "rules", "", "rule set of the games; empty: one that the bot offers")
	c.Flags().StringSliceVar(&f.only, "only", nil, "scenarios to run, by name or pattern")
	c.Flags().BoolVar(&f.list, "list", false, "list the scenarios")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	c.Flags().BoolVar(&f.slow, "slow", false, "also run scenarios that take longer")
	c.Flags().BoolVar(&f.showProgram, "show", false, "show what the program under test writes, on standard error")
	c.Flags().IntVar(&f.games, "games", 0, "instead of scenarios, play this many games of the three players on the platform")
	c.Flags().IntVar(&f.atOnce, "at-once", 6, "games at once, with --games")
	c.Flags().BoolVar(&f.faults, "faults", false, "with --games, disturb connections and the platform's process at random")
	c.Flags().IntVar(&f.ease, "ease", 1, "multiplies the times that the program must keep, for busy machines")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seeds all random choices")
	return c
}

func listScenarios(out io.Writer, all []conformance.Description, asJSON bool) error {
	if asJSON {
		return printJSON(out, all)
	}
	t := texttable.Table{{"scenario", "asks the program to", "why", "needs"}}
	for _, d := range all {
		t.Add(d.Scenario, d.Asks, d.Why, d.Needs)
	}
	return t.Write(out)
}

// site is where the program under test and the suite meet.
type site struct {
	platform protocol.Connection                         // of the platform's account
	player   func(protocol.PlayerID) protocol.Connection // of a player
	proxy    *netfault.Proxy                             // before the server, for the program under test
	close    func()
}

// open starts what the flags do not name: the NATS server, and the proxy before it.
func (f *conformanceFlags) open() (*site, error) {
	s := &site{close: func() {}}
	target := f.nats.url
	names, secrets, err := f.players()
	if err != nil {
		return nil, err
	}
	if target == "" {
		if f.nats.given() {
			return nil, usagef("--creds: is for the server of --nats, which is missing")
		}
		if f.prefix != protocol.DefaultPrefix {
			return nil, usagef("--prefix %s: the server inside this command has the prefix %s; name one with --nats", f.prefix, protocol.DefaultPrefix)
		}
		c := embedded.Config{Port: embedded.RandomPort, Log: zerolog.Nop()}
		for _, p := range append(names, protocol.PlayerID(f.player)) {
			if p != "guest" && !slices.Contains(c.Players, p) {
				c.Players = append(c.Players, p)
			}
		}
		srv, err := embedded.Start(c)
		if err != nil {
			return nil, err
		}
		s.platform, s.close, target = srv.Platform(), srv.Close, srv.URL()
		s.player = func(p protocol.PlayerID) protocol.Connection { return srv.Player(string(p)) }
	} else {
		settings, err := platformSettings(&f.nats)
		if err != nil {
			return nil, err
		}
		given := settings.connection("sparring conformance", zerolog.Nop()).WithUser()
		if given.Password == "" && given.Creds == "" {
			given.User = "" // a server without accounts
		}
		s.platform = given
		s.player = func(p protocol.PlayerID) protocol.Connection {
			i := slices.Index(names, p)
			if i < 0 || secrets[i] == "" {
				return given
			}
			own := protocol.Connection{URL: target, Name: string(p), User: string(p), Password: secrets[i], CA: given.CA}
			if strings.HasSuffix(secrets[i], ".creds") {
				own.Password, own.Creds = "", secrets[i]
			}
			return own
		}
	}
	s.platform.Log = zerolog.Nop()
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || strings.Contains(target, ",") {
		s.close()
		return nil, usagef("--nats %.60q: want the URL of one server, such as nats://127.0.0.1:4222", target)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "4222")
	}
	if s.proxy, err = netfault.ListenOn(f.listen, host); err != nil {
		s.close()
		return nil, fmt.Errorf("--listen: %w", err)
	}
	closeServer := s.close
	s.close = func() {
		s.proxy.Close()
		closeServer()
	}
	return s, nil
}

// players returns the names of --players, and the password or .creds file of each.
func (f *conformanceFlags) players() (names []protocol.PlayerID, secrets []string, err error) {
	for _, text := range f.meet {
		name, secret, _ := strings.Cut(text, ":")
		if err := protocol.CheckID("player", protocol.PlayerID(name)); err != nil {
			return nil, nil, usagef("--players: %w", err)
		}
		if slices.Contains(names, protocol.PlayerID(name)) {
			return nil, nil, usagef("--players: %s is there twice", name)
		}
		names, secrets = append(names, protocol.PlayerID(name)), append(secrets, secret)
	}
	if len(names) != 3 {
		return nil, nil, usagef("--players: %d, want three", len(names))
	}
	return names, secrets, nil
}

func (f *conformanceFlags) run(c *cobra.Command, o conformance.Options) error {
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.close()
	errs := c.ErrOrStderr()
	under := s.player(protocol.PlayerID(f.player)) // as whom the program under test connects
	if f.platform {
		under = s.platform
	}
	under.URL = "nats://" + s.proxy.Addr()
	program, done, err := f.program(under, errs)
	if err != nil {
		return err
	}
	defer done()
	show := c.OutOrStdout()
	if f.json {
		show = errs
	}
	o.Done = func(r conformance.Result) {
		fmt.Fprintf(show, "%-9s  %-15s  %s: %s\n", r.Verdict, r.Scenario, r.Asks, r.Seen)
	}
	var rep conformance.Report
	if f.platform {
		names, _, _ := f.players() // open has checked them
		proxy := s.proxy
		if f.nats.url != "" && program == nil {
			proxy = nil // a platform that runs elsewhere does not connect through it
		}
		cfg := conformance.PlatformConfig{
			Player: s.player, Prefix: f.prefix, Players: [3]protocol.PlayerID(names), Proxy: proxy, Program: program,
			Rules: f.rules, Ease: f.ease, Seed: f.seed, Log: zerolog.Nop(),
		}
		if f.games > 0 {
			return f.soak(c, cfg, show)
		}
		rep, err = conformance.CheckPlatform(c.Context(), cfg, o)
	} else {
		rep, err = conformance.CheckBot(c.Context(), conformance.BotConfig{
			Connection: s.platform, Prefix: f.prefix, Player: protocol.PlayerID(f.player), Proxy: s.proxy, Program: program,
			Rules: f.rules, Ease: f.ease, Seed: f.seed, Log: zerolog.Nop(),
		}, o)
	}
	if err != nil {
		return cmp.Or(c.Context().Err(), err)
	}
	if f.json {
		if err := printJSON(c.OutOrStdout(), rep); err != nil {
			return err
		}
	}
	passed, failed := rep.Count(conformance.Pass), rep.Count(conformance.Fail)
	fmt.Fprintf(show, "%s: %d passed, %d failed, %d not tried\n", cmp.Or(rep.Program, rep.Side), passed, failed, rep.Count(conformance.NotTried))
	switch {
	case failed > 0:
		return outcome(exitFaulty)
	case passed == 0: // the program may have died after its hello
		return errors.New("no scenario could be run")
	}
	return nil
}

// soak plays many games and prints what became of them.
func (f *conformanceFlags) soak(c *cobra.Command, cfg conformance.PlatformConfig, show io.Writer) error {
	o := conformance.SoakOptions{Games: f.games, AtOnce: f.atOnce, Faults: f.faults, Broken: func(what string) {
		fmt.Fprintln(show, "FAIL  "+what)
	}}
	shown := time.Now()
	o.Progress = func(r conformance.SoakReport) {
		if time.Since(shown) > 10*time.Second { // games end one at a time
			shown = time.Now()
			fmt.Fprintf(c.ErrOrStderr(), "%d of %d games, %d broken\n", r.Games, f.games, len(r.Broken))
		}
	}
	rep, err := conformance.Soak(c.Context(), cfg, o)
	if err != nil && rep.Games == 0 {
		return err
	}
	if f.json {
		if err := printJSON(c.OutOrStdout(), rep); err != nil {
			return err
		}
	}
	fmt.Fprintf(show, "%d of %s in %v, %s, ended by %v; faults %v; %s made again; seed %d; %d broken\n",
		rep.Games, count(f.games, "game", "games"), (time.Duration(rep.TookMS) * time.Millisecond).Round(time.Second), plies(rep.Plies), rep.Reasons, rep.Faults, count(rep.Again, "challenge", "challenges"), f.seed, len(rep.Broken))
	if len(rep.Broken) > 0 {
		return outcome(exitFaulty)
	}
	return err
}

// program returns the program under test, which connects as under; nil if the command
// does not start it: then it says where to connect.
func (f *conformanceFlags) program(under protocol.Connection, errs io.Writer) (p *conformance.Program, done func(), err error) {
	if f.exec == "" {
		switch {
		case f.platform && f.nats.url != "":
		case f.platform:
			fmt.Fprintf(errs, "start the platform at %s as user %s with password %s\n", under.URL, under.User, under.Password)
		case f.nats.url == "":
			fmt.Fprintf(errs, "start the bot for player %s at %s as user %s with password %s\n", f.player, under.URL, under.User, under.Password)
		default:
			fmt.Fprintf(errs, "start the bot for player %s at %s\n", f.player, under.URL)
		}
		return nil, func() {}, nil
	}
	data, err := os.MkdirTemp("", "sparring-conformance-")
	if err != nil {
		return nil, nil, err
	}
	out := io.Discard
	if f.showProgram {
		out = errs
	}
	env := []string{
		"SPARRING_NATS_URL=" + under.URL, "SPARRING_NATS_USER=" + under.User, "SPARRING_NATS_PASSWORD=" + under.Password,
		"SPARRING_NATS_CREDS=" + under.Creds, "SPARRING_NATS_CA=" + under.CA, "SPARRING_NATS_PREFIX=" + f.prefix,
	}
	if f.platform { // and for `sparring arena`
		env = append(env, "SPARRING_LADDER_ON=false")
	} else { // and for `sparring bot`
		env = append(env, "SPARRING_PLAYER="+f.player, "SPARRING_PLAYERS="+f.player+":amazons+gomoku+xiangqi", "SPARRING_DATA="+data, "SPARRING_ANALYSES=0")
	}
	return conformance.NewProgram(f.exec, env, out), func() { os.RemoveAll(data) }, nil
}
