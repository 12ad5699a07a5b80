package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"sparring/configs"
	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/journal"
	"sparring/lab/match/event"
	"sparring/otb"
	"sparring/otb/screen"
	"sparring/pipe/playerspec"
)

// tableFlags are the flags of the table command.
type tableFlags struct {
	place
	clock          string
	maxMove        time.Duration
	maxPlies       int
	us             string
	name, opponent string
	engine, log    string
	hash, threads  int
	ponder         bool
	hand           time.Duration
	data, journal  string
	out            string
	notation       string
	resume, anew   bool
	plain, scores  bool
}

func tableCommand() *cobra.Command {
	var f tableFlags
	c := &cobra.Command{
		Use:   "table",
		Short: "Play at a real board: the operator enters the opponent's moves and makes ours",
		Long: `Play a game at a real board or at an organiser's client, as in a championship: the
operator types or clicks the opponent's moves, in any notation of the game, and makes
our engine's moves on the board. Both clocks run beside the arbiter's and can be
corrected to it. On a terminal the table fills the screen, elsewhere or with --plain
it is lines of text; help lists what can be typed. See docs/table.md.

Everything entered is on the disk before it takes effect. The same command again goes
on with a game that was not finished, and so does --resume; --new begins another.`,
		Example: `  sparring table --event ccgc-xiangqi --us red --name 北理工 --opponent 天津理工大学
  sparring table --event ccgc-gomoku --clock 900 --us second --engine gomocup:./pbrain
  sparring table --game amazons --clock 900 --us white --plain
  sparring table --resume`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.place.flags(c)
	fl := c.Flags()
	fl.Lookup("event").Usage = anEvent + ": its game, rules, clock, limits, title, place and form of the record, where no flag says otherwise"
	fl.Lookup("game").Usage = anyGame() + " (required, unless --event or --resume tells)"
	fl.StringVar(&f.clock, "clock", "", "clock of each side, in seconds: 1800, 900+10, 600/3x30, 30/move or unlimited (required, unless the event has one)")
	fl.DurationVar(&f.maxMove, "max-move", 0, "longest time for a move besides the clock, such as 300s; 0: no limit")
	fl.IntVar(&f.maxPlies, "max-plies", 0, "the game is drawn after this many plies; 0: never")
	fl.StringVar(&f.us, "us", "", "our side: first, second, or its colour at the start, red, black or white (required)")
	fl.StringVar(&f.name, "name", "sparring", "our name, for the record")
	fl.StringVar(&f.opponent, "opponent", "opponent", "the opponent's name, for the record")
	fl.StringVar(&f.engine, "engine", playerspec.Self, "spec of our engine: self, self:book=shipped, self:level=5, uci:PATH, ucci:PATH, gomocup:PATH, ...")
	fileFlag(fl, &f.log, "log", "folder for all that is said to and by the program, one file per game")
	fl.IntVar(&f.hash, "hash", 256, "hash table, MiB")
	fl.IntVar(&f.threads, "threads", 1, "search threads")
	fl.BoolVar(&f.ponder, "ponder", true, "think on the opponent's time")
	fl.DurationVar(&f.hand, "hand", 3*time.Second, "how long the operator takes to make a move and press the clock; 0: our move counts as made when the engine has decided")
	fl.StringVar(&f.data, "data", "data", "data directory: journals go to its folder table, records to its folder records")
	fileFlag(fl, &f.journal, "journal", "journal of the game (default: a new file in the data directory)")
	fileFlag(fl, &f.out, "out", "folder for the record as the event wants it (default: the folder table of the data directory)")
	fl.StringVar(&f.notation, "notation", "", "coordinates of Xiangqi moves: iccs (h2e2, ranks from 0; the default) or uci (h3e3, ranks from 1)")
	fl.BoolVar(&f.resume, "resume", false, "go on with the game that was not finished, with its settings")
	fl.BoolVar(&f.anew, "new", false, "begin a game even if another one was not finished")
	fl.BoolVar(&f.plain, "plain", false, "lines of text instead of a screen")
	fl.BoolVar(&f.scores, "score", false, "show score and depth from the start")
	c.AddCommand(tableExport())
	return c
}

// run opens the table and shows it until the operator leaves.
func (f *tableFlags) run(c *cobra.Command) error {
	o, err := f.options(c)
	if err != nil {
		return err
	}
	t, err := otb.Open(*o)
	if errors.Is(err, journal.ErrInUse) {
		return fmt.Errorf("%w: another table goes on with this game (--new begins another)", err)
	}
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context())
	done := make(chan struct{})
	go func() {
		t.Run(ctx)
		close(done)
	}()
	err = f.show(ctx, c, t)
	stop()
	<-done
	phase := t.View().Phase
	err = errors.Join(interrupted(err), t.Close())
	if phase != otb.Ended {
		fmt.Fprintf(c.ErrOrStderr(), "The game is not finished. sparring table --resume goes on with it (%s).\n", o.Journal)
	}
	return err
}

// interrupted names the end of a command's context for people.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}

// show shows the table until the operator leaves or ctx ends.
func (f *tableFlags) show(ctx context.Context, c *cobra.Command, t *otb.Table) error {
	if f.plain || !onScreen(c) {
		return otb.Plain(ctx, t, c.InOrStdin(), c.OutOrStdout())
	}
	return screen.Show(ctx, t, screen.Options{Scores: f.scores})
}

// onScreen reports whether the command's input and output are a terminal that can show
// a screen with the characters of a board.
func onScreen(c *cobra.Command) bool {
	for _, stream := range []any{c.InOrStdin(), c.OutOrStdout()} {
		f, ok := fileOf(stream)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	name := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	utf8 := strings.Contains(strings.ToLower(strings.ReplaceAll(name, "-", "")), "utf8")
	return hasCursor() && (utf8 || runtime.GOOS == "windows")
}

// options returns what the flags and an unfinished game set up.
func (f *tableFlags) options(c *cobra.Command) (*otb.Options, error) {
	if f.notation != "" && f.notation != "iccs" && f.notation != "uci" {
		return nil, usagef("--notation %.20q: want iccs or uci", f.notation)
	}
	dir := filepath.Join(f.data, "table")
	path, had, err := f.unfinished(dir)
	if err != nil {
		return nil, err
	}
	var t otb.Terms
	if had != nil && f.resume {
		t = had.Terms
		if err := f.change(c, &t); err != nil {
			return nil, err
		}
	} else if t, err = f.terms(c); err != nil {
		return nil, err
	}
	if had != nil {
		if err := otb.Different(had.Terms, t); err != nil {
			return nil, usagef("%s: %w (--resume alone goes on with that game, --new begins another)", path, err)
		}
	}
	if err := checkSizes(t.HashMB, t.Threads); err != nil {
		return nil, err
	}
	gameName, _, _ := strings.Cut(t.Rules, "/")
	spec, err := playerspec.Parse(t.Engine)
	if err == nil {
		err = spec.Check(gameName)
	}
	if err != nil {
		return nil, usagef("--engine: %w", err)
	}
	if path == "" {
		path = otb.JournalOf(dir, t.ID)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	like := newImitator(c.Context(), c.ErrOrStderr())
	return &otb.Options{
		Journal: path, Terms: t, UCI: f.notation == "uci",
		Open: func(spec, gameName string) (engine.Searcher, error) {
			return playerspec.Open(spec, gameName, playerspec.Options{HashBytes: t.HashMB << 20, Threads: t.Threads, Shipped: configs.Books(), LevelElo: levelElo, Likeness: like.find, Log: f.log})
		},
		Keep: f.keep(t, dir),
	}, nil
}

// unfinished returns the game to go on with, nil for a new one, and its journal.
func (f *tableFlags) unfinished(dir string) (path string, g *otb.Game, err error) {
	switch {
	case f.anew && f.resume:
		return "", nil, usagef("--new and --resume exclude each other")
	case f.journal != "":
		info, err := os.Stat(f.journal)
		if err == nil && info.Size() > 0 && f.anew {
			return "", nil, usagef("--journal %s: there is a game in this file", f.journal)
		}
		if err == nil && info.Size() > 0 {
			g, err = otb.Load(f.journal)
		} else if f.resume {
			return "", nil, usagef("--resume: no game in %s", f.journal)
		} else if os.IsNotExist(err) {
			err = nil
		}
		return f.journal, g, err
	case f.anew:
		return "", nil, nil
	}
	path, g, err = otb.Unfinished(dir)
	if err != nil {
		return "", nil, fmt.Errorf("%w (--new begins another game)", err)
	}
	if f.resume && g == nil {
		return "", nil, usagef("--resume: no unfinished game in %s", dir)
	}
	return path, g, nil
}

// change sets the terms of a game that is resumed, where a flag was given: also those that
// may not change, so that a difference is noticed.
func (f *tableFlags) change(c *cobra.Command, t *otb.Terms) error {
	given := c.Flags().Changed
	if given("engine") {
		t.Engine = f.engine
	}
	if given("hash") {
		t.HashMB = f.hash
	}
	if given("threads") {
		t.Threads = f.threads
	}
	if given("ponder") {
		t.Ponder = f.ponder
	}
	if given("hand") {
		t.HandMS = f.hand.Milliseconds()
	}
	if given("max-move") {
		t.MoveMS = f.maxMove.Milliseconds()
	}
	if given("max-plies") {
		t.MaxPlies = f.maxPlies
	}
	if given("position") {
		t.Position = f.position
	}
	if given("event") {
		t.Follows = f.event
	}
	if given("name") {
		t.Names[t.Us] = f.name
	}
	if given("opponent") {
		t.Names[t.Us.Other()] = f.opponent
	}
	var err error
	if given("clock") {
		if t.Clock, err = clock.Parse(f.clock); err != nil {
			return usagef("--clock: %w", err)
		}
	}
	had, _, _ := strings.Cut(t.Rules, "/")
	if given("us") {
		start, err := catalog.Setup(had, t.Rules, t.Position)
		if err != nil {
			return usage(err)
		}
		if t.Us, err = seatNamed(start, f.us); err != nil {
			return usagef("--us: %w", err)
		}
	}
	if given("rules") || f.game != "" && f.game != had {
		rules, err := rulesOf(cmp.Or(f.game, had), f.rules)
		if err != nil {
			return usage(err)
		}
		t.Rules = rules.Name
	}
	return nil
}

// terms returns the terms of a game that the flags describe.
func (f *tableFlags) terms(c *cobra.Command) (t otb.Terms, err error) {
	at := time.Now()
	t = otb.Terms{
		V: otb.FileVersion, ID: otb.NewID(at), Engine: f.engine, HashMB: f.hash, Threads: f.threads, Ponder: f.ponder, Build: engine.Build(),
		HandMS: f.hand.Milliseconds(), Seed: seed(),
	}
	if f.event != "" {
		e, err := openEvent(f.event)
		if err != nil {
			return t, err
		}
		all := append(ofGame(e), prescription{"clock", clockOf(e)})
		if e.Move > 0 {
			all = append(all, prescription{"max-move", e.Move.String()})
		}
		if e.MaxPlies > 0 {
			all = append(all, prescription{"max-plies", strconv.Itoa(e.MaxPlies)})
		}
		if err := follow(c, e, all...); err != nil {
			return t, err
		}
		t.Event, t.Place, t.Follows = event.TitleAt(e.Title, at), e.Place, f.event
		if f.clock == "" {
			return t, usagef("--clock is required: the sources of event %s do not say it", e.Name)
		}
	}
	pos, err := f.setup()
	if err != nil {
		return t, err
	}
	if f.clock == "" {
		return t, usagef("--clock is required: %s", clock.Forms())
	}
	if t.Clock, err = clock.Parse(f.clock); err != nil {
		return t, usagef("--clock: %w", err)
	}
	if f.maxMove < 0 || f.hand < 0 || f.maxPlies < 0 {
		return t, usagef("--max-move, --hand and --max-plies must not be negative")
	}
	if t.Us, err = seatNamed(pos, f.us); err != nil {
		return t, usagef("--us: %w", err)
	}
	t.Rules, t.Position, t.MoveMS, t.MaxPlies = pos.Rules().Name, f.position, f.maxMove.Milliseconds(), f.maxPlies
	t.Names[t.Us], t.Names[t.Us.Other()] = f.name, f.opponent
	if err := t.Validate(); err != nil {
		return t, usage(err)
	}
	return t, nil
}

// seed returns a seed that no other game has.
func seed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// seatNamed returns the seat that a word names: first, second, or a colour.
func seatNamed(pos game.Position, word string) (game.Seat, error) {
	var names []string
	for seat := range game.Second + 1 {
		own := []string{seat.String()}
		if p, ok := pos.(game.Pictured); ok {
			own = append(own, p.Sides()[seat])
		}
		for _, name := range own {
			if strings.EqualFold(name, word) {
				return seat, nil
			}
		}
		names = append(names, own...)
	}
	return 0, fmt.Errorf("%.20q: want our side: %s", word, strings.Join(names, ", "))
}
