package kioku

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// Hazard F06: a note that could not be written says why, as an error that callers know.
func TestANoteThatCannotBeWrittenSaysWhy(t *testing.T) {
	for cause, want := range map[syscall.Errno]error{
		syscall.EACCES: ErrNotWritable, syscall.EPERM: ErrNotWritable, syscall.EROFS: ErrNotWritable,
		syscall.ENOSPC: ErrUnavailable, syscall.EDQUOT: ErrUnavailable, syscall.EIO: ErrUnavailable,
	} {
		err := unwritten("MEMORY.md", &fs.PathError{Op: "write", Path: "MEMORY.md", Err: cause})
		if !errors.Is(err, want) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "append to MEMORY.md") {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := unwritten("MEMORY.md", syscall.EBADF); errors.Is(err, ErrNotWritable) || errors.Is(err, ErrUnavailable) || !errors.Is(err, syscall.EBADF) {
		t.Errorf("%v", err)
	}
}
