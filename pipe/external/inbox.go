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
	unasked   []string // the latest that nobody has read before listening was turned on again
	last      string   // read or not
	unended   bool     // the last line came without its end
}

func newInbox(tell, flood func(text string)) *inbox {
	return &inbox{changed: make(chan struct{}, 1), tell: tell, flood: flood, listening: true}
}

// maxUnasked is the number of lines that are kept while nobody listens.
const maxUnasked = 8

// listen turns the collecting of lines on or off, and drops those collected. When it is
// turned on it returns the latest of those that nobody has read since it was on before.
func (b *inbox) listen(on bool) (unasked []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pass(b.lines...)
	b.listening, b.lines = on, nil
	if on {
		unasked, b.unasked = b.unasked, nil
	}
	return unasked
}

// pass keeps lines that nobody reads. The caller holds the lock.
func (b *inbox) pass(lines ...string) {
	b.unasked = append(b.unasked, lines...)
	if over := len(b.unasked) - maxUnasked; over > 0 {
		b.unasked = append(b.unasked[:0], b.unasked[over:]...)
	}
}

// take returns and removes the lines.
func (b *inbox) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// skip gives back lines that were taken and that nobody needs.
func (b *inbox) skip(lines []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pass(lines...)
}

// latest returns the last line received.
func (b *inbox) latest() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// endsInLine reports whether the output has ended without the end of its last line.
func (b *inbox) endsInLine() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.unended
}

func (b *inbox) signal() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// put adds lines that came together, all at once: an answer that is written twice is not
// read as the answers to two searches.
func (b *inbox) put(lines ...[]byte) {
	if len(lines) == 0 {
		return
	}
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = string(bytes.TrimRight(line, "\r"))
		b.tell(texts[i])
	}
	b.mu.Lock()
	b.last = texts[len(texts)-1]
	if b.listening {
		b.lines = append(b.lines, texts...)
	} else {
		b.pass(texts...)
	}
	b.mu.Unlock()
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
		lines := bytes.Split(data, []byte{'\n'})
		data = lines[len(lines)-1]
		if lines = lines[:len(lines)-1]; len(lines) > 0 {
			lines[0] = append(rest, lines[0]...)
			rest = rest[:0]
			b.put(lines...)
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
				b.mu.Lock()
				b.unended = true
				b.mu.Unlock()
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
