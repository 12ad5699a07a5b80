package protocol

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// Receiver calls the handlers of many subscriptions from a few goroutines. The
// NATS client starts one for each subscription, which costs a gateway of many
// people more memory than anything else. It is safe for concurrent use.
type Receiver struct {
	nc     *nats.Conn
	queues []chan *nats.Msg
	next   atomic.Uint64 // the queue of the next subscription

	handlers sync.Map     // by *nats.Subscription
	opening  sync.RWMutex // read-locked until a new subscription has its handler
}

const (
	receiverQueues = 4
	receiverBuffer = 1 << 14 // messages that may wait in each queue; more are lost
)

// NewReceiver returns a receiver for subscriptions of a connection.
func NewReceiver(nc *nats.Conn) *Receiver {
	r := &Receiver{nc: nc, queues: make([]chan *nats.Msg, receiverQueues)}
	for i := range r.queues {
		r.queues[i] = make(chan *nats.Msg, receiverBuffer)
	}
	return r
}

// Run calls the handlers until ctx ends. Those of one subscription are called one
// at a time; none may block, as it would hold up others.
func (r *Receiver) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, queue := range r.queues {
		all.Go(func() {
			for {
				select {
				case msg := <-queue:
					if f := r.handler(msg.Sub); f != nil {
						f(msg)
					}
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Wait()
}

// subscribe calls f for each message on a subject, until the subscription is
// ended.
func (r *Receiver) subscribe(subject, queue string, f nats.MsgHandler) (*nats.Subscription, error) {
	r.opening.RLock()
	defer r.opening.RUnlock()
	sub, err := r.nc.ChanQueueSubscribe(subject, queue, r.queues[r.next.Add(1)%receiverQueues])
	if err != nil {
		return nil, err
	}
	r.handlers.Store(sub, f)
	sub.SetClosedHandler(func(string) { r.handlers.Delete(sub) })
	return sub, nil
}

// handler returns the handler of a subscription, nil if it has ended.
func (r *Receiver) handler(sub *nats.Subscription) nats.MsgHandler {
	f, ok := r.handlers.Load(sub)
	if !ok {
		// The first message may come before subscribe has stored the handler.
		r.opening.Lock()
		f, ok = r.handlers.Load(sub)
		r.opening.Unlock()
	}
	if !ok {
		return nil
	}
	return f.(nats.MsgHandler)
}
