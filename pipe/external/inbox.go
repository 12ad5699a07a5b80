package external

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Limits of a program's output. More is a flood.
const (
	maxLineLength     = 64 << 10
	maxLinesPerSecond = 20_000
	maxBytesPerSecond = 8 << 20
)

// inbox holds the unread lines of a program.
type inbox struct {
	changed chan struct{}     // has a value after a line, and after the end of the process
	tell    func(line string) // called with every line
	flood   func(text string)

	mu        sync.Mutex
	listening bool
	lines     []string
	last      string // read or not
}

func newInbox(tell, flood func(text string)) *inbox {
	return &inbox{changed: make(chan struct{}, 1), tell: tell, flood: flood, listening: true}
}

// listen turns the collecting of lines on or off, and drops those collected.
func (b *inbox) listen(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listening, b.lines = on, nil
}

// take returns and removes the lines.
func (b *inbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// latest returns the last line received.
func (b *inbox) latest() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

func (b *inbox) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *inbox) put(line []byte) {
	text := string(bytes.TrimRight(line, "\r"))
	b.mu.Lock()
	b.last = text
	if b.listening {
		b.lines = append(b.lines, text)
	}
	b.mu.Unlock()
	b.tell(text)
	b.signal()
}

// read fills the inbox until the pipe ends. A flood is reported once, and the rest
// is discarded.
func (b *inbox) read(r io.Reader) {
	var rest []byte // the beginning of an unfinished line
	var rate rate
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		data := buf[:n]
		if flooded := rate.add(data, time.Now()); flooded != "" {
			b.flood(flooded)
			io.Copy(io.Discard, r) // until the program is killed
			return
		}
		for {
			i := bytes.IndexByte(data, '\n')
			if i < 0 {
				break
			}
			b.put(append(rest, data[:i]...))
			rest, data = rest[:0], data[i+1:]
		}
		if rest = append(rest, data...); len(rest) > maxLineLength {
			b.put(rest[:maxLineLength])
			b.flood(fmt.Sprintf("a line of more than %d bytes", maxLineLength))
			io.Copy(io.Discard, r)
			return
		}
		if err != nil {
			if len(rest) > 0 {
				b.put(rest)
			}
			return
		}
	}
}

// rate counts the output within the current second.
type rate struct {
	since        time.Time
	lines, bytes int
}

func (r *rate) add(data []byte, now time.Time) (flooded string) {
	if now.Sub(r.since) >= time.Second {
		*r = rate{since: now}
	}
	r.bytes += len(data)
	r.lines += bytes.Count(data, []byte{'\n'})
	if r.lines > maxLinesPerSecond || r.bytes > maxBytesPerSecond {
		return fmt.Sprintf("%d lines and %d bytes within a second", r.lines, r.bytes)
	}
	return ""
}

// tail keeps the end of a stream.
type tail struct {
	tell func(line string) // called with every line

	mu   sync.Mutex
	data []byte
}

// tailBytes is its size.
const tailBytes = 4 << 10

func (t *tail) read(r io.Reader) {
	var rest []byte // the beginning of an unfinished line
	buf := make([]byte, tailBytes)
	for {
		n, err := r.Read(buf)
		rest = append(rest, buf[:n]...)
		for i := bytes.IndexByte(rest, '\n'); i >= 0 || len(rest) > maxLineLength; i = bytes.IndexByte(rest, '\n') {
			if i < 0 {
				i = len(rest) - 1
			}
			t.tell(string(bytes.TrimRight(rest[:i+1], "\r\n")))
			rest = rest[i+1:]
		}
		if err != nil && len(rest) > 0 {
			t.tell(string(rest))
		}
		t.mu.Lock()
		t.data = append(t.data, buf[:n]...)
		if over := len(t.data) - tailBytes; over > 0 {
			t.data = append(t.data[:0], t.data[over:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.data))
}
