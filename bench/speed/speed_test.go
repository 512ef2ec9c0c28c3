package speed

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

var (
	sizes   = flag.String("sizes", "1000,10000,100000", "chunks that sized rows are measured with")
	program = flag.String("program", "", "the kioku binary that some rows start")
	table   = flag.String("table", "", "write the rows as a table of Markdown to this file")
)

// BenchmarkSpeed measures each row once and reports its ratio. A row that fails does not end the run.
func BenchmarkSpeed(b *testing.B) {
	shared := newFixtures(b.TempDir())
	defer func() {
		if err := shared.close(); err != nil {
			b.Error(err)
		}
	}()
	var all strings.Builder
	fmt.Fprintf(&all, "On %s/%s, %d cores.\n\n| name | ours | yardstick | ratio | goal | held |\n|---|---:|---:|---:|---:|---|\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, bench := range benches() {
		for _, size := range sizesOf(b, bench) {
			name := bench.Name
			if size > 0 {
				name += " @ " + strconv.Itoa(size)
			}
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					ours, yardstick := measure(b, bench, Env{Size: size, fixtures: shared, Program: absolute(b, *program), Step: func(int, int) {}})
					ratio := ours / yardstick
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(ours, bench.Unit)
					b.ReportMetric(ratio, "ratio")
					b.ReportMetric(bench.Goal, "goal")
					held := map[bool]string{true: "yes", false: "no"}[ratio <= bench.Goal]
					fmt.Fprintf(&all, "| %s | %s %s | %s %[3]s | %[5]s | %[6]v | %[7]s |\n", name, figure(ours), bench.Unit, figure(yardstick), figure(ratio), bench.Goal, held)
				}
			})
		}
	}
	if *table != "" {
		if err := os.WriteFile(*table, []byte(all.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// sizesOf returns the sizes that a bench is measured with; only 0 for one that has none.
func sizesOf(b *testing.B, bench Bench) []int {
	if !bench.Sized {
		return []int{0}
	}
	var of []int
	for text := range strings.SplitSeq(*sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 100 {
			b.Fatalf("-sizes: %q is no size: write numbers of at least 100, divided by commas", text)
		}
		if bench.MaxSize == 0 || size <= bench.MaxSize {
			of = append(of, size)
		}
	}
	return of
}

// absolute returns the path of the program as the caller of go test has named it, from the root of the module.
func absolute(b *testing.B, program string) string {
	if program == "" || filepath.IsAbs(program) {
		return program
	}
	path, err := filepath.Abs(filepath.Join("..", "..", program))
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// measure measures a row in a folder of its own.
func measure(b *testing.B, bench Bench, e Env) (ours, yardstick float64) {
	b.Helper()
	// Garbage of the row before must not be collected at the cost of this one.
	debug.FreeOSMemory()
	e.Dir = b.TempDir()
	ours, yardstick, err := bench.Run(b.Context(), &e)
	if err != nil {
		b.Fatal(err)
	}
	if !(ours >= 0) || !(yardstick > 0) || math.IsInf(ours, 0) || math.IsInf(yardstick, 0) {
		b.Fatalf("the figures %v and %v have no ratio", ours, yardstick)
	}
	return ours, yardstick
}

// figure formats a figure with three digits.
func figure(v float64) string {
	if v >= 99.95 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
