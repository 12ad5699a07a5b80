package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// serverLog writes the server's log to ours and remembers its warnings. The server
// only logs when it can't recover a stream, and starts without it.
type serverLog struct {
	log     zerolog.Logger
	clients zerolog.Logger // log, for what clients do
	keepers []string       // streams from which no message leaves by itself

	full atomic.Bool // the disk is, or was until a moment ago

	mu       sync.Mutex
	fatal    string
	started  bool
	warnings []string
	said     map[string]time.Time // when each line was logged last
}

// maxWarnings is how many warnings are remembered.
const maxWarnings = 20

// What clients do is logged at most clientLines times in clientPeriod: the server has a line
// for each message that a user may not send, and whoever has a user can send a hundred
// thousand a second.
const (
	clientLines  = 20
	clientPeriod = 10 * time.Second
)

// The same line is logged once in repeatAfter: on a full disk the server has one for each
// message that it can't store.
const repeatAfter = time.Minute

// maxSaid is how many lines are remembered for that.
const maxSaid = 1000

// say logs a line of the server.
func (l *serverLog) say(level zerolog.Level, text string) {
	if strings.Contains(text, " - cid:") {
		l.clients.WithLevel(level).Msg(text)
		return
	}
	l.mu.Lock()
	now := time.Now()
	last, again := l.said[text]
	again = again && now.Sub(last) < repeatAfter
	if !again {
		if len(l.said) >= maxSaid {
			clear(l.said)
		}
		l.said[text] = now
	}
	l.mu.Unlock()
	if !again {
		l.log.WithLevel(level).Msg(text)
	}
}

func newServerLog(log zerolog.Logger, stored []storedStream) *serverLog {
	l := &serverLog{log: log.With().Str("component", "nats-server").Logger(), said: make(map[string]time.Time)}
	l.clients = l.log.Sample(&zerolog.BurstSampler{Burst: clientLines, Period: clientPeriod})
	for _, st := range stored {
		if st.keeps {
			l.keepers = append(l.keepers, st.name)
		}
	}
	return l
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

// note remembers a warning, and that the disk is full if it says so.
func (l *serverLog) note(text string) {
	if lacksRoom(text) {
		l.full.Store(true)
	}
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
	text := fmt.Sprintf(format, v...)
	l.note(text)
	level := zerolog.WarnLevel
	if l.routine(text) {
		level = zerolog.InfoLevel
	}
	l.say(level, text)
}

// routine reports whether a warning is usual after a kill. The server writes its
// summaries of a stream now and then and at shutdown. After a kill they are behind
// the blocks, and it rebuilds them from those, which checkStore has read before.
// An older summary also lists blocks that were removed since with their last message.
// That is routine only where messages leave; elsewhere a missing block is damage, as
// are summaries that can't be read.
func (l *serverLog) routine(text string) bool {
	rest, ok := strings.CutPrefix(text, "Filestore [")
	stream, what, found := strings.Cut(rest, "] ")
	if !ok || !found {
		return false
	}
	if strings.HasPrefix(what, "Stream state detected prior state, could not locate msg block") {
		return !slices.Contains(l.keepers, stream)
	}
	for _, usual := range []string{
		"Stream state outdated, ",
		"TTL state is outdated; ",
		"Message scheduling state is outdated; ",
		"Sourcing state is outdated; ",
		"Recovering stream state from index errored: prior state file", // follows one of the others
	} {
		if strings.HasPrefix(what, usual) {
			return true
		}
	}
	return false
}

func (l *serverLog) Errorf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	l.note(text)
	l.say(zerolog.ErrorLevel, text)
}

// Fatalf keeps the error. Start returns it, so that until the server has started its
// caller says it, and not the log as well.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	l.fatal = fmt.Sprintf(format, v...)
	started := l.started
	l.mu.Unlock()
	if started {
		l.log.Error().Msgf(format, v...)
	}
}

// begin says that the server has started.
func (l *serverLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
}
