// Command kioku serves, searches and maintains the memory of AI agents.
//
// This package contains the flags and the wiring, one file for each subcommand. Every command that reads or writes a memory
// calls the gRPC service: the daemon that listens on the socket of the state folder, else the same handlers in its own
// process over an index that it opens itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"

	// Time zones work on systems without zone files.
	_ "time/tzdata"
)

// version is set by the linker; see buildVersion.
var version string

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	signal.Ignore(syscall.SIGXFSZ) // a write beyond ulimit -f fails then, like one to a full disk
	ctx := untilSignal(context.Background(), signals)
	if tz, ok := os.LookupEnv("TZ"); ok {
		if zone, err := config.SystemZone(tz); err == nil { // config.Load tells of an unknown one
			time.Local = zone
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &app{
		Output: render.Output{Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ()},
		stdin:  os.Stdin, dir: dir, signals: signals,
	}
	os.Exit(a.execute(ctx, os.Args[1:]))
}

// signalled is the cause of a command that a signal ended.
type signalled struct{ signal os.Signal }

// Error names the signal.
func (s signalled) Error() string { return s.signal.String() }

// Unwrap returns context.Canceled.
func (s signalled) Unwrap() error { return context.Canceled }

// untilSignal returns a context that the first signal cancels, with a signalled as its cause. The second signal ends the
// process at once.
func untilSignal(parent context.Context, signals <-chan os.Signal) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		cancel(signalled{<-signals})
		for second := range signals {
			// A closing terminal may send SIGHUP twice.
			if second != syscall.SIGHUP {
				os.Exit(signalCode(second))
			}
		}
	}()
	return ctx
}

// endOnHangup makes SIGHUP end the command like SIGTERM, unless SIGHUP is ignored, as under nohup.
func (a *app) endOnHangup() {
	if a.signals != nil && !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(a.signals, syscall.SIGHUP)
	}
}

// takeInterrupts sends Ctrl-C to the channel instead of ending the program, until release is called.
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

// signalCode returns the exit code of a process that a signal ended, as shells report it.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitError
}
