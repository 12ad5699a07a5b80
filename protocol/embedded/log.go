package embedded

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/rs/zerolog"
)

// serverLog writes the server's log to ours and remembers its warnings. The server
// only logs when it can't recover a stream, and starts without it.
type serverLog struct {
	log zerolog.Logger

	mu       sync.Mutex
	fatal    string
	warnings []string
}

// maxWarnings is how many warnings are remembered.
const maxWarnings = 20

func newServerLog(log zerolog.Logger) *serverLog {
	return &serverLog{log: log.With().Str("component", "nats-server").Logger()}
}

// fault returns the error for which a server process would have exited.
func (l *serverLog) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == "" {
		return nil
	}
	return errors.New(l.fatal)
}

// recent returns the warnings so far in one line.
func (l *serverLog) recent() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.warnings, "; ")
}

func (l *serverLog) keep(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.warnings) < maxWarnings {
		l.warnings = append(l.warnings, strings.TrimSpace(text))
	}
}

// The notices of every start would not tell users anything new.

func (l *serverLog) Noticef(format string, v ...any) { l.log.Debug().Msgf(format, v...) }
func (l *serverLog) Debugf(format string, v ...any)  { l.log.Trace().Msgf(format, v...) }
func (l *serverLog) Tracef(format string, v ...any)  { l.log.Trace().Msgf(format, v...) }

func (l *serverLog) Warnf(format string, v ...any) {
	if strings.HasPrefix(format, "Plaintext passwords") {
		return // they are random and never leave the process
	}
	l.keep(fmt.Sprintf(format, v...))
	if strings.Contains(format, "TTL state is outdated") {
		l.log.Info().Msgf(format, v...) // after every kill, and it costs nothing
		return
	}
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
