package engine

import "golang.org/x/sys/unix"

// memory is what the machine has, in bytes; 0 where it can't be known.
func memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}
