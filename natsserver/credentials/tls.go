package credentials

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// How long certificates are valid: the platform's own authority, and a server.
const (
	authorityFor   = 10 * 365 * 24 * time.Hour
	certificateFor = 2 * 365 * 24 * time.Hour
)

const (
	authorityKey    = keysDir + "/ca.key"
	certificateFile = ServerDir + "/server.pem"
	certificateKey  = ServerDir + "/server.key"
)

// newAuthority makes the certificate that the platform's servers are recognized by.
func (s *Store) newAuthority() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c, err := certificate("Sparring platform", authorityFor)
	if err != nil {
		return err
	}
	c.IsCA, c.BasicConstraintsValid, c.MaxPathLenZero = true, true, true
	c.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := s.writePEM(authorityKey, 0o600, &pem.Block{Type: privateKey, Bytes: private}); err != nil {
		return err
	}
	return s.writePEM(CAFile, 0o644, &pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// NewCertificate makes a certificate for a server that is reached by the hosts, which are
// names or addresses, and by those of its certificate before: clients refuse one that
// lacks the name by which they know the server. A running server takes it when it is
// reloaded.
func (s *Store) NewCertificate(hosts []string) error {
	if len(hosts) == 0 {
		return errors.New("a certificate needs a host")
	}
	hosts = slices.Clone(hosts)
	for _, h := range s.certified() {
		if !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	authority, err := s.readCertificate(CAFile)
	if err != nil {
		return err
	}
	signer, err := s.readKey(authorityKey)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	c, err := certificate(hosts[0], certificateFor)
	if err != nil {
		return err
	}
	if c.NotAfter.After(authority.NotAfter) {
		c.NotAfter = authority.NotAfter
	}
	c.KeyUsage = x509.KeyUsageDigitalSignature
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} // the latter for routes of a cluster
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, authority, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return s.writePEM(certificateFile, 0o600, &pem.Block{Type: "CERTIFICATE", Bytes: der}, &pem.Block{Type: privateKey, Bytes: private})
}

// CheckHost returns an error unless h is a name or an address. A URL, or a port, as clients
// have them, would become a name that no client asks for.
func CheckHost(h string) error {
	if net.ParseIP(h) != nil {
		return nil
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(h, "."), ".") {
		part := func(c rune) bool {
			return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '*'
		}
		if label == "" || strings.ContainsFunc(label, func(c rune) bool { return !part(c) }) {
			return fmt.Errorf("host %.80q: want a name such as nats.example.org, or an address, without scheme and port", h)
		}
	}
	return nil
}

// certified returns the hosts of the server's certificate, none if it is missing or can't be
// read.
func (s *Store) certified() (hosts []string) {
	c, err := s.readCertificate(certificateFile)
	if err != nil {
		return nil
	}
	hosts = slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}

// CertificateExpires returns when the server's certificate does.
func (s *Store) CertificateExpires() (time.Time, error) {
	c, err := s.readCertificate(certificateFile)
	if err != nil {
		return time.Time{}, err
	}
	return c.NotAfter, nil
}

// clockSkew is how far the clock of a client may be behind.
const clockSkew = time.Hour

func certificate(name string, valid time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-clockSkew), NotAfter: now.Add(valid)}, nil
}

// privateKey is the type of a PEM block with a private key.
const privateKey = "PRIVATE KEY"

func (s *Store) writePEM(name string, mode os.FileMode, blocks ...*pem.Block) error {
	var data []byte
	for _, b := range blocks {
		data = append(data, pem.EncodeToMemory(b)...)
	}
	return writeFile(s.Path(name), data, mode)
}

func (s *Store) readPEM(name string) ([]byte, error) {
	data, err := os.ReadFile(s.Path(name))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s: not in PEM", s.Path(name))
	}
	return block.Bytes, nil
}

func (s *Store) readCertificate(name string) (*x509.Certificate, error) {
	der, err := s.readPEM(name)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func (s *Store) readKey(name string) (*ecdsa.PrivateKey, error) {
	der, err := s.readPEM(name)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: not a key of this program", s.Path(name))
	}
	return private, nil
}
