package external

import (
	"fmt"
	"os"
	"os/signal"
	"time"

	"sparring/pipe/external/faultyengine"
)

// beParent starts an engine, prints its process id, and neither ends it nor itself, not
// even at Ctrl-C.
func beParent() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	p, err := start(command{path: self, args: []string{"broken", faultyengine.Deaf}})
	if err != nil {
		panic(err)
	}
	fmt.Println(p.cmd.Process.Pid)
	time.Sleep(time.Minute)
}
