//go:build !unix

package httpserver

import "math"

// openFiles returns how many files this process may have open: there is no limit on this system.
func openFiles() int { return math.MaxInt }
