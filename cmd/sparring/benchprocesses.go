package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"sparring/lab/load/fleetbench"
	"sparring/protocol"
)

// benchProcesses are the processes of "bench fleet", as the command sees them.
type benchProcesses struct {
	start benchStart
	env   partEnvironment
	parts map[fleetbench.Part][]*benchProcess
}

// partEnvironment has variables for each kind of process, as NAME=VALUE.
type partEnvironment map[fleetbench.Part][]string

// parsePartEnvironment reads variables such as "arena:GOMAXPROCS=1".
func parsePartEnvironment(variables []string) (partEnvironment, error) {
	env := make(partEnvironment)
	for _, v := range variables {
		name, variable, _ := strings.Cut(v, ":")
		part := fleetbench.Part(name)
		if i := strings.IndexByte(variable, '='); i < 1 || !slices.Contains(fleetbench.Parts, part) {
			return nil, fmt.Errorf("%.60q: want nats, arena or bot, a colon, and a variable, such as arena:GOMAXPROCS=1", v)
		}
		env[part] = append(env[part], variable)
	}
	return env, nil
}

// launchParts starts the processes, with their data below a new folder in dir.
func launchParts(ctx context.Context, dir string, env partEnvironment, w fleetbench.Want) (_ *benchProcesses, err error) {
	f := &benchProcesses{env: env, parts: make(map[fleetbench.Part][]*benchProcess)}
	if f.start.Dir, err = os.MkdirTemp(dir, fmt.Sprintf("%d-", w.Games)); err != nil {
		return nil, err
	}
	f.start.Want = w
	for _, part := range fleetbench.Parts {
		n := 1
		if part == fleetbench.BotPart {
			n = len(w.Seats)
		}
		for i := range n {
			f.start.Bot = i
			p, ready, err := startPart(ctx, part, env[part], f.start)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", part, err), f.Close())
			}
			f.parts[part] = append(f.parts[part], p)
			if part == fleetbench.NATSPart {
				f.start.URL, f.start.Passwords = ready.URL, ready.Passwords
			}
		}
	}
	return f, nil
}

// Connection implements fleetbench.Fleet.
func (f *benchProcesses) Connection(u fleetbench.User, log zerolog.Logger) protocol.Connection {
	return f.start.connection(u, log)
}

// Stats implements fleetbench.Fleet.
func (f *benchProcesses) Stats(ctx context.Context, p fleetbench.Part, collect bool) (all fleetbench.Stats, err error) {
	for _, process := range f.parts[p] {
		ans, err := process.ask(ctx, benchAsk{Collect: collect})
		if err != nil {
			return all, err
		}
		all.Add(ans.Stats)
	}
	return all, nil
}

// Profile implements fleetbench.Fleet.
func (f *benchProcesses) Profile(ctx context.Context, p fleetbench.Part, path string, d time.Duration) error {
	_, err := f.parts[p][0].ask(ctx, benchAsk{Profile: path, For: d})
	return err
}

// Kill implements fleetbench.LossFleet.
func (f *benchProcesses) Kill(p fleetbench.Part, i int) error {
	process := f.parts[p][i]
	if err := process.cmd.Process.Kill(); err != nil {
		return err
	}
	return process.end()
}

// Restart implements fleetbench.LossFleet.
func (f *benchProcesses) Restart(ctx context.Context, p fleetbench.Part, i int) error {
	start := f.start
	start.Bot = i
	process, _, err := startPart(ctx, p, f.env[p], start)
	if err == nil {
		f.parts[p][i] = process
	}
	return err
}

// Suspend implements fleetbench.LossFleet.
func (f *benchProcesses) Suspend(p fleetbench.Part, i int) error {
	return suspendProcess(f.parts[p][i].cmd.Process)
}

// Resume implements fleetbench.LossFleet.
func (f *benchProcesses) Resume(p fleetbench.Part, i int) error {
	return resumeProcess(f.parts[p][i].cmd.Process)
}

// Close implements fleetbench.Fleet. The bots go first, and the server last.
func (f *benchProcesses) Close() error {
	var errs []error
	for _, part := range []fleetbench.Part{fleetbench.BotPart, fleetbench.ArenaPart, fleetbench.NATSPart} {
		for _, p := range f.parts[part] {
			errs = append(errs, p.end())
		}
	}
	return errors.Join(errs...)
}

// benchProcess is one of the processes.
type benchProcess struct {
	cmd     *exec.Cmd
	log     *os.File
	in      io.WriteCloser
	answers chan benchAnswer // closed when the process ends
}

// startPart starts a process, with variables added to its environment, and waits until it
// is ready.
func startPart(ctx context.Context, part fleetbench.Part, env []string, start benchStart) (p *benchProcess, ready benchAnswer, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, ready, err
	}
	p = &benchProcess{cmd: exec.Command(self, "bench", "fleet", "part", string(part)), answers: make(chan benchAnswer)}
	p.cmd.Args[0] = os.Args[0]
	p.cmd.Env = append(os.Environ(), env...)
	apart(p.cmd) // Ctrl-C reaches this process alone, which ends the others
	path := filepath.Join(start.Dir, fmt.Sprintf("%s-%d.log", part, start.Bot))
	if p.log, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
		return nil, ready, err
	}
	p.cmd.Stderr = p.log
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, ready, errors.Join(err, p.log.Close())
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, ready, errors.Join(err, p.log.Close())
	}
	if err := p.cmd.Start(); err != nil {
		return nil, ready, errors.Join(err, p.log.Close())
	}
	go func() {
		defer close(p.answers)
		for lines := json.NewDecoder(out); ; {
			var ans benchAnswer
			if lines.Decode(&ans) != nil {
				return
			}
			p.answers <- ans
		}
	}()
	if ready, err = p.ask(ctx, start); err != nil {
		return nil, ready, errors.Join(err, p.end())
	}
	return p, ready, nil
}

// partPatience bounds the wait for an answer of a process.
const partPatience = 2 * time.Minute

// ask sends a line to the process and waits for the answer.
func (p *benchProcess) ask(ctx context.Context, line any) (ans benchAnswer, err error) {
	if err := json.NewEncoder(p.in).Encode(line); err != nil {
		return ans, p.gone(err)
	}
	select {
	case ans, ok := <-p.answers:
		switch {
		case !ok:
			return ans, p.gone(errors.New("the process has ended"))
		case ans.Error != "":
			return ans, errors.New(ans.Error)
		}
		return ans, nil
	case <-time.After(partPatience):
		return ans, fmt.Errorf("no answer within %v", partPatience)
	case <-ctx.Done():
		// The answer would be taken for that to the next line: end the process.
		return ans, errors.Join(context.Cause(ctx), p.cmd.Process.Kill())
	}
}

// gone adds the last line of the process's log to an error.
func (p *benchProcess) gone(err error) error {
	text, readErr := os.ReadFile(p.log.Name())
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); readErr == nil && lines[0] != "" {
		return fmt.Errorf("%w: %.500s", err, lines[len(lines)-1])
	}
	return err
}

// endWithin bounds the wait for a process that is told to end.
const endWithin = 20 * time.Second

// end ends the process, and waits for it.
func (p *benchProcess) end() error {
	p.in.Close() // fails if the process has ended
	kill := time.AfterFunc(endWithin, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	for range p.answers { // until it ends
	}
	p.cmd.Wait() // it was told to end, and how it did is in its log
	return p.log.Close()
}
