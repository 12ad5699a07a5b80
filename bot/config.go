package bot

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/book"
	"sparring/game/catalog"
	"sparring/protocol"
)

// Config are the settings of a bot process. Each field is an environment variable
// for envconfig (SPARRING_SLOTS, SPARRING_NATS_URL); its tags are default and
// meaning.
type Config struct {
	NATS     NATS
	Instance protocol.InstanceID `desc:"id of this process, unique among those with the same players; empty: random"`

	Profiles string   `desc:"JSON file of the players that this process acts for; replaces PLAYERS"`
	Players  []string `default:"xiangqi-hare:xiangqi,xiangqi-tortoise:xiangqi,gomoku-hare:gomoku,gomoku-tortoise:gomoku,amazons-hare:amazons,amazons-tortoise:amazons" desc:"players that this process acts for, each as name:game or name:game+game"`

	Levels int `default:"0" desc:"maximum number of games at once of the ten levels of each game, the players xiangqi-level-1 and so on, which play against people, and with LEVELS_LADDER on the ladder, and are not counted in SLOTS; 0: this process does not act for them"`

	LevelGames   []string `split_words:"true" desc:"games whose ten levels this process acts for, if LEVELS is set; empty: all"`
	LevelsLadder bool     `split_words:"true" default:"false" desc:"the levels play rated games against bots as well, as opponents on the ladder"`

	Slots        int           `default:"8" desc:"maximum number of new games at once, of all players together; up to 256 of each. Seats of running games are taken beyond it"`
	HumanSlots   int           `split_words:"true" default:"0" desc:"how many of the SLOTS are reserved for games against humans"`
	Cores        int           `default:"0" desc:"cores for searches; 0: all"`
	PlayerCores  int           `split_words:"true" default:"0" desc:"how many of the CORES the games of PLAYERS or PROFILES may use, so that the levels and analyses need not wait for them; 0: all"`
	GamesPerCore int           `split_words:"true" default:"8" desc:"search threads of games per core that are offered: SLOTS is cut to CORES times this, divided by THREADS, and the log says so"`
	Threads      int           `default:"1" desc:"threads of each search"`
	HashMB       int           `split_words:"true" default:"64" desc:"size of a hash table in MiB; there is one for each engine and kind of game, and one for each running search of a reproducible game"`
	Book         string        `default:"shipped" desc:"opening books of our own engine: shipped, none, a *.book file, or a directory of them"`
	MoveTime     time.Duration `split_words:"true" default:"0s" desc:"longest time for a move, at any clock; 0: a minute in correspondence games and where each move has more than a minute, otherwise by the clock. The key maxtime of an engine is instead of it"`
	Ponder       bool          `default:"true" desc:"ponder: search on the opponent's time, on cores that no other game needs"`
	Analyses     int           `default:"2" desc:"maximum number of analyses at once for hints and reviews, of games that our own engine plays, on cores that no game needs; 0: none"`
	DrainSilence time.Duration `split_words:"true" default:"20s" desc:"after SIGTERM, end when the platform has not answered for this long"`
	RepeatWindow time.Duration `split_words:"true" default:"1h" desc:"how long a game counts for POLICY_REPEAT"`

	Tablebase      string `desc:"directory of endgame tables for our own engine (Xiangqi, areas of Amazons); empty: none"`
	TablebaseBuild bool   `split_words:"true" default:"true" desc:"build missing tables of up to four men, and of areas, in TABLEBASE, in the background on half a core"`

	Policy policy.Policy
	Play   play.Manners
	Match  policy.Matchmaking

	Data string `default:"data" desc:"directory under which records are written"`
	Keep struct {
		Records   time.Duration `desc:"how long the records of bots in DATA are kept, such as 720h, of this and of earlier processes; 0: for ever"`
		RecordsMB int           `split_words:"true" desc:"maximum size of them in MiB; 0: any size"`
	}
	Warn struct {
		Within  time.Duration `default:"24h" desc:"warn if the disk of DATA will be full within this time, as it has grown lately; 0: never"`
		Percent int           `default:"90" desc:"warn if it is this full, in percent; 0: never"`
	}
	LogLevel string `split_words:"true" default:"info" desc:"trace, debug, info, warn or error"`
}

// maxAnalyses bounds the memory of analyses: each has histories of its own.
const maxAnalyses = 64

// NATS configures the connection to the platform.
type NATS struct {
	URL      string `default:"nats://127.0.0.1:4222" desc:"URL of the server, or of several, separated by commas"`
	User     string `default:"bots" desc:"user name"`
	Password string `desc:"password of the user"`
	Creds    string `desc:"path of a .creds file, instead of user and password; it is read again at each reconnection"`
	CA       string `desc:"path of the CA certificate for the server; empty: those of the system"`
	Prefix   string `default:"sparring" desc:"prefix of all subjects"`
}

// Validate reports everything that is wrong with the settings and with the
// files of players and credentials that they name, one error a line.
func (c Config) Validate() error {
	var faults configs.Faults
	if c.NATS.URL == "" {
		faults.Add("NATS_URL", "missing")
	}
	if c.NATS.Creds != "" && c.NATS.Password != "" {
		faults.Add("NATS_CREDS", "set as well as NATS_PASSWORD: want one of them")
	}
	if c.NATS.Creds != "" {
		_, err := protocol.ReadCreds(c.NATS.Creds)
		faults.Err("NATS_CREDS", err)
	}
	faults.Readable("NATS_CA", c.NATS.CA)
	_, err := protocol.NewSubjects(c.NATS.Prefix)
	faults.Err("NATS_PREFIX", err)
	if c.Instance != "" {
		faults.Err("INSTANCE", protocol.CheckID("id", c.Instance))
	}
	faults.AtLeast("LEVELS", c.Levels, 0)
	faults.Warnings(c.Warn.Within, float64(c.Warn.Percent)/100)
	faults.Kept("KEEP_RECORDS", c.Keep.Records, int64(c.Keep.RecordsMB))
	for _, name := range c.LevelGames {
		if !knownGame(name) {
			faults.Add("LEVEL_GAMES", "no game %.40q (have %s)", name, strings.Join(gameNames(), ", "))
		}
	}
	faults.AtLeast("SLOTS", c.Slots, 1)
	if c.HumanSlots < 0 || c.HumanSlots > c.Slots {
		faults.Add("HUMAN_SLOTS", "%d: want 0 to SLOTS", c.HumanSlots)
	}
	faults.AtLeast("CORES", c.Cores, 0)
	if c.PlayerCores < 0 || c.PlayerCores > c.cores() {
		faults.Add("PLAYER_CORES", "%d: want 0 (all) to CORES", c.PlayerCores)
	}
	faults.AtLeast("GAMES_PER_CORE", c.GamesPerCore, 1)
	faults.AtLeast("THREADS", c.Threads, 1)
	if c.MoveTime < 0 {
		faults.Add("MOVE_TIME", "%v: must be 0 or more", c.MoveTime)
	}
	have := runtime.GOMAXPROCS(0)
	if c.Cores > have {
		faults.Add("CORES", "%d: this machine has %d", c.Cores, have)
	}
	if cores := min(c.cores(), have); c.Threads > cores {
		faults.Add("THREADS", "%d: there are %d cores for searches", c.Threads, cores)
	}
	faults.AtLeast("HASH_MB", c.HashMB, 1)
	if most := engine.MaxHash() >> 20; c.HashMB > most {
		faults.Add("HASH_MB", "%d: this machine has memory for %d", c.HashMB, most)
	}
	if c.Analyses < 0 || c.Analyses > maxAnalyses {
		faults.Add("ANALYSES", "%d: want 0 (none) to %d", c.Analyses, maxAnalyses)
	}
	faults.Positive("DRAIN_SILENCE", c.DrainSilence)
	faults.Positive("REPEAT_WINDOW", c.RepeatWindow)
	if _, err := zerolog.ParseLevel(c.LogLevel); err != nil || c.LogLevel == "" {
		faults.Add("LOG_LEVEL", "%.20q: want trace, debug, info, warn or error", c.LogLevel)
	}
	if c.Book == "" {
		faults.Add("BOOK", "missing: want none for no book")
	} else {
		faults.Err("BOOK", checkBook(c.Book))
	}
	if c.Data == "" {
		faults.Add("DATA", "missing")
	}
	ofAll := append(c.Policy.Validate(configs.Prefix+"_POLICY_"), c.Play.Validate(configs.Prefix+"_PLAY_")...)
	faults = append(append(faults, ofAll...), c.Match.Validate(configs.Prefix+"_MATCH_")...)
	if len(ofAll) > 0 { // otherwise every profile would repeat these faults
		faults = append(faults, configs.Defaults(&c.Policy), configs.Defaults(&c.Play))
	}
	source := "PLAYERS"
	if c.Profiles != "" {
		source = "PROFILES"
	}
	profiles, err := c.players()
	faults.Err(source, err)
	c.checkSlots(&faults, profiles)
	return faults.Join()
}

// checkSlots adds a fault if there are more slots than the players can use.
func (c Config) checkSlots(faults *configs.Faults, profiles []Profile) {
	levels := 0
	for _, p := range profiles {
		if p.level > 0 {
			levels++
		}
	}
	check := func(name string, slots, players int) {
		if most := players * protocol.MaxPlaying; players > 0 && slots > most {
			faults.Add(name, "%d: want at most %d, which is %d for each player", slots, most, protocol.MaxPlaying)
		}
	}
	check("SLOTS", c.Slots, len(profiles)-levels)
	check("LEVELS", c.Levels, levels)
}

// checkBook returns an error if a book that was asked for is missing or damaged.
func checkBook(name string) error {
	if name == book.Shipped || name == "" {
		return nil
	}
	_, err := book.Open(name, "", nil)
	return err
}

// cores returns the number of cores for searches.
func (c Config) cores() int {
	if c.Cores > 0 {
		return c.Cores
	}
	return runtime.GOMAXPROCS(0)
}

// slots returns how many games at once are offered, without those of levels: SLOTS, or fewer
// if the cores are for fewer. It is the number in the ledger, in hellos and in reports.
func (c Config) slots() int { return min(c.Slots, c.mostByCores()) }

// mostByCores returns how many games the search threads are for.
func (c Config) mostByCores() int { return max(c.cores()*c.GamesPerCore/c.Threads, 1) }

// limits returns the ledger's.
func (c Config) limits() policy.Limits {
	return policy.Limits{Games: c.slots(), ForHumans: c.HumanSlots, Levels: c.Levels, PerBot: levelsPerBot}
}

// RecordsDir returns the folder of the records of games.
func (c Config) RecordsDir() string { return filepath.Join(c.Data, "records") }

// Connection returns the settings of the NATS connection.
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
