package main

import (
	"os"
	"runtime"
	"sync"
)

// spreadProcessors lets Go run goroutines on twice as many threads as there are cores, once. A small call passes from goroutine to
// goroutine, each of which would wait up to 10 ms behind heavy searches on all cores; the system gives a thread that
// wakes up a core much sooner. The number of searches stays that of cores.
var spreadProcessors = sync.OnceFunc(func() {
	runtime.GOMAXPROCS(threadsFor(runtime.GOMAXPROCS(0), os.Getenv("GOMAXPROCS")))
})

// threadsFor returns the number of threads for a number of cores, which the variable GOMAXPROCS may have set.
func threadsFor(cores int, variable string) int {
	if variable != "" {
		return cores
	}
	return 2 * cores
}
