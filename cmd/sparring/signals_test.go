package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sparring/game/gametest"
	"sparring/natsserver/embedded"
)

// A bot process that is told to end while it opens its books and tables ends when it has.
func TestSignalBeforeTheStart(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	for name, value := range map[string]string{"NATS_URL": srv.URL(), "NATS_PASSWORD": srv.Password("bots"), "DATA": t.TempDir(),
		"PLAYERS": "amazons-hare:amazons", "HASH_MB": "8", "ANALYSES": "0"} {
		t.Setenv("SPARRING_"+name, value)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as the signal does
	c := botCommand()
	c.SetArgs([]string{}) // and not those of the test
	c.SetErr(io.Discard)
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(gametest.Patience):
		t.Fatal("the signal was lost")
	}
}

// A command that can't be ended while it waits for a FIFO, to which nobody writes, ends by
// the second signal.
func TestSecondSignal(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "games")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Skipf("this system makes no FIFO: %v %s", err, out)
	}
	cmd := exec.Command("sparring", "records", "import", fifo, "--data", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	gametest.Eventually(t, "the command to open the FIFO", func() bool {
		w, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			t.Cleanup(func() { w.Close() })
		}
		return err == nil
	})
	for end := time.Now().Add(gametest.Patience); time.Now().Before(end); {
		cmd.Process.Signal(syscall.SIGTERM) // a shell lets its background processes ignore the one of Ctrl-C
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
	cmd.Process.Kill()
	t.Error("it does not end")
}
