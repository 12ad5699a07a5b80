// Package network tests in chromium what becomes of a game on a bad network, and where the platform is restarted.
package network

import (
	"os"
	"testing"

	"sparring/arena/web/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
