//go:build !(darwin || freebsd || netbsd)

package files

import (
	"io/fs"
	"syscall"
)

// Stamp returns a number that is another one after the bytes of a file, its name, mode or owner have changed, and for another file of
// the same name, made of its inode and the time that programs cannot set. It is 0 if these are not known.
func Stamp(info fs.FileInfo) int64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	const spread = 0x9E3779B97F4A7C15 // inodes differ in their last bits, as times do
	return st.Ctim.Nano() ^ int64(st.Ino*spread)
}
