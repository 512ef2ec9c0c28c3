package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// lease takes a write lease on f, which the kernel grants only if f is open nowhere else. Until it is released, nobody else
// can open the file; an open that must not block fails with EWOULDBLOCK.
func lease(f *os.File) (release func(), err error) {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return nil, os.NewSyscallError("lease", err)
	}
	// Releasing a lease that is held cannot fail, and closing f releases it too.
	return func() { _, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK) }, nil
}
