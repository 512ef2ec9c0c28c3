//go:build !linux

package safefile

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when what the file system knows of a file last changed, as on Linux.
func Changed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctimespec.Unix())
}
