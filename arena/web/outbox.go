package web

import "sync"

// Limits of what waits for one socket. A page that reads slower than this is
// dropped: it gets everything again when it reconnects.
const (
	outboxMessages = 256
	outboxBytes    = 1 << 20
)

// outbox has the messages that wait for the writer of a socket. A message with a
// key replaces the waiting one with the same key, so that of the states of a game
// only the latest waits.
type outbox struct {
	mu     sync.Mutex
	queue  []*parcel
	keyed  map[string]*parcel
	bytes  int
	closed bool
	more   chan struct{} // has an element if the writer has something to do
}

// parcel is a message that waits. Its data may be shared with other sockets.
type parcel struct {
	key  string
	data []byte
}

func newOutbox() *outbox {
	return &outbox{keyed: make(map[string]*parcel), more: make(chan struct{}, 1)}
}

// put adds a message. It returns false if too much waits already.
func (o *outbox) put(key string, data []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if p := o.keyed[key]; p != nil {
		o.bytes += len(data) - len(p.data)
		p.data = data
	} else {
		p := &parcel{key, data}
		o.queue = append(o.queue, p)
		o.bytes += len(data)
		if key != "" {
			o.keyed[key] = p
		}
	}
	select {
	case o.more <- struct{}{}:
	default:
	}
	return len(o.queue) <= outboxMessages && o.bytes <= outboxBytes
}

// take returns the next message, nil if none waits.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue = nil // of a burst long ago
		return nil
	}
	p := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	o.bytes -= len(p.data)
	if p.key != "" {
		delete(o.keyed, p.key)
	}
	return p.data
}

// close drops what waits and what is put later.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue, o.bytes = true, nil, 0
	clear(o.keyed)
}
