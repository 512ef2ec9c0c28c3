package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"kioku/memory"
	"kioku/server/op"
)

// ErrDegraded is the error of a strict command whose answer is degraded. The answer has been written.
var ErrDegraded = errors.New("the answer is degraded, and --strict was given")

// UsageError is a misuse of the command line.
type UsageError struct{ error }

// Unwrap returns the error itself.
func (e UsageError) Unwrap() error { return e.error }

// Misuse returns a [UsageError].
func Misuse(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// StoredError is an error that has come after a task of the council was stored: who tries again makes a second one.
type StoredError struct {
	ID string // of the task
	error
}

// Error says where the task is.
func (e StoredError) Error() string {
	return fmt.Sprintf("task %s is stored; kioku council show %[1]s --follow tells what becomes of it (%v)", e.ID, e.error)
}

// Unwrap returns the error itself.
func (e StoredError) Unwrap() error { return e.error }

// Stored returns a [StoredError].
func Stored(id string, err error) error { return StoredError{id, err} }

// JoinedErrors returns the errors that were joined into err.
func JoinedErrors(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// NotFound reports whether a memory has no such file.
func NotFound(err error) bool { return errors.Is(err, memory.ErrNotFound) }

// Message returns the text of an error for people.
func Message(err error) string {
	var usage UsageError
	if errors.As(err, &usage) {
		return usage.Error() + " (see kioku --help)"
	}
	if stored, ok := errors.AsType[StoredError](err); ok {
		return stored.Error()
	}
	_, answered := errors.AsType[*op.Error](err)
	switch {
	case !answered && errors.Is(err, memory.ErrStoreAway):
		return err.Error() + "; does PostgreSQL run where the setting store says?"
	case !answered && errors.Is(err, memory.ErrUnreachable):
		return err.Error() + "; the daemon ended or is starting: try again"
	case answered && errors.Is(err, context.DeadlineExceeded):
		return err.Error() + "; try again, or on the machine itself with --no-daemon"
	}
	return plain(err)
}

// plain returns the text of an error without the names of system calls that the standard library puts before paths.
func plain(err error) string {
	text := err.Error()
	var at *fs.PathError
	if !errors.As(err, &at) || (at.Op != "lstat" && at.Op != "stat") {
		return text
	}
	reason := at.Err.Error()
	if errors.Is(at.Err, fs.ErrNotExist) {
		reason = "no such file or folder"
	}
	before, behind, ok := strings.Cut(text, at.Error())
	if ok && !strings.Contains(before, at.Path) {
		reason = at.Path + ": " + reason
	}
	return before + reason + behind
}
