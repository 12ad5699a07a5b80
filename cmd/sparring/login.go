package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// login is how a player in another process reaches a server. Its file, which only the
// owner can read, has the settings that commands take from the environment, so that a
// password need not be printed, nor stand in a command line.
type login struct{ url, user, password string }

// loginFile is the file for a user of the server that a process runs with its data.
func loginFile(data, user string) string { return filepath.Join(data, user+".env") }

// write writes the file. The function returned removes it.
func (l login) write(path string) (remove func(), err error) {
	text := fmt.Sprintf("SPARRING_NATS_URL=%s\nSPARRING_NATS_USER=%s\nSPARRING_NATS_PASSWORD=%s\n", l.url, l.user, l.password)
	if err := writeSecret(path, []byte(text)); err != nil {
		return nil, err
	}
	return func() { os.Remove(path) }, nil // a stale file does no harm
}

// writeSecret writes a file that only its owner can read, whatever was there before.
func writeSecret(path string, text []byte) error {
	// Of a process that was killed, perhaps with other permissions.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
