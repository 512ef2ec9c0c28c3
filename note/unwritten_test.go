package note

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"kioku/memory"
)

// Hazard F06: a note that could not be written says why, as an error that callers know.
func TestUnwrittenClassifiesErrors(t *testing.T) {
	for cause, want := range map[syscall.Errno]error{
		syscall.EACCES: memory.ErrNotWritable, syscall.EPERM: memory.ErrNotWritable, syscall.EROFS: memory.ErrNotWritable,
		syscall.ENOSPC: memory.ErrNoSpace, syscall.EDQUOT: memory.ErrNoSpace, syscall.EIO: memory.ErrUnavailable,
	} {
		err := unwritten("MEMORY.md", &fs.PathError{Op: "write", Path: "MEMORY.md", Err: cause})
		if !errors.Is(err, want) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "append to MEMORY.md") {
			t.Errorf("%v: %v", cause, err)
		}
	}
	if err := unwritten("MEMORY.md", syscall.EBADF); errors.Is(err, memory.ErrNotWritable) || errors.Is(err, memory.ErrUnavailable) || !errors.Is(err, syscall.EBADF) {
		t.Errorf("%v", err)
	}
}
