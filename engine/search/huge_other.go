//go:build !linux

package search

// hugePages does nothing here; see huge_linux.go.
func hugePages[T any]([]T) {}
