package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
)

// A server can start on the data of another: after a clean stop, and after a crash
// (with a copy of the directory taken while it runs).
func TestSoundStores(t *testing.T) {
	type use func(t *testing.T, ctx context.Context, js jetstream.JetStream)
	publish := func(t *testing.T, ctx context.Context, js jetstream.JetStream, n int) {
		t.Helper()
		for i := range n {
			if _, err := js.Publish(ctx, fmt.Sprintf("s.%d", i%5), make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	stream := func(t *testing.T, ctx context.Context, js jetstream.JetStream, c jetstream.StreamConfig) jetstream.Stream {
		t.Helper()
		c.Name, c.Subjects = "S", []string{"s.*"}
		st, err := js.CreateOrUpdateStream(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	for name, f := range map[string]use{
		"empty": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			stream(t, ctx, js, jetstream.StreamConfig{})
		},
		"several blocks": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			stream(t, ctx, js, jetstream.StreamConfig{MaxBytes: 40 << 20, Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1 << 20})
			publish(t, ctx, js, 12000)
		},
		"old ones discarded": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			stream(t, ctx, js, jetstream.StreamConfig{MaxMsgs: 10})
			publish(t, ctx, js, 500)
		},
		"purged": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			st := stream(t, ctx, js, jetstream.StreamConfig{})
			publish(t, ctx, js, 100)
			if err := st.Purge(ctx); err != nil {
				t.Fatal(err)
			}
		},
		"one subject purged": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			st := stream(t, ctx, js, jetstream.StreamConfig{})
			publish(t, ctx, js, 100)
			if err := st.Purge(ctx, jetstream.WithPurgeSubject("s.4")); err != nil {
				t.Fatal(err)
			}
		},
		"queue worked off": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			st := stream(t, ctx, js, jetstream.StreamConfig{Retention: jetstream.WorkQueuePolicy})
			publish(t, ctx, js, 50)
			c, err := st.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy})
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				m, err := c.Next(jetstream.FetchMaxWait(5 * time.Second))
				if err != nil {
					t.Fatal(err)
				}
				if err := m.DoubleAck(ctx); err != nil {
					t.Fatal(err)
				}
			}
		},
		"expired": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "lease", TTL: time.Second, LimitMarkerTTL: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			w, err := kv.WatchAll(ctx, jetstream.UpdatesOnly())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if _, err := kv.Put(ctx, "g1", nil); err != nil {
				t.Fatal(err)
			}
			for e := range w.Updates() {
				if e.Key() == "g1" && e.Operation() != jetstream.KeyValuePut {
					break // the marker of its expiry
				}
			}
			if _, err := kv.Put(ctx, "g2", nil); err != nil {
				t.Fatal(err)
			}
		},
		"compressed": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			stream(t, ctx, js, jetstream.StreamConfig{Compression: jetstream.S2Compression})
			publish(t, ctx, js, 300)
		},
		"kept in memory": func(t *testing.T, ctx context.Context, js jetstream.JetStream) {
			stream(t, ctx, js, jetstream.StreamConfig{Storage: jetstream.MemoryStorage})
			publish(t, ctx, js, 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := gametest.Context(t)
			dir := t.TempDir()
			// The second round crashes with a summary that is out of date.
			for round := range 2 {
				crashed := filepath.Join(t.TempDir(), "copy")
				var before map[string]uint64
				serve(t, "running", dir, func(js jetstream.JetStream) {
					f(t, ctx, js)
					before = ends(t, ctx, js)
					if err := os.CopyFS(crashed, os.DirFS(dir)); err != nil {
						t.Fatal(err)
					}
				})
				for how, dir := range map[string]string{"stopped": dir, "crashed": crashed} {
					serve(t, how, dir, func(js jetstream.JetStream) {
						after := ends(t, ctx, js)
						for stream, end := range before {
							now, kept := after[stream]
							lost := !kept || now < end
							// What has expired since then leaves a marker at the end.
							if lost != (name == "kept in memory") || now > end && name != "expired" {
								t.Errorf("round %d, %s: the streams end at %v, did at %v", round, how, after, before)
							}
						}
					})
				}
			}
		})
	}
}

// serve runs a server on the directory while f runs.
func serve(t *testing.T, how, dir string, f func(js jetstream.JetStream)) {
	t.Helper()
	srv, err := Start(Config{Dir: dir, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel)})
	if err != nil {
		t.Fatalf("%s: %v", how, err)
	}
	defer srv.Close()
	js, err := jetstream.New(connect(t, srv.Platform()))
	if err != nil {
		t.Fatal(err)
	}
	f(js)
}

// ends returns the last sequences of all streams.
func ends(t *testing.T, ctx context.Context, js jetstream.JetStream) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	list := js.ListStreams(ctx)
	for info := range list.Info() {
		out[info.Config.Name] = info.State.LastSeq
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
