package main

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// servesStory makes the command sparring of the tests serve the commands of a story.
const servesStory = "SPARRING_SERVES_STORY"

// TestScripts runs the stories in testdata: commands of a user and their output.
//
// A story starts a process with "exec sparring". With "run sparring" a process of its own
// that stays runs the command in the same directory: a start takes longer than most of
// the commands. Such a command has an empty input and, but for the language, the environment
// of the story's beginning. "code" compares its exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			server := &storyServer{env: env.Vars, dir: env.Cd}
			env.Values[servesStory] = server
			env.Defer(server.close)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"run": runInStory, "code": compareCode},
	})
}

// storyCommand is a command line that a story runs, storyResult what came of it.
type (
	storyCommand struct {
		Args     []string
		Dir      string
		Language map[string]string // the variables of the environment that choose it
	}
	storyResult struct {
		Out, Errs []byte
		Code      int
	}
)

// storyServer is the process that runs the commands of a story. It starts with the first.
type storyServer struct {
	env     []string
	dir     string
	process *exec.Cmd
	in      io.WriteCloser
	send    *gob.Encoder
	receive *gob.Decoder
	code    int // of the last command
}

func (s *storyServer) start() error {
	path, err := exec.LookPath("sparring")
	if err != nil {
		return err
	}
	s.process = exec.Command(path)
	s.process.Env, s.process.Dir, s.process.Stderr = append(s.env, servesStory+"=1"), s.dir, os.Stderr
	if s.in, err = s.process.StdinPipe(); err != nil {
		return err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return err
	}
	s.send, s.receive = gob.NewEncoder(s.in), gob.NewDecoder(out)
	return s.process.Start()
}

func (s *storyServer) close() {
	if s.process != nil {
		s.in.Close()
		s.process.Wait()
	}
}

func (s *storyServer) run(command storyCommand) (result storyResult, err error) {
	if s.process == nil {
		if err := s.start(); err != nil {
			return result, err
		}
	}
	if err := s.send.Encode(command); err != nil {
		return result, err
	}
	err = s.receive.Decode(&result)
	s.code = result.Code
	return result, err
}

// runInStory is "run sparring ARGUMENT...": the story's process runs the command.
func runInStory(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != "sparring" {
		ts.Fatalf("usage: run sparring [argument...]")
	}
	language := map[string]string{"LANG": ts.Getenv("LANG"), "LC_ALL": ts.Getenv("LC_ALL")}
	result, err := ts.Value(servesStory).(*storyServer).run(storyCommand{args[1:], ts.MkAbs("."), language})
	ts.Check(err)
	ts.Stdout().Write(result.Out)
	ts.Stderr().Write(result.Errs)
	if (result.Code != exitOK) != neg {
		ts.Logf("%s%s", result.Out, result.Errs)
		ts.Fatalf("unexpected exit code %d", result.Code)
	}
}

// compareCode is "code N": the last command of "run" ended with that exit code.
func compareCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: code N")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if code := ts.Value(servesStory).(*storyServer).code; code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// sparringOrStory is the command sparring of the tests.
func sparringOrStory() {
	if os.Getenv(servesStory) == "" {
		main()
	}
	os.Unsetenv(servesStory) // engines that a command starts are commands of their own
	if err := serveStory(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "story:", err)
		os.Exit(exitFailed)
	}
}

// serveStory runs the commands that come in until there are no more.
func serveStory(in io.Reader, out io.Writer) error {
	receive, send := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var command storyCommand
		if err := receive.Decode(&command); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := os.Chdir(command.Dir); err != nil {
			return err
		}
		for name, value := range command.Language {
			os.Setenv(name, value)
		}
		var text, errs bytes.Buffer
		code := run(command.Args, strings.NewReader(""), &text, &errs)
		if err := send.Encode(storyResult{text.Bytes(), errs.Bytes(), code}); err != nil {
			return err
		}
	}
}
