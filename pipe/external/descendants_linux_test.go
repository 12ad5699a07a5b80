package external

import (
	"os"
	"strconv"
	"strings"
)

// descendants returns the processes below one, and those that an engine has started
// and that have another parent now.
func descendants(root int) (pids []int) {
	below := map[int]bool{root: true}
	for grown := true; grown; {
		grown = false
		eachProcess(func(s status) {
			if below[s.parent] && !below[s.pid] {
				below[s.pid], grown = true, true
			}
		})
	}
	delete(below, root)
	self, _ := os.Executable()
	eachProcess(func(s status) {
		cmd, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/cmdline")
		if err == nil && strings.HasPrefix(string(cmd), self+"\x00broken") {
			below[s.pid] = true
		}
	})
	for pid := range below {
		pids = append(pids, pid)
	}
	return pids
}
