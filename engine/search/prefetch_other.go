//go:build !amd64

package search

// prefetch begins to bring a bucket into the processor's cache, as well as
// that can be said without assembly.
func prefetch(b *bucket) { _ = b[0].data.Load() }
