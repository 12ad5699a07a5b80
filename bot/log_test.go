package bot

import (
	"bytes"
	"strings"
	"sync"
)

// lines collects a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) has(text string) bool { return strings.Contains(l.String(), text) }

// count returns the number of lines with the text.
func (l *lines) count(text string) int { return strings.Count(l.String(), text) }
