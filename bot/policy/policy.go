package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Policy defines which matches a player accepts. The zero value accepts all.
type Policy struct {
	Rules     []string            `desc:"rule sets by full name, such as gomoku/renju-15; empty: all of the player's games" json:"rules"`
	Speeds    []clock.Speed       `desc:"bullet, blitz, rapid, classical, correspondence; empty: all" json:"speeds"`
	Fastest   clock.Spec          `default:"unlimited" desc:"fastest clock, compared by its time for 40 moves; unlimited: no limit" json:"fastest"`
	Slowest   clock.Spec          `default:"unlimited" desc:"slowest clock; unlimited: no limit" json:"slowest"`
	Positions bool                `default:"true" desc:"take games that begin from other positions than the usual one" json:"positions"`
	Rated     RatedFilter         `default:"both" desc:"both, rated or casual" json:"rated"`
	Opponents OpponentFilter      `default:"both" desc:"both, humans or bots" json:"opponents"`
	MinRating int                 `split_words:"true" default:"0" desc:"lowest rating of an opponent" json:"min_rating"`
	MaxRating int                 `split_words:"true" default:"0" desc:"highest rating of an opponent; 0: no limit" json:"max_rating"`
	Allow     []protocol.PlayerID `desc:"only play against these players; empty: against anyone" json:"allow"`
	Block     []protocol.PlayerID `desc:"never play against these players" json:"block"`
	Repeat    int                 `default:"0" desc:"maximum number of games against one opponent within REPEAT_WINDOW; 0: no limit" json:"repeat"`

	// BotsRated declines casual games against bots. It is set for the levels on a
	// ladder, and is not a setting.
	BotsRated bool `ignored:"true" json:"-"`
}

// RatedFilter selects rated or casual matches.
type RatedFilter string

// The filters. "" is RatedAndCasual.
const (
	RatedAndCasual RatedFilter = "both"
	RatedOnly      RatedFilter = "rated"
	CasualOnly     RatedFilter = "casual"
)

// OpponentFilter selects opponents.
type OpponentFilter string

// The filters. "" is Everyone.
const (
	Everyone   OpponentFilter = "both"
	HumansOnly OpponentFilter = "humans"
	BotsOnly   OpponentFilter = "bots"
)

var allSpeeds = []clock.Speed{clock.Bullet, clock.Blitz, clock.Rapid, clock.Classical, clock.Correspondence}

// Validate reports everything that is wrong with the policy; at is the prefix of
// the settings' names.
func (p Policy) Validate(at string) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(at+format, args...)) }
	for _, r := range p.Rules {
		if rules, err := catalog.Rules(r); err != nil {
			bad("RULES: %w", err)
		} else if rules.Name != r { // offers have full names
			bad("RULES: %s: want the full name, %s", r, rules.Name)
		}
	}
	for _, s := range p.Speeds {
		if !slices.Contains(allSpeeds, s) {
			bad("SPEEDS: %.20q: want bullet, blitz, rapid, classical or correspondence", s)
		}
	}
	fast, limited := p.Fastest.Expected()
	if slow, ok := p.Slowest.Expected(); limited && ok && fast > slow {
		bad("FASTEST: %v: slower than %sSLOWEST, %v", p.Fastest, at, p.Slowest)
	}
	switch p.Rated {
	case "", RatedAndCasual, RatedOnly, CasualOnly:
	default:
		bad("RATED: %.20q: want both, rated or casual", p.Rated)
	}
	switch p.Opponents {
	case "", Everyone, HumansOnly, BotsOnly:
	default:
		bad("OPPONENTS: %.20q: want both, humans or bots", p.Opponents)
	}
	if p.MinRating < 0 || p.MaxRating < 0 || p.MaxRating > 0 && p.MinRating > p.MaxRating {
		bad("MIN_RATING, MAX_RATING: %d to %d: an empty range", p.MinRating, p.MaxRating)
	}
	for _, list := range [][]protocol.PlayerID{p.Allow, p.Block} {
		for _, id := range list {
			if err := protocol.CheckID("player", id); err != nil {
				bad("ALLOW, BLOCK: %w", err)
			}
		}
	}
	if p.Repeat < 0 {
		bad("REPEAT: %d: want 0 or more", p.Repeat)
	}
	return errs
}

// speeds returns the speeds that the policy and its bounds on the clock allow.
func (p Policy) speeds() []clock.Speed {
	if len(p.Speeds) > 0 {
		return p.Speeds
	}
	from, to := 0, len(allSpeeds)-1
	if p.Fastest.Traits().Limited {
		from = slices.Index(allSpeeds, p.Fastest.Speed())
	}
	if p.Slowest.Traits().Limited {
		to = slices.Index(allSpeeds, p.Slowest.Speed())
	}
	return allSpeeds[from : to+1]
}

// Capability returns the description of a game in a hello.
func (p Policy) Capability(gameName string) protocol.Capability {
	c := protocol.Capability{Game: gameName, Rules: p.rulesOf(gameName)}
	if speeds := p.speeds(); len(p.Speeds) > 0 || len(speeds) < len(allSpeeds) {
		c.Speeds = speeds
	}
	return c
}

// Takes returns what a hello says about the matches that the policy takes. It does
// not name the players who are allowed or blocked.
func (p Policy) Takes() *protocol.Takes {
	t := protocol.Takes{Usual: !p.Positions, MinRating: p.MinRating, MaxRating: p.MaxRating}
	switch p.Opponents {
	case HumansOnly:
		t.Kinds = []protocol.Kind{protocol.Human}
	case BotsOnly:
		t.Kinds = []protocol.Kind{protocol.Bot}
	}
	if p.Rated == RatedOnly || p.Rated == CasualOnly {
		rated := p.Rated == RatedOnly
		t.Rated = &rated
	}
	if p.Fastest.Traits().Limited {
		t.Fastest = &p.Fastest
	}
	if p.Slowest.Traits().Limited {
		t.Slowest = &p.Slowest
	}
	return &t
}

// Pools returns the queues of a player whose profile names none: its own, and
// <game>.<speed> for each game and each speed that the policy takes.
func (p Policy) Pools(player protocol.PlayerID, games []string) []protocol.Pool {
	pools := []protocol.Pool{protocol.OwnPool(player)}
	for _, g := range games {
		for _, s := range p.speeds() {
			pools = append(pools, protocol.Pool(g+"."+string(s)))
		}
	}
	return pools
}

// rulesOf returns the policy's rule sets of one game; none means all.
func (p Policy) rulesOf(gameName string) []string {
	var sets []string
	for _, r := range p.Rules {
		if head, _, _ := strings.Cut(r, "/"); head == gameName {
			sets = append(sets, r)
		}
	}
	return sets
}

// Refusal is why a match is declined: the reason for programs, the sentence
// for people. The zero value accepts.
type Refusal struct {
	Reason protocol.DeclineReason
	Text   string
}

// Check decides whether player me, which plays games, takes the offered match.
// Recent is how many games against this opponent began within the repeat window.
func (p Policy) Check(me protocol.PlayerID, games []string, o protocol.Offer, recent int) Refusal {
	no := func(r protocol.DeclineReason, format string, args ...any) Refusal {
		return Refusal{r, fmt.Sprintf(format, args...)}
	}
	t := o.Terms
	if o.Player != "" && o.Player != me {
		return no(protocol.DeclineOpponent, "the seat belongs to another player")
	}
	if !slices.Contains(games, t.Game) {
		return no(protocol.DeclineGame, "%s plays %s", me, strings.Join(games, ", "))
	}
	if r := playable(t, no); r != (Refusal{}) {
		return r
	}
	if o.Kind == protocol.OfferSeat {
		return Refusal{} // a running game of the player's own: it was accepted before, perhaps by another policy
	}
	if r := p.checkRules(t, no); r != (Refusal{}) {
		return r
	}
	if r := p.checkClock(t.Clock, no); r != (Refusal{}) {
		return r
	}
	switch {
	case p.Rated == RatedOnly && !t.Rated:
		return no(protocol.DeclineRated, "rated games only")
	case p.Rated == CasualOnly && t.Rated:
		return no(protocol.DeclineCasual, "casual games only")
	case p.BotsRated && !t.Rated && (o.Opponent == nil || o.Opponent.Kind != protocol.Human):
		return no(protocol.DeclineKind, "casual games against humans only")
	case o.Opponent == nil:
		// That seat is open too; its taker is checked by its own policy.
		if p.Opponents == HumansOnly {
			return no(protocol.DeclineKind, "humans only, and the other seat is open")
		}
		if len(p.Allow) > 0 {
			return no(protocol.DeclineOpponent, "only certain opponents, and the other seat is open")
		}
		return Refusal{}
	}
	return p.checkOpponent(me, *o.Opponent, recent, no)
}

type decline = func(r protocol.DeclineReason, format string, args ...any) Refusal

func (p Policy) checkRules(t protocol.Terms, no decline) Refusal {
	if sets := p.rulesOf(t.Game); len(sets) > 0 && !slices.Contains(sets, t.Rules) {
		return no(protocol.DeclineRules, "only under %s", strings.Join(sets, ", "))
	}
	if !t.Usual() && !p.Positions {
		return no(protocol.DeclineRules, "only from the usual start position")
	}
	return Refusal{}
}

// playable refuses terms that this program can't play, whatever the policy.
func playable(t protocol.Terms, no decline) Refusal {
	rules, err := catalog.Rules(t.Rules)
	if err == nil && rules.Game != t.Game {
		err = fmt.Errorf("rules of another game, %s", rules.Game)
	}
	if err == nil {
		_, err = game.Replay(rules, t.Position, t.Moves)
	}
	switch {
	case errors.Is(err, game.ErrRules):
		return no(protocol.DeclineRules, "unknown rule set")
	case err != nil:
		return no(protocol.DeclineRules, "invalid start position")
	}
	return Refusal{}
}

func (p Policy) checkClock(c clock.Spec, no decline) Refusal {
	if len(p.Speeds) > 0 && !slices.Contains(p.Speeds, c.Speed()) {
		return no(protocol.DeclineClock, "no %s games", c.Speed())
	}
	expected, limited := c.Expected()
	if fastest, bound := p.Fastest.Expected(); bound && limited && expected < fastest {
		return no(protocol.DeclineClock, "too fast: at least %v", p.Fastest)
	}
	if slowest, bound := p.Slowest.Expected(); bound && (!limited || expected > slowest) {
		return no(protocol.DeclineClock, "too slow: at most %v", p.Slowest)
	}
	if limited && expected < 100*time.Millisecond {
		return no(protocol.DeclineClock, "too fast for any network")
	}
	if err := c.Check(); err != nil {
		return no(protocol.DeclineClock, "%v", err)
	}
	return Refusal{}
}

func (p Policy) checkOpponent(me protocol.PlayerID, o protocol.Opponent, recent int, no decline) Refusal {
	switch {
	case o.Player == me:
		return no(protocol.DeclineOpponent, "not against itself")
	case slices.Contains(p.Block, o.Player):
		return no(protocol.DeclineOpponent, "on the block list")
	case len(p.Allow) > 0 && !slices.Contains(p.Allow, o.Player):
		return no(protocol.DeclineOpponent, "only certain opponents")
	case p.Opponents == HumansOnly && o.Kind != protocol.Human:
		return no(protocol.DeclineKind, "humans only")
	case p.Opponents == BotsOnly && o.Kind != protocol.Bot:
		return no(protocol.DeclineKind, "bots only")
	case o.Rating != 0 && o.Rating < p.MinRating:
		return no(protocol.DeclineRating, "opponents from %d on", p.MinRating)
	case o.Rating != 0 && p.MaxRating != 0 && o.Rating > p.MaxRating:
		return no(protocol.DeclineRating, "opponents up to %d", p.MaxRating)
	case p.Repeat > 0 && recent >= p.Repeat:
		return no(protocol.DeclineRepeat, "%d recent games against each other; try again later", recent)
	}
	return Refusal{}
}
