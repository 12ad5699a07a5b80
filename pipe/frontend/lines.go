package frontend

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// maxLine is the longest line that is read, in bytes: a JSON line with all of a
// game may be long.
const maxLine = 1 << 20

// errLong is what a longer line is answered with.
var errLong = fmt.Errorf("a line of over %d bytes: ignored", maxLine)

// line is a line as it came in.
type line struct {
	text string    // without its end
	at   time.Time // when it was read: a clock may run since
	err  error     // errLong, and text is empty
	turn turn      // set by the session
}

// readLines sends the lines of in until it ends or done is closed, then the
// reason for the end to ended: nil for the plain end.
func readLines(in io.Reader, lines chan<- line, ended chan<- error, done <-chan struct{}) {
	r := bufio.NewReaderSize(in, maxLine)
	for {
		text, err := r.ReadSlice('\n')
		l := line{at: time.Now()}
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			l.err = errLong
		} else {
			l.text = strings.TrimRight(string(text), "\r\n")
		}
		if err == nil || len(text) > 0 {
			select {
			case lines <- l:
			case <-done:
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			ended <- err
			return
		}
	}
}

// output writes whole lines, each at once: what stays in a buffer is not said.
// It is safe for concurrent use, and after an error it writes nothing more.
type output struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (o *output) say(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		_, o.err = io.WriteString(o.w, text+"\n")
	}
}

func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
