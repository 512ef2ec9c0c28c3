//go:build unix

package recall_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku"
	"kioku/derive/recall"
	"kioku/derive/rule"
	"kioku/memory"
)

// chunks is the number of chunks of the memory of BenchmarkSearch.
const chunks = 10_000

// openChunks opens a memory with that many chunks, a section of a day each.
func openChunks(b *testing.B) *kioku.Memory {
	b.Helper()
	rules, err := rule.New(rule.Options{})
	if err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "memory"), 0o755); err != nil {
		b.Fatal(err)
	}
	words := strings.Fields("river boat yard engine museum baker letter garden winter concert ticket budget parser cookie lamp chapter planks diesel station archive")
	for file := range chunks / 10 {
		var text strings.Builder
		for section := range 10 {
			n := 10*file + section
			fmt.Fprintf(&text, "## %02d:00\n\n%s\n\n", section+8, strings.Repeat(fmt.Sprintf("The %s of Person%d and the %s. ", words[n%20], n%997, words[n/20%20]), 30))
		}
		if err := os.WriteFile(filepath.Join(folder, "memory", fmt.Sprintf("note-%04d.md", file)), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	m, err := kioku.Open(b.Context(), kioku.Options{Agent: "main", Workspace: folder, StateDir: b.TempDir(), Episodes: rules.Episodes})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { m.Close() })
	if _, err := m.Sync(b.Context(), kioku.SyncOptions{}, nil); err != nil {
		b.Fatal(err)
	}
	return m
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

// What recall adds is the difference to plain of what is searched for.
func BenchmarkSearch(b *testing.B) {
	m := openChunks(b)
	r := recall.New(m, m.Derived(), recall.Options{})
	q := memory.Query{Text: "What did Person42 write about the engine of the boat?", Now: now}
	pointing := memory.Query{Text: "And the engine?", Now: now, Kinds: memory.QueryKinds(), Context: turns("Person42 called about the boat.", "What did he say?")}
	asked := q
	asked.Kinds = memory.QueryKinds()
	for _, c := range []struct {
		name   string
		search recall.Searcher
		query  memory.Query
	}{{"plain", m, q}, {"ceiling", r, q}, {"kinds", r, asked}, {"plain-short", m, memory.Query{Text: pointing.Text, Now: now}}, {"context", r, pointing}} {
		b.Run(c.name, func(b *testing.B) {
			before := cpuTime(b)
			for b.Loop() {
				if _, err := c.search.Search(b.Context(), c.query); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
}
