package safefile

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when what the file system knows of a file last changed: its bytes, its name, its mode or its owner. Programs can set
// the modification time, but not this. It is zero if it is not known.
func Changed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}
