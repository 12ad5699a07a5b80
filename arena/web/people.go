package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/protocol"
)

// account is what is stored of a person. Everything is in one entry of the
// bucket, so that each change is whole or does not happen: sessions begin and
// end, and links are used up, by compare-and-set.
type account struct {
	V       int       `json:"v"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"` // the day of the last visit
	// Played says that the person has played a game. A guest who never did is
	// forgotten sooner.
	Played   bool      `json:"played,omitempty"`
	Sessions []session `json:"sessions,omitempty"`
	Links    []link    `json:"links,omitempty"` // to take the person to another device
}

// session is a browser that may act for a person.
type session struct {
	Hash string    `json:"hash"` // of the cookie's secret
	Seen time.Time `json:"seen"`
}

// link lets another device act for a person, once.
type link struct {
	Hash    string    `json:"hash"` // of the token's secret
	Expires time.Time `json:"expires"`
}

// How long things are kept.
const (
	keepPerson = 365 * 24 * time.Hour // without a visit
	keepGuest  = 30 * 24 * time.Hour  // without a visit or a game
	keepLink   = 15 * time.Minute
	touchEvery = 24 * time.Hour // how exactly the last visit is known
)

// Limits of a person's entry. The oldest ones make room.
const (
	maxSessions = 16
	maxLinks    = 4
)

// Times of the store.
const (
	storeWait  = 2 * time.Second  // bounds each request to the store
	freshFor   = time.Minute      // an account in memory is believed without asking the store
	rememberIt = time.Hour        // it is believed while the store can't be read
	restFor    = 3 * time.Second  // without another attempt after the store did not answer
	sweepEvery = 10 * time.Minute // accounts in memory that nobody needs any more are dropped
)

// maxKnown bounds the accounts in memory.
const maxKnown = 20_000

var (
	// errNobody is returned when there is no such person or session. A visitor
	// without one is a stranger.
	errNobody = errors.New("no such person")
	// errNoLink is returned when a link has been used, has expired or never
	// existed.
	errNoLink = errors.New("no such link")
	// errStore is returned when the store can't be read or written now.
	errStore = errors.New("the people's bucket can't be reached")
	// errUnreadable is returned when an entry makes no sense.
	errUnreadable = fmt.Errorf("%w: unreadable entry", errStore)
)

// people keeps the accounts of people in a bucket, and those in use in memory.
type people struct {
	js     jetstream.JetStream
	kv     jetstream.KeyValue
	log    zerolog.Logger
	scheme string // tells this platform's cookies from those of another on the same host

	mu      sync.Mutex
	known   map[protocol.PlayerID]*known
	resting time.Time // no request to the store until then
	changed []func(protocol.PlayerID, *account)
}

// known is an account in memory.
type known struct {
	account  account
	revision uint64
	read     time.Time
}

// openPeople opens the arena's bucket of people.
func openPeople(ctx context.Context, a *arena.Arena, log zerolog.Logger) (*people, error) {
	js, err := jetstream.New(a.Conn(), jetstream.WithDefaultTimeout(storeWait))
	if err != nil {
		return nil, err
	}
	kv := a.People()
	st, err := js.Stream(ctx, "KV_"+kv.Bucket())
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", kv.Bucket(), err)
	}
	if cfg := st.CachedInfo().Config; cfg.AllowDirect {
		// A follower that lags would not know a session that has just begun.
		cfg.AllowDirect = false
		if _, err := js.UpdateStream(ctx, cfg); err != nil {
			return nil, fmt.Errorf("bucket %s: %w", kv.Bucket(), err)
		}
	}
	if kv, err = js.KeyValue(ctx, kv.Bucket()); err != nil { // which notes how to read
		return nil, fmt.Errorf("bucket of people: %w", err)
	}
	own, err := kv.Get(ctx, platformKey)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", kv.Bucket(), err)
	}
	return &people{
		js: js, kv: kv, log: log, known: make(map[protocol.PlayerID]*known),
		scheme: hashed("cookies of " + string(own.Value()))[:8],
	}, nil
}

// platformKey is the entry of the platform itself, which every bucket of people has.
const platformKey = "key"

// probe returns errStore if the bucket can't be read now.
func (p *people) probe() error {
	ctx, cancel, err := p.begin(context.Background())
	if err != nil {
		return err
	}
	defer cancel()
	if _, err := p.kv.Get(ctx, platformKey); err != nil {
		return p.failed(ctx, "read", err)
	}
	return nil
}

// onChange registers a function that is called after each change of an account,
// by this process or another; nil means that the person is gone. Register before
// run. Calls come one at a time, and f must not block.
func (p *people) onChange(f func(protocol.PlayerID, *account)) { p.changed = append(p.changed, f) }

// run follows what other arenas change, until ctx ends.
func (p *people) run(ctx context.Context) {
	var seen, after uint64
	lost := make(map[protocol.PlayerID]account) // from the revisions after that one
	followChanges(ctx, p.js.Conn(), p.log, "people", func(entry jetstream.KeyValueEntry) {
		seen = entry.Revision()
		p.follows(entry)
	}, func() (jetstream.KeyWatcher, error) {
		last, err := p.last(ctx)
		if err != nil {
			return nil, err
		}
		if seen > last {
			maps.Copy(lost, p.newerThan(last))
			seen, after = last, last
		}
		if err := p.storeAgain(ctx, lost, after); err != nil {
			return nil, err
		}
		if seen == 0 {
			seen = last
		}
		return p.kv.WatchAll(ctx, jetstream.ResumeFromRevision(seen+1))
	})
}

// last returns the last revision of the bucket.
func (p *people) last(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	stream, err := p.js.Stream(ctx, "KV_"+p.kv.Bucket())
	if err != nil {
		return 0, err
	}
	return stream.CachedInfo().State.LastSeq, nil
}

// newerThan returns the accounts in memory that are newer than the last revision of the bucket,
// which has gone back in a power cut of the server. Whatever is stored next is newer.
func (p *people) newerThan(last uint64) map[protocol.PlayerID]account {
	p.mu.Lock()
	defer p.mu.Unlock()
	newer := make(map[protocol.PlayerID]account)
	for id, k := range p.known {
		if k.revision > last {
			newer[id] = k.account
			p.known[id] = &known{account: k.account, read: k.read}
		}
	}
	p.resting = time.Time{} // the store has just answered
	return newer
}

// storeAgain stores accounts that the bucket has lost, since people have cookies of their
// sessions, and removes them from lost. What was stored after the bucket went back stays.
func (p *people) storeAgain(ctx context.Context, lost map[protocol.PlayerID]account, after uint64) error {
	for id, a := range lost {
		_, revision, err := p.read(ctx, id)
		if (err == nil || errors.Is(err, errNobody)) && revision <= after {
			err = p.write(ctx, id, a, revision)
		}
		if errors.Is(err, errStore) && !errors.Is(err, errUnreadable) {
			p.remember(id, a, 0, true)
			return fmt.Errorf("store what the server has lost: %w", err)
		}
		delete(lost, id)
	}
	return nil
}

// followChanges calls f for each change that a watch of a bucket shows, until ctx
// ends. If the watch does, it begins another one, and whenever there is a connection again:
// the server may have lost changes in a power cut, and a watch waits for revisions after them.
func followChanges(ctx context.Context, nc *nats.Conn, log zerolog.Logger, of string, f func(jetstream.KeyValueEntry), watch func() (jetstream.KeyWatcher, error)) {
	again := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(again)
	for ctx.Err() == nil {
		w, err := watch()
		if err == nil {
			err = followWatch(ctx, w, again, f)
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		log.Warn().Err(err).Str("of", of).Msg("changes can't be followed; trying again")
		sleep(ctx, restFor)
	}
}

// followWatch returns nil when there is a connection again.
func followWatch(ctx context.Context, w jetstream.KeyWatcher, again <-chan nats.Status, f func(jetstream.KeyValueEntry)) error {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-again:
			return nil
		case entry, ok := <-w.Updates():
			if !ok {
				return errors.New("the watch ended")
			}
			if entry != nil {
				f(entry)
			}
		}
	}
}

// follows takes over a change from the bucket.
func (p *people) follows(entry jetstream.KeyValueEntry) {
	id := protocol.PlayerID(entry.Key())
	if !strings.HasPrefix(entry.Key(), protocol.PeoplePrefix) {
		return // the platform's own key
	}
	var now *account
	if entry.Operation() == jetstream.KeyValuePut {
		now = new(account)
		if err := json.Unmarshal(entry.Value(), now); err != nil {
			return // get says so when somebody asks
		}
		p.remember(id, *now, entry.Revision(), false)
	} else {
		p.forget(id)
	}
	for _, f := range p.changed {
		f(id, now)
	}
}

// sweep drops accounts that nobody has asked for.
func (p *people) sweep(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, k := range p.known {
		if now.Sub(k.read) > rememberIt {
			delete(p.known, id)
		}
	}
}

// remember keeps an account in memory, if add is set or it is there already.
func (p *people) remember(id protocol.PlayerID, a account, revision uint64, add bool) {
	p.mu.Lock()
	old := p.known[id]
	if old == nil && !add || old != nil && old.revision > revision {
		p.mu.Unlock()
		return
	}
	for other := range p.known {
		if old != nil || len(p.known) < maxKnown {
			break
		}
		delete(p.known, other) // any
	}
	p.known[id] = &known{a, revision, time.Now()}
	p.mu.Unlock()
}

// forget drops an account that is no longer in the bucket.
func (p *people) forget(id protocol.PlayerID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, id)
}

// get returns an account. While the store can't be read, it returns one that was
// read within the last hour.
func (p *people) get(ctx context.Context, id protocol.PlayerID) (account, error) {
	now := time.Now()
	p.mu.Lock()
	k, resting := p.known[id], now.Before(p.resting)
	p.mu.Unlock()
	if k != nil && (now.Sub(k.read) < freshFor || resting && now.Sub(k.read) < rememberIt) {
		return k.account, nil
	}
	a, _, err := p.read(ctx, id)
	if errors.Is(err, errStore) && k != nil && now.Sub(k.read) < rememberIt {
		return k.account, nil
	}
	return a, err
}

// read reads an account from the bucket.
func (p *people) read(ctx context.Context, id protocol.PlayerID) (account, uint64, error) {
	ctx, cancel, err := p.begin(ctx)
	if err != nil {
		return account{}, 0, err
	}
	defer cancel()
	entry, err := p.kv.Get(ctx, string(id))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		p.forget(id)
		return account{}, 0, errNobody
	case err != nil:
		return account{}, 0, p.failed(ctx, "read", err)
	}
	var a account
	if err := json.Unmarshal(entry.Value(), &a); err != nil || a.V != 1 {
		p.log.Error().Err(err).Str("player", string(id)).Int("v", a.V).Msg("the entry of a person can't be read")
		return account{}, 0, errUnreadable
	}
	p.remember(id, a, entry.Revision(), true)
	return a, entry.Revision(), nil
}

// begin bounds a request to the store. It returns errStore at once when the store
// did not answer a moment ago, so that a server that hangs does not make
// everybody wait.
func (p *people) begin(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if p.isResting() || !p.js.Conn().IsConnected() {
		return nil, nil, errStore
	}
	ctx, cancel := context.WithTimeoutCause(ctx, storeWait, errSilent)
	return ctx, cancel, nil
}

func (p *people) isResting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Before(p.resting)
}

// errSilent is why a request to the store ends that was not answered within storeWait.
var errSilent = errors.New("no answer")

// failed notes that the store did not answer, and returns errStore. The context is that of
// begin.
func (p *people) failed(ctx context.Context, what string, err error) error {
	silent := errors.Is(context.Cause(ctx), errSilent)
	if ctx.Err() != nil && !silent {
		return fmt.Errorf("%w: %w", errStore, err) // the visitor left, or its time was up before
	}
	p.mu.Lock()
	quiet := time.Now().Before(p.resting)
	if silent || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) {
		p.resting = time.Now().Add(restFor)
	}
	p.mu.Unlock()
	if !quiet {
		p.log.Warn().Err(err).Msg("people can't be " + what)
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// errConflict means that somebody else has changed the entry.
var errConflict = errors.New("changed meanwhile")

// write stores an account if the entry still has the revision; 0 means that
// there is none.
func (p *people) write(ctx context.Context, id protocol.PlayerID, a account, revision uint64) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	ctx, cancel, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	keep := keepGuest
	if a.Played {
		keep = keepPerson
	}
	ack, err := p.js.PublishMsg(ctx, &nats.Msg{Subject: "$KV." + p.kv.Bucket() + "." + string(id), Data: data},
		jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithMsgTTL(keep))
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant): // of a bucket with replicas
		return errConflict
	case err != nil:
		return p.failed(ctx, "stored", err)
	}
	p.remember(id, a, ack.Sequence, true)
	return nil
}

// tries bounds how often a change is repeated because somebody else was faster.
const tries = 8

// change changes an account by f, which may be called more than once. It returns
// f's error, errNobody, or errStore.
func (p *people) change(ctx context.Context, id protocol.PlayerID, f func(*account) error) (account, error) {
	for range tries {
		a, revision, err := p.read(ctx, id)
		if err != nil {
			return account{}, err
		}
		a.Sessions, a.Links = slices.Clone(a.Sessions), slices.Clone(a.Links)
		if err := f(&a); err != nil {
			return account{}, err
		}
		if err = p.write(ctx, id, a, revision); !errors.Is(err, errConflict) {
			return a, err
		}
	}
	return account{}, fmt.Errorf("%w: %w", errStore, errConflict)
}

// create stores a new person.
func (p *people) create(ctx context.Context, a account) (protocol.PlayerID, error) {
	id := protocol.PeoplePrefix + protocol.PlayerID(protocol.NewID())
	return id, p.write(ctx, id, a, 0)
}

// erase removes everything that the bucket has about a person.
func (p *people) erase(ctx context.Context, id protocol.PlayerID) error {
	ctx, cancel, err := p.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if err := p.kv.Purge(ctx, string(id), jetstream.PurgeTTL(time.Minute)); err != nil {
		return p.failed(ctx, "erased", err)
	}
	p.forget(id)
	return nil
}

// rename changes the display name. It is safe for any name of [cleanName].
func (p *people) rename(ctx context.Context, id protocol.PlayerID, name string) error {
	_, err := p.change(ctx, id, func(a *account) error { a.Name = name; return nil })
	return err
}

// played notes that a person has played a game, so that it is kept for longer.
func (p *people) played(ctx context.Context, id protocol.PlayerID) error {
	if a, err := p.get(ctx, id); err != nil || a.Played {
		return err
	}
	_, err := p.change(ctx, id, func(a *account) error { a.Played = true; return nil })
	return err
}
