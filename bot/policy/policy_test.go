package policy

import (
	"slices"
	"strings"
	"testing"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

func spec(t *testing.T, text string) clock.Spec {
	t.Helper()
	s, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPolicy(t *testing.T) {
	me := protocol.PlayerID("me")
	human, program := protocol.Opponent{Player: "ann", Kind: protocol.Human, Rating: 1500}, protocol.Opponent{Player: "bob", Kind: protocol.Bot, Rating: 1500}
	offer := func(change ...func(*protocol.Offer)) protocol.Offer {
		o := protocol.Offer{Kind: protocol.OfferMatch, Opponent: &human, Terms: protocol.Terms{
			Game: "amazons", Rules: "amazons/6x6", Clock: spec(t, "60+1"), Rated: true}}
		for _, f := range change {
			f(&o)
		}
		return o
	}
	against := func(p protocol.Opponent) func(*protocol.Offer) {
		return func(o *protocol.Offer) { o.Opponent = &p }
	}
	at := func(text string) func(*protocol.Offer) {
		return func(o *protocol.Offer) { o.Terms.Clock = spec(t, text) }
	}
	under := func(rules, position string) func(*protocol.Offer) {
		return func(o *protocol.Offer) { o.Terms.Rules, o.Terms.Position = rules, position }
	}
	open, casual := func(o *protocol.Offer) { o.Opponent = nil }, func(o *protocol.Offer) { o.Terms.Rated = false }
	seat := func(o *protocol.Offer) { o.Kind, o.Player = protocol.OfferSeat, me }
	all := Policy{Positions: true}

	for _, c := range []struct {
		name   string
		policy Policy
		offer  protocol.Offer
		recent int
		want   protocol.DeclineReason // "" accepts
	}{
		{"anything", all, offer(), 100, ""},
		{"against anyone", all, offer(open), 0, ""},
		{"another game", all, offer(func(o *protocol.Offer) { o.Terms.Game, o.Terms.Rules = "xiangqi", "xiangqi/simple" }), 0, protocol.DeclineGame},
		{"no such game", all, offer(func(o *protocol.Offer) { o.Terms.Game, o.Terms.Rules = "chess", "chess/960" }), 0, protocol.DeclineGame},
		{"unknown rules", all, offer(under("amazons/moon", "")), 0, protocol.DeclineRules},
		{"rules of another game", all, offer(under("xiangqi/simple", "")), 0, protocol.DeclineRules},
		{"bad position", all, offer(under("amazons/6x6", "nonsense")), 0, protocol.DeclineRules},
		{"rules not wanted", Policy{Rules: []string{"amazons/10x10"}}, offer(), 0, protocol.DeclineRules},
		{"rules of another game do not bind", Policy{Rules: []string{"xiangqi/simple"}}, offer(), 0, ""},
		{"no positions", Policy{}, offer(under("amazons/6x6", "2q2q/6/6/6/6/2Q2Q w")), 0, protocol.DeclineRules},
		{"speed", Policy{Speeds: []clock.Speed{clock.Rapid}}, offer(), 0, protocol.DeclineClock},
		{"right speed", Policy{Speeds: []clock.Speed{clock.Bullet}}, offer(), 0, ""},
		{"too fast", Policy{Fastest: spec(t, "180")}, offer(), 0, protocol.DeclineClock},
		{"just right", Policy{Fastest: spec(t, "100"), Slowest: spec(t, "100")}, offer(), 0, ""},
		{"too slow", Policy{Slowest: spec(t, "60")}, offer(), 0, protocol.DeclineClock},
		{"unlimited is slow", Policy{Slowest: spec(t, "60")}, offer(at("unlimited")), 0, protocol.DeclineClock},
		{"unlimited is not fast", Policy{Fastest: spec(t, "60")}, offer(at("unlimited")), 0, ""},
		{"no time at all", all, offer(at("0.05")), 0, protocol.DeclineClock},
		{"no time for the first move", all, offer(at("0+1")), 0, protocol.DeclineClock},
		{"rated only", Policy{Rated: RatedOnly}, offer(casual), 0, protocol.DeclineRated},
		{"casual only", Policy{Rated: CasualOnly}, offer(), 0, protocol.DeclineCasual},
		{"both", Policy{Rated: RatedAndCasual, Opponents: Everyone}, offer(casual), 0, ""},
		{"humans only", Policy{Opponents: HumansOnly}, offer(against(program)), 0, protocol.DeclineKind},
		{"humans only, human", Policy{Opponents: HumansOnly}, offer(), 0, ""},
		{"humans only, open", Policy{Opponents: HumansOnly}, offer(open), 0, protocol.DeclineKind},
		{"bots only", Policy{Opponents: BotsOnly}, offer(), 0, protocol.DeclineKind},
		{"too weak", Policy{MinRating: 1600}, offer(), 0, protocol.DeclineRating},
		{"too strong", Policy{MaxRating: 1400}, offer(), 0, protocol.DeclineRating},
		{"in range", Policy{MinRating: 1500, MaxRating: 1500}, offer(), 0, ""},
		{"no rating yet", Policy{MinRating: 1600}, offer(against(protocol.Opponent{Player: "new", Kind: protocol.Bot})), 0, ""},
		{"blocked", Policy{Block: []protocol.PlayerID{"ann"}}, offer(), 0, protocol.DeclineOpponent},
		{"not allowed", Policy{Allow: []protocol.PlayerID{"bob"}}, offer(), 0, protocol.DeclineOpponent},
		{"allowed", Policy{Allow: []protocol.PlayerID{"ann"}}, offer(), 0, ""},
		{"allowed, open", Policy{Allow: []protocol.PlayerID{"ann"}}, offer(open), 0, protocol.DeclineOpponent},
		{"itself", all, offer(against(protocol.Opponent{Player: me, Kind: protocol.Bot})), 0, protocol.DeclineOpponent},
		{"another's seat", all, offer(func(o *protocol.Offer) { o.Player = "eve" }), 0, protocol.DeclineOpponent},
		{"too often", Policy{Repeat: 3}, offer(), 3, protocol.DeclineRepeat},
		{"not too often", Policy{Repeat: 3}, offer(), 2, ""},
		{"once", Policy{Repeat: 1}, offer(), 1, protocol.DeclineRepeat},
		{"casual against people only", Policy{BotsRated: true}, offer(casual), 0, ""},
		{"casual against people only, rated", Policy{BotsRated: true}, offer(against(program)), 0, ""},
		{"casual against people only, open", Policy{BotsRated: true}, offer(casual, open), 0, protocol.DeclineKind},
		{"own running game", Policy{Rated: CasualOnly, Opponents: BotsOnly, Repeat: 1, Fastest: spec(t, "600")}, offer(seat), 5, ""},
		{"running game, rules not wanted any more", Policy{Rules: []string{"amazons/10x10"}}, offer(seat), 0, ""},
		{"running game, positions not wanted any more", Policy{}, offer(seat, under("amazons/6x6", "2q2q/6/6/6/6/2Q2Q w")), 0, ""},
		{"running game, rules unknown", all, offer(seat, under("amazons/moon", "")), 0, protocol.DeclineRules},
	} {
		got := c.policy.Check(me, []string{"amazons"}, c.offer, c.recent)
		if got.Reason != c.want || (got.Text == "") != (c.want == "") {
			t.Errorf("%s: %q (%s), want %q", c.name, got.Reason, got.Text, c.want)
		}
		if len([]rune(got.Text)) > 200 || strings.Contains(got.Text, "nonsense") {
			t.Errorf("%s: the sentence %q is too long or echoes input", c.name, got.Text)
		}
		// The hello says the same, except what concerns single opponents, this
		// process alone, or a running game.
		hello := protocol.Hello{Games: []protocol.Capability{c.policy.Capability("amazons")}, Takes: c.policy.Takes()}
		rules, err := catalog.Rules(c.offer.Terms.Rules)
		if err == nil {
			_, err = rules.New(c.offer.Terms.Position)
		}
		if c.offer.Kind == protocol.OfferSeat || c.offer.Opponent == nil || err != nil || rules.Game != c.offer.Terms.Game || strings.HasPrefix(c.name, "no time") ||
			got.Reason == protocol.DeclineOpponent || got.Reason == protocol.DeclineRepeat || got.Reason == protocol.DeclineGame {
			continue
		}
		if said := hello.Declines(c.offer.Terms, *c.offer.Opponent); said != got.Reason {
			t.Errorf("%s: the hello says %q, the policy %q", c.name, said, got.Reason)
		}
	}
}

func TestCapability(t *testing.T) {
	p := Policy{Rules: []string{"amazons/8x8"}, Slowest: spec(t, "300")}
	if c := p.Capability("xiangqi"); c.Game != "xiangqi" || len(c.Rules) != 0 || len(c.Speeds) != 2 {
		t.Errorf("%+v", c)
	}
	if c := p.Capability("amazons"); !slices.Equal(c.Rules, []string{"amazons/8x8"}) {
		t.Errorf("%+v", c)
	}
	if c := (Policy{}).Capability("xiangqi"); len(c.Speeds) != 0 {
		t.Errorf("no bound on the clock, but speeds %v", c.Speeds)
	}
}

// Offers have the full names of rule sets, so that another name would decline all of them.
func TestRulesByFullName(t *testing.T) {
	for name, full := range map[string]string{"gomoku": "gomoku/freestyle-15", "xiangqi/simple+limit=60": "xiangqi/simple"} {
		errs := Policy{Rules: []string{name}}.Validate("POLICY_")
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), "POLICY_RULES: "+name+": want the full name, "+full) {
			t.Errorf("%s: %v, want the full name %s in an error", name, errs, full)
		}
		if errs := (Policy{Rules: []string{full}}).Validate("POLICY_"); len(errs) > 0 {
			t.Errorf("%s: %v", full, errs)
		}
	}
}

// A policy that could take no match, or whose settings mean nothing, is refused by the name
// of the setting.
func TestPolicyIsPossible(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		want   string // the name of the setting; "": no fault
	}{
		{Policy{}, ""},
		{Policy{Speeds: []clock.Speed{clock.Blitz}, Rated: RatedOnly, Opponents: BotsOnly, Allow: []protocol.PlayerID{"ann"}, Repeat: 1}, ""},
		{Policy{Fastest: spec(t, "60"), Slowest: spec(t, "60")}, ""},
		{Policy{Fastest: spec(t, "60")}, ""},
		{Policy{Slowest: spec(t, "60")}, ""},
		{Policy{MinRating: 1500, MaxRating: 1500}, ""},
		{Policy{MinRating: 1500}, ""},
		{Policy{Rules: []string{"amazons/moon"}}, "AT_RULES: "},
		{Policy{Speeds: []clock.Speed{"warp"}}, "AT_SPEEDS: "},
		{Policy{Fastest: spec(t, "61"), Slowest: spec(t, "60")}, "AT_FASTEST: "},
		{Policy{Rated: "never"}, "AT_RATED: "},
		{Policy{Opponents: "cats"}, "AT_OPPONENTS: "},
		{Policy{MinRating: -1}, "AT_MIN_RATING, "},
		{Policy{MaxRating: -1}, "AT_MIN_RATING, "},
		{Policy{MinRating: 1501, MaxRating: 1500}, "AT_MIN_RATING, "},
		{Policy{Allow: []protocol.PlayerID{"Not an id"}}, "AT_ALLOW, "},
		{Policy{Block: []protocol.PlayerID{"Not an id"}}, "AT_ALLOW, "},
		{Policy{Repeat: -1}, "AT_REPEAT: "},
	} {
		errs := c.policy.Validate("AT_")
		if len(errs) > 1 || (len(errs) == 1) != (c.want != "") || len(errs) == 1 && !strings.HasPrefix(errs[0].Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.policy, errs, c.want)
		}
	}
}
