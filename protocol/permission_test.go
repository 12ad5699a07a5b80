package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"sparring/natsserver/credentials/credentialstest"
	"sparring/natsserver/natsconf"
	"sparring/protocol"
)

// The server enforces the permissions of configs/nats.conf.
func TestPermissions(t *testing.T) {
	w := newWire(t)
	w.permissions(t, w.Player)
}

// A server with credentials signed by an operator enforces the same.
func TestPermissionsOfCredentials(t *testing.T) {
	srv := credentialstest.Start(t, "alice", "bob")
	newWire(t).permissions(t, func(user string) protocol.Connection {
		switch user {
		case "bots":
			user = credentialstest.Fleet
		case "watch":
			user = credentialstest.Spectator
		}
		return srv.Player(user)
	})
}

// permissions checks what the users of a server may do.
func (w *wire) permissions(t *testing.T, user func(string) protocol.Connection) {
	publish := func(subject string) func(*nats.Conn) error {
		return func(nc *nats.Conn) error { return nc.Publish(subject, nil) }
	}
	subscribe := func(subject, queue string) func(*nats.Conn) error {
		return func(nc *nats.Conn) error { _, err := nc.QueueSubscribe(subject, queue, func(*nats.Msg) {}); return err }
	}
	for _, c := range []struct {
		what    string
		user    string
		do      func(*nats.Conn) error
		allowed bool
	}{
		{"speak for oneself", "alice", publish("sparring.play.alice.hello"), true},
		{"move for oneself", "alice", publish("sparring.play.alice.game.g1.move"), true},
		{"speak for another", "alice", publish("sparring.play.bob.hello"), false},
		{"move for another", "alice", publish("sparring.play.bob.game.g1.move"), false},
		{"forge a state", "alice", publish("sparring.to.bob.game.g1"), false},
		{"forge a state for oneself", "alice", publish("sparring.to.alice.game.g1"), false},
		{"forge an offer", "alice", publish("sparring.offer.player.bob"), false},
		{"write a log", "alice", publish("sparring.game.g1.log"), false},
		{"write to spectators", "alice", publish("sparring.watch.g1"), false},
		{"store a challenge", "alice", publish("sparring.challenge.g4kq.gomoku.blitz"), false},
		{"ask JetStream", "alice", publish("$JS.API.INFO"), false},
		{"acknowledge for others", "alice", publish("$JS.ACK.S.C.1.1.1.1.1"), false},

		{"receive own games", "alice", subscribe("sparring.to.alice.>", ""), true},
		{"receive another's games", "alice", subscribe("sparring.to.bob.>", ""), false},
		{"receive everybody's games", "alice", subscribe("sparring.to.>", ""), false},
		{"receive another's answers", "alice", subscribe("_INBOX_bob.>", ""), false},
		{"receive all answers", "alice", subscribe("_INBOX.>", ""), false},
		{"receive everything", "alice", subscribe(">", ""), false},
		{"receive another's requests", "alice", subscribe("sparring.play.bob.>", ""), false},
		{"watch", "alice", subscribe("sparring.watch.*", ""), true},
		{"take part in a pool", "alice", subscribe("sparring.offer.gomoku.blitz", "bots"), true},
		{"take part in one's own pool", "alice", subscribe("sparring.offer.player.alice", "bots"), true},
		{"take part in another's pool", "alice", subscribe("sparring.offer.player.bob", "bots"), false},
		{"listen in on a pool", "alice", subscribe("sparring.offer.gomoku.blitz", ""), false},
		{"take part in a group of one's own", "alice", subscribe("sparring.offer.gomoku.blitz", "mine"), false},
		{"listen in on all pools", "alice", subscribe("sparring.offer.>", "bots"), false},

		{"ask for an analysis", "alice", publish("sparring.analyse.xiangqi"), false},
		{"cancel an analysis", "alice", publish("sparring.analyse.xiangqi.r1"), false},
		{"analyse without being an analyst", "alice", subscribe("sparring.analyse.xiangqi", "analysts"), false},

		{"ask the fleet", "alice", publish("sparring.fleet.report"), false},
		{"pause a bot", "alice", publish("sparring.fleet.bot.one.pause"), false},
		{"abort a game", "alice", publish("sparring.fleet.game.g1.abort"), false},
		{"look for services", "alice", publish("$SRV.PING"), false},
		{"answer for the fleet", "alice", subscribe("sparring.fleet.report", ""), false},
		{"answer for a bot", "alice", subscribe("sparring.fleet.bot.one.pause", ""), false},
		{"be a service", "alice", subscribe("$SRV.PING", ""), false},

		{"fleet: answer the operator", "bots", subscribe("sparring.fleet.report", ""), true},
		{"fleet: obey the operator", "bots", subscribe("sparring.fleet.bot.one.pause", ""), true},
		{"fleet: be a service", "bots", subscribe("$SRV.STATS.sparring-bot.x", ""), true},
		{"fleet: command others", "bots", publish("sparring.fleet.bot.two.pause"), false},
		{"fleet: abort a game", "bots", publish("sparring.fleet.game.g1.abort"), false},
		{"fleet: analyse", "bots", subscribe("sparring.analyse.xiangqi", "analysts"), true},
		{"fleet: hear cancellations", "bots", subscribe("sparring.analyse.xiangqi.r1", "analysts"), true},
		{"fleet: listen in on analyses", "bots", subscribe("sparring.analyse.xiangqi", ""), false},
		{"fleet: ask for an analysis", "bots", publish("sparring.analyse.xiangqi"), false},
		{"fleet: speak for a player", "bots", publish("sparring.play.xiangqi-hare.hello"), true},
		{"fleet: receive a player's games", "bots", subscribe("sparring.to.amazons-tortoise.game.g1", ""), true},
		{"fleet: speak for others", "bots", publish("sparring.play.alice.hello"), false},
		{"fleet: speak for a name like its own", "bots", publish("sparring.play.xiangqi-hare2.hello"), false},

		{"spectator: watch", "watch", subscribe("sparring.watch.>", ""), true},
		{"spectator: watch each", "watch", subscribe("sparring.watch.*", ""), true},
		{"spectator: ask the fleet", "watch", publish("sparring.fleet.report"), false},
		{"spectator: listen in on the fleet", "watch", subscribe("sparring.fleet.>", ""), false},
		{"spectator: publish", "watch", publish("sparring.watch.g1"), false},
		{"spectator: speak for a player", "watch", publish("sparring.play.alice.hello"), false},
		{"spectator: receive a player's games", "watch", subscribe("sparring.to.alice.>", ""), false},
		{"spectator: receive answers", "watch", subscribe("_INBOX.>", ""), false},
	} {
		t.Run(c.what, func(t *testing.T) {
			nc := w.connect(user(c.user))
			refusals := make(chan error, 2)
			nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refusals <- err })
			w.must(c.do(nc), nc)
			// Nobody may publish this. Refusals arrive in order, so an allowed action
			// has none before it.
			w.must(nc.Publish("forbidden", nil), nc)
			select {
			case err := <-refusals:
				if allowed := strings.Contains(err.Error(), `"forbidden"`); allowed != c.allowed || !errors.Is(err, nats.ErrPermissionViolation) {
					t.Errorf("allowed %v: %v", allowed, err)
				}
			case <-w.ctx.Done():
				t.Error("nothing was refused")
			}
		})
	}
}

// A player can't fill the server's memory with subscriptions, on a server with nats.conf and on
// one with credentials.
func TestSubscriptionLimit(t *testing.T) {
	accounts, err := natsconf.Accounts()
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(t)
	signed := credentialstest.Start(t, "alice")
	for _, c := range []struct {
		what, account string
		user          protocol.Connection
	}{
		{"a player", "PLAYERS", w.Player("alice")},
		{"a spectator", "WATCH", w.Player("watch")},
		{"a player with credentials", "PLAYERS", signed.Player("alice")},
		{"a spectator with credentials", "WATCH", signed.Player(credentialstest.Spectator)},
	} {
		most := accounts[c.account].MaxSubs
		if most == 0 || accounts[c.account].MaxConn == 0 {
			t.Fatalf("%s has no limits", c.account)
		}
		nc := w.connect(c.user)
		refusals := make(chan error, 2)
		nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refusals <- err })
		watch := func(n int) {
			t.Helper()
			_, err := nc.ChanSubscribe(fmt.Sprintf("sparring.watch.g%d", n), make(chan *nats.Msg))
			w.must(err)
		}
		for n := range most {
			watch(n)
		}
		w.must(nil, nc)
		select {
		case err := <-refusals:
			t.Fatalf("%s, %d subscriptions: %v", c.what, most, err)
		default:
		}
		watch(most)
		select {
		case err := <-refusals:
			if !errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
				t.Errorf("%s: %v", c.what, err)
			}
		case <-w.ctx.Done():
			t.Fatalf("%s: one subscription more is not refused", c.what)
		}
		nc.Close()
	}
}

// The connections of players and spectators leave a server that may open 8,192 files, as
// docs/operating.md wants, half of them for its store: without, it could store nothing.
func TestConnectionsLeaveFilesForTheStore(t *testing.T) {
	accounts, err := natsconf.Accounts()
	if err != nil {
		t.Fatal(err)
	}
	players, spectators := accounts["PLAYERS"].MaxConn, accounts["WATCH"].MaxConn
	if players == 0 || spectators == 0 || players+spectators > 8192/2 {
		t.Errorf("%d connections of players and %d of spectators, want limits of %d together", players, spectators, 8192/2)
	}
}
