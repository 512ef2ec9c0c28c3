package memory

import (
	"errors"
	"fmt"
)

// Errors of a memory; test for them with errors.Is.
var (
	// ErrLocked: another process owns the index; the message names it.
	ErrLocked = errors.New("index is in use")
	// ErrNewerSchema: a newer Kioku wrote the index.
	ErrNewerSchema = errors.New("index was written by a newer kioku")
	// ErrForeignFile: the file at the index's place is a database of another program.
	ErrForeignFile = errors.New("not a kioku index")
	// ErrNoAgent: no such agent, or none that the caller may reach; which of the two is not told.
	ErrNoAgent = errors.New("no such agent")
	// ErrNotFound: no such memory file, or none that may be read; which of the two is not told.
	ErrNotFound = errors.New("no such memory file")
	// ErrNoFile is ErrNotFound with what to do, the same for every reason.
	ErrNoFile = fmt.Errorf("%w; use a path as a search result gives it", ErrNotFound)
	// ErrReadOnly: the memory was opened without the right to write.
	ErrReadOnly = errors.New("memory is open read-only")
	// ErrNotWritable: this user may not write to the workspace, or nobody may.
	ErrNotWritable = errors.New("the workspace cannot be written by this user; see to its permissions")
	// ErrUnavailable: the workspace, or the file in it that is to be written, cannot be used now.
	ErrUnavailable = errors.New("workspace is unavailable")
	// ErrNoSpace: the disk of the workspace is full, or a quota or a limit of the size of files is reached.
	ErrNoSpace = errors.New("no space is left for the workspace")
	// ErrConflict: the key of a note was used for another text.
	ErrConflict = errors.New("the idempotency key was used for another text")
	// ErrClosed: the memory was closed.
	ErrClosed = errors.New("memory is closed")
	// ErrDenied: the token is missing or unknown, or lacks the right. Only a memory that a service keeps returns it.
	ErrDenied = errors.New("not allowed")
	// ErrBusy: a limit of the service was reached; try again later.
	ErrBusy = errors.New("limit reached")
	// ErrNoHistory: the folder is in no repository of git, and has no journal.
	ErrNoHistory = errors.New("the folder has no history")
	// ErrNoVersion: the history of the folder has no version of that name, or none of that time.
	ErrNoVersion = errors.New("no such version")
	// ErrDeriveOff: derivation is off for the agent.
	ErrDeriveOff = errors.New("derivation is off; set derive.enabled to true, and start the service again if one runs")
	// ErrNoUnit: no such fact, loop, summary or entity, or none that the caller may see; which of the two is not told.
	ErrNoUnit = errors.New("no such unit or entity")
	// ErrUnreachable: the service that keeps the memory does not answer, starts or stops.
	ErrUnreachable = errors.New("memory service is unavailable")
	// ErrOwnerAway is ErrUnreachable of the machine of a cluster that has the folder of an agent, which only it can do something with.
	ErrOwnerAway = fmt.Errorf("%w: owner_away", ErrUnreachable)
	// ErrStoreAway is ErrUnreachable of the databases of a cluster.
	ErrStoreAway = fmt.Errorf("%w: store_away", ErrUnreachable)
)

// ErrorDomain is the domain of the names that [Reason] gives, as google.rpc.ErrorInfo has it.
const ErrorDomain = "kioku"

// reasons are the names of the errors in protocols.
var reasons = []struct {
	name string
	err  error
}{
	{"LOCKED", ErrLocked}, {"NEWER_SCHEMA", ErrNewerSchema}, {"FOREIGN_FILE", ErrForeignFile},
	{"NO_AGENT", ErrNoAgent}, {"NOT_FOUND", ErrNotFound}, {"READ_ONLY", ErrReadOnly}, {"NOT_WRITABLE", ErrNotWritable},
	{"WORKSPACE_UNAVAILABLE", ErrUnavailable}, {"NO_SPACE", ErrNoSpace}, {"CONFLICT", ErrConflict}, {"CLOSED", ErrClosed},
	{"DENIED", ErrDenied}, {"BUSY", ErrBusy}, {"NO_HISTORY", ErrNoHistory}, {"NO_VERSION", ErrNoVersion}, {"OWNER_AWAY", ErrOwnerAway}, {"STORE_AWAY", ErrStoreAway}, {"UNREACHABLE", ErrUnreachable},
	{"DERIVE_OFF", ErrDeriveOff}, {"NO_UNIT", ErrNoUnit},
}

// Reason returns the stable name of an error of this package, for protocols; empty for other errors.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.name
		}
	}
	return ""
}

// ErrorOf returns the error that [Reason] gives a name; nil for other names.
func ErrorOf(reason string) error {
	for _, r := range reasons {
		if r.name == reason {
			return r.err
		}
	}
	return nil
}

// InputError is a request that cannot be answered: the field at fault and what is wrong with it.
type InputError struct {
	// Field is the name of the field in a request, such as max_results.
	Field string
	// Problem continues the name of the field, such as "is empty: say what to look for".
	Problem string
}

// Error returns the field and the problem.
func (e *InputError) Error() string { return e.Field + ": " + e.Problem }
