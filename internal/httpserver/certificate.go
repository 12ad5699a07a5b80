package httpserver

import (
	"crypto/tls"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// KeyPair is a TLS certificate in files, which are renewed while the server runs.
type KeyPair struct {
	cert, key string
	log       zerolog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	tried  [2]time.Time // when certificate and key had been changed that were last read
}

// NewKeyPair returns the certificate and key in these files, which are read when they are wanted.
func NewKeyPair(cert, key string, log zerolog.Logger) *KeyPair {
	return &KeyPair{cert: cert, key: key, log: log}
}

// get returns the certificate, for tls.Config. While the files can't be read, or only
// one of them is replaced yet, the last one stays.
func (k *KeyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var changed [2]time.Time
	var err error
	for i, path := range []string{k.cert, k.key} {
		info, failed := os.Stat(path)
		if failed == nil {
			changed[i] = info.ModTime()
		}
		err = errors.Join(err, failed)
	}
	if k.loaded != nil && changed[0].Equal(k.tried[0]) && changed[1].Equal(k.tried[1]) {
		return k.loaded, nil
	}
	k.tried = changed
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(k.cert, k.key)
	}
	switch {
	case err == nil:
		k.loaded = &pair
	case k.loaded == nil:
		return nil, err
	default:
		k.log.Warn().Err(err).Msg("the page's new certificate can't be read; keeping the old one")
	}
	return k.loaded, nil
}
