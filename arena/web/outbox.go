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
	// writing: a goroutine writes what is put until nothing waits. There is none
	// in between, since most sockets are idle most of the time.
	writing bool
}

// parcel is a message that waits. Its data may be shared with other sockets.
type parcel struct {
	key  string
	data []byte
}

func newOutbox() *outbox {
	return &outbox{keyed: make(map[string]*parcel)}
}

// put adds a message. Fits is false if too much waits already. The caller has to
// begin to write if start is true.
func (o *outbox) put(key string, data []byte) (fits, start bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true, false
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
	start = !o.writing
	o.writing = true
	return len(o.queue) <= outboxMessages && o.bytes <= outboxBytes, start
}

// take returns the next message to the goroutine that writes; nil if none waits,
// and that it has to end.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		o.queue, o.writing = nil, false
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
