package search

// prefetch starts to load a bucket into the processor's cache and does not wait
// for it. Go has no prefetch intrinsic, and an ordinary load would stall the
// instructions after it. It computes nothing, so there is nothing to test against
// a version in Go.
//
//go:noescape
func prefetch(b *bucket)
