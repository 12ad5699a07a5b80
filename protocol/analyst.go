package protocol

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
)

// AnalysisTask is a request for analysis that reached an analyst. It is safe for
// concurrent use.
type AnalysisTask struct {
	AnalysisRequest
	client *Client
	msg    *nats.Msg

	mu        sync.Mutex
	cancel    *nats.Subscription // nil before Accept, and after the final answer
	cancelled context.CancelCauseFunc
	ended     bool
}

// Analyst answers requests for analysis of a game. It calls take for each that
// reaches this process, one at a time, so take must not block: it accepts or
// refuses the task and works on it elsewhere. Unsubscribe to take no more.
func (c *Client) Analyst(gameName string, take func(*AnalysisTask)) (*nats.Subscription, error) {
	if err := CheckID("game", gameName); err != nil {
		return nil, err
	}
	return c.nc.QueueSubscribe(c.subjects.Analyse(gameName), AnalystsQueue, func(msg *nats.Msg) {
		t := &AnalysisTask{client: c, msg: msg}
		if !replyable(msg.Reply) {
			c.warn("request for analysis without an inbox ignored", msg.Subject, nil)
			return
		}
		r, refusal := Decode[AnalysisRequest](msg.Data, fromPlatform)
		if refusal != nil {
			c.warn("invalid request for analysis refused", msg.Subject, refusal)
			t.ID = readableID(msg.Data, fromPlatform)
			t.Refuse(refusal)
			return
		}
		t.AnalysisRequest = r
		take(t)
	})
}

// errCancelled is the cause of the context of a cancelled task.
var errCancelled = errors.New("the platform cancelled the analysis")

// Accept tells the platform that the work begins, and returns a context that ends
// when the platform cancels it. The caller calls Finish or Refuse in the end,
// which frees what the context holds.
func (t *AnalysisTask) Accept(ctx context.Context) (context.Context, error) {
	ctx, cancelled := context.WithCancelCause(ctx)
	c := t.client
	subject := t.msg.Subject + "." + t.ID
	// The server receives the subscription before the first answer, so whoever has
	// got that answer can cancel.
	sub, err := c.nc.QueueSubscribe(subject, AnalystsQueue, func(msg *nats.Msg) {
		m, refusal := Decode[AnalysisCancel](msg.Data, fromPlatform)
		if refusal != nil || m.ID != t.ID {
			c.warn("invalid cancellation ignored", msg.Subject, errorOrNil(refusal))
			return
		}
		cancelled(errCancelled)
	})
	if err != nil {
		cancelled(err)
		return ctx, err
	}
	t.mu.Lock()
	t.cancel, t.cancelled = sub, cancelled
	t.mu.Unlock()
	t.Update(Analysis{})
	return ctx, nil
}

// Update sends an answer that is not the last one.
func (t *AnalysisTask) Update(a Analysis) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		a.Final = false
		t.send(a)
	}
}

// Finish sends the last answer.
func (t *AnalysisTask) Finish(a Analysis) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	t.ended, a.Final = true, true
	t.send(a)
	if t.cancel != nil {
		t.cancel.Unsubscribe() // fails only if the connection is closed, which ends it too
		t.cancelled(context.Canceled)
	}
}

// Refuse sends a refusal, which is the last answer.
func (t *AnalysisTask) Refuse(e *Error) { t.Finish(Analysis{Error: e}) }

// send sends an answer. The caller holds mu.
func (t *AnalysisTask) send(a Analysis) {
	a.Header, a.Code = Header{V: Version, ID: t.ID}, Accepted
	if a.Error != nil {
		a.Code = a.Error.Code
	}
	t.client.respond(t.msg, a)
}
