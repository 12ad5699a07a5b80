package engine

import "io"

// A searcher that stands before another (a book, a limit) has a method
// Unwrap() Searcher, so that Prepare and Close reach what it stands before.

// Prepare makes a searcher ready for a new game: it forgets what it has learnt
// in others, and a program is started if it does not run. Whoever keeps a clock
// calls it first. No search of it may run meanwhile. The error is a *Fault.
func Prepare(s Searcher) error {
	Forget(s)
	return each(s, ready)
}

// Forget makes a searcher forget what it has learnt, where it learns. No search
// of it may run meanwhile.
func Forget(s Searcher) {
	each(s, func(layer any) error {
		if f, ok := layer.(interface{ Forget() }); ok {
			f.Forget()
		}
		return nil
	})
}

// As finds the power T in a searcher or what it stands before.
func As[T any](s Searcher) (power T, ok bool) {
	each(s, func(layer any) error {
		if !ok {
			power, ok = layer.(T)
		}
		return nil
	})
	return power, ok
}

// ready starts what has to be started, where there is such a thing.
func ready(layer any) error {
	if r, ok := layer.(interface{ Ready() error }); ok {
		return r.Ready()
	}
	return nil
}

// Close ends what a searcher holds besides memory, if anything.
func Close(s Searcher) error {
	return each(s, func(layer any) error {
		if c, ok := layer.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
}

// each calls do for a searcher and all that it stands before.
func each(s Searcher, do func(any) error) error {
	for s != nil {
		if err := do(s); err != nil {
			return err
		}
		u, ok := s.(interface{ Unwrap() Searcher })
		if !ok {
			return nil
		}
		s = u.Unwrap()
	}
	return nil
}
