package external

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sparring/engine/search"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
)

// TestProcessTree: the memory of a child in its own session counts as the program's,
// and it is suspended with it.
func TestProcessTree(t *testing.T) {
	e := openFaulty(t, faultyengine.Fork)
	g := play(t, e)
	if r := find(t, g, newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1}); r.Err != nil {
		t.Fatal(r.Err)
	}
	p := g.current().program
	leader := p.cmd.Process.Pid
	child := status{}
	look := func() {
		eachProcess(func(s status) {
			if s.parent == leader {
				child = s
			}
		})
	}
	gametest.Eventually(t, "a child in a session of its own", func() bool {
		look()
		return child.pid != 0 && child.group == child.pid && child.resident > 0
	})
	var alone int64
	eachProcess(func(s status) {
		if s.group == leader {
			alone += s.resident
		}
	})
	if used := treeMemory(leader, p.mark); used <= alone {
		t.Errorf("%d bytes, of which the program has %d and its child %d", used, alone, child.resident)
	}
	for _, on := range []bool{true, false} {
		p.suspend(on)
		gametest.Eventually(t, fmt.Sprintf("its child's state after suspend(%v)", on), func() bool {
			look()
			return (child.state == 'T') == on
		})
	}
}

// TestCtrlCAndKill: Ctrl-C at our terminal does not reach an engine, which ends when we
// are killed.
func TestCtrlCAndKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self, "parent")
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its group is that of a terminal
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	defer parent.Process.Kill()
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	runs := func() (yes bool) {
		eachProcess(func(s status) { yes = yes || s.pid == pid && s.state != 'Z' })
		return yes
	}
	if err := syscall.Kill(-parent.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // in which the signal would have ended it
	if !runs() {
		t.Error("Ctrl-C has ended the engine")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the engine's end", func() bool { return !runs() })
}

// TestProcessorWaits: of two threads that compute on one processor, each waits for the
// other.
func TestProcessorWaits(t *testing.T) {
	if len(processorWaits(os.Getpid())) == 0 {
		t.Skip("this kernel keeps no statistics")
	}
	var allowed, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	const enough = 50 * time.Millisecond
	var seen atomic.Bool
	stop := make(chan struct{})
	var spinning sync.WaitGroup
	for range 2 {
		spinning.Go(func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			if err := unix.SchedSetaffinity(0, &one); err != nil {
				t.Error(err)
			}
			id := strconv.Itoa(unix.Gettid())
			before := processorWaits(os.Getpid())[id]
			for rounds := 0; ; rounds++ {
				select {
				case <-stop:
					return
				default:
				}
				// To read is mostly to be in the kernel, so seldom.
				if rounds%100_000 == 0 && processorWaits(os.Getpid())[id]-before > enough {
					seen.Store(true)
				}
			}
		})
	}
	// A machine may give the process so little time that they hardly meet for a while.
	defer spinning.Wait()
	defer close(stop)
	gametest.Eventually(t, "one of the threads to wait", seen.Load)
}
