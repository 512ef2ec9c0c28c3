package memory_test

import (
	"errors"
	"fmt"
	"testing"

	"kioku/memory"
)

func TestReasonNamesEachErrorOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, err := range []error{
		memory.ErrLocked, memory.ErrNewerSchema, memory.ErrForeignFile, memory.ErrNoAgent, memory.ErrNotFound, memory.ErrReadOnly,
		memory.ErrNotWritable, memory.ErrUnavailable, memory.ErrConflict, memory.ErrClosed, memory.ErrDenied, memory.ErrBusy, memory.ErrUnreachable,
	} {
		reason := memory.Reason(fmt.Errorf("append: %w", err))
		if reason == "" || seen[reason] || memory.ErrorOf(reason) != err {
			t.Errorf("%v has the reason %q, which is %v", err, reason, memory.ErrorOf(reason))
		}
		seen[reason] = true
	}
	if got := memory.Reason(errors.New("disk on fire")); got != "" || memory.ErrorOf("DISK_ON_FIRE") != nil {
		t.Errorf("an error of another package has the reason %q", got)
	}
}
