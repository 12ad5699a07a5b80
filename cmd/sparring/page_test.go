package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// startUp runs up in the background until the test ends, and returns its screen.
func startUp(t *testing.T, f upFlags) *page {
	t.Helper()
	screen := newPage()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- up(ctx, screen, f, mustClock(t, f.clock)) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("up: %v", err)
			}
		case <-time.After(patience):
			t.Error("up does not end")
		}
	})
	return screen
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// taken returns an address that is in use.
func taken(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// TestUpNamesThePage: the first line begins with the page's address, which is another
// one if the usual port is in use.
func TestUpNamesThePage(t *testing.T) {
	t.Parallel()
	f := quickUp(t)
	f.http, f.anyPort = taken(t), true
	screen := startUp(t, f)
	m := screen.await(t, `^(http://127\.0\.0\.1:\d+) .*\n`, `records: `)
	url := m[1]
	if strings.HasSuffix(url, f.http) {
		t.Fatalf("%s was in use", url)
	}
	if code, body := get(t, url); code != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("the page: %d %.100s", code, body)
	}
	screen.await(t, `starts`, `records: `)
	for _, path := range []string{"/healthz", "/metrics"} {
		if code, body := get(t, url+path); code != http.StatusOK {
			t.Errorf("%s: %d %.100s", path, code, body)
		}
	}
}

// TestUpWithoutTheAddress: an address that was asked for is used, or nothing starts.
func TestUpWithoutTheAddress(t *testing.T) {
	f := quickUp(t)
	f.http = taken(t)
	if err := up(t.Context(), io.Discard, f, mustClock(t, f.clock)); err == nil || !strings.Contains(err.Error(), "--http: ") || !strings.Contains(err.Error(), "--http :8081") {
		t.Errorf("error %v, want one about --http, with advice", err)
	}
	f = quickUp(t)
	_, port, _ := strings.Cut(taken(t), ":")
	fmt.Sscan(port, &f.port)
	if err := up(t.Context(), io.Discard, f, mustClock(t, f.clock)); err == nil || !strings.Contains(err.Error(), "--port "+port+": ") || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("error %v, want one about --port, with advice", err)
	}
}

// TestPublicPage: where other machines reach the page, /healthz and /metrics have an
// address of their own.
func TestPublicPage(t *testing.T) {
	t.Parallel()
	f := quickUp(t)
	f.http = "0.0.0.0:0"
	screen := startUp(t, f)
	screen.await(t, `reach +this machine and all others`, `records: `)
	health := screen.await(t, `health +(http://127\.0\.0\.1:\d+)/healthz`, `records: `)[1]
	_, port, _ := strings.Cut(strings.TrimPrefix(screen.await(t, `^(http://\S+) `, `records: `)[1], "http://"), ":")
	screen.await(t, `starts`, `records: `)
	for _, path := range []string{"/healthz", "/metrics"} {
		if code, _ := get(t, "http://127.0.0.1:"+port+path); code != http.StatusNotFound {
			t.Errorf("the public page serves %s: %d", path, code)
		}
		if code, _ := get(t, health+path); code != http.StatusOK {
			t.Errorf("%s: %d", path, code)
		}
	}
}

// writeCertificate writes a certificate for 127.0.0.1 with a serial number.
func writeCertificate(t *testing.T, k *keyPair, serial int64) {
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
	k := &keyPair{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), log: log}
	writeCertificate(t, k, 1)
	l, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.tls = k
	address := l.Addr().String()
	end := l.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("at the disco") }), log)
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
	next := &keyPair{cert: filepath.Join(dir, "next-cert.pem"), key: filepath.Join(dir, "next-key.pem")}
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
	l, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	end := l.serve(http.NotFoundHandler(), zerolog.New(&log))
	send := func(request string) string {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go io.WriteString(c, request) // the server may stop reading
		c.SetReadDeadline(time.Now().Add(patience))
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
	if strings.Contains(strings.ReplaceAll(log.String(), l.url(), ""), "127.0.0.1") {
		t.Errorf("the log has an address: %s", log.String())
	}
}
