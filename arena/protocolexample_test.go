package arena

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/protocol"
)

// exchanged is a message of docs/protocol-example.md.
type exchanged struct {
	name    string // of the message in docs/asyncapi.yaml
	subject string // the last that the page names before it
	text    string
}

// exampleMessages reads the messages of the page.
func exampleMessages(t *testing.T) (all []exchanged) {
	t.Helper()
	page, err := os.ReadFile("../docs/protocol-example.md")
	if err != nil {
		t.Fatal(err)
	}
	subjects := regexp.MustCompile("`(sparring\\.[^`]+)`")
	read := 0
	for _, at := range regexp.MustCompile("(?s)```json (\\w+)\n(.*?)```").FindAllSubmatchIndex(page, -1) {
		m := exchanged{name: string(page[at[2]:at[3]]), text: string(page[at[4]:at[5]])}
		if named := subjects.FindAllSubmatch(page[read:at[0]], -1); len(named) > 0 {
			m.subject = string(named[len(named)-1][1])
		}
		all, read = append(all, m), at[1]
	}
	if len(all) < 20 {
		t.Fatalf("%d messages are no whole game", len(all))
	}
	return all
}

// lasting returns a message without what differs from game to game: times, and the
// numbers of the platform's store.
func lasting(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var strip func(v any)
	strip = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				strip(e)
			}
		case map[string]any:
			delete(v, "waited_ms") // absent if 0
			for k, e := range v {
				switch k {
				case "server_time", "started", "deadline", "hold_ms", "received", "first_move_by", "seq", "charged_ms", "left_ms":
					v[k] = "differs"
				}
				strip(e)
			}
		}
	}
	strip(m)
	return m
}

// The game of docs/protocol-example.md is one that the arena referees: everything that the page
// lets guest send is sent, and what guest receives is what the page says.
func TestProtocolExample(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "ann")
	cfg := Defaults()
	cfg.LostAfter, cfg.LeaseFor, cfg.OfferFor, cfg.HoldFor, cfg.Policy.FirstMove = patience, patience, patience, 2*patience, patience // on a slow machine, too
	runArena(t, srv, cfg)

	guest := arenatest.Connect(t, srv.Player("guest"))
	offers, err := guest.QueueSubscribeSync("sparring.offer.player.guest", protocol.BotsQueue)
	if err != nil {
		t.Fatal(err)
	}
	var (
		answer string // to the last request
		offer  *nats.Msg
		states *nats.Subscription
		seq    uint64                  // of the last state or answer
		ids    = strings.NewReplacer() // the page's, by those that the platform chose
	)
	for _, m := range exampleMessages(t) {
		text, got := ids.Replace(m.text), ""
		switch m.name {
		case "hello", "alive", "move":
			reply, err := guest.Request(ids.Replace(m.subject), []byte(text), patience)
			if err != nil {
				t.Fatalf("%s %s: %v", m.name, text, err)
			}
			answer = string(reply.Data)
			continue
		case "offerAnswer":
			if err := offer.Respond([]byte(text)); err != nil {
				t.Fatal(err)
			}
			continue
		case "offer":
			var page, o protocol.Offer
			if err := json.Unmarshal([]byte(m.text), &page); err != nil {
				t.Fatal(err)
			}
			challengeGuest(t, srv.Player("ann"), page.Terms)
			if offer, err = offers.NextMsg(patience); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(offer.Data, &o); err != nil {
				t.Fatal(err)
			}
			ids = strings.NewReplacer(string(page.Game), string(o.Game), `"`+page.ID+`"`, `"`+o.ID+`"`)
			if states, err = guest.SubscribeSync("sparring.to.guest.game." + string(o.Game)); err != nil {
				t.Fatal(err)
			}
			text, got = ids.Replace(m.text), string(offer.Data)
		case "state":
			var st protocol.State
			for st.Seq <= seq && st.Status != protocol.Finished { // one that the answer has told, or that is sent again
				msg, err := states.NextMsg(patience)
				if err != nil {
					t.Fatalf("no %s: %v", text, err)
				}
				got = string(msg.Data)
				if err := json.Unmarshal(msg.Data, &st); err != nil {
					t.Fatal(err)
				}
			}
			seq = st.Seq
		default:
			got = answer
			var ans protocol.ActAnswer
			if err := json.Unmarshal([]byte(got), &ans); err != nil {
				t.Fatal(err)
			}
			seq = max(seq, ans.Seq)
		}
		if page, is := lasting(t, text), lasting(t, got); !reflect.DeepEqual(page, is) {
			t.Fatalf("%s: the page says\n%s\nand the arena\n%s", m.name, text, got)
		}
	}
}

// challengeGuest lets ann challenge guest, and play as on the page.
func challengeGuest(t *testing.T, c protocol.Connection, terms protocol.Terms) {
	t.Helper()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	ann, err := protocol.NewClient(arenatest.Connect(t, c), subjects, "ann", "w3h9ad", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Hello(t.Context(), protocol.Hello{Kind: protocol.Bot, Display: "Ann", Build: "pebble 2.1", Slots: 1, Games: []protocol.Capability{{Game: terms.Game}}}); err != nil {
		t.Fatal(err)
	}
	seat := game.Second
	ans, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: terms, Seat: &seat, Opponent: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	moves := []string{"i8", "i9", "i10", "i11"}
	if _, err := ann.Game(ans.Game, func(st protocol.State) {
		if n := len(st.Moves); st.Status == protocol.Playing && st.Turn == st.You {
			ann.Move(t.Context(), st.Game, st.Holders[st.You].Epoch, n, moves[n/2], "")
		}
	}); err != nil {
		t.Fatal(err)
	}
}
