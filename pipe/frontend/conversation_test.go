package frontend_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/pipe/frontend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the longest wait for an answer, for very busy machines.
const patience = gametest.Patience

// TestConversations runs the conversations in testdata, one file each. A file has a
// step a line; the part of its name before the first "-" is only for order:
//
//	# a comment
//	= protocol uci      sets the protocol instead of detecting it; must come first
//	= game amazons      sets the game
//	= nodes 500         sets the nodes of a move
//	= clock 2/move      sets the clock
//	> text              sends the text; \r and \t are read as in Go
//	> 3000000 times x   sends x repeated, as one line
//	< pattern           the next line matches the pattern
//	<< pattern          a later line matches the pattern; those before it are skipped
//	= hang up           ends the input
//	= end               the conversation has ended, without further lines
//
// In a pattern {n} is a number, {w} a word, ... anything.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := &conversation{t: t}
			for i, step := range strings.Split(string(text), "\n") {
				c.where = fmt.Sprintf("%s:%d", file, i+1)
				c.step(step)
			}
			c.finish()
		})
	}
}

// conversation is a running conversation.
type conversation struct {
	t       *testing.T
	where   string
	options frontend.Options
	asIs    bool           // without the options that a file of testdata has
	in      *io.PipeWriter // nil before the first line
	lines   chan string
	served  chan error
	heard   []string
}

func (c *conversation) step(step string) {
	c.t.Helper()
	kind, rest, _ := strings.Cut(step, " ")
	switch kind {
	case "", "#":
	case ">":
		c.send(rest)
	case "<":
		if got := c.next(); !like(rest, got) {
			c.fail(fmt.Sprintf("%q came, want %q", got, rest))
		}
	case "<<":
		for got := c.next(); !like(rest, got); got = c.next() {
		}
	case "=":
		c.direct(rest)
	default:
		c.t.Fatalf("%s: no such step: %q", c.where, step)
	}
}

func (c *conversation) direct(text string) {
	c.t.Helper()
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "protocol":
		c.options.Protocol = rest
	case "game":
		c.options.Game = rest
	case "nodes":
		c.options.Nodes, _ = strconv.ParseUint(rest, 10, 64)
	case "clock":
		spec, err := clock.Parse(rest)
		if err != nil {
			c.t.Fatalf("%s: %v", c.where, err)
		}
		c.options.Clock = spec
	case "hang":
		c.begin()
		c.in.Close()
	case "end":
		for got := range c.lines {
			c.t.Errorf("%s: %q came, want the end", c.where, got)
		}
	default:
		c.t.Fatalf("%s: no such step: %q", c.where, text)
	}
}

// begin starts the conversation.
func (c *conversation) begin() {
	if c.in != nil {
		return
	}
	fromUs, in := io.Pipe()
	out, toUs := io.Pipe()
	c.in, c.lines, c.served = in, make(chan string, 1<<16), make(chan error, 1)
	o := c.options
	if !c.asIs {
		o.Version, o.Seed, o.Setup = "test", 1, frontend.Setup{HashBytes: 1 << 20}
	}
	ctx := c.t.Context()
	go func() {
		err := frontend.Serve(ctx, fromUs, toUs, o)
		fromUs.Close()
		toUs.Close()
		c.served <- err
	}()
	go func() {
		defer close(c.lines)
		r := bufio.NewScanner(out)
		for r.Scan() {
			c.lines <- r.Text()
		}
	}()
}

var times = regexp.MustCompile(`^(\d+) times (.)$`)

func (c *conversation) send(text string) {
	c.t.Helper()
	c.begin()
	if m := times.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		text = strings.Repeat(m[2], n)
	}
	text = strings.NewReplacer(`\r`, "\r", `\t`, "\t").Replace(text)
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.in, text+"\n")
		sent <- err
	}()
	select {
	case err := <-sent:
		if err != nil {
			c.t.Fatalf("%s: sending: %v", c.where, err)
		}
	case <-time.After(patience):
		c.t.Fatalf("%s: the engine does not read", c.where)
	}
}

// next returns the next line.
func (c *conversation) next() string {
	c.t.Helper()
	select {
	case got, ok := <-c.lines:
		if !ok {
			c.fail("the conversation is over")
		}
		c.heard = append(c.heard, got)
		return got
	case <-time.After(patience):
		c.fail("nothing came")
	}
	return ""
}

// fail ends the test with the last lines received.
func (c *conversation) fail(why string) {
	c.t.Helper()
	c.t.Fatalf("%s: %s; last were:\n%s", c.where, why, strings.Join(c.heard[max(0, len(c.heard)-12):], "\n"))
}

func (c *conversation) finish() {
	c.t.Helper()
	if c.in == nil {
		c.t.Fatalf("%s: nothing was said", c.where)
	}
	c.in.Close()
	select {
	case err := <-c.served:
		if err != nil {
			c.t.Errorf("%s: %v", c.where, err)
		}
	case <-time.After(patience):
		c.t.Fatalf("%s: it does not end", c.where)
	}
	for range c.lines { // discard the rest
	}
}

// like reports whether a line matches a pattern.
func like(pattern, line string) bool {
	p := regexp.QuoteMeta(pattern)
	p = strings.NewReplacer(`\{n\}`, `-?\d+`, `\{w\}`, `\S+`, `\.\.\.`, `.*`).Replace(p)
	return regexp.MustCompile(`^(?:` + p + `)$`).MatchString(line)
}
