package engine

import "golang.org/x/sys/unix"

// memory returns the machine's memory in bytes, or 0 if unknown.
func memory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return info.Totalram * uint64(info.Unit)
}
