package external

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canMeasure reports whether the memory of a program can be limited.
const canMeasure = true

// setGroup gives a program its own process group, and has it killed when the thread
// that started it ends. Threads of the Go runtime live as long as the process, so
// nothing is left behind even if we are killed.
func setGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits for the program's end, and calls last before it frees the process id:
// until then the id of the process group can't be reused.
func reap(c *exec.Cmd, last func()) error {
	for {
		err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	last()
	return c.Wait()
}

// signalTree stops or continues a program and its children.
func signalTree(leader int, mark string, stop bool) {
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	syscall.Kill(-leader, sig) // an error means that it has ended
	for _, pid := range outsideGroup(leader, mark) {
		syscall.Kill(pid, sig)
	}
}

// killTree kills the process group, and the marked processes that have left it,
// such as daemons. It tries several times, for they may be starting others.
func killTree(leader int, mark string) {
	for range 5 {
		syscall.Kill(-leader, syscall.SIGKILL)
		strays := outsideGroup(leader, mark)
		if len(strays) == 0 {
			return
		}
		for _, pid := range strays {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// outsideGroup lists the running processes of a tree outside of its group.
func outsideGroup(leader int, mark string) (pids []int) {
	eachProcess(func(s status) {
		if s.group != leader && s.state != 'Z' && inTree(s, leader, mark) {
			pids = append(pids, s.pid)
		}
	})
	return pids
}

// hasMark reports whether a process has the mark in its environment.
func hasMark(pid int, mark string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return string(v) == mark })
}

// inTree reports whether a process is the program or was started by it: it is in
// its process group, its child, or has its mark.
func inTree(s status, leader int, mark string) bool {
	return s.group == leader || s.parent == leader || hasMark(s.pid, mark)
}

// treeMemory returns the resident memory of a program and all processes that it has
// started, in bytes.
func treeMemory(leader int, mark string) (sum int64) {
	eachProcess(func(s status) {
		if s.state != 'Z' && inTree(s, leader, mark) {
			sum += s.resident
		}
	})
	return sum
}

// status is the content of /proc/PID/stat; see proc(5).
type status struct {
	pid, parent, group int
	state              byte
	resident           int64 // bytes
}

// eachProcess calls f for all visible processes of the machine.
func eachProcess(f func(status)) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The name in parentheses may contain anything.
		i := strings.LastIndexByte(string(data), ')')
		fields := strings.Fields(string(data[i+1:]))
		if i < 0 || len(fields) < 22 {
			continue
		}
		s := status{pid: pid, state: fields[0][0]}
		s.parent, _ = strconv.Atoi(fields[1])
		s.group, _ = strconv.Atoi(fields[2])
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		s.resident = pages * int64(os.Getpagesize())
		f(s)
	}
}

// countDescendants counts the running processes that a program has started, and its
// zombies: children that it has not waited for.
func countDescendants(leader int, mark string) (running, zombies int) {
	eachProcess(func(s status) {
		switch {
		case s.pid == leader:
		case s.state == 'Z' && s.parent == leader:
			zombies++
		case s.state != 'Z' && inTree(s, leader, mark):
			running++
		}
	})
	return running, zombies
}

// processorWaits returns how long each thread of a process has been ready to run without
// a processor, by the kernel's scheduler statistics.
func processorWaits(pid int) map[string]time.Duration {
	waits := map[string]time.Duration{}
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	entries, _ := os.ReadDir(tasks) // none: it has ended
	for _, e := range entries {
		data, err := os.ReadFile(tasks + e.Name() + "/schedstat")
		if err != nil {
			continue
		}
		if fields := strings.Fields(string(data)); len(fields) == 3 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			waits[e.Name()] = time.Duration(ns)
		}
	}
	return waits
}
