package gametest

import (
	"bytes"
	"strings"
	"sync"
)

// Output collects what a program writes, such as its log, and can be read meanwhile. It is
// safe for concurrent use. The zero value is empty.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Count returns how often the text was written.
func (o *Output) Count(text string) int { return strings.Count(o.String(), text) }

// Has reports whether the text was written.
func (o *Output) Has(text string) bool { return o.Count(text) > 0 }
