package conformance

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program is a program under test as a process of ours. It runs in a process group of
// its own, so that signals reach what a shell starts for it.
type Program struct {
	command string
	env     []string
	out     io.Writer
	ending  ending

	mu      sync.Mutex
	cmd     *exec.Cmd
	exited  chan struct{}
	err     error // of the process, once exited is closed
	stopped bool
}

// NewProgram prepares a program that the shell starts, with variables added to the
// environment. What it writes goes to out.
func NewProgram(command string, env []string, out io.Writer) *Program {
	return &Program{command: command, env: env, out: out}
}

// Start starts the program. It must not be running.
func (p *Program) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command("/bin/sh", "-c", "exec "+p.command)
	cmd.Env = append(os.Environ(), p.env...)
	out := io.MultiWriter(p.out, &p.ending)
	cmd.Stdout, cmd.Stderr = out, out
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %q: %w", p.command, err)
	}
	exited := make(chan struct{})
	p.cmd, p.exited, p.err, p.stopped = cmd, exited, nil, false
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		close(exited)
	}()
	return nil
}

// Signal sends a signal to the program and its children.
func (p *Program) Signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = s == sigPause || p.stopped && s != sigResume
	if err := signalGroup(p.cmd, s); err != nil {
		return fmt.Errorf("signal %v: %w", s, err)
	}
	return nil
}

// Kill ends the program like kill -9, and waits for it. It does nothing if the program
// was not started.
func (p *Program) Kill() error {
	p.mu.Lock()
	started, exited := p.cmd != nil, p.exited
	p.mu.Unlock()
	if !started {
		return nil
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-exited
	return nil
}

// Wait waits until the program has ended, and returns its error.
func (p *Program) Wait(ctx context.Context) error {
	p.mu.Lock()
	exited := p.exited
	p.mu.Unlock()
	select {
	case <-exited:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Running returns a context that also ends when the program does. A nil program runs
// for ever.
func (p *Program) Running(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if p != nil {
		go func() {
			p.Wait(ctx)
			cancel()
		}()
	}
	return ctx, cancel
}

// ending keeps the end of what a program writes. It is safe for concurrent use.
type ending struct {
	mu   sync.Mutex
	data []byte
}

// endingBytes is how much it keeps.
const endingBytes = 256

func (e *ending) Write(data []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.data = append(e.data, data...)
	e.data = append(e.data[:0], e.data[max(0, len(e.data)-endingBytes):]...)
	return len(data), nil
}

// line returns the last line that is not empty, or its end.
func (e *ending) line() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.TrimSpace(string(e.data))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// withExit adds to an error how the program ended, if it did, and its last line.
func (p *Program) withExit(err error) error {
	if p != nil {
		if gone, why := p.Exited(); gone {
			if last := p.ending.line(); last != "" {
				return fmt.Errorf("%w: its process has ended (%v), after %q", err, why, last)
			}
			return fmt.Errorf("%w: its process has ended (%v)", err, why)
		}
	}
	return err
}

// Exited reports whether the program has ended, and with which error.
func (p *Program) Exited() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return true, p.err
	default:
		return false, nil
	}
}
