package search

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// HugePages asks Linux to back a large slice with huge pages. The tables are
// read at random addresses, and with pages of 4 KiB nearly every read misses the
// TLB, too. It is only advice: without it everything works, but slower.
func HugePages[T any](s []T) {
	const page, least = 4 << 10, 4 << 20
	start := uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if size < least {
		return
	}
	skip := -start & (page - 1) // the advice is for whole pages
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	_ = unix.Madvise(bytes[skip:skip+(size-skip)&^(page-1)], unix.MADV_HUGEPAGE)
}
