package arenatest

import "os/exec"

// Chromium returns the path of the browser that tests of the page start; "" if there is
// none. The headless shell is preferred: chromium itself draws windows that nobody sees,
// for a third of the processor's time.
func Chromium() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// NoChromium is why a test without a browser is skipped.
const NoChromium = "no chromium; on Debian: apt-get install chromium-headless-shell"
