package protocol

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"
)

// writeCreds writes the credentials of a user that expire after a time.
func writeCreds(t *testing.T, path string, after time.Duration) {
	t.Helper()
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	user, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	key, err := user.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewUserClaims(key)
	claims.Name, claims.Expires = "ann", time.Now().Add(after).Unix()
	token, err := claims.Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lineCount counts the lines of a log.
type lineCount struct{ atomic.Int32 }

func (c *lineCount) Write(line []byte) (int, error) {
	c.Add(1)
	return len(line), nil
}

// A connection that lasts for weeks is told a week before its credentials expire, every
// day until the file has new ones.
func TestExpiryIsToldInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ann.creds")
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		writeCreds(t, path, 30*day)
		var logged lineCount
		ctx, end := context.WithCancel(t.Context())
		go Connection{Creds: path}.watchExpiry(ctx, zerolog.New(&logged))
		defer synctest.Wait()
		defer end()
		said := func() int32 {
			synctest.Wait()
			return logged.Load()
		}
		time.Sleep(22*day + time.Hour)
		if n := said(); n != 0 {
			t.Errorf("said %d times, 8 days before", n)
		}
		time.Sleep(3 * day)
		if n := said(); n != 2 {
			t.Errorf("said %d times, 5 days before, want 2", n)
		}
		writeCreds(t, path, 30*day)
		time.Sleep(10 * day)
		if n := said(); n != 2 {
			t.Errorf("said %d times, want no more with new credentials", n)
		}
	})
}
