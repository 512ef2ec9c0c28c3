package main

import (
	"cmp"
	"os"
	"runtime"

	"kioku/server"
)

// spreadProcessors lets Go run goroutines on twice as many threads as there are cores, unless the variable GOMAXPROCS says how
// many. It sets the default of limits.Searches before, which is the number of cores. A small call passes from goroutine to
// goroutine, each of which would wait up to 10 ms behind heavy searches on all cores; the system gives a thread that
// wakes up a core much sooner.
func spreadProcessors(limits *server.Limits) {
	cores := runtime.GOMAXPROCS(0)
	limits.Searches = cmp.Or(limits.Searches, cores)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * cores)
	}
}
