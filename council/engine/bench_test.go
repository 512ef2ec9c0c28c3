//go:build unix

package engine_test

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
)

// BenchmarkPass looks at a council of 1,000 finished and 100 open tasks in which nothing is due. The goal is 50 ms.
func BenchmarkPass(b *testing.B) {
	dir := counciltest.Dir(b)
	clock, script := counciltest.NewClock(), &counciltest.Script{}
	set := counciltest.Settings(dir, 3)
	e, err := engine.Open(engine.Options{Folder: dir + "/council", Settings: set, Workspace: dir + "/agent", Ask: script, Now: clock.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	me := council.Author{Kind: "owner"}
	for n := range 1100 {
		id := fmt.Sprintf("task_%d", n)
		if _, err := e.Submit(b.Context(), council.Task{ID: id, Title: "A task of many"}); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Settle(b.Context()); err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		if err := e.ReportResult(b.Context(), fmt.Sprintf("task_%d", n), council.Result{Result: "done", Succeeded: true, Author: me}); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Settle(b.Context()); err != nil {
		b.Fatal(err)
	}
	for begin := time.Now(); time.Since(begin) < time.Second; { // snapshots of files that have just changed are not kept
		if err := e.Pass(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	before := cpuTime(b)
	for b.Loop() {
		if err := e.Pass(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// cpuTime returns the time that the processors have worked for this process, which no busy machine changes much.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTask decides a task with three members who answer at once, on the disk of the temporary folder. The goal is 200 ms.
func BenchmarkTask(b *testing.B) {
	dir, err := os.MkdirTemp("", "kioku-council-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	e, err := engine.Open(engine.Options{Folder: dir + "/council", Settings: counciltest.Settings(dir, 3), Workspace: dir + "/agent", Ask: &counciltest.Script{}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	before := cpuTime(b)
	for b.Loop() {
		t, err := e.Submit(b.Context(), council.Task{Title: "A task"})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Settle(b.Context()); err != nil {
			b.Fatal(err)
		}
		if d, err := e.Get(b.Context(), t.ID); err != nil || d.Decision == nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}
