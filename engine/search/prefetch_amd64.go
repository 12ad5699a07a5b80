package search

// prefetch begins to bring a bucket into the processor's cache and waits for
// nothing. The compiler has no instruction for it, and a load whose result is
// thrown away still holds up all that comes after it until it is there. It
// computes nothing, so that there is nothing to hold against its twin.
//
//go:noescape
func prefetch(b *bucket)
