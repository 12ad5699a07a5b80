package gametest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// given are the ports that FreePort returned in this process.
var given sync.Map

// FreePort returns a port of 127.0.0.1 on which nobody listens, for a server that a test stops
// and starts again. Systems give no such port to whoever asks for any port or connects
// (Linux gives 32768 and above, others 49152), so that nobody takes it in between.
func FreePort(t testing.TB) int {
	t.Helper()
	var err error
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		if _, again := given.LoadOrStore(port, true); again {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no free port:", err)
	return 0
}
