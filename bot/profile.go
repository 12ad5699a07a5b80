package bot

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// Profile is a player that the process acts for.
type Profile struct {
	Player  protocol.PlayerID `json:"player"`
	Display string            `json:"display,omitempty"` // up to 64 visible runes, any script
	Games   []string          `json:"games"`
	// Pools are those that the player takes offers from. The default is the player's
	// own, and <game>.<speed> for each game and speed that the policy takes.
	Pools []protocol.Pool `json:"pools,omitempty"`
	// Engine is the spec of the player's engine, as package playerspec reads it; "" is
	// our own. If a program fails, its game is resigned.
	Engine string `json:"engine,omitempty"`
	// EngineLog is a folder in which every line to and from the program is kept, a
	// file a game; "": none.
	EngineLog string `json:"engineLog,omitempty"`
	Slots     int    `json:"slots,omitempty"` // most games at once, up to protocol.MaxPlaying; 0: that many
	// Nodes limits each search, so that the strength does not depend on the load of
	// the machine; 0: the clock alone limits it.
	Nodes uint64 `json:"nodes,omitempty"`
	// Reproducible makes the moves of its games replayable: one thread, a limit
	// of nodes, a hash table of the game's own that is cleared before each search,
	// no pondering, no endgame tables.
	Reproducible bool           `json:"reproducible,omitempty"`
	Policy       *policy.Policy `json:"policy,omitempty"` // default: that of the process
	Play         *play.Manners  `json:"play,omitempty"`   // default: those of the process

	level int // see levels; 0: another player
}

// players returns the profiles of the settings, complete and checked.
func (c Config) players() ([]Profile, error) {
	var profiles []Profile
	var err error
	switch {
	case c.Profiles != "":
		profiles, err = c.readProfiles()
	case len(c.Players) > 0 || c.Levels == 0:
		profiles, err = c.inline()
	}
	if err != nil {
		return nil, err
	}
	for i := range profiles {
		p := &profiles[i]
		if p.Policy == nil {
			p.Policy = &c.Policy
		}
		if p.Play == nil {
			p.Play = &c.Play
		}
		if len(p.Pools) == 0 {
			p.Pools = p.Policy.Pools(p.Player, p.Games)
		}
	}
	if c.Levels == 0 {
		return profiles, nil
	}
	profiles = append(profiles, c.levels()...)
	return profiles, errors.Join(checkProfiles(profiles)...)
}

// inline reads Players.
func (c Config) inline() ([]Profile, error) {
	var profiles []Profile
	for _, text := range c.Players {
		name, games, ok := strings.Cut(strings.TrimSpace(text), ":")
		if !ok {
			return nil, fmt.Errorf("%.60q: want name:game", text)
		}
		profiles = append(profiles, Profile{Player: protocol.PlayerID(name), Games: strings.Split(games, "+")})
	}
	return profiles, errors.Join(checkProfiles(profiles)...)
}

// readProfiles reads the file that Profiles names. The process's policy and manners
// are the defaults of each player's.
func (c Config) readProfiles() ([]Profile, error) {
	data, err := os.ReadFile(c.Profiles)
	if err != nil {
		return nil, err
	}
	var file struct {
		Players []json.RawMessage `json:"players"`
	}
	if err := strict(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Profiles, err)
	}
	var profiles []Profile
	var errs []error
	for i, entry := range file.Players {
		wants, manners := c.Policy, c.Play
		p := Profile{Policy: &wants, Play: &manners}
		if err := strict(entry, &p); err != nil {
			errs = append(errs, fmt.Errorf("player %d: %w", i+1, err))
			continue
		}
		profiles = append(profiles, p)
	}
	if len(errs) == 0 || len(profiles) > 0 {
		errs = append(errs, checkProfiles(profiles)...)
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("%s: %w", c.Profiles, err)
	}
	return profiles, errors.Join(errs...)
}

// strict refuses unknown fields, which may be misspelt, and what follows the value.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	lineAt := func(offset int64) int { return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) }
	err := d.Decode(v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("line %d: %w", lineAt(syntax.Offset), err)
	}
	switch {
	case err == io.EOF:
		return errors.New("is empty, want a JSON object")
	case err == io.ErrUnexpectedEOF:
		return errors.New("ends within its JSON object")
	case err != nil:
		return err
	}
	if rest := bytes.TrimSpace(data[d.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("line %d: %.20q follows the JSON object", lineAt(int64(bytes.LastIndex(data, rest))), rest)
	}
	return nil
}

func checkProfiles(profiles []Profile) (errs []error) {
	if len(profiles) == 0 {
		return []error{errors.New("no players")}
	}
	seen := make(map[protocol.PlayerID]bool)
	for _, p := range profiles {
		if err := protocol.CheckID("player", p.Player); err != nil {
			errs = append(errs, err)
			continue
		}
		if p.Player.Person() {
			errs = append(errs, fmt.Errorf("player %s: ids that begin with %s are those of people on the page, and denied to bots", p.Player, protocol.PeoplePrefix))
		}
		if seen[p.Player] {
			errs = append(errs, fmt.Errorf("player %s: named twice", p.Player))
		}
		seen[p.Player] = true
		errs = append(errs, p.check()...)
	}
	return errs
}

func (p Profile) check() (errs []error) {
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("player %s: "+format, append([]any{p.Player}, args...)...))
	}
	if len(p.Games) == 0 {
		bad("no game")
	}
	for i, g := range p.Games {
		if !knownGame(g) {
			bad("no game %.40q (have %s)", g, strings.Join(gameNames(), ", "))
		}
		if slices.Contains(p.Games[:i], g) {
			bad("game %s named twice", g)
		}
	}
	for _, err := range p.checkEngine() {
		bad("engine: %w", err)
	}
	for _, pool := range p.Pools {
		if err := pool.Check(); err != nil {
			bad("%w", err)
		}
	}
	if p.Slots < 0 || p.Slots > protocol.MaxPlaying {
		bad("slots %d: want 0 to %d", p.Slots, protocol.MaxPlaying)
	}
	if err := protocol.CheckDisplay(p.Display); err != nil {
		bad("%w", err)
	}
	if p.Policy != nil {
		for _, err := range p.Policy.Validate("policy: ") {
			bad("%w", err)
		}
	}
	if p.Play != nil {
		for _, err := range p.Play.Validate("play: ") {
			bad("%w", err)
		}
	}
	return errs
}

// checkEngine returns what is wrong with the spec of the engine, including a missing
// program.
func (p Profile) checkEngine() []error {
	spec, err := playerspec.Parse(p.spec())
	if err != nil {
		return []error{err}
	}
	var errs []error
	if err := checkBook(spec.Book); err != nil {
		errs = append(errs, err)
	}
	for _, g := range p.Games {
		if !knownGame(g) {
			continue
		}
		if err := spec.Check(g); err != nil && !slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() }) {
			errs = append(errs, err)
		}
	}
	if p.EngineLog != "" && spec.Outside == nil {
		errs = append(errs, errors.New("engineLog: Sparring's engine has no conversation to keep"))
	}
	if p.Reproducible {
		errs = append(errs, p.checkReproducible(spec)...)
	}
	if o := spec.Outside; o != nil && p.Nodes > 0 && !o.Dialect.LimitsNodes() {
		errs = append(errs, fmt.Errorf("%s engines can't be limited by nodes: %d", o.Dialect, p.Nodes))
	}
	return errs
}

// checkReproducible returns the settings that would make games irreproducible.
func (p Profile) checkReproducible(spec playerspec.Spec) (errs []error) {
	if spec.Outside != nil {
		return []error{errors.New("reproducible: only possible with Sparring's engine")}
	}
	if p.Nodes == 0 && spec.Nodes == 0 && spec.Depth == 0 && spec.Level == 0 {
		errs = append(errs, errors.New("reproducible: want nodes, or a level"))
	}
	if spec.MaxTime > 0 {
		errs = append(errs, fmt.Errorf("reproducible: maxtime=%v: a move must not depend on the time", spec.MaxTime))
	}
	if spec.Threads > 1 {
		errs = append(errs, fmt.Errorf("reproducible: threads=%d: want 1", spec.Threads))
	}
	return errs
}

// spec returns the spec of the engine with its log.
func (p Profile) spec() string {
	spec, err := playerspec.Parse(p.Engine)
	if err != nil || spec.Outside == nil || p.EngineLog == "" {
		return p.Engine
	}
	spec.Outside.Log = p.EngineLog
	return spec.String()
}

// external reports whether the player's engine is an external program.
func (p Profile) external() bool {
	spec, err := playerspec.Parse(p.Engine)
	return err == nil && spec.Outside != nil
}

// moveTime returns the longest time for a move of a profile, by its engine's spec or else by
// the settings; 0: as timing.MoveLimit says.
func (c Config) moveTime(p Profile) time.Duration {
	spec, err := playerspec.Parse(p.Engine)
	if err != nil {
		return c.MoveTime // the profile was checked
	}
	return cmp.Or(spec.MaxTime, c.MoveTime)
}

// capabilities returns the games of the profile for a hello, with their engines and the
// longest time for a move.
func (p Profile) capabilities(games []string, engines map[string]*protocol.Engine, moveTime time.Duration) (
	caps []protocol.Capability) {
	for _, g := range games {
		c := p.Policy.Capability(g)
		c.Engine, c.MoveMS = engines[g], moveTime.Milliseconds()
		caps = append(caps, c)
	}
	return caps
}
