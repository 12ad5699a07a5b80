package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// TestGuestLogin: what a guest needs is in a file, as long as the server runs, and its
// password neither on the screen nor in the log.
func TestGuestLogin(t *testing.T) {
	f := quickUp(t)
	f.port, f.ladder, f.levels = embedded.RandomPort, true, 1
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	screen, ended := newPage(), make(chan error, 1)
	go func() { ended <- up(ctx, screen, f, mustClock(t, f.clock)) }()
	file := screen.await(t, `(nats://.*) as user guest, with the settings in (.*)\n`, `no such text`)
	text, err := os.ReadFile(file[2])
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file[2]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	settings := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^SPARRING_NATS_([A-Z]+)=(.+)$`).FindAllStringSubmatch(string(text), -1) {
		settings[m[1]] = m[2]
	}
	if settings["URL"] != file[1] || settings["USER"] != "guest" {
		t.Errorf("settings %v", settings)
	}
	nc, err := protocol.Dial(t.Context(), protocol.Connection{URL: settings["URL"], User: settings["USER"], Password: settings["PASSWORD"], Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(filepath.Join(f.data, "sparring.log"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(screen.String()+string(log), settings["PASSWORD"]) {
		t.Error("the password is printed or logged")
	}
	if _, err := os.Stat(file[2]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file outlives the server: %v", err)
	}
}

// TestEndpointIsWhole: a command that looks for the ladder while it starts finds none or all
// of it.
func TestEndpointIsWhole(t *testing.T) {
	data := t.TempDir()
	want := endpoint{URL: "nats://127.0.0.1:4222", User: embedded.Owner, Password: "secret", Process: 1}
	var started sync.WaitGroup
	defer started.Wait()
	ended := make(chan struct{})
	started.Go(func() {
		defer close(ended)
		for range 300 {
			if _, err := writeEndpoint(data, want); err != nil {
				t.Error(err)
			}
		}
	})
	for {
		select {
		case <-ended:
			if left, err := os.ReadDir(data); err != nil || len(left) != 1 {
				t.Errorf("files %v, %v", left, err)
			}
			return
		default:
		}
		if e, ok, err := readEndpoint(data); err != nil || ok && e != want {
			t.Fatalf("read %+v, %v", e, err)
		}
	}
}
