package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/cmd/kioku/config"
	"kioku/embed"
	"kioku/memory"
)

// Exit codes.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitDegraded = 3
	// exitInterrupted is that of a command that SIGINT ended, as shells tell it.
	exitInterrupted = 130
)

// errDegraded ends a command whose answer is out already, but which was told to be strict.
var errDegraded = errors.New("the answer is degraded, and --strict was given")

// usageError is a misuse of the command line.
type usageError struct{ error }

// Unwrap returns the error without the mark.
func (e usageError) Unwrap() error { return e.error }

func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// report writes an error for people, a line for each fault, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	code := exitCode(err)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && isCanceled(err):
		a.notice("interrupted")
		return interruptCode(ctx)
	}
	for _, fault := range faults(err) {
		a.notice("%s", message(fault))
	}
	return code
}

// interruptCode is the exit code of a command whose context ended.
func interruptCode(ctx context.Context) int {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return signalCode(by.signal)
	}
	return exitInterrupted
}

// isCanceled reports whether an error only says that the command was told to end.
func isCanceled(err error) bool {
	return errors.Is(err, context.Canceled) || status.Code(err) == codes.Canceled
}

func exitCode(err error) int {
	var usage usageError
	var setting *config.Error
	var input *memory.InputError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDegraded):
		return exitDegraded
	case errors.As(err, &usage), errors.As(err, &setting), errors.As(err, &input), status.Code(err) == codes.InvalidArgument,
		errors.Is(err, config.ErrNoWorkspace), errors.Is(err, config.ErrNoState):
		return exitUsage
	}
	return exitError
}

// faults are the errors that were joined into one.
func faults(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

// message is an error for people: of a gRPC status, wherever it stands in err, what it says without its code.
func message(err error) string {
	var usage usageError
	if errors.As(err, &usage) {
		return usage.Error() + " (see kioku --help)"
	}
	var call interface {
		error
		GRPCStatus() *status.Status
	}
	if errors.As(err, &call) {
		st := call.GRPCStatus()
		return strings.Replace(err.Error(), call.Error(), st.Message()+advice(st), 1)
	}
	return plain(err)
}

func advice(st *status.Status) string {
	switch {
	case strings.HasPrefix(st.Message(), embed.ErrUnavailable.Error()):
		return "; kioku status says why"
	case st.Code() == codes.Unavailable && strings.HasPrefix(st.Message(), "the workspace"):
		return ""
	case st.Code() == codes.Unavailable:
		return "; the daemon ended or is starting: try again"
	case st.Code() == codes.DeadlineExceeded:
		return "; try again, or with --no-daemon"
	}
	return ""
}

// plain is the text of an error without the names of system calls that the standard library puts before paths.
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

// oneLine keeps a message on its line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }
