// Package browser lets tests play in chromium against the whole platform: a NATS server, an arena
// with the page, and bots. Without chromium the tests are skipped.
//
// world.go starts the platform, wire.go is the network before it, person.go is somebody with a
// browser, and friends.go are two of them in a game. The tests are in the folders below, so that
// they run side by side: what people do in their games, what becomes of that on a bad network,
// and what the screens look like and how they are read.
package browser

import (
	"context"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
)

// root is the path of the repository's root from the folders of the tests.
const root = "../../../.."

// files is the folder of this run.
var files string

// Main runs the tests of a package, and ends what they have shared.
func Main(m *testing.M) int {
	var err error
	if files, err = os.MkdirTemp("", "sparring-browser-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(files)
	defer closeWorlds() // they have their files there
	defer browser.close()
	return m.Run()
}

// build makes the sparring binary, once: unlike go build, go run keeps what it has linked for the
// other packages, and for the next time.
var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(files, "sparring")
	if out, err := exec.Command("go", "run", "-exec", "cp", "sparring/cmd/sparring", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go run: %w\n%s", err, out)
	}
	return path, nil
})

// Program returns the path of the sparring binary.
func Program(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Needed skips the test without a browser.
func Needed(t testing.TB) {
	t.Helper()
	if arenatest.Chromium() == "" {
		t.Skip(arenatest.NoChromium)
	}
}

// NeededLong skips the test without a browser, and among the short ones.
func NeededLong(t testing.TB) {
	t.Helper()
	Needed(t)
	if testing.Short() {
		t.Skip("of the tests in chromium only games.TestFirstGame is short")
	}
}

// lookAtSources looks at the files that the program is made of: Go repeats a test when
// a file that it has looked at, while it ran, has changed.
func lookAtSources() error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' && path != root {
			return fs.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			_, err = os.Stat(path)
		}
		return err
	})
}

// browser is the one browser of a package's tests. Each person has a context of its own in it.
var browser chrome

type chrome struct {
	once   sync.Once
	ctx    context.Context
	cancel []context.CancelFunc
	empty  *httptest.Server // has the page that nobody looks at
	err    error
}

// open starts the browser, or skips the test.
func (c *chrome) open(t testing.TB) context.Context {
	t.Helper()
	Needed(t)
	c.once.Do(func() { c.err = c.start() })
	if c.err != nil {
		t.Fatalf("chromium does not start: %v", c.err)
	}
	return c.ctx
}

func (c *chrome) start() error {
	if err := lookAtSources(); err != nil {
		return err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(arenatest.Chromium()), chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("mute-audio", true), chromedp.Flag("lang", "en"),
		chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(gametest.Patience))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	c.empty = serveEmpty()
	c.ctx, c.cancel = ctx, []context.CancelFunc{closeBrowser, stop, c.empty.Close}
	return chromedp.Do(ctx)
}

func (c *chrome) close() {
	for _, cancel := range c.cancel {
		cancel()
	}
}
