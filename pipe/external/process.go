package external

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sparring/engine"
)

// process is a running program with all processes that it has started. Its output
// is always read, so that it never blocks on us, and writing to it has a timeout.
type process struct {
	cmd   *exec.Cmd
	mark  string                     // in the environment of all that it starts
	in    *os.File                   // its standard input
	inbox *inbox                     // its standard output
	errs  *tail                      // the end of its standard error
	tap   atomic.Pointer[func(Line)] // is called with every line, if set

	left int           // processes that it left behind; valid after gone
	gone chan struct{} // closed when it has ended, was reaped and its output was read
	exit error         // of exec.Cmd.Wait; valid after gone

	mu     sync.Mutex
	why    *engine.Fault // why it was killed
	sent   string        // the last line sent
	claim  string        // the last result that it claimed in a game that went on
	reaped bool          // its process id may be reused
}

// command is a program to start.
type command struct {
	path   string
	args   []string
	dir    string
	memory int64 // limit of the resident memory of it and its children, in bytes; 0 is no limit
	tap    func(Line)
}

// markVariable is an environment variable that identifies the processes of a
// program, including those that have left its process group.
const markVariable = "SPARRING_ENGINE"

// drainTime is how long the pipes of a program that has ended are still read.
const drainTime = 250 * time.Millisecond

// start starts a program. The error is a fault of kind FaultStart.
func start(c command) (*process, error) {
	p := &process{mark: markVariable + "=" + rand.Text(), gone: make(chan struct{})}
	p.setTap(c.tap)
	p.errs = &tail{tell: func(line string) { p.tell(Errors, line) }}
	var pipes [3][2]*os.File // its standard input, output and error
	for i := range pipes {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes[:i])
			return nil, &engine.Fault{Kind: engine.FaultStart, Text: err.Error()}
		}
		pipes[i] = [2]*os.File{r, w}
	}
	p.cmd = exec.Command(c.path, c.args...)
	p.cmd.Dir = c.dir
	p.cmd.Env = append(environment(), p.mark)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = pipes[0][0], pipes[1][1], pipes[2][1]
	setGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		closeAll(pipes[:])
		return nil, &engine.Fault{Kind: engine.FaultStart, Text: err.Error()}
	}
	for _, f := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
		f.Close() // the program has its own
	}
	p.in = pipes[0][1]
	p.inbox = newInbox(func(line string) { p.tell(Received, line) }, func(text string) { p.fail(engine.FaultFlood, "%s", text) })
	var reading sync.WaitGroup
	reading.Go(func() { p.inbox.read(pipes[1][0]) })
	reading.Go(func() { p.errs.read(pipes[2][0]) })
	go p.live(&reading, pipes[1][0], pipes[2][0])
	if c.memory > 0 {
		go p.watchMemory(c.memory)
	}
	return p, nil
}

// setTap sets a function that is called with every line from now on; nil: none.
func (p *process) setTap(tap func(Line)) {
	if tap == nil {
		p.tap.Store(nil)
		return
	}
	p.tap.Store(&tap)
}

// tell calls the tap with what was written: a line, or several that were sent at once.
func (p *process) tell(d Direction, text string) {
	tap := p.tap.Load()
	if tap == nil {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		(*tap)(Line{time.Now(), d, line})
	}
}

// environment is ours without our settings, which hold passwords.
func environment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SPARRING_") {
			env = append(env, v)
		}
	}
	return env
}

func closeAll(pipes [][2]*os.File) {
	for _, p := range pipes {
		p[0].Close()
		p[1].Close()
	}
}

// live waits for the program's end and cleans up.
func (p *process) live(reading *sync.WaitGroup, out, errs *os.File) {
	p.exit = reap(p.cmd, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.left, _ = countDescendants(p.cmd.Process.Pid, p.mark)
		killTree(p.cmd.Process.Pid, p.mark)
		p.reaped = true
	})
	p.in.Close()
	read := make(chan struct{})
	go func() { reading.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(drainTime): // a child that could not be killed holds them open
	}
	out.Close()
	errs.Close()
	<-read
	close(p.gone)
	p.inbox.signal()
}

// memoryInterval is the time between two checks of the memory of a program.
const memoryInterval = 200 * time.Millisecond

func (p *process) watchMemory(limit int64) {
	t := time.NewTicker(memoryInterval)
	defer t.Stop()
	for {
		select {
		case <-p.gone:
			return
		case <-t.C:
		}
		if used := treeMemory(p.cmd.Process.Pid, p.mark); used > limit {
			p.fail(engine.FaultMemory, "%d MiB resident, limit %d", used>>20, limit>>20)
			return
		}
	}
}

// fail kills the program for a reason, unless it has one already.
func (p *process) fail(kind engine.FaultKind, format string, args ...any) {
	p.mu.Lock()
	if p.why == nil {
		p.why = &engine.Fault{Kind: kind, Text: fmt.Sprintf(format, args...)}
	}
	p.mu.Unlock()
	p.kill()
}

// fault is why the program has ended or was killed, with the last lines sent and
// received; nil while it runs.
func (p *process) fault() *engine.Fault {
	p.mu.Lock()
	why, sent, claim := p.why, p.sent, p.claim
	p.mu.Unlock()
	if why == nil {
		select {
		case <-p.gone:
		default:
			return nil
		}
		text := "the program ended"
		if p.exit != nil {
			text = "the program ended: " + p.exit.Error()
		}
		why = &engine.Fault{Kind: engine.FaultCrash, Text: text}
	}
	text := why.Text
	if claim != "" {
		text += fmt.Sprintf("; before, it claimed %q in a game that went on by the rules: some engines play no more after that", clip(claim))
	}
	if sent != "" {
		text += fmt.Sprintf("; last sent %q", clip(sent))
	}
	if heard := p.inbox.latest(); heard != "" {
		text += fmt.Sprintf("; last received %q", clip(heard))
		if p.inbox.endsInLine() {
			text += " without a line end"
		}
	} else {
		text += "; nothing received"
	}
	if e := p.errs.String(); e != "" {
		text += fmt.Sprintf("; on stderr %q", clip(e))
	}
	return &engine.Fault{Kind: why.Kind, Text: text}
}

// claimed notes a result that the program claims though the game goes on, for the text of
// a fault: some programs play no more then.
func (p *process) claimed(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claim = line
}

// maxClip is how many characters of a line an error text repeats.
const maxClip = 200

// clip shortens a text in the middle.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "?")
	if r := []rune(s); len(r) > maxClip {
		return string(r[:maxClip/2]) + " ... " + string(r[len(r)-maxClip/2:])
	}
	return s
}

// writeTimeout is how long a program may take to read a line.
const writeTimeout = 2 * time.Second

// endTimeout is how long a program that has closed its input may take to end. A busy
// machine keeps it, too.
const endTimeout = 2 * time.Second

// send writes a line. The error is the program's fault.
func (p *process) send(line string) error {
	p.mu.Lock()
	p.sent = line
	p.mu.Unlock()
	p.tell(Sent, line)
	p.in.SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported on all systems
	_, err := p.in.WriteString(line + "\n")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.fail(engine.FaultHang, "it does not read its input")
	default:
		// It has closed its input, or is ending: then its exit status says more.
		select {
		case <-p.gone:
		case <-time.After(endTimeout):
			p.fail(engine.FaultCrash, "it closed its input")
			<-p.gone
		}
	}
	return p.fault()
}

// kill kills the program and all processes that it has started.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killTree(p.cmd.Process.Pid, p.mark)
	}
}

// suspend stops or continues the program and its children.
func (p *process) suspend(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalTree(p.cmd.Process.Pid, p.mark, on)
	}
}

// quit tells the program to end, and kills it if it does not end in time. It
// returns after the end.
func (p *process) quit(command string, within time.Duration) (ended bool) {
	p.inbox.listen(false)
	if command != "" {
		p.tell(Sent, command)
		p.in.SetWriteDeadline(time.Now().Add(within))
		p.in.WriteString(command + "\n") // an error does not matter: it is killed then
	}
	p.in.Close()
	select {
	case <-p.gone:
		return true
	case <-time.After(within):
	}
	p.kill()
	<-p.gone
	return false
}

// lastSent is the last line sent.
func (p *process) lastSent() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// sendAll writes several lines.
func (p *process) sendAll(lines []string) error {
	for _, l := range lines {
		if err := p.send(l); err != nil {
			return err
		}
	}
	return nil
}
