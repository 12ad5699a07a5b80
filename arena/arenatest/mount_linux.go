package arenatest

import "golang.org/x/sys/unix"

// mountMemory mounts a file system in memory of the given size, such as "24m".
func mountMemory(dir, size string) (unmount func() error, err error) {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		return nil, err
	}
	return func() error { return unix.Unmount(dir, unix.MNT_DETACH) }, nil
}
