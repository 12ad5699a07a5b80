package embedded

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rs/zerolog"
)

// serverLog hands the server's log on to ours and remembers what went wrong
// while it started: the server itself logs a stream that it can't recover and
// goes on without it.
type serverLog struct {
	log zerolog.Logger

	mu       sync.Mutex
	fatal    string
	warnings []string
}

// kept is how many warnings are remembered.
const kept = 20

func newServerLog(log zerolog.Logger) *serverLog {
	return &serverLog{log: log.With().Str("component", "nats-server").Logger()}
}

// fault is what the server would have exited for, were it a process.
func (l *serverLog) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		return nil
	}
	return errors.New(l.fatal)
}

// recent are the warnings so far, one line.
func (l *serverLog) recent() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.warnings, "; ")
}

func (l *serverLog) keep(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.warnings) < kept {
		l.warnings = append(l.warnings, strings.TrimSpace(text))
	}
}

// What the server tells of itself on every start is no news to our users.

func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug().Msgf(format, v...) }
func (l *serverLog) Debugf(format string, v ...any)  { l.log.Trace().Msgf(format, v...) }
func (l *serverLog) Tracef(format string, v ...any)  { l.log.Trace().Msgf(format, v...) }

func (l *serverLog) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, "Plaintext passwords") {
		return // ours are random and never leave the process
	}
	l.keep(fmt.Sprintf(format, v...))
	l.log.Warn().Msgf(format, v...)
}

func (l *serverLog) Errorf(format string, v ...any) {
	l.keep(fmt.Sprintf(format, v...))
	l.log.Error().Msgf(format, v...)
}

func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	l.fatal = fmt.Sprintf(format, v...)
	l.mu.Unlock()
	l.log.Error().Msgf(format, v...)
}
