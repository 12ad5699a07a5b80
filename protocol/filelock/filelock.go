// Package filelock keeps two processes from writing to one file: [TryLock].
package filelock

import "errors"

// ErrLocked: somebody else has the file's lock.
var ErrLocked = errors.New("locked")
