package protocol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nats-io/jwt/v2"
)

// Creds is what a .creds file says of its user.
type Creds struct {
	User    string
	Expires time.Time // zero: never
}

// ErrCreds is wrapped by the errors of a .creds file that can't be used. The message names
// the file.
var ErrCreds = errors.New("these credentials can't be used")

// ReadCreds reads a .creds file. It returns an error if that is missing, is no such file,
// or has expired.
func ReadCreds(path string) (Creds, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Creds{}, fmt.Errorf("%s: there is no such file: %w", path, ErrCreds)
	}
	if err != nil {
		return Creds{}, fmt.Errorf("%w: %w", err, ErrCreds)
	}
	token, err := jwt.ParseDecoratedJWT(data)
	if err != nil {
		return Creds{}, fmt.Errorf("%s: not a .creds file: %w", path, ErrCreds)
	}
	claims, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return Creds{}, fmt.Errorf("%s: not a .creds file: %w", path, ErrCreds)
	}
	key, err := jwt.ParseDecoratedUserNKey(data)
	if err != nil {
		return Creds{}, fmt.Errorf("%s: its private key is missing: %w", path, ErrCreds)
	}
	key.Wipe()
	c := Creds{User: claims.Name}
	if claims.Expires > 0 {
		c.Expires = time.Unix(claims.Expires, 0)
	}
	if !c.Expires.IsZero() && !time.Now().Before(c.Expires) {
		return c, fmt.Errorf("%s: the credentials of %q expired on %s: %w", path, c.User, c.Expires.UTC().Format(time.DateTime+" MST"), ErrCreds)
	}
	return c, nil
}

// expiresSoon is from when on before its end the log warns of credentials that expire.
const expiresSoon = 7 * 24 * time.Hour
