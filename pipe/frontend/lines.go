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

// maxLine is the longest line that is read, in bytes. A JSON line with a whole game
// may be long.
const maxLine = 1 << 20

// errLineTooLong is the answer to a longer line.
var errLineTooLong = fmt.Errorf("a line of over %d bytes: ignored", maxLine)

// line is a line of the input.
type line struct {
	text     string    // without its end
	at       time.Time // when it was read, and a clock was started
	err      error     // errLineTooLong, without text
	schedule schedule  // set by the session
}

// readLines sends the lines of in to lines until in ends or done is closed, then the
// read error to ended, nil at the end of the input.
func readLines(in io.Reader, lines chan<- line, ended chan<- error, done <-chan struct{}) {
	r := bufio.NewReaderSize(in, maxLine)
	for {
		text, err := r.ReadSlice('\n')
		l := line{at: time.Now()}
		if errors.Is(err, bufio.ErrBufferFull) {
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = r.ReadSlice('\n')
			}
			l.err = errLineTooLong
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

// output writes lines without buffering. It is safe for concurrent use. After an
// error it writes nothing more.
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
