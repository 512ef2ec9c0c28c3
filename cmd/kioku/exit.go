package main

import (
	"context"
	"errors"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// Exit codes.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitDegraded = 3
	// exitRejected and exitStalled are what kioku council ask ends with if the council rejects the task or cannot decide it.
	exitRejected, exitStalled = 4, 5
	// exitInterrupted is the exit code of a command that SIGINT ended, as shells report it.
	exitInterrupted = 130
)

// report writes an error for people, a line for each joined error, and returns the exit code.
func (a *app) report(ctx context.Context, err error) int {
	code := exitCode(err)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && isCanceled(err):
		a.Notice("interrupted")
		return interruptCode(ctx)
	}
	for _, cause := range render.JoinedErrors(err) {
		a.Notice("%s", render.Message(cause))
	}
	return code
}

// interruptCode returns the exit code of a command whose context ended.
func interruptCode(ctx context.Context) int {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return signalCode(by.signal)
	}
	return exitInterrupted
}

// isCanceled reports whether an error only says that the command was canceled.
func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func exitCode(err error) int {
	var usage render.UsageError
	var setting *config.Error
	var input *memory.InputError
	var outcome outcomeError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &outcome):
		return outcome.code
	case errors.Is(err, render.ErrDegraded):
		return exitDegraded
	case errors.As(err, &usage), errors.As(err, &setting), errors.As(err, &input),
		errors.Is(err, config.ErrNoWorkspace), errors.Is(err, config.ErrNoState):
		return exitUsage
	}
	return exitError
}
