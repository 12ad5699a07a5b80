//go:build !linux

package engine

// memory is what the machine has, in bytes; 0 where it can't be known.
func memory() uint64 { return 0 }
