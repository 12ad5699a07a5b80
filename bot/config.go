package bot

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/configs"
	"sparring/game/catalog"
	"sparring/protocol"
)

// Config is all that a bot process can be told. Each field is an environment
// variable (SPARRING_SLOTS, SPARRING_NATS_URL) for envconfig; the tags name its
// default and meaning.
type Config struct {
	NATS     NATS
	Instance protocol.InstanceID `desc:"id of this process among those that act for the same players; empty: a random one"`

	Profiles string   `desc:"JSON file with the players that this process acts for; it stands in for PLAYERS"`
	Players  []string `default:"xiangqi-hare:xiangqi,xiangqi-tortoise:xiangqi,gomoku-hare:gomoku,gomoku-tortoise:gomoku,amazons-hare:amazons,amazons-tortoise:amazons" desc:"players that this process acts for, each name:game or name:game+game"`

	Slots        int           `default:"8" desc:"games at once, over all players"`
	HumanSlots   int           `split_words:"true" default:"0" desc:"slots of these that are kept for games against humans"`
	Cores        int           `default:"0" desc:"cores to think with; 0: all"`
	GamesPerCore int           `split_words:"true" default:"8" desc:"games that may share a core, each with one thread"`
	Threads      int           `default:"1" desc:"threads of one search"`
	HashMB       int           `split_words:"true" default:"64" desc:"hash table in MiB, shared by all games of a kind"`
	Book         string        `default:"shipped" desc:"opening books that our own engine plays from: shipped, none, or a *.book file or a folder of them"`
	Ponder       bool          `default:"true" desc:"think on the opponent's time, with cores that are free"`
	RepeatWindow time.Duration `split_words:"true" default:"1h" desc:"how long a game counts against POLICY_REPEAT"`

	Tablebase      string `desc:"directory of endgame tables that our own engine plays Xiangqi with; empty: none"`
	TablebaseBuild bool   `split_words:"true" default:"true" desc:"build the tables of up to four men that TABLEBASE lacks, in the background with half a core"`

	Policy policy.Policy
	Play   play.Manners
	Match  policy.Matchmaking

	Data     string `default:"data" desc:"directory; records are written below it"`
	LogLevel string `split_words:"true" default:"info" desc:"trace, debug, info, warn or error"`
}

// NATS says how to reach the platform.
type NATS struct {
	URL      string `default:"nats://127.0.0.1:4222" desc:"server, or several separated by commas"`
	User     string `default:"bots" desc:"user name"`
	Password string `desc:"password of the user"`
	Creds    string `desc:"path of a .creds file, instead of user and password"`
	CA       string `desc:"path of the CA certificate of the server; empty: those of the system"`
	Prefix   string `default:"sparring" desc:"prefix of all subjects"`
}

// Validate reports everything that is wrong with the settings, one error a
// line; the files that they name are not read.
func (c Config) Validate() error {
	var errs []error
	bad := func(name, format string, args ...any) {
		errs = append(errs, fmt.Errorf(configs.Prefix+"_"+name+": "+format, args...))
	}
	atLeast := func(name string, n, least int) {
		if n < least {
			bad(name, "%d: want at least %d", n, least)
		}
	}
	if c.NATS.URL == "" {
		bad("NATS_URL", "missing")
	}
	if c.NATS.Creds != "" && c.NATS.Password != "" {
		bad("NATS_CREDS", "and a password: want one of them")
	}
	if _, err := protocol.NewSubjects(c.NATS.Prefix); err != nil {
		bad("NATS_PREFIX", "%w", err)
	}
	if c.Instance != "" {
		if err := protocol.CheckID("id", c.Instance); err != nil {
			bad("INSTANCE", "%w", err)
		}
	}
	if c.Profiles == "" {
		if _, err := c.inline(); err != nil {
			bad("PLAYERS", "%w", err)
		}
	}
	atLeast("SLOTS", c.Slots, 1)
	if c.HumanSlots < 0 || c.HumanSlots > c.Slots {
		bad("HUMAN_SLOTS", "%d: want 0 to SLOTS", c.HumanSlots)
	}
	atLeast("CORES", c.Cores, 0)
	atLeast("GAMES_PER_CORE", c.GamesPerCore, 1)
	atLeast("THREADS", c.Threads, 1)
	if c.Threads > c.cores()*max(c.GamesPerCore, 1) {
		bad("THREADS", "%d: more than %d cores carry with %d games on each", c.Threads, c.cores(), c.GamesPerCore)
	}
	atLeast("HASH_MB", c.HashMB, 1)
	if c.RepeatWindow <= 0 {
		bad("REPEAT_WINDOW", "%v: want more than 0", c.RepeatWindow)
	}
	if _, err := zerolog.ParseLevel(c.LogLevel); err != nil || c.LogLevel == "" {
		bad("LOG_LEVEL", "%.20q: want trace, debug, info, warn or error", c.LogLevel)
	}
	if c.Book == "" {
		bad("BOOK", "missing; none is for no book")
	}
	if c.Data == "" {
		bad("DATA", "missing")
	}
	errs = append(errs, c.Policy.Validate(configs.Prefix+"_POLICY_")...)
	errs = append(errs, c.Play.Validate(configs.Prefix+"_PLAY_")...)
	errs = append(errs, c.Match.Validate(configs.Prefix+"_MATCH_")...)
	return errors.Join(errs...)
}

// cores is how many there are to think with.
func (c Config) cores() int {
	if c.Cores > 0 {
		return c.Cores
	}
	return runtime.GOMAXPROCS(0)
}

// limits are the ledger's.
func (c Config) limits() policy.Limits {
	return policy.Limits{Games: c.Slots, ForHumans: c.HumanSlots, Threads: c.cores() * c.GamesPerCore}
}

// RecordsDir is where the records of games go.
func (c Config) RecordsDir() string { return filepath.Join(c.Data, "records") }

// Connection is how to reach NATS with these settings.
func (c Config) Connection(log zerolog.Logger) protocol.Connection {
	return protocol.Connection{
		URL: c.NATS.URL, Name: "sparring bot " + string(c.Instance), User: c.NATS.User, Password: c.NATS.Password,
		Creds: c.NATS.Creds, CA: c.NATS.CA, Log: log,
	}
}

func gameNames() []string {
	var names []string
	for _, g := range catalog.Games() {
		names = append(names, g.Name)
	}
	return names
}

func knownGame(name string) bool { return slices.Contains(gameNames(), name) }
