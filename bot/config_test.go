package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kelseyhightower/envconfig"

	"sparring/bot/policy"
	"sparring/engine"
	"sparring/engine/level"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

func defaults(t *testing.T) Config {
	t.Helper()
	c, err := read("SPARRING_TEST_NOTHING_SET")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(prefix string) (Config, error) {
	var c Config
	if err := envconfig.Process(prefix, &c); err != nil {
		return c, err
	}
	return c, c.Validate()
}

func TestDefaultsAreValid(t *testing.T) {
	c := defaults(t)
	players, err := c.players()
	if err != nil {
		t.Fatal(err)
	}
	if len(players) != 6 || players[0].Player != "xiangqi-hare" || !slices.Equal(players[0].Games, []string{"xiangqi"}) {
		t.Errorf("players %+v", players)
	}
	want := []protocol.Pool{"player.xiangqi-hare", "xiangqi.bullet", "xiangqi.blitz", "xiangqi.rapid", "xiangqi.classical", "xiangqi.correspondence"}
	if !slices.Equal(players[0].Pools, want) {
		t.Errorf("pools %v, want %v", players[0].Pools, want)
	}
}

// TestMoveTime: the longest time for a move is that of the engine's spec, or else of the
// settings, and the hello has it.
func TestMoveTime(t *testing.T) {
	for _, c := range []struct {
		set    time.Duration
		engine string
		want   time.Duration
	}{
		{0, "", 0}, {10 * time.Second, "", 10 * time.Second},
		{10 * time.Second, "self:maxtime=5m", 5 * time.Minute}, {0, "self:maxtime=2s", 2 * time.Second},
	} {
		cfg := Config{MoveTime: c.set}
		p := Profile{Engine: c.engine, Games: []string{"gomoku"}, Policy: &policy.Policy{}}
		if got := cfg.moveTime(p); got != c.want {
			t.Errorf("%v, %q: %v, want %v", c.set, c.engine, got, c.want)
		}
		if caps := p.capabilities(p.Games, nil, time.Minute); caps[0].MoveMS != 60_000 {
			t.Errorf("capabilities %+v", caps)
		}
	}
	p := Profile{Player: "ann", Games: []string{"gomoku"}, Engine: "self:maxtime=2s,nodes=100", Reproducible: true}
	if errs := p.checkEngine(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "maxtime") {
		t.Errorf("a reproducible engine with a limit of time: %v", errs)
	}
	t.Setenv("T_MOVE_TIME", "-1s")
	if _, err := read("T"); err == nil || !strings.Contains(err.Error(), "MOVE_TIME") {
		t.Errorf("a negative time: %v", err)
	}
}

func TestReadConfig(t *testing.T) {
	for name, value := range map[string]string{
		"T_NATS_URL": "nats://example.org:4222", "T_SLOTS": "3", "T_HASH_MB": "16", "T_PONDER": "false",
		"T_PLAYERS": "ann:gomoku+xiangqi", "T_POLICY_FASTEST": "3+0.1", "T_POLICY_SPEEDS": "blitz,rapid",
		"T_POLICY_BLOCK": "eve,mallory", "T_PLAY_HUMAN_DELAY": "2s", "T_MATCH_CLOCK": "60/5x10", "T_REPEAT_WINDOW": "5m",
	} {
		t.Setenv(name, value)
	}
	c, err := read("T")
	if err != nil {
		t.Fatal(err)
	}
	if c.NATS.URL != "nats://example.org:4222" || c.Slots != 3 || c.HashMB != 16 || c.Ponder || c.RepeatWindow != 5*time.Minute ||
		c.Play.HumanDelay != 2*time.Second || c.Match.Clock.Kind != clock.ByoYomi ||
		!slices.Equal(c.Policy.Block, []protocol.PlayerID{"eve", "mallory"}) {
		t.Errorf("read %+v", c)
	}
	players, err := c.players()
	if err != nil {
		t.Fatal(err)
	}
	if want := []protocol.Pool{"player.ann", "gomoku.blitz", "gomoku.rapid", "xiangqi.blitz", "xiangqi.rapid"}; !slices.Equal(players[0].Pools, want) {
		t.Errorf("pools %v, want %v", players[0].Pools, want)
	}
}

// A hash table larger than the memory, and a missing book in a spec, are faults of the
// settings: the engine would not start.
func TestEnginesThatCannotStart(t *testing.T) {
	c := defaults(t)
	c.HashMB = 1 << 40
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "HASH_MB: 1099511627776: this machine has memory for") {
		t.Errorf("a hash table of 1 EiB: %v", err)
	}
	c = defaults(t)
	c.Profiles = filepath.Join(t.TempDir(), "bots.json")
	if err := os.WriteFile(c.Profiles, []byte(`{"players": [{"player": "ann", "games": ["gomoku"], "engine": "self:book=no-such.book"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "no-such.book") {
		t.Errorf("a missing book: %v", err)
	}
}

// A greeting that the platform would refuse, and a player for whom no bot may act, are faults
// of the settings.
func TestWhatThePlatformRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string // "": no fault
	}{
		{func(c *Config) { c.Play.Greet = "hello 你好" }, ""},
		{func(c *Config) { c.Play.Greet = "hello\nthere" }, "SPARRING_PLAY_GREET: text: contains a control character"},
		{func(c *Config) { c.Play.Greet = strings.Repeat("好", 501) }, "SPARRING_PLAY_GREET: text: longer than 500 characters"},
		{func(c *Config) { c.Players = []string{"human-ann:gomoku"} }, "player human-ann: ids that begin with human- are those of people"},
	} {
		cfg := defaults(t)
		c.change(&cfg)
		if err := cfg.Validate(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestLevels: ten players a game, for people only, on all terms; on a ladder also for
// bots, in rated games.
func TestLevels(t *testing.T) {
	c := defaults(t)
	c.Levels, c.Policy.Speeds, c.Policy.Block = 20, []clock.Speed{clock.Blitz}, []protocol.PlayerID{"eve"}
	players, err := c.players()
	if err != nil {
		t.Fatal(err)
	}
	levels := slices.DeleteFunc(slices.Clone(players), func(p Profile) bool { return p.level == 0 })
	if want := level.Strongest * len(catalog.Games()); len(levels) != want || len(players) != want+6 {
		t.Fatalf("%d players, of which %d levels; want %d levels", len(players), len(levels), want)
	}
	first := levels[0]
	if first.Player != "xiangqi-level-1" || first.Engine != "self:level=1,book=none" || levels[9].Engine != "self:level=10" {
		t.Errorf("first %+v, tenth %s", first, levels[9].Engine)
	}
	for _, p := range levels {
		if p.Play.Takebacks != takebacks {
			t.Errorf("%s grants %d takebacks", p.Player, p.Play.Takebacks)
		}
		if !slices.Equal(p.Pools, []protocol.Pool{protocol.OwnPool(p.Player)}) {
			t.Errorf("%s takes offers from %v", p.Player, p.Pools)
		}
		rules, err := catalog.Game(p.Games[0])
		if err != nil {
			t.Fatal(err)
		}
		start, err := catalog.Setup(rules.Name, "", "")
		if err != nil {
			t.Fatal(err)
		}
		terms := protocol.Terms{Game: rules.Name, Rules: rules.Default, Moves: []string{start.Format(start.Legal(nil)[0])},
			Clock: clock.Spec{Kind: clock.PerMove, Period: 72 * time.Hour}}
		for _, c := range []struct {
			kind   protocol.Kind
			player protocol.PlayerID
			rated  bool
			want   protocol.DeclineReason
		}{
			{protocol.Human, "ann", true, ""}, {protocol.Human, "ann", false, ""}, {protocol.Human, "eve", false, protocol.DeclineOpponent},
			{protocol.Bot, "xiangqi-hare", true, protocol.DeclineKind},
		} {
			terms.Rated = c.rated
			o := protocol.Offer{Kind: protocol.OfferMatch, Terms: terms, Player: p.Player, Opponent: &protocol.Opponent{Player: c.player, Kind: c.kind}}
			if got := p.Policy.Check(p.Player, p.Games, o, 1000); got.Reason != c.want {
				t.Errorf("%s against %s (%s): %+v, want %q", p.Player, c.player, c.kind, got, c.want)
			}
		}
	}
	c.LevelsLadder = true
	onLadder := c.levels()[0]
	rulesOf, err := catalog.Game("xiangqi")
	if err != nil {
		t.Fatal(err)
	}
	bot, person := &protocol.Opponent{Player: "xiangqi-hare", Kind: protocol.Bot}, &protocol.Opponent{Player: "ann", Kind: protocol.Human}
	for _, x := range []struct {
		opponent *protocol.Opponent // nil: nobody yet
		rated    bool
		want     protocol.DeclineReason
	}{{bot, true, ""}, {bot, false, protocol.DeclineKind}, {nil, false, protocol.DeclineKind}, {person, true, ""}, {person, false, ""}} {
		terms := protocol.Terms{Game: "xiangqi", Rules: rulesOf.Default, Clock: clock.Spec{Kind: clock.Unlimited}, Rated: x.rated}
		o := protocol.Offer{Kind: protocol.OfferMatch, Terms: terms, Player: onLadder.Player, Opponent: x.opponent}
		if got := onLadder.Policy.Check(onLadder.Player, onLadder.Games, o, 0); got.Reason != x.want {
			t.Errorf("%s on a ladder against %+v, rated %v: %+v, want %q", onLadder.Player, x.opponent, x.rated, got, x.want)
		}
	}
	c.Players = append(c.Players, "gomoku-level-4:gomoku")
	if _, err := c.players(); err == nil || !strings.Contains(err.Error(), "gomoku-level-4: named twice") {
		t.Errorf("a player with the name of a level: %v", err)
	}
}

// TestLevelsInOneProcess: levels have slots and cores apart from the players', tell
// the platform that they take people only, and do not ponder.
func TestLevelsInOneProcess(t *testing.T) {
	c := defaults(t)
	c.Levels, c.Slots, c.Ponder = 20, 3, true
	shared, own := engine.NewPool(1), engine.NewPool(1)
	defer shared.Close()
	defer own.Close()
	srv := service(t)
	b, err := New(connect(t, srv.Player("bots")), c, Deps{NewGame: real(t), Pool: shared, PlayerPool: own})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.players {
		isLevel, slots, pool := p.profile().level > 0, c.Slots, own
		if isLevel {
			slots, pool = c.Levels, shared
		}
		hello := p.introduction()
		if peopleOnly := slices.Equal(hello.Takes.Kinds, []protocol.Kind{protocol.Human}); peopleOnly != isLevel || hello.Slots != slots {
			t.Errorf("%s: hello with %d slots for %v", p.profile().Player, hello.Slots, hello.Takes.Kinds)
		}
		if s := p.role.Load().shared; p.need(true).Level != isLevel || s.Settings.Ponder == isLevel || s.Pool != pool {
			t.Errorf("%s: %+v, settings %+v", p.profile().Player, p.need(true), s.Settings)
		}
	}
}

// A player plays no more games at once than a heartbeat names, whatever slots the process
// has: the platform would refuse its heartbeats and give all its seats away.
func TestHeartbeatsNameAllGames(t *testing.T) {
	c := defaults(t)
	c.Players, c.LevelGames = []string{"ann:amazons", "bob:amazons"}, []string{"amazons"}
	c.Slots, c.Levels, c.GamesPerCore = 2*protocol.MaxPlaying, 1000, 1000
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	pool := engine.NewPool(1)
	defer pool.Close()
	srv := service(t)
	b, err := New(connect(t, srv.Player("bots")), c, Deps{NewGame: real(t), Pool: pool})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.players[:3] { // ann, bob and a level
		m := protocol.Alive{Header: protocol.Header{ID: "a1"}, Instance: "i1"}
		for {
			if _, err := b.ledger.Reserve(p.need(true), 0, nil); err != nil {
				break
			}
			m.Games = append(m.Games, protocol.GameID(fmt.Sprintf("%032d", len(m.Games))))
		}
		if err := m.Check(); err != nil || len(m.Games) != protocol.MaxPlaying {
			t.Errorf("%s: the heartbeat names %d games, want %d: %v", p.profile().Player, len(m.Games), protocol.MaxPlaying, err)
		}
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > protocol.DefaultLimits.MessageBytes {
			t.Errorf("%s: the heartbeat has %d bytes", p.profile().Player, len(data))
		}
		if n := p.introduction().Slots; n > protocol.MaxPlaying {
			t.Errorf("%s: the hello says %d slots", p.profile().Player, n)
		}
		if m.Games = append(m.Games, "one-more"); m.Check() == nil {
			t.Error("a heartbeat may name more games than MaxPlaying")
		}
	}
	for want, change := range map[string]func(*Config){
		"SLOTS: 513: want at most 512, which is 256 for each player":    func(c *Config) { c.Slots = 513 },
		"LEVELS: 2561: want at most 2560, which is 256 for each player": func(c *Config) { c.Levels = 2561 },
	} {
		wrong := c
		if change(&wrong); wrong.Validate() == nil || !strings.Contains(wrong.Validate().Error(), want) {
			t.Errorf("error %v, want %q", wrong.Validate(), want)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	faults := map[string]string{
		"T_SLOTS": "0", "T_LEVELS": "-1", "T_THREADS": "0", "T_HUMAN_SLOTS": "9", "T_HASH_MB": "-1", "T_LOG_LEVEL": "loud",
		"T_INSTANCE": "Not An Id", "T_PLAYERS": "ann:chess", "T_NATS_PREFIX": "a.*", "T_BOOK": "no-such.book", "T_REPEAT_WINDOW": "0s",
		"T_POLICY_FASTEST": "60", "T_POLICY_SLOWEST": "30", "T_POLICY_RATED": "sometimes", "T_POLICY_MIN_RATING": "-1", "T_POLICY_SPEEDS": "warp",
		"T_PLAY_RESIGN_BELOW": "70", "T_PLAY_DRAW_WITHIN": "NaN", "T_MATCH_INTERVAL": "0s", "T_MATCH_RULES": "chess/960",
	}
	for name, value := range faults {
		t.Setenv(name, value)
	}
	_, err := read("T")
	if err == nil {
		t.Fatal("accepted")
	}
	for name := range faults {
		if !strings.Contains(err.Error(), strings.TrimPrefix(name, "T_")) {
			t.Errorf("%s is not in the message", name)
		}
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != len(faults)-1 { // one is about both clocks
		t.Errorf("%d lines for %d faults:\n%v", len(lines), len(faults), err)
	}
}

func TestProfiles(t *testing.T) {
	write := func(text string) Config {
		c := defaults(t)
		c.Policy.Repeat = 7
		c.Profiles = filepath.Join(t.TempDir(), "bots.json")
		if err := os.WriteFile(c.Profiles, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := write(`{"players": [
		{"player": "ann", "display": "安", "games": ["gomoku"], "slots": 2, "nodes": 10000,
		 "policy": {"opponents": "humans", "fastest": "60+1"}, "play": {"greet": "hello"}},
		{"player": "bob", "games": ["xiangqi"], "pools": ["team.alpha"]}]}`)
	players, err := c.players()
	if err != nil {
		t.Fatal(err)
	}
	ann, bob := players[0], players[1]
	if ann.Policy.Opponents != policy.HumansOnly || ann.Policy.Repeat != 7 || ann.Play.Greet != "hello" || ann.Play.Takebacks != 3 || ann.Nodes != 10000 {
		t.Errorf("want ann's settings over those of the process: %+v, policy %+v, play %+v", ann, ann.Policy, ann.Play)
	}
	if bob.Policy.Opponents != policy.Everyone || bob.Policy.Repeat != 7 || !slices.Equal(bob.Pools, []protocol.Pool{"team.alpha"}) {
		t.Errorf("bob: %+v, policy %+v", bob, bob.Policy)
	}

	for _, bad := range []struct{ name, text, want string }{
		{"not JSON", "{\"players\": [\n{,}]}", "line 2"},
		{"empty", "\n", "is empty"},
		{"cut off", `{"players": [{"player": "ann",`, "ends within its JSON object"},
		{"two objects", "{\"players\": [{\"player\": \"ann\", \"games\": [\"gomoku\"]}]}\n\n{\"players\": []}\n", `line 3: "{\"players\": []}" follows`},
		{"unknown field", `{"players": [{"player": "ann", "games": ["gomoku"], "slotz": 1}]}`, "slotz"},
		{"no players", `{}`, "no player"},
		{"twice", `{"players": [{"player": "ann", "games": ["gomoku"]}, {"player": "ann", "games": ["gomoku"]}]}`, "named twice"},
		{"unknown game", `{"players": [{"player": "ann", "games": ["go"]}]}`, "no game"},
		{"bad id", `{"players": [{"player": "Ann >", "games": ["gomoku"]}]}`, "want 1 to 32"},
		{"too many slots", `{"players": [{"player": "ann", "games": ["gomoku"], "slots": 257}]}`, "slots 257: want 0 to 256"},
		{"long display", `{"players": [{"player": "ann", "games": ["gomoku"], "display": "` + strings.Repeat("安", 65) + `"}]}`, "display: longer than 64 characters"},
		{"invisible display", `{"players": [{"player": "ann", "games": ["gomoku"], "display": "Ann \u200d Lee"}]}`, "display: contains an invisible character"},
		{"bad policy", `{"players": [{"player": "ann", "games": ["gomoku"], "policy": {"rated": "x"}}]}`, "RATED"},
	} {
		_, err := write(bad.text).players()
		if err == nil || !strings.Contains(err.Error(), bad.want) || !strings.Contains(err.Error(), "bots.json") {
			t.Errorf("%s: %v, want the file and %q", bad.name, err, bad.want)
		}
	}
	c = defaults(t)
	c.Profiles = "no/such/file.json"
	if _, err := c.players(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestShippedProfiles(t *testing.T) {
	c := defaults(t)
	c.Profiles = filepath.Join("..", "configs", "bots.json")
	players, err := c.players()
	if err != nil {
		t.Fatal(err)
	}
	if len(players) == 0 {
		t.Error("none")
	}
}

// TestHelloOfALongBuild: the platform refuses a hello whose build is longer than 64
// characters, and with it the player; a version of Go's and a digest can be.
func TestHelloOfALongBuild(t *testing.T) {
	pool := engine.NewPool(1)
	defer pool.Close()
	c := defaults(t)
	c.Players = []string{"ann:amazons"}
	b, err := New(connect(t, service(t).Player("bots")), c, Deps{NewGame: real(t), Pool: pool, Build: strings.Repeat("b", 100)})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range b.players {
		m := p.introduction()
		m.Header, m.Instance = protocol.Header{ID: "h1"}, "i1"
		if err := m.Check(); err != nil || m.Build != strings.Repeat("b", 64) {
			t.Errorf("%s: build %q: %v", p.profile().Player, m.Build, err)
		}
	}
}
