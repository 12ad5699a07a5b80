package browser

import "testing"

func TestPageOpens(t *testing.T) {
	w := newWorld(t)
	for _, d := range []device{phone, desktop} {
		p := w.person("visitor", d)
		p.open("/")
		p.see("h1, main")
	}
}
