package protocol

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
)

// PeoplePrefix begins the ids of the people that a platform's gateways act for.
// Nobody else may use such an id: see [PeopleKey].
const PeoplePrefix = "human-"

// Person reports whether the id is that of a person for whom a gateway acts.
func (p PlayerID) Person() bool { return strings.HasPrefix(string(p), PeoplePrefix) }

// PeopleKey is a secret of the platform, by which it recognizes its own gateways.
// Each request in the name of a person has a proof, in the NATS header
// [ProofHeader], that its sender has the key. People need no users in NATS
// then, and another player can't act for them even if its permissions were to
// allow it.
type PeopleKey []byte

// ProofHeader is the NATS header with the proof.
const ProofHeader = "Sparring-Proof"

// NewPeopleKey returns a random key.
func NewPeopleKey() PeopleKey {
	key := make(PeopleKey, keySize)
	rand.Read(key) // never fails since Go 1.24
	return key
}

const keySize = 32

// Check returns an error if the key is too short to be one.
func (k PeopleKey) Check() error {
	if len(k) != keySize {
		return errors.New("people's key: want 32 bytes")
	}
	return nil
}

// Header returns the header of each request in the name of a person.
func (k PeopleKey) Header(p PlayerID) nats.Header { return nats.Header{ProofHeader: {k.proof(p)}} }

// proof returns the value of the header for a player.
func (k PeopleKey) proof(p PlayerID) string { return k.mac(string(p)) }

// secret returns the secret in the hello of a person.
func (k PeopleKey) secret(p PlayerID) string { return k.mac("secret of " + string(p)) }

func (k PeopleKey) mac(text string) string {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// admits reports whether a message may act for a player.
func (k PeopleKey) admits(p PlayerID, msg *nats.Msg) bool {
	return !p.Person() || len(k) > 0 && hmac.Equal([]byte(k.proof(p)), []byte(msg.Header.Get(ProofHeader)))
}
