//go:build linux || darwin

package diskspace

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Disk returns how many bytes of the disk of a directory are used, and how many there
// are for users. The error wraps [errors.ErrUnsupported] on systems where it can't tell.
func Disk(dir string) (used, most int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("disk of %s: %w", dir, err)
	}
	block := int64(st.Bsize)
	used = (int64(st.Blocks) - int64(st.Bfree)) * block
	return used, max(used+int64(st.Bavail)*block, 1), nil
}
