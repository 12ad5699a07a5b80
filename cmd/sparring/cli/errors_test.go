package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestInterruptedText: whatever Ctrl-C has ended, the command says that it was
// interrupted, and not how Go calls that.
func TestInterruptedText(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	broken := errors.New("broken: " + context.Canceled.Error())
	if text := textOf(ctx, broken); text != broken.Error() {
		t.Errorf("before: %s", text)
	}
	cancel(errors.New("interrupt signal received"))
	for err, want := range map[error]string{
		ctx.Err(): "interrupted", fmt.Errorf("games.jsonl: %w", ctx.Err()): "games.jsonl: interrupted",
		fmt.Errorf("level 1: %w", context.Cause(ctx)): "level 1: interrupted", errors.New("another"): "another",
	} {
		if text := textOf(ctx, err); text != want {
			t.Errorf("%v: %q, want %q", err, text, want)
		}
	}
}
