package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// store has everything that outlives the process.
type store struct {
	js         jetstream.JetStream
	subjects   protocol.Subjects
	challenges jetstream.Stream
	queue      jetstream.Consumer // of challenges
	games      jetstream.Stream
	records    jetstream.Stream
	leases     bucket
	owners     bucket
	ladder     jetstream.KeyValue
	history    jetstream.KeyValue
	people     jetstream.KeyValue
	peopleKey  protocol.PeopleKey

	mayHaveLost func(since, now time.Time) bool // see reach.mayHaveLost; nil before the arena runs
}

// storeWait bounds every single request to JetStream.
const storeWait = 2 * time.Second

// streamName names a stream or bucket of the platform. These names can't have
// dots.
func streamName(subjects protocol.Subjects, what string) string {
	return strings.ReplaceAll(subjects.Prefix(), ".", "_") + "_" + what
}

// openStore checks the streams and buckets and creates those that are missing.
// If one differs from what the arena needs, the error says how.
func openStore(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects, cfg Config) (*store, error) {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(storeWait))
	if err != nil {
		return nil, err
	}
	s := &store{js: js, subjects: subjects, leases: bucket{js: js}, owners: bucket{js: js}}
	if err := complete(ctx, js, subjects); err != nil {
		return nil, err
	}
	s.challenges, err = openStream(ctx, js, jetstream.StreamConfig{
		Name: streamName(subjects, "challenges"), Description: "waiting challenges", Subjects: []string{subjects.Challenges()},
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgs: int64(cfg.Challenges), MaxMsgsPerSubject: perSubject, Replicas: cfg.Replicas, Storage: jetstream.FileStorage,
		AllowDirect: false, // a follower's answer may be outdated
	})
	if err != nil {
		return nil, err
	}
	s.games, err = openStream(ctx, js, jetstream.StreamConfig{
		Name: streamName(subjects, "games"), Description: "the authoritative log of every game", Subjects: []string{subjects.Logs()},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgsPerSubject: int64(cfg.Policy.LogLimit), Replicas: cfg.Replicas, Storage: jetstream.FileStorage,
		AllowMsgTTL: true,  // see closedFor
		AllowDirect: false, // an outdated answer of a follower would make a referee take its own entry for another's
		RePublish: &jetstream.RePublish{
			Source:      subjects.Logs(),
			Destination: subjects.Prefix() + ".watch.{{wildcard(1)}}",
		},
	})
	if err != nil {
		return nil, err
	}
	s.records, err = openStream(ctx, js, jetstream.StreamConfig{
		Name: streamName(subjects, "records"), Description: "finished games", Subjects: []string{subjects.Records()},
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgsPerSubject: 1, // a game has one record
		Replicas:          cfg.Replicas, Storage: jetstream.FileStorage, AllowDirect: true,
	})
	if err != nil {
		return nil, err
	}
	if err := s.openQueue(ctx); err != nil {
		return nil, err
	}
	s.leases.KeyValue, err = openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: streamName(subjects, "leases"), Description: "which arenas run", TTL: cfg.LeaseFor,
		LimitMarkerTTL: markerFor, Replicas: cfg.Replicas,
		Storage: jetstream.FileStorage, // a restart of the server would lose a bucket in memory
	})
	if err != nil {
		return nil, err
	}
	s.owners.KeyValue, err = openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: streamName(subjects, "owners"), Description: "who referees which game",
		LimitMarkerTTL: markerFor, Replicas: cfg.Replicas, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return nil, err
	}
	s.ladder, err = openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: streamName(subjects, "ladder"), Description: "ratings and rounds", Replicas: cfg.Replicas, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return nil, err
	}
	s.history, err = openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: streamName(subjects, "history"), Description: "the last games of each player", Replicas: cfg.Replicas, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return nil, err
	}
	s.people, err = openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: streamName(subjects, "people"), Description: "the people that gateways act for",
		LimitMarkerTTL: markerFor, // so that single keys may expire
		Replicas:       cfg.Replicas, Storage: jetstream.FileStorage,
	})
	if err != nil {
		return nil, err
	}
	s.peopleKey, err = openPeopleKey(ctx, s.people)
	return s, err
}

// openQueue opens the queue of challenges, and creates it if it is missing.
func (s *store) openQueue(ctx context.Context) error {
	queue, err := s.challenges.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "matchmaker", AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
		// Challenges that wait for a player count as unacknowledged. With a low
		// bound they would block those behind them.
		MaxAckPending: -1,
	})
	if err != nil {
		return fmt.Errorf("consumer matchmaker of stream %s: %w", streamName(s.subjects, "challenges"), err)
	}
	s.queue = queue
	return nil
}

// queueGone reports whether a queue can't be read because somebody has removed it.
func queueGone(err error) bool {
	return errors.Is(err, jetstream.ErrConsumerDeleted) || errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, nats.ErrNoResponders)
}

// awaitStore calls open until the store has room and answers, also after a restart of
// its server, and says once what it waits for.
func awaitStore(ctx context.Context, nc *nats.Conn, log zerolog.Logger, open func(context.Context) error) error {
	for said := false; ; said = true {
		err := open(ctx)
		if denied := nc.LastError(); err != nil && errors.Is(denied, nats.ErrPermissionViolation) {
			return fmt.Errorf("this user may not do what an arena does; it needs the platform's account: %w", denied)
		}
		forming := unsettled(err)
		slow := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrReconnectBufExceeded)
		restarting := said && errors.Is(err, nats.ErrNoResponders) // at first it has no JetStream
		switch {
		case err == nil || ctx.Err() != nil || !full(err) && !slow && !restarting && !forming:
			return err
		case said:
		case full(err):
			log.Error().Err(err).Msg("no space; the arena starts when there is: " + makeRoom)
		case forming:
			log.Error().Err(err).Msg("the cluster is not ready; the arena starts when it is")
		default:
			log.Error().Err(err).Msg("the NATS server does not answer in time; the arena starts when it does")
		}
		sleep(ctx, time.Second)
	}
}

// AwaitStore calls open, which reads or writes the store, again and again until the store
// has room and answers. It is for what starts together with the arena.
func (a *Arena) AwaitStore(ctx context.Context, open func(context.Context) error) error {
	return awaitStore(ctx, a.Conn(), a.log, open)
}

// keyOfPeople is the key of the platform's [protocol.PeopleKey] in the bucket of
// people.
const keyOfPeople = "key"

// openPeopleKey reads the key that all arenas of the platform share. The first one
// creates it.
func openPeopleKey(ctx context.Context, kv jetstream.KeyValue) (key protocol.PeopleKey, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*storeWait)
	defer cancel()
	key = protocol.NewPeopleKey()
	_, err = kv.Create(ctx, keyOfPeople, key)
	for errors.Is(err, jetstream.ErrKeyExists) {
		e, getErr := kv.Get(ctx, keyOfPeople)
		switch {
		case errors.Is(getErr, jetstream.ErrKeyNotFound): // from a server of the cluster that lags
			sleep(ctx, 50*time.Millisecond)
			if ctx.Err() != nil {
				err = getErr
			}
		case getErr != nil:
			err = getErr
		default:
			key = e.Value()
			err = key.Check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s, key %s: %w", kv.Bucket(), keyOfPeople, explain(err))
	}
	return key, nil
}

// perSubject limits the challenges on one subject. Each has its own subject now;
// the number is that of the streams that older arenas created.
const perSubject = 10_000

// markerFor is how long watchers can see that a lease has expired.
const markerFor = time.Minute

// keptStreams names the streams whose content an arena can't do without: while others hold
// something, a missing one of them is not created.
func keptStreams(subjects protocol.Subjects) []string {
	return []string{streamName(subjects, "challenges"), streamName(subjects, "games"), streamName(subjects, "records"), bucketStream(subjects, "ladder")}
}

// bucketStream names the stream of a bucket.
func bucketStream(subjects protocol.Subjects, what string) string {
	return "KV_" + streamName(subjects, what)
}

// streams names all streams of the store.
func (s *store) streams() []string {
	names := keptStreams(s.subjects)
	for _, what := range []string{"leases", "owners", "history", "people"} {
		names = append(names, bucketStream(s.subjects, what))
	}
	return names
}

// complete returns an error if some of the platform's streams exist, with
// entries, and others do not: a lost stream must not be created again silently.
// The leases don't count, since they expire anyway.
func complete(ctx context.Context, js jetstream.JetStream, subjects protocol.Subjects) error {
	used, missing := "", []string{}
	for _, name := range keptStreams(subjects) {
		st, err := js.Stream(ctx, name)
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			missing = append(missing, name)
		case err != nil:
			return fmt.Errorf("stream %s: %w", name, explain(err))
		case st.CachedInfo().State.LastSeq > 0:
			used = name
		}
	}
	if used == "" || len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("missing streams: %s, while %s is there: restore them, or remove all of the platform's streams to start empty",
		strings.Join(missing, ", "), used)
}

// pairings returns the pairings of the ladder that wait in the queue.
func (s *store) pairings(ctx context.Context) (waiting []protocol.Challenge, err error) {
	for seq := uint64(1); ; seq++ {
		try, cancel := context.WithTimeout(ctx, storeWait)
		msg, err := s.challenges.GetMsg(try, seq, jetstream.WithGetMsgSubject(s.subjects.ChallengesIn(protocol.LadderPool)))
		cancel()
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return waiting, nil
		}
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", streamName(s.subjects, "challenges"), err)
		}
		var ch protocol.Challenge
		if json.Unmarshal(msg.Data, &ch) == nil && ch.Pairing {
			waiting = append(waiting, ch)
		}
		seq = msg.Sequence
	}
}

// openStream returns the stream and creates it if it is missing.
func openStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) (jetstream.Stream, error) {
	st, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if st, err = js.CreateStream(ctx, want); err == nil {
			return st, nil
		}
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another arena was faster
			st, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Name, explain(err))
	}
	have := st.CachedInfo().Config
	if err := sameStream(have, want); err != nil || !want.AllowMsgTTL || have.AllowMsgTTL {
		return st, err
	}
	have.AllowMsgTTL = true // an older arena has created it
	if st, err = js.UpdateStream(ctx, have); err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Name, explain(err))
	}
	return st, nil
}

// sameStream compares the settings that the arena depends on. Sizes, ages and
// placement are up to the operator.
func sameStream(have, want jetstream.StreamConfig) error {
	var diff []string
	differs := func(what string, have, want any) {
		if fmt.Sprint(have) != fmt.Sprint(want) {
			diff = append(diff, fmt.Sprintf("%s is %v, want %v", what, have, want))
		}
	}
	differs("subjects", have.Subjects, want.Subjects)
	differs("retention", have.Retention, want.Retention)
	differs("discard", have.Discard, want.Discard)
	differs("discard_new_per_subject", have.DiscardNewPerSubject, want.DiscardNewPerSubject)
	differs("max_msgs_per_subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	differs("storage", have.Storage, want.Storage)
	differs("allow_direct", have.AllowDirect, want.AllowDirect)
	if want.RePublish != nil {
		if have.RePublish == nil {
			have.RePublish = &jetstream.RePublish{}
		}
		differs("republish", *have.RePublish, *want.RePublish)
	}
	if diff != nil {
		return fmt.Errorf("stream %s is not as this arena needs it: %s", want.Name, strings.Join(diff, "; "))
	}
	return nil
}

// openBucket returns the bucket and creates it if it is missing.
func openBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	kv, err := js.KeyValue(ctx, want.Bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if kv, err = js.CreateKeyValue(ctx, want); errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = js.KeyValue(ctx, want.Bucket)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", want.Bucket, explain(err))
	}
	st, err := kv.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", want.Bucket, explain(err))
	}
	if st.LimitMarkerTTL() < want.LimitMarkerTTL {
		return nil, fmt.Errorf("bucket %s is not as this arena needs it: its limit marker TTL is %v, want %v", want.Bucket, st.LimitMarkerTTL(), want.LimitMarkerTTL)
	}
	if st.TTL() != want.TTL {
		return nil, fmt.Errorf("bucket %s is not as this arena needs it: its TTL is %v, want %v", want.Bucket, st.TTL(), want.TTL)
	}
	return kv, nil
}

// explain adds to an error what an operator can do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, jetstream.ErrJetStreamNotEnabled),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w (the arena needs a NATS account with JetStream)", err)
	}
	return err
}
