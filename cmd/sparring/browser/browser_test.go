// Package browser tests the page in chromium against the whole platform: a NATS
// server, an arena with the page, and bots. Without chromium the tests are skipped.
//
// world_test.go starts the platform, wire_test.go is the network before it,
// person_test.go is somebody with a browser. The other files are tests, by what
// people do.
package browser

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
)

// program is the path of the sparring binary.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	defer browser.close()
	dir, err := os.MkdirTemp("", "sparring-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	defer closeWorlds() // they have their files there
	program = filepath.Join(dir, "sparring")
	if arenatest.Chromium() != "" {
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "sparring/cmd/sparring").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// lookAtSources looks at the files that the program is made of: Go repeats a test when
// a file that it has looked at, while it ran, has changed.
func lookAtSources() error {
	return filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			_, err = os.Stat(path)
		}
		return err
	})
}

// browser is the one browser of all tests. Each person has a context of its own in it.
var browser chrome

type chrome struct {
	once   sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	err    error
}

// open starts the browser, or skips the test.
func (c *chrome) open(t testing.TB) context.Context {
	t.Helper()
	path := arenatest.Chromium()
	switch {
	case path == "":
		t.Skip(arenatest.NoChromium)
	case testing.Short():
		t.Skip("plays games in chromium")
	}
	c.once.Do(func() {
		if c.err = lookAtSources(); c.err != nil {
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
			chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("mute-audio", true), chromedp.Flag("lang", "en"),
			chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(gametest.Patience))
		if os.Getuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, closeBrowser := chromedp.NewContext(allocator)
		c.ctx, c.cancel = ctx, []context.CancelFunc{closeBrowser, stop}
		c.err = chromedp.Do(ctx)
	})
	if c.err != nil {
		t.Fatalf("chromium does not start: %v", c.err)
	}
	return c.ctx
}

func (c *chrome) close() {
	for _, cancel := range c.cancel {
		cancel()
	}
}
