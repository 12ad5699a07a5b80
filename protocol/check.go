package protocol

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Limits of single fields, in runes or elements.
const (
	maxText    = 500
	maxDisplay = 64
	maxWord    = 32
	maxMove    = 32
	maxRules   = 64
	maxPlace   = 1024 // of a start position
	maxGames   = 64   // in a hello
	maxList    = 256
	maxPly     = 4096
	maxLagMS   = 60_000
	maxLevel   = 1000 // of an engine
	maxElo     = 10_000
	maxSetting = 1 << 30
)

// MaxSlots is the most slots that an instance can report for a player.
const MaxSlots = 10000

// MaxPlies is the most plies of a game, with those played before it: no message names more.
// A platform ends a longer game without a result.
const MaxPlies = maxPly

// MaxPlaying is the most games that an instance plays at once for one player: each
// heartbeat names them all.
const MaxPlaying = maxList

func text(what, s string, most int) error {
	if utf8.RuneCountInString(s) > most {
		return fmt.Errorf("%s: longer than %d characters", what, most)
	}
	for _, r := range s {
		if unicode.IsControl(r) || r == utf8.RuneError { // U+009B begins sequences of terminals as well
			return fmt.Errorf("%s: contains a control character", what)
		}
	}
	return nil
}

// CheckDisplay returns an error unless name may be a player's display name, which people
// are shown: "", or a text with visible characters and without invisible ones or direction
// marks. A hello with any other name is refused.
func CheckDisplay(name string) error {
	seen := name == ""
	for _, r := range name {
		mark := unicode.IsMark(r) // some choose how the character before is shown, as in emoji
		if !unicode.IsGraphic(r) || unicode.Is(Blank, r) && !mark {
			return errors.New("display: contains an invisible character")
		}
		seen = seen || !mark && !unicode.IsSpace(r)
	}
	if !seen {
		return errors.New("display: nothing of it is seen")
	}
	return text("display", name, maxDisplay)
}

// Blank has characters that count as letters, symbols or marks but show nothing.
var Blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, // combining grapheme joiner
		{0x115f, 0x1160, 1}, // Hangul fillers
		{0x17b4, 0x17b5, 1}, // Khmer inherent vowels
		{0x180b, 0x180f, 1}, // Mongolian selectors
		{0x2800, 0x2800, 1}, // Braille blank
		{0x3164, 0x3164, 1}, // Hangul filler
		{0xfe00, 0xfe0f, 1}, // variation selectors
		{0xffa0, 0xffa0, 1}, // half-width Hangul filler
	},
	R32: []unicode.Range32{{0x1d159, 0x1d159, 1}, {0xe0000, 0xe0fff, 1}}, // a null notehead; tags and selectors
}

// moveTexts checks a list of moves.
func moveTexts(what string, moves []string, most int) error {
	if err := within(what, len(moves), most); err != nil {
		return err
	}
	for _, m := range moves {
		if m == "" {
			return errors.New(what + ": a move is missing")
		}
		if err := text(what, m, maxMove); err != nil {
			return err
		}
	}
	return nil
}

func within[T int | int64](what string, n, most T) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s: want 0 to %d", what, most)
	}
	return nil
}

// Check implements Checker.
func (h *Header) Check() error {
	if !isID(h.ID) {
		return errors.New("id: want 1 to 32 of a-z 0-9 _ -")
	}
	return nil
}

func ids[T ~string](what string, list []T) error {
	if err := within(what, len(list), maxList); err != nil {
		return err
	}
	for _, id := range list {
		if !isID(string(id)) {
			return errors.New(what + ": want ids of a-z 0-9 _ -")
		}
	}
	return nil
}

func instance(id InstanceID) error {
	if !isID(string(id)) {
		return errors.New("instance: want 1 to 32 of a-z 0-9 _ -")
	}
	return nil
}

func pool(p Pool) error {
	if p.Check() != nil { // its error quotes the name
		return errors.New("pool: want up to four ids of a-z 0-9 _ - joined by dots")
	}
	return nil
}

// key checks a position key: 16 hex digits, or "" if there is none.
func key(k string) error {
	if k != "" && !isKey(k) {
		return errors.New("key: want 16 hex digits")
	}
	return nil
}

// isKey reports whether a text is 16 hex digits in lower case.
func isKey(k string) bool {
	for i := range len(k) {
		if c := k[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(k) == 16
}

// Check implements Checker.
func (m *Hello) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), CheckDisplay(m.Display),
		text("build", m.Build, maxDisplay), text("host", m.Host, maxHost), text("secret", m.Secret, maxDisplay), within("slots", m.Slots, MaxSlots),
		within("games", len(m.Games), maxGames), within("pools", len(m.Pools), maxList)}
	if m.Kind != Bot && m.Kind != Human {
		errs = append(errs, errors.New("kind: want bot or human"))
	}
	for _, c := range m.Games {
		if c.Game == "" {
			errs = append(errs, errors.New("games: the name of one is missing"))
		}
		errs = append(errs, text("games", c.Game, maxWord), within("rules", len(c.Rules), maxList), within("speeds", len(c.Speeds), maxList))
		for _, r := range c.Rules {
			errs = append(errs, text("rules", r, maxRules))
		}
		for _, s := range c.Speeds {
			if !s.Known() {
				errs = append(errs, errors.New("speeds: want bullet, blitz, rapid, classical or correspondence"))
			}
		}
		if c.MoveMS < 0 {
			errs = append(errs, errors.New("move_ms: must not be negative"))
		}
		if c.Engine != nil {
			errs = append(errs, c.Engine.check())
		}
	}
	for _, p := range m.Pools {
		errs = append(errs, pool(p))
	}
	if m.Takes != nil {
		errs = append(errs, m.Takes.check())
	}
	return first(errs...)
}

// check returns an error if no match could be taken: whoever says that means something else,
// and would wait for ever.
func (k *Takes) check() error {
	errs := []error{within("kinds", len(k.Kinds), maxList)}
	for _, kind := range k.Kinds {
		if kind != Bot && kind != Human {
			errs = append(errs, errors.New("kinds: want bot or human"))
		}
	}
	if k.MaxRating != 0 && k.MinRating > k.MaxRating {
		errs = append(errs, errors.New("takes: min_rating is above max_rating"))
	}
	if k.Fastest != nil && k.Slowest != nil {
		fastest, limited := k.Fastest.Expected()
		if slowest, also := k.Slowest.Expected(); limited && also && fastest > slowest {
			errs = append(errs, errors.New("takes: fastest is slower than slowest"))
		}
	}
	return first(errs...)
}

// check returns an error unless people can be shown what an engine says of itself.
func (e *Engine) check() error {
	if e.Elo != nil && (*e.Elo < -maxElo || *e.Elo > maxElo) {
		return fmt.Errorf("elo: want -%d to %d", maxElo, maxElo)
	}
	if e.EloError < 0 || e.EloError > maxElo {
		return fmt.Errorf("elo_error: want 0 to %d", maxElo)
	}
	return first(text("spec", e.Spec, maxRules), text("name", e.Name, maxDisplay), text("build", e.Build, maxDisplay),
		text("book", e.Book, maxRules), text("eval", e.Eval, maxWord), within("level", e.Level, maxLevel),
		within("depth", e.Depth, maxSetting), within("hash_mb", e.HashMB, maxSetting), within("threads", e.Threads, maxSetting), within("table_men", e.TableMen, maxSetting))
}

// Check implements Checker.
func (m *Alive) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), within("free", m.Free, MaxSlots), ids("games", m.Games), text("secret", m.Secret, maxDisplay)}
	if m.FreeForBots != nil {
		errs = append(errs, within("free_for_bots", *m.FreeForBots, MaxSlots))
	}
	if m.FreeTogether != nil {
		errs = append(errs, within("free_together", *m.FreeTogether, MaxSlots))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *Leave) Check() error {
	return first(m.Header.Check(), instance(m.Instance), ids("games", m.Games), text("secret", m.Secret, maxDisplay))
}

// Check implements Checker.
func (t *Terms) Check() error {
	return first(text("game", t.Game, maxWord), text("rules", t.Rules, maxRules), text("position", t.Position, maxPlace),
		moveTexts("moves", t.Moves, maxPly))
}

// Check implements Checker.
func (m *ChallengeRequest) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), m.Terms.Check(),
		within("expire_ms", m.ExpireMS, LongestChallenge.Milliseconds())}
	switch {
	case (m.Opponent == "") == (m.Pool == ""):
		errs = append(errs, errors.New("want either opponent or pool"))
	case m.Opponent != "":
		errs = append(errs, ids("opponent", []PlayerID{m.Opponent}))
	default:
		errs = append(errs, pool(m.Pool))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *Withdraw) Check() error {
	return first(m.Header.Check(), ids("game", []GameID{m.Game}))
}

// Check implements Checker.
func (m *StandingsRequest) Check() error {
	errs := []error{m.Header.Check(), text("game", m.Game, maxWord)}
	if m.Game == "" {
		errs = append(errs, errors.New("game: missing"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *Offer) Check() error {
	errs := []error{m.Header.Check(), ids("game", []GameID{m.Game}), m.Terms.Check(), within("ply", m.Ply, maxPly)}
	if m.Kind != OfferMatch && m.Kind != OfferSeat {
		errs = append(errs, errors.New("kind: want match or seat"))
	}
	if m.Player != "" {
		errs = append(errs, ids("player", []PlayerID{m.Player}))
	}
	if m.Opponent != nil {
		errs = append(errs, ids("opponent", []PlayerID{m.Opponent.Player}))
	}
	if m.Pool != "" {
		errs = append(errs, pool(m.Pool))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *OfferAnswer) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), text("text", m.Text, maxText), text("reason", string(m.Reason), maxWord), text("secret", m.Secret, maxDisplay)}
	switch m.Answer {
	case Accept:
		errs = append(errs, ids("player", []PlayerID{m.Player}))
	case Decline, Busy:
	default:
		errs = append(errs, errors.New("answer: want accept, decline or busy"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *MoveRequest) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), within("ply", m.Ply, maxPly), text("move", m.Move, maxMove),
		key(m.Key), within("lag_ms", m.LagMS, maxLagMS)}
	if m.Move == "" {
		errs = append(errs, errors.New("move: missing"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *ActRequest) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), within("ply", m.Ply, maxPly)}
	switch m.Step {
	case "", StepOffer, StepAccept, StepDecline:
	default:
		errs = append(errs, errors.New("step: want offer, accept or decline"))
	}
	if m.Fault != "" && FaultText(m.Fault, "") == "" {
		errs = append(errs, errors.New("fault: want crash, hang, illegal, flood, memory or start"))
	}
	if m.Fault != "" && m.Step != "" {
		errs = append(errs, errors.New("fault: only in a resignation, which has no step"))
	}
	return first(errs...)
}

// CheckFor returns an error unless the request has a step where the action, which its
// subject names, is negotiated in steps. With one, a resignation was meant as something
// else.
func (m *ActRequest) CheckFor(a Action) error {
	switch {
	case a == ActResign && m.Step != "":
		return errors.New("step: a resignation has none")
	case a != ActResign && m.Step == "":
		return errors.New("step: want offer, accept or decline")
	}
	return nil
}

// Check implements Checker.
func (m *ChatRequest) Check() error {
	errs := []error{m.Header.Check(), instance(m.Instance), text("text", m.Text, maxText)}
	if m.Text == "" {
		errs = append(errs, errors.New("text: missing"))
	}
	return first(errs...)
}

// Check implements Checker.
func (s *Snapshot) Check() error {
	errs := []error{ids("game", []GameID{s.Game}), s.Terms.Check(), key(s.Key), moveTexts("moves", s.Moves, maxPly)}
	if s.Status == "" {
		errs = append(errs, errors.New("status: missing"))
	}
	return first(errs...)
}

// Check implements Checker.
func (m *State) Check() error {
	return first(ids("holders", []PlayerID{m.Holders[0].Player, m.Holders[1].Player}), m.Snapshot.Check())
}

// Check implements Checker. It allows seats without players, as in the log of a
// challenge that ended without a game.
func (m *Event) Check() error {
	if m.Kind == "" {
		return errors.New("kind: missing")
	}
	return m.Snapshot.Check()
}

// Check implements Checker.
func (m *Notice) Check() error {
	if m.Kind == "" {
		return errors.New("kind: missing")
	}
	return text("text", m.Text, maxText)
}

// first returns the first error: a refusal is one sentence.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
