package bot

import "errors"

// ErrSameInstance is returned by Run when another process acts as the same instance. That one
// keeps the seats: give each process an id of its own.
var ErrSameInstance = errors.New("bot: another process runs with the same SPARRING_INSTANCE: give each one its own, or none")

// isDisplaced reports whether another process acts as the same instance.
func (b *Bot) isDisplaced() bool {
	select {
	case <-b.displaced:
		return true
	default:
		return false
	}
}
