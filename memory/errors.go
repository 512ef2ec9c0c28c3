package memory

import "errors"

// Errors of a memory; test for them with errors.Is.
var (
	// ErrLocked: another process owns the index; the message names it.
	ErrLocked = errors.New("index is in use")
	// ErrNewerSchema: a newer Kioku wrote the index.
	ErrNewerSchema = errors.New("index was written by a newer kioku")
	// ErrForeignFile: the file at the index's place is a database of another program.
	ErrForeignFile = errors.New("not a kioku index")
	// ErrNotFound: no such memory file, or none that may be read; which of the two is not told.
	ErrNotFound = errors.New("no such memory file")
	// ErrReadOnly: the memory was opened without the right to write.
	ErrReadOnly = errors.New("memory is open read-only")
	// ErrNotWritable: this user may not write to the workspace, or nobody may.
	ErrNotWritable = errors.New("the workspace cannot be written by this user; see to its permissions")
	// ErrUnavailable: the workspace, or the file in it that is to be written, cannot be used now.
	ErrUnavailable = errors.New("workspace is unavailable")
	// ErrClosed: the memory was closed.
	ErrClosed = errors.New("memory is closed")
	// ErrDenied: the token is missing or unknown, or lacks the right. Only a memory that a service keeps returns it.
	ErrDenied = errors.New("not allowed")
	// ErrBusy: a limit of the service was reached; try again later.
	ErrBusy = errors.New("limit reached")
	// ErrUnreachable: the service that keeps the memory does not answer, starts or stops.
	ErrUnreachable = errors.New("memory service is unavailable")
)

// InputError is a request that cannot be answered as it stands.
type InputError struct {
	// Field at fault, as the request names it, and what is wrong with it.
	Field, Problem string
}

// Error returns "field: problem".
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }
