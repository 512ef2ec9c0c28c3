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

	// Time zones are known also where the system has no files of them.
	_ "time/tzdata"
)

// version is set by the linker; see buildVersion.
var version string

func main() {
	ctx := untilSignal(context.Background())
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, env: os.Environ(), dir: dir}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// untilSignal returns a context that the first SIGINT or SIGTERM ends. The second ends the process, at once.
func untilSignal(parent context.Context) context.Context {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		second := <-signals
		os.Exit(signalCode(second))
	}()
	return ctx
}

// signalCode is the exit code of a process that a signal ended, as shells tell it.
func signalCode(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return exitError
}
