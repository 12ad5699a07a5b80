//go:build !linux

package search

// HugePages does nothing here; see huge_linux.go.
func HugePages[T any]([]T) {}
