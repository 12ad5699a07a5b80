// Package games tests in chromium what people do in their games.
package games

import (
	"os"
	"testing"

	"sparring/arena/web/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
