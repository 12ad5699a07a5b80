package external

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"sparring/internal/textlines"
	"sparring/pipe/external/faultyengine"
)

// TestTalkReadsAll: what can't be read of the input is told, and long lines are sent.
func TestTalkReadsAll(t *testing.T) {
	broken := errors.New("broken")
	long := "position startpos moves" + strings.Repeat(" h2e2 h9g7", 10_000)
	for name, test := range map[string]struct {
		in    io.Reader
		sends string
		want  error
	}{
		"whole":    {strings.NewReader("isready\nd"), "d", nil},
		"long":     {strings.NewReader(long), long, nil}, // the engine ends at such a line
		"too long": {strings.NewReader("isready\n" + strings.Repeat(" ", textlines.Max+1)), "isready", textlines.ErrTooLong},
		"broken":   {io.MultiReader(strings.NewReader("isready\n"), iotest.ErrReader(broken)), "isready", broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			sent := map[string]bool{}
			err := Talk(t.Context(), faultySpec(t, faultyengine.Fine), "xiangqi", false, test.in, func(l Line) {
				mu.Lock()
				defer mu.Unlock()
				sent[l.Text] = sent[l.Text] || l.Direction == Sent
			})
			mu.Lock()
			defer mu.Unlock()
			if !errors.Is(err, test.want) || !sent[test.sends] {
				t.Errorf("sent %v, %v", len(sent), err)
			}
		})
	}
}
