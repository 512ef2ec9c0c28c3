// Command kioku is the memory of AI agents on the command line: it serves it, searches it and looks after it.
//
// Every command that asks something talks to the gRPC service: to the daemon that answers on the socket of the
// state folder, else to the same handlers in its own process, over an index that it opens itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"kioku/cmd/kioku/internal/render"

	// Time zones are known also where the system has no files of them.
	_ "time/tzdata"
)

// version is set by the linker; see buildVersion.
var version string

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	ctx := untilSignal(context.Background(), signals)
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &app{
		Output: render.Output{Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ()},
		stdin:  os.Stdin, dir: dir, signals: signals,
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// signalled is why a command ends that a signal ended.
type signalled struct{ signal os.Signal }

// Error names the signal.
func (s signalled) Error() string { return s.signal.String() }

// Unwrap makes it a cancellation, whoever reports it.
func (s signalled) Unwrap() error { return context.Canceled }

// untilSignal returns a context that the first of the signals ends, with a signalled as its cause. The second ends the
// process, at once.
func untilSignal(parent context.Context, signals <-chan os.Signal) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		cancel(signalled{<-signals})
		for second := range signals {
			// A terminal that closes may send SIGHUP twice, and nobody in a hurry does.
			if second != syscall.SIGHUP {
				os.Exit(signalCode(second))
			}
		}
	}()
	return ctx
}

// endOnHangup makes SIGHUP end the command like SIGTERM, unless it is ignored, as nohup does.
func (a *app) endOnHangup() {
	if a.signals != nil && !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(a.signals, syscall.SIGHUP)
	}
}

// takeInterrupts has Ctrl-C come to the channel instead of ending the program, until release is called.
func (a *app) takeInterrupts() (interrupts <-chan os.Signal, release func()) {
	mine := make(chan os.Signal, 2)
	if a.signals == nil {
		return mine, func() {}
	}
	signal.Notify(mine, syscall.SIGINT)
	signal.Stop(a.signals)
	signal.Notify(a.signals, syscall.SIGTERM)
	a.endOnHangup()
	return mine, func() {
		signal.Notify(a.signals, syscall.SIGINT)
		signal.Stop(mine)
	}
}

// signalCode is the exit code of a process that a signal ended, as shells tell it.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitError
}
