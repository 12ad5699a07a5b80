// Package screens tests in chromium what the screens look like, and how they are read and worked with.
package screens

import (
	"os"
	"testing"

	"sparring/arena/web/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
