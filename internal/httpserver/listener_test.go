package httpserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sparring/game/gametest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// writeCertificate writes a certificate for 127.0.0.1 with a serial number.
func writeCertificate(t *testing.T, k *KeyPair, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{k.key: {Type: "PRIVATE KEY", Bytes: private}, k.cert: {Type: "CERTIFICATE", Bytes: cert}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1e9+serial, 0) // file systems may have coarse times
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRenewedCertificate: a certificate that is replaced is used without a restart,
// and a damaged one is not. The addresses of visitors are not logged.
func TestRenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	var logged bytes.Buffer
	log := zerolog.New(zerolog.SyncWriter(&logged))
	k := &KeyPair{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), log: log}
	writeCertificate(t, k, 1)
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Certificate = k
	address := l.Addr().String()
	end := l.Serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("at the disco") }), log)
	serial := func() int64 {
		t.Helper()
		c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("serial number %d, want 1", n)
	}
	writeCertificate(t, k, 2)
	if n := serial(); n != 2 {
		t.Errorf("serial number %d, want 2", n)
	}
	// One of the two files is replaced before the other, and somebody comes in between.
	next := &KeyPair{cert: filepath.Join(dir, "next-cert.pem"), key: filepath.Join(dir, "next-key.pem")}
	writeCertificate(t, next, 3)
	for i, path := range [][2]string{{next.cert, k.cert}, {next.key, k.key}} {
		if err := os.Rename(path[0], path[1]); err != nil {
			t.Fatal(err)
		}
		if n, want := serial(), int64(2+i); n != want {
			t.Errorf("serial number %d after %d of two files, want %d", n, i+1, want)
		}
	}
	if err := os.WriteFile(k.cert, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if n := serial(); n != 3 {
			t.Errorf("serial number %d, want 3", n)
		}
	}
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: test\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, c) // until the server closes it
	end()
	text := logged.String()
	if strings.Count(text, "keeping the old one") != 2 || !strings.Contains(text, "at the disco") {
		t.Errorf("log:\n%s", text)
	}
	if own := c.LocalAddr().String(); strings.Contains(text, own) {
		t.Errorf("the log has the visitor's address %s:\n%s", own, text)
	}
}

// TestServerBoundsRequests: huge headers are refused, and headers that never end
// are cut off.
func TestServerBoundsRequests(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.headersWithin = 5 * time.Second
	var log bytes.Buffer
	end := l.Serve(http.NotFoundHandler(), zerolog.New(&log))
	send := func(request string) string {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go io.WriteString(c, request) // the server may stop reading
		c.SetReadDeadline(time.Now().Add(gametest.Patience))
		answer, err := io.ReadAll(c)
		if err != nil && len(answer) == 0 && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%.30q: %v", request, err)
		}
		return string(answer)
	}
	if a := send("GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"); !strings.HasPrefix(a, "HTTP/1.1 431") {
		t.Errorf("a huge header: %.80q", a)
	}
	if a := send("GET / HTTP/1.1\r\nHost: a\r\n"); a != "" && !strings.HasPrefix(a, "HTTP/1.1 4") {
		t.Errorf("half a header: %.80q", a)
	}
	end()
	if strings.Contains(strings.ReplaceAll(log.String(), l.URL(), ""), "127.0.0.1") {
		t.Errorf("the log has an address: %s", log.String())
	}
}
