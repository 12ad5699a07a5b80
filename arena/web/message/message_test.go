package message_test

import (
	"errors"
	"strings"
	"testing"

	"sparring/arena/web/message"
	"sparring/protocol"
)

// Requests in a form that no page sends are refused before anybody looks at what they mean.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		request message.Request
		fault   string // the field that the error names; "" for none
	}{
		{"nothing", message.Request{}, ""},
		{"a move", message.Request{Game: "g4kq", Ply: 3, Move: "h2e2", LagMS: 20, Step: protocol.StepAccept}, ""},
		{"a pool", message.Request{Pool: "xiangqi.blitz"}, ""},
		{"a game below another subject", message.Request{Game: "g.>"}, "game"},
		{"an opponent in capitals", message.Request{Opponent: "Hare"}, "opponent"},
		{"a pool of wildcards", message.Request{Pool: "*"}, "pool"},
		{"terms with a long name", message.Request{Terms: &protocol.Terms{Rules: strings.Repeat("a", 1000)}}, "rules"},
		{"an unknown step", message.Request{Step: "withdraw"}, "step"},
		{"a long token", message.Request{Token: strings.Repeat("a", 65)}, "token"},
		{"a long move", message.Request{Move: strings.Repeat("a", 65)}, "move"},
		{"a negative ply", message.Request{Ply: -1}, "ply"},
		{"a negative lag", message.Request{LagMS: -1}, "lag_ms"},
	} {
		err := c.request.Check()
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v, want a fault of %q", c.name, err, c.fault)
		}
	}
}

// The page shows its own sentence for the code of a refusal: it must be that of the platform.
func TestFailed(t *testing.T) {
	if a := message.Failed(protocol.Refuse(protocol.Stale, "the position has changed")); a.Code != protocol.Stale || a.Text != "the position has changed" {
		t.Errorf("refused by the platform: %+v", a)
	}
	if a := message.Failed(errors.New("connection closed")); a.Code != protocol.Unavailable || strings.Contains(a.Text, "closed") {
		t.Errorf("not sent: %+v", a)
	}
}
