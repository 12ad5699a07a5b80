package message

import (
	"errors"
	"fmt"

	"sparring/protocol"
)

// Check returns an error, for people who debug, if a field has a form that no request has.
// What the request means is up to the gateway.
func (r *Request) Check() error {
	for what, id := range map[string]string{"game": string(r.Game), "opponent": string(r.Opponent)} {
		if id != "" && protocol.CheckID(what, id) != nil {
			return fmt.Errorf("%s: want 1 to 32 of a-z 0-9 _ -", what)
		}
	}
	if r.Pool != "" && r.Pool.Check() != nil {
		return fmt.Errorf("pool: want up to four ids of a-z 0-9 _ - joined by dots")
	}
	if r.Terms != nil {
		if err := r.Terms.Check(); err != nil {
			return err
		}
	}
	switch r.Step {
	case "", protocol.StepOffer, protocol.StepAccept, protocol.StepDecline:
	default:
		return fmt.Errorf("step: want offer, accept or decline")
	}
	for what, n := range map[string]int{"move": len(r.Move), "from": len(r.From), "to": len(r.To), "what": len(r.What), "token": len(r.Token)} {
		if n > 64 {
			return fmt.Errorf("%s: too long", what)
		}
	}
	if r.Ply < 0 || r.LagMS < 0 {
		return fmt.Errorf("ply, lag_ms: want 0 or more")
	}
	return nil
}

// Refused returns the answer to a request that changes nothing.
func Refused(code protocol.Code, text string) Answer { return Answer{Code: code, Text: text} }

// Denied returns the answer to a request that the person may not make, with the reason for
// which the page has a sentence.
func Denied(reason, text string) Answer {
	return Answer{Code: protocol.Denied, Reason: reason, Text: text}
}

// Failed returns the answer to a request that the platform refused, with its code, or that
// could not be sent: [protocol.Unavailable].
func Failed(err error) Answer {
	var e *protocol.Error
	if errors.As(err, &e) {
		return Refused(e.Code, e.Text)
	}
	return Refused(protocol.Unavailable, "the platform does not answer now")
}
