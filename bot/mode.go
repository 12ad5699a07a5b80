package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sparring/bot/policy"
	"sparring/protocol"
)

// mode is whether the process takes games, and who said so. A pause outlives the
// process: a file in the data directory names the instance.
type mode struct {
	path string // of the file of a pause

	mu       sync.Mutex
	now      protocol.Mode
	why      string
	since    time.Time
	signaled bool // a signal told the process to end: no verb undoes that
	ending   bool // Run returns
	// taking ends when the process takes no more new games.
	taking     context.Context
	stopTaking context.CancelFunc
}

// pauseFile is the content of the file of a pause.
type pauseFile struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why,omitempty"`
}

// newMode returns the mode of an instance, which is paused if it was so when its last
// process ended.
func newMode(dir string, id protocol.InstanceID) (*mode, error) {
	m := &mode{path: filepath.Join(dir, string(id)+".paused"), now: protocol.ModeRunning, since: time.Now()}
	m.taking, m.stopTaking = context.WithCancel(context.Background())
	data, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bot: can't tell whether the process was paused: %w", err)
	}
	var f pauseFile
	if json.Unmarshal(data, &f) != nil { // half written: it was meant
		f = pauseFile{Since: time.Now()}
	}
	m.now, m.why, m.since = protocol.ModePaused, f.Why, f.Since
	m.stopTaking()
	return m, nil
}

// current returns the mode, why, and since when.
func (m *mode) current() (now protocol.Mode, why string, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now, m.why, m.since
}

// whileTaking returns a context that ends when the process takes no more new games.
func (m *mode) whileTaking() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taking
}

// end reports whether the process may end: it is draining still. No verb changes the
// mode from then on.
func (m *mode) end() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ending = m.ending || m.now == protocol.ModeDraining
	return m.ending
}

// set changes the mode, and reports whether it or its reason is another one now: who
// waits for the end of a process tells it again and again to drain. A signal stands above
// the operator's verbs.
func (m *mode) set(to protocol.Mode, why string, signal bool) (changed bool, refusal *protocol.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ending:
		return false, protocol.Refuse(protocol.Over, "the process is ending")
	case m.signaled && !signal && to != protocol.ModeDraining:
		return false, protocol.Refuse(protocol.Denied, "a signal told the process to end")
	}
	if err := m.keep(to, why); err != nil { // a full disk is a reason to pause
		why = strings.TrimSpace(fmt.Sprintf("%s (can't be stored, and a restart undoes it: %v)", why, errors.Unwrap(err))) // without the path
	}
	m.signaled = m.signaled || signal
	changed = to != m.now || why != m.why
	if to != m.now {
		m.since = time.Now()
	}
	m.now, m.why = to, why
	switch {
	case to != protocol.ModeRunning:
		m.stopTaking()
	case m.taking.Err() != nil: // else its challenges stay open
		m.taking, m.stopTaking = context.WithCancel(context.Background())
	}
	return changed, nil
}

// keep writes or removes the file of a pause. The caller holds mu. A drain leaves it as
// it is: a paused process that is replaced is still paused.
func (m *mode) keep(to protocol.Mode, why string) error {
	switch to {
	case protocol.ModePaused:
		data, err := json.Marshal(pauseFile{Since: time.Now().UTC(), Why: why})
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(m.path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(m.path, data, 0o644)
	case protocol.ModeRunning:
		if err := os.Remove(m.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// admissions are the games that the ledger admits in each mode. A paused process takes
// vacant seats of its players' running games, which may have nobody else.
var admissions = map[protocol.Mode]policy.Admission{
	protocol.ModeRunning: policy.AdmitAll, protocol.ModePaused: policy.AdmitRunning, protocol.ModeDraining: policy.AdmitNone,
}

// setMode changes the mode of the process, and acts on it.
func (b *Bot) setMode(to protocol.Mode, why string, signal bool) *protocol.Error {
	if changed, e := b.mode.set(to, why, signal); e != nil || !changed {
		return e
	}
	b.followMode()
	_, why, _ = b.mode.current()
	b.log.Info().Str("mode", string(to)).Str("why", why).Int("games", b.ledger.Used()).Msg("mode changed")
	return nil
}

// followMode makes the parts of the process act on its mode.
func (b *Bot) followMode() {
	b.following.Lock() // two changes must not end in the wrong order
	defer b.following.Unlock()
	now, _, _ := b.mode.current()
	b.ledger.Admit(admissions[now])
	b.analyst.serve(now == protocol.ModeRunning)
	b.requestHellos() // they say whether games are taken
	b.lookAtQueues()
}

// control is the operator's verb for this process.
func (b *Bot) control(v protocol.FleetVerb, why string) *protocol.Error {
	switch v {
	case protocol.FleetPause:
		return b.setMode(protocol.ModePaused, why, false)
	case protocol.FleetDrain:
		return b.setMode(protocol.ModeDraining, why, false)
	case protocol.FleetResume:
		return b.setMode(protocol.ModeRunning, why, false)
	}
	return protocol.Refuse(protocol.UnknownVerb, "want pause, drain or resume")
}
