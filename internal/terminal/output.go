package terminal

import (
	"cmp"
	"io"
	"os"
	"sync"
)

// Output is the standard output of a command. It remembers the first error of writing: not
// every command looks at each, and none may call what it has lost a success.
type Output struct {
	w   io.Writer
	mu  sync.Mutex
	err error // guarded by mu
}

// NewOutput returns an output to w.
func NewOutput(w io.Writer) *Output { return &Output{w: w} }

// Write writes to the stream.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.err = cmp.Or(o.err, err)
	}
	return n, err
}

// Failed returns the error because of which some of the output is lost.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// FileOf returns the file to which the output of a command goes, or from which its input
// comes.
func FileOf(stream any) (*os.File, bool) {
	if o, ok := stream.(*Output); ok {
		stream = o.w
	}
	f, ok := stream.(*os.File)
	return f, ok
}

// HasCursor reports whether the cursor of the terminal, if there is one, can be moved.
func HasCursor() bool { return os.Getenv("TERM") != "dumb" }
